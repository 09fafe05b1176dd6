// Pad.
#include <algorithm>
#include <limits>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/indices.h"
#include "ir/ops/reference/padded_copy.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

void check_pad_count(size_t pads, size_t axes) {
  if (pads != 2 * axes) {
    fail(ErrorCode::kInvalidArgument, "pads has ", pads, " elements, expected 2 for each of ", axes,
         " axes");
  }
}

// For each named axis its place among the axes of a tensor of this rank.
using Axes = InlineVector<size_t, 8>;
Axes padded_axes(size_t rank, const std::optional<std::span<const int64_t>>& axes) {
  Axes result;
  if (!axes) {
    for (size_t i = 0; i < rank; ++i)
      result.push_back(i);
    return result;
  }
  DimValues seen(rank);
  const auto limit = static_cast<int64_t>(rank);
  for (const int64_t axis : *axes) {
    if (axis < -limit || axis >= limit) {
      fail(ErrorCode::kInvalidArgument, "axes: axis ", axis, " is out of range for rank ", rank);
    }
    const size_t normal = axis_of(axis, rank);
    if (seen[normal]) fail(ErrorCode::kInvalidArgument, "axes: axis ", axis, " is given twice");
    seen[normal] = 1;
    result.push_back(normal);
  }
  return result;
}

// The part of an axis that remains after cropping by negative pads.
struct CroppedAxis {
  int64_t begin = 0, size = 0;
};
CroppedAxis cut_axis(int64_t size, const PadAmount& pad) {
  const int64_t begin = pad.before < 0 ? std::min(0 - std::max(pad.before, -size), size) : 0;
  const int64_t cut = pad.after < 0 ? std::min(0 - std::max(pad.after, -size), size) : 0;
  return {begin, std::max<int64_t>(size - begin - cut, 0)};
}

void require_paddable(PadMode mode, const Dim& size, const Dim& before, const Dim& after) {
  if (mode == PadMode::kConstant || !size.is_known() || !before.is_known() || !after.is_known()) {
    return;
  }
  const PadAmount pad{before.value(), after.value()};
  if ((pad.before > 0 || pad.after > 0) && cut_axis(size.value(), pad).size == 0) {
    fail(ErrorCode::kInvalidArgument, "an empty axis holds nothing to pad with, mode ",
         "must be \"constant\"");
  }
  // As ONNX Runtime and PyTorch have it: the reflection is not reflected again.
  const int64_t most = cut_axis(size.value(), pad).size - 1;
  if (mode == PadMode::kReflect && std::max(pad.before, pad.after) > std::max<int64_t>(most, 0)) {
    fail(ErrorCode::kInvalidArgument, "pads: mode \"reflect\" has ", most,
         " elements to reflect on an axis of ", most + 1, ", got ", pad.before, " and ", pad.after);
  }
}

void infer_pad(InferContext& c) {
  const PadMode mode = pad_mode(c.attrs<PadAttrs>());
  require_vector(c, 1);
  require_vector(c, 3);
  if (c.has(2)) require_single(c, 2);
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, c.dtype(0), std::nullopt);
  const auto given_axes = c.int64s(3);
  const auto pads = c.dims(1);
  if (c.has(3) && !given_axes) return c.set(0, c.dtype(0), unknown_dims(c, dims->size()));
  const Axes axes = padded_axes(dims->size(), given_axes);
  if (pads) check_pad_count(pads->size(), axes.size());
  Dims result = *dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = result[axes[i]];
    if (!pads) {
      dim = c.unknown();
      continue;
    }
    const Dim& before = (*pads)[i];
    const Dim& after = (*pads)[i + axes.size()];
    require_paddable(mode, dim, before, after);
    dim = dim + before + after;
    c.require(!dim.is_known() || dim.value() >= 0, "pads: axis ", axes[i], " would have size ",
              dim);
  }
  c.set(0, c.dtype(0), std::move(result));
  if (mode != PadMode::kConstant) return propagate_elements(c);
  if (!c.has(2) || c.dims(2)) propagate_elements(c, {0, 2});
}

