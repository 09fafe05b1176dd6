// What the core of the graph and the tensors refuses.
#include "tests/support/expect_error.h"

#include <array>
#include <chrono>
#include <locale>
#include <stop_token>

#include "ir/buffer_pool.h"
#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "ir/graph.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

constexpr ErrorCode kArgument = ErrorCode::kInvalidArgument, kModel = ErrorCode::kInvalidModel,
                    kExhausted = ErrorCode::kResourceExhausted, kInternal = ErrorCode::kInternal,
                    kUnsupported = ErrorCode::kUnsupported;
constexpr int64_t kLargest = INT64_MAX;

// ---- texts ----

struct GroupedDigits : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Text, IsTheSameInEveryLocale) {
  const std::locale before = std::locale::global(std::locale({}, new GroupedDigits));
  const std::string made = text(1234567, " ", 1.5);
  std::locale::global(before);
  EXPECT_EQ(made, "1234567 1.5");
}

// ---- tensors ----

TEST(TensorRefusals, Shapes) {
  expect_refusal(kArgument, "shape [2, -1] has a negative dimension", [] {
    Tensor::allocate(DType::kFloat, {2, -1});
  });
  expect_refusal(kExhausted,
                 "out of memory: ", [] { Tensor::allocate(DType::kUInt8, {int64_t{1} << 52}); });
  expect_refusal(kExhausted, "is larger than any memory",
                 [] { Tensor::allocate(DType::kDouble, {int64_t{1} << 60}); });
  expect_refusal(kInternal, "broken invariant", [] { bytes_for(DType::kFloat, -1); });
  Datum slot;
  const int64_t huge[] = {kLargest, 3};
  expect_refusal(kExhausted, "a tensor of shape [9223372036854775807, 3] is too large",
                 [&] { renewed_tensor(slot, DType::kFloat, huge); });
}

TEST(TensorRefusals, ElementTypes) {
  const Tensor floats = Tensor::vector<float>({1});
  expect_refusal(kArgument, "elements are float, asked for as int64",
                 [&] { floats.values<int64_t>(); });
  expect_refusal(kArgument, "a tensor of float has no integer elements",
                 [&] { floats.to_int64s(); });
  expect_refusal(kArgument, "a tensor of string has no ",
                 [&] { Tensor::vector<std::string>({"a"}).to_doubles(); });
  std::array<std::byte, 16> bytes{};
  float to = 0;
  expect_refusal(kUnsupported, "elements of type string are not real numbers",
                 [&] { load_numbers(DType::kString, bytes.data(), 0, 1, 1, &to); });
  ReferenceEmitter e;
  expect_refusal(kUnsupported, "no scalar constants of type complex64 are made here",
                 [&] { e.scalar(DType::kComplex64, 1); });
}

TEST(TensorRefusals, KindsOfValues) {
  const Datum tensor = Tensor::vector<float>({1}), sequence = Sequence{};
  expect_refusal(kArgument, "expected a tensor", [&] { sequence.tensor(); });
  expect_refusal(kArgument, "expected a sequence", [&] { tensor.sequence(); });
  expect_refusal(kArgument, "optional, got float[1]", [&] { tensor.optional(); });
  expect_refusal(kArgument, "expected a map", [&] { tensor.map(); });
  expect_refusal(kArgument, "expected a sparse tensor", [&] { tensor.sparse(); });
}

TEST(TensorRefusals, SparseTensors) {
  const Tensor two = Tensor::vector<float>({5, 7});
  const auto dense = [&](const Tensor& values, const Tensor& indices, const Shape& shape) {
    return [=] { SparseTensor{values, indices, shape}.to_dense(); };
  };
  const Tensor places = Tensor::vector<int64_t>({0, 1});
  const Tensor pairs = Tensor::of<int64_t>({0, 0, 0, 1}, {2, 2});
  const char* shapes = "sparse tensor of shape ";
  expect_refusal(kModel, shapes, dense(Tensor::of<float>({5, 7}, {2, 1}), places, {4}));
  expect_refusal(kModel, shapes, dense(two, Tensor::scalar(int64_t{0}), {4}));
  expect_refusal(kModel, shapes, dense(two, Tensor::of<int64_t>({0, 1}, {2, 1, 1}), {4}));
  expect_refusal(kModel, shapes, dense(two, Tensor::vector<int64_t>({0}), {4}));
  expect_refusal(kModel, shapes, dense(two, pairs, {4}));
  expect_refusal(kModel, "index 4 is outside its 4 elements",
                 dense(two, Tensor::vector<int64_t>({0, 4}), {4}));
  expect_refusal(kModel, "index -1 is outside its 4 elements",
                 dense(two, Tensor::vector<int64_t>({-1, 1}), {4}));
  expect_refusal(kModel, "index 1 is outside dim 1 of size 1", dense(two, pairs, {2, 1}));
  expect_refusal(kModel, "index -1 is outside dim 0 of size 2",
                 dense(two, Tensor::of<int64_t>({-1, 0, 0, 0}, {2, 2}), {2, 2}));
}

// ---- dims ----

TEST(DimRefusals, Numbers) {
  expect_refusal(kExhausted, "dimension 9223372036854775807 + 1 overflows",
                 [] { return Dim(kLargest) + Dim(1); });
  expect_refusal(kExhausted, "dimension 9223372036854775807 * 2 overflows",
                 [] { return Dim(kLargest) * Dim(2); });
  expect_refusal(kArgument, "dimension n is divided by zero",
                 [] { return floor_div(Dim::symbol("n"), Dim(0)); });
  expect_refusal(kArgument, "dimension 4 is divided by zero",
                 [] { return floor_div(Dim(4), Dim(0)); });
}

