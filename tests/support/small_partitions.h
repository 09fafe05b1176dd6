// For tests: work is cut into parts however small they get.
#pragma once

#include "providers/onednn/primitive/partition.h"

namespace sardonyx::onednn {

class SmallParts {
 public:
  SmallParts() : previous_(set_min_products_per_part(1)) {}
  ~SmallParts() { set_min_products_per_part(previous_); }
  SmallParts(const SmallParts&) = delete;
  SmallParts& operator=(const SmallParts&) = delete;

 private:
  double previous_;
};

}  // namespace sardonyx::onednn
