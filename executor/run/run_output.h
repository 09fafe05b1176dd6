// The outputs of a run: memory that it may write, and results of others that it only refers to.
#pragma once

#include <span>

#include "executor/output_slot.h"
#include "ir/buffer_pool.h"
#include "ir/graph.h"

namespace sardonyx {

// Whether the two tensors share any bytes.
bool overlap(const Tensor& a, const Tensor& b);
// Whether any tensor of `datum` shares bytes with `memory`.
bool overlaps(const Datum& datum, const Tensor& memory);
// `datum` with those of its tensors copied that share bytes with `memory`.
Datum moved_out_of(const Datum& datum, const Tensor& memory);

// One output of a run. Where the run may write comes from writable() alone: memory that is bound to
// the output, or that an earlier run has left here and nobody else holds. All else that an output
// may show (weights, inputs, constants of plans, other outputs) passes by as a const Datum.
class RunOutput {
 public:
  // An output that is left to the library; `shown` may hold anything.
  explicit RunOutput(Datum& shown) : RunOutput(shown, nullptr) {}
  explicit RunOutput(OutputSlot& slot)
      : RunOutput(slot.value_, slot.is_bound() ? &slot.memory_ : nullptr) {}

  // The bound memory; null where the output is left to the library.
  const Tensor* bound() const { return bound_; }
  // The bound memory if it has this type and shape, else null.
  const Tensor* bound(DType dtype, const Shape& shape) const;
  // Memory for a result of this type and shape; null where there is none.
  const Tensor* writable(DType dtype, const Shape& shape) const;

  const Datum& shown() const { return *shown_; }
  // The result is in `written`, which is what writable() gave, or bound().
  void show_written(const Tensor& written);
  // The result is elsewhere. What was writable here goes back to `pool`.
  void show(const Datum& result, BufferPool& pool);
  // Swaps the result in from `slot`, which nobody else needs; `slot` gets what was writable here.
  void show_slot(Datum& slot);
  void clear(BufferPool& pool);

 private:
  RunOutput(Datum& shown, const Tensor* bound);
  bool shows_bound() const;

  Datum* shown_;
  const Tensor* bound_;
};

// Throws kInvalidArgument where the memory that is bound to one output is in that of another.
// `names` are those of the outputs.
void require_apart(std::span<const RunOutput> outputs, std::span<const Value* const> names);
// Throws kInvalidArgument where memory is bound to output `name`, but not for what the run gives.
void require_fit(const RunOutput& output, std::string_view name, const Type& given);

}  // namespace sardonyx
