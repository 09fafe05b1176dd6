#include "eager/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "eager/create.h"
#include "eager/op_calls_for_test.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"

namespace sardonyx::eager::op {

void read_field(const AttrValue& value, Tensor& field) {
  if (const auto* sparse = std::get_if<SparseTensor>(&value))
    field = Tensor(Datum(*sparse));
  else
    field = Tensor(std::get<sardonyx::Tensor>(value));
}
void read_field(const AttrValue& value, std::vector<Tensor>& field) {
  for (const sardonyx::Tensor& tensor : std::get<std::vector<sardonyx::Tensor>>(value))
    field.emplace_back(tensor);
}

namespace {

using ListOfCalls = std::vector<std::span<const NamedCall>>;

const std::map<std::string_view, const NamedCall*>& calls() {
  static const auto all = [] {
    std::map<std::string_view, const NamedCall*> by_name;
    for (const ListOfCalls& lists :
         {arrange_calls(), classic_calls(), contrib_calls(), generate_calls(), math_calls(),
          network_calls(), product_calls(), text_calls()}) {
      for (const auto& list : lists) {
        for (const NamedCall& call : list)
          by_name.emplace(call.op, &call);
      }
    }
    return by_name;
  }();
  return all;
}

bool has_required_graph(const OpDef& op) {
  return std::ranges::any_of(op.attrs->fields, [](const AttrField& field) {
    return field.required && field.kind == AttrValue(GraphPtr()).index();
  });
}

bool has_graph(const AttrMap& attrs) {
  return std::ranges::any_of(
      attrs, [](const auto& entry) { return std::holds_alternative<GraphPtr>(entry.second); });
}

TEST(Op, EveryRowHasAFunction) {
  for (const OpDef* op : all_ops()) {
    if (op->domain == "sardonyx" || has_required_graph(*op)) continue;
    EXPECT_TRUE(calls().contains(full_name(*op)))
        << full_name(*op) << ": run make-op-functions eager/op";
  }
}

// Kernels of providers add up in another order than the reference.
Tolerance tolerance_of(DType dtype) {
  Tolerance tolerance;
  const int bits = is_floating(dtype) ? bits_of(dtype) : 32;
  tolerance.rtol = bits <= 8 ? 0.13 : bits <= 16 ? 2e-2 : 2e-4;
  tolerance.atol = bits <= 8 ? 0.13 : bits <= 16 ? 2e-2 : 2e-5;
  return tolerance;
}

// Quantised results that are halfway between two steps may be rounded either way.
bool differ_by_one_step(const sardonyx::Tensor& got, const sardonyx::Tensor& expected) {
  if (!is_integer(got.dtype()) || got.shape() != expected.shape()) return false;
  const std::vector<int64_t> a = got.to_int64s(), b = expected.to_int64s();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > 1) return false;
  }
  return true;
}

void check_sample(const OpDef& op, const Sample& sample, const NamedCall& call) {
  for (const std::vector<Datum>& inputs : sample_inputs(op, sample)) {
    const Attrs attrs = Attrs::parse(*op.attrs, sample.attrs);
    Tensors in;
    for (const Datum& datum : inputs)
      in.push_back(datum.defined() ? Tensor(datum) : Tensor());
    std::vector<Datum> expected;
    try {
      expected = evaluate(op, attrs, inputs, sample.outputs);
    } catch (const Error&) {  // of some types only, such as an activation within a fused op
      EXPECT_THROW(call.call(in, sample.attrs, sample.outputs), Error);
      continue;
    }
    const Tensors got = call.call(in, sample.attrs, sample.outputs);
    ASSERT_GE(got.size(), sample.outputs);
    for (size_t i = 0; i < sample.outputs; ++i) {
      ASSERT_EQ(got[i].defined(), expected[i].defined()) << "output " << i;
      if (!got[i].defined()) continue;
      EXPECT_EQ(got[i].type(), expected[i].type()) << "output " << i;
      if (op.is(kRandom)) continue;
      if (op.name.starts_with("QLinear") && differ_by_one_step(got[i].data(), expected[i].tensor()))
        continue;
      const Comparison difference = compare(
          got[i].datum(), expected[i],
          tolerance_of(expected[i].is_tensor() ? expected[i].tensor().dtype() : DType::kFloat));
      EXPECT_TRUE(difference) << "output " << i << ": " << difference.reason;
    }
  }
}

