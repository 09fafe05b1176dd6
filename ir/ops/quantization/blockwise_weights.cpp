// com.microsoft: weights in few bits, in blocks that each have a scale.
#include <algorithm>
#include <cmath>

#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/quantization/blockwise_checks.h"
#include "ir/ops/quantization/blockwise_decomposition.h"
#include "ir/ops/quantization/matmul_bnb4.h"
#include "ir/ops/quantization/nbits.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kReal{DType::kFloat, DType::kFloat16, DType::kBFloat16};

std::vector<float> read_floats(const TensorView& x) {
  std::vector<float> out(static_cast<size_t>(x.count()));
  load_numbers<float>(x.dtype, x.raw, 0, 1, x.count(), out.data());
  return out;
}

// --- MatMulNBits ---

void require_count(InferContext& c, size_t input, int64_t wanted) {
  const std::optional<Shape> shape = c.type(input).known_shape();
  if (shape && element_count(*shape) != wanted) {
    c.fail_input(input, "expected ", wanted,
                 " elements by the attributes K, N, bits and block_size");
  }
}

void infer_matmul_nbits(InferContext& c) {
  const auto& attrs = c.attrs<NBitsAttrs>();
  require_weight_sizes(c, attrs.K, attrs.N);
  c.require(attrs.bits == 2 || attrs.bits == 4 || attrs.bits == 8,
            "attribute bits: expected 2, 4 or 8, got ", attrs.bits);
  require_block_size(c, attrs.block_size);
  if (attrs.weight_prepacked != 0) {
    fail(ErrorCode::kUnsupported, "MatMulNBits: attribute weight_prepacked: only 0 is supported ",
         "(weights packed for one device cannot be read on another)");
  }
  require_count(c, kB, attrs.N * attrs.blocks() * attrs.block_bytes());
  require_count(c, kScales, attrs.N * attrs.blocks());
  if (c.has(kZeroPoints)) {
    const bool packed = c.dtype(kZeroPoints) == DType::kUInt8;
    if (!packed && c.dtype(kZeroPoints) != c.dtype(kA)) {
      c.fail_input(kZeroPoints, "expected uint8 or the type of A");
    }
    require_count(c, kZeroPoints, attrs.N * (packed ? attrs.zero_point_bytes() : attrs.blocks()));
  }
  if (c.has(kGroups)) {  // one for each feature; a last block may be filled up
    const std::optional<Shape> shape = c.type(kGroups).known_shape();
    const int64_t count = shape ? element_count(*shape) : attrs.K;
    if (count != attrs.blocks() * attrs.block_size) require_count(c, kGroups, attrs.K);
  }
  if (c.has(kBias)) require_count(c, kBias, attrs.N);
  const Dims* a = c.shape(kA);
  if (!a) return c.set(0, c.dtype(kA), std::nullopt);
  if (a->empty()) c.fail_input(kA, "expected at least one dim");
  c.merged(a->back(), attrs.K, "last dim of A and attribute K");
  Dims y = *a;
  y.back() = attrs.N;
  c.set(0, c.dtype(kA), std::move(y));
}

// Row `n` of the weights as real numbers.
void dequantize_row(const KernelCall& call, const std::vector<float>& scales,
                    const std::vector<float>& zero_points, int64_t n, std::vector<float>& row) {
  const auto& attrs = call.attrs<NBitsAttrs>();
  const int bits = static_cast<int>(attrs.bits);
  const uint8_t* packed =
      call.inputs[kB].data<uint8_t>() + n * attrs.blocks() * attrs.block_bytes();
  const int32_t* groups = call.has(kGroups) ? call.inputs[kGroups].data<int32_t>() : nullptr;
  for (int64_t k = 0; k < attrs.K; ++k) {
    const int64_t block = groups ? groups[k] : k / attrs.block_size;
    if (block < 0 || block >= attrs.blocks()) {
      fail(ErrorCode::kInvalidArgument, "MatMulNBits: input g_idx: group ", block,
           " is outside 0..", attrs.blocks(), " (exclusive)");
    }
    const auto at = static_cast<size_t>(n * attrs.blocks() + block);
    row[static_cast<size_t>(k)] =
        (static_cast<float>(unpack_bits(packed, k, bits)) - zero_points[at]) * scales[at];
  }
}

