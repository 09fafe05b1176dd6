// Long matrix products, a block of rows after the other: nothing ends a primitive once it runs, so
// deadlines and cancellations are looked at between blocks.
#pragma once

#include <functional>

#include "providers/onednn/matmul.h"

namespace sardonyx::onednn {

// Multiplications of one block: a fraction of a second, beside which nothing is lost by the blocks.
constexpr int64_t kProductsPerBlock = int64_t{1} << 33;

// Makes the kernel of a product of the request's inputs, or of a part of them that `product` tells
// the dims of.
using PrepareProduct = std::function<Prepared(const KernelRequest&, const Product&)>;

// The kernel that `prepare` makes of `product`, or, where it takes long, one that runs what
// `prepare` makes of its blocks: of as many outer batches as make up a block, else of rows of one.
Prepared prepare_in_blocks(const KernelRequest& request, const Product& product,
                           const PrepareProduct& prepare,
                           int64_t products_per_block = kProductsPerBlock);

}  // namespace sardonyx::onednn
