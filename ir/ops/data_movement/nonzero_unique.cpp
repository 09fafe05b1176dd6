// NonZero, Unique.
#include <algorithm>
#include <complex>
#include <optional>

#include "ir/core/bools.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/eval_call.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/hash_table.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

// Calls `body` with the C++ type of any unpacked dtype that these rows allow.
template <typename Body>
decltype(auto) dispatch_values(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kString:
      return body.template operator()<std::string>();
    case DType::kBool:
      return body.template operator()<bool>();
    case DType::kComplex64:
      return body.template operator()<std::complex<float>>();
    case DType::kComplex128:
      return body.template operator()<std::complex<double>>();
    default:
      return dispatch_numbers(dtype, body);
  }
}

// ---- NonZero

void infer_non_zero(InferContext& c) {
  const auto rank = rank_of(c, 0);
  c.set(0, DType::kInt64, Dims{rank ? Dim(static_cast<int64_t>(*rank)) : c.unknown(), c.unknown()});
}

// 1 or 0, which decides where the next index is written: of bools a byte is looked at, whatever it
// is.
template <typename T>
size_t is_non_zero(const T* values, int64_t index) {
  if constexpr (std::is_same_v<T, std::string>)
    return !values[index].empty();
  else if constexpr (std::is_same_v<T, bool>)
    return bool_at(values, index);
  else
    return values[index] != T(0);
}

// The coordinates of flat indices in increasing order, [rank, count]. Most are in the row of the
// one before.
void write_coordinates(const int64_t* indices, int64_t count, const Shape& shape, Tensor& output) {
  int64_t* out = output.mutable_values<int64_t>().data();
  const size_t rank = shape.size();
  if (rank == 0) return;
  const int64_t width = shape.back();
  int64_t row = -1, begin = 0, end = 0;
  const auto write = [&](int64_t k) {
    if (indices[k] >= end) {
      row = indices[k] / width;
      begin = row * width;
      end = begin + width;
      int64_t rest = row;
      for (size_t axis = rank - 1; axis-- > 0;) {
        out[static_cast<int64_t>(axis) * count + k] = rest % shape[axis];
        rest /= shape[axis];
      }
    } else {
      for (size_t axis = 0; axis + 1 < rank; ++axis) {
        int64_t* line = out + static_cast<int64_t>(axis) * count + k;
        *line = line[-1];
      }
    }
    out[static_cast<int64_t>(rank - 1) * count + k] = indices[k] - begin;
  };
  in_pieces(count, [&](int64_t first, int64_t last) {
    for (int64_t k = first; k < last; ++k)
      write(k);
  });
}

void run_non_zero(const EvalCall& call) {
  const Tensor& input = call.inputs[0].tensor();
  // Every index is written, and the place kept where it counts: no branch to be guessed.
  std::pmr::vector<int64_t> found(scratch());
  found.reserve(static_cast<size_t>(input.count()) + 1);
  size_t kept = 0;
  dispatch_values(input.dtype(), [&]<typename T>() {
    const T* values = input.values<T>().data();
    in_pieces(input.count(), [&](int64_t first, int64_t last) {
      found.resize(static_cast<size_t>(last) + 1);
      for (int64_t i = first; i < last; ++i) {
        found[kept] = i;
        kept += is_non_zero(values, i);
      }
    });
  });
  const auto count = static_cast<int64_t>(kept);
  const int64_t shape[] = {static_cast<int64_t>(input.rank()), count};
  Tensor& output = call.tensor(0, DType::kInt64, shape);
  if (count > 0) write_coordinates(found.data(), count, input.shape(), output);
}

// ---- Unique

struct UniqueAttrs {
  std::optional<int64_t> axis;  // absent: the input is taken as a vector
  bool sorted = true;
  static auto fields() {
    return std::tuple{field("axis", &UniqueAttrs::axis), field("sorted", &UniqueAttrs::sorted)};
  }
};

void infer_unique(InferContext& c) {
  const auto& axis = c.attrs<UniqueAttrs>().axis;
  const Dim count = c.unknown();
  const Dims* dims = c.shape(0);
  std::optional<Dims> result;
  if (!axis) {
    result = Dims{count};
  } else if (dims) {
    result = *dims;
    (*result)[static_cast<size_t>(c.normalized_axis(*axis, dims->size()))] = count;
  }
  c.set(0, c.dtype(0), std::move(result));
  c.set(1, DType::kInt64, Dims{count});
  const bool flat = !axis && dims;
  c.set(2, DType::kInt64,
        Dims{flat           ? element_count(*dims)
             : axis && dims ? (*dims)[static_cast<size_t>(c.normalized_axis(*axis, dims->size()))]
                            : c.unknown()});
  c.set(3, DType::kInt64, Dims{count});
}