// The index within [0, size) that position `at` of the padded axis reads; `at` counts from the
// first element that was not padded.
int64_t source_index(PadMode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  if (mode == PadMode::kEdge) return std::clamp<int64_t>(at, 0, size - 1);
  // Most pads are shorter than what is padded, and need no division.
  if (mode == PadMode::kWrap) {
    const int64_t near = at < 0 ? at + size : at - size;
    return near >= 0 && near < size ? near : (at % size + size) % size;
  }
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1), near = at < 0 ? 0 - at : period - at;
  if (near >= 0 && near < size) return near;
  const int64_t phase = (at % period + period) % period;
  return phase < size ? phase : period - phase;
}

// For one axis: the element that each position of the output reads.
class SourceIndices {
 public:
  SourceIndices() = default;
  SourceIndices(PadMode mode, int64_t size, const PadAmount& pad)
      : mode_(mode), cut_(cut_axis(size, pad)), before_(std::max<int64_t>(pad.before, 0)) {}
  int64_t operator[](int64_t i) const {
    return cut_.begin + source_index(mode_, i - before_, cut_.size);
  }

 private:
  PadMode mode_ = PadMode::kEdge;
  CroppedAxis cut_;
  int64_t before_ = 0;
};

void pad_with_constant(const KernelCall& call, const PadAmounts& pads) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  const Bytes16 zeros{};
  const std::string empty;
  const void* value = call.has(2)                    ? call.inputs[2].raw
                      : from.dtype == DType::kString ? static_cast<const void*>(&empty)
                                                     : &zeros;
  const PaddedCopy copy(from.dtype, to.count(), pad_block(from.shape, to.shape, pads));
  constexpr int64_t kPiece = 1 << 20;  // elements between two looks at the deadline
  const int64_t pieces = copy.count() / kPiece + 1;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    if (piece > 0) check_interrupted();
    copy.run_part(from.raw, value, to.raw, piece, pieces);
  }
}

// The elements that positions [begin, end) of an axis read.
std::pmr::vector<int64_t> source_table(const SourceIndices& sources, int64_t begin, int64_t end) {
  std::pmr::vector<int64_t> table(scratch());
  table.reserve(static_cast<size_t>(end - begin));
  for (int64_t i = begin; i < end; ++i)
    table.push_back(sources[i]);
  return table;
}

// Copies a row of the output (its last axis) at a time, by tables of source rows and elements.
void pad_from_inside(const KernelCall& call, PadMode mode, const PadAmounts& pads) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  const size_t rank = to.rank();
  if (to.count() == 0) return;
  if (rank == 0) return copy_run(from.dtype, from.raw, 0, to.raw, 0, 1);
  const Strides strides = row_major_strides(from.shape);
  InlineVector<SourceIndices, 8> sources;
  for (size_t i = 0; i < rank; ++i)
    sources.push_back(SourceIndices(mode, from.shape[i], pads[i]));
  const SourceIndices& row = sources.back();
  const int64_t length = to.shape[rank - 1];
  const int64_t left = std::clamp<int64_t>(pads.back().before, 0, length);
  const int64_t middle = std::min(cut_axis(from.shape[rank - 1], pads.back()).size, length - left);
  const int64_t middle_source = middle > 0 ? row[left] : 0;
  const ScratchMark mark;
  const auto before = source_table(row, 0, left), after = source_table(row, left + middle, length);
  // Rows that differ in the last but one index alone come one after the other.
  const auto rows = rank > 1 ? source_table(sources[rank - 2], 0, to.shape[rank - 2])
                             : std::pmr::vector<int64_t>(1, scratch());
  const int64_t row_step = rank > 1 ? strides[rank - 2] : 0;
  DimValues index(rank > 1 ? rank - 2 : 0);
  dispatch_width(from.dtype, [&]<typename T>() {
    T* out = to.data<T>();
    const auto copy_row = [&](const T* in) {
      note_copied(static_cast<size_t>(length) * sizeof(T));
      for (const int64_t source : before)
        assign_element(*out++, in[source]);
      copy_elements(in + middle_source, middle, out);
      out += middle;
      for (const int64_t source : after)
        assign_element(*out++, in[source]);
    };
    while (true) {
      const T* in = from.data<T>();
      for (size_t i = 0; i < index.size(); ++i)
        in += sources[i][index[i]] * strides[i];
      for (const int64_t source : rows)
        copy_row(in + source * row_step);
      size_t dim = index.size();
      for (; dim > 0; --dim) {
        if (++index[dim - 1] < to.shape[dim - 1]) break;
        index[dim - 1] = 0;
      }
      if (dim == 0) return;
    }
  });
}

