// Special functions, under torch.special's names.
#include "eager/functional/special.h"

#include "eager/functional/functional.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

void bind_special_unary(RowDefiner& define) {
  using SpecialUnary = Tensor (*)(const Tensor&, Loc);
  for (const auto& [name, function] : {FunctionRow<SpecialUnary>{"digamma", eager::digamma},
                                       {"entr", eager::entr},
                                       {"erf", eager::erf},
                                       {"erfc", eager::erfc},
                                       {"erfcx", eager::erfcx},
                                       {"erfinv", eager::erfinv},
                                       {"exp2", eager::exp2},
                                       {"expit", eager::sigmoid},
                                       {"expm1", eager::expm1},
                                       {"gammaln", eager::lgamma},
                                       {"i0", eager::i0},
                                       {"i0e", eager::i0e},
                                       {"i1", eager::i1},
                                       {"i1e", eager::i1e},
                                       {"log1p", eager::log1p},
                                       {"log_ndtr", eager::log_ndtr},
                                       {"ndtr", eager::ndtr},
                                       {"ndtri", eager::ndtri},
                                       {"psi", eager::digamma},
                                       {"round", eager::round},
                                       {"sinc", eager::sinc}}) {
    define(text(name, "(input)").c_str(), function);
  }
}

}  // namespace

void bind_special(py::module_& module) {
  py::module_ m = module.def_submodule("special", "Special functions.");
  RowDefiner define(m);
  bind_special_unary(define);
  define("logit(input, eps=None)", eager::logit);
  define("logsumexp(input, dim, keepdim=False)", eager::logsumexp);
  define("softmax(input, dim)", eager::softmax);
  define("log_softmax(input, dim)", eager::log_softmax);
  define("multigammaln(input, p)", eager::multigammaln);
  define("polygamma(n, input)", eager::polygamma);
  define("xlogy(input, other)", eager::xlogy);
  define("xlog1py(input, other)", eager::xlog1py);
}

}  // namespace sardonyx::python::eager_layer
