// Ops that find elements by their order along an axis: ArgMax, ArgMin, TopK. A NaN counts as
// greater than every number in TopK, and as the extreme in ArgMax and ArgMin, as numpy has it.
#include <algorithm>
#include <span>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reduction/arg_max_top_k.h"
#include "ir/ops/reduction/reduce.h"
#include "ir/ops/reference/arg_extreme.h"

namespace sardonyx::ops {
namespace {

void infer_arg_reduce(InferContext& c) {
  const ArgReduceAttrs& attrs = c.attrs<ArgReduceAttrs>();
  const Dims* shape = c.shape(0);
  if (!shape) return c.set(0, DType::kInt64, std::nullopt);
  const auto axis = static_cast<size_t>(c.normalized_axis(attrs.axis, shape->size()));
  if ((*shape)[axis] == 0) c.fail_input(0, "has no elements along axis ", axis, " to choose from");
  Dims out = *shape;
  if (attrs.keepdims)
    out[axis] = 1;
  else
    out.erase(out.begin() + static_cast<ptrdiff_t>(axis));
  c.set(0, DType::kInt64, std::move(out));
}

template <bool is_max>
void run_arg_reduce(const KernelCall& call) {
  const ArgReduceAttrs& attrs = call.attrs<ArgReduceAttrs>();
  const TensorView& in = call.inputs[0];
  const AxisSplit split = split_at(in.shape, axis_of(attrs.axis, in.rank()));
  auto* out = call.outputs[0].data<int64_t>();
  dispatch_numbers(in.dtype, [&]<typename T>() {
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      check_interrupted();
      const T* line = in.data<T>() + outer * split.size * split.inner;
      for (int64_t inner = 0; inner < split.inner; ++inner, ++line) {
        *out++ = find_extreme<is_max>(line, split.size, split.inner, attrs.select_last_index);
      }
    }
  });
}

void infer_top_k(InferContext& c) {
  require_single(c, 1);
  const Dims* shape = c.shape(0);
  std::optional<Dims> out;
  if (shape) {
    const auto axis =
        static_cast<size_t>(c.normalized_axis(c.attrs<TopKAttrs>().axis, shape->size()));
    const std::optional<Dims> k = c.dims(1);
    const Dim count = k && k->size() == 1 ? (*k)[0] : c.unknown();
    const Dim& size = (*shape)[axis];
    if (count.is_known()) {
      if (count.value() < 0) c.fail_input(1, "must not be negative, got ", count);
      if (size.is_known() && count.value() > size.value()) {
        c.fail_input(1, "asks for ", count, " elements of axis ", axis, ", which has ", size);
      }
    }
    out = *shape;
    (*out)[axis] = count;
  }
  c.set(0, c.dtype(0), out);
  c.set(1, DType::kInt64, std::move(out));
}

// Looks at the deadline every so many steps.
void look_at(int64_t step) {
  if (step % kPollInterval == 0) check_interrupted();
}

void run_top_k(const KernelCall& call) {
  const TopKAttrs& attrs = call.attrs<TopKAttrs>();
  const TensorView& in = call.inputs[0];
  const size_t axis = axis_of(attrs.axis, in.rank());
  const AxisSplit split = split_at(in.shape, axis);
  const int64_t k = call.outputs[0].shape[axis];
  std::pmr::vector<int64_t> order(scratch());
  order.reserve(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) {
    look_at(i);
    order.push_back(i);
  }
  int64_t comparisons = 0;
  const auto look = [&] { look_at(++comparisons); };
  dispatch_numbers(in.dtype, [&]<typename T>() {
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        check_interrupted();
        const T* line = in.data<T>() + outer * split.size * split.inner + inner;
        find_first(line, split.size, split.inner, attrs.largest, std::span(order), look);
        for (int64_t i = 0; i < k; ++i) {
          look_at(i);
          const int64_t at = (outer * k + i) * split.inner + inner;
          const int64_t found = order[static_cast<size_t>(i)];
          if (call.wants(0)) call.outputs[0].data<T>()[at] = line[found * split.inner];
          if (call.wants(1)) call.outputs[1].data<int64_t>()[at] = found;
        }
      }
    }
  });
}

std::vector<Sample> arg_reduce_samples() {
  return {
      {.inputs = {{.shape = {2, 3, 4}}}},
      {.inputs = {{.shape = {2, 5}}}, .attrs = {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}}},
      {.inputs = {{.shape = {2, 5}, .low = 0, .high = 1}},
       .attrs = {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}},
      {.inputs = {{.shape = {3, 0}}}},
  };
}

std::vector<Sample> top_k_samples() {
  const auto k = [](int64_t count) {
    return SampleInput{.shape = {1}, .value = Tensor::vector<int64_t>({count})};
  };
  return {
      {.inputs = {{.shape = {3, 5}}, k(2)}, .outputs = 2},
      {.inputs = {{.shape = {4, 2, 3}}, k(3)},
       .attrs = {{"axis", int64_t{0}}, {"largest", int64_t{0}}},
       .outputs = 2},
      {.inputs = {{.shape = {3, 5}}, k(5)}, .attrs = {{"sorted", int64_t{0}}}, .outputs = 2},
      {.inputs = {{.shape = {3, 5}}, k(0)}, .outputs = 2},
  };
}

OpDef arg_reduce_row(std::string_view name, void (*reference)(const KernelCall&)) {
  return {.name = name,
          .since = 13,
          .signature = "(data: T) -> (reduced: int64)",
          .types = {{"T", kNumbers}},
          .attrs = attr_schema<ArgReduceAttrs>(),
          .infer = infer_arg_reduce,
          .reference = reference,
          .samples = arg_reduce_samples};
}

}  // namespace

std::span<const OpDef> order_ops() {
  static const OpDef kOps[] = {
      arg_reduce_row("ArgMax", run_arg_reduce<true>)
          .documented(
              "The index along `axis` (int64) of the largest element, the first or the last such."),
      arg_reduce_row("ArgMin", run_arg_reduce<false>)
          .documented("The index along `axis` (int64) of the smallest element, the first or the "
                      "last such."),
      {.name = "TopK",
       .doc = "The K largest or smallest elements along `axis`, and their indices (int64); K must "
              "not exceed the axis.",
       .since = 24,
       .signature = "(X: T, K: int64) -> (Values: T, Indices: I)",
       .types = {{"T", kNumbers}, {"I", DType::kInt64}},
       .attrs = attr_schema<TopKAttrs>(),
       .infer = infer_top_k,
       .reference = run_top_k,
       .grad = top_k_gradient,
       .shape_inputs = 1u << 1,
       .samples = top_k_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
