#include "providers/cpu/recurrent/gate_matrix.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/core/memory/evictable_buffer.h"
#include "providers/cpu/conv/igemm_u8s8.h"
#include "providers/cpu/gemm/gemm_s16.h"
#include "providers/cpu/packed_weights.h"
#include "providers/cpu/quantization/int8_weights.h"

namespace sardonyx::cpu {
namespace {

// Puts the elements of all gates' hidden units into the order of columns, with zeros past the end.
template <typename T>
void order_columns(const RecurrentSizes& sizes, const T* from, T* to) {
  for (size_t unit = 0; unit < sizes.padded(); unit += sizes.lanes) {
    const size_t used = std::min(sizes.lanes, sizes.hidden - std::min(sizes.hidden, unit));
    for (size_t gate = 0; gate < sizes.gates; ++gate, to += sizes.lanes) {
      std::copy_n(from + gate * sizes.hidden + unit, used, to);
      std::fill(to + used, to + sizes.lanes, T{0});
    }
  }
}

// The parameter of each column, or one for all, of a tensor that has one for each direction or one
// for each direction's column.
template <typename T>
std::vector<T> column_parameters(const RecurrentSizes& sizes, std::span<const T> all,
                                 size_t direction) {
  if (all.size() == sizes.directions) return {all[direction]};
  std::vector<T> ordered(sizes.row());
  order_columns(sizes, all.data() + direction * sizes.gates * sizes.hidden, ordered.data());
  return ordered;
}

// The weights of one direction.
struct GateWeights {
  const KernelRequest& request;
  const RecurrentSizes& sizes;
  GateMatrixInputs inputs;
  size_t direction, depth;

  const Tensor& bytes() const { return *request.inputs[inputs.bytes].constant; }
  const Tensor& zero_point() const { return *request.inputs[inputs.zero_point].constant; }
  size_t columns() const { return sizes.gates * sizes.hidden; }
  std::vector<float> scales() const {
    const Tensor& all = *request.inputs[inputs.scale].constant;
    return column_parameters<float>(sizes, all.values<float>(), direction);
  }
  // The prepack key.
  std::string form(const char* name) const {
    std::string form = text("cpu:gates of ", name, ":", sizes.lanes, ":", direction);
    for (const int64_t zero : zero_point().to_int64s())
      form += text(":", zero);
    return form;
  }
};

// int16, in panels of kPanelColumns columns (gemm_s16.h).
class S16GateMatrix : public GateMatrix {
 public:
  explicit S16GateMatrix(const GateWeights& weights)
      : columns_(weights.sizes.row()), depth_(weights.depth), scales_(weights.scales()) {
    panels_ = packed_once(weights.request, weights.inputs.bytes, weights.form("int16"),
                          pairs() * 2 * columns_ * sizeof(int16_t),
                          [&](std::byte* to) { pack(weights, reinterpret_cast<int16_t*>(to)); });
  }

  size_t row_bytes() const override { return pairs() * 2 * sizeof(int16_t); }

  void write_row(const uint8_t* bytes, int32_t zero, std::byte* row) const override {
    auto* codes = reinterpret_cast<int16_t*>(row);
    codes[pairs() * 2 - 1] = 0;
    widen_bytes(bytes, false, zero, depth_, codes);
  }

  void set_epilogue(ByteScale of_rows, const ColumnEpilogue& epilogue) const override {
    for (size_t i = 0; i < scales_.size(); ++i)
      epilogue.scales[i] = scales_[i] * of_rows.scale;
  }

