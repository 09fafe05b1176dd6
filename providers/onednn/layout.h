// oneDNN's memory formats as layouts of sardonyx.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/reference/strided_copy.h"
#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// A layout that has no neutral name (ImageLayout). The dims of `desc` may be fewer or more than
// those of the tensor (grouped weights have one more): the elements come in the same order.
class DnnlLayout : public Layout {
 public:
  explicit DnnlLayout(Desc desc) : Layout(Kind::kOpaque), desc_(std::move(desc)) {}
  const Desc& desc() const { return desc_; }
  size_t bytes() const override { return desc_.get_size(); }
  bool equals(const Layout& other) const override;
  std::string text() const override { return layout_text(desc_); }

 private:
  Desc desc_;
};

// Null where `desc` is the same as row-major, an ImageLayout where it is one.
LayoutPtr layout_of(const Desc& desc);
// Whether the layout is opaque and was made by another provider, which alone can read it.
bool is_foreign(const LayoutPtr& layout);
// The descriptor of the tensor's current layout, which must not be foreign.
Desc desc_of(const KernelTensor& tensor);
Desc desc_of(DType dtype, const Shape& shape, const LayoutPtr& layout);

// Moves elements that are as `from` says to where `to` puts them, walked in the order of what is
// written; nullopt where either has blocks. The dims are those of `from`.
std::optional<StridedBlock> movement_between(const Desc& from, const Desc& to);

// The movement between two layouts with the same inner blocks, which are moved whole, padding
// included.
std::optional<StridedBlock> movement_of_blocks(const Desc& from, const Desc& to);

}  // namespace sardonyx::onednn
