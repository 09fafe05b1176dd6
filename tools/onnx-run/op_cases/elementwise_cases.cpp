// Elementwise ops whose operands need a range, a broadcast or an attribute of their own, and types
// other than float that models use.
#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {
namespace {

constexpr DType kF16 = DType::kFloat16, kBool = DType::kBool;

CaseOperand wide(DType dtype = DType::kFloat, double low = -2, double high = 2) {
  return input({256, 1024}, dtype, low, high);
}

void add_broadcasts(std::vector<OpCase>& cases) {
  for (const char* op : {"Add", "Mul", "Sub", "Div"}) {
    const double low = op == std::string_view("Div") ? 1 : -2;
    cases.push_back({op, "", {wide(), wide(DType::kFloat, low, 3)}});
    cases.push_back({op, "row", {wide(), weight({1024}, DType::kFloat, low, 3)}});
    cases.push_back({op, "column", {wide(), input({256, 1}, DType::kFloat, low, 3)}});
    cases.push_back({op, "int64", {wide(kI64, 0, 100), wide(kI64, 1, 100)}});
    cases.push_back({op, "int32", {wide(kI32, 0, 100), wide(kI32, 1, 100)}});
    cases.push_back({op, "double", {wide(DType::kDouble), wide(DType::kDouble, low, 3)}});
    cases.push_back({op, "float16", {wide(kF16), wide(kF16, low, 3)}});
  }
}

void add_logic(std::vector<OpCase>& cases) {
  for (const char* op : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"}) {
    cases.push_back({op, "", {wide(), wide()}});
    cases.push_back({op, "int64", {wide(kI64, 0, 100), scalar<int64_t>(50)}});
  }
  for (const char* op : {"And", "Or", "Xor"})
    cases.push_back({op, "", {wide(kBool, 0, 1), wide(kBool, 0, 1)}});
  cases.push_back({"Not", "", {wide(kBool, 0, 1)}});
  cases.push_back({"Where", "", {wide(kBool, 0, 1), wide(), wide()}});
  cases.push_back(
      {"Where",
       "mask",
       {input({1, 1, 128, 128}, kBool, 0, 1), input({1, 16, 128, 128}), scalar(-1e9f)}});
  cases.push_back({"Where", "int64", {wide(kBool, 0, 1), wide(kI64, 0, 9), wide(kI64, 0, 9)}});
}

void add_casts(std::vector<OpCase>& cases) {
  struct Conversion {
    const char* name;
    DType from, to;
  };
  constexpr Conversion kConversions[] = {
      {"int64 to float", kI64, DType::kFloat},
      {"float to int64", DType::kFloat, kI64},
      {"int32 to float", kI32, DType::kFloat},
      {"float to int32", DType::kFloat, kI32},
      {"int64 to int32", kI64, kI32},
      {"int32 to int64", kI32, kI64},
      {"bool to float", kBool, DType::kFloat},
      {"float to bool", DType::kFloat, kBool},
      {"float to float16", DType::kFloat, kF16},
      {"float16 to float", kF16, DType::kFloat},
      {"float to double", DType::kFloat, DType::kDouble},
      {"double to float", DType::kDouble, DType::kFloat},
      {"uint8 to float", DType::kUInt8, DType::kFloat},
      {"float to uint8", DType::kFloat, DType::kUInt8},
      {"bool to int64", kBool, kI64},
      {"int64 to bool", kI64, kBool},
      {"float to bfloat16", DType::kFloat, DType::kBFloat16},
  };
  for (const auto& [name, from, to] : kConversions)
    cases.push_back({"Cast", name, {wide(from, 0, 100)}, {{"to", static_cast<int64_t>(to)}}});
  cases.push_back({"CastLike", "", {wide(kI64, 0, 100), weight({1})}});
  cases.push_back({"BitCast", "", {wide()}, {{"to", static_cast<int64_t>(kI32)}}});
}

void add_functions(std::vector<OpCase>& cases) {
  for (const char* op : {"Log", "Sqrt", "Acosh"})
    cases.push_back({op, "", {wide(DType::kFloat, 1, 3)}});
  for (const char* op : {"Acos", "Asin", "Atanh"})
    cases.push_back({op, "", {wide(DType::kFloat, -0.9, 0.9)}});
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "Exp", "Sqrt", "Erf", "Neg", "Abs"})
    cases.push_back({op, "float16", {wide(kF16, 0.1, 2)}});
  for (const char* op : {"Abs", "Neg", "Sign"})
    cases.push_back({op, "int64", {wide(kI64, -100, 100)}});
  cases.push_back({"Reciprocal", "", {wide(DType::kFloat, 1, 3)}});
  cases.push_back({"Pow", "2", {wide(), scalar(2.f)}});
  cases.push_back({"Pow", "3", {wide(), scalar(3.f)}});
  cases.push_back({"Pow", "0.5", {wide(DType::kFloat, 0, 3), scalar(0.5f)}});
  cases.push_back({"Pow", "1.7", {wide(DType::kFloat, 0, 3), scalar(1.7f)}});
  cases.push_back({"Pow", "elements", {wide(DType::kFloat, 0.5, 3), wide()}});
  cases.push_back({"Mod", "int64", {wide(kI64, 0, 1000), scalar<int64_t>(7)}});
  cases.push_back({"Mod", "fmod", {wide(), wide(DType::kFloat, 1, 2)}, {{"fmod", int64_t{1}}}});
  cases.push_back({"BitShift",
                   "",
                   {wide(DType::kUInt32, 0, 100), wide(DType::kUInt32, 0, 5)},
                   {{"direction", std::string("LEFT")}}});
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    cases.push_back({op, "", {wide(kI32, 0, 100), wide(kI32, 0, 100)}});
  cases.push_back({"BitwiseNot", "", {wide(kI32, 0, 100)}});
  cases.push_back({"Clip", "", {wide(), scalar(-1.f), scalar(1.f)}});
  cases.push_back({"Clip", "int64", {wide(kI64, 0, 100), scalar<int64_t>(5), scalar<int64_t>(50)}});
  cases.push_back({"PRelu", "", {input({1, 64, 56, 56}), weight({64, 1, 1})}});
  cases.push_back({"Gelu", "tanh", {wide()}, {{"approximate", std::string("tanh")}}});
  for (const char* op : {"Max", "Min"}) {
    cases.push_back({op, "", {wide(), wide()}});
    cases.push_back({op, "int64", {wide(kI64, 0, 100), scalar<int64_t>(50)}});
  }
  for (const char* op : {"Sum", "Mean"})
    cases.push_back({op, "3", {wide(), wide(), wide()}});
  cases.push_back({"Dropout", "", {wide()}});
  cases.push_back({"Dropout", "training", {wide(), scalar(0.5f), scalar(true)}, {}, 2});
}

}  // namespace

std::vector<OpCase> elementwise_cases() {
  std::vector<OpCase> cases;
  add_broadcasts(cases);
  add_logic(cases);
  add_casts(cases);
  add_functions(cases);
  return cases;
}

}  // namespace sardonyx::tool
