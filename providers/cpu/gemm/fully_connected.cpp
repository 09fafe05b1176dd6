// MatMul, Gemm and FusedMatMul of rows with a small matrix of constant weights, or of few rows with
// a large one, in float32 by our own kernel. It is as fast as oneDNN's there, and one piece of code
// serves any number of rows: oneDNN generates its code for each number anew, which takes longer
// than many a product.
#include <algorithm>
#include <limits>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/fused_ops.h"
#include "ir/ops/gemm/matmul.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// Weights for more than kMaxSplitRows up to this size, and this deep: they are read again for
// every few rows, and larger ones take long enough to multiply with for generated code to pay.
constexpr int64_t kMaxWeights = 1 << 20;
constexpr int64_t kMaxDepth = 1000;
// And for few rows, by which they are read once; larger ones need not be in memory twice while they
// are packed.
constexpr int64_t kMaxReadOnce = 1 << 26;
// Work below this many multiplications is not worth a second thread.
constexpr int64_t kProductsPerTask = 1 << 18;
// Threads take rows in units of this many: one tile of the micro-kernel.
constexpr int64_t kRowUnit = 14;
// Results to which the activation is applied at once, while they are in a near cache.
constexpr int64_t kFinishedElements = 1 << 13;
constexpr int64_t kProductsPerPoll = int64_t{1} << 28;

int64_t units_of(int64_t count, int64_t unit) {
  return (count + unit - 1) / unit;
}

// out = finish(a weights + bias + residual).
struct FullyConnectedParams {
  int64_t rows, depth, columns;
  int64_t weight_column_step, weight_row_step;  // in the tensor of weights
  Epilogue finish;
  std::optional<size_t> bias, residual;  // inputs: constant and one row; as large as the output
};

class FullyConnectedKernel : public Kernel {
 public:
  FullyConnectedKernel(FullyConnectedParams form, std::shared_ptr<const Buffer> weights,
                       std::shared_ptr<const Buffer> bias, int threads)
      : f_(std::move(form)), weights_(std::move(weights)), bias_(std::move(bias)) {
    const int64_t most = f_.rows * f_.columns * f_.depth / kProductsPerTask;
    threads_ = std::clamp<int64_t>(most, 1, threads);
    // Chooses the split whose largest share is smaller; on a tie the split by columns, in which
    // each thread loads only a part of the weights.
    const auto share = [&](int64_t count, int64_t unit) {
      return static_cast<double>(units_of(units_of(count, unit), threads_)) *
             static_cast<double>(unit) / static_cast<double>(count);
    };
    shares_columns_ = share(f_.columns, kGemmF32Unit) <= share(f_.rows, kRowUnit);
  }

  void run(const KernelArgs& args) const override {
    parallel_run(static_cast<int>(threads_),
                 [&](int64_t part, int64_t parts, const CancelFlag& sign) {
                   run_share(args, part, parts, sign);
                 });
  }
  bool may_alias(size_t output, size_t input) const override {
    return output == 0 && f_.residual == input;
  }

 private:
  struct BlockRange {
    int64_t begin, end;
  };
  static BlockRange share_of(int64_t count, int64_t unit, int64_t part, int64_t parts) {
    const int64_t units = units_of(count, unit);
    return {std::min(count, units * part / parts * unit),
            std::min(count, units * (part + 1) / parts * unit)};
  }

  void run_share(const KernelArgs& args, int64_t part, int64_t parts,
                 const CancelFlag& sign) const {
    BlockRange rows{0, f_.rows}, columns{0, f_.columns};
    if (shares_columns_)
      columns = share_of(f_.columns, kGemmF32Unit, part, parts);
    else
      rows = share_of(f_.rows, kRowUnit, part, parts);
    if (columns.begin == columns.end) return;
    const int64_t at_ease =
        std::max<int64_t>(kProductsPerPoll / (f_.depth * f_.columns), kMaxSplitRows);
    const int64_t tile = f_.finish.function
                             ? std::min(at_ease, pixels_per_tile(f_.depth, rows.end - rows.begin))
                             : at_ease;
    int64_t since_look = 0;
    for (int64_t row = rows.begin; row < rows.end; row += tile) {
      const BlockRange some{row, std::min(rows.end, row + tile)};
      if (since_look >= at_ease && sign.ask()) return;
      if (since_look >= at_ease) since_look = 0;
      since_look += tile;
      f_.finish.function ? multiply_and_apply(args, some, columns) : multiply(args, some, columns);
    }
  }

