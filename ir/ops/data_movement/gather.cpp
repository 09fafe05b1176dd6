// Gather, GatherElements, GatherND, OneHot, Compress, ReverseSequence.
#include "ir/ops/data_movement/gather.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "ir/core/bools.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/eval_call.h"
#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/indices.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kGatheredTypes = kClassicTypes | DType::kBFloat16;

// ---- Gather

// The offset of a Gather of one constant index; nullopt for others.
Offsets gather_offset(const OffsetsCall& call) {
  if (!call.knows_constants || call.constants[1]->count() != 1) return std::nullopt;
  const size_t axis = axis_of(call.attrs<GatherAttrs>().axis, call.whole.size());
  const AxisSplit split = split_at(call.whole, axis);
  if (split.outer != 1) return std::nullopt;
  const int64_t index = checked_index(indices_of(call.constants[1]->view())[0], split.size, axis);
  return std::vector<int64_t>{index * split.inner};
}

void infer_gather(InferContext& c) {
  const Dims* data = c.shape(0);
  const Dims* indices = c.shape(1);
  if (!data || !indices) return c.set(0, c.dtype(0), std::nullopt);
  if (data->empty()) c.fail_input(0, "expected rank 1 or more");
  const int64_t axis = c.normalized_axis(c.attrs<GatherAttrs>().axis, data->size());
  Dims result(data->begin(), data->begin() + axis);
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), data->begin() + axis + 1, data->end());
  c.set(0, c.dtype(0), std::move(result));
  propagate_elements(c);
}

void run_gather(const KernelCall& call) {
  const TensorView& data = call.inputs[0];
  const TensorView& out = call.outputs[0];
  const size_t axis = axis_of(call.attrs<GatherAttrs>().axis, data.rank());
  const AxisSplit split = split_at(data.shape, axis);
  const IndexView indices = indices_of(call.inputs[1]);
  for (size_t i = 0; i < indices.size(); ++i)
    checked_index(indices[i], split.size, axis);
  if (out.count() == 0) return;
  dispatch_width(data.dtype, [&]<typename T>() {
    constexpr bool is_plain = std::is_trivially_copyable_v<T>;
    const T* from = data.data<T>();
    T* to = out.data<T>();
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      check_interrupted();
      for (size_t i = 0; i < indices.size(); ++i) {
        const int64_t index = indices[i] + (indices[i] < 0 ? split.size : 0);
        // The table may be at any address, as in a file.
        if constexpr (!is_plain)
          copy_elements(from + index * split.inner, split.inner, to);
        else if (split.inner == 1)
          std::memcpy(to, from + index, sizeof(T));
        else
          std::memcpy(to, from + index * split.inner, static_cast<size_t>(split.inner) * sizeof(T));
        to += split.inner;
      }
      from += split.size * split.inner;
    }
  });
}

// ---- GatherElements

void infer_gather_elements(InferContext& c) {
  const Dims* data = c.shape(0);
  const Dims* indices = c.shape(1);
  if (data && indices) {
    c.require_rank(1, data->size());
    if (data->empty()) c.fail_input(0, "expected rank 1 or more");
    const auto axis =
        static_cast<size_t>(c.normalized_axis(c.attrs<GatherAttrs>().axis, data->size()));
    for (size_t i = 0; i < data->size(); ++i) {
      const auto have = (*data)[i].try_value(), want = (*indices)[i].try_value();
      if (i == axis || !have || !want || *want <= *have) continue;
      c.fail_input(1, "dim ", i, " exceeds that of the data, ", *have);
    }
  }
  c.set(0, c.dtype(0), shape_of(c, 1));
  propagate_elements(c);
}

void run_gather_elements(const KernelCall& call) {
  const TensorView& data = call.inputs[0];
  const TensorView& out = call.outputs[0];
  const size_t axis = axis_of(call.attrs<GatherAttrs>().axis, data.rank());
  const IndexView indices = indices_of(call.inputs[1]);
  const Strides strides = row_major_strides(data.shape);
  Strides others = strides;
  others[axis] = 0;  // the index itself moves along the axis
  const Strides walked[] = {row_major_strides(out.shape), others};
  dispatch_width(data.dtype, [&]<typename T>() {
    const RowWalk walk(out.shape, walked);
    walk.for_each([&](const int64_t* offsets, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        const int64_t at = offsets[0] + i * walk.step(0);
        const int64_t index =
            checked_index(indices[static_cast<size_t>(at)], data.shape[axis], axis);
        assign_element(out.data<T>()[at],
                       data.data<T>()[offsets[1] + i * walk.step(1) + index * strides[axis]]);
      }
    });
  });
}

