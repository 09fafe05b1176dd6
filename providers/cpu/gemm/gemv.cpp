#include "providers/cpu/gemm/gemv.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/fused_ops.h"
#include "ir/ops/gemm/matmul.h"
#include "providers/cpu/elementwise/elementwise_generic_kernel.h"
#include "providers/cpu/elementwise/fused_activation.h"
#include "providers/cpu/gemm/gemv_f32.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kProductsPerThread = 1 << 16;
// Threads take columns in units of a cache line of results.
constexpr int64_t kUnit = 16;

// The product that MatMul, Gemm or FusedMatMul computes.
struct Asked {
  bool a_transposed = false, b_transposed = false;
  float alpha = 1, beta = 1;
  size_t addends = 2;  // inputs from here on are added, the first of them times beta
  ops::FusedActivation activation;
};

Asked asked_by(const KernelRequest& request) {
  if (request.op.name == "Gemm") {
    const auto& attrs = request.attrs<ops::GemmAttrs>();
    return {attrs.transA, attrs.transB, attrs.alpha, attrs.beta, 2, {}};
  }
  if (request.op.name == "FusedMatMul") {
    const auto& attrs = request.attrs<ops::FusedMatMulAttrs>();
    return {
        attrs.transA, attrs.transB, attrs.alpha, 1, 2, {attrs.activation, attrs.activation_params}};
  }
  return {};
}

// An addend of the result: element `row * row_step + column * column_step` of an input.
struct GemvAddend {
  size_t input;
  int64_t row_step, column_step;
  float scale;
};

// nullopt where it is repeated in another way than these. `columns` is the product's, which `out`
// has no dim for where the second operand is a vector.
std::optional<GemvAddend> addend_of(size_t input, const Shape& shape, const Shape& out,
                                    int64_t columns, float scale) {
  const int64_t count = element_count(shape);
  if (count == 1) return GemvAddend{input, 0, 0, scale};
  if (count == element_count(out)) return GemvAddend{input, columns, columns == 1 ? 0 : 1, scale};
  if (count == shape.back() && count == columns) return GemvAddend{input, 0, 1, scale};
  const bool is_matrix = out.size() == 2 && out[1] == columns;
  if (is_matrix && shape == Shape{out[0], 1}) return GemvAddend{input, 1, 0, scale};
  return std::nullopt;
}

// Matrices of one operand for each batch, counted in matrices.
std::vector<int64_t> matrix_order(const Shape& batch, const Strides& strides) {
  std::vector<int64_t> order;
  const Strides all[] = {strides};
  const RowWalk walk(batch, all);
  walk.for_each([&](const int64_t* at, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      order.push_back(at[0] + i * walk.step(0));
  });
  return order;
}

class GemvKernel : public Kernel {
 public:
  struct GemvParams {
    int64_t rows, depth, columns;
    std::vector<int64_t> a_order, b_order;  // matrices, by batch
    DType dtype = DType::kFloat;            // or bfloat16
    bool b_transposed = false;
    size_t a = 0, b = 1;  // inputs
    float alpha = 1;
    std::vector<GemvAddend> addends;
    std::optional<RowActivation> activation;

    int64_t a_count() const { return (*std::ranges::max_element(a_order) + 1) * rows * depth; }
    int64_t out_count() const { return static_cast<int64_t>(a_order.size()) * rows * columns; }
  };

  GemvKernel(GemvParams form, int threads) : f_(std::move(form)) {
    const auto batches = static_cast<int64_t>(f_.a_order.size());
    units_ = batches * ((f_.columns + kUnit - 1) / kUnit);
    const double products = static_cast<double>(f_.depth) * static_cast<double>(f_.columns) *
                            static_cast<double>(batches);
    const auto most = std::min(products / kProductsPerThread, static_cast<double>(units_));
    threads_ = most < 2 ? 1 : static_cast<int>(std::min<double>(threads, most));
  }

