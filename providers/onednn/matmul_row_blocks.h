// Long matrix products in blocks of rows: oneDNN cannot cancel a primitive while it runs, so
// deadlines and cancellation are checked between blocks.
#pragma once

#include <functional>

#include "providers/onednn/matmul.h"

namespace sardonyx::onednn {

// Multiplications of one call of a primitive: a fraction of a second.
constexpr int64_t kProductsPerBlock = int64_t{1} << 33;
// Those of a block of a matrix product, which take one thread 50 ms. Where each block packs the
// second operand anew, half of it would lose a tenth of the speed.
constexpr int64_t kProductsPerRowBlock = kProductsPerBlock / 2;

// Makes the kernel of a product of the request's inputs, or of a part of them that `product` tells
// the dims of.
using PrepareProduct = std::function<Prepared(const KernelRequest&, const MatMulSpec&)>;

// The kernel that `prepare` builds for `product`; for a long product a kernel that runs the kernels
// `prepare` builds for its blocks: blocks of outer batches, or of rows if one batch is too long.
Prepared prepare_in_blocks(const KernelRequest& request, const MatMulSpec& product,
                           const PrepareProduct& prepare,
                           int64_t products_per_block = kProductsPerRowBlock);

}  // namespace sardonyx::onednn
