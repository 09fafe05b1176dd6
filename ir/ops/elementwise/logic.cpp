#include <limits>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/strides.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_values.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/elementwise.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

using Reference = void (*)(const KernelCall&);
using Infer = void (*)(InferContext&);
using Elements = std::span<const Dim>;

constexpr std::string_view kABToC = "(A: T, B: T) -> (C: T1)";

template <DimFunction function>
void infer_claim(InferContext& c) {
  broadcast_all_to_bool(c);
  propagate_values(c, function);
}

std::optional<Dim> truth(std::optional<bool> proved) {
  return proved ? std::optional(Dim(*proved ? 1 : 0)) : std::nullopt;
}
std::optional<bool> negated(std::optional<bool> proved) {
  return proved ? std::optional(!*proved) : std::nullopt;
}

std::optional<Dim> equal_dims(Elements x) {
  return truth(proved_equal(x[0], x[1]));
}
std::optional<Dim> less_dims(Elements x) {
  return truth(proved_less(x[0], x[1]));
}
std::optional<Dim> greater_dims(Elements x) {
  return truth(proved_less(x[1], x[0]));
}
std::optional<Dim> less_or_equal_dims(Elements x) {
  return truth(negated(proved_less(x[1], x[0])));
}
std::optional<Dim> greater_or_equal_dims(Elements x) {
  return truth(negated(proved_less(x[0], x[1])));
}
std::optional<Dim> and_dims(Elements x) {
  return x[0] * x[1];
}
std::optional<Dim> or_dims(Elements x) {
  return x[0] + x[1] - x[0] * x[1];
}
std::optional<Dim> xor_dims(Elements x) {
  return x[0] + x[1] - x[0] * x[1] * 2;
}
std::optional<Dim> not_dims(Elements x) {
  return Dim(1) - x[0];
}

std::optional<Dim> where_dims(Elements x) {
  if (x[1] == x[2]) return x[1];
  if (!x[0].is_known()) return std::nullopt;
  return x[0].value() ? x[1] : x[2];
}

void infer_not(InferContext& c) {
  same_as_first(c);
  propagate_values(c, not_dims);
}

void infer_where(InferContext& c) {
  c.set(0, c.dtype(1), broadcast_inputs(c));
  propagate_values(c, where_dims);
}

// Calls visit(offsets, length, walk) for the rows of the inputs, broadcast to output 0.
template <typename Visit>
void for_each_row(const KernelCall& call, Visit&& visit) {
  std::vector<std::span<const int64_t>> shapes;
  for (const TensorView& input : call.inputs)
    shapes.push_back(input.shape);
  const RowWalk walk = broadcast_walk(call.outputs[0].shape, shapes);
  walk.for_each([&](const int64_t* at, int64_t length) { visit(at, length, walk); });
}

void equal(const KernelCall& call) {
  if (call.inputs[0].dtype != DType::kString) {
    map_numbers(call, [](auto a, auto b) { return a == b; });
    return;
  }
  for_each_row(call, [&](const int64_t* at, int64_t length, const RowWalk& walk) {
    bool* out = call.outputs[0].data<bool>() + at[0];
    const std::string* a = call.inputs[0].data<const std::string>() + at[1];
    const std::string* b = call.inputs[1].data<const std::string>() + at[2];
    for (int64_t i = 0; i < length; ++i)
      out[i] = a[i * walk.step(1)] == b[i * walk.step(2)];
  });
}

void where(const KernelCall& call) {
  dispatch_width(call.outputs[0].dtype, [&]<typename T>() {
    for_each_row(call, [&](const int64_t* at, int64_t length, const RowWalk& walk) {
      T* out = call.outputs[0].data<T>() + at[0];
      const uint8_t* condition = call.inputs[0].data<const uint8_t>() + at[1];
      const T* x = call.inputs[1].data<const T>() + at[2];
      const T* y = call.inputs[2].data<const T>() + at[3];
      for (int64_t i = 0; i < length; ++i) {
        assign_element(out[i],
                       condition[i * walk.step(1)] ? x[i * walk.step(2)] : y[i * walk.step(3)]);
      }
    });
  });
}

OpDef bool_row(std::string_view name, Infer infer, Reference reference) {
  return {.name = name,
          .since = 7,
          .signature = kABToC,
          .types = {{"T", DType::kBool}, {"T1", DType::kBool}},
          .infer = infer,
          .reference = reference,
          .facts = kElementwise | kCommutative | kPassesValues | kFusable,
          .samples = [] { return binary_samples(0, 1, 0, 1); }};
}