  void run(const KernelArgs& args) const override {
    if (is_narrow()) {
      widen_(args.inputs[f_.a], rows_of(args), static_cast<size_t>(f_.a_count()));
    }
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      run_share(args, units_ * part / parts, units_ * (part + 1) / parts, sign);
    });
  }
  size_t scratch_bytes() const override {
    return is_narrow() ? static_cast<size_t>(f_.a_count() + f_.out_count()) * sizeof(float) : 0;
  }

 private:
  // Weights that are read between two checks of the deadline.
  static constexpr int64_t kMaxWeights = 1 << 24;

  // Units of columns, over all batches.
  void run_share(const KernelArgs& args, int64_t begin, int64_t end, const CancelFlag& sign) const {
    const int64_t per_batch = (f_.columns + kUnit - 1) / kUnit;
    const int64_t most = std::max<int64_t>(kMaxWeights / (f_.depth * kUnit), 1);
    int64_t weights = 0;  // since the last look
    while (begin < end) {
      if (weights >= kMaxWeights && sign.ask()) return;
      if (weights >= kMaxWeights) weights = 0;
      const int64_t batch = begin / per_batch, first = begin - batch * per_batch;
      const int64_t count = std::min({per_batch - first, end - begin, most});
      weights += count * kUnit * f_.depth;
      multiply(args, batch, first * kUnit, std::min(f_.columns, (first + count) * kUnit));
      begin += count;
    }
  }

  bool is_narrow() const { return f_.dtype == DType::kBFloat16; }
  // The first operand as float, and where results are summed up: of bfloat16 in scratch memory,
  // one behind the other.
  float* rows_of(const KernelArgs& args) const {
    if (is_narrow()) return reinterpret_cast<float*>(args.scratch);
    return static_cast<float*>(const_cast<void*>(args.inputs[f_.a]));
  }
  float* sums_of(const KernelArgs& args) const {
    if (is_narrow()) return reinterpret_cast<float*>(args.scratch) + f_.a_count();
    return static_cast<float*>(args.outputs[0]);
  }

  void multiply(const KernelArgs& args, int64_t batch, int64_t first, int64_t last) const {
    float* out = sums_of(args) + batch * f_.rows * f_.columns + first;
    is_narrow() ? multiply_as<BFloat16>(args, batch, first, last, out)
                : multiply_as<float>(args, batch, first, last, out);
    const auto count = static_cast<size_t>(last - first);
    for (int64_t row = 0; row < f_.rows; ++row, out += f_.columns) {
      finish(args, batch * f_.rows + row, first, out, count);
      if (is_narrow()) narrow_(out, narrow_result(args, batch * f_.rows + row, first), count);
    }
  }

  BFloat16* narrow_result(const KernelArgs& args, int64_t row, int64_t column) const {
    return static_cast<BFloat16*>(args.outputs[0]) + row * f_.columns + column;
  }

  template <typename Weight>
  void multiply_as(const KernelArgs& args, int64_t batch, int64_t first, int64_t last,
                   float* out) const {
    const auto index = static_cast<size_t>(batch);
    const int64_t b_step = f_.b_transposed ? f_.depth : f_.columns;
    const auto* b = static_cast<const Weight*>(args.inputs[f_.b]) +
                    f_.b_order[index] * f_.depth * f_.columns +
                    first * (f_.b_transposed ? b_step : 1);
    const GemvArgs<Weight> product{rows_of(args) + f_.a_order[index] * f_.rows * f_.depth,
                                   static_cast<size_t>(f_.depth),
                                   b,
                                   static_cast<size_t>(b_step),
                                   out,
                                   static_cast<size_t>(f_.columns),
                                   static_cast<size_t>(f_.rows),
                                   static_cast<size_t>(f_.depth),
                                   static_cast<size_t>(last - first),
                                   static_cast<size_t>(f_.columns)};
    f_.b_transposed ? gemv_transposed(product) : gemv(product);
  }

  void finish(const KernelArgs& args, int64_t row, int64_t column, float* out, size_t count) const {
    if (!is_narrow()) return add_and_activate(args, row, column, out, count);
    for (size_t begin = 0; begin < count; begin += kWidened) {
      add_and_activate(args, row, column + static_cast<int64_t>(begin), out + begin,
                       std::min(kWidened, count - begin));
    }
  }

  // The addend of `count` results from `offset` on; bfloat16 is converted into `widened`.
  const float* addends(const KernelArgs& args, const GemvAddend& addend, int64_t offset,
                       size_t count, float* widened) const {
    const void* given = args.inputs[addend.input];
    if (!is_narrow()) return static_cast<const float*>(given) + offset;
    widen_(static_cast<const BFloat16*>(given) + offset, widened, count);
    return widened;
  }

  void add_and_activate(const KernelArgs& args, int64_t row, int64_t column, float* out,
                        size_t count) const {
    float alpha = f_.alpha;
    std::array<float, kWidened> widened;
    for (const GemvAddend& addend : f_.addends) {
      const bool steps = addend.column_step != 0;
      const float* from = addends(args, addend, row * addend.row_step + column * addend.column_step,
                                  steps ? count : 1, widened.data());
      if (alpha == 1 && addend.scale == 1)
        binary_row(Binary::kAdd, out, true, from, steps, out, count);
      else
        scale_and_add(out, count, alpha, from, steps, addend.scale);
      alpha = 1;
    }
    if (alpha != 1) binary_row(Binary::kMul, out, true, &alpha, false, out, count);
    if (f_.activation) unary_row(f_.activation->op, f_.activation->params, out, out, count);
  }

  static constexpr size_t kWidened = 512;  // addends at once

  GemvParams f_;
  NumberRow widen_ = number_cast_row_of(DType::kBFloat16, DType::kFloat);
  NumberRow narrow_ = number_cast_row_of(DType::kFloat, DType::kBFloat16);
  int64_t units_ = 0;
  int threads_ = 1;
};

