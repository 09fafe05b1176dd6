// Functions of layers without state, and linear algebra.
#include "eager/functional/functional.h"

#include <pybind11/stl.h>

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/functional/linalg.h"
#include "eager/nn.h"
#include "eager/nn/fold.h"
#include "tools/python/module/eager/function_rows.h"
#include "tools/python/module/eager/layers.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace nn = eager::nn;
namespace linalg = eager::linalg;

// A function of `tensors` tensors and what `make(arguments)` takes, which gives what to call.
template <typename Make>
void of_arguments(py::module_& m, const char* name, const char* doc, const Make& make) {
  const std::string signature = signature_text(name, make) + "\n\n" + doc;
  m.def(
      name,
      [name, make](const py::args& args, const py::kwargs& kwargs) {
        CallArguments arguments(name, args, kwargs);
        const auto call = make(arguments);
        return unlocked([&](const Loc& loc) { return call(loc); });
      },
      signature.c_str());
}

using Convolution = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, nn::ConvolutionOptions,
                               Loc);
using TransposedConvolution = Tensor (*)(const Tensor&, const Tensor&, const Tensor&,
                                         nn::TransposedConvolutionOptions, Loc);
using MaxPool = Tensor (*)(const Tensor&, nn::Sizes, nn::MaxPoolOptions, Loc);
using AveragePool = Tensor (*)(const Tensor&, nn::Sizes, nn::AvgPoolOptions, Loc);
using AdaptivePool = Tensor (*)(const Tensor&, nn::Sizes, Loc);

void bind_convolutions(py::module_& m) {
  for (const auto& [name, function] : {std::pair<const char*, Convolution>{"conv1d", nn::conv1d},
                                       {"conv2d", nn::conv2d},
                                       {"conv3d", nn::conv3d}}) {
    of_arguments(m, name, "weight [out, in / groups, kernel...]",
                 [function = function](CallArguments& a) {
                   const auto x = a.need<Tensor>("input"), w = a.need<Tensor>("weight");
                   Tensor bias;
                   nn::ConvolutionOptions o;
                   a.take("bias", bias).take("stride", o.stride).take("padding", o.padding);
                   a.take("dilation", o.dilation).take("groups", o.groups).finish();
                   return [=](const Loc& loc) { return function(x, w, bias, o, loc); };
                 });
  }
  for (const auto& [name, function] :
       {std::pair<const char*, TransposedConvolution>{"conv_transpose1d", nn::conv_transpose1d},
        {"conv_transpose2d", nn::conv_transpose2d},
        {"conv_transpose3d", nn::conv_transpose3d}}) {
    of_arguments(m, name, "weight [in, out / groups, kernel...]",
                 [function = function](CallArguments& a) {
                   const auto x = a.need<Tensor>("input"), w = a.need<Tensor>("weight");
                   Tensor bias;
                   nn::TransposedConvolutionOptions o;
                   a.take("bias", bias).take("stride", o.stride).take("padding", o.padding);
                   a.take("output_padding", o.output_padding).take("groups", o.groups);
                   a.take("dilation", o.dilation).finish();
                   return [=](const Loc& loc) { return function(x, w, bias, o, loc); };
                 });
  }
}

using IndexedPool = std::pair<Tensor, Tensor> (*)(const Tensor&, nn::Sizes,
                                                  const nn::MaxPoolOptions&, Loc);
using Unpool = Tensor (*)(const Tensor&, const Tensor&, nn::Sizes, const nn::MaxUnpoolOptions&,
                          Loc);

// Sizes for the spatial axes of what torch gives for all axes as well.
std::optional<nn::Sizes> spatial_size(const py::object& size, size_t axes) {
  if (size.is_none()) return {};
  std::vector<int64_t> all = int64s_from(size);
  if (all.size() > axes) all.erase(all.begin(), all.end() - static_cast<ptrdiff_t>(axes));
  return nn::Sizes(all);
}

