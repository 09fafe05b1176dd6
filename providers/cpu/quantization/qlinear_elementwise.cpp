// Elementwise ops on 8-bit integers: QLinearAdd, QLinearMul and QdqMul, tables of 256 bytes, and
// DynamicQuantizeLinear. Where all tensors have one layout without gaps, the order of the elements
// does not matter and the result keeps it.
#include <algorithm>
#include <array>
#include <cmath>

#include "ir/reference_evaluator.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/quantization/lut_u8.h"
#include "providers/cpu/quantization/qlinear_elementwise_kernel.h"
#include "providers/cpu/quantization/quantize_linear_kernel.h"

namespace sardonyx::cpu {
namespace {

// The layout that elementwise work on bytes keeps: that of one of the inputs `slots`, which all
// have the shape of the output.
LayoutPtr kept_layout(const KernelRequest& request, std::span<const size_t> slots) {
  const KernelTensor& output = request.outputs[0];
  if (!request.layouts) return nullptr;
  LayoutPtr kept;
  for (const size_t slot : slots) {
    const KernelTensor& input = request.inputs[slot];
    if (input.shape != output.shape || input.dtype != output.dtype) return nullptr;
    if (input.layout && !kept) kept = input.layout;
  }
  const bool is_dense = kept && kept->bytes() == static_cast<size_t>(element_count(output.shape));
  return is_dense ? kept : nullptr;
}

Prepared accept(const KernelRequest& request, std::unique_ptr<Kernel> kernel,
                std::span<const size_t> slots, const LayoutPtr& layout) {
  Prepared prepared = Prepared::accept(std::move(kernel), "simd");
  if (!layout) return prepared;
  prepared.input_layouts.resize(request.inputs.size());
  for (const size_t slot : slots)
    prepared.input_layouts[slot] = layout;
  prepared.output_layouts = {layout};
  return prepared;
}

template <typename T, void (*row)(const QLinearScales&, const T*, bool, const T*, bool, T*, size_t)>
class QLinearBinaryKernel : public Kernel {
 public:
  QLinearBinaryKernel(BroadcastLoop grid, const KernelRequest& request)
      : grid_(grid), threads_(request.threads) {
    for (const size_t slot : {0, 3})
      aliases_[slot] = request.inputs[slot].shape == request.outputs[0].shape;
    for (size_t k = 0; k < 3; ++k)
      has_zero_[k] = request.has(kZeros[k]);
  }