// One for each block: packed along a row of the weights, as they are, or the middle of the range.
std::vector<float> block_zero_points(const KernelCall& call) {
  const auto& attrs = call.attrs<NBitsAttrs>();
  if (!call.has(kZeroPoints)) {
    return std::vector<float>(static_cast<size_t>(attrs.N * attrs.blocks()),
                              static_cast<float>(1 << (attrs.bits - 1)));
  }
  if (call.inputs[kZeroPoints].dtype != DType::kUInt8) return read_floats(call.inputs[kZeroPoints]);
  std::vector<float> out;
  const uint8_t* packed = call.inputs[kZeroPoints].data<uint8_t>();
  for (int64_t n = 0; n < attrs.N; ++n, packed += attrs.zero_point_bytes()) {
    for (int64_t block = 0; block < attrs.blocks(); ++block)
      out.push_back(static_cast<float>(unpack_bits(packed, block, static_cast<int>(attrs.bits))));
  }
  return out;
}

void matmul_nbits(const KernelCall& call) {
  const auto& attrs = call.attrs<NBitsAttrs>();
  const std::vector<float> a = read_floats(call.inputs[kA]),
                           scales = read_floats(call.inputs[kScales]);
  const std::vector<float> zero_points = block_zero_points(call);
  const std::vector<float> bias =
      call.has(kBias) ? read_floats(call.inputs[kBias]) : std::vector<float>();
  const int64_t rows = static_cast<int64_t>(a.size()) / attrs.K;
  std::vector<float> weights(static_cast<size_t>(attrs.K)), y(static_cast<size_t>(rows * attrs.N));
  for (int64_t n = 0; n < attrs.N; ++n) {
    check_interrupted();
    dequantize_row(call, scales, zero_points, n, weights);
    for (int64_t m = 0; m < rows; ++m) {
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(n)];
      const float* x = a.data() + m * attrs.K;
      for (size_t k = 0; k < weights.size(); ++k)
        sum += static_cast<double>(x[k]) * weights[k];
      y[static_cast<size_t>(m * attrs.N + n)] = static_cast<float>(sum);
    }
  }
  store_numbers<float>(call.outputs[0].dtype, call.outputs[0].raw, 0, call.outputs[0].count(),
                       y.data());
}

// --- GatherBlockQuantized ---

// One for each scale; those of uint8 data are packed as the data is, each row for itself.
void check_gathered_zero_points(InferContext& c, const Dims& scales) {
  const Dims* points = c.has(kGatherZeroPoints) ? c.shape(kGatherZeroPoints) : nullptr;
  if (!points) return;
  if (points->size() != scales.size())
    c.fail_input(kGatherZeroPoints, "expected the rank of scales");
  Dims wanted = scales;
  const int64_t packed = values_per_element(c.dtype(kData), c.attrs<GatherBlockAttrs>());
  wanted.back() = ceil_div(wanted.back(), packed);
  for (size_t i = 0; i < wanted.size(); ++i)
    c.merged((*points)[i], wanted[i], "dims of zero_points and of scales");
}

