// Memory layouts: the order in which the elements of a tensor are in memory, where that is not
// row-major.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ir/core/dtype.h"
#include "ir/core/tensor.h"

namespace sardonyx {

// Producers and consumers of a value agree on its layout when a plan is made: a kernel states which
// layouts it takes and gives (Prepared), and the planner puts reorders in between. Layouts other
// than kOpaque are known to all providers; an opaque one to the provider alone that made it, and
// every other one must refuse a tensor that comes with it.
class Layout {
 public:
  enum class Kind : uint8_t {
    kNHWC,     // [N, spatial dims..., C]: channels last
    kNCHW16c,  // [N, C / 16, spatial dims..., 16]: blocks of channels, the last filled with zeros
    kOpaque,   // only the provider that made it can tell
  };

  explicit Layout(Kind kind) : kind_(kind) {}
  virtual ~Layout() = default;
  Kind kind() const { return kind_; }
  // Size of the whole tensor, padding included.
  virtual size_t bytes() const = 0;
  virtual bool equals(const Layout& other) const = 0;
  virtual std::string text() const = 0;  // for plans and messages: "NHWC"

 private:
  Kind kind_;
};
using LayoutPtr = std::shared_ptr<const Layout>;  // null: row-major
bool same_layout(const LayoutPtr& a, const LayoutPtr& b);

// Images [N, C, height, width], and likewise lines and volumes (ranks 3 to 5), in one of the
// layouts that all providers know.
class ImageLayout final : public Layout {
 public:
  static constexpr int64_t kChannelBlock = 16;  // of kNCHW16c

  ImageLayout(Kind kind, DType dtype, Shape shape);
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  size_t bytes() const override;
  bool equals(const Layout& other) const override;
  std::string text() const override;

 private:
  DType dtype_;
  Shape shape_;
};

// `kind` is kNHWC or kNCHW16c, the rank 3 to 5. Null where the elements are in row-major order all
// the same: of one channel, or one pixel.
LayoutPtr image_layout(Layout::Kind kind, DType dtype, const Shape& shape);

}  // namespace sardonyx
