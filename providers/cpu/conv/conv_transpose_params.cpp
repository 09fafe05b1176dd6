#include "providers/cpu/conv/conv_transpose_params.h"

#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/gemm/pack_transposed.h"
#include "providers/cpu/image_layout.h"

namespace sardonyx::cpu {

TransposedCall transposed_call(const KernelRequest& request) {
  if (request.op.name == "ConvTranspose") return {request.attrs<ops::ConvTransposeAttrs>(), {}};
  const auto& attrs = request.attrs<ops::FusedConvTransposeAttrs>();
  return {attrs, {attrs.activation, attrs.activation_params}};
}
namespace {

// Pixels of the input that are multiplied with the weights per tile: enough that the weights are
// read seldom.
constexpr int64_t kConvTransposePixelsPerTile = 96;
// Products, in floats, that one thread keeps in the L2 cache.
constexpr int64_t kProductsKept = 1 << 17;
// A chunk is a multiple of this many channels, which fill vectors.
constexpr int64_t kChannelUnit = 16;
// Images of fewer rows are split by channels, since rows at the borders between threads are
// multiplied twice.
constexpr int64_t kFewRows = 16;
// Weights that stay in a near cache while they are read for every row.
constexpr int64_t kNearWeights = 1 << 15;

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -ceil_div(-a, b);
}

TransposedAxis transposed_axis(const ops::Window& window, size_t axis) {
  return {window.in[axis],      window.out[axis],       window.kernel[axis],
          window.strides[axis], window.dilations[axis], window.pads_begin[axis]};
}

void choose_chunk(ConvTransposeParams& f, int threads) {
  f.chunk = f.outputs;
  f.rows_per_tile = std::clamp<int64_t>(ceil_div(kConvTransposePixelsPerTile, f.columns.in), 1,
                                        std::max<int64_t>(f.rows.in, 1));
  if (f.is_depthwise) return;
  const bool wants_more = f.rows.in < kFewRows && f.images * f.groups % threads != 0;
  int64_t chunks = wants_more ? threads : 1;
  chunks = std::max(chunks, ceil_div(f.rows_kept() * f.row_size(), kProductsKept));
  f.chunk = std::min(rounded_up(ceil_div(f.outputs, chunks), kChannelUnit), f.outputs);
}

// Adjacent pixels under the same windows are accumulated at once where all their channels are
// contiguous, unless the zeros between taps would cost more.
bool merges_runs(const ConvTransposeParams& f) {
  if (f.is_depthwise || f.groups > 1 || f.chunk < f.outputs || f.columns.dilation != 1)
    return false;
  return f.columns.kernel % f.columns.stride == 0 || f.outputs < kChannelUnit;
}

bool is_tiled(const ConvTransposeParams& f) {
  if (f.is_depthwise || f.groups > 1 || !f.rows.is_tiled() || !f.columns.is_tiled()) return false;
  return f.columns.in * 2 >= kConvTransposePixelsPerTile ||
         f.inputs * f.outputs * f.taps() <= kNearWeights;
}

// Packs the weights of one chunk of one group, tap rows [first, last): [channels][taps] of each
// input is transposed to [taps][channels] within a near cache.
void pack_chunk(const ConvTransposeParams& f, const LooseFloat* from, int64_t group, int64_t chunk,
                int64_t first, int64_t last, float* to) {
  const int64_t channels = f.chunk_size(chunk), taps = f.rows.kernel * f.columns.kernel;
  const int64_t outputs = (last - first) * f.padded_columns * channels;
  std::vector<float> transposed(static_cast<size_t>(f.inputs * outputs));
  for (int64_t input = 0; input < f.inputs; ++input) {
    const LooseFloat* planes =
        from + ((group * f.inputs + input) * f.outputs + chunk * f.chunk) * taps;
    for (int64_t row = first; row < last; ++row) {
      float* out =
          transposed.data() + input * outputs + (row - first) * f.padded_columns * channels;
      pack_transposed(planes + row * f.columns.kernel, taps, channels, f.columns.kernel, out,
                      channels);
    }
  }
  pack_gemm_f32(transposed.data(), 1, outputs, f.inputs, outputs, to);
}

}  // namespace

int64_t TransposedAxis::lowest_input(int64_t first) const {
  return std::clamp<int64_t>(-floor_div(reach() - first - pad, stride), 0, in);
}

int64_t TransposedAxis::end_input(int64_t last) const {
  return std::clamp<int64_t>(floor_div(last - 1 + pad, stride) + 1, 0, in);
}

