#include "ir/ops/reduction/reduce.h"

#include <algorithm>
#include <cmath>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/strides.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reduction/reduce_gradient.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

ReducedDims reduced_dims(const ReduceAttrs& attrs, std::span<const int64_t> axes, size_t rank) {
  ReducedDims reduced(rank, axes.empty() && !attrs.noop_with_empty_axes);
  for (const int64_t axis : axes)
    reduced[axis_of(axis, rank)] = true;
  return reduced;
}

namespace {

// ---- Inference

std::optional<std::vector<int64_t>> known_axes(InferContext& c) {
  if (!c.has(1)) return std::vector<int64_t>{};
  require_vector(c, 1);
  return c.int64s(1);
}

// Which axes go is not known; how many may be.
std::optional<Dims> shape_without_axes(InferContext& c, size_t rank) {
  const ReduceAttrs& attrs = c.attrs<ReduceAttrs>();
  if (attrs.keepdims) return unknown_dims(c, rank);
  const Dims* axes = c.shape(1);
  if (!axes || !(*axes)[0].is_known() || (*axes)[0].value() == 0) return std::nullopt;
  const auto count = static_cast<uint64_t>((*axes)[0].value());
  if (count > rank) c.fail_input(1, "names ", count, " axes of a tensor of rank ", rank);
  return unknown_dims(c, rank - count);
}

void infer_reduce(InferContext& c) {
  const ReduceAttrs& attrs = c.attrs<ReduceAttrs>();
  const std::optional<std::vector<int64_t>> axes = known_axes(c);
  const Dims* shape = c.shape(0);
  if (!shape) {
    const bool all = axes && axes->empty() && !attrs.noop_with_empty_axes && !attrs.keepdims;
    return c.set(0, c.dtype(0), all ? std::optional(Dims{}) : std::nullopt);
  }
  if (!axes) return c.set(0, c.dtype(0), shape_without_axes(c, shape->size()));
  const ReducedDims reduced =
      reduced_dims(attrs, normalized_axes(c, *axes, shape->size()), shape->size());
  Dims out;
  for (size_t i = 0; i < shape->size(); ++i) {
    if (!reduced[i])
      out.push_back((*shape)[i]);
    else if (attrs.keepdims)
      out.push_back(1);
  }
  c.set(0, c.dtype(0), std::move(out));
}

// The same, carrying the elements of a short integer vector: what shape arithmetic is made of.
template <typename Combine>
void infer_with_elements(InferContext& c, Combine combine) {
  infer_reduce(c);
  const DType dtype = c.dtype(0);
  const std::optional<std::vector<int64_t>> axes = known_axes(c);
  if (rank_of(c, 0).value_or(2) > 1 || !axes) return;
  if (dtype != DType::kInt64 && dtype != DType::kInt32) return;
  const std::optional<Dims> elements = c.dims(0);
  if (!elements) return;
  const bool is_noop = axes->empty() && c.attrs<ReduceAttrs>().noop_with_empty_axes;
  if (is_noop || rank_of(c, 0) == 0) return c.set_dims(0, *elements);
  try {
    const std::optional<Dim> result = combine(*elements);
    if (!result) return;
    const bool fits = dtype == DType::kInt64 || !result->is_known() ||
                      result->value() == static_cast<int32_t>(result->value());
    if (fits) c.set_dims(0, {*result});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted) throw;  // beyond int64: it wraps when run
  }
}

void infer_sum(InferContext& c) {
  infer_with_elements(c, [](const Dims& elements) {
    Dim sum = 0;
    for (const Dim& element : elements)
      sum += element;
    return std::optional(sum);
  });
}

void infer_prod(InferContext& c) {
  infer_with_elements(c,
                      [](const Dims& elements) { return std::optional(element_count(elements)); });
}

template <Dim (*pick)(const Dim&, const Dim&)>
void infer_extreme(InferContext& c) {
  infer_with_elements(c, [](const Dims& elements) {
    std::optional<Dim> best;
    for (const Dim& element : elements)
      best = best ? pick(*best, element) : element;
    return best;
  });
}

