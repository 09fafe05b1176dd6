#include "ir/ops/quantization/matmul_bnb4.h"

#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/quantization/blockwise_checks.h"

namespace sardonyx::ops {
namespace {

// What the 16 codes stand for, as parts of a block's greatest magnitude. NF4: quantiles of the
// normal distribution (Dettmers et al., "QLoRA", 2023, appendix E); FP4: a sign, two bits of an
// exponent and one of a mantissa, in the order of bitsandbytes.
constexpr float kFp4[16] = {
    0,    0.005208333333f,  0.66666667f,  1,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.f, -0.005208333333f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
constexpr float kNf4[16] = {-1,
                            -0.6961928009986877f,
                            -0.5250730514526367f,
                            -0.39491748809814453f,
                            -0.28444138169288635f,
                            -0.18477343022823334f,
                            -0.09105003625154495f,
                            0,
                            0.07958029955625534f,
                            0.16093020141124725f,
                            0.24611230194568634f,
                            0.33791524171829224f,
                            0.44070982933044434f,
                            0.5626170039176941f,
                            0.7229568362236023f,
                            1};

void require_elements_of(InferContext& c, size_t input, int64_t wanted) {
  c.require_rank(input, 1);
  const Dims* shape = c.shape(input);
  if (shape && (*shape)[0].is_known() && (*shape)[0].value() != wanted)
    c.fail_input(input, "expected ", wanted, " elements by the attributes K, N and block_size");
}

// The codes of B, two a byte, the first in its high bits: int32 [K * N].
Val unpacked_codes(Emitter& e, const Val& b, int64_t count) {
  const Val high =
      e.call("BitShift", {b, e.scalar(DType::kUInt8, 4)}, {{"direction", std::string("RIGHT")}});
  const Val low = e.call("BitwiseAnd", {b, e.scalar(DType::kUInt8, 15)});
  const Vals both{unsqueeze(e, high, {1}), unsqueeze(e, low, {1})};
  const Val pairs = e.call_many("Concat", both, {{"axis", int64_t{1}}}, 1)[0];
  const Val codes = slice(e, reshape(e, pairs, {-1}), e.int64s({0}), e.int64s({count}), 0);
  return cast_to(e, codes, DType::kInt32);
}

}  // namespace

void infer_matmul_bnb4(InferContext& c) {
  const auto& attrs = c.attrs<MatMulBnb4Attrs>();
  require_weight_sizes(c, attrs.K, attrs.N);
  require_block_size(c, attrs.block_size);
  c.require(attrs.quant_type == 0 || attrs.quant_type == 1,
            "attribute quant_type: expected 0 (FP4) or 1 (NF4), got ", attrs.quant_type);
  require_elements_of(c, 1, (attrs.K * attrs.N + 1) / 2);
  require_elements_of(c, 2, blocks_of(attrs.K * attrs.N, attrs.block_size));
  const Dims* a = c.shape(0);
  if (!a) return c.set(0, c.dtype(0), std::nullopt);
  if (a->empty()) c.fail_input(0, "expected at least one dim");
  c.merged(a->back(), attrs.transB ? attrs.K : attrs.N, "the last dim of A and the weights");
  Dims out = *a;
  out.back() = attrs.transB ? attrs.N : attrs.K;
  c.set(0, c.dtype(0), std::move(out));
}

// A (..., K) times the transpose of the weights [N, K], or (..., N) times them where transB is 0.
Vals matmul_bnb4(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<MatMulBnb4Attrs>();
  const DType dtype = e.type(c.inputs[0]).dtype;
  const auto& steps = attrs.quant_type == 0 ? kFp4 : kNf4;
  const Val table = cast_to(e, e.constant(Tensor::of<float>({steps, steps + 16}, {16})), dtype);
  const int64_t count = attrs.K * attrs.N, blocks = blocks_of(attrs.K * attrs.N, attrs.block_size);
  Val parts = e.call("Gather", {table, unpacked_codes(e, c.inputs[1], count)});
  // The last block may be a shorter one.
  const int64_t missing = blocks * attrs.block_size - count;
  if (missing > 0) parts = e.call("Pad", {parts, e.int64s({0, missing})});
  const Val scales = unsqueeze(e, c.inputs[2], {1});
  Val weights =
      reshape(e, e.call("Mul", {reshape(e, parts, {blocks, attrs.block_size}), scales}), {-1});
  if (missing > 0) weights = slice(e, weights, e.int64s({0}), e.int64s({count}), 0);
  weights = reshape(e, weights, {attrs.N, attrs.K});
  return {e.call("MatMul", {c.inputs[0], attrs.transB ? transpose(e, weights, {1, 0}) : weights})};
}

std::vector<Sample> matmul_bnb4_samples() {
  const auto sample = [](int64_t rows, int64_t k, int64_t n, int64_t type) {
    const int64_t block = 16;
    return Sample{
        .inputs = {{.shape = {rows, k}},
                   {.shape = {(k * n + 1) / 2}, .low = 0, .high = 255, .dtype = DType::kUInt8},
                   {.shape = {(k * n + block - 1) / block}}},
        .attrs = {{"K", k}, {"N", n}, {"block_size", block}, {"quant_type", type}}};
  };
  return {sample(2, 20, 3, 0), sample(1, 16, 4, 1)};
}

}  // namespace sardonyx::ops