  void multiply(const Product& product) const override {
    int32_t sums[kRowsAtOnce * kPanelColumns];
    RowFinish finish{.type = SumType::kFloat};
    finish.scale_steps = scales_.size() > 1;
    finish.scale = product.epilogue.scales + (finish.scale_steps ? product.first_column : 0);
    const auto* panel =
        reinterpret_cast<const int16_t*>(panels_->data()) + product.first_column * pairs() * 2;
    const size_t step = pairs() * 2;
    const auto* rows = reinterpret_cast<const int16_t*>(product.rows);
    for (size_t done = 0; done < product.count; done += kRowsAtOnce) {
      const size_t count = std::min(kRowsAtOnce, product.count - done);
      multiply_panel(rows + done * step, step, count, panel, pairs(), sums);
      for (size_t r = 0; r < count; ++r) {
        finish.addend = product.addend.of(done + r);
        finish_row(finish, sums + r * kPanelColumns, kPanelColumns,
                   product.out + (done + r) * columns_);
      }
    }
  }

 private:
  size_t pairs() const { return (depth_ + 1) / 2; }

  void pack(const GateWeights& weights, int16_t* to) const {
    const Tensor& bytes = weights.bytes();
    const bool is_signed = bytes.dtype() == DType::kInt8;
    const auto* from = reinterpret_cast<const uint8_t*>(peek(bytes)) +
                       weights.direction * depth_ * weights.columns();
    const std::vector<int64_t> all_zeros = weights.zero_point().to_int64s();
    const auto zeros = column_parameters<int64_t>(weights.sizes, all_zeros, weights.direction);
    // Units past the end have weights of 0, whose zero points are 0 as well.
    const std::vector<int64_t> ones(weights.columns(), 1);
    std::vector<int64_t> is_unit(columns_);
    order_columns(weights.sizes, ones.data(), is_unit.data());
    std::vector<int16_t> column_zeros(columns_);
    for (size_t i = 0; i < columns_; ++i)
      column_zeros[i] = static_cast<int16_t>(is_unit[i] * zeros[zeros.size() > 1 ? i : 0]);
    std::vector<uint8_t> rows(2 * columns_, 0);
    for (size_t pair = 0; pair < pairs(); ++pair) {
      const bool is_whole = 2 * pair + 1 < depth_;
      const uint8_t* first = from + 2 * pair * weights.columns();
      order_columns(weights.sizes, first, rows.data());
      if (is_whole) order_columns(weights.sizes, first + weights.columns(), &rows[columns_]);
      for (size_t at = 0; at < columns_; at += kPanelColumns) {
        pack_pair(&rows[at], is_whole ? &rows[columns_ + at] : nullptr, is_signed,
                  &column_zeros[at], kPanelColumns, to + (at * pairs() + pair * kPanelColumns) * 2);
      }
    }
  }

  const size_t columns_, depth_;
  const std::vector<float> scales_;  // one, or one for each column
  std::shared_ptr<const Buffer> panels_;
};

// int8, in panels of kU8S8Unit columns (igemm_u8s8.h), and the sums of all columns behind them.
class U8S8GateMatrix : public GateMatrix {
 public:
  U8S8GateMatrix(const GateWeights& weights, const CenteredWeights& centered)
      : columns_(weights.sizes.row()), depth_(weights.depth), scales_(weights.scales()) {
    packed_ = packed_once(weights.request, weights.inputs.bytes, weights.form("int8"),
                          padded() * columns_ + columns_ * sizeof(int32_t), [&](std::byte* to) {
                            pack(weights, centered, reinterpret_cast<int8_t*>(to));
                          });
    for (size_t quad = 0; quad < padded(); quad += kVnniGroup)
      offsets_.push_back(static_cast<int32_t>(quad));
  }

  size_t row_bytes() const override { return padded(); }

  // Weights past the depth are 0, whatever a row has there.
  void write_row(const uint8_t* bytes, int32_t, std::byte* row) const override {
    std::memcpy(row, bytes, depth_);
    std::memset(row + depth_, 0, padded() - depth_);
  }

  void set_epilogue(ByteScale of_rows, const ColumnEpilogue& epilogue) const override {
    const int32_t* sums = column_sums();
    for (size_t i = 0; i < columns_; ++i)
      epilogue.initial_sums[i] = -of_rows.zero * sums[i];
    for (size_t i = 0; i < columns_; ++i)
      epilogue.scales[i] = scales_[scales_.size() > 1 ? i : 0] * of_rows.scale;
  }

