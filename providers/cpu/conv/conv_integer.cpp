// ConvInteger and QLinearConv on any 8-bit types and zero points, exact on every CPU. The image is
// copied into one with its padding; then the taps of neighbouring positions are contiguous (with
// strides of 1 even across the ends of lines, where unused sums are computed), so that a panel of
// taps is packed without checks of the edges.
#include <algorithm>
#include <cstring>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "providers/cpu/gemm/quantized_params.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"

namespace sardonyx::cpu {
namespace {

// `count` results in a row, from column `column` of a panel on.
struct Piece {
  int64_t column, count;
  int64_t source;  // in the padded image of a channel; neighbours are a stride apart
  int64_t output;  // in a channel of the output
};
struct ColumnTile {
  int64_t source, columns;  // `source` of the first column, only where columns are contiguous
  size_t first_piece, end_piece;
};

struct ConvIntegerPlan {
  int64_t batch, channels, group, outputs;  // outputs: channels of the result
  int64_t in_spatial, padded_spatial, out_spatial;
  size_t taps, terms, pairs;  // terms: taps of all channels of a group
  bool is_padded, are_contiguous;
  int64_t step;                                    // between neighbours of a line
  std::vector<int64_t> tap_offsets;                // in a padded channel
  std::vector<std::pair<int64_t, int64_t>> lines;  // offsets in the image and the padded one
  int64_t line_length;
  std::vector<ColumnTile> tiles;
  std::vector<Piece> pieces;
};

// Calls visit(index) for all indices of `shape`, in row-major order.
template <typename Visit>
void for_each_index(const Shape& shape, const Visit& visit) {
  Shape index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0) return;
  }
}

int64_t offset_of(const Shape& index, const Shape& factors, const Shape& pitches) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < index.size(); ++axis)
    offset += index[axis] * factors[axis] * pitches[axis];
  return offset;
}

Shape pitches_of(const Shape& shape) {
  Shape pitches(shape.size(), 1);
  for (size_t axis = shape.size() - 1; axis-- > 0;)
    pitches[axis] = pitches[axis + 1] * shape[axis + 1];
  return pitches;
}

// Cuts the output into tiles of up to kPanelColumns columns. Lines that are contiguous in the
// source share tiles.
void cut_tiles(ConvIntegerPlan& plan, const ops::Window& window, const Shape& pitches) {
  constexpr auto kColumns = static_cast<int64_t>(kPanelColumns);
  Shape lines = window.out;
  lines.back() = 1;
  int64_t output = 0;
  for_each_index(lines, [&](const Shape& line) {
    const int64_t source = offset_of(line, window.strides, pitches);
    const int64_t length = window.out.back();
    for (int64_t done = 0; done < length;) {
      const int64_t at = source + done * plan.step;
      const bool is_full =
          plan.tiles.empty() || (plan.are_contiguous ? at - plan.tiles.back().source >= kColumns
                                                     : plan.tiles.back().columns == kColumns);
      if (is_full) plan.tiles.push_back({at, 0, plan.pieces.size(), plan.pieces.size()});
      ColumnTile& tile = plan.tiles.back();
      const int64_t column = plan.are_contiguous ? at - tile.source : tile.columns;
      const int64_t count = std::min(length - done, kColumns - column);
      plan.pieces.push_back({column, count, at, output + done});
      tile.columns = column + count;
      tile.end_piece = plan.pieces.size();
      done += count;
    }
    output += length;
  });
}

