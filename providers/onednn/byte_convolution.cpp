#include "providers/onednn/byte_convolution.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "providers/cpu/byte_windows.h"
#include "providers/onednn/provider.h"
#include "providers/onednn/strip_kernel.h"

namespace sardonyx::onednn {
namespace {

using cpu::kByteUnit;
using cpu::kQuad;

// What becomes of sums.
struct ByteFinish {
  std::vector<float> scales;  // of each group's outputs, up to whole units
  int32_t zero;
  bool is_signed;
};

// The kernel's elements are quads of the input's bytes, which are moved to uint8 where they are
// int8.
class ByteKernel : public StripKernel {
 public:
  ByteKernel(const DirectForm& form, StripWeights weights, ByteFinish finish, uint8_t source_zero,
             bool source_is_signed, int threads)
      : StripKernel(form, std::move(weights), threads, /*may_share_outputs=*/true),
        finish_(std::move(finish)),
        source_zero_(source_zero),
        source_is_signed_(source_is_signed) {}

 private:
  void pad(const Share& share, int64_t image, int64_t group, const Strip2d& strip) const override {
    const cpu::ImageSteps from = f_.in_steps(), to = f_.read_steps();
    const auto* source = reinterpret_cast<const uint8_t*>(input(share, image, group));
    auto* target = reinterpret_cast<uint8_t*>(share.padded);
    const auto [begin, end, first] = padded_columns(strip);
    const int64_t width = f_.covered(1, strip.columns), rows = f_.covered(0, strip.rows);
    const int64_t pixel = kQuad * to.column;
    for (int64_t row = 0; row < rows; ++row, target += kQuad * to.row) {
      const int64_t in_row = strip.row * f_.stride[0] + row - f_.pad[0];
      if (in_row < 0 || in_row >= f_.height || begin == end) {
        std::memset(target, source_zero_, static_cast<size_t>(width * pixel));
        continue;
      }
      std::memset(target, source_zero_, static_cast<size_t>(begin * pixel));
      std::memset(target + end * pixel, source_zero_, static_cast<size_t>((width - end) * pixel));
      copy(source + kQuad * (in_row * from.row + first * from.column), kQuad * from.column,
           end - begin, pixel, target + begin * pixel);
    }
  }

  // `count` pixels of `bytes` bytes.
  void copy(const uint8_t* from, int64_t from_step, int64_t count, int64_t bytes,
            uint8_t* to) const {
    if (from_step == bytes) {
      bytes *= count;
      count = 1;
    }
    for (int64_t i = 0; i < count; ++i, from += from_step, to += bytes) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
      if (!source_is_signed_) continue;
      for (int64_t byte = 0; byte < bytes; ++byte)
        to[byte] ^= 0x80;
    }
  }

  bool convolve(const Share& share, int64_t image, int64_t group,
                const Strip2d& strip) const override {
    const cpu::ImageSteps in = f_.read_steps(), out = f_.out_steps();
    const int64_t padded = rounded_up(f_.outputs, kByteUnit);
    cpu::ByteWindows windows;
    windows.in = reinterpret_cast<const uint8_t*>(first_window(share, image, group, strip));
    windows.offsets = offsets();
    windows.weights = reinterpret_cast<const int8_t*>(weights() + group * weights_size());
    windows.start = reinterpret_cast<const int32_t*>(bias()) + group * padded;
    windows.scales = finish_.scales.data() + group * padded;
    windows.zero = finish_.zero;
    windows.is_signed = finish_.is_signed;
    windows.out =
        static_cast<uint8_t*>(share.args.outputs[0]) + place_of(image, strip) + group * f_.outputs;
    windows.in_row = kQuad * f_.stride[0] * in.row;
    windows.in_column = kQuad * f_.stride[1] * in.column;
    windows.out_row = out.row;
    windows.out_column = out.column;
    windows.columns = strip.columns;
    windows.outputs = f_.outputs;
    const int64_t products = strip.rows * strip.columns * f_.elements() * kByteUnit;
    const int64_t most = std::max<int64_t>(kProductsBetweenLooks / products, 1) * kByteUnit;
    const auto [begin, end] = share.outputs;
    for (int64_t output = begin; output < end; output += most) {
      if (output > begin && share.sign.ask()) return false;
      cpu::convolve_bytes(windows, 0, strip.rows, output, std::min(end, output + most));
    }
    return true;
  }

  void apply(const Share&, int64_t, const Strip2d&) const override {}

  const ByteFinish finish_;
  const uint8_t source_zero_;
  const bool source_is_signed_;
};

// Of each group: panels, and the sums of all outputs' weights.
std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request, size_t slot,
                                             const DirectForm& form,
                                             const CenteredWeights& weights) {
  const int64_t panels = cpu::packed_byte_windows_size(form.elements(), form.outputs);
  const int64_t size = panels + form.outputs * static_cast<int64_t>(sizeof(int32_t));
  const int64_t window = form.elements() * kQuad, taps = form.kernel[0] * form.kernel[1];
  const int64_t units = (form.outputs + kByteUnit - 1) / kByteUnit;
  const std::string name = text("quads in ", form.groups, " ", weights.form());
  return cpu::packed_once(
      request, slot, name, static_cast<size_t>(form.groups * size), [&](std::byte* out) {
        const int8_t* from = weights.elements();
#pragma omp parallel for collapse(2) num_threads(request.threads) if (request.threads > 1)
        for (int64_t group = 0; group < form.groups; ++group) {
          for (int64_t unit = 0; unit < units; ++unit) {
            auto* to = reinterpret_cast<int8_t*>(out) + group * size;
            cpu::pack_byte_windows(from + group * form.outputs * window, form.inputs * kQuad, taps,
                                   unit * kByteUnit, std::min(form.outputs, (unit + 1) * kByteUnit),
                                   to, reinterpret_cast<int32_t*>(to + panels));
          }
        }
      });
}