// ---- limits of runs ----

TEST(RunControlRefusals, Interruptions) {
  std::stop_source stop;
  RunControl control;
  control.cancel = stop.get_token();
  const ControlScope scope(control);
  check_interrupted();
  stop.request_stop();
  expect_refusal(ErrorCode::kCancelled, "cancelled by the caller", [] { check_interrupted(); });
  RunControl late;
  late.deadline = std::chrono::steady_clock::now();
  const ControlScope inner(late);
  expect_refusal(ErrorCode::kDeadlineExceeded, "the deadline has passed",
                 [] { check_interrupted(); });
}

TEST(RunControlRefusals, Memory) {
  MemoryBudget budget(100);
  budget.take(60);
  expect_refusal(kExhausted, "memory limit of 100 bytes reached: 60", [&] { budget.take(41); });
  expect_refusal(kExhausted, "memory limit of 100 bytes reached: 60",
                 [&] { budget.take(SIZE_MAX); });
  budget.take(40);
}

// ---- rows and nodes ----

void infer_nothing(InferContext&) {}
void infer_negative(InferContext& c) {
  c.set(0, DType::kFloat, Dims{-3});
}
void compute_nothing(const KernelCall&) {}

// Signatures are read once, so rows have lasting places.
OpDef row_of(std::string_view signature, void (*infer)(InferContext&)) {
  return {.name = "Row", .signature = signature, .infer = infer, .reference = compute_nothing};
}

TEST(RowRefusals, RowsThatAreWrong) {
  static const OpDef untyped = row_of("(X: float) -> (Y: float)", infer_nothing),
                     unclosed = row_of("(X: float -> (Y: float)", infer_nothing),
                     unnamed = row_of("(X: T7) -> (Y: float)", infer_nothing),
                     negative = row_of("(X: float) -> (Y: float)", infer_negative);
  const std::vector<Datum> one{Tensor::scalar(1.f)};
  const auto call = [&](const OpDef& row) { return [&] { evaluate(row, {}, one, 1); }; };
  expect_refusal(kInternal, "Row: inference left output 0 as ", call(untyped));
  expect_refusal(kInternal, "Row: signature \"(X: float -> (Y: float)\": expected", call(unclosed));
  expect_refusal(kInternal, "names the type T7, which no constraint explains", call(unnamed));
  expect_refusal(kModel, "output 0 would have the shape float[-3]; no size may be negative",
                 call(negative));
}

TEST(RowRefusals, CallsThatDoNotFit) {
  const Datum x = Tensor::vector<float>({1, 2}), i = Tensor::vector<int64_t>({1, 2});
  const auto call = [](const char* op, std::vector<Datum> inputs, size_t outputs = 1) {
    return [=] { evaluate(op_named(op), Attrs::parse(*op_named(op).attrs, {}), inputs, outputs); };
  };
  expect_refusal(kModel, "Add: expected 2 inputs, got 1", call("Add", {x}));
  expect_refusal(kModel, "Concat: expected at least 1 inputs, got 0", [] {
    const OpDef& op = op_named("Concat");
    evaluate(op, Attrs::parse(*op.attrs, {{"axis", int64_t{0}}}), std::vector<Datum>{}, 1);
  });
  expect_refusal(kModel, "Clip: expected 1 to 3 inputs, got 4", call("Clip", {x, x, x, x}));
  expect_refusal(kModel, "Relu: expected 1 outputs, got 2", call("Relu", {x}, 2));
  expect_refusal(kModel, "Add: input B: is required and was left out", call("Add", {x, Datum()}));
  expect_refusal(kModel, "Sin: input input (int64[2]): expected a type of", call("Sin", {i}));
  expect_refusal(kModel, "Add: input B (int64[2]): must have the type of input A (float[2])",
                 call("Add", {x, i}));
  expect_refusal(kUnsupported, "no operator is named Addd", call("Addd", {x, x}));
  expect_refusal(kModel, "attribute odd: the op has no such attribute", [] {
    Attrs::parse(*op_named("Add").attrs, {{"odd", int64_t{1}}});
  });
  expect_refusal(kModel, "attribute axis: expected INT, got FLOAT", [] {
    Attrs::parse(*op_named("Concat").attrs, {{"axis", 1.f}});
  });
  expect_refusal(kModel, "attribute axis: is required and was not given",
                 [] { Attrs::parse(*op_named("Concat").attrs, {}); });
}

TEST(GraphRefusals, Types) {
  const Type type = Type::tensor(DType::kFloat, Dims{2, 3});
  const auto merge = [&](const Type& known) { return [=] { merge_types(type, known, "v"); }; };
  expect_refusal(kModel, "value v: declared with type int64[2, 3], inferred float[2, 3]",
                 merge(Type::tensor(DType::kInt64, Dims{2, 3})));
  expect_refusal(kModel, "value v: declared rank 1", merge(Type::tensor(DType::kFloat, Dims{2})));
  expect_refusal(kModel, "value v: dim 1 is declared 4, inferred 3",
                 merge(Type::tensor(DType::kFloat, Dims{2, 4})));
}

TEST(GraphRefusals, Links) {
  Graph graph;
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{2}));
  Node* node = graph.append(op_named("Relu"), {}, {x}, {"y"});
  infer_types(graph);
  graph.add_output(node->outputs[0]);
  verify(graph);
  node->outputs[0]->producer_slot = 1;
  expect_refusal(kInternal, "broken invariant", [&] { verify(graph); });
  node->outputs[0]->producer_slot = 0;
  node->name = "n";
  expect_refusal(kUnsupported, "node n: Relu has no body in other ops",
                 [&] { inline_body(graph, *node); });
}

}  // namespace
}  // namespace sardonyx
