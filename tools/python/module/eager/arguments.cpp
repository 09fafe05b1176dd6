#include "tools/python/module/eager/arguments.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <unordered_set>

#include "eager/optim/optimizer.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/eager/integers.h"

namespace sardonyx::python::eager_layer {
namespace {

std::string type_name_of(const py::handle& object) {
  return py::str(py::type::of(object).attr("__name__"));
}

// Names of files, kept for good: lines are noted in graphs and messages.
const char* kept_name(const std::string& name) {
  static auto& names = *new std::unordered_set<std::string>;
  return names.insert(name).first->c_str();
}

const std::string& package_folder() {
  static const auto& folder = *new std::string(py::str(py::module_::import("os").attr("path").attr(
      "dirname")(py::module_::import("sardonyx").attr("__file__"))));
  return folder;
}

}  // namespace

std::filesystem::path path_from(const py::handle& path) {
  return py::module_::import("os").attr("fspath")(path).cast<std::string>();
}

Loc python_line() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return Loc();
  auto at = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(frame));
  while (true) {
    auto* const own = reinterpret_cast<PyFrameObject*>(at.ptr());
    const auto code =
        py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(own)));
    const auto name = code.attr("co_filename").cast<std::string>();
    PyFrameObject* const outer = PyFrame_GetBack(own);
    // Lines of the package itself say nothing to its user.
    if (!outer || !name.starts_with(package_folder())) {
      Py_XDECREF(outer);
      return Loc::current(kept_name(name), static_cast<uint32_t>(PyFrame_GetLineNumber(own)));
    }
    at = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(outer));
  }
}

SharedObject shared_object(const py::handle& object) {
  return {new py::object(py::reinterpret_borrow<py::object>(object)), [](py::object* held) {
            if (!Py_IsInitialized()) {
              (void)held->release();
            } else {
              const LockedInterpreter locked;
              *held = py::object();
            }
            delete held;
          }};
}

Tensor tensor_from(const py::handle& object, const char* what) {
  if (py::isinstance<Tensor>(object)) return object.cast<Tensor>();
  if (py::isinstance<py::bool_>(object)) return Tensor::scalar(object.cast<bool>());
  if (is_python_integer(object)) return tensor_of_integer(object, DType::kInt64, python_line());
  if (py::isinstance<py::float_>(object))
    return Tensor::scalar(static_cast<float>(object.cast<double>()));
  if (py::hasattr(object, "__array__")) return Tensor(tensor_from_array(object, what).clone());
  throw py::type_error(text(what, ": expected a Tensor, got ", type_name_of(object)));
}

Tensor tensor_or_undefined(const py::handle& object, const char* what) {
  return object.is_none() ? Tensor() : tensor_from(object, what);
}

py::object python_or_none(const Tensor& tensor) {
  return tensor.defined() ? py::cast(tensor) : py::none();
}

std::vector<Tensor> tensors_from(const py::handle& object, const char* what) {
  if (py::isinstance<Tensor>(object)) return {object.cast<Tensor>()};
  if (!py::isinstance<py::iterable>(object) || py::isinstance<py::str>(object))
    throw py::type_error(text(what, ": expected tensors, got ", type_name_of(object)));
  std::vector<Tensor> tensors;
  for (const py::handle& one : object)
    tensors.push_back(tensor_from(one, what));
  return tensors;
}

DType dtype_from(const py::handle& object) {
  if (py::isinstance<DType>(object)) return object.cast<DType>();
  DType dtype = DType::kUndefined;
  if (py::isinstance<py::str>(object)) dtype = dtype_named(object.cast<std::string>());
  if (dtype == DType::kUndefined)
    dtype = dtype_of_numpy(py::module_::import("numpy").attr("dtype")(object));
  if (dtype == DType::kUndefined)
    throw py::type_error("dtype: expected an element type, got " + std::string(py::repr(object)));
  return dtype;
}

bool is_device(const py::handle& object) {
  if (py::isinstance<py::str>(object)) return object.cast<std::string>().starts_with("cpu");
  return py::hasattr(object, "type") && py::hasattr(object, "index") &&
         !py::isinstance<DType>(object);
}

void check_device(const py::handle& object) {
  const auto name = std::string(py::str(object));
  if (is_device(object) && name.starts_with("cpu")) return;
  throw py::type_error("device: expected 'cpu', got '" + name + "'; there is no other");
}