// What each output's sum is to begin with: the bias, and what makes up for the zero point in the
// products.
std::shared_ptr<const Buffer> starts(const KernelRequest& request, size_t bias_slot,
                                     const DirectForm& form, const Buffer& packed,
                                     int32_t source_zero) {
  const int32_t* bias = request.has(bias_slot)
                            ? request.inputs[bias_slot].constant->values<int32_t>().data()
                            : nullptr;
  const int64_t padded = rounded_up(form.outputs, kByteUnit);
  auto made = Buffer::allocate(static_cast<size_t>(form.groups * padded) * sizeof(int32_t));
  auto* start = reinterpret_cast<int32_t*>(made->data());
  std::fill_n(start, form.groups * padded, 0);
  for (int64_t group = 0; group < form.groups; ++group, start += padded) {
    const std::byte* end = packed.data() + packed.size() / static_cast<size_t>(form.groups) *
                                               static_cast<size_t>(group + 1);
    const auto* sums = reinterpret_cast<const int32_t*>(end) - form.outputs;
    for (int64_t output = 0; output < form.outputs; ++output) {
      // Modulo 2^32, as the reference's sums are.
      const auto given = static_cast<uint32_t>(bias ? bias[group * form.outputs + output] : 0);
      start[output] = static_cast<int32_t>(given - static_cast<uint32_t>(source_zero) *
                                                       static_cast<uint32_t>(sums[output]));
    }
  }
  return made;
}

ByteFinish finish_of(const KernelRequest& request, const DirectForm& form,
                     const IntegerScaling& scaling) {
  const int64_t padded = rounded_up(form.outputs, kByteUnit);
  ByteFinish finish;
  finish.scales.resize(static_cast<size_t>(form.groups * padded), 1.0f);
  for (int64_t output = 0; output < form.out_channels(); ++output) {
    const size_t scale = scaling.scales.size() > 1 ? static_cast<size_t>(output) : 0;
    finish.scales[static_cast<size_t>(output / form.outputs * padded + output % form.outputs)] =
        scaling.scales[scale];
  }
  finish.zero = scaling.destination_zero;
  finish.is_signed = request.outputs[0].dtype == DType::kInt8;
  return finish;
}

const char* refusal(const KernelRequest& request, const ByteSlots& slots, int64_t groups,
                    const IntegerScaling& scaling) {
  if (!cpu::has_byte_windows()) return "this CPU adds no products of bytes";
  if (onednn_computes_bfloat16_by_tiles()) return "this CPU multiplies bytes by tiles";
  if (!request.layouts) return "layouts are not free";
  const Shape &x = request.inputs[slots.x].shape, &w = request.inputs[slots.w].shape;
  if (x.size() != 3 && x.size() != 4) return "only images and lines are computed here";
  if (w[1] % kQuad != 0) return "channels are no multiple of 4";
  if (w[0] / groups < kByteUnit / 2) return "there are few channels";
  if (request.has(slots.bias) && !request.inputs[slots.bias].constant)
    return "the bias is no constant";
  const auto is_small = [](float scale) { return std::abs(scale) < 1; };
  if (!std::ranges::all_of(scaling.scales, is_small)) return "results are far from bytes";
  return nullptr;
}

}  // namespace

Prepared prepare_byte_convolution(const KernelRequest& request, const ByteSlots& slots,
                                  const ops::Window& window, int64_t groups,
                                  const CenteredWeights& weights, const IntegerScaling& scaling) {
  if (const char* why = refusal(request, slots, groups, scaling)) return Prepared::refuse(why);
  const KernelTensor &x = request.inputs[slots.x], &y = request.outputs[0];
  const bool is_signed = x.dtype == DType::kInt8;
  const DirectForm form = byte_form(x.shape, request.inputs[slots.w].shape, y.shape, window, groups,
                                    /*is_copied=*/is_signed);
  if (const char* why = refusal_of_bytes(form)) return Prepared::refuse(why);
  const int32_t source_zero = scaling.source_zero + (is_signed ? 128 : 0);
  StripWeights packed{walk_of(form).offsets, packed_weights(request, slots.w, form, weights), {}};
  packed.bias = starts(request, slots.bias, form, *packed.packed, source_zero);
  Prepared prepared = Prepared::accept(
      std::make_unique<ByteKernel>(form, std::move(packed), finish_of(request, form, scaling),
                                   static_cast<uint8_t>(source_zero), is_signed, request.threads),
      "bytes");
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[slots.x] = layout_of(channels_last_desc(data_type_of(x.dtype), x.shape));
  prepared.output_layouts = {layout_of(channels_last_desc(data_type_of(y.dtype), y.shape))};
  prepared.unread_inputs = 1u << slots.w;
  if (request.has(slots.bias)) prepared.unread_inputs |= 1u << slots.bias;
  return prepared;
}

}  // namespace sardonyx::onednn
