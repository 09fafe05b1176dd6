#include "eager/nn/unpooling.h"

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::nn {
namespace {

void check_unpooled(const Tensor& x, size_t axes, const std::string& name, const Loc& loc) {
  require_defined(x, name, "x", loc);
  if (x.rank() == axes + 2) return;
  fail_at(loc, name, ": expected x [N, C, ", axes, " spatial axes], got ", x.type(),
          "; unsqueeze(0) makes a batch of one");
}

Tensor unpooled(const Tensor& x, const Tensor& indices, size_t axes, const Sizes& kernel,
                const MaxUnpoolOptions& options, const Loc& loc) {
  const std::string name = text("max_unpool", axes, "d");
  check_unpooled(x, axes, name, loc);
  require_defined(indices, name, "the indices", loc);
  if (indices.dtype() != DType::kInt64 || indices.rank() != x.rank())
    fail_at(loc, name, ": expected int64 indices of x's shape, got ", indices.type(), " beside ",
            x.type(), "; max_pool", axes, "d_with_indices gives them");
  const auto sizes_on = [&](const Sizes& sizes, int64_t least, const char* what) {
    return at_line(loc, [&] { return sizes.on(axes, least, name + ": " + what); });
  };
  const std::vector<int64_t> window = sizes_on(kernel, 1, "kernel"),
                             step = sizes_on(options.stride.value_or(kernel), 1, "stride"),
                             padding = sizes_on(options.padding, 0, "padding");
  std::vector<int64_t> asked;
  if (options.output_size) asked = sizes_on(*options.output_size, 1, "output_size");
  Dims shape{x.size(0, loc), x.size(1, loc)};
  Dim channel = 1;
  for (size_t i = 0; i < axes; ++i) {
    const Dim in = x.size(static_cast<int64_t>(i) + 2, loc);
    const Dim size = (in - 1) * step[i] - 2 * padding[i] + window[i];
    if (!asked.empty() && size.is_known() &&
        (asked[i] <= size.value() - step[i] || asked[i] >= size.value() + step[i])) {
      fail_at(loc, name, ": output_size: expected a size between ", size.value() - step[i], " and ",
              size.value() + step[i], " along spatial axis ", i, ", got ", asked[i]);
    }
    shape.push_back(asked.empty() ? size : Dim(asked[i]));
    channel = channel * shape.back();
  }
  const Dims rows{shape[0], shape[1], Dim(-1)};
  const Tensor none = zeros({shape[0], shape[1], channel}, {.dtype = x.dtype()}, loc);
  const Tensor filled =
      scatter(none, 2, indices.reshape(rows, loc), x.reshape(rows, loc), "none", loc);
  return filled.reshape(shape, loc);
}

}  // namespace

#define SARDONYX_UNPOOLS(axes)                                                     \
  Tensor max_unpool##axes##d(const Tensor& x, const Tensor& indices, Sizes kernel, \
                             const MaxUnpoolOptions& options, Loc loc) {           \
    return unpooled(x, indices, axes, kernel, options, loc);                       \
  }                                                                                \
  template class MaxUnpool<axes>;

template <size_t axes>
MaxUnpool<axes>::MaxUnpool(Sizes kernel, MaxUnpoolOptions options)
    : Layer<MaxUnpool>(text("MaxUnpool", axes, "d")),
      kernel_(std::move(kernel)),
      options_(std::move(options)) {}
template <size_t axes>
Tensor MaxUnpool<axes>::forward(const Tensor& x, const Tensor& indices,
                                const std::optional<Sizes>& output_size) const {
  MaxUnpoolOptions options = options_;
  if (output_size) options.output_size = output_size;
  return unpooled(x, indices, axes, kernel_, options, this->caller());
}

SARDONYX_UNPOOLS(1)
SARDONYX_UNPOOLS(2)
SARDONYX_UNPOOLS(3)
#undef SARDONYX_UNPOOLS

}  // namespace sardonyx::eager::nn