  void run(const KernelArgs& args) const override {
    QLinearScales scales;
    const std::array<ByteScale*, 3> all{&scales.a, &scales.b, &scales.out};
    for (size_t k = 0; k < 3; ++k) {
      all[k]->scale = *static_cast<const float*>(args.inputs[kZeros[k] - 1]);
      if (has_zero_[k]) all[k]->zero = *static_cast<const T*>(args.inputs[kZeros[k]]);
    }
    const auto* a = static_cast<const T*>(args.inputs[0]);
    const auto* b = static_cast<const T*>(args.inputs[3]);
    auto* out = static_cast<T*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets& at, int64_t begin, int64_t count) {
      row(scales, a + at[0], grid_.steps[0], b + at[1], grid_.steps[1], out + begin,
          static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override {
    return input < aliases_.size() && aliases_[input];
  }

 private:
  static constexpr size_t kZeros[] = {2, 5, 7};  // the slot before each is its scale
  BroadcastLoop grid_;
  int threads_;
  std::array<bool, 4> aliases_{};
  std::array<bool, 3> has_zero_{};
};

template <typename Unsigned, typename Signed>
Prepared prepare_pair(const KernelRequest& request) {
  for (const size_t slot : {1, 2, 4, 5, 6, 7}) {
    if (request.has(slot) && element_count(request.inputs[slot].shape) != 1) {
      return Prepared::refuse("more than one scale or zero point");
    }
  }
  static constexpr size_t kSlots[] = {0, 3};
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[3].shape};
  const std::optional<BroadcastLoop> grid = BroadcastLoop::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("the broadcast has too many dims");
  const LayoutPtr layout = kept_layout(request, kSlots);
  if (request.inputs[0].dtype == DType::kUInt8) {
    return accept(request, std::make_unique<Unsigned>(*grid, request), kSlots, layout);
  }
  return accept(request, std::make_unique<Signed>(*grid, request), kSlots, layout);
}

constexpr auto prepare_add = prepare_pair<QLinearBinaryKernel<uint8_t, qadd_row<uint8_t>>,
                                          QLinearBinaryKernel<int8_t, qadd_row<int8_t>>>;
constexpr auto prepare_qdq = prepare_pair<QLinearBinaryKernel<uint8_t, qdq_mul_row<uint8_t>>,
                                          QLinearBinaryKernel<int8_t, qdq_mul_row<int8_t>>>;
constexpr auto prepare_multiply = prepare_pair<QLinearBinaryKernel<uint8_t, qmul_row<uint8_t>>,
                                               QLinearBinaryKernel<int8_t, qmul_row<int8_t>>>;

using Table = std::array<uint8_t, 256>;

class TableKernel : public Kernel {
 public:
  TableKernel(const Table& table, int64_t count, int threads) : table_(table), threads_(threads) {
    grid_.length = count;
  }
  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const uint8_t*>(args.inputs[0]);
    auto* out = static_cast<uint8_t*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      byte_table_row(table_.data(), in + begin, out + begin, static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  Table table_;
  BroadcastLoop grid_;
  int threads_;
};

Prepared accept_table(const KernelRequest& request, const Tensor& entries) {
  static constexpr size_t kSlots[] = {0};
  Table table;
  std::copy_n(static_cast<const uint8_t*>(entries.raw()), table.size(), table.begin());
  const int64_t count = element_count(request.inputs[0].shape);
  Prepared prepared = accept(request, std::make_unique<TableKernel>(table, count, request.threads),
                             kSlots, kept_layout(request, kSlots));
  for (size_t slot = 1; slot < request.inputs.size(); ++slot) {
    if (request.inputs[slot]) prepared.unread_inputs |= 1u << slot;
  }
  return prepared;
}

Prepared prepare_table(const KernelRequest& request) {
  const Tensor* table = request.inputs[1].constant;
  return table ? accept_table(request, *table) : Prepared::refuse("the table is not constant");
}

// An op whose output byte depends on the byte of input 0 alone: its meaning, tried on all bytes.
Prepared prepare_by_trial(const KernelRequest& request) {
  const Tensor bytes = Tensor::allocate(request.inputs[0].dtype, {256});
  for (int i = 0; i < 256; ++i)
    static_cast<uint8_t*>(bytes.raw())[i] = static_cast<uint8_t>(i);
  std::vector<Datum> inputs{Datum(bytes)};
  for (size_t slot = 1; slot < request.inputs.size(); ++slot) {
    const KernelTensor& input = request.inputs[slot];
    if (input && !input.constant) return Prepared::refuse("a scale or zero point is not constant");
    if (input && element_count(input.shape) != 1) {
      return Prepared::refuse("more than one scale or zero point");
    }
    inputs.push_back(input ? Datum(*input.constant) : Datum());
  }
  return accept_table(request, evaluate(request.op, request.raw_attrs, inputs, 1)[0].tensor());
}

// The range of the whole is found by parts, one for a thread.
class DynamicKernel : public Kernel {
 public:
  DynamicKernel(int64_t count, int threads) : threads_(std::min(threads, kMaxParts)) {
    grid_.length = count;
  }
  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    struct ValueRange {
      float low = 0, high = 0;
    };
    std::array<ValueRange, kMaxParts> ranges;
    grid_.for_each(threads_,
                   [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count, int seat) {
                     ValueRange& range = ranges[static_cast<size_t>(seat)];
                     widen_range(in + begin, static_cast<size_t>(count), range.low, range.high);
                   });
    ValueRange all;
    for (const ValueRange& range : ranges) {
      all.low = std::min(all.low, range.low);
      all.high = std::max(all.high, range.high);
    }
    const ByteScale whole = byte_scale_of(all.low, all.high);
    auto* out = static_cast<uint8_t*>(args.outputs[0]);
    if (args.outputs[1]) *static_cast<float*>(args.outputs[1]) = whole.scale;
    if (args.outputs[2]) *static_cast<uint8_t*>(args.outputs[2]) = static_cast<uint8_t>(whole.zero);
    // Pieces are quantized from the end: the elements read last are the likeliest to be in a cache.
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      for (int64_t end = begin + count; end > begin; end -= std::min(end - begin, kPiece)) {
        const int64_t length = std::min(end - begin, kPiece);
        quantize_row(in + end - length, whole.scale, whole.zero, out + end - length,
                     static_cast<size_t>(length));
      }
    });
  }

 private:
  static constexpr int kMaxParts = 64;
  static constexpr int64_t kPiece = 4096;  // elements that are read forwards
  BroadcastLoop grid_;
  int threads_;
};

Prepared prepare_dynamic(const KernelRequest& request) {
  const int64_t count = element_count(request.inputs[0].shape);
  return Prepared::accept(std::make_unique<DynamicKernel>(count, request.threads), "simd");
}

constexpr KernelEntry kQuantizedEntries[] = {
    {"com.microsoft::QLinearAdd", "qlinear_elementwise", prepare_add},
    {"com.microsoft::QLinearMul", "qlinear_elementwise", prepare_multiply},
    {"sardonyx::QdqMul", "qlinear_elementwise", prepare_qdq},
    {"com.microsoft::QLinearSigmoid", "lut_u8", prepare_by_trial},
    {"com.microsoft::QLinearLeakyRelu", "lut_u8", prepare_by_trial},
    {"sardonyx::ByteTable", "lut_u8", prepare_table},
    {"DynamicQuantizeLinear", "qlinear_elementwise", prepare_dynamic},
};

}  // namespace

std::span<const KernelEntry> qlinear_elementwise_kernels() {
  return kQuantizedEntries;
}

}  // namespace sardonyx::cpu
