#include "providers/onednn/direct_convolution.h"

#include <algorithm>
#include <cstring>

#include "ir/pack_room.h"
#include "providers/cpu/convolution_rows.h"
#include "providers/cpu/tasks.h"
#include "providers/onednn/direct_form.h"

namespace sardonyx::onednn {
namespace {

using cpu::kChannelBlock;
using cpu::kConvolutionUnit;

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kLeastProducts = 1 << 18;
constexpr int64_t kProductsBetweenLooks = 1 << 28;
// Windows that the kernel computes together, about: threads share pictures in so many.
constexpr int64_t kWindowsTogether = 14;

class DirectKernel : public Kernel {
 public:
  DirectKernel(const DirectForm& form, std::vector<int32_t> offsets,
               std::shared_ptr<const Buffer> weights, std::shared_ptr<const Buffer> bias,
               int threads)
      : f_(form),
        offsets_(std::move(offsets)),
        weights_(std::move(weights)),
        bias_(std::move(bias)) {
    const int64_t pixels = f_.images * f_.out_height * f_.out_width;
    const int64_t products = pixels * f_.out_channels() * f_.elements();
    threads_ = static_cast<int>(
        std::min<int64_t>(threads, std::max<int64_t>(products / kLeastProducts, 1)));
    // Where weights are more than inputs, each thread reads a part of them.
    shares_outputs_ =
        f_.groups == 1 && f_.outputs > pixels && f_.outputs >= kConvolutionUnit * threads_;
    unit_ = f_.is_line() ? kWindowsTogether : std::max<int64_t>(kWindowsTogether / f_.out_width, 1);
    units_ = (f_.length() + unit_ - 1) / unit_;
    if (!shares_outputs_)
      threads_ = static_cast<int>(std::min<int64_t>(threads_, f_.images * units_));
  }

  void run(const KernelArgs& args) const override {
    cpu::for_each_share(threads_, [&](int64_t part, int64_t parts, const cpu::StopSign& sign) {
      Share share{args, sign, scratch_of(args, part), {0, f_.outputs}};
      if (!shares_outputs_) {
        run_units(share, f_.images * units_ * part / parts,
                  f_.images * units_ * (part + 1) / parts);
        return;
      }
      share.outputs = cpu::portion_of(f_.outputs, kConvolutionUnit, part, parts);
      run_units(share, 0, f_.images * units_);
    });
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * thread_scratch()) * sizeof(float);
  }
  bool may_alias(size_t output, size_t input) const override {
    return f_.has_residual && output == 0 && input == 3;
  }

 private:
  struct Share {
    const KernelArgs& args;
    const cpu::StopSign& sign;
    float* padded;
    cpu::Portion outputs;  // of a group
  };

  int64_t thread_scratch() const { return rounded_up(f_.padded_size(), kChannelBlock); }
  float* scratch_of(const KernelArgs& args, int64_t part) const {
    return reinterpret_cast<float*>(args.scratch) + part * thread_scratch();
  }

  // Units of rows or columns, over all images.
  void run_units(const Share& share, int64_t begin, int64_t end) const {
    const int64_t most = f_.is_line() ? f_.strip.columns : f_.strip.rows;
    while (begin < end) {
      const int64_t image = begin / units_, unit = begin - image * units_;
      const int64_t count = std::min(units_ - unit, end - begin);
      const int64_t last = std::min(f_.length(), (unit + count) * unit_);
      for (int64_t at = unit * unit_; at < last; at += most) {
        if (!run_strip(share, image, f_.cut(at, std::min(last, at + most)))) return;
      }
      begin += count;
    }
  }

  // False where it is to stop.
  bool run_strip(const Share& share, int64_t image, const Strip2d& strip) const {
    for (int64_t group = 0; group < f_.groups; ++group) {
      if (share.sign.ask()) return false;
      if (f_.is_padded) pad(share, image, group, strip);
      if (!convolve(share, image, group, strip)) return false;
    }
    if (f_.finish.function) apply(share, image, strip);
    return true;
  }

