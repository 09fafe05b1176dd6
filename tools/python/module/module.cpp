// The extension module sardonyx._sardonyx. Its public face is sardonyx/__init__.py.
#include <pybind11/pybind11.h>

#include "ir/core/random.h"
#include "tools/python/module/adapters.h"
#include "tools/python/module/argument_errors.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/compiler.h"
#include "tools/python/module/construction.h"
#include "tools/python/module/custom_ops.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/io_binding.h"
#include "tools/python/module/models.h"
#include "tools/python/module/options.h"
#include "tools/python/module/ort_value.h"
#include "tools/python/module/session.h"
#include "tools/python/module/session_memory.h"
#include "tools/python/module/sparse.h"

PYBIND11_MODULE(_sardonyx, module) {
  namespace py = pybind11;
  namespace python = sardonyx::python;
  python::import_numpy();
  python::bind_errors(module);
  python::bind_adapters(module);
  python::bind_options(module);
  python::bind_session_memory(module);
  python::bind_sparse(module);
  python::bind_ort_value(module);
  python::bind_session(module);
  python::bind_io_binding(module);
  python::bind_models(module);
  python::bind_compiler(module);
  python::bind_custom_ops(module);
  python::eager_layer::bind_eager(module);
  python::require_construction();
  module.def("set_seed", &sardonyx::set_random_seed, py::arg("seed"),
             "Of the random numbers that the process draws: models without seeds of their own, and "
             "eager tensors, draw the same ones from then on.");
  module.attr("__version__") = SARDONYX_VERSION;
  python::shorten_argument_errors(module);
}