// ---- GatherND

void infer_gather_nd(InferContext& c) {
  const Dims* data = c.shape(0);
  const Dims* indices = c.shape(1);
  const int64_t batch = c.attrs<GatherNDAttrs>().batch_dims;
  c.require(batch >= 0, "batch_dims: expected at least 0, got ", batch);
  if (!data || !indices) return c.set(0, c.dtype(0), std::nullopt);
  const auto data_rank = static_cast<int64_t>(data->size());
  const auto index_rank = static_cast<int64_t>(indices->size());
  c.require(batch < std::min(data_rank, index_rank), "batch_dims ", batch,
            " must be less than both ranks, ", data_rank, " and ", index_rank);
  Dims result(indices->begin(), indices->end() - 1);
  for (int64_t i = 0; i < batch; ++i) {
    const auto at = static_cast<size_t>(i);
    result[at] = c.merged((*data)[at], (*indices)[at], text("batch dim ", i));
  }
  const auto depth = indices->back().try_value();
  if (!depth) return c.set(0, c.dtype(0), std::nullopt);
  // A tuple of 0 indices takes its whole batch entry, as in ScatterND and ONNX Runtime.
  c.require(*depth >= 0 && *depth <= data_rank - batch, "indices: tuples have ", *depth,
            " elements, expected at most ", data_rank - batch);
  result.insert(result.end(), data->begin() + batch + *depth, data->end());
  c.set(0, c.dtype(0), std::move(result));
  propagate_elements(c);
}

void run_gather_nd(const KernelCall& call) {
  const TensorView& data = call.inputs[0];
  const TensorView& indices = call.inputs[1];
  const TensorView& out = call.outputs[0];
  const auto batch = static_cast<size_t>(call.attrs<GatherNDAttrs>().batch_dims);
  const auto depth = static_cast<size_t>(indices.shape.back());
  const Strides strides = row_major_strides(data.shape);
  int64_t batches = 1, tuples = 1, run = 1;
  for (size_t i = 0; i < batch; ++i)
    batches *= data.shape[i];
  for (size_t i = batch; i + 1 < indices.rank(); ++i)
    tuples *= indices.shape[i];
  for (size_t i = batch + depth; i < data.rank(); ++i)
    run *= data.shape[i];
  const int64_t batch_size = batch < data.rank() ? strides[batch] * data.shape[batch] : 1;
  const int64_t* tuple = indices.data<int64_t>();
  int64_t to = 0;
  for (int64_t b = 0; b < batches; ++b) {
    check_interrupted();
    for (int64_t t = 0; t < tuples; ++t, tuple += depth, to += run) {
      int64_t from = b * batch_size;
      for (size_t i = 0; i < depth; ++i) {
        const size_t axis = batch + i;
        from += checked_index(tuple[i], data.shape[axis], axis) * strides[axis];
      }
      copy_run(data.dtype, data.raw, from, out.raw, to, run);
    }
  }
}

// ---- OneHot

// The depth, where known: any number type, rounded towards zero.
std::optional<Dim> one_hot_depth(const InferContext& c) {
  if (const auto elements = known_elements(c, 1); elements && elements->size() == 1) {
    return (*elements)[0];
  }
  const Tensor* constant = c.constant(1);
  if (!constant || constant->count() != 1) return std::nullopt;
  const double depth = constant->to_doubles()[0];
  c.require(depth >= 0 && depth < 9e15, "depth: expected a size, got ", depth);
  return Dim(static_cast<int64_t>(depth));
}

void infer_one_hot(InferContext& c) {
  require_single(c, 1);
  if (const Dims* values = c.shape(2)) {
    const bool pair = values->size() == 1 && (!(*values)[0].is_known() || (*values)[0] == 2);
    if (!pair) c.fail_input(2, "expected the two elements [off, on]");
  }
  const auto depth = one_hot_depth(c);
  c.require(!depth || !depth->is_known() || depth->value() >= 0, "depth: expected at least 0, got ",
            depth.value_or(0));
  const Dims* indices = c.shape(0);
  if (!indices) return c.set(0, c.dtype(2), std::nullopt);
  Dims result = *indices;
  const int64_t axis = c.normalized_axis(c.attrs<OneHotAttrs>().axis, indices->size() + 1);
  result.insert(result.begin() + axis, depth ? *depth : c.unknown());
  c.set(0, c.dtype(2), std::move(result));
}