  void multiply(const Product& product) const override {
    const auto first = static_cast<int64_t>(product.first_column);
    // One addend serves all rows, or there is one row; else they are added behind.
    const bool is_shared = product.count == 1 || product.addend.stride == 0;
    ConvU8S8Args rows{};
    rows.in = reinterpret_cast<const uint8_t*>(product.rows);
    rows.offsets = offsets_;
    rows.weights = reinterpret_cast<const int8_t*>(packed_->data());
    rows.start = product.epilogue.initial_sums;
    rows.result = U8S8Output::kFloat;
    rows.scales = product.epilogue.scales;
    rows.addend = is_shared ? product.addend.of(0) - first : nullptr;
    rows.out = reinterpret_cast<uint8_t*>(product.out - first);
    rows.in_row = rows.in_column = static_cast<int64_t>(padded());
    rows.out_row = rows.out_column = static_cast<int64_t>(columns_ * sizeof(float));
    rows.columns = static_cast<int64_t>(product.count);
    rows.outputs = static_cast<int64_t>(columns_);
    run_igemm_u8s8(rows, 0, 1, first, first + static_cast<int64_t>(kPanelColumns));
    if (is_shared) return;
    for (size_t r = 0; r < product.count; ++r) {
      const float* addend = product.addend.of(r);
      float* out = product.out + r * columns_;
      for (size_t i = 0; i < kPanelColumns; ++i)
        out[i] += addend[i];
    }
  }

 private:
  size_t padded() const { return (depth_ + kVnniGroup - 1) / kVnniGroup * kVnniGroup; }
  const int32_t* column_sums() const {
    return reinterpret_cast<const int32_t*>(packed_->data() + padded() * columns_);
  }

  void pack(const GateWeights& weights, const CenteredWeights& centered, int8_t* to) const {
    const int8_t* from = centered.elements() + weights.direction * depth_ * weights.columns();
    std::vector<int8_t> matrix(padded() * columns_, 0);
    for (size_t row = 0; row < depth_; ++row)
      order_columns(weights.sizes, from + row * weights.columns(), &matrix[row * columns_]);
    const auto columns = static_cast<int64_t>(columns_);
    pack_gemm_u8s8(matrix.data(), columns, static_cast<int64_t>(padded()), 0, columns, to,
                   reinterpret_cast<int32_t*>(to + padded() * columns_));
  }

  const size_t columns_, depth_;
  const std::vector<float> scales_;  // one, or one for each column
  std::shared_ptr<const Buffer> packed_;
  std::vector<int32_t> offsets_;
};

// nullopt where the int8 form is not to be had.
std::optional<CenteredWeights> centered_weights(const GateWeights& weights) {
  if (!has_igemm_u8s8()) return std::nullopt;
  const std::vector<int64_t> zeros = weights.zero_point().to_int64s();
  const bool has_one = zeros.size() == weights.sizes.directions;
  if (!has_one && std::ranges::any_of(zeros, [](int64_t zero) { return zero != 0; }))
    return std::nullopt;
  return CenteredWeights::of(weights.bytes(), &weights.zero_point(),
                             static_cast<int64_t>(weights.depth * weights.columns()));
}

}  // namespace

std::unique_ptr<GateMatrix> make_gate_matrix(const KernelRequest& request,
                                             const RecurrentSizes& sizes, size_t direction,
                                             const GateMatrixInputs& inputs, size_t depth) {
  const GateWeights weights{request, sizes, inputs, direction, depth};
  if (const auto centered = centered_weights(weights))
    return std::make_unique<U8S8GateMatrix>(weights, *centered);
  return std::make_unique<S16GateMatrix>(weights);
}

}  // namespace sardonyx::cpu
