// Functions of layers without state, and linear algebra.
#include "eager/functional/functional.h"

#include <pybind11/stl.h>

#include <cmath>

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
  of_arguments(m, "batch_norm", "By the statistics given; see BatchNorm2d for training.",
               [](CallArguments& a) {
                 const auto x = a.need<Tensor>("input"), mean = a.need<Tensor>("running_mean"),
                            variance = a.need<Tensor>("running_var");
                 Tensor weight, bias;
                 double eps = 1e-5;
                 a.take("weight", weight).take("bias", bias).take("eps", eps).finish();
                 return [=](const Loc& loc) {
                   return nn::batch_norm(x, mean, variance, weight, bias, eps, loc);
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

void bind_dropout(py::module_& m) {
  m.def(
      "dropout",
      [](const Tensor& x, double p, bool training) {
        return unlocked([&](const Loc& loc) { return nn::dropout(x, p, training, loc); });
      },
      py::arg("input"), py::arg("p") = 0.5, py::arg("training") = true);
  m.def(
      "pixel_shuffle",
      [](const Tensor& x, int64_t factor) { return nn::pixel_shuffle(x, factor, python_line()); },
      py::arg("input"), py::arg("upscale_factor"));
  m.def("accuracy", &nn::accuracy, py::arg("scores"), py::arg("target"), py::arg("k") = 1,
        "The share of targets among the k greatest scores.");
}

void bind_sampling(py::module_& m) {
  RowDefiner define(m);
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
}

using OfMatrix = Tensor (*)(const Tensor&, Loc);
using OfMatrices = Tensor (*)(const Tensor&, const Tensor&, Loc);

py::tuple tuple_of(const linalg::LU& found) {
  return py::make_tuple(found.P, found.L, found.U);
}

void bind_lu(py::module_& m) {
  m.def(
      "lu", [](const Tensor& a) { return tuple_of(linalg::lu(a, python_line())); }, py::arg("A"),
      "(P, L, U) with A = P @ L @ U.");
  m.def(
      "lu_factor",
      [](const Tensor& a) {
        const linalg::LUFactors found = linalg::lu_factor(a, python_line());
        return py::make_tuple(found.LU, found.pivots);
      },
      py::arg("A"));
  m.def(
      "lu_unpack",
      [](const Tensor& lu, const Tensor& pivots) {
        return tuple_of(linalg::lu_unpack(lu, pivots, python_line()));
      },
      py::arg("LU"), py::arg("pivots"), "(P, L, U) of what lu_factor gives.");
  m.def(
      "lu_solve",
      [](const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
        return linalg::lu_solve(lu, pivots, b, {.left = left, .adjoint = adjoint}, python_line());
      },
      py::arg("LU"), py::arg("pivots"), py::arg("B"), py::kw_only(), py::arg("left") = true,
      py::arg("adjoint") = false);
}

void bind_linalg(py::module_& module) {
  py::module_ m =
      module.def_submodule("linalg", "Linear algebra of matrices [..., rows, columns].");
  for (const auto& [name, function] : {std::pair<const char*, OfMatrix>{"inv", linalg::inv},
                                       {"det", linalg::det},
                                       {"eigvalsh", linalg::eigvalsh},
                                       {"svdvals", linalg::svdvals},
                                       {"matrix_exp", linalg::matrix_exp}}) {
    m.def(
        name,
        [function = function](const Tensor& a) {
          return unlocked([&](const Loc& loc) { return function(a, loc); });
        },
        py::arg("A"));
  }
  for (const auto& [name, function] :
       {std::pair<const char*, OfMatrices>{"solve", linalg::solve}, {"lstsq", linalg::lstsq}}) {
    m.def(
        name,
        [function = function](const Tensor& a, const Tensor& b) {
          return unlocked([&](const Loc& loc) { return function(a, b, loc); });
        },
        py::arg("A"), py::arg("B"));
  }
  m.def(
      "cholesky",
      [](const Tensor& a, bool upper) { return linalg::cholesky(a, upper, python_line()); },
      py::arg("A"), py::arg("upper") = false);
  bind_lu(m);
  bind_linalg_rows(m);
  m.def(
      "qr",
      [](const Tensor& a) {
        const linalg::QR found = linalg::qr(a, python_line());
        return py::make_tuple(found.Q, found.R);
      },
      py::arg("A"));
  m.def(
      "eigh",
      [](const Tensor& a) {
        const linalg::Eigen found = linalg::eigh(a, python_line());
        return py::make_tuple(found.eigenvalues, found.eigenvectors);
      },
      py::arg("A"));
  m.def(
      "svd",
      [](const Tensor& a) {
        const linalg::SVD found = linalg::svd(a, python_line());
        return py::make_tuple(found.U, found.S, found.Vh);
      },
      py::arg("A"), "(U, S, Vh) with full_matrices=False.");
  m.def(
      "slogdet",
      [](const Tensor& a) {
        const linalg::SignLogDet found = linalg::slogdet(a, python_line());
        return py::make_tuple(found.sign, found.logabsdet);
      },
      py::arg("A"));
  m.def(
      "pinv",
      [](const Tensor& a, std::optional<double> rtol) {
        return linalg::pinv(a, rtol, python_line());
      },
      py::arg("A"), py::arg("rtol") = py::none());
  m.def(
      "matrix_rank",
      [](const Tensor& a, std::optional<double> rtol) {
        return linalg::matrix_rank(a, rtol, python_line());
      },
      py::arg("A"), py::arg("rtol") = py::none());
  m.def(
      "vector_norm",
      [](const Tensor& x, double ord, const py::object& dim, bool keepdim) {
        return linalg::vector_norm(x, ord, int64s_from(dim), keepdim, python_line());
      },
      py::arg("x"), py::arg("ord") = 2.0, py::arg("dim") = py::none(), py::arg("keepdim") = false);
}

}  // namespace

void bind_functional(py::module_& module, py::module_& nn_module) {
  bind_convolutions(nn_module);
  bind_pools(nn_module);
  bind_norms(nn_module);
  bind_windows(nn_module);
  bind_dropout(nn_module);
  bind_sampling(nn_module);
  bind_linalg(module);
}

}  // namespace sardonyx::python::eager_layer
