// What the kernels of matrix products share.
#pragma once

#include <optional>

#include "providers/onednn/residual.h"

namespace sardonyx::onednn {

// dst = post_ops(alpha * a b + bias + residual), where `a` and `b` tell how inputs 0 and 1 lie.
struct Product {
  Desc a, b, dst;  // of one rank, at least 2; batch dims of 1 are repeated
  float alpha = 1;
  // Added to every row, or of dims that oneDNN can repeat.
  struct Addend {
    size_t input;
    Desc desc;  // of the rank of dst; row-major
    float scale = 1;
  };
  std::optional<Addend> bias;
  std::optional<size_t> residual;  // an input of the dims of dst
  PostOps activation;
};

Prepared prepare_product(const KernelRequest& request, const Product& product);

}  // namespace sardonyx::onednn