eager::Dim dim_from_size(const py::handle& object) {
  if (py::isinstance<eager::Dim>(object)) return object.cast<eager::Dim>();
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!index) throw py::error_already_set();
  return index.cast<int64_t>();
}

Dims dims_from(const py::handle& object) {
  if (!py::isinstance<py::sequence>(object)) return {dim_from_size(object)};
  Dims dims;
  for (const py::handle& one : object)
    dims.push_back(dim_from_size(one));
  return dims;
}

Dims dims_from_args(const py::args& args) {
  if (args.size() == 1) return dims_from(args[0]);
  return dims_from(args);
}

std::vector<int64_t> int64s_from(const py::handle& object) {
  if (object.is_none()) return {};
  if (!py::isinstance<py::sequence>(object)) return {object.cast<int64_t>()};
  return object.cast<std::vector<int64_t>>();
}

std::vector<int64_t> int64s_from_args(const py::args& args) {
  return args.size() == 1 ? int64s_from(args[0]) : int64s_from(args);
}

py::object python_from_dim(const eager::Dim& dim) {
  if (dim.is_known()) return py::int_(dim.value());
  return py::cast(dim);
}

py::object python_from_tensors(const std::vector<Tensor>& tensors) {
  return py::tuple(py::cast(tensors));
}

OperandHolder::OperandHolder(const py::handle& object, const py::handle& beside, const Loc& loc) {
  if (py::isinstance<py::float_>(object)) {
    operand_.emplace(object.cast<double>(), loc);
  } else if (is_python_integer(object)) {
    const bool is_beside_tensor = py::isinstance<Tensor>(beside);
    const DType dtype =
        is_beside_tensor ? dtype_beside(py::cast<const Tensor&>(beside).dtype()) : DType::kInt64;
    check_fits(object, dtype, loc);
    if (is_int64(object)) {
      operand_.emplace(object.cast<int64_t>(), loc);
    } else {
      tensor_ = tensor_of_integer(object, dtype, loc);
      operand_.emplace(tensor_, loc);
    }
  } else if (py::isinstance<eager::Dim>(object)) {
    throw py::type_error("a symbolic size is no operand; dim_tensor(size) is its tensor");
  } else {
    tensor_ = tensor_from(object, "operand");
    operand_.emplace(tensor_, loc);
  }
}

void convert(const py::handle& from, bool& to) {
  if (!py::isinstance<py::bool_>(from)) throw py::type_error("no bool");
  to = from.cast<bool>();
}
void convert(const py::handle& from, int64_t& to) {
  to = from.cast<int64_t>();
}
void convert(const py::handle& from, uint64_t& to) {
  to = from.cast<uint64_t>();
}
void convert(const py::handle& from, double& to) {
  to = from.cast<double>();
}
// Integers as such, those of NumPy and of integer tensors too: a double may not hold them.
void convert(const py::handle& from, eager::Number& to) {
  if (py::isinstance<py::bool_>(from)) {
    to = from.cast<bool>();
    return;
  }
  const bool is_tensor = py::isinstance<Tensor>(from);
  const bool is_integer = is_tensor
                              ? sardonyx::is_integer(py::cast<const Tensor&>(from).dtype())
                              : !py::isinstance<py::float_>(from) && PyIndex_Check(from.ptr());
  if (!is_integer) {
    try {
      to = from.cast<double>();
    } catch (const py::cast_error&) {
      throw py::type_error(text("expected a number, got ", std::string(py::repr(from))));
    }
    return;
  }
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(from.ptr()));
  if (!integer) throw py::error_already_set();
  to = number_of_integer(integer);
}
eager::Number number_for(const py::handle& value, DType dtype, const Loc& loc) {
  if (is_python_integer(value)) check_fits(value, dtype, loc);
  eager::Number number;
  convert(value, number);
  return number;
}
void convert(const py::handle& from, std::string& to) {
  to = from.cast<std::string>();
}
void convert(const py::handle& from, py::object& to) {
  to = py::reinterpret_borrow<py::object>(from);
}
void convert(const py::handle& from, const eager::optim::Optimizer*& to) {
  to = &from.cast<const eager::optim::Optimizer&>();
}
void convert(const py::handle& from, eager::optim::Optimizer*& to) {
  to = &from.cast<eager::optim::Optimizer&>();
}
void convert(const py::handle& from, std::vector<int64_t>& to) {
  to = int64s_from(from);
}
void convert(const py::handle& from, std::vector<double>& to) {
  if (from.is_none())
    to.clear();
  else if (py::isinstance<py::sequence>(from))
    to = from.cast<std::vector<double>>();
  else
    to = {from.cast<double>()};
}
void convert(const py::handle& from, Dims& to) {
  to = from.is_none() ? Dims() : dims_from(from);
}
void convert(const py::handle& from, eager::Dim& to) {
  to = dim_from_size(from);
}
void convert(const py::handle& from, DType& to) {
  to = dtype_from(from);
}
void convert(const py::handle& from, Tensor& to) {
  to = from.is_none() ? Tensor() : tensor_from(from, "argument");
}
void convert(const py::handle& from, std::vector<Tensor>& to) {
  to = tensors_from(from, "argument");
}
void convert(const py::handle& from, eager::nn::Sizes& to) {
  to = int64s_from(from);
}
void convert(const py::handle& from, eager::nn::Reduction& to) {
  const auto name = from.cast<std::string>();
  if (name == "mean")
    to = eager::nn::Reduction::kMean;
  else if (name == "sum")
    to = eager::nn::Reduction::kSum;
  else if (name == "none")
    to = eager::nn::Reduction::kNone;
  else
    throw py::type_error("no reduction");
}

