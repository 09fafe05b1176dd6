// Windows, choices and distances of rows, as functions and as methods of tensors.
#include "eager/functional/rows.h"

#include "eager/dispatch/engine.h"
#include "eager/functional/functional.h"
#include "eager/functional/special.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {

void bind_rows(py::module_& module, TensorClass& tensor) {
  RowDefiner define(module, &tensor);
  define.method("unfold(self, dimension, size, step)",
                [](const Tensor& x, int64_t axis, int64_t size, int64_t step, Loc loc) {
                  return eager::unfold(x, axis, size, step, loc);
                },
                {"All windows of an axis, a step apart, as a last axis."});
  define.function("combinations(input, r=2, with_replacement=False)", eager::combinations);
  define.function("vander(x, N=None, increasing=False)", eager::vander);
  define.function("pdist(input, p=2.0)", eager::pdist);
  define("renorm(input, p, dim, maxnorm)", eager::renorm);
  define("mvlgamma(input, p)", eager::multigammaln);
  define("diagflat(input, offset=0)", [](const Tensor& x, int64_t offset, Loc loc) {
    return eager::diag_embed(x.reshape({-1}, loc), offset, loc);
  });
  define("addr(input, vec1, vec2, *, beta=1, alpha=1)",
         [](const Tensor& x, const Tensor& a, const Tensor& b, const eager::Number& beta,
            const eager::Number& alpha, Loc loc) {
           const Tensor product = eager::mul({eager::outer(a, b, loc), loc}, {alpha, loc});
           return eager::add({eager::mul({x, loc}, {beta, loc}), loc}, product);
         });
  define.function("set_num_threads(num)",
                  [](int64_t count) { eager::set_num_threads(static_cast<int>(count)); });
  module.def("get_num_threads", &eager::num_threads);
}

}  // namespace sardonyx::python::eager_layer