// Where an index switches its element on; -1: nowhere.
template <typename T>
int64_t on_position(T given, int64_t depth) {
  int64_t index = -1;
  if constexpr (std::is_integral_v<T>) {
    const bool too_large = std::is_unsigned_v<T> && static_cast<uint64_t>(given) > INT64_MAX;
    index = too_large ? depth : static_cast<int64_t>(given);
  } else {
    const double value = std::trunc(static_cast<double>(given));
    index = std::abs(value) < 9e15 ? static_cast<int64_t>(value) : depth;  // NaN as well
  }
  if (index < 0) index = index < -depth ? -1 : index + depth;
  return index < depth ? index : -1;
}

void run_one_hot(const KernelCall& call) {
  const TensorView& indices = call.inputs[0];
  const TensorView& out = call.outputs[0];
  const size_t axis = axis_of(call.attrs<OneHotAttrs>().axis, out.rank());
  const AxisSplit split = split_at(out.shape, axis);
  fill_run(out.dtype, call.inputs[2].raw, out.raw, 0, out.count());
  if (out.count() == 0) return;
  dispatch_numbers(indices.dtype, [&]<typename T>() {
    const T* given = indices.data<T>();
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        const int64_t position = on_position(given[outer * split.inner + inner], split.size);
        if (position < 0) continue;
        copy_run(out.dtype, call.inputs[2].raw, 1, out.raw,
                 (outer * split.size + position) * split.inner + inner, 1);
      }
    }
  });
}

// ---- Compress

void infer_compress(InferContext& c) {
  c.require_rank(1, 1);
  const auto& axis = c.attrs<CompressAttrs>().axis;
  if (!axis) return c.set(0, c.dtype(0), Dims{c.unknown()});
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, c.dtype(0), std::nullopt);
  Dims result = *dims;
  result[static_cast<size_t>(c.normalized_axis(*axis, dims->size()))] = c.unknown();
  c.set(0, c.dtype(0), std::move(result));
}

// Elements one by one, without a branch for each: what is not kept is written over.
template <typename T>
void keep_elements(const T* from, std::span<const uint8_t> keeps, T* to, int64_t count) {
  constexpr size_t kPart = 1 << 16;
  int64_t kept = 0;
  for (size_t begin = 0; kept < count; begin += kPart) {
    check_interrupted();
    const size_t end = std::min(begin + kPart, keeps.size());
    for (size_t i = begin; i < end && kept < count; ++i) {
      to[kept] = from[i];
      kept += keeps[i];
    }
  }
}

// False for elements of other sizes than those of numbers.
bool try_keep_elements(DType dtype, const void* from, std::span<const uint8_t> keeps, void* to,
                       int64_t count) {
  if (dtype == DType::kString || is_packed(dtype)) return false;
  const auto keep = [&]<typename T>(T) {
    keep_elements(static_cast<const T*>(from), keeps, static_cast<T*>(to), count);
    return true;
  };
  switch (bytes_for(dtype, 1)) {
    case 1:
      return keep(uint8_t{});
    case 2:
      return keep(uint16_t{});
    case 4:
      return keep(uint32_t{});
    case 8:
      return keep(uint64_t{});
    default:
      return false;
  }
}

// 0 or 1 for each element, in memory that nobody else writes: it is counted first and read again.
std::pmr::vector<uint8_t> condition_of(const Tensor& given) {
  const auto bools = given.values<bool>();
  std::pmr::vector<uint8_t> condition(bools.size(), scratch());
  normalize_bools(bools.data(), condition.data(), condition.size());
  return condition;
}

