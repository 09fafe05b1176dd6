// ScatterElements, ScatterND, TensorScatter.
#include <algorithm>
#include <cmath>
#include <complex>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/ops/data_movement/gather.h"
#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/indices.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kScatteredTypes = kClassicTypes | DType::kBFloat16;

// ---- Reductions

// Whether elements of this type have the reduction: strings have none, complex numbers no order.
void require_reducible(const InferContext& c, ScatterReduction reduction) {
  const DType dtype = c.dtype(0);
  const bool ordered = reduction == ScatterReduction::kMax || reduction == ScatterReduction::kMin;
  const bool fits = reduction == ScatterReduction::kNone ||
                    (dtype != DType::kString && !(ordered && is_complex(dtype)));
  c.require(fits, "reduction: elements of type ", dtype, " have no such reduction");
}

// The larger or lesser, NaN where one is NaN.
template <bool larger, typename T>
T extreme(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return (larger ? a < b : b < a) ? b : a;
}

// Calls body with the function that joins an element and an update of it.
template <typename T, typename Body>
void with_join(ScatterReduction reduction, const Body& body) {
  if constexpr (std::is_same_v<T, bool>) {
    const bool either = reduction == ScatterReduction::kAdd || reduction == ScatterReduction::kMax;
    return either ? body([](T a, T b) { return a || b; }) : body([](T a, T b) { return a && b; });
  } else {
    // Small integers would be multiplied as int, which may overflow; unsigned ones wrap.
    using U = std::conditional_t<sizeof(T) < 4, uint32_t, uint64_t>;
    using Wide = typename std::conditional_t<std::is_integral_v<T>, std::type_identity<U>,
                                             std::type_identity<T>>::type;
    const auto wide = [](T a) { return static_cast<Wide>(a); };
    switch (reduction) {
      case ScatterReduction::kAdd:
        return body([=](T a, T b) { return static_cast<T>(wide(a) + wide(b)); });
      case ScatterReduction::kMul:
        return body([=](T a, T b) { return static_cast<T>(wide(a) * wide(b)); });
      default:
        if constexpr (!requires { T().real(); }) {
          if (reduction == ScatterReduction::kMax) return body(extreme<true, T>);
          return body(extreme<false, T>);
        }
    }
  }
}

// An axis of the data along which indices go.
struct IndexedAxis {
  size_t axis;
  int64_t size, step;
};

// Joins update i with element i * own + indices[i] * the axis' step of `to`.
template <typename T, typename Index, typename Join>
void join_row(const T* from, const Index* indices, int64_t count, const IndexedAxis& axis, T* to,
              int64_t own, Join join) {
  const auto place = [&](int64_t i) {
    return checked_index(indices[i], axis.size, axis.axis) * axis.step;
  };
  // Rows that go to one place, as indices that were expanded say.
  const bool may_be_one = own == 1 && indices[0] == indices[count - 1];
  if (may_be_one && std::all_of(indices, indices + count, [&](Index i) { return i == *indices; })) {
    T* row = to + place(0);
    for (int64_t i = 0; i < count; ++i)
      assign_element(row[i], join(row[i], from[i]));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    T& element = to[i * own + place(i)];
    assign_element(element, join(element, from[i]));
  }
}

// Joins elements of `updates` into `output`.
class Joiner {
 public:
  Joiner(ScatterReduction reduction, const TensorView& updates, const TensorView& output)
      : reduction_(reduction), updates_(updates), output_(output) {}

  // Calls body(updates, elements, join), of the elements' type or one of their width.
  template <typename Body>
  void with_elements(const Body& body) const {
    dispatch([&]<typename T>(auto join) {
      body(static_cast<const T*>(updates_.raw), static_cast<T*>(output_.raw), join);
    });
  }

 private:
  template <typename Body>
  void dispatch(const Body& body) const {
    if (reduction_ == ScatterReduction::kNone) {
      return dispatch_width(output_.dtype, [&]<typename T>() {
        body.template operator()<T>([](const T&, const T& update) -> const T& { return update; });
      });
    }
    const auto reduce = [&]<typename T>() {
      with_join<T>(reduction_, [&](auto join) { body.template operator()<T>(join); });
    };
    switch (output_.dtype) {
      case DType::kBool:
        return reduce.template operator()<bool>();
      case DType::kComplex64:
        return reduce.template operator()<std::complex<float>>();
      case DType::kComplex128:
        return reduce.template operator()<std::complex<double>>();
      default:
        dispatch_numbers(output_.dtype, reduce);
    }
  }

