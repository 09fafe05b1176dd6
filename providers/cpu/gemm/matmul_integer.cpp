// MatMulInteger, QLinearMatMul, QGemm and MatMulIntegerToFloat on any 8-bit types and zero points,
// exact on every CPU. Constant matrices are packed into panels once.
#include <algorithm>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/quantization/qlinear_attributes.h"
#include "providers/cpu/gemm/quantized_params.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"

namespace sardonyx::cpu {
namespace {

constexpr size_t kLine = 64;
size_t whole_lines(size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

struct IntegerMatMulSizes {
  int64_t m, k, n;
  bool transA, transB;
  std::vector<std::pair<int64_t, int64_t>> matrices;  // of A and B, for each of the result's
  int64_t a_count, b_count;                           // how many matrices there are
  size_t pairs, panels;                               // of a matrix B
};

Shape batch_of(const Shape& shape) {
  return shape.size() <= 2 ? Shape{} : Shape(shape.begin(), shape.end() - 2);
}

// The shapes have passed the row's inference.
IntegerMatMulSizes geometry_of(const Shape& a, const Shape& b, const Shape& batch, bool transA,
                               bool transB) {
  IntegerMatMulSizes g{};
  g.transA = transA;
  g.transB = transB;
  const int64_t a_rows = a.size() > 1 ? a[a.size() - 2] : 1;
  g.m = transA ? a.back() : a_rows;
  g.k = transA ? a_rows : a.back();
  g.n = b.size() == 1 ? 1 : transB ? b[b.size() - 2] : b.back();
  const Shape a_batch = batch_of(a), b_batch = batch_of(b);
  g.a_count = element_count(a_batch);
  g.b_count = element_count(b_batch);
  const std::span<const int64_t> shapes[] = {a_batch, b_batch};
  const RowWalk walk = broadcast_walk(batch, shapes);
  walk.for_each([&](const int64_t* at, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      g.matrices.emplace_back(at[1] + i * walk.step(1), at[2] + i * walk.step(2));
  });
  g.pairs = static_cast<size_t>(g.k + 1) / 2;
  g.panels = (static_cast<size_t>(g.n) + kPanelColumns - 1) / kPanelColumns;
  return g;
}

// Packs panel `panel` of the matrix B at `bytes`.
void pack_panel(const IntegerMatMulSizes& g, const IntegerCall& call, const uint8_t* bytes,
                const void* zeros, size_t panel, int16_t* out) {
  const auto first = static_cast<int64_t>(panel * kPanelColumns);
  const int64_t columns = std::min<int64_t>(kPanelColumns, g.n - first);
  int16_t column_zeros[kPanelColumns] = {};
  for (int64_t c = 0; c < columns; ++c)
    column_zeros[c] = call.w_zero(zeros, first + c);
  uint8_t gathered[2][kPanelColumns];
  const auto row = [&](int64_t k, uint8_t* to) -> const uint8_t* {
    if (!g.transB) return bytes + k * g.n + first;
    for (int64_t c = 0; c < columns; ++c)
      to[c] = bytes[(first + c) * g.k + k];
    return to;
  };
  for (int64_t k = 0; k < g.k; k += 2) {
    pack_pair(row(k, gathered[0]), k + 1 < g.k ? row(k + 1, gathered[1]) : nullptr,
              call.w_is_signed(), column_zeros, static_cast<size_t>(columns),
              out + k * static_cast<int64_t>(kPanelColumns));
  }
}

class MatMulIntegerKernel : public Kernel {
 public:
  MatMulIntegerKernel(IntegerMatMulSizes geometry, IntegerCall call,
                      std::shared_ptr<const Buffer> panels, int threads)
      : g_(std::move(geometry)), call_(std::move(call)), packed_(std::move(panels)) {
    const auto work = static_cast<double>(g_.m) * static_cast<double>(g_.k) *
                      static_cast<double>(g_.n) * static_cast<double>(g_.matrices.size());
    threads_ = work > 1e6 ? threads : 1;
    // Where there are fewer panels than threads, the rows are cut as well.
    const auto tasks = static_cast<int64_t>(g_.matrices.size() * g_.panels);
    row_parts_ = std::clamp<int64_t>((threads_ + tasks - 1) / tasks, 1,
                                     (g_.m + kRowsAtOnce - 1) / kRowsAtOnce);
    left_bytes_ = whole_lines(static_cast<size_t>(g_.a_count * g_.m) * 4 * g_.pairs);
    scale_bytes_ = whole_lines(call_.scale_count() * sizeof(float));
    panel_bytes_ = packed_ ? 0 : g_.pairs * kPanelColumns * 4;
    own_bytes_ = panel_bytes_ + kRowsAtOnce * kPanelColumns * sizeof(int32_t);
  }
  size_t scratch_bytes() const override {
    return left_bytes_ + scale_bytes_ + own_bytes_ * static_cast<size_t>(threads_);
  }

  void run(const KernelArgs& args) const override {
    auto* scales = reinterpret_cast<float*>(args.scratch + left_bytes_);
    call_.read_scales(args, scales);
    const auto tasks = static_cast<int64_t>(g_.matrices.size() * g_.panels) * row_parts_;
    const CancelFlag sign;
    parallel_for_each(g_.a_count * g_.m, threads_, [&](int64_t row) { widen_row(args, row); });
    parallel_for(tasks, threads_, [&](int64_t begin, int64_t end, int seat) {
      for (int64_t task = begin; task < end; ++task)
        run_task(args, scales, task, static_cast<size_t>(seat), sign);
    });
    sign.check();
  }

 private:
  int16_t* left_row(const KernelArgs& args, int64_t row) const {
    return reinterpret_cast<int16_t*>(args.scratch) + static_cast<size_t>(row) * 2 * g_.pairs;
  }

  void widen_row(const KernelArgs& args, int64_t row) const {
    const auto* a = static_cast<const uint8_t*>(args.inputs[call_.slots().x]);
    const int32_t zero = call_.x_zero(args, row % g_.m);
    int16_t* to = left_row(args, row);
    to[2 * g_.pairs - 1] = 0;
    if (!g_.transA) {
      return widen_bytes(a + row * g_.k, call_.x_is_signed(), zero, static_cast<size_t>(g_.k), to);
    }
    for (int64_t k = 0; k < g_.k; ++k)
      widen_bytes(a + k * g_.m + row, call_.x_is_signed(), zero, 1, to + k);
  }

  void run_task(const KernelArgs& args, const float* scales, int64_t task, size_t thread,
                const CancelFlag& sign) const {
    if (sign.ask()) return;
    const int64_t part = task % row_parts_;
    const auto panel = static_cast<size_t>(task / row_parts_) % g_.panels;
    const auto matrix = static_cast<size_t>(task / row_parts_) / g_.panels;
    const auto [a_matrix, b_matrix] = g_.matrices[matrix];
    const size_t panel_size = g_.pairs * 2 * kPanelColumns;
    std::byte* own = args.scratch + left_bytes_ + scale_bytes_ + thread * own_bytes_;
    auto* sums = reinterpret_cast<int32_t*>(own + panel_bytes_);
    const int16_t* columns = nullptr;
    if (packed_) {
      columns = reinterpret_cast<const int16_t*>(packed_->data()) +
                (static_cast<size_t>(b_matrix) * g_.panels + panel) * panel_size;
    } else {
      const auto* b = static_cast<const uint8_t*>(args.inputs[call_.slots().w]);
      auto* made = reinterpret_cast<int16_t*>(own);
      pack_panel(g_, call_, b + b_matrix * g_.k * g_.n, call_.w_zeros_of(args), panel, made);
      columns = made;
    }
    const auto first_column = static_cast<int64_t>(panel * kPanelColumns);
    const auto count = static_cast<size_t>(std::min<int64_t>(kPanelColumns, g_.n - first_column));
    const RowFinish finish = call_.finish(args, scales, first_column, true);
    const int64_t share = ((g_.m + row_parts_ - 1) / row_parts_ + 3) / 4 * 4;
    const int64_t end = std::min(g_.m, (part + 1) * share);
    auto* result = static_cast<std::byte*>(args.outputs[0]);
    const int64_t mask = poll_mask(g_.k * static_cast<int64_t>(kPanelColumns));
    for (int64_t row = part * share; row < end; row += kRowsAtOnce) {
      if ((row / static_cast<int64_t>(kRowsAtOnce) & mask) == mask && sign.ask()) return;
      const int64_t rows = std::min<int64_t>(kRowsAtOnce, end - row);
      multiply_panel(left_row(args, a_matrix * g_.m + row), 2 * g_.pairs, static_cast<size_t>(rows),
                     columns, g_.pairs, sums);
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = (static_cast<int64_t>(matrix) * g_.m + row + r) * g_.n + first_column;
        finish_row(finish, sums + r * static_cast<int64_t>(kPanelColumns), count,
                   result + static_cast<size_t>(at) * call_.result_bytes());
      }
    }
  }

  IntegerMatMulSizes g_;
  IntegerCall call_;
  std::shared_ptr<const Buffer> packed_;  // null if B is not constant
  int threads_;
  int64_t row_parts_;
  size_t left_bytes_, scale_bytes_, panel_bytes_, own_bytes_;
};

// All panels of all matrices of B, one after the other.
void pack_panels(const IntegerMatMulSizes& g, const IntegerCall& call, const void* b,
                 const void* zeros, int16_t* to) {
  const auto* matrix = static_cast<const uint8_t*>(b);
  for (int64_t i = 0; i < g.b_count; ++i, matrix += g.k * g.n) {
    for (size_t panel = 0; panel < g.panels; ++panel, to += g.pairs * 2 * kPanelColumns)
      pack_panel(g, call, matrix, zeros, panel, to);
  }
}

Prepared prepare(const KernelRequest& request, const IntegerSlots& slots, bool transA = false,
                 bool transB = false, float factor = 1) {
  const Shape &a = request.inputs[slots.x].shape, &b = request.inputs[slots.w].shape;
  if (element_count(a) == 0 || element_count(b) == 0) {
    return Prepared::refuse("a tensor has no elements");
  }
  const Shape batch = try_broadcast(batch_of(a), batch_of(b)).value();
  if (const char* why = why_unsupported_tables({element_count(batch)}))
    return Prepared::refuse(why);
  IntegerMatMulSizes g = geometry_of(a, b, batch, transA, transB);
  // Scales and zero points of B may differ between its columns, but not between its matrices.
  const IntegerCall call(request, slots, b.size() <= 2 ? g.n : 1, factor);
  if (call.refusal()) return Prepared::refuse(call.refusal());
  if (request.has(slots.x_zero)) {
    const int64_t zeros = element_count(request.inputs[slots.x_zero].shape);
    if (zeros != 1 && (zeros != g.m || a.size() > 2)) {
      return Prepared::refuse("zero points of the source that differ between matrices");
    }
  }
  for (const size_t slot : {slots.bias, slots.addend}) {
    if (!request.has(slot)) continue;
    if (!ops::is_row(request.inputs[slot].shape, g.n))
      return Prepared::refuse("the bias is not one row");
  }
  auto panels = packed_weights(
      request, slots,
      static_cast<size_t>(g.b_count) * g.panels * g.pairs * 2 * kPanelColumns * sizeof(int16_t),
      text("cpu:panels of int16:", g.k, ":", g.n, ":", g.transB),
      [&](const void* b, const void* zeros, int16_t* to) { pack_panels(g, call, b, zeros, to); });
  const bool packed = panels != nullptr;
  return accept_integer(request, slots, packed,
                        std::make_unique<MatMulIntegerKernel>(std::move(g), call, std::move(panels),
                                                              request.threads));
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
                           .y_zero = 7});
}

Prepared prepare_qgemm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::QGemmAttrs>();
  return prepare(request,
                 {.x = 0,
                  .w = 3,
                  .x_zero = 2,
                  .w_zero = 5,
                  .x_scale = 1,
                  .w_scale = 4,
                  .y_scale = 7,
                  .y_zero = 8,
                  .bias = 6},
                 attrs.transA, attrs.transB, attrs.alpha);
}

Prepared prepare_to_float(const KernelRequest& request) {
  return prepare(request, {.x_zero = 4, .w_zero = 5, .x_scale = 2, .w_scale = 3, .addend = 6});
}

constexpr KernelEntry kIntegerProductEntries[] = {
    {"MatMulInteger", "matmul_integer", prepare_integer},
    {"QLinearMatMul", "matmul_integer", prepare_quantized},
    {"com.microsoft::QGemm", "matmul_integer", prepare_qgemm},
    {"com.microsoft::MatMulIntegerToFloat", "matmul_integer", prepare_to_float},
};

}  // namespace

std::span<const KernelEntry> matmul_integer_kernels() {
  return kIntegerProductEntries;
}

}  // namespace sardonyx::cpu