  void multiply(const KernelArgs& args, BlockRange rows, BlockRange columns) const {
    GemmF32Args product;
    product.in = static_cast<const float*>(args.inputs[0]);
    product.weights = reinterpret_cast<const float*>(weights_->data());
    product.bias = reinterpret_cast<const float*>(bias_->data());
    product.residual = f_.residual ? static_cast<const float*>(args.inputs[*f_.residual]) : nullptr;
    product.out = static_cast<float*>(args.outputs[0]);
    product.in_step = f_.depth;
    product.out_step = f_.columns;
    product.inputs = f_.depth;
    product.outputs = f_.columns;
    product.low = f_.finish.low;
    product.high = f_.finish.high;
    if (f_.rows <= kMaxSplitRows)
      run_gemm_f32_few_rows(product, f_.rows, columns.begin, columns.end);
    else
      run_gemm_f32(product, rows.begin, rows.end, columns.begin, columns.end);
  }

  // The function goes over results while they are near.
  void multiply_and_apply(const KernelArgs& args, BlockRange rows, BlockRange columns) const {
    const auto& [op, params] = *f_.finish.function;
    const int64_t count = rows.end - rows.begin;
    const int64_t wide =
        std::max<int64_t>(kFinishedElements / count / kGemmF32Unit, 1) * kGemmF32Unit;
    for (int64_t first = columns.begin; first < columns.end; first += wide) {
      const BlockRange some{first, std::min(columns.end, first + wide)};
      multiply(args, rows, some);
      const bool is_whole = some.end - some.begin == f_.columns;
      const auto length = static_cast<size_t>((some.end - some.begin) * (is_whole ? count : 1));
      auto* values = static_cast<float*>(args.outputs[0]) + rows.begin * f_.columns + first;
      for (int64_t row = 0; row < (is_whole ? 1 : count); ++row, values += f_.columns)
        unary_row(op, params, values, values, length);
    }
  }

  FullyConnectedParams f_;
  std::shared_ptr<const Buffer> weights_, bias_;
  int64_t threads_ = 1;
  bool shares_columns_ = false;
};

std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request,
                                             const FullyConnectedParams& form) {
  const char* name = form.weight_column_step == 1 ? "panels" : "panels of columns";
  const int64_t size = packed_gemm_f32_size(form.depth, form.columns);
  return packed_floats_once(request, 1, name, size, [&](float* to) {
    pack_gemm_f32(peek_floats(*request.inputs[1].constant), form.weight_column_step,
                  form.weight_row_step, form.depth, form.columns, to, request.threads);
  });
}

// All products of up to this many columns share one array of zeros.
constexpr int64_t kZeros = 4096;

std::shared_ptr<const Buffer> zeros() {
  alignas(64) static const float kValues[kZeros] = {};
  static const auto kBuffer =
      Buffer::borrow(const_cast<float*>(kValues), sizeof kValues, nullptr);  // nobody writes there
  return kBuffer;
}

std::shared_ptr<const Buffer> packed_bias(const KernelRequest& request,
                                          const FullyConnectedParams& form) {
  const int64_t padded = units_of(form.columns, kGemmF32Unit) * kGemmF32Unit;
  if (!form.bias && padded <= kZeros) return zeros();
  const auto fill = [&](float* to) {
    std::fill_n(to, padded, 0.0f);
    if (form.bias) std::ranges::copy(request.inputs[*form.bias].constant->values<float>(), to);
  };
  return form.bias ? packed_floats_once(request, *form.bias, "panels", padded, fill)
                   : packed_floats_once(request, 1, "no bias", padded, fill);
}