TEST(Op, FunctionsComputeWhatTheRowsSay) {
  for (const OpDef* op : all_ops()) {
    const auto call = calls().find(full_name(*op));
    if (call == calls().end() || !op->samples) continue;
    for (const Sample& sample : op->samples()) {
      if (has_graph(sample.attrs)) continue;
      SCOPED_TRACE(full_name(*op));
      try {
        check_sample(*op, sample, *call->second);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

TEST(Op, ReadsLikeTheSpecification) {
  const Tensor x = Tensor::of<float>({1, -2, 3, -4, 5, -6, 7, -8, 9}, {1, 1, 3, 3});
  const Tensor w = Tensor::of<float>({1, 0, 0, 1}, {1, 1, 2, 2});
  EXPECT_EQ(Conv(x, w, {}, {.strides = {2, 2}}).to_vector<float>(), (std::vector<float>{6}));
  EXPECT_EQ(MaxPool(x, {.kernel_shape = {3, 3}}).item<float>(), 9);
  EXPECT_EQ(MaxPoolOutputs(2, x, {.kernel_shape = {3, 3}})[1].item<int64_t>(), 8);
  EXPECT_EQ(Cast(x, {.to = DType::kInt32}).dtype(), DType::kInt32);
  EXPECT_EQ(Clip(x, {}, Tensor::scalar(2.f)).to_vector<float>()[2], 2);
  EXPECT_EQ(Concat({x, x}, {.axis = 2}).shape(), (Dims{1, 1, 6, 3}));
  EXPECT_EQ(Split(3, x, {}, {.axis = -1, .num_outputs = 3})[2].shape(), (Dims{1, 1, 3, 1}));
  EXPECT_EQ(ml::Scaler(x, {.offset = {1}, .scale = {2}}).to_vector<float>()[0], 0);
  EXPECT_EQ(Constant({.value_ints = std::vector<int64_t>{}}).shape(), (Dims{0}));
  const Tensor list = SequenceInsert(SequenceConstruct({x}), w);
  EXPECT_EQ(SequenceAt(list, Tensor::scalar(int64_t{1})).shape(), (Dims{1, 1, 2, 2}));
}

TEST(Op, AttributesOfEarlierCallsDoNotStick) {
  const Tensor x = Tensor::of<float>({1, 2, 3, 4}, {1, 4});
  for (int round = 0; round < 2; ++round) {
    for (int64_t axis = 0; axis < 20; ++axis) {
      const auto alpha = static_cast<float>(axis);
      EXPECT_EQ(LeakyRelu(-x, {.alpha = alpha}).to_vector<float>()[1], -2 * alpha);
    }
  }
  const Tensor value = Tensor::of<int64_t>({1}, {1}), shape = Tensor::of<int64_t>({1}, {1});
  EXPECT_EQ(ConstantOfShape(shape, {.value = value}).item<int64_t>(), 1);
  value.assign(Tensor::of<int64_t>({7}, {1}));
  EXPECT_EQ(ConstantOfShape(shape, {.value = value}).item<int64_t>(), 7);
  for (const bool is_negative : {false, true, false}) {
    const float zero = is_negative ? -0.0f : 0.0f;
    EXPECT_EQ(std::signbit(Constant({.value_float = zero}).item<float>()), is_negative);
    const Tensor zeros = Constant({.value_floats = {1, zero}});
    EXPECT_EQ(std::signbit(zeros.to_vector<float>()[1]), is_negative);
    const Tensor product = LeakyRelu(-x, {.alpha = zero});
    EXPECT_EQ(std::signbit(product.to_vector<float>()[1]), !is_negative);
  }
}

TEST(Op, TensorsAmongAttributesAreNotHeld) {
  const Tensor value = ones({1});
  const auto holders = value.impl().use_count();
  for (int i = 0; i < 3; ++i)
    (void)Constant({.value = value});
  EXPECT_EQ(value.impl().use_count(), holders);
}

TEST(Op, MisuseNamesTheLine) {
  try {
    (void)Cast(Tensor::scalar(1.f), {});
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("to"), std::string::npos) << message;
    EXPECT_NE(message.find("op_test.cpp:"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sardonyx::eager::op