ConvIntegerPlan make_plan(const ops::Window& window, const Shape& x, const Shape& w,
                          int64_t group) {
  const size_t rank = window.rank();
  const Shape ones(rank, 1);
  ConvIntegerPlan plan{};
  plan.batch = x[0];
  plan.channels = x[1];
  plan.group = group;
  plan.outputs = w[0];
  Shape padded = window.in;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t last = window.start(axis, window.out[axis] - 1) + window.extent(axis);
    padded[axis] = window.pads_begin[axis] + std::max(window.in[axis], last);
    plan.is_padded |= padded[axis] != window.in[axis];
  }
  plan.in_spatial = element_count(window.in);
  plan.padded_spatial = element_count(padded);
  plan.out_spatial = element_count(window.out);
  plan.step = window.strides.back();
  plan.are_contiguous = window.strides == ones;
  const Shape pitches = pitches_of(padded), in_pitches = pitches_of(window.in);
  for_each_index(window.kernel, [&](const Shape& tap) {
    plan.tap_offsets.push_back(offset_of(tap, window.dilations, pitches));
  });
  plan.taps = plan.tap_offsets.size();
  plan.terms = plan.taps * static_cast<size_t>(w[1]);
  plan.pairs = (plan.terms + 1) / 2;
  plan.line_length = window.in.back();
  Shape lines = window.in;
  lines.back() = 1;
  const int64_t begin = offset_of(window.pads_begin, ones, pitches);
  for_each_index(lines, [&](const Shape& line) {
    plan.lines.emplace_back(offset_of(line, ones, in_pitches),
                            begin + offset_of(line, ones, pitches));
  });
  cut_tiles(plan, window, pitches);
  return plan;
}

