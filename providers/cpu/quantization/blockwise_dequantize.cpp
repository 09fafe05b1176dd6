// Weights in few bits with a scale for each block, as float32: DequantizeLinear of 4 bits or with
// blocks, GatherBlockQuantized.
#include <algorithm>
#include <optional>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/quantization/nbits.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/quantization/blockwise_dequantize_kernel.h"

namespace sardonyx::cpu {
namespace {

std::optional<Codes> codes_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt4:
      return Codes::kUnsigned4;
    case DType::kInt4:
      return Codes::kSigned4;
    case DType::kUInt8:
      return Codes::kUnsigned8;
    case DType::kInt8:
      return Codes::kSigned8;
    default:
      return std::nullopt;
  }
}

int64_t integer_attribute(const KernelRequest& request, std::string_view name, int64_t otherwise) {
  const auto value = request.raw_attrs.get(name);
  return value ? std::get<int64_t>(*value) : otherwise;
}

// ---- DequantizeLinear

class BlockKernel : public Kernel {
 public:
  // Blocks of `block` elements along the axis; there is a scale for each and each inner element.
  BlockKernel(Codes codes, AxisSplit split, int64_t block, bool has_zeros, int threads)
      : codes_(codes),
        split_(split),
        block_(block),
        blocks_((split.size + block - 1) / block),
        has_zeros_(has_zeros) {
    const int64_t count = split.outer * split.size * split.inner;
    threads_ = static_cast<int>(std::min<int64_t>(threads, count / kElementsPerThread + 1));
  }

  size_t scratch_bytes() const override {
    return split_.inner == 1 || !has_zeros_
               ? 0
               : static_cast<size_t>(threads_ * padded_inner()) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    for_each_task(
        split_.outer * blocks_, threads_, block_ * split_.inner, [&](int64_t at, int64_t thread) {
          if (split_.inner == 1)
            run_along(args, at);
          else
            run_across(args, at, has_zeros_ ? scratch + thread * padded_inner() : nullptr);
        });
  }

 private:
  int64_t padded_inner() const { return (split_.inner + 15) / 16 * 16; }
  int64_t begin_of(int64_t at) const { return at / blocks_ * split_.size + at % blocks_ * block_; }
  int64_t length_of(int64_t at) const {
    return std::min(block_, split_.size - at % blocks_ * block_);
  }

  // Dequantizes where the elements of a block are adjacent.
  void run_along(const KernelArgs& args, int64_t at) const {
    const float zero = has_zeros_ ? decoded(codes_, args.inputs[2], at) : 0;
    decode_row(codes_, args.inputs[0], begin_of(at), zero,
               static_cast<const float*>(args.inputs[1])[at],
               static_cast<float*>(args.outputs[0]) + begin_of(at), length_of(at));
  }

  // Dequantizes where adjacent elements have scales of their own.
  void run_across(const KernelArgs& args, int64_t at, float* zeros) const {
    const auto width = static_cast<size_t>(split_.inner);
    const float* scales = static_cast<const float*>(args.inputs[1]) + at * split_.inner;
    if (zeros) decode_row(codes_, args.inputs[2], at * split_.inner, 0, 1, zeros, split_.inner);
    for (int64_t i = 0; i < length_of(at); ++i) {
      const int64_t first = (begin_of(at) + i) * split_.inner;
      float* out = static_cast<float*>(args.outputs[0]) + first;
      decode_row(codes_, args.inputs[0], first, 0, 1, out, split_.inner);
      if (zeros) binary_row(Binary::kSub, out, true, zeros, true, out, width);
      binary_row(Binary::kMul, out, true, scales, true, out, width);
    }
  }

  Codes codes_;
  AxisSplit split_;
  int64_t block_, blocks_;
  bool has_zeros_;
  int threads_;
};

