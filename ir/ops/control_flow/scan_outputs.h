// Slices that are collected one by one and become a tensor in the end: scan outputs.
#pragma once

#include "ir/buffer_pool.h"
#include "ir/eval_call.h"

namespace sardonyx::ops {

class TensorStack {
 public:
  // Forgets what was collected. About `expected` slices will be.
  void start(int64_t expected);
  // Throws kInvalidArgument unless dtype and shape are those of the slices before.
  void add(const Tensor& slice, BufferPool* buffers);
  // Makes `out` all slices, one behind the other along a new axis (negative: counted from the end),
  // the last first if `reversed`. Where there are none, `type` tells what they would have been;
  // unknown dims count as 0. The slices are given up.
  void finish(int64_t axis, bool reversed, const Type& type, Datum& out, BufferPool* buffers);

 private:
  void grow(BufferPool* buffers);
  TensorView row(int64_t index) const;

  DType dtype_ = DType::kUndefined;
  DType moved_ = DType::kUndefined;  // of `rows_`: bytes where elements are packed
  Shape shape_;
  int64_t count_ = 0, expected_ = 0;
  Datum rows_, larger_;  // [more than count_, shape_]
};

// The type that slices of a scan output would have had where no iteration has made one: where the
// body's own type leaves sizes open, they follow from the inputs at hand. `axis`: as of finish().
Type slice_type_at_hand(const EvalCall& call, size_t output, int64_t axis, const Type& own);

// Makes `slot` the elements [index, index + 1) of `axis`, without that axis: in `tensor` itself
// in place in one piece. Packed types as well.
void slice_into(Datum& slot, const Tensor& tensor, size_t axis, int64_t index, BufferPool* buffers);

}  // namespace sardonyx::ops
