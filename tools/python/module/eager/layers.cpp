// Layers of one tensor, under torch.nn's names and order of arguments.
#include "tools/python/module/eager/layers.h"

#include "eager/nn.h"
#include "eager/nn/fold.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace nn = eager::nn;

template <typename L>
void plain(py::module_& module, const char* name, const char* doc) {
  define_layer<L>(module, name, doc, [](CallArguments& a) {
    a.finish();
    return L();
  });
}
// torch writes some results over their arguments on request, which nobody sees where values are
// immutable.
template <typename L>
void plain_in_place(py::module_& module, const char* name, const char* doc) {
  define_layer<L>(module, name, doc, [](CallArguments& a) {
    bool inplace = false;
    a.take("inplace", inplace).finish();
    return L();
  });
}
// A layer of one number, and inplace.
template <typename L>
void with_one_in_place(py::module_& module, const char* name, const char* parameter,
                       double fallback, const char* doc) {
  define_layer<L>(module, name, doc, [parameter, fallback](CallArguments& a) {
    double value = fallback;
    bool inplace = false;
    a.take(parameter, value).take("inplace", inplace).finish();
    if constexpr (std::is_constructible_v<L, double, Loc>)
      return L(value, python_line());
    else
      return L(value);
  });
}
// A layer of one number, or word.
template <typename L, typename T>
void with_one(py::module_& module, const char* name, const char* parameter, T fallback,
              const char* doc) {
  define_layer<L>(module, name, doc, [parameter, fallback](CallArguments& a) {
    T value = fallback;
    a.take(parameter, value).finish();
    if constexpr (std::is_constructible_v<L, T, Loc>)
      return L(value, python_line());
    else
      return L(value);
  });
}

void bind_activations(py::module_& m) {
  plain_in_place<nn::ReLU>(m, "ReLU", "max(x, 0)");
  plain_in_place<nn::ReLU6>(m, "ReLU6", "min(max(x, 0), 6)");
  plain_in_place<nn::SELU>(m, "SELU", "Klambauer et al., 2017.");
  plain_in_place<nn::SiLU>(m, "SiLU", "x * sigmoid(x)");
  plain<nn::Sigmoid>(m, "Sigmoid", "1 / (1 + exp(-x))");
  plain<nn::Tanh>(m, "Tanh", "tanh(x)");
  plain_in_place<nn::Hardsigmoid>(m, "Hardsigmoid", "min(max(x / 6 + 1/2, 0), 1)");
  plain_in_place<nn::Hardswish>(m, "Hardswish", "x * hardsigmoid(x)");
  define_layer<nn::Softplus>(
      m, "Softplus", "log(1 + exp(beta x)) / beta, or x where beta x is above the threshold.",
      [](CallArguments& a) {
        double beta = 1, threshold = kSoftplusThreshold;
        a.take("beta", beta).take("threshold", threshold).finish();
        return nn::Softplus(beta, softplus_threshold(threshold));
      });
  plain_in_place<nn::Mish>(m, "Mish", "x * tanh(softplus(x))");
  with_one_in_place<nn::LeakyReLU>(m, "LeakyReLU", "negative_slope", 0.01,
                                   "x, or slope * x below 0.");
  with_one_in_place<nn::ELU>(m, "ELU", "alpha", 1.0, "x, or alpha * (exp(x) - 1) below 0.");
  with_one<nn::GELU>(m, "GELU", "approximate", std::string("none"), "approximate: none or tanh.");
  plain<nn::Softsign>(m, "Softsign", "x / (1 + |x|)");
  plain<nn::Tanhshrink>(m, "Tanhshrink", "x - tanh(x)");
  plain<nn::LogSigmoid>(m, "LogSigmoid", "log(sigmoid(x))");
  plain<nn::Softmax2d>(m, "Softmax2d", "Over the channels of images.");
  with_one_in_place<nn::CELU>(m, "CELU", "alpha", 1.0,
                              "max(x, 0) + min(alpha (exp(x / alpha) - 1), 0)");
  with_one<nn::Softshrink>(m, "Softshrink", "lambd", 0.5, "x towards 0 by lambd.");
  with_one<nn::Hardshrink>(m, "Hardshrink", "lambd", 0.5, "x, or 0 within [-lambd, lambd].");
  with_one<nn::GLU>(m, "GLU", "dim", int64_t{-1}, "One half times the sigmoid of the other.");
  define_layer<nn::Softmax>(m, "Softmax", "Along an axis.", [](CallArguments& a) {
    const auto dim = a.need<int64_t>("dim");
    a.finish();
    return nn::Softmax(dim);
  });
  define_layer<nn::LogSoftmax>(m, "LogSoftmax", "Along an axis.", [](CallArguments& a) {
    const auto dim = a.need<int64_t>("dim");
    a.finish();
    return nn::LogSoftmax(dim);
  });
  define_layer<nn::Softmin>(m, "Softmin", "softmax(-x) along an axis.", [](CallArguments& a) {
    const auto dim = a.need<int64_t>("dim");
    a.finish();
    return nn::Softmin(dim);
  });
  define_layer<nn::Threshold>(m, "Threshold", "x above the threshold, else value.",
                              [](CallArguments& a) {
                                const auto threshold = a.need<eager::Number>("threshold");
                                const auto value = a.need<eager::Number>("value");
                                bool inplace = false;
                                a.take("inplace", inplace).finish();
                                return nn::Threshold(threshold, value);
                              });
  define_layer<nn::Hardtanh>(m, "Hardtanh", "x cut to [min_val, max_val].", [](CallArguments& a) {
    eager::Number low = -1.0, high = 1.0;
    bool inplace = false;
    a.take("min_val", low).take("max_val", high).take("inplace", inplace).finish();
    return nn::Hardtanh(low, high);
  });
  define_layer<nn::RReLU>(m, "RReLU", "x, or a random slope times x below 0.",
                          [](CallArguments& a) {
                            double lower = 1.0 / 8, upper = 1.0 / 3;
                            bool inplace = false;
                            a.take("lower", lower).take("upper", upper).take("inplace", inplace);
                            a.finish();
                            return nn::RReLU(lower, upper);
                          });
  define_layer<nn::PReLU>(m, "PReLU", "x, or weight * x below 0.", [](CallArguments& a) {
    int64_t channels = 1;
    double init = 0.25;
    a.take("num_parameters", channels).take("init", init).finish();
    return nn::PReLU(channels, init, python_line());
  });
}