Prepared prepare_blockwise(const KernelRequest& request) {
  const std::optional<Codes> codes = codes_of(request.inputs[0].dtype);
  if (!codes || request.inputs[1].dtype != DType::kFloat ||
      request.outputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only integers of 4 and 8 bits become floats here");
  const Shape &x = request.inputs[0].shape, &scale = request.inputs[1].shape;
  const int64_t block = integer_attribute(request, "block_size", 0);
  if (element_count(x) == 0 || x.empty()) return Prepared::refuse("there is no axis");
  AxisSplit split{1, 1, element_count(x)};
  int64_t width = 1;
  // The attribute `axis` is ignored for a single scale, which is that of all elements, and for
  // vectors, which have one axis.
  const bool is_single = element_count(scale) == 1;
  const size_t axis =
      x.size() == 1 || is_single ? 0 : axis_of(integer_attribute(request, "axis", 1), x.size());
  if (block > 0 && !is_single) {
    split = split_at(x, axis);
    width = block;
  } else if (!is_single) {  // each slice is a block of all that is within it
    const AxisSplit whole = split_at(x, axis);
    if (whole.outer != 1) return Prepared::refuse("strided slices are left to others");
    split = {whole.size, whole.inner, 1};
    width = whole.inner;
  } else {
    split = {1, element_count(x), 1};
    width = split.size;
  }
  return Prepared::accept(std::make_unique<BlockKernel>(*codes, split, std::max<int64_t>(width, 1),
                                                        request.has(2), request.threads),
                          "blocks");
}

// ---- GatherBlockQuantized

struct BlockGatherInput {
  enum : size_t { kData, kIndices, kScales, kZeroPoints };
};

// Rows of data that indices name, each of `lines` lines of `length` elements, cut into blocks.
class BlockGatherKernel : public Kernel {
 public:
  BlockGatherKernel(const KernelRequest& request, Codes codes, int64_t length)
      : codes_(codes),
        is_wide_(request.inputs[BlockGatherInput::kIndices].dtype == DType::kInt64),
        has_zeros_(request.has(BlockGatherInput::kZeroPoints)),
        packs_lines_(request.inputs[BlockGatherInput::kData].dtype == DType::kUInt8),
        length_(length),
        block_(request.attrs<ops::GatherBlockAttrs>().block_size),
        indices_(element_count(request.inputs[BlockGatherInput::kIndices].shape)) {
    const Shape &data = request.inputs[BlockGatherInput::kData].shape,
                &scales = request.inputs[BlockGatherInput::kScales].shape;
    rows_ = data[0];
    columns_ = scales.back();
    lines_ = element_count(scales) / (rows_ * columns_);
    const bool is_half = codes == Codes::kUnsigned4 || codes == Codes::kSigned4;
    per_byte_ = is_half ? 2 : 1;
    zero_ = !packs_lines_ ? 0 : is_half ? 8 : 128;
    const int64_t count = indices_ * lines_ * length_;
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, count / kElementsPerThread + 1));
  }

  void run(const KernelArgs& args) const override {
    for_each_task(indices_, threads_, lines_ * length_, [&](int64_t i) { gather(args, i); });
  }

 private:
  int64_t index_at(const void* indices, int64_t i) const {
    return is_wide_ ? static_cast<const int64_t*>(indices)[i]
                    : static_cast<const int32_t*>(indices)[i];
  }

  // Zero points of uint8 data start a byte with each line.
  float zero_point(const void* zeros, int64_t line, int64_t column) const {
    if (!has_zeros_) return zero_;
    if (!packs_lines_) return decoded(codes_, zeros, line * columns_ + column);
    const int64_t packed = (columns_ + per_byte_ - 1) / per_byte_ * per_byte_;
    return decoded(codes_, zeros, line * packed + column);
  }

  // An index outside the table gives zeros.
  void gather(const KernelArgs& args, int64_t i) const {
    int64_t row = index_at(args.inputs[BlockGatherInput::kIndices], i);
    float* out = static_cast<float*>(args.outputs[0]) + i * lines_ * length_;
    if (row < -rows_ || row >= rows_) {
      std::fill_n(out, lines_ * length_, 0.0f);
      return;
    }
    if (row < 0) row += rows_;
    const auto* scales = static_cast<const float*>(args.inputs[BlockGatherInput::kScales]);
    for (int64_t line = row * lines_; line < (row + 1) * lines_; ++line) {
      for (int64_t column = 0; column * block_ < length_; ++column) {
        const int64_t begin = column * block_, count = std::min(block_, length_ - begin);
        decode_row(codes_, args.inputs[BlockGatherInput::kData], line * length_ + begin,
                   zero_point(has_zeros_ ? args.inputs[BlockGatherInput::kZeroPoints] : nullptr,
                              line, column),
                   scales[line * columns_ + column], out, count);
        out += count;
      }
    }
  }

  Codes codes_;
  bool is_wide_, has_zeros_, packs_lines_;
  int64_t length_, block_, indices_, rows_, columns_, lines_, per_byte_;
  float zero_;
  int threads_;
};

Prepared prepare_gather(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GatherBlockAttrs>();
  const KernelTensor& data = request.inputs[BlockGatherInput::kData];
  const auto rank = static_cast<int64_t>(data.shape.size());
  std::optional<Codes> codes = codes_of(data.dtype);
  if (!codes || data.dtype == DType::kInt8 || attrs.bits == 2)
    return Prepared::refuse("only integers of 4 and 8 bits are read here");
  const bool are_bytes = data.dtype == DType::kUInt8;
  if (are_bytes && attrs.bits == 4) codes = Codes::kUnsigned4;
  const bool is_usual = (attrs.gather_axis == 0 || attrs.gather_axis == -rank) &&
                        (attrs.quantize_axis == rank - 1 || attrs.quantize_axis == -1) && rank > 1;
  if (!is_usual || request.inputs[BlockGatherInput::kScales].dtype != DType::kFloat)
    return Prepared::refuse("only rows of blocks along the last axis become floats here");
  if (element_count(data.shape) == 0) return Prepared::refuse("there are no elements");
  const int64_t length = data.shape.back() * (are_bytes && attrs.bits == 4 ? 2 : 1);
  return Prepared::accept(std::make_unique<BlockGatherKernel>(request, *codes, length), "blocks");
}

constexpr KernelEntry kBlockEntries[] = {
    {"DequantizeLinear", "blockwise_dequantize", prepare_blockwise},
    {"com.microsoft::GatherBlockQuantized", "blockwise_dequantize", prepare_gather},
};

}  // namespace

std::span<const KernelEntry> blockwise_dequantize_kernels() {
  return kBlockEntries;
}

}  // namespace sardonyx::cpu