std::vector<Sample> comparison_samples() {
  std::vector<Sample> samples = binary_samples(0, 3, 0, 3);
  for (const float by : {0.0f, -2.5f, std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN()}) {
    samples.push_back(
        {.inputs = {{.value = extreme_floats(DType::kFloat)}, {.value = Tensor::scalar<float>(by)}},
         .only = DType::kFloat});
  }
  for (const DType dtype : {DType::kInt64, DType::kUInt64}) {
    const Tensor values = extreme_integers(dtype);
    samples.push_back(
        {.inputs = {{.value = values}, {.value = values.reshaped({values.count(), 1})}},
         .only = dtype});
  }
  return samples;
}

std::vector<Sample> equal_samples() {
  std::vector<Sample> samples = comparison_samples();
  samples.push_back({.inputs = {{.value = Tensor::of<std::string>({"a", "", "ab"}, {3, 1})},
                                {.value = Tensor::vector<std::string>({"ab", "a"})}},
                     .only = DType::kString});
  return samples;
}

OpDef comparison(std::string_view name, int since, Infer infer, Reference reference) {
  return {.name = name,
          .since = since,
          .signature = kABToC,
          .types = {{"T", kNumbers}, {"T1", DType::kBool}},
          .infer = infer,
          .reference = reference,
          .facts = kElementwise | kPassesValues | kFusable,
          .samples = comparison_samples};
}

std::vector<Sample> where_samples() {
  const SampleInput condition{.shape = {2, 3}, .low = 0, .high = 1};
  return {
      {.inputs = {condition, {.shape = {2, 3}}, {.shape = {2, 3}}}},
      {.inputs = {condition, {.shape = {}}, {.shape = {4, 1, 3}}}},
      {.inputs = {{.shape = {}, .low = 0, .high = 1}, {.shape = {}}, {.shape = {}}}},
      {.inputs = {{.shape = {0, 1}, .low = 0, .high = 1}, {.shape = {3}}, {.shape = {}}}},
  };
}

Vals where_gradient(Emitter& e, const GradCall& c) {
  const Term condition = input(e, c, 0), d = d_output(e, c, 0);
  return {Val(), c.wants(1) ? where(condition, d, 0) : Val(),
          c.wants(2) ? where(condition, 0, d) : Val()};
}

}  // namespace

std::span<const OpDef> logic_ops() {
  static const OpDef rows[] = {
      bool_row("And", infer_claim<and_dims>, ints<[](auto a, auto b) { return a & b; }>)
          .documented("Whether both elements are true, broadcast to one shape."),
      bool_row("Or", infer_claim<or_dims>, ints<[](auto a, auto b) { return a | b; }>)
          .documented("Whether either element is true, broadcast to one shape."),
      bool_row("Xor", infer_claim<xor_dims>, ints<[](auto a, auto b) { return a ^ b; }>)
          .documented("Whether exactly one element is true, broadcast to one shape."),
      {.name = "Not",
       .doc = "Whether the element is false.",
       .since = 1,
       .signature = "(X: T) -> (Y: T)",
       .types = {{"T", DType::kBool}},
       .infer = infer_not,
       .reference = ints<[](auto x) { return x == 0; }>,
       .facts = kElementwise | kPassesValues | kFusable,
       .samples = [] { return unary_samples(0, 1); }},
      {.name = "Equal",
       .doc = "Whether the elements are equal, broadcast to one shape; NaN equals nothing.",
       .since = 19,
       .signature = kABToC,
       .types = {{"T", kNumbers | DTypeSet{DType::kBool, DType::kString}}, {"T1", DType::kBool}},
       .infer = infer_claim<equal_dims>,
       .reference = equal,
       .facts = kElementwise | kCommutative | kPassesValues | kFusable,
       .samples = equal_samples},
      comparison("Greater", 13, infer_claim<greater_dims>,
                 numbers<[](auto a, auto b) { return b < a; }>)
          .documented("Whether A is greater than B, broadcast to one shape."),
      comparison("GreaterOrEqual", 16, infer_claim<greater_or_equal_dims>,
                 numbers<[](auto a, auto b) { return b <= a; }>)
          .documented("Whether A is greater than B or equal, broadcast to one shape."),
      comparison("Less", 13, infer_claim<less_dims>, numbers<[](auto a, auto b) { return a < b; }>)
          .documented("Whether A is less than B, broadcast to one shape."),
      comparison("LessOrEqual", 16, infer_claim<less_or_equal_dims>,
                 numbers<[](auto a, auto b) { return a <= b; }>)
          .documented("Whether A is less than B or equal, broadcast to one shape."),
      {.name = "Where",
       .doc = "X where the condition is true, else Y; all three are broadcast to one shape.",
       .since = 16,
       .signature = "(condition: B, X: T, Y: T) -> (output: T)",
       .types = {{"B", DType::kBool}, {"T", kClassicTypes | DType::kBFloat16}},
       .infer = infer_where,
       .reference = where,
       .grad = where_gradient,
       .facts = kElementwise | kPassesValues | kFusable,
       .samples = where_samples},
  };
  return rows;
}

}  // namespace sardonyx::ops