void bind_unpools(py::module_& m) {
  for (const auto& [name, function] :
       {std::pair<const char*, IndexedPool>{"max_pool1d_with_indices", nn::max_pool1d_with_indices},
        {"max_pool2d_with_indices", nn::max_pool2d_with_indices},
        {"max_pool3d_with_indices", nn::max_pool3d_with_indices}}) {
    of_arguments(m, name, "The greatest of each window, and where in its channel it is.",
                 [function = function](CallArguments& a) {
                   const auto x = a.need<Tensor>("input");
                   const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
                   nn::MaxPoolOptions o;
                   take(a, o);
                   a.finish();
                   return [=](const Loc& loc) { return function(x, kernel, o, loc); };
                 });
  }
  RowDefiner define(m);
  const auto unpool = [&]<Unpool function, size_t axes>(const char* name) {
    define(text(name, "(input, indices, kernel_size, stride=None, padding=0, output_size=None)")
               .c_str(),
           [](const Tensor& x, const Tensor& indices, const nn::Sizes& kernel,
              const std::optional<nn::Sizes>& stride, const nn::Sizes& padding,
              const py::object& output_size, Loc loc) {
             const nn::MaxUnpoolOptions options{stride, padding, spatial_size(output_size, axes)};
             const UnlockedInterpreter released;
             return function(x, indices, kernel, options, loc);
           },
           {"Zeros but for the elements at the places that a max pool gave."});
  };
  unpool.operator()<nn::max_unpool1d, 1>("max_unpool1d");
  unpool.operator()<nn::max_unpool2d, 2>("max_unpool2d");
  unpool.operator()<nn::max_unpool3d, 3>("max_unpool3d");
}

void bind_pools(py::module_& m) {
  for (const auto& [name, function] :
       {std::pair<const char*, MaxPool>{"max_pool1d", nn::max_pool1d},
        {"max_pool2d", nn::max_pool2d},
        {"max_pool3d", nn::max_pool3d}}) {
    of_arguments(m, name, "The greatest of each window.", [function = function](CallArguments& a) {
      const auto x = a.need<Tensor>("input");
      const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
      nn::MaxPoolOptions o;
      take(a, o);
      a.finish();
      return [=](const Loc& loc) { return function(x, kernel, o, loc); };
    });
  }
  bind_unpools(m);
  for (const auto& [name, function] :
       {std::pair<const char*, AveragePool>{"avg_pool1d", nn::avg_pool1d},
        {"avg_pool2d", nn::avg_pool2d},
        {"avg_pool3d", nn::avg_pool3d}}) {
    of_arguments(m, name, "The mean of each window.", [function = function](CallArguments& a) {
      const auto x = a.need<Tensor>("input");
      const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
      nn::AvgPoolOptions o;
      take(a, o);
      a.finish();
      return [=](const Loc& loc) { return function(x, kernel, o, loc); };
    });
  }
  for (const auto& [name, function] :
       {std::pair<const char*, AdaptivePool>{"adaptive_avg_pool1d", nn::adaptive_avg_pool1d},
        {"adaptive_avg_pool2d", nn::adaptive_avg_pool2d},
        {"adaptive_avg_pool3d", nn::adaptive_avg_pool3d},
        {"adaptive_max_pool1d", nn::adaptive_max_pool1d},
        {"adaptive_max_pool2d", nn::adaptive_max_pool2d},
        {"adaptive_max_pool3d", nn::adaptive_max_pool3d}}) {
    of_arguments(m, name, "Windows such that the output has this size.",
                 [function = function](CallArguments& a) {
                   const auto x = a.need<Tensor>("input");
                   const nn::Sizes size = a.need("output_size", nn::Sizes(1));
                   a.finish();
                   return [=](const Loc& loc) { return function(x, size, loc); };
                 });
  }
}

// By the batch's statistics, with which the running ones (mean, variance) move on; either may be
// undefined.
Tensor batch_normalized(const Tensor& x, const std::pair<Tensor, Tensor>& running,
                        const std::pair<Tensor, Tensor>& affine, double momentum, double eps,
                        const Loc& loc) {
  eager::Axes axes{0};
  for (size_t axis = 2; axis < x.rank(); ++axis)
    axes.push_back(static_cast<int64_t>(axis));
  const auto [variance, mean] = eager::var_mean(x, axes, false, 0, loc);
  {
    const eager::NoGrad no_grad;
    const auto move = [&](const Tensor& kept, const Tensor& now) {
      if (kept.defined()) kept.assign(eager::lerp(kept.detach(), {now, loc}, momentum), loc);
    };
    move(running.first, mean.detach());
    move(running.second, eager::var(x.detach(), axes, false, 1, loc));
  }
  return nn::batch_norm(x, mean, variance, affine.first, affine.second, eps, loc);
}