void infer_gather_block(InferContext& c) {
  const auto& attrs = c.attrs<GatherBlockAttrs>();
  c.require(attrs.bits == 2 || attrs.bits == 4 || attrs.bits == 8,
            "attribute bits: expected 2, 4 or 8, got ", attrs.bits);
  const bool floating = is_floating(c.dtype(kData));
  c.require((is_power_of_two(attrs.block_size) && attrs.block_size >= 16) ||
                (floating && attrs.block_size == 0),
            "attribute block_size: expected a power of two from 16 on, got ", attrs.block_size);
  if (floating && c.has(kGatherZeroPoints)) {
    c.fail_input(kGatherZeroPoints, "expected none for floating data");
  }
  const Dims *data = c.shape(kData), *indices = c.shape(kIndices), *scales = c.shape(kGatherScales);
  if (!data || !indices) return c.set(0, c.dtype(kGatherScales), std::nullopt);
  const int64_t axis = c.normalized_axis(attrs.gather_axis, data->size(), "gather_axis");
  const int64_t along = c.normalized_axis(attrs.quantize_axis, data->size(), "quantize_axis");
  const bool packed_bytes = c.dtype(kData) == DType::kUInt8;
  c.require(!packed_bytes || (axis == 0 && along + 1 == static_cast<int64_t>(data->size())),
            "uint8 data is gathered along axis 0 and quantized along the last, got axes ", axis,
            " and ", along);
  Dims values = *data;
  values.back() *= values_per_element(c.dtype(kData), attrs);
  if (scales) {
    if (scales->size() != data->size()) c.fail_input(kGatherScales, "expected the rank of data");
    for (size_t i = 0; i < values.size(); ++i) {
      const bool blocked = static_cast<int64_t>(i) == along;
      const Dim wanted = !blocked                ? values[i]
                         : attrs.block_size == 0 ? Dim(1)
                                                 : ceil_div(values[i], attrs.block_size);
      if (floating && (*scales)[i] == 1) continue;
      c.merged((*scales)[i], wanted, "dims of scales and of the blocks of data");
    }
    check_gathered_zero_points(c, *scales);
  }
  Dims out(values.begin(), values.begin() + axis);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), values.begin() + axis + 1, values.end());
  c.set(0, c.dtype(kGatherScales), std::move(out));
}

class BlockTable {
 public:
  explicit BlockTable(const KernelCall& call)
      : call_(call), attrs_(call.attrs<GatherBlockAttrs>()), data_(call.inputs[kData]) {
    values_.assign(data_.shape.begin(), data_.shape.end());
    values_.back() *= values_per_element(data_.dtype, attrs_);
    scale_shape_.assign(call.inputs[kGatherScales].shape.begin(),
                        call.inputs[kGatherScales].shape.end());
    scales_ = read_floats(call.inputs[kGatherScales]);
    const auto rank = static_cast<int64_t>(values_.size());
    along_ = static_cast<size_t>(attrs_.quantize_axis < 0 ? attrs_.quantize_axis + rank
                                                          : attrs_.quantize_axis);
    block_ = attrs_.block_size == 0 ? std::max<int64_t>(values_[along_], 1) : attrs_.block_size;
  }

  const Shape& values() const { return values_; }

  // The real value at `place`, which is inside values().
  float at(const Shape& place) const {
    int64_t flat = 0, scale = 0;
    for (size_t i = 0; i < place.size(); ++i) {
      flat = flat * values_[i] + place[i];
      const int64_t own = i == along_ ? place[i] / block_ : place[i];
      scale = scale * scale_shape_[i] + (scale_shape_[i] == 1 ? 0 : own);
    }
    return (value(data_, flat) - zero_point(scale)) * scales_[static_cast<size_t>(scale)];
  }

 private:
  // Value `index` of a tensor whose rows are packed for themselves: they fill whole bytes here.
  float value(const TensorView& tensor, int64_t index) const {
    if (tensor.dtype == DType::kUInt8) {
      return static_cast<float>(
          unpack_bits(tensor.data<uint8_t>(), index, static_cast<int>(attrs_.bits)));
    }
    float out = 0;
    load_numbers<float>(tensor.dtype, tensor.raw, index, 1, 1, &out);
    return out;
  }

  float zero_point(int64_t scale) const {
    const bool packed_bytes = data_.dtype == DType::kUInt8;
    if (!call_.has(kGatherZeroPoints))
      return packed_bytes ? static_cast<float>(1 << (attrs_.bits - 1)) : 0;
    const TensorView& points = call_.inputs[kGatherZeroPoints];
    if (!packed_bytes) return value(points, scale);
    const int64_t columns = scale_shape_.back(), per_element = 8 / attrs_.bits;
    const int64_t row = scale / columns * blocks_of(columns, per_element) * per_element;
    return value(points, row + scale % columns);
  }

