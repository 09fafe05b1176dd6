// Concat of bytes on row-major and NHWC tensors, and com.microsoft's QLinearConcat, which
// requantizes its inputs to one scale by lookup tables.
#include <algorithm>
#include <array>
#include <cstring>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/quantization/qlinear_attributes.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/quantization/int8_weights.h"
#include "providers/cpu/quantization/lut_u8.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

using Table = std::array<uint8_t, 256>;

struct ConcatPart {
  size_t input;
  size_t bytes;                // of one run of it in the result
  std::optional<Table> table;  // none: as it is
};

class JoinKernel : public Kernel {
 public:
  JoinKernel(std::vector<ConcatPart> parts, int64_t runs, int threads)
      : parts_(std::move(parts)), runs_(runs) {
    for (const ConcatPart& part : parts_)
      run_bytes_ += part.bytes;
    threads_ = static_cast<size_t>(runs) * run_bytes_ < 1 << 16 ? 1 : threads;
  }

  void run(const KernelArgs& args) const override {
    auto* out = static_cast<uint8_t*>(args.outputs[0]);
    for_each_task(runs_, threads_, static_cast<int64_t>(run_bytes_), [&](int64_t run) {
      uint8_t* to = out + static_cast<size_t>(run) * run_bytes_;
      for (const ConcatPart& part : parts_) {
        const auto* from = static_cast<const uint8_t*>(args.inputs[part.input]) +
                           static_cast<size_t>(run) * part.bytes;
        if (part.table) {
          byte_table_row(part.table->data(), from, to, part.bytes);
        } else {
          std::memcpy(to, from, part.bytes);
        }
        to += part.bytes;
      }
    });
  }

 private:
  std::vector<ConcatPart> parts_;
  int64_t runs_;
  size_t run_bytes_ = 0;
  int threads_;
};

LayoutPtr channels_last(DType dtype, const Shape& shape) {
  return image_layout(Layout::Kind::kNHWC, dtype, shape);
}

// True if the result is NHWC: if any input is.
bool wants_channels_last(const KernelRequest& request, const std::vector<ConcatPart>& parts) {
  const size_t rank = request.outputs[0].shape.size();
  if (!request.layouts || rank < 3 || rank > 5) return false;
  return std::ranges::any_of(parts, [&](const ConcatPart& part) {
    const KernelTensor& input = request.inputs[part.input];
    return input.layout && same_layout(input.layout, channels_last(input.dtype, input.shape));
  });
}

Prepared build(const KernelRequest& request, std::vector<ConcatPart> parts, int64_t given_axis) {
  const Shape& shape = request.outputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = given_axis < 0 ? given_axis + rank : given_axis;
  const bool last = wants_channels_last(request, parts);
  // Reorders dims by their order in memory.
  const auto in_memory = [&](Shape dims) {
    if (last) std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    return dims;
  };
  const int64_t place = !last || axis == 0 ? axis : axis == 1 ? rank - 1 : axis - 1;
  const Shape target = in_memory(shape);
  int64_t runs = 1;
  for (int64_t dim = 0; dim < place; ++dim)
    runs *= target[static_cast<size_t>(dim)];
  for (ConcatPart& part : parts) {
    part.bytes = static_cast<size_t>(element_count(request.inputs[part.input].shape) / runs);
  }
  Prepared prepared;
  if (last) {
    prepared.input_layouts.resize(request.inputs.size());
    for (const ConcatPart& part : parts) {
      const KernelTensor& input = request.inputs[part.input];
      prepared.input_layouts[part.input] = channels_last(input.dtype, input.shape);
    }
    prepared.output_layouts = {channels_last(request.outputs[0].dtype, shape)};
  }
  prepared.kernel = std::make_unique<JoinKernel>(std::move(parts), runs, request.threads);
  prepared.implementation = "qlinear_concat";
  return prepared;
}

// The table of QuantizeLinear(DequantizeLinear(byte)); none if it is the identity.
std::optional<Table> table_between(const Tensor& from_bytes, const std::vector<Datum>& from,
                                   const std::vector<Datum>& to) {
  static const OpDef& dequantize = op_named("DequantizeLinear");
  static const OpDef& quantize = op_named("QuantizeLinear");
  const auto attrs = [](const OpDef& op) { return Attrs::parse(*op.attrs, {}); };
  const std::vector<Datum> integers{Datum(from_bytes), from[0], from[1]};
  const std::vector<Datum> reals{evaluate(dequantize, attrs(dequantize), integers, 1)[0], to[0],
                                 to[1]};
  const Tensor made = evaluate(quantize, attrs(quantize), reals, 1)[0].tensor();
  Table table;
  std::copy_n(static_cast<const uint8_t*>(made.raw()), table.size(), table.begin());
  bool changes = false;
  for (size_t i = 0; i < table.size(); ++i)
    changes |= table[i] != i;
  return changes ? std::optional(table) : std::nullopt;
}

Tensor all_bytes(DType dtype) {
  const Tensor bytes = Tensor::allocate(dtype, {256});
  for (int i = 0; i < 256; ++i)
    static_cast<uint8_t*>(bytes.raw())[i] = static_cast<uint8_t>(i);
  return bytes;
}

Prepared prepare_quantized(const KernelRequest& request) {
  const auto single = [&](size_t slot) -> Datum {
    const Tensor* value = request.has(slot) ? request.inputs[slot].constant : nullptr;
    return value && value->count() == 1 ? Datum(value->reshaped({})) : Datum();
  };
  const std::vector<Datum> to{single(0), single(1)};
  std::vector<ConcatPart> parts;
  for (size_t slot = 2; slot + 2 < request.inputs.size(); slot += 3) {
    const KernelTensor& input = request.inputs[slot];
    const std::vector<Datum> from{single(slot + 1), single(slot + 2)};
    if (!is_byte(input.dtype)) return Prepared::refuse("no bytes");
    for (const Datum& known : {to[0], to[1], from[0], from[1]}) {
      if (!known.defined()) return Prepared::refuse("a scale or zero point is not one constant");
    }
    if (element_count(input.shape) == 0) continue;
    parts.push_back({slot, 0, table_between(all_bytes(input.dtype), from, to)});
  }
  return build(request, std::move(parts), request.attrs<ops::QConcatAttrs>().axis);
}

Prepared prepare_plain(const KernelRequest& request) {
  std::vector<ConcatPart> parts;
  for (size_t slot = 0; slot < request.inputs.size(); ++slot) {
    if (!is_byte(request.inputs[slot].dtype)) return Prepared::refuse("no bytes");
    if (element_count(request.inputs[slot].shape) > 0) parts.push_back({slot, 0, std::nullopt});
  }
  if (!wants_channels_last(request, parts)) return Prepared::refuse("no part is channels-last");
  return build(request, std::move(parts), std::get<int64_t>(request.raw_attrs.get("axis").value()));
}

constexpr KernelEntry kQuantizedJoinKernels[] = {
    {"com.microsoft::QLinearConcat", "qlinear_concat", size_checked<prepare_quantized, 0>},
    {"Concat", "qlinear_concat", size_checked<prepare_plain, 0>},
};

}  // namespace

std::span<const KernelEntry> qlinear_concat_kernels() {
  return kQuantizedJoinKernels;
}

}  // namespace sardonyx::cpu