void run_pad(const KernelCall& call) {
  const PadMode mode = pad_mode(call.attrs<PadAttrs>());
  const DimValues named = call.has(3) ? indices_of(call.inputs[3]).to_dim_values() : DimValues();
  const DimValues amounts = indices_of(call.inputs[1]).to_dim_values();
  const auto axes = call.has(3) ? std::optional(std::span<const int64_t>(named)) : std::nullopt;
  const PadAmounts pads = pad_amounts(call.inputs[0].rank(), amounts, axes);
  if (mode == PadMode::kConstant) {
    pad_with_constant(call, pads);
  } else {
    pad_from_inside(call, mode, pads);
  }
}

}  // namespace

std::optional<StridedBlock> pad_block(std::span<const int64_t> from, std::span<const int64_t> to,
                                      std::span<const PadAmount> pads) {
  StridedBlock block{{}, row_major_strides(from), row_major_strides(to)};
  for (size_t i = 0; i < pads.size(); ++i) {
    const CroppedAxis cut = cut_axis(from[i], pads[i]);
    // A negative pad may cut away more than there is, and the other end's add new elements.
    block.sizes.push_back(std::min(cut.size, to[i]));
    if (block.sizes.back() == 0) return std::nullopt;
    block.from_offset += cut.begin * block.from_strides[i];
    block.to_offset += std::max<int64_t>(pads[i].before, 0) * block.to_strides[i];
  }
  return block;
}

PadMode pad_mode(const PadAttrs& attrs) {
  if (attrs.mode == "constant") return PadMode::kConstant;
  if (attrs.mode == "reflect") return PadMode::kReflect;
  if (attrs.mode == "edge") return PadMode::kEdge;
  if (attrs.mode == "wrap") return PadMode::kWrap;
  fail(ErrorCode::kInvalidModel, "Pad: mode: expected constant, reflect, edge or wrap, got \"",
       attrs.mode, "\"");
}

PadAmounts pad_amounts(size_t rank, std::span<const int64_t> pads,
                       const std::optional<std::span<const int64_t>>& axes) {
  const Axes named = padded_axes(rank, axes);
  check_pad_count(pads.size(), named.size());
  PadAmounts result(rank);
  for (size_t i = 0; i < named.size(); ++i)
    result[named[i]] = {pads[i], pads[i + named.size()]};
  return result;
}

namespace {

std::vector<Sample> pad_samples() {
  std::vector<Sample> samples = {{{{.shape = {2, 3}}, given({0, 1, 2, 0})}},
                                 {{{.shape = {2, 3}}, given({-1, 2}), {.shape = {}}, given({-1})}}};
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    const int64_t far = mode == std::string_view("reflect") ? 2 : 5;
    samples.push_back({{{.shape = {3, 4}}, given({1, far, 2, -1})}, {{"mode", std::string(mode)}}});
  }
  return samples;
}

const OpDef kPadOps[] = {
    {.name = "Pad",
     .doc = "More or fewer elements at the begin and end of each axis: a constant, the edge's, "
            "reflected or wrapped ones.",
     .since = 25,
     .signature = "(data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T)",
     .types = {{"T", kAnyDType}, {"Tind", kIndexTypes}},
     .attrs = attr_schema<PadAttrs>(),
     .infer = infer_pad,
     .reference = run_pad,
     .grad = pad_gradient,
     .facts = kPassesValues | kBFloat16Between,
     .shape_inputs = 1 << 1 | 1 << 3,
     .samples = pad_samples},
};

}  // namespace

std::span<const OpDef> pad_ops() {
  return kPadOps;
}

}  // namespace sardonyx::ops
