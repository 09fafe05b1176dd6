// ScatterElements, ScatterND, TensorScatter.
#include <algorithm>
#include <array>
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

template <ScatterReduction kReduction, typename T>
T combined(T a, T b) {
  using enum ScatterReduction;
  if constexpr (std::is_same_v<T, bool>) {
    return kReduction == kAdd || kReduction == kMax ? a || b : a && b;
  } else if constexpr (kReduction == kMax || kReduction == kMin) {
    return extreme<kReduction == kMax>(a, b);
  } else {
    // Small integers would be multiplied as int, which may overflow; unsigned ones wrap.
    using U = std::conditional_t<sizeof(T) < 4, uint32_t, uint64_t>;
    using Wide = std::conditional_t<std::is_integral_v<T>, U, T>;
    const auto x = static_cast<Wide>(a), y = static_cast<Wide>(b);
    return static_cast<T>(kReduction == kAdd ? x + y : x * y);
  }
}

// Updates of the elements start + i * own + places[i] of the output, for i < count. Without
// `places` they go to consecutive elements.
struct UpdateRow {
  const void* updates;
  int64_t first;  // update of the row
  void* output;
  int64_t start, own;
  const int64_t* places;
  int64_t count;
};
using JoinRow = void (*)(const UpdateRow& row);

// Instantiated for each type and reduction, and independent of how indices are stored: this is
// all that is compiled so often.
template <ScatterReduction kReduction, typename T>
void join_row(const UpdateRow& row) {
  const T* from = static_cast<const T*>(row.updates) + row.first;
  T* to = static_cast<T*>(row.output) + row.start;
  const auto join = [](T& element, const T& update) {
    if constexpr (kReduction == ScatterReduction::kNone)
      assign_element(element, update);
    else
      element = combined<kReduction>(element, update);
  };
  if (!row.places) {
    constexpr bool is_copied =
        kReduction == ScatterReduction::kNone && std::is_trivially_copyable_v<T>;
    constexpr int64_t kLongRun = 16;  // shorter ones take less than the call of a function
    if (is_copied && row.count >= kLongRun) {
      std::copy_n(from, row.count, to);
      return;
    }
    for (int64_t i = 0; i < row.count; ++i)
      join(to[i], from[i]);
    return;
  }
  for (int64_t i = 0; i < row.count; ++i)
    join(to[i * row.own + row.places[i]], from[i]);
}

template <typename T>
JoinRow reducing_row(ScatterReduction reduction) {
  using enum ScatterReduction;
  if (reduction == kAdd) return join_row<kAdd, T>;
  if (reduction == kMul) return join_row<kMul, T>;
  if constexpr (!requires { T().real(); })  // complex numbers have no order
    return reduction == kMax ? join_row<kMax, T> : join_row<kMin, T>;
  fail(ErrorCode::kInternal, "a reduction of unordered elements");
}

JoinRow find_join_row(ScatterReduction reduction, DType dtype) {
  if (reduction == ScatterReduction::kNone) {
    return dispatch_width(
        dtype, []<typename T>() -> JoinRow { return join_row<ScatterReduction::kNone, T>; });
  }
  if (dtype == DType::kBool) return reducing_row<bool>(reduction);
  if (dtype == DType::kComplex64) return reducing_row<std::complex<float>>(reduction);
  if (dtype == DType::kComplex128) return reducing_row<std::complex<double>>(reduction);
  return dispatch_numbers(dtype, [&]<typename T>() { return reducing_row<T>(reduction); });
}

using PlaceBlock = std::array<int64_t, 512>;

void copy_data(const KernelCall& call) {
  if (call.inputs[0].raw == call.outputs[0].raw) return;  // updates are written over the data
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
  if (reduction_named(attrs.reduction) == ScatterReduction::kNone) propagate_elements(c, {0, 2});
}

void run_scatter_elements(const KernelCall& call) {
  const auto& attrs = call.attrs<ScatterElementsAttrs>();
  copy_data(call);
  const IndexView indices = indices_of(call.inputs[1]);
  const TensorView& updates = call.inputs[2];
  const TensorView& out = call.outputs[0];
  const JoinRow join = find_join_row(reduction_named(attrs.reduction), out.dtype);
  const size_t axis = axis_of(attrs.axis, out.rank());
  const Strides strides = row_major_strides(out.shape);
  Strides others = strides;
  others[axis] = 0;  // the index itself moves along the axis
  const Strides walked[] = {row_major_strides(updates.shape), others};
  const RowWalk walk(updates.shape, walked);
  const int64_t own = walk.step(1);
  PlaceBlock places;
  const auto visit = [&](const int64_t* at, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t index = indices[static_cast<size_t>(at[0] + i)];
      places[static_cast<size_t>(i)] = checked_index(index, out.shape[axis], axis) * strides[axis];
    }
    UpdateRow row{updates.raw, at[0], out.raw, at[1], own, places.data(), length};
    // All go to one place where the indices were expanded.
    const int64_t* end = row.places + length;
    if (own == 1 && places[0] == end[-1] && std::count(row.places, end, places[0]) == length) {
      row.start += places[0];
      row.places = nullptr;
    }
    join(row);
  };
  walk.for_each(visit, static_cast<int64_t>(places.size()));
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
  if (reduction == ScatterReduction::kNone) propagate_elements(c, {0, 2});
}

void run_scatter_nd(const KernelCall& call) {
  copy_data(call);
  const TensorView& indices = call.inputs[1];
  const TensorView& out = call.outputs[0];
  const ScatterReduction reduction = reduction_named(call.attrs<ScatterNDAttrs>().reduction);
  const JoinRow join = find_join_row(reduction, out.dtype);
  const auto depth = static_cast<size_t>(indices.shape.back());
  const Strides strides = row_major_strides(out.shape);
  int64_t tuples = 1, run = 1;
  for (size_t i = 0; i + 1 < indices.rank(); ++i)
    tuples *= indices.shape[i];
  for (size_t i = depth; i < out.rank(); ++i)
    run *= out.shape[i];
  const int64_t* tuple = indices.data<int64_t>();
  const auto next_place = [&] {
    int64_t place = 0;
    for (size_t i = 0; i < depth; ++i)
      place += checked_index(*tuple++, out.shape[i], i) * strides[i];
    return place;
  };
  PlaceBlock places;
  for (int64_t t = 0; t < tuples; t += static_cast<int64_t>(places.size())) {
    check_interrupted();
    const int64_t count = std::min(tuples - t, static_cast<int64_t>(places.size()));
    std::generate_n(places.begin(), count, next_place);
    if (run == 1) {
      join({call.inputs[2].raw, t, out.raw, 0, 0, places.data(), count});
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t start = places[static_cast<size_t>(i)];
      join({call.inputs[2].raw, (t + i) * run, out.raw, start, 1, nullptr, run});
    }
  }
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