void bind_norms(py::module_& m) {
  of_arguments(m, "layer_norm", "Over the last axes.", [](CallArguments& a) {
    const auto x = a.need<Tensor>("input");
    const auto shape = a.need<std::vector<int64_t>>("normalized_shape");
    Tensor weight, bias;
    double eps = 1e-5;
    a.take("weight", weight).take("bias", bias).take("eps", eps).finish();
    return [=](const Loc& loc) { return nn::layer_norm(x, shape, weight, bias, eps, loc); };
  });
  of_arguments(m, "group_norm", "Over groups of channels.", [](CallArguments& a) {
    const auto x = a.need<Tensor>("input");
    const auto groups = a.need<int64_t>("num_groups");
    Tensor weight, bias;
    double eps = 1e-5;
    a.take("weight", weight).take("bias", bias).take("eps", eps).finish();
    return [=](const Loc& loc) { return nn::group_norm(x, groups, weight, bias, eps, loc); };
  });
  of_arguments(m, "batch_norm",
               "By the statistics given, or in training by the batch's, which move them.",
               [](CallArguments& a) {
                 const auto x = a.need<Tensor>("input"), mean = a.need<Tensor>("running_mean"),
                            variance = a.need<Tensor>("running_var");
                 Tensor weight, bias;
                 bool training = false;
                 double momentum = 0.1, eps = 1e-5;
                 a.take("weight", weight).take("bias", bias).take("training", training);
                 a.take("momentum", momentum).take("eps", eps).finish();
                 return [=](const Loc& loc) {
                   if (!training) return nn::batch_norm(x, mean, variance, weight, bias, eps, loc);
                   return batch_normalized(x, {mean, variance}, {weight, bias}, momentum, eps, loc);
                 };
               });
  of_arguments(m, "normalize", "Divided by the p-norm along an axis.", [](CallArguments& a) {
    const auto x = a.need<Tensor>("input");
    nn::NormalizeOptions o;
    a.take("p", o.p).take("dim", o.axis).take("eps", o.eps).finish();
    return [=](const Loc& loc) { return nn::normalize(x, o, loc); };
  });
}

void bind_windows(py::module_& m) {
  of_arguments(m, "unfold", "Windows of images as columns.", [](CallArguments& a) {
    const auto x = a.need<Tensor>("input");
    const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
    nn::FoldOptions o;
    a.take("dilation", o.dilation).take("padding", o.padding).take("stride", o.stride).finish();
    return [=](const Loc& loc) { return nn::unfold(x, kernel, o, loc); };
  });
  of_arguments(m, "fold", "The sum of what windows hold at each place.", [](CallArguments& a) {
    const auto x = a.need<Tensor>("input");
    const nn::Sizes size = a.need("output_size", nn::Sizes(1)),
                    kernel = a.need("kernel_size", nn::Sizes(1));
    nn::FoldOptions o;
    a.take("dilation", o.dilation).take("padding", o.padding).take("stride", o.stride).finish();
    return [=](const Loc& loc) { return nn::fold(x, size, kernel, o, loc); };
  });
}

