// Functions of sardonyx::eager that torch.nn.functional has: nn::relu(x) for F.relu(x).
#pragma once

#include "eager/functional/functional.h"
#include "eager/nn/loss/losses.h"

namespace sardonyx::eager::nn {

using eager::celu;
using eager::elu;
using eager::gelu;
using eager::glu;
using eager::gumbel_softmax;
using eager::hardshrink;
using eager::hardsigmoid;
using eager::hardswish;
using eager::hardtanh;
using eager::leaky_relu;
using eager::linear;
using eager::log_softmax;
using eager::logsigmoid;
using eager::mish;
using eager::one_hot;
using eager::pad;
using eager::prelu;
using eager::relu;
using eager::relu6;
using eager::selu;
using eager::sigmoid;
using eager::silu;
using eager::softmax;
using eager::softmin;
using eager::softplus;
using eager::softshrink;
using eager::softsign;
using eager::tanh;
using eager::tanhshrink;
using eager::threshold;

inline Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                               const BceOptions& options = {},
                                               Loc loc = Loc::current()) {
  return bce_with_logits(logits, target, options, loc);
}

}  // namespace sardonyx::eager::nn