Shape with_matrix_dims(Shape shape, bool is_first) {
  if (shape.size() == 1) shape.insert(is_first ? shape.begin() : shape.end(), 1);
  return shape;
}

// Matrices of A against one matrix are one tall matrix; a product of one column is one of a single
// row with the operands exchanged.
void simplify(GemvKernel::GemvParams& form) {
  const auto batches = static_cast<int64_t>(form.a_order.size());
  const auto is_row_major = [](const std::vector<int64_t>& order) {
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  };
  const bool one_b = std::ranges::all_of(form.b_order, [](int64_t matrix) { return matrix == 0; });
  if (one_b && is_row_major(form.a_order)) {
    form.rows *= batches;
    form.a_order = form.b_order = {0};
  }
  if (form.columns == 1) form.b_transposed = true;
  if (form.columns == 1 && form.rows > kMaxGemvRows) {
    std::swap(form.a, form.b);
    std::swap(form.a_order, form.b_order);
    std::swap(form.rows, form.columns);
    for (GemvAddend& addend : form.addends)
      addend = {addend.input, form.columns * addend.row_step, addend.row_step, addend.scale};
  }
}

struct Found {
  std::optional<GemvKernel::GemvParams> form;
  const char* refusal = nullptr;
};

Found form_of(const KernelRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  if (dtype != DType::kFloat && dtype != DType::kBFloat16)
    return {{}, "only float and bfloat16 are computed here"};
  const Asked asked = asked_by(request);
  Shape a = request.inputs[0].shape, b = request.inputs[1].shape;
  const Shape& out = request.outputs[0].shape;
  if (element_count(a) == 0 || element_count(b) == 0) return {{}, "there are no elements"};
  if ((asked.a_transposed && a.size() < 2) || (asked.b_transposed && b.size() < 2))
    return {{}, "a vector is transposed"};
  // The most frequent case, decided without a plan: many rows times one matrix.
  if (!asked.a_transposed && b.size() == 2 && b[asked.b_transposed ? 0 : 1] != 1 &&
      element_count(a) / a.back() > kMaxGemvRows)
    return {{}, "there are many rows"};
  a = with_matrix_dims(a, true);
  b = with_matrix_dims(b, false);
  if (asked.a_transposed) {
    // A matrix of one column has the memory layout of a row.
    if (a.back() != 1) return {{}, "the first matrix is transposed"};
    std::swap(a[a.size() - 2], a[a.size() - 1]);
  }
  if (asked.b_transposed) std::swap(b[b.size() - 2], b[b.size() - 1]);
  const ops::MatMulGeometry g = ops::matmul_geometry(a, b);
  if (g.m > kMaxGemvRows && g.n != 1) return {{}, "there are many rows"};
  if (element_count(out) != g.batches() * g.m * g.n) return {{}, "an addend repeats the product"};
  if (const char* why = why_unsupported_tables({g.batches()})) return {{}, why};
  GemvKernel::GemvParams form{g.m, g.k, g.n, matrix_order(g.batch, g.a_strides),
                              matrix_order(g.batch, g.b_strides)};
  form.dtype = dtype;
  form.b_transposed = asked.b_transposed;
  form.alpha = asked.alpha;
  for (size_t input = asked.addends; input < request.inputs.size(); ++input) {
    const float scale = input == asked.addends ? asked.beta : 1;
    if (!request.has(input) || scale == 0) continue;
    const auto addend = addend_of(input, request.inputs[input].shape, out, g.n, scale);
    if (!addend) return {{}, "an addend is repeated in another way"};
    form.addends.push_back(*addend);
  }
  simplify(form);
  if (form.rows > kMaxGemvRows) return {{}, "there are many rows"};
  const bool is_packable = request.inputs[1].constant && element_count(b) < kMinUnpackedWeights;
  if (form.rows > kFewRows && is_packable) return {{}, "small weights are better packed"};
  if (!asked.activation.name.empty()) {
    form.activation = row_activation(asked.activation);
    if (!form.activation) return {{}, "unknown activation"};
  }
  return {std::move(form), nullptr};
}

Prepared prepare_gemv(const KernelRequest& request) {
  Found found = form_of(request);
  if (!found.form) return Prepared::refuse(found.refusal);
  return Prepared::accept(std::make_unique<GemvKernel>(std::move(*found.form), request.threads),
                          "gemv");
}

constexpr KernelEntry kGemvEntries[] = {{"MatMul", "gemv", prepare_gemv},
                                        {"Gemm", "gemv", prepare_gemv},
                                        {"sardonyx::FusedMatMul", "gemv", prepare_gemv}};

}  // namespace

bool is_gemv(const KernelRequest& request) {
  return form_of(request).form.has_value();
}

std::span<const KernelEntry> gemv_kernels() {
  return kGemvEntries;
}

}  // namespace sardonyx::cpu