int64_t TransposedAxis::completed_by(int64_t end) const {
  return end >= in ? out : std::clamp<int64_t>(end * stride - pad, 0, out);
}

int64_t ConvTransposeParams::weight_size() const {
  if (is_depthwise) return taps() * chunk;
  if (!is_tiled) return packed_gemm_f32_size(inputs, taps() * chunk);
  return rows.kernel * packed_gemm_f32_size(inputs, padded_columns * chunk);
}

ConvTransposeParams conv_transpose_params(const ops::Window& window, const Shape& x, const Shape& w,
                                          int64_t group, int threads) {
  ConvTransposeParams f;
  const size_t rank = window.rank();
  if (rank == 2) f.rows = transposed_axis(window, 0);
  f.columns = transposed_axis(window, rank - 1);
  f.images = x[0];
  f.is_depthwise = group > 1 && group == x[1] && w[1] == 1;
  f.groups = f.is_depthwise ? 1 : group;
  f.inputs = x[1] / f.groups;
  f.outputs = f.is_depthwise ? x[1] : w[1];
  f.padded_columns = f.columns.kernel;
  f.is_tiled = is_tiled(f);
  if (f.is_tiled) {
    f.chunk = f.outputs;
    f.merges_runs = true;
    return f;
  }
  choose_chunk(f, threads);
  f.merges_runs = merges_runs(f);
  if (f.merges_runs) f.padded_columns = rounded_up(f.columns.kernel, f.columns.stride);
  return f;
}

std::vector<TransposedPattern> patterns_of(const ConvTransposeParams& f) {
  const TransposedAxis& axis = f.columns;
  std::vector<TransposedPattern> patterns;
  for (int64_t phase = 0; phase < (f.merges_runs ? 1 : axis.stride); ++phase) {
    TransposedPattern pattern{f.merges_runs ? -axis.pad : phase, f.run(), {}};
    for (int64_t tap = 0; tap < axis.kernel; tap += f.run()) {
      const int64_t at = pattern.first + axis.pad - tap * axis.dilation;
      const int64_t shift = floor_div(at, axis.stride);
      if (shift * axis.stride == at) pattern.taps.push_back({tap, shift});
    }
    pattern.begin = -floor_div(pattern.first, axis.stride);
    pattern.end = floor_div(axis.out - pattern.run - pattern.first, axis.stride) + 1;
    for (const auto& [tap, shift] : pattern.taps) {
      pattern.begin = std::max(pattern.begin, -shift);
      pattern.end = std::min(pattern.end, axis.in - shift);
    }
    pattern.end = std::max(pattern.begin, pattern.end);
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

std::vector<int64_t> columns_outside(const ConvTransposeParams& f,
                                     const std::vector<TransposedPattern>& patterns) {
  std::vector<bool> is_inside(static_cast<size_t>(f.columns.out), false);
  for (const TransposedPattern& pattern : patterns) {
    for (int64_t q = pattern.begin; q < pattern.end; ++q) {
      for (int64_t i = 0; i < pattern.run; ++i)
        is_inside[static_cast<size_t>(q * f.columns.stride + pattern.first + i)] = true;
    }
  }
  std::vector<int64_t> columns;
  for (int64_t column = 0; column < f.columns.out; ++column) {
    if (!is_inside[static_cast<size_t>(column)]) columns.push_back(column);
  }
  return columns;
}

void pack_weights(const ConvTransposeParams& f, const LooseFloat* weights, float* to) {
  if (f.is_depthwise) return pack_transposed(weights, f.taps(), f.outputs, f.taps(), to, f.outputs);
  const int64_t rows = f.is_tiled ? 1 : f.rows.kernel;  // in one part
  for (int64_t group = 0; group < f.groups; ++group) {
    for (int64_t chunk = 0; chunk < f.chunks(); ++chunk, to += f.weight_size()) {
      for (int64_t row = 0; row < f.rows.kernel; row += rows) {
        const int64_t part = f.weight_size() / f.rows.kernel * row;
        pack_chunk(f, weights, group, chunk, row, row + rows, to + part);
      }
    }
  }
}

int64_t ConvTransposeParams::bias_size() const {
  return rounded_up(run() * out_channels(), kGemmF32Unit);
}

void pack_bias(const ConvTransposeParams& f, std::span<const float> bias, float* to) {
  const int64_t channels = f.out_channels(), count = f.run() * channels;
  std::fill_n(to, f.bias_size(), 0.0f);
  for (int64_t i = 0; i < count && !bias.empty(); ++i)
    to[i] = bias[static_cast<size_t>(i % channels)];
}

}  // namespace sardonyx::cpu