  ScatterReduction reduction_;
  const TensorView& updates_;
  const TensorView& output_;
};

void copy_data(const KernelCall& call) {
  copy_run(call.inputs[0].dtype, call.inputs[0].raw, 0, call.outputs[0].raw, 0,
           call.inputs[0].count());
}

// ---- ScatterElements

void infer_scatter_elements(InferContext& c) {
  const auto& attrs = c.attrs<ScatterElementsAttrs>();
  require_reducible(c, reduction_named(attrs.reduction));
  const Dims* data = c.shape(0);
  const Dims* indices = c.shape(1);
  const Dims* updates = c.shape(2);
  if (data) {
    if (data->empty()) c.fail_input(0, "expected rank 1 or more");
    const auto axis = static_cast<size_t>(c.normalized_axis(attrs.axis, data->size()));
    c.require_rank(1, data->size());
    for (size_t i = 0; indices && i < data->size(); ++i) {
      const auto have = (*data)[i].try_value(), want = (*indices)[i].try_value();
      if (i == axis || !have || !want || *want <= *have) continue;
      c.fail_input(1, "dim ", i, " exceeds that of the data, ", *have);
    }
  }
  if (indices && updates) {
    c.require_rank(2, indices->size());
    for (size_t i = 0; i < indices->size(); ++i)
      c.merged((*indices)[i], (*updates)[i], text("dim ", i, " of indices and updates"));
  }
  c.set(0, c.type(0));
  if (reduction_named(attrs.reduction) == ScatterReduction::kNone) carry_elements(c, {0, 2});
}

void run_scatter_elements(const KernelCall& call) {
  const auto& attrs = call.attrs<ScatterElementsAttrs>();
  copy_data(call);
  const TensorView& updates = call.inputs[2];
  const TensorView& out = call.outputs[0];
  const Joiner joiner(reduction_named(attrs.reduction), updates, out);
  const size_t axis = axis_of(attrs.axis, out.rank());
  const Strides strides = row_major_strides(out.shape);
  const IndexedAxis indexed{axis, out.shape[axis], strides[axis]};
  Strides others = strides;
  others[axis] = 0;  // the index itself moves along the axis
  const Strides walked[] = {row_major_strides(updates.shape), others};
  const RowWalk walk(updates.shape, walked);
  dispatch_indices(call.inputs[1].dtype, [&]<typename Index>() {
    joiner.with_elements([&](const auto* from, auto* to, auto join) {
      walk.for_each([&](const int64_t* at, int64_t length) {
        join_row(from + at[0], call.inputs[1].data<Index>() + at[0], length, indexed, to + at[1],
                 walk.step(1), join);
      });
    });
  });
}

// ---- ScatterND