void bind_sampling(py::module_& m) {
  RowDefiner define(m);
  define("dropout(input, p=0.5, training=True, inplace=False)",
         [](const Tensor& x, double p, bool training, bool, Loc loc) {
           return nn::dropout(x, p, training, loc);
         });
  define("alpha_dropout(input, p=0.5, training=False, inplace=False)",
         [](const Tensor& x, double p, bool training, bool, Loc loc) {
           return nn::alpha_dropout(x, p, training, loc);
         });
  define("local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0)",
         [](const Tensor& x, int64_t size, double alpha, double beta, double k, Loc loc) {
           return nn::local_response_norm(x, size, {alpha, beta, k}, loc);
         });
  define("pixel_shuffle(input, upscale_factor)", nn::pixel_shuffle);
  define("accuracy(scores, target, k=1)", nn::accuracy,
         {"The share of targets among the k greatest scores."});
  define("grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=False)",
         [](const Tensor& x, const Tensor& grid, const std::string& mode,
            const std::string& padding, bool align_corners, Loc loc) {
           return nn::grid_sample(x, grid, {mode, padding, align_corners}, loc);
         });
  define("affine_grid(theta, size, align_corners=False)", nn::affine_grid);
  define("gumbel_softmax(logits, tau=1.0, hard=False, dim=-1)",
         [](const Tensor& logits, double tau, bool hard, int64_t dim, Loc loc) {
           return eager::gumbel_softmax(logits, {tau, hard, dim}, loc);
         });
  define("pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False)", nn::pairwise_distance);
  define("rms_norm(input, normalized_shape, weight=None, eps=None)", nn::rms_norm);
  define("channel_shuffle(input, groups)", nn::channel_shuffle);
  define("pixel_unshuffle(input, downscale_factor)", nn::pixel_unshuffle);
  define("bilinear(input1, input2, weight, bias=None)", nn::bilinear);
  define("rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False)",
         [](const Tensor& x, double lower, double upper, bool training, bool, Loc loc) {
           return nn::rrelu(x, lower, upper, training, loc);
         });
  define(
      "embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2.0, "
      "scale_grad_by_freq=False, mode='mean', sparse=False, per_sample_weights=None)",
      [](const Tensor& indices, const Tensor& weight, const Tensor& offsets,
         const std::optional<double>& max_norm, double, bool by_frequency, const std::string& mode,
         bool, const Tensor& factors, Loc loc) {
        if (max_norm || by_frequency) {
          throw py::type_error(
              "embedding_bag(): max_norm and scale_grad_by_freq: expected None and False, rows "
              "are neither renormed nor scaled here");
        }
        return nn::embedding_bag(indices, weight, offsets, {mode}, factors, loc);
      },
      {"Rows of weight as sum, mean or max of bags; gradients are dense."});
  define("embedding(input, weight)", [](const Tensor& indices, const Tensor& weight, Loc loc) {
    return eager::index_select(weight, 0, indices, loc);
  });
}

linalg::MatrixNorm matrix_norm_from(const py::object& ord) {
  using Norm = linalg::MatrixNorm;
  const bool is_word = py::isinstance<py::str>(ord);
  const std::string word = is_word ? ord.cast<std::string>() : "";
  if (word == "fro") return Norm::kFrobenius;
  if (word == "nuc") return Norm::kNuclear;
  const double number = is_word ? 0 : double(py::float_(ord));
  if (number == 1) return Norm::kOne;
  if (number == -1) return Norm::kMinusOne;
  if (number == 2) return Norm::kTwo;
  if (number == -2) return Norm::kMinusTwo;
  if (std::isinf(number)) return number > 0 ? Norm::kInfinity : Norm::kMinusInfinity;
  throw py::type_error(
      "matrix_norm(): ord: expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got " +
      std::string(py::repr(ord)));
}

void bind_linalg_rows(py::module_& m) {
  RowDefiner define(m);
  define("norm(A, ord=None, dim=None, keepdim=False)",
         [](const Tensor& x, const std::optional<double>& ord, const eager::Axes& dim, bool keepdim,
            Loc loc) { return linalg::vector_norm(x, ord.value_or(2), dim, keepdim, loc); });
  define("matrix_norm(A, ord='fro', keepdim=False)",
         [](const Tensor& a, const py::object& ord, bool keepdim, Loc loc) {
           return linalg::matrix_norm(a, matrix_norm_from(ord), keepdim, loc);
         });
  define("cond(A)", linalg::cond);
  define("solve_triangular(A, B, *, upper, unitriangular=False)",
         [](const Tensor& a, const Tensor& b, bool upper, bool unitriangular, Loc loc) {
           return linalg::solve_triangular(a, b, {upper, unitriangular}, loc);
         });
  define("cholesky_solve(B, L)", linalg::cholesky_solve);
  define("matrix_power(A, n)", linalg::matrix_power);
  define("multi_dot(tensors)", linalg::multi_dot);
  define("cross(input, other, dim=-1)", linalg::cross);
  define("vecdot(x, y, dim=-1)", linalg::vecdot);
  define("vander(x, N=None)", linalg::vander);
  define("tensorinv(A, ind=2)", linalg::tensorinv);
  define("tensorsolve(A, B, dims=None)", linalg::tensorsolve);
}