constexpr size_t kLine = 64;
size_t whole_lines(size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

class ConvolutionKernel : public Kernel {
 public:
  ConvolutionKernel(ConvIntegerPlan plan, IntegerCall call, std::shared_ptr<const Buffer> weights,
                    int threads)
      : plan_(std::move(plan)),
        call_(std::move(call)),
        weights_(std::move(weights)),
        left_step_(2 * plan_.pairs) {
    const auto work = static_cast<double>(plan_.terms) * static_cast<double>(plan_.out_spatial) *
                      static_cast<double>(plan_.outputs);
    threads_ = work > 1e6 ? threads : 1;
    weight_bytes_ = weights_ ? 0 : whole_lines(static_cast<size_t>(plan_.outputs) * left_step_ * 2);
    scale_bytes_ = whole_lines(call_.scale_count() * sizeof(float));
    image_bytes_ = plan_.is_padded
                       ? whole_lines(static_cast<size_t>(plan_.channels * plan_.padded_spatial))
                       : 0;
    panel_bytes_ = plan_.pairs * kPanelColumns * 2 * sizeof(int16_t);
    own_bytes_ = panel_bytes_ + kRowsAtOnce * kPanelColumns * sizeof(int32_t);
  }

  size_t scratch_bytes() const override {
    return weight_bytes_ + scale_bytes_ + image_bytes_ + own_bytes_ * static_cast<size_t>(threads_);
  }

  // Widens weights [outputs][terms] to rows of int16.
  static void widen_weights(const ConvIntegerPlan& plan, const IntegerCall& call,
                            const void* weights, const void* zeros, int16_t* out) {
    const auto* bytes = static_cast<const uint8_t*>(weights);
    for (int64_t row = 0; row < plan.outputs; ++row) {
      int16_t* to = out + static_cast<size_t>(row) * 2 * plan.pairs;
      to[2 * plan.pairs - 1] = 0;
      widen_bytes(bytes + static_cast<size_t>(row) * plan.terms, call.w_is_signed(),
                  call.w_zero(zeros, row), plan.terms, to);
    }
  }

  void run(const KernelArgs& args) const override {
    ConvIntegerWork run{args, nullptr, nullptr, nullptr, nullptr, {}};
    std::byte* scratch = args.scratch;
    if (weights_) {
      run.weights = reinterpret_cast<const int16_t*>(weights_->data());
    } else {
      auto* widened = reinterpret_cast<int16_t*>(scratch);
      widen_weights(plan_, call_, args.inputs[call_.slots().w], call_.w_zeros_of(args), widened);
      run.weights = widened;
    }
    auto* scales = reinterpret_cast<float*>(scratch + weight_bytes_);
    call_.read_scales(args, scales);
    run.scales = scales;
    auto* image = reinterpret_cast<uint8_t*>(scratch + weight_bytes_ + scale_bytes_);
    run.own = scratch + weight_bytes_ + scale_bytes_ + image_bytes_;
    std::fill(std::begin(run.zeros), std::end(run.zeros), static_cast<int16_t>(call_.x_zero(args)));
    const auto* x = static_cast<const uint8_t*>(args.inputs[call_.slots().x]);
    for (int64_t n = 0; n < plan_.batch; ++n) {
      const uint8_t* source = x + n * plan_.channels * plan_.in_spatial;
      run.image = plan_.is_padded ? image : source;
      convolve(run, source, image, n);
    }
  }

 private:
  struct ConvIntegerWork {
    const KernelArgs& args;
    const int16_t* weights;
    const float* scales;
    const uint8_t* image;  // with padding
    std::byte* own;        // scratch of the threads
    int16_t zeros[kPanelColumns];
  };

  void pad_channel(const uint8_t* from, uint8_t* to, int zero) const {
    std::memset(to, zero, static_cast<size_t>(plan_.padded_spatial));
    for (const auto& [source, target] : plan_.lines)
      std::memcpy(to + target, from + source, static_cast<size_t>(plan_.line_length));
  }

  void convolve(const ConvIntegerWork& run, const uint8_t* source, uint8_t* image,
                int64_t n) const {
    const auto tiles = static_cast<int64_t>(plan_.tiles.size());
    const auto pad = [&](int64_t c) {
      pad_channel(source + c * plan_.in_spatial, image + c * plan_.padded_spatial, run.zeros[0]);
    };
    const int64_t padded = plan_.is_padded ? plan_.channels : 0;
    const CancelFlag sign;
    parallel_for_each(padded, threads_, pad);
    parallel_for(plan_.group * tiles, threads_, [&](int64_t begin, int64_t end, int seat) {
      for (int64_t task = begin; task < end && !sign.ask(); ++task)
        run_tile(run, n, task / tiles, plan_.tiles[static_cast<size_t>(task % tiles)],
                 static_cast<size_t>(seat), sign);
    });
    sign.check();
  }

  // Reads the bytes of one tap for all columns of a tile; `line` is the scratch for them.
  const uint8_t* tap_line(const ColumnTile& tile, const uint8_t* tap, uint8_t* line) const {
    if (plan_.are_contiguous) return tap + tile.source;
    for (size_t at = tile.first_piece; at < tile.end_piece; ++at) {
      const Piece& piece = plan_.pieces[at];
      for (int64_t i = 0; i < piece.count; ++i)
        line[piece.column + i] = tap[piece.source + i * plan_.step];
    }
    return line;
  }

  void pack(const ConvIntegerWork& run, int64_t group, const ColumnTile& tile,
            int16_t* panel) const {
    const uint8_t* image =
        run.image + group * (plan_.channels / plan_.group) * plan_.padded_spatial;
    uint8_t lines[2][kPanelColumns];
    const auto term = [&](size_t index, uint8_t* line) {
      const uint8_t* channel =
          image + static_cast<int64_t>(index / plan_.taps) * plan_.padded_spatial;
      return tap_line(tile, channel + plan_.tap_offsets[index % plan_.taps], line);
    };
    for (size_t pair = 0; pair < plan_.pairs; ++pair) {
      const bool is_whole = 2 * pair + 1 < plan_.terms;
      pack_pair(term(2 * pair, lines[0]), is_whole ? term(2 * pair + 1, lines[1]) : nullptr,
                call_.x_is_signed(), run.zeros, static_cast<size_t>(tile.columns),
                panel + pair * 2 * kPanelColumns);
    }
  }

  void run_tile(const ConvIntegerWork& run, int64_t n, int64_t group, const ColumnTile& tile,
                size_t thread, const CancelFlag& sign) const {
    std::byte* own = run.own + thread * own_bytes_;
    auto* panel = reinterpret_cast<int16_t*>(own);
    auto* sums = reinterpret_cast<int32_t*>(own + panel_bytes_);
    pack(run, group, tile, panel);
    const int64_t outputs = plan_.outputs / plan_.group;
    auto* result = static_cast<std::byte*>(run.args.outputs[0]);
    for (int64_t row = 0; row < outputs && !sign.is_up(); row += kRowsAtOnce) {
      const int64_t first = group * outputs + row;
      const int64_t rows = std::min<int64_t>(kRowsAtOnce, outputs - row);
      multiply_panel(run.weights + static_cast<size_t>(first) * left_step_, left_step_,
                     static_cast<size_t>(rows), panel, plan_.pairs, sums);
      for (int64_t r = 0; r < rows; ++r) {
        const RowFinish finish = call_.finish(run.args, run.scales, first + r, false);
        const int64_t channel = (n * plan_.outputs + first + r) * plan_.out_spatial;
        for (size_t at = tile.first_piece; at < tile.end_piece; ++at) {
          const Piece& piece = plan_.pieces[at];
          finish_row(finish, sums + r * static_cast<int64_t>(kPanelColumns) + piece.column,
                     static_cast<size_t>(piece.count),
                     result + static_cast<size_t>(channel + piece.output) * call_.result_bytes());
        }
      }
    }
  }

  ConvIntegerPlan plan_;
  IntegerCall call_;
  std::shared_ptr<const Buffer> weights_;  // null if the weights are not constant
  size_t left_step_;
  int threads_;
  size_t weight_bytes_, scale_bytes_, image_bytes_, panel_bytes_, own_bytes_;
};

const char* why_unsupported_window(const ops::Window& window) {
  const int64_t lines = element_count(window.in) / window.in.back();
  const int64_t pieces = element_count(window.out) / window.out.back() +
                         element_count(window.out) / static_cast<int64_t>(kPanelColumns);
  return why_unsupported_tables({lines, pieces, element_count(window.kernel)});
}

Prepared prepare(const KernelRequest& request, const IntegerSlots& slots) {
  const Shape &x = request.inputs[slots.x].shape, &w = request.inputs[slots.w].shape;
  const auto& attrs = request.attrs<ops::ConvAttrs>();
  const IntegerCall call(request, slots, w[0]);
  if (call.refusal()) return Prepared::refuse(call.refusal());
  if (call.x_has_zero_for_each_row()) return Prepared::refuse("several zero points of the source");
  const ops::Window window = ops::conv_window(request.op.name, attrs, x, w);
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    if (window.pads_begin[axis] < 0 || window.pads_end[axis] < 0) {
      return Prepared::refuse("pads that crop");
    }
  }
  if (const char* why = why_unsupported_window(window)) return Prepared::refuse(why);
  ConvIntegerPlan plan = make_plan(window, x, w, attrs.group);
  auto weights = packed_weights(request, slots, static_cast<size_t>(plan.outputs) * 4 * plan.pairs,
                                text("cpu:rows of int16:", plan.terms),
                                [&](const void* from, const void* zeros, int16_t* to) {
                                  ConvolutionKernel::widen_weights(plan, call, from, zeros, to);
                                });
  const bool packed = weights != nullptr;
  return accept_integer(request, slots, packed,
                        std::make_unique<ConvolutionKernel>(std::move(plan), call,
                                                            std::move(weights), request.threads));
}

Prepared prepare_integer(const KernelRequest& request) {
  return prepare(request, {.x_zero = 2, .w_zero = 3});
}

Prepared prepare_quantized(const KernelRequest& request) {
  return prepare(request, {.x = 0,
                           .w = 3,
                           .x_zero = 2,
                           .w_zero = 5,
                           .x_scale = 1,
                           .w_scale = 4,
                           .y_scale = 6,
                           .y_zero = 7,
                           .bias = 8});
}

constexpr KernelEntry kIntegerConvolutionEntries[] = {
    {"ConvInteger", "conv_integer", prepare_integer},
    {"QLinearConv", "conv_integer", prepare_quantized},
};

}  // namespace

std::span<const KernelEntry> conv_integer_kernels() {
  return kIntegerConvolutionEntries;
}

}  // namespace sardonyx::cpu
