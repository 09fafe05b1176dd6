// Elementwise ops on float32 in row-major order.
#include <limits>
#include <optional>

#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/rows.h"

namespace sardonyx::cpu {
namespace {

class UnaryKernel : public Kernel {
 public:
  UnaryKernel(Unary op, UnaryParams params, RowGrid grid, int threads)
      : op_(op), params_(params), grid_(grid), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const RowGrid::Offsets&, int64_t begin, int64_t count) {
      unary_row(op_, params_, in + begin, out + begin, static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  Unary op_;
  UnaryParams params_;
  RowGrid grid_;
  int threads_;
};

Prepared prepare_unary(const KernelRequest& request, Unary op, UnaryParams params) {
  if (!all_of(request.inputs.first(1), DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape* shape = &request.inputs[0].shape;
  const std::optional<RowGrid> grid = RowGrid::of(*shape, {&shape, 1});
  return Prepared::accept(std::make_unique<UnaryKernel>(op, params, *grid, request.threads),
                          "simd");
}

template <Unary op>
Prepared prepare_plain(const KernelRequest& request) {
  return prepare_unary(request, op, {});
}

float attribute(const KernelRequest& request, std::string_view name) {
  return std::get<float>(request.raw_attrs.get(name).value());
}

template <Unary op>
Prepared prepare_alpha(const KernelRequest& request) {
  return prepare_unary(request, op, {attribute(request, "alpha"), 0});
}

Prepared prepare_hard_sigmoid(const KernelRequest& request) {
  return prepare_unary(request, Unary::kHardSigmoid,
                       {attribute(request, "alpha"), attribute(request, "beta")});
}

Prepared prepare_gelu(const KernelRequest& request) {
  const bool by_tanh =
      std::get<std::string>(request.raw_attrs.get("approximate").value()) == "tanh";
  return prepare_unary(request, by_tanh ? Unary::kGeluTanh : Unary::kGelu, {});
}

Prepared prepare_clip(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  UnaryParams bounds{-std::numeric_limits<float>::infinity(),
                     std::numeric_limits<float>::infinity()};
  for (size_t slot = 1; slot <= 2; ++slot) {
    if (!request.has(slot)) continue;
    if (!request.inputs[slot].constant) return Prepared::refuse("a bound is not constant");
    (slot == 1 ? bounds.a : bounds.b) = request.inputs[slot].constant->values<float>()[0];
  }
  return prepare_unary(request, Unary::kClip, bounds);
}

class BinaryKernel : public Kernel {
 public:
  BinaryKernel(Binary op, RowGrid grid, const KernelRequest& request)
      : op_(op), grid_(grid), threads_(request.threads) {
    for (size_t k = 0; k < 2; ++k)
      aliases_[k] = request.inputs[k].shape == request.outputs[0].shape;
  }

  void run(const KernelArgs& args) const override {
    const auto* a = static_cast<const float*>(args.inputs[0]);
    const auto* b = static_cast<const float*>(args.inputs[1]);
    auto* out = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const RowGrid::Offsets& at, int64_t begin, int64_t count) {
      binary_row(op_, a + at[0], grid_.steps[0], b + at[1], grid_.steps[1], out + begin,
                 static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input < 2 && aliases_[input]; }

 private:
  Binary op_;
  RowGrid grid_;
  int threads_;
  std::array<bool, 2> aliases_{};
};

Prepared prepare_pair(const KernelRequest& request, Binary op) {
  if (request.inputs.size() != 2) return Prepared::refuse("only two inputs are joined here");
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[1].shape};
  const std::optional<RowGrid> grid = RowGrid::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("the broadcast has too many dims");
  return Prepared::accept(std::make_unique<BinaryKernel>(op, *grid, request), "simd");
}

template <Binary op>
Prepared prepare_binary(const KernelRequest& request) {
  return prepare_pair(request, op);
}

Prepared prepare_pow(const KernelRequest& request) {
  if (!all_of(request.inputs.first(1), DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Tensor* exponent = request.inputs[1].constant;
  if (exponent && exponent->count() == 1 &&
      element_count(request.inputs[0].shape) == element_count(request.outputs[0].shape)) {
    if (const auto power = unary_power(exponent->to_doubles()[0]))
      return prepare_unary(request, *power, {});
  }
  return prepare_pair(request, Binary::kPow);
}

constexpr KernelEntry kElementwiseEntries[] = {
    {"Abs", "rows", prepare_plain<Unary::kAbs>},
    {"Ceil", "rows", prepare_plain<Unary::kCeil>},
    {"Cos", "rows", prepare_plain<Unary::kCos>},
    {"Erf", "rows", prepare_plain<Unary::kErf>},
    {"Exp", "rows", prepare_plain<Unary::kExp>},
    {"Floor", "rows", prepare_plain<Unary::kFloor>},
    {"HardSwish", "rows", prepare_plain<Unary::kHardSwish>},
    {"Log", "rows", prepare_plain<Unary::kLog>},
    {"Mish", "rows", prepare_plain<Unary::kMish>},
    {"Neg", "rows", prepare_plain<Unary::kNeg>},
    {"Reciprocal", "rows", prepare_plain<Unary::kReciprocal>},
    {"Relu", "rows", prepare_plain<Unary::kRelu>},
    {"Round", "rows", prepare_plain<Unary::kRound>},
    {"Sigmoid", "rows", prepare_plain<Unary::kSigmoid>},
    {"Sin", "rows", prepare_plain<Unary::kSin>},
    {"Softplus", "rows", prepare_plain<Unary::kSoftplus>},
    {"Sqrt", "rows", prepare_plain<Unary::kSqrt>},
    {"Tanh", "rows", prepare_plain<Unary::kTanh>},
    {"Elu", "rows", prepare_alpha<Unary::kElu>},
    {"LeakyRelu", "rows", prepare_alpha<Unary::kLeakyRelu>},
    {"Swish", "rows", prepare_alpha<Unary::kSwish>},
    {"HardSigmoid", "rows", prepare_hard_sigmoid},
    {"Gelu", "rows", prepare_gelu},
    {"Clip", "rows", prepare_clip},
    {"Add", "rows", prepare_binary<Binary::kAdd>},
    {"Sub", "rows", prepare_binary<Binary::kSub>},
    {"Mul", "rows", prepare_binary<Binary::kMul>},
    {"Div", "rows", prepare_binary<Binary::kDiv>},
    {"Max", "rows", prepare_binary<Binary::kMax>},
    {"Min", "rows", prepare_binary<Binary::kMin>},
    {"Sum", "rows", prepare_binary<Binary::kAdd>},
    {"PRelu", "rows", prepare_binary<Binary::kPRelu>},
    {"Pow", "rows", prepare_pow},
};

}  // namespace

std::span<const KernelEntry> elementwise_entries() {
  return kElementwiseEntries;
}

}  // namespace sardonyx::cpu
