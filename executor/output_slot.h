// The slot that one output of a run is written to or shown in.
#pragma once

#include <utility>

#include "ir/datum.h"

namespace sardonyx {

// One output of Session::run_into, from one run to the next. It is one of two things: bound to
// memory of the caller's, which runs write into, or left to the library, which shows the result in
// whatever memory it is: in memory of the run's own, or in that of a weight, an input or another
// output. What a slot shows is never written by a later run unless nobody else holds it.
//
// A slot belongs to one run at a time. Copies show the same result, which then stays as it is.
class OutputSlot {
 public:
  // A slot that is left to the library.
  OutputSlot() = default;
  // A slot bound to `memory`: a run writes its result into these elements, whoever else holds them,
  // if it has the same type and shape. If not, the slot shows the result in the library's memory,
  // or the run is refused (RunOptions::strict_outputs). Throws kInvalidArgument where `memory` is
  // undefined.
  static OutputSlot bound(Tensor memory);

  // Binds this slot to `memory` and reuses the slot's own storage for dims, without an allocation.
  void bind(const Tensor& memory);
  // Unbinds and empties the slot, and keeps its storage for dims for the next use.
  void clear();

  bool is_bound() const { return memory_.defined(); }
  // The bound memory; undefined where the slot is left to the library.
  const Tensor& memory() const { return memory_; }
  // The result of the last run; omitted before the first one and after one that failed.
  const Datum& value() const { return value_; }
  // Whether the bound memory holds the result of the last run.
  bool is_written() const;
  // The result, which is the caller's alone from now on.
  Datum take() { return std::exchange(value_, Datum()); }

 private:
  friend class RunOutput;
  Tensor memory_;
  Datum value_;
};

}  // namespace sardonyx
