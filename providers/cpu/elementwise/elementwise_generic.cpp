// Elementwise ops on integers and doubles in row-major order.
#include <optional>

#include "ir/core/error.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/compare_select_kernel.h"
#include "providers/cpu/elementwise/elementwise_generic_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class GenericBinaryKernel : public Kernel {
 public:
  // `checks_zero`: an element of input 1 that is 0 is an error.
  GenericBinaryKernel(NumberPairRow row, const KernelRequest& request, BroadcastLoop grid,
                      bool checks_zero)
      : row_(row),
        dtype_(request.inputs[0].dtype),
        width_(bits_of(dtype_) / 8),
        divisors_(checks_zero ? element_count(request.inputs[1].shape) : 0),
        grid_(grid),
        threads_(request.threads) {
    for (size_t k = 0; k < 2; ++k)
      aliases_[k] = request.inputs[k].shape == request.outputs[0].shape;
  }

  void run(const KernelArgs& args) const override {
    const auto* a = static_cast<const std::byte*>(args.inputs[0]);
    const auto* b = static_cast<const std::byte*>(args.inputs[1]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    if (divisors_ > 0 && has_zero(dtype_, b, static_cast<size_t>(divisors_))) {
      fail(ErrorCode::kInvalidArgument,
           "input B has an element 0; integer division by zero has no result");
    }
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets& at, int64_t begin, int64_t count) {
      row_(a + at[0] * width_, grid_.steps[0], b + at[1] * width_, grid_.steps[1],
           out + begin * width_, static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input < 2 && aliases_[input]; }

 private:
  NumberPairRow row_;
  DType dtype_;
  int64_t width_, divisors_;
  BroadcastLoop grid_;
  int threads_;
  std::array<bool, 2> aliases_{};
};

Prepared prepare_pair_of(const KernelRequest& request, PairOp op) {
  if (request.inputs.size() != 2) return Prepared::refuse("only two inputs are joined here");
  const DType dtype = request.inputs[0].dtype;
  const NumberPairRow row = number_pair_row_of(op, dtype);
  if (!row || request.inputs[1].dtype != dtype)
    return Prepared::refuse("numbers of this type are left to others");
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[1].shape};
  const std::optional<BroadcastLoop> grid = BroadcastLoop::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("the broadcast has too many dims");
  const bool checks_zero = op == PairOp::kDiv && dtype != DType::kDouble;
  return Prepared::accept(std::make_unique<GenericBinaryKernel>(row, request, *grid, checks_zero),
                          "elementwise_generic");
}

template <PairOp op>
Prepared prepare_pair(const KernelRequest& request) {
  return prepare_pair_of(request, op);
}

Prepared prepare_shift(const KernelRequest& request) {
  const bool is_left = std::get<std::string>(request.raw_attrs.get("direction").value()) == "LEFT";
  return prepare_pair_of(request, is_left ? PairOp::kShiftLeft : PairOp::kShiftRight);
}

class ElementwiseGenericKernel : public Kernel {
 public:
  ElementwiseGenericKernel(NumberRow row, const KernelRequest& request)
      : row_(row),
        in_width_(bits_of(request.inputs[0].dtype) / 8),
        out_width_(bits_of(request.outputs[0].dtype) / 8),
        threads_(request.threads) {
    grid_.length = element_count(request.inputs[0].shape);
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const std::byte*>(args.inputs[0]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      row_(in + begin * in_width_, out + begin * out_width_, static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t) const override { return in_width_ == out_width_; }

 private:
  NumberRow row_;
  int64_t in_width_, out_width_;
  BroadcastLoop grid_;
  int threads_;
};

Prepared accept_row(const KernelRequest& request, NumberRow row) {
  if (!row) return Prepared::refuse("numbers of this type are left to others");
  return Prepared::accept(std::make_unique<ElementwiseGenericKernel>(row, request),
                          "elementwise_generic");
}

template <NumberOp op>
Prepared prepare_number(const KernelRequest& request) {
  return accept_row(request, number_row_of(op, request.inputs[0].dtype));
}

Prepared prepare_is_infinite(const KernelRequest& request) {
  for (const char* name : {"detect_negative", "detect_positive"}) {
    if (std::get<int64_t>(request.raw_attrs.get(name).value()) == 0)
      return Prepared::refuse("one sign alone is left to the reference");
  }
  return accept_row(request, number_row_of(NumberOp::kIsInfinite, request.inputs[0].dtype));
}

Prepared prepare_cast(const KernelRequest& request) {
  const DType from = request.inputs[0].dtype, to = request.outputs[0].dtype;
  const NumberRow row = number_cast_row_of(from, to);
  return accept_row(request, row ? row : cast_row_for(from, to));
}

constexpr KernelEntry kNumberEntries[] = {
    {"Abs", "elementwise_generic", prepare_number<NumberOp::kAbs>},
    {"Neg", "elementwise_generic", prepare_number<NumberOp::kNeg>},
    {"Sign", "elementwise_generic", prepare_number<NumberOp::kSign>},
    {"BitwiseNot", "elementwise_generic", prepare_number<NumberOp::kBitNot>},
    {"IsNaN", "elementwise_generic", prepare_number<NumberOp::kIsNan>},
    {"IsInf", "elementwise_generic", prepare_is_infinite},
    {"Cast", "elementwise_generic", prepare_cast},
    {"CastLike", "elementwise_generic", prepare_cast},
    {"Add", "elementwise_generic", prepare_pair<PairOp::kAdd>},
    {"Sub", "elementwise_generic", prepare_pair<PairOp::kSub>},
    {"Mul", "elementwise_generic", prepare_pair<PairOp::kMul>},
    {"Div", "elementwise_generic", prepare_pair<PairOp::kDiv>},
    {"Sum", "elementwise_generic", prepare_pair<PairOp::kAdd>},
    {"Max", "elementwise_generic", prepare_pair<PairOp::kMax>},
    {"Min", "elementwise_generic", prepare_pair<PairOp::kMin>},
    {"BitwiseAnd", "elementwise_generic", prepare_pair<PairOp::kAnd>},
    {"BitwiseOr", "elementwise_generic", prepare_pair<PairOp::kOr>},
    {"BitwiseXor", "elementwise_generic", prepare_pair<PairOp::kXor>},
    {"BitShift", "elementwise_generic", prepare_shift},
};

}  // namespace

std::span<const KernelEntry> elementwise_generic_kernels() {
  return kNumberEntries;
}

}  // namespace sardonyx::cpu
