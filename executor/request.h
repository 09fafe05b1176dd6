// What a caller asks of a session: how long it may take, until when, and with which inputs.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <stop_token>
#include <vector>

#include "executor/run_report.h"
#include "ir/custom_op.h"

namespace sardonyx {

// A time that the clock can tell, however much is asked for.
inline std::chrono::steady_clock::time_point time_after(std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::years(30);
  return std::chrono::steady_clock::now() + std::clamp(wait, -kLongest, kLongest);
}

// Tells the stop of either.
class EitherStop {
 public:
  EitherStop(const std::stop_token& a, const std::stop_token& b)
      : from_a_(a, Stop{source_}), from_b_(b, Stop{source_}) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Stop {
    std::stop_source& source;
    void operator()() const { source.request_stop(); }
  };
  std::stop_source source_;
  std::stop_callback<Stop> from_a_, from_b_;
};

// `error`, which a run with `given` for `inputs` met, as the fault of the request.
Error blamed_on_request(const Error& error, std::span<const ValueInfo> inputs,
                        std::span<const Datum* const> given);

// What fails for the shapes or values of a request is its fault, whichever rule of an op it breaks:
// the model was checked when it was loaded. One that takes no inputs can only be at fault itself,
// and what an operator of the program's says is told as it says it.
template <typename Work>
void blaming_request(std::span<const ValueInfo> inputs, std::span<const Datum* const> given,
                     const Work& work) {
  try {
    work();
  } catch (const ProgramError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidModel || inputs.empty()) throw;
    throw blamed_on_request(error, inputs, given);
  }
}

// For each input a tensor of the shape that is given, else of that which the model fixes; their
// elements are not there, and nobody is to look at them (has_elements). Inputs that have a default
// may go without. Throws kInvalidArgument where a shape is missing.
std::vector<Datum> tensors_of_shapes(std::span<const ValueInfo> inputs,
                                     std::span<const Datum> defaults,
                                     std::span<const std::optional<Shape>> shapes);

}  // namespace sardonyx
