// Layers whose weight is computed from other parameters in each call: weight and spectral
// normalisation. `weight_norm(nn::Linear(4, 8))` is a layer as that one is; remove() gives it back
// with the weight that it has by then.
#pragma once

#include <optional>
#include <string>

#include "eager/nn/convolution.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

namespace detail {

// What is common to both: the layer's other tensors are those of the wrapper, under their names.
class Reparametrized {
 protected:
  // Registers the layer's parameters and buffers but `weight_name` in the wrapper. Throws
  // kInvalidArgument where the layer has layers of its own.
  static void adopt(Module& wrapper, const Module& layer, const std::string& weight_name);
  // Throws kInvalidArgument where the weight is not the parameter of that name, or has no such
  // axis. A negative axis counts from the end and is replaced by the one it means.
  static void check_weight(const Module& layer, const Tensor& weight, const std::string& name,
                           std::optional<int64_t>& dim);
  // Gives the layer's own tensor the value that was computed last.
  static void set_weight(const Module& layer, const Tensor& weight, const Tensor& value);
};

// The Euclidean norms of v's slices along `dim`, of v's rank with size 1 elsewhere; no dim: one
// norm of all elements.
Tensor weight_norm_of(const Tensor& v, std::optional<int64_t> dim, const Loc& loc);
// g * v / |v|, the norms as weight_norm_of() takes them.
Tensor normalized_weight(const Tensor& v, const Tensor& g, std::optional<int64_t> dim,
                         const Loc& loc);

// Running estimates of the first singular vectors of a matrix.
struct SpectralState {
  Tensor u, v;  // [rows], [columns]
  int64_t dim = 0, iterations = 1;
  double eps = 1e-12;
  // Random unit vectors. Throws kInvalidArgument where there is no iteration.
  static SpectralState made(const Tensor& weight, int64_t dim, int64_t iterations, double eps);
  // weight by its greatest singular value; moves the estimates on where `is_training`.
  Tensor normalized(const Tensor& weight, bool is_training, const Loc& loc) const;
};

// Layers whose weight has the output channels along axis 1.
template <typename L>
concept TransposedConvolution = std::same_as<L, ConvTranspose1d> ||
    std::same_as<L, ConvTranspose2d> || std::same_as<L, ConvTranspose3d>;

}  // namespace detail

// Which tensor of the layer is replaced, and how its norms are taken.
template <typename L>
struct WeightNormOptions {
  Tensor L::*weight = &L::weight;  // the layer's member
  std::string name = "weight";     // what it is called as a parameter
  // The axis of the weight whose slices have norms of their own; none: one norm.
  std::optional<int64_t> dim = 0;
};

// weight = weight_g * weight_v / |weight_v| (Salimans and Kingma, 2016). Parameters are
// "weight_g", "weight_v" and the layer's others, as with torch.nn.utils.weight_norm.
template <std::derived_from<Module> L>
class WeightNorm : public Layer<WeightNorm<L>>, detail::Reparametrized {
 public:
  explicit WeightNorm(const L& layer, WeightNormOptions<L> options = {},
                      Loc loc = Loc::current()) try
      : layer_(layer), options_(std::move(options)) {
    const Tensor& initial = layer.*options_.weight;
    this->check_weight(layer, initial, options_.name, options_.dim);
    this->adopt(*this, layer, options_.name);
    const Tensor now = initial.detach();
    weight_g =
        this->parameter(options_.name + "_g", detail::weight_norm_of(now, options_.dim, loc));
    weight_v = this->parameter(options_.name + "_v", now);
    this->describe(layer.type_name() + " " + layer.description());
  } catch (const Error& error) {
    throw placed(error, loc);
  }
  template <typename... Inputs>
  requires requires(const L& layer, const Inputs&... inputs) { layer.forward(inputs...); }
  auto forward(const Inputs&... inputs) const {
    L layer = layer_;
    layer.*options_.weight = weight(this->caller());
    return layer.forward(inputs...);
  }
  // The weight that forward() uses now; gradients flow to the parameters it is made of.
  Tensor weight(Loc loc = Loc::current()) const {
    return detail::normalized_weight(weight_v, weight_g, options_.dim, loc);
  }
  // The layer by itself, with the weight of now as its parameter.
  L remove() const {
    this->set_weight(layer_, layer_.*options_.weight, weight());
    return layer_;
  }
  // The norms and the direction; both are trained. [.., 1, ..] and the weight's own shape.
  Tensor weight_g, weight_v;