  const KernelCall& call_;
  const GatherBlockAttrs& attrs_;
  const TensorView& data_;
  Shape values_, scale_shape_;
  std::vector<float> scales_;
  size_t along_ = 0;
  int64_t block_ = 1;
};

// An index outside the table gives zeros.
void gather_block(const KernelCall& call) {
  const BlockTable table(call);
  const auto rank = static_cast<int64_t>(table.values().size());
  const int64_t given = call.attrs<GatherBlockAttrs>().gather_axis;
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  std::vector<int64_t> indices(static_cast<size_t>(call.inputs[kIndices].count()));
  load_numbers<int64_t>(call.inputs[kIndices].dtype, call.inputs[kIndices].raw, 0, 1,
                        call.inputs[kIndices].count(), indices.data());
  const Shape& values = table.values();
  Shape outer(values.begin(), values.begin() + static_cast<int64_t>(axis));
  Shape inner(values.begin() + static_cast<int64_t>(axis) + 1, values.end());
  const int64_t outer_count = element_count(outer), inner_count = element_count(inner);
  const int64_t size = values[axis];
  std::vector<float> row(static_cast<size_t>(inner_count));
  Shape place(values.size(), 0);
  int64_t written = 0;
  for (int64_t o = 0; o < outer_count; ++o) {
    for (int64_t rest = o, i = static_cast<int64_t>(axis) - 1; i >= 0; --i) {
      place[static_cast<size_t>(i)] = rest % values[static_cast<size_t>(i)];
      rest /= values[static_cast<size_t>(i)];
    }
    for (const int64_t index : indices) {
      check_interrupted();
      const bool inside = index >= -size && index < size;
      place[axis] = inside && index < 0 ? index + size : index;
      for (int64_t n = 0; n < inner_count; ++n) {
        for (int64_t rest = n, i = rank - 1; i > static_cast<int64_t>(axis); --i) {
          place[static_cast<size_t>(i)] = rest % values[static_cast<size_t>(i)];
          rest /= values[static_cast<size_t>(i)];
        }
        row[static_cast<size_t>(n)] = inside ? table.at(place) : 0;
      }
      store_numbers<float>(call.outputs[0].dtype, call.outputs[0].raw, written, inner_count,
                           row.data());
      written += inner_count;
    }
  }
}

// --- samples ---

SampleInput packed_bytes(Shape shape) {
  return {.shape = std::move(shape), .low = 0, .high = 255, .dtype = DType::kUInt8};
}

std::vector<Sample> nbits_samples() {
  const SampleInput none{.omitted = true};
  const AttrMap attrs{{"K", int64_t{20}}, {"N", int64_t{3}}, {"block_size", int64_t{16}}};
  AttrMap wide = attrs;
  wide["bits"] = int64_t{8};
  return {
      {.inputs = {{.shape = {2, 20}}, packed_bytes({3, 2, 8}), {.shape = {3, 2}}}, .attrs = attrs},
      {.inputs = {{.shape = {2, 20}},
                  packed_bytes({3, 2, 16}),
                  {.shape = {6}},
                  packed_bytes({3, 2}),
                  none,
                  {.shape = {3}}},
       .attrs = wide},
      {.inputs = {{.shape = {20}}, packed_bytes({3, 2, 8}), {.shape = {6}}, packed_bytes({3, 1})},
       .attrs = attrs},
      {.inputs = {{.shape = {2, 2, 20}},
                  packed_bytes({3, 2, 8}),
                  {.shape = {3, 2}, .dtype = DType::kFloat},
                  {.shape = {3, 2}, .dtype = DType::kFloat},
                  {.value = Tensor::vector(std::vector<int32_t>{0, 1, 0, 1, 1, 0, 0, 0, 1, 1,
                                                                1, 0, 0, 0, 0, 0, 1, 1, 0, 0})}},
       .attrs = attrs,
       .only = DType::kFloat}};
}

