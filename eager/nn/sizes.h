// One size for all spatial axes, or one for each.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "eager/dim.h"
#include "ir/core/error.h"

namespace sardonyx::eager::nn {

class Sizes {
 public:
  // Implicit, so that Conv2d(3, 8, 3) and Conv2d(3, 8, {3, 5}) both read as in torch.
  Sizes(int64_t all) : sizes_{all} {}
  Sizes(int all) : sizes_{all} {}
  Sizes(std::initializer_list<int64_t> each) : sizes_(each) {}
  Sizes(std::vector<int64_t> each) : sizes_(std::move(each)) {}

  // For `axes` axes; throws kInvalidArgument where there are others or one is below `least`.
  std::vector<int64_t> on(size_t axes, int64_t least, std::string_view what) const {
    std::vector<int64_t> sizes = sizes_;
    if (sizes.size() == 1) sizes.resize(axes, sizes_[0]);
    if (sizes.size() != axes)
      fail(ErrorCode::kInvalidArgument, what, ": expected 1 or ", axes, " sizes, got ",
           sizes_.size());
    for (const int64_t size : sizes) {
      if (size < least)
        fail(ErrorCode::kInvalidArgument, what, ": expected at least ", least, ", got ", size);
    }
    return sizes;
  }

 private:
  std::vector<int64_t> sizes_;
};

}  // namespace sardonyx::eager::nn
