#include "providers/onednn/layout.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sardonyx::onednn {

bool DnnlLayout::equals(const Layout& other) const {
  const auto* dnnl = dynamic_cast<const DnnlLayout*>(&other);
  return dnnl && dnnl->desc_ == desc_;
}

LayoutPtr layout_of(const Desc& desc) {
  if (is_row_major(desc)) return nullptr;
  const Extents dims = desc.dims();
  const DType dtype = dtype_of(desc.data_type());
  if (dims.size() >= 3 && dims.size() <= 5 && dtype != DType::kUndefined) {
    if (desc == channels_last_desc(desc.data_type(), dims))
      return image_layout(Layout::Kind::kNHWC, dtype, dims);
    if (desc == blocked_desc(desc.data_type(), dims))
      return image_layout(Layout::Kind::kNCHW16c, dtype, dims);
  }
  return std::make_shared<const DnnlLayout>(desc);
}

bool is_foreign(const LayoutPtr& layout) {
  return layout && layout->kind() == Layout::Kind::kOpaque &&
         !dynamic_cast<const DnnlLayout*>(layout.get());
}

Desc desc_of(DType dtype, const Shape& shape, const LayoutPtr& layout) {
  if (!layout) return plain_desc(dtype, shape);
  if (layout->kind() == Layout::Kind::kOpaque) {
    const auto* dnnl = dynamic_cast<const DnnlLayout*>(layout.get());
    SARDONYX_CHECK(dnnl);
    return dnnl->desc();
  }
  const auto& image = static_cast<const ImageLayout&>(*layout);
  const auto type = data_type_of(image.dtype());
  return image.kind() == Layout::Kind::kNHWC ? channels_last_desc(type, image.shape())
                                             : blocked_desc(type, image.shape());
}

Desc desc_of(const KernelTensor& tensor) {
  return desc_of(tensor.dtype, tensor.shape, tensor.layout);
}

namespace {

StridedBlock strided(const Extents& sizes, const Extents& from_strides, const Extents& to_strides) {
  std::vector<size_t> order(to_strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](size_t dim) { return to_strides[dim]; });
  StridedBlock block;
  for (const size_t dim : order) {
    block.sizes.push_back(sizes[dim]);
    block.from_strides.push_back(from_strides[dim]);
    block.to_strides.push_back(to_strides[dim]);
  }
  return block;
}

}  // namespace

std::optional<StridedBlock> movement_between(const Desc& from, const Desc& to) {
  const auto from_strides = plain_strides(from), to_strides = plain_strides(to);
  if (!from_strides || !to_strides) return std::nullopt;
  return strided(from.dims(), *from_strides, *to_strides);
}

std::optional<StridedBlock> movement_of_blocks(const Desc& from, const Desc& to) {
  auto source = blocked_form(from), target = blocked_form(to);
  if (!source || !target || source->inner != target->inner) return std::nullopt;
  int64_t size = 1;  // of a block, whose elements are one more dim
  for (const BlockedForm::Inner& inner : source->inner) {
    source->padded[inner.dim] /= inner.size;
    size *= inner.size;
  }
  for (Extents* dims : {&source->padded, &source->strides, &target->strides})
    dims->push_back(dims == &source->padded ? size : 1);
  return strided(source->padded, source->strides, target->strides);
}

}  // namespace sardonyx::onednn