void run_compress(const EvalCall& call) {
  const Tensor& input = call.inputs[0].tensor();
  const auto& axis_attr = call.attrs<CompressAttrs>().axis;
  const size_t axis = axis_attr ? axis_of(*axis_attr, input.rank()) : 0;
  const AxisSplit split =
      axis_attr ? split_at(input.shape(), axis) : AxisSplit{1, input.count(), 1};
  const std::pmr::vector<uint8_t> condition = condition_of(call.inputs[1].tensor());
  const auto last = std::find(condition.rbegin(), condition.rend(), 1);
  const auto reach = std::distance(last, condition.rend());
  if (reach > split.size) fail_index(reach - 1, split.size, axis);
  const auto keeps = std::span(condition).first(static_cast<size_t>(reach));
  const int64_t count = std::count(keeps.begin(), keeps.end(), 1);
  DimValues shape{0};
  if (axis_attr) shape = DimValues(input.shape().begin(), input.shape().end());
  shape[axis] = count;
  const Tensor& output = call.tensor(0, input.dtype(), shape);
  if (split.outer == 1 && split.inner == 1 &&
      try_keep_elements(input.dtype(), input.raw(), keeps, output.raw(), count))
    return;
  std::pmr::vector<int64_t> chosen(scratch());
  chosen.reserve(static_cast<size_t>(count));
  for (size_t i = 0; i < keeps.size(); ++i) {
    if (keeps[i]) chosen.push_back(static_cast<int64_t>(i));
  }
  int64_t to = 0;
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    check_interrupted();
    for (const int64_t index : chosen) {
      copy_run(input.dtype(), input.raw(), (outer * split.size + index) * split.inner, output.raw(),
               to, split.inner);
      to += split.inner;
    }
  }
}

// ---- ReverseSequence

void infer_reverse_sequence(InferContext& c) {
  const auto& attrs = c.attrs<ReverseSequenceAttrs>();
  const bool fits = (attrs.batch_axis == 0 && attrs.time_axis == 1) ||
                    (attrs.batch_axis == 1 && attrs.time_axis == 0);
  c.require(fits, "batch_axis and time_axis must be 0 and 1 or 1 and 0, got ", attrs.batch_axis,
            " and ", attrs.time_axis);
  c.require_rank(1, 1);
  if (const Dims* dims = c.shape(0)) {
    if (dims->size() < 2) c.fail_input(0, "expected rank 2 or more");
    const auto batch = static_cast<size_t>(attrs.batch_axis);
    if (const Dims* lengths = c.shape(1)) c.merged((*dims)[batch], (*lengths)[0], "sequence_lens");
  }
  c.set(0, c.type(0));
}

void run_reverse_sequence(const KernelCall& call) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  const auto& attrs = call.attrs<ReverseSequenceAttrs>();
  const Strides strides = row_major_strides(from.shape);
  const int64_t batch_stride = strides[static_cast<size_t>(attrs.batch_axis)];
  const int64_t time_stride = strides[static_cast<size_t>(attrs.time_axis)];
  const int64_t steps = from.shape[static_cast<size_t>(attrs.time_axis)];
  const int64_t run =
      from.shape[0] * from.shape[1] == 0 ? 0 : from.count() / (from.shape[0] * from.shape[1]);
  const IndexView lengths = indices_of(call.inputs[1]);
  for (size_t b = 0; b < lengths.size(); ++b) {
    check_interrupted();
    const int64_t length = lengths[b];
    if (length < 0 || length > steps) {
      fail(ErrorCode::kInvalidArgument, "sequence_lens: element ", b, " is ", length,
           ", expected 0 to ", steps);
    }
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t base = static_cast<int64_t>(b) * batch_stride;
      const int64_t source = t < length ? length - 1 - t : t;
      copy_run(from.dtype, from.raw, base + source * time_stride, to.raw, base + t * time_stride,
               run);
    }
  }
}

// ---- Samples and rows

std::vector<Sample> gather_samples() {
  return {{{{.shape = {4, 3}}, given<int64_t>({0, -1, 2, 2}, {2, 2})}},
          {{{.shape = {2, 3, 2}}, given<int32_t>({1}, {})}, {{"axis", int64_t{-2}}}},
          {{{.shape = {2, 3, 2}}, given<int64_t>({1, -1, 1, 0, 0, 2}, {3, 2})},
           {{"axis", int64_t{1}}}}};
}
std::vector<Sample> gather_elements_samples() {
  return {
      {{{.shape = {3, 3}}, given<int64_t>({0, -1, 2, 2, 1, 0}, {3, 2})}, {{"axis", int64_t{1}}}}};
}
std::vector<Sample> gather_nd_samples() {
  return {{{{.shape = {2, 3, 2}}, given<int64_t>({0, 1, 1, -1}, {2, 2})}},
          {{{.shape = {2, 3, 2}}, given<int64_t>({1, 0}, {2, 1})}, {{"batch_dims", int64_t{1}}}},
          {{{.shape = {2, 3}}, given<int64_t>({}, {2, 0})}}};
}
std::vector<Sample> one_hot_samples() {
  return {{{given<int64_t>({0, -1, 7}, {3}), given<int64_t>({4}, {}), {.shape = {2}}}},
          {{given<float>({1, 2}, {2}), given<float>({3}, {1}), {.shape = {2}}},
           {{"axis", int64_t{0}}}}};
}
std::vector<Sample> compress_samples() {
  return {{{{.shape = {3, 2}}, given<bool>({true, false, true}, {3})}, {{"axis", int64_t{0}}}},
          {{{.shape = {3, 2}}, given<bool>({false, true, true}, {3})}}};
}
std::vector<Sample> reverse_sequence_samples() {
  return {{{{.shape = {4, 3, 2}}, given<int64_t>({1, 4, 0}, {3})}}};
}

