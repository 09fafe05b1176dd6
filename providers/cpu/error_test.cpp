// Data that only a run can see.
#include "tests/support/expect_error.h"

#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

// A good call, and what takes the place of one of its inputs.
struct BadInput {
  const char* op;
  AttrMap attrs;
  std::vector<Tensor> inputs;  // undefined: left out
  size_t input;
  Tensor bad;
  const char* mention;
  size_t outputs = 1;
};

void expect_refused(const BadInput& call) {
  SCOPED_TRACE(call.op);
  const OpDef& op = op_named(call.op);
  const Attrs attrs = Attrs::parse(*op.attrs, call.attrs);
  std::vector<Datum> good(call.inputs.begin(), call.inputs.end());
  const std::vector<Datum> expected = evaluate(op, attrs, good, call.outputs);
  std::vector<Tensor> given = call.inputs;
  given[call.input] = call.bad;

  std::vector<KernelTensor> in, out;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& input = call.inputs[i];
    const bool is_constant = i > 0 && i != call.input && input.dtype() == DType::kFloat;
    if (input)
      in.push_back({input.dtype(), input.shape(), nullptr, is_constant ? &input : nullptr});
    else
      in.push_back({});
  }
  for (const Datum& output : expected)
    out.push_back({output.tensor().dtype(), output.tensor().shape()});
  const KernelRequest request{op, attrs, in, out};
  Prepared prepared;
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (!prepared.kernel && entry.op == call.op) prepared = entry.prepare(request);
  }
  ASSERT_TRUE(prepared.kernel) << prepared.refusal;
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  const auto run = [&](const std::vector<Tensor>& inputs) {
    std::vector<const void*> sources;
    for (const Tensor& input : inputs)
      sources.push_back(input ? input.raw() : nullptr);
    std::vector<Tensor> results;
    std::vector<void*> targets;
    for (const Datum& output : expected) {
      results.push_back(Tensor::allocate(output.tensor().dtype(), output.tensor().shape()));
      targets.push_back(results.back().raw());
    }
    prepared.kernel->run({sources.data(), targets.data(), scratch->data()});
  };
  run(call.inputs);
  expect_refusal(ErrorCode::kInvalidArgument, call.mention, [&] { run(given); });
}

Tensor zeros(const Shape& shape) {
  return Tensor::zeros(DType::kFloat, shape);
}

TEST(KernelRefusals, IndicesAndLengths) {
  const auto places = [](int64_t a, int64_t b) { return Tensor::of<int64_t>({a, b}, {1, 2}); };
  const auto words = [](std::vector<int32_t> ids) { return Tensor::of(ids, {1, 3}); };
  const auto i32 = [](std::vector<int32_t> values) { return Tensor::vector(values); };
  const std::vector<Tensor> rotary{zeros({1, 1, 2, 4}), zeros({3, 2}), zeros({3, 2}), places(0, 2)},
      embedding{words({1, 2, 3}), zeros({2, 1, 2, 3}), zeros({2}), zeros({5, 3})},
      lstm{zeros({2, 1, 3}), zeros({1, 4, 3}), zeros({1, 4, 1}), Tensor(), i32({2})};
  const BadInput calls[] = {
      {"RotaryEmbedding", {}, rotary, 3, places(0, 3), "position_ids holds 3, expected 0 to 2"},
      {"RotaryEmbedding", {}, rotary, 3, places(-1, 0), "position_ids holds -1, expected 0 to 2"},
      {"com.microsoft::WordConvEmbedding",
       {},
       embedding,
       0,
       words({1, 5, 3}),
       "input Sequence: character 5 is outside the 5 rows of C"},
      {"LSTM",
       {{"hidden_size", int64_t{1}}},
       lstm,
       4,
       i32({3}),
       "input sequence_lens: element 0 is 3, expected 0 to 2"},
      {"LSTM",
       {{"hidden_size", int64_t{1}}},
       lstm,
       4,
       i32({-1}),
       "input sequence_lens: element 0 is -1, expected 0 to 2"},
      {"Div", {}, {i32({4, 6}), i32({2, 3})}, 1, i32({2, 0}), "input B has an element 0"},
  };
  for (const BadInput& call : calls)
    expect_refused(call);
}

// Two heads of size 4 over one of keys and values; one query behind three cached keys.
TEST(KernelRefusals, GroupQueryAttention) {
  const auto i32 = [](int32_t value) { return Tensor::vector<int32_t>({value}); };
  const Tensor query = zeros({1, 1, 8}), key = zeros({1, 1, 4}), past = zeros({1, 1, 3, 4}), none;
  const std::vector<Tensor> plain{query, key, key, past, past, i32(3), i32(4)};
  std::vector<Tensor> rotated = plain;
  rotated.insert(rotated.end(), {zeros({4, 2}), zeros({4, 2})});
  const AttrMap attrs{{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}};
  AttrMap rotary = attrs;
  rotary["do_rotary"] = int64_t{1};
  const char* op = "com.microsoft::GroupQueryAttention";
  expect_refused({op, attrs, plain, 6, i32(5),
                  "total_sequence_length: 5 is more than the 4 that the call was made for", 3});
  expect_refused({op, attrs, plain, 5, i32(4), "seqlens_k: 4 for batch entry 0 does not fit", 3});
  rotated[3] = rotated[4] = zeros({1, 1, 4, 4});
  rotated[6] = i32(5);
  expect_refused(
      {op, rotary, rotated, 5, i32(4), "position 4 is outside the 4 rows of cos_cache", 3});
}

}  // namespace
}  // namespace sardonyx
