// Comparisons, And, Or, Xor, Not and Where on contiguous rows, for all types of whole bytes that
// the language itself compares.
#include <optional>

#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/compare_select_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// ---- two operands

class CompareKernel : public Kernel {
 public:
  CompareKernel(PairRow row, int64_t width, BroadcastLoop grid, int threads)
      : row_(row), width_(width), grid_(grid), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* a = static_cast<const std::byte*>(args.inputs[0]);
    const auto* b = static_cast<const std::byte*>(args.inputs[1]);
    auto* out = static_cast<bool*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets& at, int64_t begin, int64_t count) {
      row_(a + at[0] * width_, grid_.steps[0], b + at[1] * width_, grid_.steps[1], out + begin,
           count);
    });
  }

 private:
  PairRow row_;
  int64_t width_;
  BroadcastLoop grid_;
  int threads_;
};

Prepared prepare_pair(const KernelRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  const PairRow row = pair_row_for(request.op.name, dtype);
  if (!row) return Prepared::refuse("elements of this type are left to the reference");
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[1].shape};
  const auto grid = BroadcastLoop::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("too many dims");
  return Prepared::accept(
      std::make_unique<CompareKernel>(row, bits_of(dtype) / 8, *grid, request.threads),
      "compare_select");
}

class NotKernel : public Kernel {
 public:
  explicit NotKernel(int64_t count) : count_(count) {}
  void run(const KernelArgs& args) const override {
    not_row(static_cast<const uint8_t*>(args.inputs[0]), static_cast<bool*>(args.outputs[0]),
            count_);
  }
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  int64_t count_;
};

Prepared prepare_not(const KernelRequest& request) {
  return Prepared::accept(std::make_unique<NotKernel>(element_count(request.inputs[0].shape)),
                          "compare_select");
}

// ---- Where

class WhereKernel : public Kernel {
 public:
  WhereKernel(ChooseRow row, int64_t width, BroadcastLoop grid, int threads)
      : row_(row), width_(width), grid_(grid), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* condition = static_cast<const uint8_t*>(args.inputs[0]);
    const auto* taken = static_cast<const std::byte*>(args.inputs[1]);
    const auto* other = static_cast<const std::byte*>(args.inputs[2]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets& at, int64_t begin, int64_t count) {
      row_({condition + at[0], taken + at[1] * width_, other + at[2] * width_, out + begin * width_,
            count});
    });
  }

 private:
  ChooseRow row_;
  int64_t width_;
  BroadcastLoop grid_;
  int threads_;
};

Prepared prepare_where(const KernelRequest& request) {
  const DType dtype = request.inputs[1].dtype;
  if (dtype == DType::kString || bits_of(dtype) < 8 || bits_of(dtype) > 64)
    return Prepared::refuse("elements of this type are left to the reference");
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[1].shape,
                             &request.inputs[2].shape};
  const auto grid = BroadcastLoop::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("too many dims");
  const int bits = static_cast<int>(bits_of(dtype));
  const ChooseRow row = choose_row_for(bits, grid->steps);
  return Prepared::accept(std::make_unique<WhereKernel>(row, bits / 8, *grid, request.threads),
                          "compare_select");
}

constexpr KernelEntry kLogicEntries[] = {
    {"Equal", "compare_select", prepare_pair},
    {"Greater", "compare_select", prepare_pair},
    {"GreaterOrEqual", "compare_select", prepare_pair},
    {"Less", "compare_select", prepare_pair},
    {"LessOrEqual", "compare_select", prepare_pair},
    {"And", "compare_select", prepare_pair},
    {"Or", "compare_select", prepare_pair},
    {"Xor", "compare_select", prepare_pair},
    {"Not", "compare_select", prepare_not},
    {"Where", "compare_select", prepare_where},
};

}  // namespace

std::span<const KernelEntry> compare_select_kernels() {
  return kLogicEntries;
}

}  // namespace sardonyx::cpu