const OpDef kGatherOps[] = {
    {.name = "Gather",
     .doc = "The slices of `data` along `axis` at these indices: the axis becomes the indices' "
            "axes. Negative counts from the end, beyond is refused.",
     .since = 13,
     .signature = "(data: T, indices: Tind) -> (output: T)",
     .types = {{"T", kGatheredTypes}, {"Tind", kIndexTypes}},
     .attrs = attr_schema<GatherAttrs>(),
     .infer = infer_gather,
     .reference = run_gather,
     .grad = gather_gradient,
     .facts = kPassesValues | kReadsTable,
     .weight_inputs = 1u << 0,
     .part_offsets = gather_offset,
     .samples = gather_samples},
    {.name = "GatherElements",
     .doc = "data at the index that `indices` has along `axis`, in the shape of the indices.",
     .since = 13,
     .signature = "(data: T, indices: Tind) -> (output: T)",
     .types = {{"T", kGatheredTypes}, {"Tind", kIndexTypes}},
     .attrs = attr_schema<GatherAttrs>(),
     .infer = infer_gather_elements,
     .reference = run_gather_elements,
     .grad = gather_elements_gradient,
     .facts = kPassesValues,
     .samples = gather_elements_samples},
    {.name = "GatherND",
     .doc = "The slices of `data` at tuples of indices, the last axis of `indices`, behind "
            "batch_dims axes in common.",
     .since = 13,
     .signature = "(data: T, indices: int64) -> (output: T)",
     .types = {{"T", kGatheredTypes}},
     .attrs = attr_schema<GatherNDAttrs>(),
     .infer = infer_gather_nd,
     .reference = run_gather_nd,
     .grad = gather_nd_gradient,
     .facts = kPassesValues,
     .samples = gather_nd_samples},
    {.name = "OneHot",
     .doc = "values[1] at the index along a new axis of length depth, else values[0].",
     .since = 11,
     .signature = "(indices: T1, depth: T2, values: T3) -> (output: T3)",
     .types = {{"T1", kNumbers.without(DType::kBFloat16)},
               {"T2", kNumbers.without(DType::kBFloat16)},
               {"T3", kClassicTypes}},
     .attrs = attr_schema<OneHotAttrs>(),
     .infer = infer_one_hot,
     .reference = run_one_hot,
     .grad = one_hot_gradient,
     .shape_inputs = 1 << 1,
     .samples = one_hot_samples},
    {.name = "Compress",
     .doc = "The slices along `axis` whose condition is true; of all elements in a row where no "
            "axis is given.",
     .since = 11,
     .signature = "(input: T, condition: T1) -> (output: T)",
     .types = {{"T", kClassicTypes}, {"T1", DType::kBool}},
     .attrs = attr_schema<CompressAttrs>(),
     .infer = infer_compress,
     .evaluate = run_compress,
     .grad = compress_gradient,
     .samples = compress_samples},
    {.name = "ReverseSequence",
     .doc = "The first sequence_lens[b] elements along time_axis in reverse, for each b of "
            "batch_axis.",
     .since = 10,
     .signature = "(input: T, sequence_lens: int64) -> (Y: T)",
     .types = {{"T", kClassicTypes}},
     .attrs = attr_schema<ReverseSequenceAttrs>(),
     .infer = infer_reverse_sequence,
     .reference = run_reverse_sequence,
     .grad = reverse_sequence_gradient,
     .samples = reverse_sequence_samples},
};

}  // namespace

std::span<const OpDef> gather_ops() {
  return kGatherOps;
}

}  // namespace sardonyx::ops
