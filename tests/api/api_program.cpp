#include "tests/api/api_program.h"

#include <algorithm>
#include <mutex>
#include <random>
#include <thread>

#include "tests/api/api_steps.h"

namespace sardonyx::api_test {
namespace {

SessionOptions any_options(fuzz::Choices& choices, int most_threads) {
  SessionOptions options;
  options.intra_op_threads = choices.one_in(4) ? most_threads : 1;
  options.optimization_level = choices.one_in(2) ? 2 : 0;
  options.max_plans = choices.one_in(3) ? 1 : 4;
  options.memory_limit = size_t{1} << 30;
  return options;
}

// The callers' steps, one after the other in turns.
void in_turns(std::span<CallerSteps> callers, fuzz::Choices& choices, size_t steps) {
  for (size_t step = 0; step < steps * callers.size() && !choices.is_empty(); ++step)
    callers[choices.below(callers.size())].take_step(choices);
}

// Each in a thread of its own; the first finding is thrown.
void in_threads(std::span<CallerSteps> callers, fuzz::Choices& choices, size_t steps) {
  std::mutex mutex;
  std::exception_ptr found;
  std::vector<std::jthread> threads;
  for (CallerSteps& caller : callers) {
    threads.emplace_back([&, bytes = program_bytes(choices.word(), 32 * steps)] {
      try {
        fuzz::Choices own(bytes.data(), bytes.size());
        for (size_t step = 0; step < steps; ++step)
          caller.take_step(own);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!found) found = std::current_exception();
      }
    });
  }
  threads.clear();
  if (found) std::rethrow_exception(found);
}

bool has_tensors_only(const ApiCase& made) {
  return std::ranges::all_of(made.variants, [](const Variant& variant) {
    return std::ranges::all_of(variant.inputs, &Datum::is_tensor);
  });
}

}  // namespace

std::vector<uint8_t> program_bytes(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>(random() >> 24);
  return bytes;
}

void run_program(ApiCase made, fuzz::Choices& choices, const ProgramLimits& limits) {
  const SessionOptions options = any_options(choices, limits.most_threads);
  expect_fresh(made, options);
  std::vector<std::unique_ptr<ApiSession>> sessions;
  sessions.push_back(cpp_session(made.bytes, options));
  if (has_tensors_only(made)) sessions.push_back(c_session(made.bytes, options));
  std::vector<CallerSteps> callers;
  for (size_t count = 1 + choices.below(3); count > 0; --count)
    callers.emplace_back(made, *sessions[choices.below(sessions.size())], limits.unmaps);
  if (limits.threads && callers.size() > 1 && choices.one_in(3))
    in_threads(callers, choices, limits.steps);
  else
    in_turns(callers, choices, limits.steps);
}

}  // namespace sardonyx::api_test