  // The group's first channel, at the first pixel.
  const float* input(const Share& share, int64_t image, int64_t group) const {
    const int64_t channel = group * f_.inputs;
    const float* first = static_cast<const float*>(share.args.inputs[0]) +
                         image * f_.in_channels() * f_.height * f_.width;
    if (f_.from == Lie::kPixels) return first + channel;
    const int64_t blocks = f_.from == Lie::kBlocks ? channel / kChannelBlock : channel;
    return first + blocks * f_.in_steps().block;
  }

  // The input under the strip, of the group's channels.
  void pad(const Share& share, int64_t image, int64_t group, const Strip2d& strip) const {
    const cpu::ImageSteps from = f_.in_steps(), to = f_.read_steps();
    const float* source = input(share, image, group);
    const int64_t together = f_.channels_together(), rows = f_.covered(0, strip.rows);
    for (int64_t begin = 0; begin < f_.inputs; begin += together) {
      const int64_t channels = std::min(together, f_.inputs - begin);
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t in_row = strip.row * f_.stride[0] + row - f_.pad[0];
        float* target = share.padded + begin / together * to.block + row * to.row;
        if (in_row < 0 || in_row >= f_.height)
          std::fill_n(target, f_.covered(1, strip.columns) * to.column, 0.0f);
        else
          pad_row(source + begin / together * from.block + in_row * from.row, from.column, channels,
                  strip, target, to.column);
      }
    }
  }

  void pad_row(const float* from, int64_t from_step, int64_t channels, const Strip2d& strip,
               float* to, int64_t to_step) const {
    const int64_t width = f_.covered(1, strip.columns);
    const int64_t first = strip.column * f_.stride[1] - f_.pad[1];  // column of the input
    const int64_t begin = std::clamp<int64_t>(-first, 0, width);
    const int64_t end = std::clamp<int64_t>(f_.width - first, begin, width);
    std::fill_n(to, begin * to_step, 0.0f);
    std::fill_n(to + end * to_step, (width - end) * to_step, 0.0f);
    if (begin == end) return;
    from += (first + begin) * from_step;
    to += begin * to_step;
    if (from_step == to_step) {
      std::memcpy(to, from, static_cast<size_t>((end - begin) * to_step) * sizeof(float));
    } else {
      copy_pixels(from, from_step, channels, end - begin, to);
    }
  }

  // Into blocks, which are copied whole where the row goes on so far: elements that are not the
  // group's are not multiplied with anything.
  static void copy_pixels(const float* from, int64_t from_step, int64_t channels, int64_t count,
                          float* to) {
    const int64_t behind = std::max<int64_t>(kChannelBlock - channels, 0);
    const int64_t whole = std::max<int64_t>(count - (behind + from_step - 1) / from_step, 0);
    for (int64_t column = 0; column < whole; ++column, from += from_step, to += kChannelBlock)
      std::memcpy(to, from, kChannelBlock * sizeof(float));
    for (int64_t column = whole; column < count; ++column, from += from_step, to += kChannelBlock)
      std::copy_n(from, channels, to);
  }

  int64_t place_of(int64_t image, const Strip2d& strip) const {
    const cpu::ImageSteps steps = f_.out_steps();
    return image * f_.out_channels() * f_.out_height * f_.out_width + strip.row * steps.row +
           strip.column * steps.column;
  }

  bool convolve(const Share& share, int64_t image, int64_t group, const Strip2d& strip) const {
    const cpu::ImageSteps in = f_.read_steps(), out = f_.out_steps();
    const int64_t channel = group * f_.outputs;
    const int64_t place = place_of(image, strip) +
                          (f_.to == Lie::kPixels ? channel : channel / kChannelBlock * out.block);
    const int64_t size = static_cast<int64_t>(weights_->size() / sizeof(float)) / f_.groups;
    cpu::ConvolutionRows rows;
    rows.in = f_.is_padded ? share.padded
                           : input(share, image, group) + strip.row * f_.stride[0] * in.row +
                                 strip.column * f_.stride[1] * in.column;
    rows.offsets = offsets_;
    rows.weights = reinterpret_cast<const float*>(weights_->data()) + group * size;
    rows.bias = reinterpret_cast<const float*>(bias_->data()) +
                group * rounded_up(f_.outputs, kConvolutionUnit);
    rows.residual =
        f_.has_residual ? static_cast<const float*>(share.args.inputs[3]) + place : nullptr;
    rows.out = static_cast<float*>(share.args.outputs[0]) + place;
    rows.in_row = f_.stride[0] * in.row;
    rows.in_column = f_.stride[1] * in.column;
    rows.out_steps = out;
    rows.columns = strip.columns;
    rows.outputs = f_.outputs;
    rows.low = f_.finish.low;
    rows.high = f_.finish.high;
    const int64_t products = strip.rows * strip.columns * f_.elements() * kConvolutionUnit;
    const int64_t most = std::max<int64_t>(kProductsBetweenLooks / products, 1) * kConvolutionUnit;
    const auto [begin, end] = share.outputs;
    for (int64_t output = begin; output < end; output += most) {
      if (output > begin && share.sign.ask()) return false;
      cpu::convolve_rows(rows, 0, strip.rows, output, std::min(end, output + most));
    }
    return true;
  }