std::vector<Tensor> parts_of(const linalg::LU& found) {
  return {found.P, found.L, found.U};
}

void bind_factors(py::module_& m) {
  using Tensors = std::vector<Tensor>;
  RowDefiner define(m);
  define("lu(A)", [](const Tensor& a, Loc loc) { return parts_of(linalg::lu(a, loc)); },
         {"(P, L, U) with A = P @ L @ U."});
  define("lu_factor(A)", [](const Tensor& a, Loc loc) -> Tensors {
    const linalg::LUFactors found = linalg::lu_factor(a, loc);
    return {found.LU, found.pivots};
  });
  define("lu_unpack(LU, pivots)",
         [](const Tensor& lu, const Tensor& pivots, Loc loc) {
           return parts_of(linalg::lu_unpack(lu, pivots, loc));
         },
         {"(P, L, U) of what lu_factor gives."});
  define("lu_solve(LU, pivots, B, *, left=True, adjoint=False)",
         [](const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint,
            Loc loc) {
           return linalg::lu_solve(lu, pivots, b, {.left = left, .adjoint = adjoint}, loc);
         });
  define("cholesky(A, upper=False)", linalg::cholesky);
  define("qr(A)", [](const Tensor& a, Loc loc) -> Tensors {
    const linalg::QR found = linalg::qr(a, loc);
    return {found.Q, found.R};
  });
  define("eigh(A)", [](const Tensor& a, Loc loc) -> Tensors {
    const linalg::Eigen found = linalg::eigh(a, loc);
    return {found.eigenvalues, found.eigenvectors};
  });
  define(
      "eig(A)",
      [](const Tensor& a, Loc loc) -> Tensors {
        const linalg::Eigen found = linalg::eig(a, loc);
        return {found.eigenvalues, found.eigenvectors};
      },
      {"Values [..., n, 2] and vectors [..., n, n, 2]: complex numbers are pairs in the last axis. "
       "They have no gradients."});
  define("eigvals(A)", linalg::eigvals);
  define("svd(A)",
         [](const Tensor& a, Loc loc) -> Tensors {
           const linalg::SVD found = linalg::svd(a, loc);
           return {found.U, found.S, found.Vh};
         },
         {"(U, S, Vh) with full_matrices=False."});
  define("slogdet(A)", [](const Tensor& a, Loc loc) -> Tensors {
    const linalg::SignLogDet found = linalg::slogdet(a, loc);
    return {found.sign, found.logabsdet};
  });
}

void bind_linalg(py::module_& module) {
  py::module_ m =
      module.def_submodule("linalg", "Linear algebra of matrices [..., rows, columns].");
  RowDefiner define(m);
  define("inv(A)", linalg::inv);
  define("det(A)", linalg::det);
  define("eigvalsh(A)", linalg::eigvalsh);
  define("svdvals(A)", linalg::svdvals);
  define("matrix_exp(A)", linalg::matrix_exp);
  define("solve(A, B)", linalg::solve);
  define("lstsq(A, B)", linalg::lstsq);
  define("pinv(A, rtol=None)", linalg::pinv);
  define("matrix_rank(A, rtol=None)", linalg::matrix_rank);
  define("vector_norm(x, ord=2.0, dim=None, keepdim=False)", linalg::vector_norm);
  bind_factors(m);
  bind_linalg_rows(m);
}

}  // namespace

void bind_functional(py::module_& module, py::module_& nn_module) {
  bind_convolutions(nn_module);
  bind_pools(nn_module);
  bind_norms(nn_module);
  bind_windows(nn_module);
  bind_sampling(nn_module);
  bind_linalg(module);
}

}  // namespace sardonyx::python::eager_layer