void bind_linear(py::module_& m) {
  define_layer<nn::Linear>(m, "Linear", "x [..., in] to [..., out].", [](CallArguments& a) {
    const auto in = a.need<int64_t>("in_features"), out = a.need<int64_t>("out_features");
    nn::LinearOptions options;
    a.take("bias", options.bias).finish();
    return nn::Linear(in, out, options, python_line());
  });
  define_layer<nn::Bilinear, 2>(m, "Bilinear", "a^T weight b + bias.", [](CallArguments& a) {
    const auto in1 = a.need<int64_t>("in1_features"), in2 = a.need<int64_t>("in2_features");
    const auto out = a.need<int64_t>("out_features");
    nn::LinearOptions options;
    a.take("bias", options.bias).finish();
    return nn::Bilinear(in1, in2, out, options, python_line());
  });
  define_layer<nn::Embedding>(m, "Embedding", "Rows of weight for integer indices.",
                              [](CallArguments& a) {
                                const auto count = a.need<int64_t>("num_embeddings");
                                const auto size = a.need<int64_t>("embedding_dim");
                                nn::EmbeddingOptions options;
                                a.take("padding_idx", options.padding_idx).finish();
                                return nn::Embedding(count, size, options, python_line());
                              });
  auto bag = define_class<nn::EmbeddingBag>(
      m, "EmbeddingBag", "Rows of weight, as sum, mean or max of bags.", [](CallArguments& a) {
        const auto count = a.need<int64_t>("num_embeddings");
        const auto size = a.need<int64_t>("embedding_dim");
        nn::EmbeddingBagOptions options;
        a.take("mode", options.mode).finish();
        return nn::EmbeddingBag(count, size, options, python_line());
      });
  bag.def(
      "forward",
      [](const nn::EmbeddingBag& self, const py::object& input, const py::object& offsets,
         const py::object& per_sample_weights) {
        const Tensor indices = tensor_from(input, "EmbeddingBag: input"),
                     begins = tensor_or_undefined(offsets, "EmbeddingBag: offsets"),
                     factors = tensor_or_undefined(per_sample_weights,
                                                   "EmbeddingBag: per_sample_weights");
        return forwarded([&] { return self.forward(indices, begins, factors); });
      },
      py::arg("input"), py::arg("offsets") = py::none(),
      py::arg("per_sample_weights") = py::none());
  with_one_in_place<nn::AlphaDropout>(m, "AlphaDropout", "p", 0.5,
                                      "Dropout that keeps mean and variance.");
  with_one_in_place<nn::Dropout>(m, "Dropout", "p", 0.5,
                                 "Zeroes elements with probability p in training.");
  with_one_in_place<nn::DropoutChannels>(m, "Dropout1d", "p", 0.5, "Zeroes channels in training.");
  for (const char* name : {"Dropout2d", "Dropout3d"})
    m.attr(name) = m.attr("Dropout1d");
  plain<nn::Identity>(m, "Identity", "x");
  define_layer<nn::Flatten>(m, "Flatten", "The axes from start_dim to end_dim as one.",
                            [](CallArguments& a) {
                              int64_t first = 1, last = -1;
                              a.take("start_dim", first).take("end_dim", last).finish();
                              return nn::Flatten(first, last);
                            });
  define_layer<nn::Unflatten>(m, "Unflatten", "One axis as several.", [](CallArguments& a) {
    const auto dim = a.need<int64_t>("dim");
    const auto sizes = a.need<std::vector<int64_t>>("unflattened_size");
    a.finish();
    return nn::Unflatten(dim, sizes);
  });
}

