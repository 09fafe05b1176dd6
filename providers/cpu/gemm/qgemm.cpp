#include "providers/cpu/gemm/qgemm.h"
#include "ir/core/threading/parallel_for.h"

#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/igemm_u8s8.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/packed_weights.h"

namespace sardonyx::cpu {
namespace {

struct ByteSizes {
  int64_t rows, depth, columns;
  int64_t padded() const { return rounded_up(columns, kU8S8Unit); }
};

U8S8Output result_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return U8S8Output::kUInt8;
    case DType::kInt8:
      return U8S8Output::kInt8;
    case DType::kFloat:
      return U8S8Output::kFloat;
    default:
      return U8S8Output::kInt32;
  }
}

// The parameters of the product, as far as they are constant.
struct GemmU8S8Params {
  ByteSizes sizes;
  U8S8Output result;
  size_t a;
  bool a_is_signed;
  int32_t a_zero, weight_zero;
  std::optional<size_t> a_zero_input, a_scale_input, addend_input;
  std::vector<float> scales;  // of all columns, padded
  std::vector<int32_t> bias;  // of all columns, padded
  int32_t y_zero;
};

class GemmU8S8Kernel : public Kernel {
 public:
  GemmU8S8Kernel(GemmU8S8Params form, std::shared_ptr<const Buffer> weights, int threads)
      : f_(std::move(form)), weights_(std::move(weights)) {
    constexpr int64_t kMinProducts = 1 << 18, kNearBytes = 1 << 18;
    const ByteSizes& s = f_.sizes;
    const double products =
        static_cast<double>(s.rows) * static_cast<double>(s.depth) * static_cast<double>(s.columns);
    threads_ = static_cast<int>(std::clamp<double>(products / kMinProducts, 1, threads));
    // Where weights are more than rows, each thread reads a part of them.
    shares_columns_ = s.columns > s.rows;
    const int64_t units = shares_columns_ ? s.padded() / kU8S8Unit : s.rows;
    threads_ = static_cast<int>(std::min<int64_t>(threads_, units));
    rows_at_once_ = std::max<int64_t>(kNearBytes / s.depth / kRowUnit, 1) * kRowUnit;
    offsets_.resize(static_cast<size_t>(s.depth / kVnniGroup));
    for (size_t i = 0; i < offsets_.size(); ++i)
      offsets_[i] = static_cast<int32_t>(i) * static_cast<int32_t>(kVnniGroup);
  }

  // Scratch: initial sums of the columns, their scales and addends, A converted to uint8, and
  // initial sums of the rows.
  size_t scratch_bytes() const override {
    const int64_t sums = f_.weight_zero != 0 ? f_.sizes.rows * 4 : 0;
    return static_cast<size_t>(3 * row_bytes() + unsigned_bytes() + sums);
  }