// -1, 0 or 1; NaN is equal to itself and greater than the rest, complex numbers go by their real
// parts first.
template <typename T>
int compare(const T& a, const T& b) {
  if constexpr (requires { a.real(); }) {
    const int real = compare(a.real(), b.real());
    return real != 0 ? real : compare(a.imag(), b.imag());
  } else {
    if (a < b) return -1;
    if (b < a) return 1;
    if (a == b) return 0;
    const bool a_is_nan = a != a, b_is_nan = b != b;
    return static_cast<int>(a_is_nan) - static_cast<int>(b_is_nan);
  }
}

// Which slices along one axis are equal.
using Places = std::pmr::vector<int64_t>;
struct EqualSlices {
  Places first{scratch()};  // of each group, in the order of the output
  Places count{scratch()};
  Places inverse{scratch()};  // slice -> group
};

// The groups in the order of `first`, which lists their first slices.
EqualSlices in_order(const EqualSlices& groups, const Places& first) {
  EqualSlices result;
  result.first = first;
  Places place(first.size(), scratch());
  for (size_t i = 0; i < first.size(); ++i) {
    const auto from = static_cast<size_t>(groups.inverse[static_cast<size_t>(first[i])]);
    note_copied(0);
    result.count.push_back(groups.count[from]);
    place[from] = static_cast<int64_t>(i);
  }
  result.inverse.resize(groups.inverse.size());
  in_pieces(static_cast<int64_t>(groups.inverse.size()), [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      result.inverse[i] = place[static_cast<size_t>(groups.inverse[i])];
  });
  return result;
}

// Calls visit(element of a, element of b) for all elements of two slices, until it gives false.
template <typename T, typename Visit>
bool all_pairs(const T* data, const AxisSplit& split, int64_t a, int64_t b, const Visit& visit) {
  if (split.outer == 1 && split.inner == 1) return visit(data[a], data[b]);
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    note_copied(static_cast<size_t>(split.inner) * sizeof(T));
    const T* base = data + outer * split.size * split.inner;
    for (int64_t i = 0; i < split.inner; ++i) {
      if (!visit(base[a * split.inner + i], base[b * split.inner + i])) return false;
    }
  }
  return true;
}

// Groups in the order in which they come.
template <typename T>
EqualSlices groups_as_they_come(const T* data, const AxisSplit& split) {
  EqualSlices groups;
  groups.inverse.resize(static_cast<size_t>(split.size));
  ElementTable table(static_cast<size_t>(split.size), scratch());
  for (int64_t slice = 0; slice < split.size; ++slice) {
    if (slice % 1024 == 0) check_interrupted();
    uint64_t hash = 0;
    all_pairs(data, split, slice, slice, [&](const T& x, const T&) {
      hash = hash * 0x100000001b3u + hash_element(x);
      return true;
    });
    const auto next = static_cast<int64_t>(groups.first.size());
    const int64_t group = table.find_or_add(hash, next, [&](int64_t known) {
      return all_pairs(data, split, groups.first[static_cast<size_t>(known)], slice,
                       same_element<T>);
    });
    if (group == next) {
      groups.first.push_back(slice);
      groups.count.push_back(0);
    }
    ++groups.count[static_cast<size_t>(group)];
    groups.inverse[static_cast<size_t>(slice)] = group;
  }
  return groups;
}

EqualSlices find_groups(const Tensor& input, const AxisSplit& split, bool sorted) {
  EqualSlices groups;
  dispatch_values(input.dtype(), [&]<typename T>() {
    const T* data = input.values<T>().data();
    groups = groups_as_they_come(data, split);
    if (!sorted) return;
    Places first(groups.first, scratch());
    std::ranges::sort(first, [&](int64_t a, int64_t b) {
      note_copied(0);
      int result = 0;
      all_pairs(data, split, a, b, [&](const T& x, const T& y) {
        result = compare(x, y);
        return result == 0;
      });
      return result < 0;
    });
    groups = in_order(groups, first);
  });
  return groups;
}

