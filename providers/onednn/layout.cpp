#include "providers/onednn/layout.h"

#include <omp.h>

namespace sardonyx::onednn {

bool BlockedLayout::equals(const Layout& other) const {
  const auto* blocked = dynamic_cast<const BlockedLayout*>(&other);
  return blocked && blocked->desc_ == desc_;
}

LayoutPtr layout_of(const Desc& desc) {
  return is_row_major(desc) ? nullptr : std::make_shared<const BlockedLayout>(desc);
}

Desc desc_of(DType dtype, const Shape& shape, const LayoutPtr& layout) {
  if (!layout) return plain_desc(dtype, shape);
  const auto* blocked = dynamic_cast<const BlockedLayout*>(layout.get());
  SARDONYX_CHECK(blocked);
  return blocked->desc();
}

Desc desc_of(const KernelTensor& tensor) {
  return desc_of(tensor.dtype, tensor.shape, tensor.layout);
}

ThreadScope::ThreadScope(int threads) : wanted_(threads), previous_(omp_get_max_threads()) {
  if (wanted_ != previous_) omp_set_num_threads(wanted_);
}

ThreadScope::~ThreadScope() {
  if (wanted_ != previous_) omp_set_num_threads(previous_);
}

}  // namespace sardonyx::onednn