py::object CallArguments::next(const char* name) {
  if (notes_) return {};
  const size_t place = names_.size() - 1;
  const bool is_named = kwargs_.contains(name);
  if (place >= args_.size()) return is_named ? py::object(kwargs_[name]) : py::object();
  if (is_named) throw py::type_error(text(callee_, "() got two values of ", name));
  return args_[place];
}

CallArguments& CallArguments::take_padding(const char* name, eager::nn::Sizes& value,
                                           bool& is_same) {
  note(name, "Union[Ints, str]", [&] { return fallback_text(value); });
  const py::object given = next(name);
  if (!given) return *this;
  is_same = py::isinstance<py::str>(given) && given.cast<std::string>() == "same";
  const bool is_valid = py::isinstance<py::str>(given) && given.cast<std::string>() == "valid";
  if (!is_same && !is_valid) set(name, given, value);
  return *this;
}

CallArguments& CallArguments::take_batch_reduction(const char* name, eager::nn::Reduction& value,
                                                   bool& is_batch_mean) {
  note(name, kPythonType<eager::nn::Reduction>, [&] { return fallback_text(value); });
  const py::object given = next(name);
  if (!given) return *this;
  is_batch_mean = py::isinstance<py::str>(given) && given.cast<std::string>() == "batchmean";
  if (is_batch_mean) return *this;
  try {
    convert(given, value);
  } catch (const std::exception&) {
    fail_type(name, "'none', 'mean', 'sum' or 'batchmean'", given);
  }
  return *this;
}

void CallArguments::finish() const {
  if (notes_) throw Noted();
  if (args_.size() > names_.size()) {
    throw py::type_error(
        text(callee_, "() takes ", names_.size(), " arguments, got ", args_.size()));
  }
  for (const auto& [key, value] : kwargs_) {
    const auto name = key.cast<std::string>();
    if (std::ranges::find(names_, name) != names_.end()) continue;
    std::string known;
    for (const std::string one : names_)
      known += (known.empty() ? "" : ", ") + one;
    throw py::type_error(text(callee_, "() has no argument ", name, "; there are ", known));
  }
}

void CallArguments::fail_type(const char* name, const char* type, const py::object& given) const {
  throw py::type_error(
      text(callee_, "(): ", name, ": expected ", type, ", got ", std::string(py::repr(given))));
}

void CallArguments::fail_missing(const char* name) const {
  throw py::type_error(text(callee_, "() needs the argument ", name));
}

std::string CallArguments::fallback_text(double value) {
  return py::str(py::float_(value));
}

std::string CallArguments::fallback_text(const std::vector<double>& values) {
  if (values.size() == 1) return fallback_text(values[0]);
  return py::str(py::tuple(py::cast(values)));
}

std::string CallArguments::fallback_text(const eager::nn::Sizes& value) {
  return std::to_string(value.on(1, INT64_MIN, "default")[0]);
}

}  // namespace sardonyx::python::eager_layer