 private:
  L layer_;
  WeightNormOptions<L> options_;
};

// Which tensor of the layer is replaced, and how its greatest singular value is estimated.
template <typename L>
struct SpectralNormOptions {
  Tensor L::*weight = &L::weight;
  std::string name = "weight";
  int64_t n_power_iterations = 1;  // in each call in training mode
  double eps = 1e-12;
  // The axis that becomes the matrix's rows; 1 for transposed convolutions, else 0.
  std::optional<int64_t> dim = {};
};

// weight = weight_orig / its greatest singular value (Miyato et al., 2018), which power iterations
// estimate. Parameters are "weight_orig" and the layer's others, buffers "weight_u" and "weight_v",
// as with torch.nn.utils.spectral_norm.
template <std::derived_from<Module> L>
class SpectralNorm : public Layer<SpectralNorm<L>>, detail::Reparametrized {
 public:
  explicit SpectralNorm(const L& layer, SpectralNormOptions<L> options = {},
                        Loc loc = Loc::current()) try
      : layer_(layer), options_(std::move(options)) {
    const Tensor& initial = layer.*options_.weight;
    if (!options_.dim) options_.dim = detail::TransposedConvolution<L> ? 1 : 0;
    this->check_weight(layer, initial, options_.name, options_.dim);
    this->adopt(*this, layer, options_.name);
    const Tensor now = initial.detach();
    weight_orig = this->parameter(options_.name + "_orig", now);
    state_ =
        detail::SpectralState::made(now, *options_.dim, options_.n_power_iterations, options_.eps);
    this->buffer(options_.name + "_u", state_.u);
    this->buffer(options_.name + "_v", state_.v);
    this->describe(layer.type_name() + " " + layer.description());
  } catch (const Error& error) {
    throw placed(error, loc);
  }
  template <typename... Inputs>
  requires requires(const L& layer, const Inputs&... inputs) { layer.forward(inputs...); }
  auto forward(const Inputs&... inputs) const {
    L layer = layer_;
    layer.*options_.weight = state_.normalized(weight_orig, this->is_training(), this->caller());
    return layer.forward(inputs...);
  }
  // By the estimates as they are.
  Tensor weight(Loc loc = Loc::current()) const {
    return state_.normalized(weight_orig, false, loc);
  }
  L remove() const {
    this->set_weight(layer_, layer_.*options_.weight, weight());
    return layer_;
  }
  // The weight before the division, which is trained.
  Tensor weight_orig;

 private:
  L layer_;
  SpectralNormOptions<L> options_;
  detail::SpectralState state_;
};

// The layer with a weight of a trained norm and a trained direction. The layer itself is copied;
// its tensors are shared.
template <std::derived_from<Module> L>
WeightNorm<L> weight_norm(const L& layer, WeightNormOptions<L> options = {},
                          Loc loc = Loc::current()) {
  return WeightNorm<L>(layer, std::move(options), loc);
}
// The layer with a weight whose greatest singular value is 1, as far as the estimate goes.
template <std::derived_from<Module> L>
SpectralNorm<L> spectral_norm(const L& layer, SpectralNormOptions<L> options = {},
                              Loc loc = Loc::current()) {
  return SpectralNorm<L>(layer, std::move(options), loc);
}

}  // namespace sardonyx::eager::nn
