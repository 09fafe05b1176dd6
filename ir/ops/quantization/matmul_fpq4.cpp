// The blob of MatMulFpQ4, as ONNX Runtime's tools write it: for each column of B the blocks of 32
// inputs one after the other, the last one filled up; of a block its scale, a float in 4 bytes, its
// zero point in a byte with blk_quant_type 1, and 16 bytes that hold the first 16 inputs in their
// low bits and the other 16 in their high bits.
#include "ir/ops/quantization/matmul_fpq4.h"

#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/quantization/blockwise_checks.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

constexpr int64_t kBlobBlock = 32, kScaleBytes = 4;

struct MatMulFpQ4Attrs {
  int64_t blk_quant_type = 1;
  static auto fields() {
    return std::tuple{field("blk_quant_type", &MatMulFpQ4Attrs::blk_quant_type)};
  }
};

struct BlobShape {
  int64_t inputs, columns, header;  // header: bytes before those of the weights
  int64_t blocks() const { return blocks_of(inputs, kBlobBlock); }
  int64_t block_bytes() const { return header + kBlobBlock / 2; }
};

BlobShape blob_shape(Emitter& e, const BodyCall& c) {
  const int64_t type = c.attrs<MatMulFpQ4Attrs>().blk_quant_type;
  if (type != 0 && type != 1) {
    fail(ErrorCode::kUnsupported, "attribute blk_quant_type: only 0 and 1 (blocks of 32) are ",
         "supported, got ", type);
  }
  const std::optional<Tensor> known = e.constant_value(c.inputs[2]);
  if (!known) fail(ErrorCode::kUnsupported, "input B_shape: it must be known before the run");
  const std::vector<int64_t> dims = known->to_int64s();
  const auto is_size = [](int64_t dim) { return dim >= 1 && dim < kMaxBlockwiseSize; };
  if (dims.size() != 2 || !is_size(dims[0]) || !is_size(dims[1])) {
    fail(ErrorCode::kInvalidModel, "input B_shape: expected two sizes from 1 to 2^31 - 1, got ",
         to_text(Shape(dims)));
  }
  const BlobShape shape{dims[0], dims[1], kScaleBytes + type};
  const std::optional<Shape> bytes = e.type(c.inputs[1]).known_shape();
  const int64_t wanted = shape.columns * shape.blocks() * shape.block_bytes();
  if (bytes && (bytes->size() != 1 || (*bytes)[0] != wanted)) {
    fail(ErrorCode::kInvalidModel, "input B: expected ", wanted, " bytes by B_shape and ",
         "blk_quant_type, got ", e.type(c.inputs[1]));
  }
  return shape;
}

// Columns [begin, end) of the blocks.
Val bytes_of_blocks(Emitter& e, const Val& blocks, int64_t begin, int64_t end) {
  return slice(e, blocks, e.int64s({begin}), e.int64s({end}), 1);
}

// float [blocks, 1] of the first four bytes of each.
Val scales_of_blocks(Emitter& e, const Val& blocks) {
  Val bits;
  for (int64_t i = 0; i < kScaleBytes; ++i) {
    const Val byte = cast_to(e, bytes_of_blocks(e, blocks, i, i + 1), DType::kUInt32);
    const Val place =
        e.call("BitShift", {byte, e.scalar(DType::kUInt32, static_cast<double>(8 * i))},
               {{"direction", std::string("LEFT")}});
    bits = bits ? e.call("BitwiseOr", {bits, place}) : place;
  }
  return e.call("BitCast", {bits}, {{"to", static_cast<int64_t>(DType::kFloat)}});
}

Vals matmul_fpq4(Emitter& e, const BodyCall& c) {
  const BlobShape shape = blob_shape(e, c);
  const Val blocks = reshape(e, c.inputs[1], {shape.columns * shape.blocks(), shape.block_bytes()});
  const Val packed = bytes_of_blocks(e, blocks, shape.header, shape.block_bytes());
  const Val low = e.call("BitwiseAnd", {packed, e.scalar(DType::kUInt8, 15)});
  const Val high = e.call("BitShift", {packed, e.scalar(DType::kUInt8, 4)},
                          {{"direction", std::string("RIGHT")}});
  const Val codes = cast_to(e, e.call_many("Concat", Vals{low, high}, {{"axis", int64_t{1}}}, 1)[0],
                            DType::kFloat);
  const Val zero =
      shape.header > kScaleBytes
          ? cast_to(e, bytes_of_blocks(e, blocks, kScaleBytes, shape.header), DType::kFloat)
          : e.scalar(DType::kFloat, 8);
  const Val real = e.call("Mul", {e.call("Sub", {codes, zero}), scales_of_blocks(e, blocks)});
  const Val columns = slice(e, reshape(e, real, {shape.columns, shape.blocks() * kBlobBlock}),
                            e.int64s({0}), e.int64s({shape.inputs}), 1);
  return {e.call("MatMul", {c.inputs[0], transpose(e, columns, {1, 0})})};
}

// Scales of 0.5 and 2 as floats, so that bytes drawn at random don't make infinities.
std::vector<Sample> matmul_fpq4_samples() {
  std::vector<uint8_t> blob;
  for (int block = 0; block < 4; ++block) {
    const std::vector<uint8_t> scale =
        block % 2 == 0 ? std::vector<uint8_t>{0, 0, 0, 0x3f} : std::vector<uint8_t>{0, 0, 0, 0x40};
    blob.insert(blob.end(), scale.begin(), scale.end());
    for (int i = 0; i < 16; ++i)
      blob.push_back(static_cast<uint8_t>(i * 37 + block));
  }
  return {{.inputs = {{.shape = {3, 40}}, given(Tensor::vector(blob)), given({40, 2})},
           .attrs = {{"blk_quant_type", int64_t{0}}}}};
}

const OpDef kContribBlobWeightOps[] = {
    {.name = "MatMulFpQ4",
     .doc = "The product of A [..., K] and weights of 4 bits in a blob with their scales, of shape "
            "B_shape [K, N].",
     .domain = kMicrosoft,
     .signature = "(A: T1, B: uint8, B_shape: int64) -> (Y: T1)",
     .types = {{"T1", DType::kFloat}},
     .attrs = attr_schema<MatMulFpQ4Attrs>(),
     .infer = infer_by_body,
     .body = matmul_fpq4,
     .shape_inputs = 1u << 2,
     .samples = matmul_fpq4_samples},
};

}  // namespace

std::span<const OpDef> contrib_blob_weight_ops() {
  return kContribBlobWeightOps;
}

}  // namespace sardonyx::ops
