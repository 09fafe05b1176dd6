// Fourier transforms, under torch.fft's names. Complex tensors are pairs in a last axis of size 2.
#include "eager/functional/fft.h"

#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace fft = eager::fft;

fft::Norm norm_from(const std::optional<std::string>& name) {
  if (!name || *name == "backward") return fft::Norm::kBackward;
  if (*name == "forward") return fft::Norm::kForward;
  if (*name == "ortho") return fft::Norm::kOrtho;
  throw py::type_error("norm: expected 'backward', 'forward' or 'ortho', got '" + *name + "'");
}

using AlongOne = Tensor (*)(const Tensor&, fft::Options, Loc);
template <AlongOne function>
Tensor along_one(const Tensor& x, const std::optional<int64_t>& n, int64_t dim,
                 const std::optional<std::string>& norm, Loc loc) {
  return function(x, {.n = n, .axis = dim, .norm = norm_from(norm)}, loc);
}
using AlongSeveral = Tensor (*)(const Tensor&, const fft::OptionsN&, Loc);
template <AlongSeveral function>
Tensor along_several(const Tensor& x, const std::vector<int64_t>& s,
                     const std::vector<int64_t>& dim, const std::optional<std::string>& norm,
                     Loc loc) {
  return function(x, {.s = s, .axes = dim, .norm = norm_from(norm)}, loc);
}

void bind_transforms(RowDefiner& define) {
  for (const auto& [name, function] :
       {FunctionRow<decltype(&along_one<fft::fft>)>{"fft", &along_one<fft::fft>},
        {"ifft", &along_one<fft::ifft>},
        {"rfft", &along_one<fft::rfft>},
        {"irfft", &along_one<fft::irfft>},
        {"hfft", &along_one<fft::hfft>},
        {"ihfft", &along_one<fft::ihfft>}}) {
    define(text(name, "(input, n=None, dim=-1, norm=None)").c_str(), function);
  }
  using Several = decltype(&along_several<fft::fftn>);
  for (const auto& [name, function] : {FunctionRow<Several>{"fftn", &along_several<fft::fftn>},
                                       {"ifftn", &along_several<fft::ifftn>},
                                       {"rfftn", &along_several<fft::rfftn>},
                                       {"irfftn", &along_several<fft::irfftn>}}) {
    define(text(name, "(input, s=None, dim=None, norm=None)").c_str(), function);
  }
  for (const auto& [name, function] : {FunctionRow<Several>{"fft2", &along_several<fft::fftn>},
                                       {"ifft2", &along_several<fft::ifftn>},
                                       {"rfft2", &along_several<fft::rfftn>},
                                       {"irfft2", &along_several<fft::irfftn>}}) {
    define(text(name, "(input, s=None, dim=(-2, -1), norm=None)").c_str(), function);
  }
  define("fftshift(input, dim=None)", fft::fftshift);
  define("ifftshift(input, dim=None)", fft::ifftshift);
  define("fftfreq(n, d=1.0)", [](int64_t n, double spacing) { return fft::fftfreq(n, spacing); });
  define("rfftfreq(n, d=1.0)", [](int64_t n, double spacing) { return fft::rfftfreq(n, spacing); });
}

fft::StftOptions stft_options(int64_t n_fft, const std::optional<int64_t>& hop,
                              const Tensor& window, bool center, bool normalized) {
  return {.n_fft = n_fft,
          .hop_length = hop,
          .window = window,
          .center = center,
          .normalized = normalized};
}

void bind_signals(RowDefiner& define) {
  define("stft(input, n_fft, hop_length=None, window=None, center=True, normalized=False)",
         [](const Tensor& x, int64_t n_fft, const std::optional<int64_t>& hop, const Tensor& window,
            bool center, bool normalized, Loc loc) {
           return fft::stft(x, stft_options(n_fft, hop, window, center, normalized), loc);
         },
         {"Spectra of windows: [N, n_fft / 2 + 1, frames, 2]."});
  define(
      "istft(input, n_fft, hop_length=None, window=None, center=True, normalized=False, "
      "length=None)",
      [](const Tensor& z, int64_t n_fft, const std::optional<int64_t>& hop, const Tensor& window,
         bool center, bool normalized, const std::optional<int64_t>& length, Loc loc) {
        return fft::istft(z, stft_options(n_fft, hop, window, center, normalized), length, loc);
      });
  define("hann_window(window_length, periodic=True)", fft::hann_window);
  define("hamming_window(window_length, periodic=True)", fft::hamming_window);
}

void bind_pairs(RowDefiner& define) {
  define("complex(real, imag=None)", fft::complex,
         {"Pairs [..., 2] of two parts; the imaginary ones are 0 unless given."});
  using Unary = Tensor (*)(const Tensor&, Loc);
  for (const auto& [name, function] : {FunctionRow<Unary>{"real", fft::real},
                                       {"imag", fft::imag},
                                       {"conj", fft::conj},
                                       {"abs", fft::abs},
                                       {"angle", fft::angle}}) {
    define(text(name, "(input)").c_str(), function, {"Of pairs [..., 2]."});
  }
  define("multiply(input, other)", fft::multiply, {"The product of pairs [..., 2]."});
}

}  // namespace

void bind_fft(py::module_& module) {
  py::module_ m = module.def_submodule(
      "fft", "Fourier transforms. Complex tensors are pairs in a last axis of size 2.");
  RowDefiner define(m);
  bind_transforms(define);
  bind_signals(define);
  bind_pairs(define);
}

}  // namespace sardonyx::python::eager_layer
