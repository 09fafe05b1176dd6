// Requests to a session: their deadline and cancellation, blame for their errors, and their inputs.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <stop_token>
#include <vector>

#include "executor/run_report.h"
#include "ir/custom_op.h"

namespace sardonyx {

// The time `wait` from now, clamped to 30 years, so that the sum does not overflow.
inline std::chrono::steady_clock::time_point time_after(std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::years(30);
  return std::chrono::steady_clock::now() + std::clamp(wait, -kLongest, kLongest);
}

// A stop token that is stopped as soon as one of two others is.
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

// `error`, thrown by a run with `given` for `inputs`, reworded as an invalid argument of the
// request.
Error blamed_on_request(const Error& error, std::span<const ValueInfo> inputs,
                        std::span<const Datum* const> given);

// Runs `work` and rethrows its kInvalidModel errors as the fault of the request
// (blamed_on_request): the model was checked when it was loaded, so what fails now is due to the
// request's shapes or values. Left as they are: errors of a model without inputs, and those that
// custom operators throw.
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

// Tensors without elements (has_elements is false), one for each input: of the given shape, else of
// the shape that the model fixes. Inputs that have a default may lack both. Throws kInvalidArgument
// where a shape is missing.
std::vector<Datum> tensors_of_shapes(std::span<const ValueInfo> inputs,
                                     std::span<const Datum> defaults,
                                     std::span<const std::optional<Shape>> shapes);

}  // namespace sardonyx