  void run(const KernelArgs& args) const override {
    const ByteSizes& s = f_.sizes;
    auto* start = reinterpret_cast<int32_t*>(args.scratch);
    auto* scales = reinterpret_cast<float*>(args.scratch + row_bytes());
    auto* addends = reinterpret_cast<float*>(args.scratch + 2 * row_bytes());
    const int32_t a_zero = zero_of_a(args);
    set_columns(args, a_zero, start, scales, addends);
    const auto* a = static_cast<const uint8_t*>(args.inputs[f_.a]);
    auto* unsigned_a = reinterpret_cast<uint8_t*>(args.scratch) + 3 * row_bytes();
    ConvU8S8Args windows;
    windows.in = f_.a_is_signed ? unsigned_a : a;
    windows.offsets = offsets_;
    windows.weights = reinterpret_cast<const int8_t*>(weights_->data());
    windows.start = start;
    windows.result = f_.result;
    windows.scales = scales;
    windows.addend = f_.addend_input ? addends : nullptr;
    windows.zero = f_.y_zero;
    windows.out = static_cast<uint8_t*>(args.outputs[0]);
    windows.in_row = windows.in_column = s.depth;
    windows.out_row = windows.out_column = s.columns * result_bytes();
    windows.outputs = s.columns;
    if (f_.a_is_signed) {
      for (int64_t i = 0; i < s.rows * s.depth; ++i)
        unsigned_a[i] = a[i] ^ 0x80;
    }
    if (f_.weight_zero != 0) {
      auto* row_start = reinterpret_cast<int32_t*>(unsigned_a + unsigned_bytes());
      set_rows(windows.in, a_zero, row_start);
      windows.window_start = row_start;
    }
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      IndexRange rows{0, s.rows}, columns{0, s.columns};
      if (shares_columns_)
        columns = split_range(s.columns, kU8S8Unit, part, parts);
      else
        rows = split_range(s.rows, 1, part, parts);
      multiply(windows, rows, columns, sign);
    });
  }

 private:
  static constexpr int64_t kRowUnit = 14;  // rows of a micro-kernel's tile
  static constexpr int64_t kLine = 64;

  int64_t row_bytes() const { return f_.sizes.padded() * static_cast<int64_t>(sizeof(int32_t)); }
  int64_t result_bytes() const {
    return f_.result == U8S8Output::kFloat || f_.result == U8S8Output::kInt32 ? 4 : 1;
  }
  int64_t unsigned_bytes() const {
    return f_.a_is_signed ? rounded_up(f_.sizes.rows * f_.sizes.depth, kLine) : 0;
  }
  int32_t zero_of_a(const KernelArgs& args) const {
    if (!f_.a_zero_input) return f_.a_zero;
    const void* given = args.inputs[*f_.a_zero_input];
    return f_.a_is_signed ? *static_cast<const int8_t*>(given) + 128
                          : *static_cast<const uint8_t*>(given);
  }
  // A zero point of the weights is made up for by the sum of each row, modulo 2^32.
  void set_rows(const uint8_t* a, int32_t a_zero, int32_t* start) const {
    const ByteSizes& s = f_.sizes;
    parallel_for_each(s.rows, threads_, [&](int64_t row) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < s.depth; ++k)
        sum += a[row * s.depth + k];
      sum -= static_cast<uint32_t>(s.depth) * static_cast<uint32_t>(a_zero);
      start[row] = static_cast<int32_t>(0 - static_cast<uint32_t>(f_.weight_zero) * sum);
    });
  }
  // The zero point of A is made up for by the sums of columns, modulo 2^32.
  void set_columns(const KernelArgs& args, int32_t zero, int32_t* start, float* scales,
                   float* addends) const {
    const int64_t columns = f_.sizes.columns;
    const auto* sums =
        reinterpret_cast<const int32_t*>(weights_->data() + weights_->size()) - columns;
    const float scale =
        f_.a_scale_input ? *static_cast<const float*>(args.inputs[*f_.a_scale_input]) : 1.0f;
    for (int64_t i = 0; i < columns; ++i) {
      const auto at = static_cast<size_t>(i);
      start[i] = static_cast<int32_t>(static_cast<uint32_t>(f_.bias[at]) -
                                      static_cast<uint32_t>(zero) * static_cast<uint32_t>(sums[i]));
      scales[i] = scale * f_.scales[at];
    }
    std::fill(start + columns, start + f_.sizes.padded(), 0);
    std::fill(scales + columns, scales + f_.sizes.padded(), 0.0f);
    if (!f_.addend_input) return;
    std::copy_n(static_cast<const float*>(args.inputs[*f_.addend_input]), columns, addends);
    std::fill(addends + columns, addends + f_.sizes.padded(), 0.0f);
  }

  // Rows that stay in a near cache while all columns are computed.
  void multiply(ConvU8S8Args windows, IndexRange rows, IndexRange columns,
                const CancelFlag& sign) const {
    constexpr double kProductsPerPoll = 1 << 28;
    const double row_products =
        static_cast<double>(f_.sizes.depth) * static_cast<double>(rows_at_once_);
    const int64_t most =
        std::max<int64_t>(static_cast<int64_t>(kProductsPerPoll / row_products) / kU8S8Unit, 1) *
        kU8S8Unit;
    const uint8_t* in = windows.in;
    const int32_t* row_start = windows.window_start;
    uint8_t* out = windows.out;
    for (int64_t row = rows.begin; row < rows.end; row += rows_at_once_) {
      windows.columns = std::min(rows_at_once_, rows.end - row);
      windows.in = in + row * windows.in_row;
      windows.out = out + row * windows.out_row;
      if (row_start) windows.window_start = row_start + row;
      for (int64_t first = columns.begin; first < columns.end; first += most) {
        if (sign.ask()) return;
        run_igemm_u8s8(windows, 0, 1, first, std::min(columns.end, first + most));
      }
    }
  }

  const GemmU8S8Params f_;
  const std::shared_ptr<const Buffer> weights_;
  std::vector<int32_t> offsets_;
  int64_t rows_at_once_ = 1;
  int threads_ = 1;
  bool shares_columns_ = false;
};