template <typename L>
void convolution(py::module_& m, const char* name) {
  define_layer<L>(m, name, "weight [out, in / groups, kernel...]; padding may be 'same'.",
                  [](CallArguments& a) {
                    const auto in = a.need<int64_t>("in_channels"),
                               out = a.need<int64_t>("out_channels");
                    const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
                    nn::ConvOptions o;
                    a.take("stride", o.stride);
                    a.take_padding("padding", o.padding, o.same);
                    a.take("dilation", o.dilation).take("groups", o.groups).take("bias", o.bias);
                    a.take("padding_mode", o.padding_mode).finish();
                    return L(in, out, kernel, o, python_line());
                  });
}
template <typename L>
void transposed_convolution(py::module_& m, const char* name) {
  define_layer<L>(m, name, "weight [in, out / groups, kernel...].", [](CallArguments& a) {
    const auto in = a.need<int64_t>("in_channels"), out = a.need<int64_t>("out_channels");
    const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
    nn::ConvTransposeOptions o;
    a.take("stride", o.stride).take("padding", o.padding).take("output_padding", o.output_padding);
    a.take("groups", o.groups).take("bias", o.bias).take("dilation", o.dilation).finish();
    return L(in, out, kernel, o, python_line());
  });
}
template <typename L>
void batch_norm(py::module_& m, const char* name) {
  define_layer<L>(m, name, "By the batch's statistics in training, by running ones else.",
                  [](CallArguments& a) {
                    const auto channels = a.need<int64_t>("num_features");
                    nn::BatchNormOptions o;
                    a.take("eps", o.eps).take("momentum", o.momentum).take("affine", o.affine);
                    a.take("track_running_stats", o.track_running_stats).finish();
                    return L(channels, o, python_line());
                  });
}

void bind_normalizations(py::module_& m) {
  batch_norm<nn::BatchNorm1d>(m, "BatchNorm1d");
  batch_norm<nn::BatchNorm2d>(m, "BatchNorm2d");
  batch_norm<nn::BatchNorm3d>(m, "BatchNorm3d");
  define_layer<nn::InstanceNorm>(
      m, "InstanceNorm1d", "By the statistics of each sample's channels.", [](CallArguments& a) {
        const auto channels = a.need<int64_t>("num_features");
        nn::InstanceNormOptions o;
        a.take("eps", o.eps).take("momentum", o.momentum).take("affine", o.affine);
        a.take("track_running_stats", o.track_running_stats).finish();
        return nn::InstanceNorm(channels, o, python_line());
      });
  for (const char* name : {"InstanceNorm2d", "InstanceNorm3d"})
    m.attr(name) = m.attr("InstanceNorm1d");
  define_layer<nn::LayerNorm>(m, "LayerNorm", "Over the last axes.", [](CallArguments& a) {
    const auto shape = a.need<std::vector<int64_t>>("normalized_shape");
    nn::LayerNormOptions o;
    a.take("eps", o.eps).take("elementwise_affine", o.elementwise_affine).take("bias", o.bias);
    a.finish();
    return nn::LayerNorm(shape, o, python_line());
  });
  define_layer<nn::LocalResponseNorm>(
      m, "LocalResponseNorm", "Over neighbouring channels.", [](CallArguments& a) {
        const auto size = a.need<int64_t>("size");
        nn::LocalResponseNormOptions o;
        a.take("alpha", o.alpha).take("beta", o.beta).take("k", o.k).finish();
        return nn::LocalResponseNorm(size, o);
      });
  define_layer<nn::GroupNorm>(m, "GroupNorm", "Over groups of channels.", [](CallArguments& a) {
    const auto groups = a.need<int64_t>("num_groups"), channels = a.need<int64_t>("num_channels");
    nn::GroupNormOptions o;
    a.take("eps", o.eps).take("affine", o.affine).finish();
    return nn::GroupNorm(groups, channels, o, python_line());
  });
  define_layer<nn::RMSNorm>(m, "RMSNorm", "Over the last axes, by the mean square.",
                            [](CallArguments& a) {
                              const auto shape = a.need<std::vector<int64_t>>("normalized_shape");
                              nn::RMSNormOptions o;
                              a.take("eps", o.eps);
                              a.take("elementwise_affine", o.elementwise_affine).finish();
                              return nn::RMSNorm(shape, o, python_line());
                            });
}