void infer_scatter_nd(InferContext& c) {
  const ScatterReduction reduction = reduction_named(c.attrs<ScatterNDAttrs>().reduction);
  require_reducible(c, reduction);
  const Dims* data = c.shape(0);
  const Dims* indices = c.shape(1);
  const Dims* updates = c.shape(2);
  if (data && data->empty()) c.fail_input(0, "expected rank 1 or more");
  if (indices && indices->empty()) c.fail_input(1, "expected rank 1 or more");
  const auto depth = indices ? indices->back().try_value() : std::nullopt;
  if (data && depth) {
    c.require(*depth >= 0 && *depth <= static_cast<int64_t>(data->size()), "indices: tuples have ",
              *depth, " elements, expected at most ", data->size());
    Dims expected(indices->begin(), indices->end() - 1);
    expected.insert(expected.end(), data->begin() + *depth, data->end());
    if (updates) {
      c.require_rank(2, expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        c.merged(expected[i], (*updates)[i], text("dim ", i, " of updates"));
    }
  }
  c.set(0, c.type(0));
  if (reduction == ScatterReduction::kNone) carry_elements(c, {0, 2});
}

void run_scatter_nd(const KernelCall& call) {
  copy_data(call);
  const TensorView& indices = call.inputs[1];
  const TensorView& out = call.outputs[0];
  const Joiner joiner(reduction_named(call.attrs<ScatterNDAttrs>().reduction), call.inputs[2], out);
  const auto depth = static_cast<size_t>(indices.shape.back());
  const Strides strides = row_major_strides(out.shape);
  int64_t tuples = 1, run = 1;
  for (size_t i = 0; i + 1 < indices.rank(); ++i)
    tuples *= indices.shape[i];
  for (size_t i = depth; i < out.rank(); ++i)
    run *= out.shape[i];
  joiner.with_elements([&](const auto* from, auto* to, auto join) {
    const int64_t* tuple = indices.data<int64_t>();
    for (int64_t t = 0; t < tuples; ++t, from += run) {
      if (t % 1024 == 0) check_interrupted();
      auto* row = to;
      for (size_t i = 0; i < depth; ++i)
        row += checked_index(*tuple++, out.shape[i], i) * strides[i];
      for (int64_t i = 0; i < run; ++i)
        row[i] = join(row[i], from[i]);
    }
  });
}

// ---- TensorScatter

void infer_tensor_scatter(InferContext& c) {
  const auto& attrs = c.attrs<TensorScatterAttrs>();
  c.require(attrs.mode == "linear" || attrs.mode == "circular",
            "mode: expected linear or circular, got \"", attrs.mode, "\"");
  if (const Dims* cache = c.shape(0)) {
    if (cache->size() < 2) c.fail_input(0, "expected rank 2 or more");
    const auto axis = static_cast<size_t>(c.normalized_axis(attrs.axis, cache->size()));
    c.require(axis != 0, "axis: expected another than that of the batch, 0");
    c.require_rank(1, cache->size());
    const Dims* update = c.shape(1);
    for (size_t i = 0; update && i < cache->size(); ++i) {
      if (i != axis) {
        c.merged((*cache)[i], (*update)[i], text("dim ", i, " of past_cache and update"));
      } else if ((*cache)[i].is_known() && (*update)[i].is_known()) {
        c.require((*update)[i].value() <= (*cache)[i].value(), "update has ", (*update)[i],
                  " steps, the cache ", (*cache)[i]);
      }
    }
    c.require_rank(2, 1);
    if (const Dims* starts = c.shape(2)) c.merged((*cache)[0], (*starts)[0], "write_indices");
  }
  c.set(0, c.type(0));
}

void run_tensor_scatter(const KernelCall& call) {
  copy_data(call);
  write_cache_update(call.attrs<TensorScatterAttrs>(), call.inputs[1],
                     call.has(2) ? call.inputs[2] : TensorView{}, call.outputs[0]);
}

// ---- Samples and rows

std::vector<Sample> scatter_elements_samples() {
  std::vector<Sample> samples{
      {{{.shape = {3, 3}}, given({0, -1, 2, 1}, {2, 2}), {.shape = {2, 2}}}}};
  for (const char* reduction : {"add", "mul", "max", "min"}) {
    samples.push_back({{{.shape = {2, 5}}, given({1, 1, 4, 0, 2, -1}, {2, 3}), {.shape = {2, 3}}},
                       {{"axis", int64_t{1}}, {"reduction", std::string(reduction)}},
                       1,
                       kNumbers});
  }
  return samples;
}
std::vector<Sample> scatter_nd_samples() {
  std::vector<Sample> samples{{{{.shape = {4, 2}}, given({3, -3}, {2, 1}), {.shape = {2, 2}}}}};
  for (const char* reduction : {"add", "mul", "max", "min"}) {
    samples.push_back({{{.shape = {4}}, given({1, 1, 0}, {3, 1}), {.shape = {3}}},
                       {{"reduction", std::string(reduction)}},
                       1,
                       kNumbers});
  }
  return samples;
}
std::vector<Sample> tensor_scatter_samples() {
  return {{{{.shape = {2, 4, 3}}, {.shape = {2, 2, 3}}, given({1, 2}, {2})}},
          {{{.shape = {2, 4, 3}}, {.shape = {2, 2, 3}}, given({3, 7}, {2})},
           {{"mode", std::string("circular")}}}};
}

const OpDef kScatterOps[] = {
    {.name = "ScatterElements",
     .doc = "A copy of `data` with the updates at the index that `indices` has along `axis`, put "
            "or combined as `reduction` says.",
     .since = 18,
     .signature = "(data: T, indices: Tind, updates: T) -> (output: T)",
     .types = {{"T", kScatteredTypes}, {"Tind", kIndexTypes}},
     .attrs = attr_schema<ScatterElementsAttrs>(),
     .infer = infer_scatter_elements,
     .reference = run_scatter_elements,
     .grad = scatter_elements_gradient,
     .facts = kPassesValues,
     .samples = scatter_elements_samples},
    {.name = "ScatterND",
     .doc = "A copy of `data` with the updates at tuples of indices, put or combined as "
            "`reduction` says.",
     .since = 18,
     .signature = "(data: T, indices: int64, updates: T) -> (output: T)",
     .types = {{"T", kScatteredTypes}},
     .attrs = attr_schema<ScatterNDAttrs>(),
     .infer = infer_scatter_nd,
     .reference = run_scatter_nd,
     .grad = scatter_nd_gradient,
     .facts = kPassesValues,
     .samples = scatter_nd_samples},
    {.name = "TensorScatter",
     .doc = "The cache with the update written along `axis` from write_indices[batch] on, around "
            "its end in circular mode.",
     .since = 24,
     .signature = "(past_cache: T, update: T, write_indices?: int64) -> (present_cache: T)",
     .types = {{"T", kAnyDType.without({DType::kUInt2, DType::kInt2})}},
     .attrs = attr_schema<TensorScatterAttrs>(),
     .infer = infer_tensor_scatter,
     .reference = run_tensor_scatter,
     .grad = tensor_scatter_gradient,
     .samples = tensor_scatter_samples},
};

}  // namespace