// Panels, and the sums of all columns.
std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request, const GemmU8S8& product,
                                             const ByteSizes& sizes) {
  const int64_t panels = packed_igemm_u8s8_size(sizes.depth / kVnniGroup, sizes.columns);
  const auto bytes =
      static_cast<size_t>(panels) + static_cast<size_t>(sizes.columns) * sizeof(int32_t);
  const std::string name =
      text("quads of ", product.b_transposed ? "columns " : "rows ", product.weights.form());
  return packed_once(request, product.b, name, bytes, [&](std::byte* out) {
    const int8_t* from = product.weights.elements();
    auto* to = reinterpret_cast<int8_t*>(out);
    auto* sums = reinterpret_cast<int32_t*>(out + panels);
    const int64_t units = (sizes.columns + kU8S8Unit - 1) / kU8S8Unit;
    parallel_for_each(units, request.threads, [&](int64_t unit) {
      const int64_t first = unit * kU8S8Unit, last = std::min(sizes.columns, first + kU8S8Unit);
      if (product.b_transposed)
        pack_igemm_u8s8(from, sizes.depth, 1, first, last, to, sums);
      else
        pack_gemm_u8s8(from, sizes.columns, sizes.depth, first, last, to, sums);
    });
  });
}

const char* refusal(const KernelRequest& request, const GemmU8S8& product, const ByteSizes& sizes) {
  constexpr int64_t kFewColumns = 16, kMaxDepth = 1 << 20;
  if (const char* why = unsupported_by_vnni(request.outputs[0].dtype, product.scales)) return why;
  if (sizes.depth % kVnniGroup != 0) return "the depth is no multiple of 4";
  if (sizes.columns < kFewColumns) return "there are few columns";
  return sizes.depth > kMaxDepth ? "the depth is large" : nullptr;
}

}  // namespace

Prepared prepare_gemm_u8s8(const KernelRequest& request, const GemmU8S8& product) {
  const Shape &a = request.inputs[product.a].shape, &b = request.inputs[product.b].shape;
  if (a.empty() || b.size() != 2) return Prepared::refuse("B is no single matrix");
  const ByteSizes sizes{element_count(a) / a.back(), a.back(), b[product.b_transposed ? 0 : 1]};
  if (const char* why = refusal(request, product, sizes)) return Prepared::refuse(why);
  const bool is_signed = request.inputs[product.a].dtype == DType::kInt8;
  GemmU8S8Params form{sizes,
                      result_of(request.outputs[0].dtype),
                      product.a,
                      is_signed,
                      product.a_zero + (is_signed ? 128 : 0),
                      product.weights.zero(),
                      product.a_zero_input,
                      product.a_scale_input,
                      product.bias_input,
                      {},
                      {},
                      product.y_zero};
  const auto columns = static_cast<size_t>(sizes.columns);
  for (size_t i = 0; i < columns; ++i) {
    form.scales.push_back(product.scales[product.scales.size() > 1 ? i : 0]);
    form.bias.push_back(product.bias ? product.bias->values<int32_t>()[i] : 0);
  }
  auto weights = packed_weights(request, product, sizes);
  Prepared prepared = Prepared::accept(
      std::make_unique<GemmU8S8Kernel>(std::move(form), std::move(weights), request.threads),
      "gemm_u8s8");
  prepared.unread_inputs = 1u << product.b;
  return prepared;
}

}  // namespace sardonyx::cpu