template <typename L>
void max_pool(py::module_& m, const char* name) {
  define_layer<L>(m, name, "The greatest of each window.", [](CallArguments& a) {
    const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
    nn::MaxPoolOptions o;
    bool return_indices = false;  // which forward() in Python looks at
    a.take("stride", o.stride).take("padding", o.padding).take("dilation", o.dilation);
    a.take("return_indices", return_indices).take("ceil_mode", o.ceil_mode).finish();
    return L(kernel, o, python_line());
  });
}
template <typename L>
void average_pool(py::module_& m, const char* name) {
  define_layer<L>(m, name, "The mean of each window.", [](CallArguments& a) {
    const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
    nn::AvgPoolOptions o;
    take(a, o);
    a.finish();
    return L(kernel, o, python_line());
  });
}
template <typename L>
void adaptive_pool(py::module_& m, const char* name) {
  define_layer<L>(m, name, "Windows such that the output has this size.", [](CallArguments& a) {
    const nn::Sizes size = a.need("output_size", nn::Sizes(1));
    a.finish();
    return L(size, python_line());
  });
}
template <typename L>
void padding(py::module_& m, const char* name) {
  define_layer<L>(m, name, "padding: one number, or a pair for each axis, the last axis first.",
                  [](CallArguments& a) {
                    const nn::Sizes pads = a.need("padding", nn::Sizes(0));
                    a.finish();
                    return L(pads, python_line());
                  });
}
template <typename L>
void constant_padding(py::module_& m, const char* name) {
  define_layer<L>(m, name, "With a value around x.", [](CallArguments& a) {
    const nn::Sizes pads = a.need("padding", nn::Sizes(0));
    const auto value = a.need<eager::Number>("value");
    a.finish();
    return L(pads, value, python_line());
  });
}

void bind_pool_layers(py::module_& m) {
  max_pool<nn::MaxPool1d>(m, "MaxPool1d");
  max_pool<nn::MaxPool2d>(m, "MaxPool2d");
  max_pool<nn::MaxPool3d>(m, "MaxPool3d");
  average_pool<nn::AvgPool1d>(m, "AvgPool1d");
  average_pool<nn::AvgPool2d>(m, "AvgPool2d");
  average_pool<nn::AvgPool3d>(m, "AvgPool3d");
  adaptive_pool<nn::AdaptiveAvgPool1d>(m, "AdaptiveAvgPool1d");
  adaptive_pool<nn::AdaptiveAvgPool2d>(m, "AdaptiveAvgPool2d");
  adaptive_pool<nn::AdaptiveAvgPool3d>(m, "AdaptiveAvgPool3d");
  adaptive_pool<nn::AdaptiveMaxPool1d>(m, "AdaptiveMaxPool1d");
  adaptive_pool<nn::AdaptiveMaxPool2d>(m, "AdaptiveMaxPool2d");
  adaptive_pool<nn::AdaptiveMaxPool3d>(m, "AdaptiveMaxPool3d");
  plain<nn::GlobalAvgPool>(m, "GlobalAvgPool", "The mean over all spatial axes.");
  plain<nn::GlobalMaxPool>(m, "GlobalMaxPool", "The greatest over all spatial axes.");
}

void bind_paddings(py::module_& m) {
  padding<nn::ZeroPad1d>(m, "ZeroPad1d");
  padding<nn::ZeroPad2d>(m, "ZeroPad2d");
  padding<nn::ZeroPad3d>(m, "ZeroPad3d");
  padding<nn::ReflectionPad1d>(m, "ReflectionPad1d");
  padding<nn::ReflectionPad2d>(m, "ReflectionPad2d");
  padding<nn::ReflectionPad3d>(m, "ReflectionPad3d");
  padding<nn::ReplicationPad1d>(m, "ReplicationPad1d");
  padding<nn::ReplicationPad2d>(m, "ReplicationPad2d");
  padding<nn::ReplicationPad3d>(m, "ReplicationPad3d");
  padding<nn::CircularPad1d>(m, "CircularPad1d");
  padding<nn::CircularPad2d>(m, "CircularPad2d");
  padding<nn::CircularPad3d>(m, "CircularPad3d");
  constant_padding<nn::ConstantPad1d>(m, "ConstantPad1d");
  constant_padding<nn::ConstantPad2d>(m, "ConstantPad2d");
  constant_padding<nn::ConstantPad3d>(m, "ConstantPad3d");
}

