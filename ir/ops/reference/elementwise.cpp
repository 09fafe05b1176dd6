#include "ir/ops/reference/elementwise.h"

#include <algorithm>

#include "ir/core/strides.h"

namespace sardonyx::ops {
namespace {

constexpr int64_t kPiece = 1024;  // elements converted at a time; a few such pieces stay in L1

}  // namespace

template <typename C>
void map_elements(const KernelCall& call, const ElementLoop<C>& loop) {
  const TensorView& output = call.outputs[0];
  constexpr size_t kUsual = 4;  // operands for which nothing is allocated
  InlineVector<std::span<const int64_t>, kUsual> shapes;
  InlineVector<const TensorView*, kUsual> inputs;
  for (const TensorView& input : call.inputs) {
    if (!input) continue;
    shapes.push_back(input.shape);
    inputs.push_back(&input);
  }
  const RowWalk walk = broadcast_walk(output.shape, shapes);
  const int64_t piece = std::clamp<int64_t>(output.count(), 1, kPiece);
  InlineVector<C, kUsual * kPiece> converted((inputs.size() + 1) * static_cast<size_t>(piece));
  InlineVector<const C*, kUsual> rows(inputs.size());
  walk.for_each(
      [&](const int64_t* offsets, int64_t count) {
        for (size_t k = 0; k < inputs.size(); ++k) {
          const TensorView& input = *inputs[k];
          if (input.dtype == dtype_of<C>() && walk.step(k + 1) == 1) {
            rows[k] = input.data<const C>() + offsets[k + 1];
            continue;
          }
          C* to = &converted[k * static_cast<size_t>(piece)];
          load_numbers(input.dtype, input.raw, offsets[k + 1], walk.step(k + 1), count, to);
          rows[k] = to;
        }
        if (output.dtype == dtype_of<C>()) {
          loop(rows.data(), output.data<C>() + offsets[0], count);
          return;
        }
        C* result = &converted[inputs.size() * static_cast<size_t>(piece)];
        loop(rows.data(), result, count);
        store_numbers(output.dtype, output.raw, offsets[0], count, result);
      },
      piece);
}

template void map_elements(const KernelCall&, const ElementLoop<float>&);
template void map_elements(const KernelCall&, const ElementLoop<double>&);
template void map_elements(const KernelCall&, const ElementLoop<int64_t>&);
template void map_elements(const KernelCall&, const ElementLoop<uint64_t>&);

}  // namespace sardonyx::ops