// The first slice of each group.
void copy_firsts(const Tensor& input, const AxisSplit& split, const Places& first, Tensor& values) {
  if (split.outer == 1 && split.inner == 1) {
    return dispatch_width(input.dtype(), [&]<typename T>() {
      const T* from = static_cast<const T*>(input.raw());
      T* to = static_cast<T*>(values.raw());
      in_pieces(static_cast<int64_t>(first.size()), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          assign_element(to[i], from[first[static_cast<size_t>(i)]]);
      });
    });
  }
  int64_t to = 0;
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (const int64_t slice : first) {
      note_copied(0);
      copy_run(input.dtype(), input.raw(), (outer * split.size + slice) * split.inner, values.raw(),
               to, split.inner);
      to += split.inner;
    }
  }
}

void run_unique(const EvalCall& call) {
  const auto& attrs = call.attrs<UniqueAttrs>();
  const Tensor& given = call.inputs[0].tensor();
  std::optional<Tensor> normal;
  if (given.dtype() == DType::kBool) normal = with_normal_bools(given);
  const Tensor& input = normal ? *normal : given;
  const size_t axis = attrs.axis ? axis_of(*attrs.axis, input.rank()) : 0;
  const AxisSplit split =
      attrs.axis ? split_at(input.shape(), axis) : AxisSplit{1, input.count(), 1};
  const EqualSlices groups = find_groups(input, split, attrs.sorted);
  DimValues shape{0};
  if (attrs.axis) shape = DimValues(input.shape().begin(), input.shape().end());
  shape[axis] = static_cast<int64_t>(groups.first.size());
  copy_firsts(input, split, groups.first, call.tensor(0, input.dtype(), shape));
  const Places* more[] = {&groups.first, &groups.inverse, &groups.count};
  for (size_t i = 1; i < call.outputs.size(); ++i) {
    const Places& places = *more[i - 1];
    const auto length = static_cast<int64_t>(places.size());
    Tensor& output = call.tensor(i, DType::kInt64, {&length, 1});
    std::ranges::copy(places, output.mutable_values<int64_t>().begin());
  }
}

// ---- Samples and rows

std::vector<Sample> non_zero_samples() {
  return {{{{.shape = {2, 3}, .low = -1, .high = 1}}}, {{{.shape = {0}}}}};
}
// The gradient of Unique: of elements that are equal, the first one takes it.
Vals unique_gradient(Emitter& e, const GradCall& c) {
  if (!c.has_d(0)) return {};
  const auto& axis = c.attrs<UniqueAttrs>().axis;
  const Term x = input(e, c, 0);
  Val first = c.outputs.size() > 1 ? c.outputs[1] : Val();
  if (!first) first = e.emit(c.op, c.inputs, c.raw_attrs, 2)[1];
  const Term places = positions(x);
  const Term seen = axis ? places : apply("Reshape", places, int64s(e, {-1}));
  const Term from = apply("Gather", seen, Term{&e, first}, {{"axis", axis.value_or(0)}});
  return {scattered_back(x, from, d_output(e, c, 0))};
}

std::vector<Sample> unique_samples() {
  return {{.inputs = {{.shape = {9}, .low = 0, .high = 3}}, .outputs = 4},
          {.inputs = {{.shape = {5, 2}, .low = 0, .high = 2}},
           .attrs = {{"axis", int64_t{0}}, {"sorted", int64_t{0}}},
           .outputs = 4}};
}

const OpDef kSelectOps[] = {
    {.name = "NonZero",
     .doc = "The indices of the elements that are not zero: int64 [rank, count].",
     .since = 13,
     .signature = "(X: T) -> (Y: int64)",
     .types = {{"T", kClassicTypes | DType::kBFloat16}},
     .infer = infer_non_zero,
     .evaluate = run_non_zero,
     .samples = non_zero_samples},
    {.name = "Unique",
     .doc = "The distinct elements, or slices along `axis`, sorted or in the order of the first; "
            "with first indices, inverse and counts.",
     .since = 11,
     .signature = "(X: T) -> (Y: T, indices?: int64, inverse_indices?: int64, counts?: int64)",
     .types = {{"T", kClassicTypes}},
     .attrs = attr_schema<UniqueAttrs>(),
     .infer = infer_unique,
     .evaluate = run_unique,
     .grad = unique_gradient,
     .samples = unique_samples},
};

}  // namespace

std::span<const OpDef> select_ops() {
  return kSelectOps;
}

}  // namespace sardonyx::ops
