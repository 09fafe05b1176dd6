// Every allocation of loading, planning and running a model fails once: an error comes out, or the
// right result, and afterwards all is as before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "executor/session.h"
#include "ir/op_samples.h"
#include "ir/value_compare.h"
#include "tests/faults/faults.h"

namespace sardonyx {
namespace {

using test::AllocationFault;

// Inputs of all models here: dims that are open are 2.
NamedData drawn_inputs(const Session& session) {
  NamedData feeds;
  for (const ValueInfo& input : session.inputs()) {
    if (!input.type.is_tensor() || !input.type.shape) return {};
    Shape shape;
    for (const Dim& dim : *input.type.shape)
      shape.push_back(dim.is_known() ? dim.value() : 2);
    feeds[input.name] = drawn_tensor(input.type.dtype, shape, 0, 2, 1);
  }
  return feeds;
}

// What a run gives: its outputs, or the message of its error.
struct Outcome {
  std::vector<Datum> outputs;
  std::string error;
  bool is_out_of_memory = false;

  bool operator==(const Outcome& other) const {
    const auto same = [](const Datum& a, const Datum& b) {
      return compare(a, b, {.rtol = 0, .atol = 0}).reason.empty();
    };
    return error == other.error && std::ranges::equal(outputs, other.outputs, same);
  }
};

Outcome run(const Session& session, const NamedData& feeds) {
  Outcome outcome;
  try {
    outcome.outputs = session.run(feeds);
  } catch (const Error& error) {
    outcome.is_out_of_memory = error.code() == ErrorCode::kResourceExhausted;
    // As much as a string holds without memory of its own.
    outcome.error.assign(error.what(), std::min<size_t>(15, std::strlen(error.what())));
  }
  return outcome;
}

// SARDONYX_FAULTS=all: each allocation; else a few hundred of them.
size_t step_for(size_t allocations) {
  const char* wanted = std::getenv("SARDONYX_FAULTS");
  return wanted && std::string_view(wanted) == "all" ? 1 : allocations / 150 + 1;
}

struct Harm {
  std::filesystem::path model;
  bool lasting;

  std::unique_ptr<Session> load() const { return std::make_unique<Session>(model, options()); }
  static SessionOptions options() { return {.intra_op_threads = 1}; }

  void while_loading() const {
    size_t count = 0;
    {
      SessionOptions given = options();
      const AllocationFault none(SIZE_MAX, false);
      const Session session(model, std::move(given));
      count = none.seen();
    }
    for (size_t at = 0; at < count; at += step_for(count)) {
      SessionOptions given = options();  // the caller's own allocations do not fail
      const AllocationFault fault(at, lasting);
      try {
        const Session session(model, std::move(given));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted) << at << ": " << error.what();
      }
    }
  }

  void while_running() const {
    const NamedData feeds = drawn_inputs(*load());
    const Outcome expected = run(*load(), feeds);
    size_t count = 0;
    {
      const auto session = load();
      const AllocationFault none(SIZE_MAX, false);
      run(*session, feeds);
      count = none.seen();
    }
    for (size_t at = 0; at < count; at += step_for(count)) {
      const auto session = load();
      Outcome got;
      {
        const AllocationFault fault(at, lasting);
        got = run(*session, feeds);
      }
      EXPECT_TRUE(got == expected || got.is_out_of_memory) << at << ": " << got.error;
      EXPECT_TRUE(run(*session, feeds) == expected) << "after allocation " << at << " failed";
    }
  }
};

class Allocations : public testing::TestWithParam<const char*> {};

TEST_P(Allocations, may_fail_one_at_a_time) {
  const Harm harm{std::filesystem::path(SARDONYX_SOURCE_DIR) / "tests/fuzz/load" / GetParam(),
                  false};
  harm.while_loading();
  harm.while_running();
}

TEST_P(Allocations, may_fail_from_some_point_on) {
  const Harm harm{std::filesystem::path(SARDONYX_SOURCE_DIR) / "tests/fuzz/load" / GetParam(),
                  true};
  harm.while_loading();
  harm.while_running();
}

INSTANTIATE_TEST_SUITE_P(Models, Allocations,
                         testing::Values("conv", "lstm", "loop", "if", "scan", "resize", "topk",
                                         "nonzero", "reshape", "quantizelinear", "sequenceinsert"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sardonyx