// ---- Reference kernels

std::span<const int64_t> axes_of(const KernelCall& call) {
  if (!call.has(1)) return {};
  return {call.inputs[1].data<int64_t>(), static_cast<size_t>(call.inputs[1].count())};
}

// The shape of the output with every reduced dim kept as 1, and the number of elements that meet
// in one of the output's.
struct ReductionRule {
  DimValues kept;
  int64_t count = 1;
  explicit ReductionRule(const KernelCall& call) {
    const std::span<const int64_t> shape = call.inputs[0].shape;
    const ReducedDims reduced =
        reduced_dims(call.attrs<ReduceAttrs>(), axes_of(call), shape.size());
    for (size_t i = 0; i < shape.size(); ++i) {
      kept.push_back(reduced[i] ? 1 : shape[i]);
      // Overflows only where another dim is 0, and then nobody reads it.
      if (reduced[i] && __builtin_mul_overflow(count, shape[i], &count)) count = 0;
    }
  }
};

// For each input element: combine(state of its output element, value).
template <typename T, typename State, typename Combine>
void fold(const KernelCall& call, const ReductionRule& reduction, std::span<State> states,
          Combine combine) {
  const TensorView& in = call.inputs[0];
  const Strides strides[] = {row_major_strides(in.shape),
                             broadcast_strides(reduction.kept, in.shape)};
  const RowWalk walk(in.shape, strides);
  const T* from = in.data<T>();
  const int64_t step = walk.step(0), state_step = walk.step(1);
  walk.for_each([&](const int64_t* at, int64_t length) {
    const T* row = from + at[0];
    State* own = &states[static_cast<size_t>(at[1])];
    if (state_step != 0) {
      for (int64_t i = 0; i < length; ++i)
        combine(own[i * state_step], row[i * step]);
      return;
    }
    State held = *own;  // in registers
    for (int64_t i = 0; i < length; ++i)
      combine(held, row[i * step]);
    *own = held;
  });
}

// Folds from `start` and writes finish(state, count).
template <typename T, typename State, typename Combine, typename Finish>
void reduce(const KernelCall& call, State start, Combine combine, Finish finish) {
  const ReductionRule reduction(call);
  std::pmr::vector<State> states(static_cast<size_t>(call.outputs[0].count()), start, scratch());
  fold<T, State>(call, reduction, states, combine);
  T* out = call.outputs[0].data<T>();
  for (size_t i = 0; i < states.size(); ++i)
    out[i] = finish(states[i], reduction.count);
}

template <typename Body>
void dispatch_reduced(DType dtype, Body&& body) {
  detail::dispatch_among<float, double, Float16, BFloat16, int64_t, int32_t, uint32_t, uint64_t>(
      dtype, body);
}

// How the state of a sum of f(x) becomes an element.
template <typename T>
T sum_result(Accumulator<T> sum, int64_t) {
  return narrowed<T>(sum);
}

void run_sum(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    using Acc = Accumulator<T>;
    reduce<T>(
        call, Acc{0}, [](Acc& sum, T x) { sum += widened(x); }, sum_result<T>);
  });
}

void run_prod(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    using Acc = Accumulator<T>;
    reduce<T>(
        call, Acc{1}, [](Acc& product, T x) { product *= widened(x); }, sum_result<T>);
  });
}

// Integers are divided as integers, towards zero. The mean of nothing is NaN, or 0 of integers.
void run_mean(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    using Acc = Accumulator<T>;
    reduce<T>(
        call, Acc{0}, [](Acc& sum, T x) { sum += widened(x); },
        [](Acc sum, int64_t count) {
          if constexpr (!std::is_integral_v<T>) {
            return narrowed<T>(sum / static_cast<double>(count));
          } else {
            if (count == 0) return T{0};
            if constexpr (std::is_signed_v<T>)
              return static_cast<T>(static_cast<int64_t>(sum) / count);
            else
              return static_cast<T>(sum / static_cast<uint64_t>(count));
          }
        });
  });
}