// The cache seen as [batch, middle, steps, inner]: per batch, update's steps go to start, start + 1
// ... of the axis.
void write_cache_update(const TensorScatterAttrs& attrs, const TensorView& update,
                        const TensorView& starts, const TensorView& cache) {
  const size_t axis = axis_of(attrs.axis, cache.rank());
  const AxisSplit split = split_at(cache.shape, axis);
  const int64_t steps = update.shape[axis];
  const int64_t batches = cache.shape[0];
  if (batches == 0 || split.size == 0) return;
  const bool circular = attrs.mode == "circular";
  const auto start_of = [&](int64_t b) {
    return starts ? indices_of(starts)[static_cast<size_t>(b)] : 0;
  };
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t start = start_of(b);
    if (start >= 0 && (circular || start <= split.size - steps)) continue;
    fail(ErrorCode::kInvalidArgument, "write_indices: element ", b, " is ", start,
         ", expected 0 to ", split.size - steps, " for a cache of ", split.size,
         " and an update of ", steps);
  }
  const int64_t middle = split.outer / batches;
  for (int64_t b = 0; b < batches; ++b) {
    check_interrupted();
    const int64_t start = start_of(b) % split.size;
    const int64_t head = std::min(steps, split.size - start);  // up to the end of the ring
    for (int64_t m = b * middle; m < (b + 1) * middle; ++m) {
      const int64_t from = m * steps * split.inner;
      const int64_t to = m * split.size * split.inner;
      copy_run(cache.dtype, update.raw, from, cache.raw, to + start * split.inner,
               head * split.inner);
      copy_run(cache.dtype, update.raw, from + head * split.inner, cache.raw, to,
               (steps - head) * split.inner);
    }
  }
}

ScatterReduction reduction_named(const std::string& name) {
  if (name == "none") return ScatterReduction::kNone;
  if (name == "add") return ScatterReduction::kAdd;
  if (name == "mul") return ScatterReduction::kMul;
  if (name == "max") return ScatterReduction::kMax;
  if (name == "min") return ScatterReduction::kMin;
  fail(ErrorCode::kInvalidModel, "reduction: expected none, add, mul, max or min, got \"", name,
       "\"");
}

std::span<const OpDef> scatter_ops() {
  return kScatterOps;
}

}  // namespace sardonyx::ops