std::vector<Sample> gather_samples() {
  const SampleInput indices{.shape = {2}, .value = Tensor::vector<int64_t>({1, -1})};
  const SampleInput table{.shape = {2, 2}, .value = Tensor::of<int32_t>({1, 0, 7, -3}, {2, 2})};
  const auto floats = [](Shape shape) {
    return SampleInput{.shape = std::move(shape), .dtype = DType::kFloat};
  };
  const auto of_type = [](Shape shape, DType dtype) {
    return SampleInput{.shape = std::move(shape), .low = 0, .high = 7, .dtype = dtype};
  };
  const AttrMap blocks{{"block_size", int64_t{16}}};
  AttrMap wide = blocks, along_first = blocks, whole = blocks;
  wide["bits"] = int64_t{8};
  along_first["quantize_axis"] = int64_t{0};
  whole["block_size"] = int64_t{0};
  return {
      {.inputs = {packed_bytes({3, 16}), indices, floats({3, 2})}, .attrs = blocks},
      {.inputs = {packed_bytes({3, 24}), table, floats({3, 3}), packed_bytes({3, 2})},
       .attrs = blocks},
      {.inputs = {packed_bytes({3, 20}), indices, floats({3, 2}), packed_bytes({3, 2})},
       .attrs = wide},
      {.inputs = {of_type({20, 3}, DType::kInt4), table, floats({2, 3}),
                  of_type({2, 3}, DType::kInt4)},
       .attrs = along_first},
      {.inputs = {of_type({4, 5}, DType::kFloat8E4M3FN), table, floats({1, 1})}, .attrs = whole}};
}

const OpDef kContribWeightOps[] = {
    {.name = "MatMulNBits",
     .doc = "The product of A [..., K] and weights [N, K] of 2 to 8 bits in blocks with a scale "
            "each: [..., N].",
     .domain = kMicrosoft,
     .signature = "(A: T1, B: T2, scales: T1, zero_points?: T3, g_idx?: T4, bias?: T1) -> (Y: T1)",
     .types = {{"T1", kReal},
               {"T2", DType::kUInt8},
               {"T3", kReal | DType::kUInt8},
               {"T4", DType::kInt32}},
     .attrs = attr_schema<NBitsAttrs>(),
     .infer = infer_matmul_nbits,
     .reference = matmul_nbits,
     .grad = matmul_nbits_grad,
     .samples = nbits_samples},
    {.name = "MatMulBnb4",
     .doc = "The product of A [..., K] and weights [N, K] of 4 bits in the steps of a table, in "
            "blocks with a scale each: [..., N].",
     .domain = kMicrosoft,
     .signature = "(A: T1, B: T2, absmax: T1) -> (Y: T1)",
     .types = {{"T1", kReal}, {"T2", DType::kUInt8}},
     .attrs = attr_schema<MatMulBnb4Attrs>(),
     .infer = infer_matmul_bnb4,
     .body = matmul_bnb4,
     .samples = matmul_bnb4_samples},
    {.name = "GatherBlockQuantized",
     .doc = "Gather of data that is quantised in blocks, as floats.",
     .domain = kMicrosoft,
     .signature = "(data: T1, indices: Tind, scales: T2, zero_points?: T1) -> (output: T2)",
     .types = {{"T1", DTypeSet{DType::kInt4, DType::kUInt4, DType::kUInt8, DType::kFloat4E2M1} |
                          kFloat8s},
               {"T2", kReal},
               {"Tind", DTypeSet{DType::kInt32, DType::kInt64}}},
     .attrs = attr_schema<GatherBlockAttrs>(),
     .infer = infer_gather_block,
     .reference = gather_block,
     .grad = gather_block_grad,
     .samples = gather_samples},
};

}  // namespace

std::span<const OpDef> contrib_weight_ops() {
  return kContribWeightOps;
}

}  // namespace sardonyx::ops
