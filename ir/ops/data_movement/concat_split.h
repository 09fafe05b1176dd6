// Attributes and rules of the ops that split and join tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/op_def.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {

struct ConcatAttrs {
  int64_t axis = 0;
  static auto fields() { return std::tuple{required("axis", &ConcatAttrs::axis)}; }
};

struct SplitAttrs {
  int64_t axis = 0;
  std::optional<int64_t> num_outputs;
  static auto fields() {
    return std::tuple{field("axis", &SplitAttrs::axis),
                      field("num_outputs", &SplitAttrs::num_outputs)};
  }
};

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

struct PadAttrs {
  std::string mode = "constant";
  static auto fields() { return std::tuple{field("mode", &PadAttrs::mode)}; }
};
// Throws kInvalidModel for a mode that there is not.
PadMode pad_mode(const PadAttrs& attrs);

// The selection of a Slice on one axis: elements start, start + step ... `length` of them.
struct SliceRange {
  int64_t start = 0, step = 1, length = 0;
};
// Python's rules with ONNX's clamping; step must not be 0. Any int64 is allowed for the rest.
SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step);
// The number of elements selected from a symbolic size; `unknown` is used where no formula is
// known.
Dim sliced_size(const Dim& size, const Dim& start, const Dim& end, int64_t step,
                const std::function<Dim()>& unknown);

// How much Pad adds on both sides of one axis; negative: removes.
struct PadAmount {
  int64_t before = 0, after = 0;
};

// The ranges of a Slice, one for each axis of a tensor of this shape; `axes` selects those that are
// named (nullopt: all). Throws kInvalidArgument where lengths or axes do not fit.
using SliceRanges = InlineVector<SliceRange, 8>;
SliceRanges slice_ranges(std::span<const int64_t> shape, std::span<const int64_t> starts,
                         std::span<const int64_t> ends,
                         const std::optional<std::span<const int64_t>>& axes,
                         const std::optional<std::span<const int64_t>>& steps);
using PadAmounts = InlineVector<PadAmount, 8>;
PadAmounts pad_amounts(size_t rank, std::span<const int64_t> pads,
                       const std::optional<std::span<const int64_t>>& axes);

// How Slice moves what `ranges` select (one for each axis) of a tensor of shape `from`.
StridedBlock slice_block(std::span<const int64_t> from, std::span<const SliceRange> ranges);
// The part of a whole along `axis` that begins at `begin` and is of shape `part`, moved out of the
// whole or into it.
StridedBlock block_out_of(std::span<const int64_t> whole, size_t axis, int64_t begin,
                          std::span<const int64_t> part);
StridedBlock block_into(std::span<const int64_t> whole, size_t axis, int64_t begin,
                        std::span<const int64_t> part);
// How Tile repeats a tensor of shape `from`; neither is empty.
StridedBlock tile_block(std::span<const int64_t> from, std::span<const int64_t> to);
// The block of the output to which Pad copies what it keeps of a tensor of shape `from`; nullopt
// where it keeps nothing.
std::optional<StridedBlock> pad_block(std::span<const int64_t> from, std::span<const int64_t> to,
                                      std::span<const PadAmount> pads);
// The sizes of the parts that Split makes of `size` elements where it is not told them.
std::vector<int64_t> equal_parts(int64_t size, size_t parts);

// Copies `parts` one after the other along `axis` into `whole`.
void concat_along(std::span<const TensorView> parts, size_t axis, const TensorView& whole);
// Copies `whole[begin, begin + part.shape[axis])` along `axis` into `part`.
void copy_part(const TensorView& whole, size_t axis, int64_t begin, const TensorView& part);

}  // namespace sardonyx::ops