template <typename T>
Accumulator<T> magnitude(T x) {
  if constexpr (std::is_signed_v<T>)
    return x < 0 ? Accumulator<T>{0} - widened(x) : widened(x);
  else if constexpr (std::is_integral_v<T>)
    return x;
  else
    return std::fabs(widened(x));
}

void run_l1(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    using Acc = Accumulator<T>;
    reduce<T>(
        call, Acc{0}, [](Acc& sum, T x) { sum += magnitude(x); }, sum_result<T>);
  });
}

void run_sum_square(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    using Acc = Accumulator<T>;
    reduce<T>(
        call, Acc{0}, [](Acc& sum, T x) { sum += widened(x) * widened(x); }, sum_result<T>);
  });
}

void run_l2(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    reduce<T>(
        call, 0.0, [](double& sum, T x) { sum += static_cast<double>(x) * static_cast<double>(x); },
        [](double sum, int64_t) { return from_real<T>(std::sqrt(sum)); });
  });
}

void run_log_sum(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    reduce<T>(
        call, 0.0, [](double& sum, T x) { sum += static_cast<double>(x); },
        [](double sum, int64_t) { return from_real<T>(std::log(sum)); });
  });
}

// log(sum(exp(x))) as max + log(sum(exp(x - max))), kept up to date as greater elements come.
struct LogSum {
  double greatest = -std::numeric_limits<double>::infinity();
  double sum = 0;  // of exp(x - greatest)
  void add(double x) {
    if (x <= greatest) {
      if (std::isfinite(greatest)) sum += std::exp(x - greatest);
    } else {
      sum = std::isfinite(greatest) ? sum * std::exp(greatest - x) + 1 : 1;
      if (std::isnan(greatest)) return;
      greatest = x;  // NaN stays, since nothing compares with it
    }
  }
  double result() const { return std::isfinite(greatest) ? greatest + std::log(sum) : greatest; }
};

void run_log_sum_exp(const KernelCall& call) {
  dispatch_reduced(call.inputs[0].dtype, [&]<typename T>() {
    reduce<T>(
        call, LogSum{}, [](LogSum& state, T x) { state.add(static_cast<double>(x)); },
        [](const LogSum& state, int64_t) { return from_real<T>(state.result()); });
  });
}

// The extreme of nothing: infinity, or the end of the type's range.
template <typename T>
T extreme_start(bool is_max) {
  if constexpr (std::is_integral_v<T>) {
    return is_max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  } else {
    const float infinity = std::numeric_limits<float>::infinity();
    return T(is_max ? -infinity : infinity);
  }
}

template <bool is_max>
void run_extreme(const KernelCall& call) {
  const auto run = [&]<typename T>() {
    struct Best {
      T value;
    };
    reduce<T>(
        call, Best{extreme_start<T>(is_max)},
        [](Best& best, T x) {
          // A NaN wins and stays: nothing compares with it.
          if ((is_max ? x > best.value : x < best.value) || x != x) best.value = x;
        },
        [](Best best, int64_t) { return best.value; });
  };
  detail::dispatch_among<float, double, Float16, BFloat16, int64_t, int32_t, uint32_t, uint64_t,
                         int8_t, uint8_t, bool>(call.inputs[0].dtype, run);
}

// ---- Rows

std::vector<Sample> reduce_samples() {
  const auto axes = [](const std::vector<int64_t>& values) {
    return SampleInput{.shape = {static_cast<int64_t>(values.size())},
                       .value = Tensor::vector(values)};
  };
  return {
      {.inputs = {{.shape = {2, 3, 4}, .low = 1, .high = 3}}},
      {.inputs = {{.shape = {2, 3, 4}, .low = 1, .high = 3}}, .attrs = {{"keepdims", int64_t{0}}}},
      {.inputs = {{.shape = {2, 3, 4}, .low = 1, .high = 3}, axes({1})}},
      {.inputs = {{.shape = {2, 3, 4}, .low = 1, .high = 3}, axes({-1, 0})},
       .attrs = {{"keepdims", int64_t{0}}}},
      {.inputs = {{.shape = {2, 3}, .low = 1, .high = 3}, axes({})},
       .attrs = {{"noop_with_empty_axes", int64_t{1}}}},
      {.inputs = {{.shape = {}, .low = 1, .high = 3}}},
      {.inputs = {{.shape = {0, 3}, .low = 1, .high = 3}, axes({1})}},
  };
}