// Rows of input 0 times input 1, whose last two dims are exchanged where `b_transposed`.
std::optional<FullyConnectedParams> form_of(const KernelRequest& request, bool b_transposed) {
  const Shape &a = request.inputs[0].shape, &b = request.inputs[1].shape;
  if (a.empty() || b.size() < 2) return std::nullopt;
  FullyConnectedParams form{};
  form.depth = a.back();
  form.columns = b[b.size() - (b_transposed ? 2 : 1)];
  form.rows = element_count(a) / form.depth;
  form.weight_column_step = b_transposed ? form.depth : 1;
  form.weight_row_step = b_transposed ? 1 : form.columns;
  const bool is_one_matrix = element_count(b) == form.depth * form.columns;
  if (!is_one_matrix) return std::nullopt;
  if (form.columns == 1) return std::nullopt;  // dot products
  const bool is_small = form.depth <= kMaxDepth && element_count(b) <= kMaxWeights;
  // A product of a single row is bound by memory bandwidth, so packing the weights gains nothing.
  const bool is_best_row_major = b_transposed && form.rows == 1 && form.depth > kMaxDepth;
  const bool is_read_once =
      form.rows <= kMaxSplitRows && !is_best_row_major && element_count(b) <= kMaxReadOnce;
  if (!is_small && !is_read_once) return std::nullopt;
  return form;
}

const char* why_unsupported_operands(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat) return "only float is computed here";
  return request.inputs[1].constant ? nullptr : "the weights are not known ahead";
}

// Sets bias and residual; false if an addend is broadcast in a way the kernel does not support.
bool take_addend(const KernelRequest& request, size_t input, FullyConnectedParams& form) {
  const KernelTensor& addend = request.inputs[input];
  if (addend.constant && ops::is_row(addend.shape, form.columns) && !form.bias)
    form.bias = input;
  else if (addend.shape == request.outputs[0].shape && !form.residual &&
           element_count(addend.shape) == form.rows * form.columns)
    form.residual = input;
  else
    return false;
  return true;
}

Prepared finish(const KernelRequest& request, const FullyConnectedParams& form) {
  Prepared prepared = Prepared::accept(
      std::make_unique<FullyConnectedKernel>(form, packed_weights(request, form),
                                             packed_bias(request, form), request.threads),
      "fully_connected");
  prepared.unread_inputs = 1u << 1;
  if (form.bias) prepared.unread_inputs |= 1u << *form.bias;
  return prepared;
}

constexpr const char* kOther = "the matrix of weights is large, one of many or a vector";
constexpr const char* kRepeated = "an addend is no constant row, nor as large as the output";

Prepared prepare_matmul(const KernelRequest& request) {
  if (const char* why = why_unsupported_operands(request)) return Prepared::refuse(why);
  const auto form = form_of(request, false);
  return form ? finish(request, *form) : Prepared::refuse(kOther);
}

Prepared prepare_gemm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GemmAttrs>();
  if (const char* why = why_unsupported_operands(request)) return Prepared::refuse(why);
  const bool is_added = request.has(2) && attrs.beta != 0;
  if (attrs.transA || attrs.alpha != 1 || (is_added && attrs.beta != 1))
    return Prepared::refuse("the product is scaled, or the first matrix transposed");
  auto form = form_of(request, attrs.transB);
  if (!form) return Prepared::refuse(kOther);
  if (is_added && !take_addend(request, 2, *form)) return Prepared::refuse(kRepeated);
  return finish(request, *form);
}

Prepared prepare_fused_matmul(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::FusedMatMulAttrs>();
  if (const char* why = why_unsupported_operands(request)) return Prepared::refuse(why);
  if (attrs.transA || attrs.alpha != 1)
    return Prepared::refuse("the product is scaled, or the first matrix transposed");
  auto form = form_of(request, attrs.transB);
  if (!form) return Prepared::refuse(kOther);
  const auto finished = make_epilogue({attrs.activation, attrs.activation_params});
  if (!finished) return Prepared::refuse("unknown activation");
  form->finish = *finished;
  for (size_t input = 2; input < request.inputs.size(); ++input) {
    if (request.has(input) && !take_addend(request, input, *form))
      return Prepared::refuse(kRepeated);
  }
  return finish(request, *form);
}

constexpr KernelEntry kFullyConnectedKernels[] = {
    {"MatMul", "fully_connected", size_checked<prepare_matmul>},
    {"Gemm", "fully_connected", size_checked<prepare_gemm>},
    {"sardonyx::FusedMatMul", "fully_connected", size_checked<prepare_fused_matmul>},
};

}  // namespace

std::span<const KernelEntry> fully_connected_kernels() {
  return kFullyConnectedKernels;
}

}  // namespace sardonyx::cpu