void take_interpolation(CallArguments& a, nn::InterpolateOptions& o) {
  a.take("size", o.size).take("scale_factor", o.scale_factor).take("mode", o.mode);
  a.take("align_corners", o.align_corners).take("antialias", o.antialias).finish();
}

nn::FoldOptions fold_options(CallArguments& a) {
  nn::FoldOptions o;
  a.take("dilation", o.dilation).take("padding", o.padding).take("stride", o.stride).finish();
  return o;
}

void bind_folds(py::module_& m) {
  define_layer<nn::Unfold>(m, "Unfold", "Windows of images as columns.", [](CallArguments& a) {
    const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
    return nn::Unfold(kernel, fold_options(a));
  });
  define_layer<nn::Fold>(m, "Fold", "The sum of what windows hold at each place.",
                         [](CallArguments& a) {
                           const nn::Sizes size = a.need("output_size", nn::Sizes(1));
                           const nn::Sizes kernel = a.need("kernel_size", nn::Sizes(1));
                           return nn::Fold(size, kernel, fold_options(a));
                         });
}

void bind_resampling(py::module_& m) {
  define_layer<nn::Upsample>(m, "Upsample", "Resizes the spatial axes.", [](CallArguments& a) {
    nn::UpsampleOptions o;
    take_interpolation(a, o);
    return nn::Upsample(o, python_line());
  });
  define_layer<nn::UpsamplingNearest2d>(
      m, "UpsamplingNearest2d", "Resizes images by the nearest pixels.", [](CallArguments& a) {
        nn::UpsampleOptions o;
        a.take("size", o.size).take("scale_factor", o.scale_factor).finish();
        return nn::UpsamplingNearest2d(o, python_line());
      });
  define_layer<nn::UpsamplingBilinear2d>(
      m, "UpsamplingBilinear2d", "Resizes images linearly, corners aligned.", [](CallArguments& a) {
        nn::UpsampleOptions o;
        a.take("size", o.size).take("scale_factor", o.scale_factor).finish();
        return nn::UpsamplingBilinear2d(o, python_line());
      });
  const auto factor = [](CallArguments& a, const char* name) {
    const auto value = a.need<int64_t>(name);
    a.finish();
    return value;
  };
  define_layer<nn::PixelShuffle>(
      m, "PixelShuffle", "[N, C r^2, H, W] to [N, C, H r, W r].",
      [factor](CallArguments& a) { return nn::PixelShuffle(factor(a, "upscale_factor")); });
  define_layer<nn::ChannelShuffle>(
      m, "ChannelShuffle", "Channels of all groups alternate.",
      [factor](CallArguments& a) { return nn::ChannelShuffle(factor(a, "groups")); });
  define_layer<nn::PixelUnshuffle>(
      m, "PixelUnshuffle", "[N, C, H r, W r] to [N, C r^2, H, W].",
      [factor](CallArguments& a) { return nn::PixelUnshuffle(factor(a, "downscale_factor")); });
  m.def("interpolate", [](const Tensor& x, const py::args& args, const py::kwargs& kwargs) {
    CallArguments a("interpolate", args, kwargs);
    nn::InterpolateOptions o;
    take_interpolation(a, o);
    return unlocked([&](const Loc& loc) { return nn::interpolate(x, o, loc); });
  });
}

}  // namespace

void bind_layers(py::module_& m) {
  bind_activations(m);
  bind_linear(m);
  convolution<nn::Conv1d>(m, "Conv1d");
  convolution<nn::Conv2d>(m, "Conv2d");
  convolution<nn::Conv3d>(m, "Conv3d");
  transposed_convolution<nn::ConvTranspose1d>(m, "ConvTranspose1d");
  transposed_convolution<nn::ConvTranspose2d>(m, "ConvTranspose2d");
  transposed_convolution<nn::ConvTranspose3d>(m, "ConvTranspose3d");
  bind_normalizations(m);
  bind_pool_layers(m);
  bind_paddings(m);
  bind_folds(m);
  bind_resampling(m);
}

}  // namespace sardonyx::python::eager_layer
