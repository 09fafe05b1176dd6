#include "ir/ops/pool.h"

#include "ir/ops/tables.h"

namespace sardonyx::ops {

WindowSpec window_spec(std::string_view op, const PoolAttrs& attrs) {
  return {.op = op,
          .auto_pad = attrs.auto_pad,
          .strides = given(attrs.strides),
          .dilations = given(attrs.dilations),
          .pads = given(attrs.pads),
          .ceil_mode = attrs.ceil_mode};
}

Window pool_window(std::string_view op, const PoolAttrs& attrs, std::span<const int64_t> x) {
  SARDONYX_CHECK(x.size() >= 2);
  return make_window(window_spec(op, attrs), Shape(x.begin() + 2, x.end()), attrs.kernel_shape);
}

std::span<const OpDef> pool_ops() {
  return {};
}

}  // namespace sardonyx::ops
