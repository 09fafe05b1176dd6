// Attributes of sardonyx's own fused ops, and the activations that they may end with.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ir/emitter/emitter.h"
#include "ir/ops/conv/conv.h"

namespace sardonyx::ops {

// An elementwise op at the end of a fused one. `name` is empty (none) or that of a kActivation row
// as a GroupedOp has it, such as Relu, GeluTanh, LeakyRelu {alpha} or Clip {min, max}.
struct FusedActivation {
  std::string name;
  std::vector<float> params;
};
// Whether the activation is none or one of these, with as many parameters as it takes.
bool is_known(const FusedActivation& activation);
// The bounds of an activation that only clips its input; nullopt for others. None has no bounds.
struct ClipBounds {
  float low, high;
};
std::optional<ClipBounds> clip_bounds(const FusedActivation& activation);
// The activation of x written in ONNX's ops; `x` itself where there is none.
Val apply(Emitter& e, const FusedActivation& activation, const Val& x);

struct FusedConvAttrs : ConvAttrs {
  std::string activation;
  std::vector<float> activation_params;
  bool allows_winograd = false;  // where a kernel finds it faster
  static auto fields() {
    return std::tuple_cat(ConvAttrs::fields(),
                          std::tuple{field("activation", &FusedConvAttrs::activation),
                                     field("activation_params", &FusedConvAttrs::activation_params),
                                     field("allows_winograd", &FusedConvAttrs::allows_winograd)});
  }
};

struct FusedConvTransposeAttrs : ConvTransposeAttrs {
  std::string activation;
  std::vector<float> activation_params;
  static auto fields() {
    return std::tuple_cat(
        ConvTransposeAttrs::fields(),
        std::tuple{field("activation", &FusedConvTransposeAttrs::activation),
                   field("activation_params", &FusedConvTransposeAttrs::activation_params)});
  }
};

// Y = activation(alpha * op(A) op(B) + bias + residual); op exchanges the last two dims where trans
// is set.
struct FusedMatMulAttrs {
  float alpha = 1;
  bool transA = false;
  bool transB = false;
  std::string activation;
  std::vector<float> activation_params;
  static auto fields() {
    return std::tuple{field("alpha", &FusedMatMulAttrs::alpha),
                      field("transA", &FusedMatMulAttrs::transA),
                      field("transB", &FusedMatMulAttrs::transB),
                      field("activation", &FusedMatMulAttrs::activation),
                      field("activation_params", &FusedMatMulAttrs::activation_params)};
  }
};

}  // namespace sardonyx::ops
