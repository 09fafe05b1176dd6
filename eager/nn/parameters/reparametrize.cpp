#include "eager/nn/parameters/reparametrize.h"

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "ir/type.h"

namespace sardonyx::eager::nn::detail {
namespace {

std::vector<int64_t> axes_but(const Tensor& x, std::optional<int64_t> dim) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < static_cast<int64_t>(x.rank()); ++axis) {
    if (axis != dim) axes.push_back(axis);
  }
  return axes;
}

// The weight as a matrix, one row for each slice along `dim`.
Tensor as_matrix(const Tensor& weight, int64_t dim, const Loc& loc) {
  std::vector<int64_t> order = axes_but(weight, dim);
  order.insert(order.begin(), dim);
  const Tensor transposed = dim == 0 ? weight : weight.permute(order, loc);
  return transposed.reshape({transposed.size(0), -1}, loc);
}

Tensor unit(const Tensor& x, double eps, const Loc& loc) {
  return div({x, loc}, maximum({norm(x, loc), loc}, eps));
}

}  // namespace

void Reparametrized::adopt(Module& wrapper, const Module& layer, const std::string& weight_name) {
  if (!layer.named_children().empty()) {
    fail(ErrorCode::kInvalidArgument, wrapper.type_name(), ": expected a layer without layers of ",
         "its own, got ", layer.type_name());
  }
  for (const auto& [name, tensor] : layer.named_parameters()) {
    if (name == weight_name) continue;
    const bool is_trained = tensor.requires_grad();
    Tensor own = wrapper.parameter(name, tensor);
    own.set_requires_grad(is_trained);
  }
  for (const auto& [name, tensor] : layer.named_buffers())
    wrapper.buffer(name, tensor);
}

void Reparametrized::check_weight(const Module& layer, const Tensor& weight,
                                  const std::string& name, std::optional<int64_t>& dim) {
  const auto rank = static_cast<int64_t>(weight.defined() ? weight.rank() : 0);
  if (rank < 1 || !layer.state_dict().contains(name)) {
    fail(ErrorCode::kInvalidArgument, layer.type_name(), " has no tensor '", name,
         "' with axes that could be normalised");
  }
  if (!dim) return;
  if (*dim < -rank || *dim >= rank) {
    fail(ErrorCode::kInvalidArgument, layer.type_name(), ": expected a dim within [", -rank, ", ",
         rank, ") of ", name, ' ', weight.type(), ", got ", *dim);
  }
  if (*dim < 0) *dim += rank;
}

void Reparametrized::set_weight(const Module& layer, const Tensor& weight, const Tensor& value) {
  if (weight.dtype() != value.dtype()) layer.to(value.dtype());
  weight.assign(value.detach());
}

Tensor weight_norm_of(const Tensor& v, std::optional<int64_t> dim, const Loc& loc) {
  const Tensor squares = square(v, loc);
  return sqrt(dim ? squares.sum(axes_but(v, dim), true, loc) : squares.sum({}, false, loc), loc);
}

Tensor normalized_weight(const Tensor& v, const Tensor& g, std::optional<int64_t> dim,
                         const Loc& loc) {
  const Tensor scale = div({g, loc}, weight_norm_of(v, dim, loc));
  return mul({v, loc}, scale);
}

SpectralState SpectralState::made(const Tensor& weight, int64_t dim, int64_t iterations,
                                  double eps) {
  if (iterations < 1) {
    fail(ErrorCode::kInvalidArgument, "spectral_norm: expected at least 1 power iteration, got ",
         iterations);
  }
  const Loc loc = Loc::current();
  const Tensor matrix = as_matrix(weight, dim, loc);
  const CreateOptions options{.dtype = weight.dtype()};
  return {unit(randn({matrix.size(0)}, options), eps, loc),
          unit(randn({matrix.size(1)}, options), eps, loc), dim, iterations, eps};
}

Tensor SpectralState::normalized(const Tensor& weight, bool is_training, const Loc& loc) const {
  const Tensor matrix = as_matrix(weight, dim, loc);
  Tensor left = u, right = v;
  if (is_training) {
    const NoGrad no_grad;
    const Tensor now = matrix.detach();
    for (int64_t i = 0; i < iterations; ++i) {
      right = unit(matmul(now.t(loc), left, loc), eps, loc);
      left = unit(matmul(now, right, loc), eps, loc);
    }
    u.assign(left, loc);
    v.assign(right, loc);
  }
  const Tensor products = mul({left, loc}, matmul(matrix, right, loc));
  return div({weight, loc}, products.sum({}, false, loc));
}

}  // namespace sardonyx::eager::nn::detail
