// The axes along which each kind of primitive can be cut into parts, and how a part's primitive is
// made.
#pragma once

#include <functional>
#include <vector>

#include "providers/onednn/primitive/partition.h"

namespace sardonyx::onednn {

// Layouts of the specs are those of the primitive of the whole, none of them left to choose. Parts
// are made by `make`, of the same kind and attributes as the whole.

// A convolution is cut by images, groups, output channels or positions along the first spatial axis
// of more than one. `reads_residual`: the first post-op reads an argument in the layout of dst.
using MakeConvolution = std::function<MaybePrimitive(const ConvolutionSpec&)>;
Work work_of_convolution(const ConvolutionSpec& whole, const MakeConvolution& make,
                         bool reads_residual = false);
// The same convolution with the pixels of all images in one line, where these are neighbours and
// each is computed by itself: a line is cut more evenly than a few rows.
std::optional<ConvolutionSpec> in_one_line(const ConvolutionSpec& whole);
// A transposed convolution, and the gradient of a convolution's input, are cut along the same axes.
Work work_of_deconvolution(const ConvolutionSpec& whole, const MakeConvolution& make);
Work work_of_input_gradient(const ConvolutionSpec& whole, const MakeConvolution& make);
// The gradient of a convolution's weights is cut by groups, or by channels of one side.
Work work_of_weight_gradient(const ConvolutionSpec& whole, const MakeConvolution& make);
// The gradient of the weights is cut by images: each part makes a whole gradient, and the caller
// adds them up.
Work work_of_images(const ConvolutionSpec& whole, const MakeConvolution& make);

// A matrix product is cut by matrices, rows or columns. `operands` are those of its binary
// post-ops, in the order of the post-ops.
using MakeProduct = std::function<MaybePrimitive(const ProductSpec&, const std::vector<Desc>&)>;
Work work_of_product(const ProductSpec& whole, const std::vector<Desc>& operands,
                     const MakeProduct& make);

// A pool is cut by images, channels or rows.
using MakePool = std::function<MaybePrimitive(const PoolSpec&)>;
Work work_of_pool(const PoolSpec& whole, const MakePool& make);

// Operations on elements that have one layout, cut where `model` can be.
using MakeOfElements = std::function<MaybePrimitive(const ArgumentDescs&)>;
Work work_of_elements(ArgumentDescs arguments, const Desc& model, const MakeOfElements& make);
Work work_of_copy(const Desc& from, const Desc& to);

}  // namespace sardonyx::onednn