  void apply(const Share& share, int64_t image, const Strip2d& strip) const {
    const cpu::Portion outputs =
        shares_outputs_ ? share.outputs : cpu::Portion{0, f_.out_channels()};
    apply_to_pixels(*f_.finish.function,
                    static_cast<float*>(share.args.outputs[0]) + place_of(image, strip),
                    strip.rows * strip.columns, f_.out_steps(), f_.to == Lie::kBlocks,
                    outputs.begin, outputs.end);
  }

  DirectForm f_;
  std::vector<int32_t> offsets_;
  std::shared_ptr<const Buffer> weights_, bias_;
  int64_t unit_ = 1, units_ = 0;  // rows or columns that are shared out together, and their number
  int threads_ = 1;
  bool shares_outputs_ = false;
};

std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request, const DirectForm& form,
                                             const std::vector<int64_t>& order) {
  const std::string name = text("direct in ", form.groups, " by ", static_cast<int>(form.read));
  return packed_once(request, 1, name, [&] {
    const float* from = request.inputs[1].constant->values<float>().data();
    const int64_t size = cpu::packed_windows_size(form.elements(), form.outputs);
    auto buffer = allocate_packed(static_cast<size_t>(form.groups * size) * sizeof(float));
    auto* to = reinterpret_cast<float*>(buffer->data());
    const int64_t units = (form.outputs + kConvolutionUnit - 1) / kConvolutionUnit;
#pragma omp parallel for collapse(2) num_threads(request.threads) if (request.threads > 1)
    for (int64_t group = 0; group < form.groups; ++group) {
      for (int64_t unit = 0; unit < units; ++unit) {
        const int64_t first = unit * kConvolutionUnit;
        cpu::pack_windows(from + (group * form.outputs + first) * form.elements(), order,
                          std::min(kConvolutionUnit, form.outputs - first),
                          to + group * size + first * form.elements());
      }
    }
    return buffer;
  });
}

LayoutPtr layout_for(Lie lie, const Shape& shape) {
  return lie == Lie::kPlanes ? nullptr : picture_layout(shape, lie == Lie::kBlocks);
}

}  // namespace

Prepared prepare_direct_convolution(const KernelRequest& request, const ops::ConvAttrs& attrs,
                                    const ops::FusedActivation& activation) {
  if (const char* why = refusal_of_own(request, true)) return Prepared::refuse(why);
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1], &y = request.outputs[0];
  const auto finish = finish_of(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  const DirectForm form = direct_form(request, window, attrs.group, *finish);
  if (const char* why = refusal_of(form)) return Prepared::refuse(why);
  WindowWalk walk = walk_of(form);
  auto weights = packed_weights(request, form, walk.order);
  Prepared prepared = Prepared::accept(
      std::make_unique<DirectKernel>(form, std::move(walk.offsets), std::move(weights),
                                     packed_bias_in_groups(request, form.groups, kConvolutionUnit),
                                     request.threads),
      "direct");
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = layout_for(form.from, x.shape);
  prepared.output_layouts = {layout_for(form.to, y.shape)};
  if (form.has_residual) prepared.input_layouts[3] = prepared.output_layouts[0];
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

}  // namespace sardonyx::onednn