constexpr DTypeSet kReduced =
    kFloats | DTypeSet{DType::kUInt32, DType::kUInt64, DType::kInt32, DType::kInt64};

OpDef reduce_row(std::string_view name, int since, void (*reference)(const KernelCall&),
                 Vals (*grad)(Emitter&, const GradCall&),
                 void (*infer)(InferContext&) = infer_reduce, DTypeSet types = kReduced) {
  return {.name = name,
          .since = since,
          .signature = "(data: T, axes?: int64) -> (reduced: T)",
          .types = {{"T", types}},
          .attrs = attr_schema<ReduceAttrs>(),
          .infer = infer,
          .reference = reference,
          .grad = grad,
          .facts = infer == infer_reduce ? 0u : uint32_t{kPassesValues},
          .shape_inputs = 1u << 1,
          .samples = reduce_samples};
}

}  // namespace

std::span<const OpDef> reduce_ops() {
  constexpr DTypeSet kOrdered = kReduced | DTypeSet{DType::kUInt8, DType::kInt8, DType::kBool};
  static const OpDef kOps[] = {
      reduce_row("ReduceSum", 13, run_sum, reduce_sum_gradient, infer_sum)
          .documented("The sum over `axes`, all where none are given.")
          .with(kFloat32InMixed | kFloat32Kernels),
      reduce_row("ReduceMean", 18, run_mean, reduce_mean_gradient)
          .documented("The mean over `axes`, all where none are given.")
          .with(kFloat32InMixed | kFloat32Kernels),
      reduce_row("ReduceMax", 20, run_extreme<true>, reduce_extreme_gradient,
                 infer_extreme<sardonyx::max>, kOrdered)
          .documented("The largest element over `axes`, all where none are given.")
          .with(kFloat32Kernels),
      reduce_row("ReduceMin", 20, run_extreme<false>, reduce_extreme_gradient,
                 infer_extreme<sardonyx::min>, kOrdered)
          .documented("The smallest element over `axes`, all where none are given.")
          .with(kFloat32Kernels),
      reduce_row("ReduceProd", 18, run_prod, reduce_prod_gradient, infer_prod)
          .documented("The product over `axes`, all where none are given.")
          .with(kFloat32InMixed),
      reduce_row("ReduceL1", 18, run_l1, reduce_l1_gradient)
          .documented("The sum of magnitudes over `axes`, all where none are given.")
          .with(kFloat32InMixed | kFloat32Kernels),
      reduce_row("ReduceL2", 18, run_l2, reduce_l2_gradient)
          .documented("The root of the sum of squares over `axes`, all where none are given.")
          .with(kFloat32InMixed | kFloat32Kernels),
      reduce_row("ReduceLogSum", 18, run_log_sum, reduce_log_sum_gradient)
          .documented("The logarithm of the sum over `axes`, all where none are given.")
          .with(kFloat32InMixed),
      reduce_row("ReduceLogSumExp", 18, run_log_sum_exp, reduce_log_sum_exp_gradient)
          .documented("The logarithm of the sum of exponentials over `axes`, all where none are "
                      "given, without overflow.")
          .with(kFloat32InMixed),
      reduce_row("ReduceSumSquare", 18, run_sum_square, reduce_sum_square_gradient)
          .documented("The sum of squares over `axes`, all where none are given.")
          .with(kFloat32InMixed | kFloat32Kernels),
  };
  return kOps;
}

}  // namespace sardonyx::ops
