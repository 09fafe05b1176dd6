#include "tools/python/module/custom_ops.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "ir/custom_op.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/interpreter_lock.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

// What `infer` sees of an input.
struct InputInfo {
  py::object dtype;     // None where it is no tensor that NumPy has a type for
  py::object shape;     // a tuple of int, str (the size's name) and None; None: not known
  py::object elements;  // of a small integer tensor, where all are known; else None
};

// A class in place of a value asks for an attribute of that kind which each node must give.
std::optional<AttrValue> kind_asked_for(const py::handle& given) {
  const auto is = [&](const char* name) {
    return given.is(py::module_::import("builtins").attr(name));
  };
  if (is("int")) return AttrValue(int64_t{0});
  if (is("float")) return AttrValue(0.0f);
  if (is("str")) return AttrValue(std::string());
  if (given.is(py::module_::import("numpy").attr("ndarray"))) return AttrValue(Tensor());
  return std::nullopt;
}

std::optional<AttrValue> list_kind_asked_for(const py::handle& given) {
  if (!py::isinstance<py::list>(given) || py::len(given) != 1) return std::nullopt;
  const std::optional<AttrValue> item = kind_asked_for(py::list(given.cast<py::object>())[0]);
  if (!item) return std::nullopt;
  if (std::holds_alternative<int64_t>(*item)) return AttrValue(std::vector<int64_t>());
  if (std::holds_alternative<float>(*item)) return AttrValue(std::vector<float>());
  if (std::holds_alternative<std::string>(*item)) return AttrValue(std::vector<std::string>());
  return std::nullopt;
}

AttrValue attribute_value(const std::string& name, const py::handle& given) {
  if (py::isinstance<py::bool_>(given)) return int64_t{given.cast<bool>()};
  if (py::isinstance<py::int_>(given)) return given.cast<int64_t>();
  if (py::isinstance<py::float_>(given)) return given.cast<float>();
  if (py::isinstance<py::str>(given)) return given.cast<std::string>();
  if (py::isinstance(given, py::module_::import("numpy").attr("ndarray")))
    return tensor_from_array(given, name).clone();
  if (py::isinstance<py::sequence>(given) && py::len(given) > 0) {
    const py::object first = py::sequence(given.cast<py::object>())[0];
    if (py::isinstance<py::int_>(first)) return given.cast<std::vector<int64_t>>();
    if (py::isinstance<py::float_>(first)) return given.cast<std::vector<float>>();
    if (py::isinstance<py::str>(first)) return given.cast<std::vector<std::string>>();
  }
  throw py::type_error(text("attribute ", name,
                            ": expected a default (int, float, str, an array, a list of one of the "
                            "first three that is not empty), or one of the classes int, float, "
                            "str, numpy.ndarray, [int], [float], [str] where nodes must give it"));
}

CustomAttribute attribute_from(const std::string& name, const py::handle& given) {
  for (std::optional<AttrValue> kind : {kind_asked_for(given), list_kind_asked_for(given)}) {
    if (kind) return {name, std::move(*kind), /*is_required=*/true};
  }
  return {name, attribute_value(name, given)};
}

py::object python_from_attribute(const AttrValue& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, Tensor>)
          return array_from_tensor(held.clone());
        else if constexpr (requires { py::cast(held); } && !std::is_same_v<Held, SparseTensor> &&
                           !std::is_same_v<Held, GraphPtr> && !std::is_same_v<Held, Type> &&
                           !std::is_same_v<Held, std::vector<Tensor>> &&
                           !std::is_same_v<Held, std::vector<SparseTensor>> &&
                           !std::is_same_v<Held, std::vector<GraphPtr>> &&
                           !std::is_same_v<Held, std::vector<Type>>)
          return py::cast(held);
        else
          fail(ErrorCode::kInternal, "an attribute of a kind that Python can't have asked for");
      },
      static_cast<const AttrKinds&>(value));
}

py::dict attributes_of(const Attrs& attrs) {
  py::dict all;
  for (const AttrField& field : attrs.schema().fields) {
    const std::optional<AttrValue> value = attrs.get(field.name);
    all[py::str(field.name)] = value ? python_from_attribute(*value) : py::none();
  }
  return all;
}

// KeyboardInterrupt or SystemExit, which a run raises as itself.
struct PythonInterruption : Interruption {
  explicit PythonInterruption(const py::error_already_set& raised) : error(raised) {}
  py::error_already_set error;
};

// A call of a Python function from any thread; its exception becomes an Error.
void with_interpreter(const auto& body) {
  const LockedInterpreter locked;
  try {
    body();
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw PythonInterruption(error);
    throw Error(ErrorCode::kInvalidArgument, error.what());
  } catch (const py::cast_error& error) {
    throw Error(ErrorCode::kInvalidArgument, error.what());
  }
}

py::list results_of(const py::object& given, size_t expected) {
  py::list results;
  if (py::isinstance<py::tuple>(given) || py::isinstance<py::list>(given)) {
    for (const py::handle& one : given)
      results.append(one);
  } else {
    results.append(given);
  }
  if (results.size() < expected) {
    fail(ErrorCode::kInvalidArgument, "the function gave ", results.size(), " results, expected ",
         expected);
  }
  return results;
}

// Optional inputs that a node does not give are None, but for those of a variadic.
size_t argument_count(const OpDef& op, size_t given) {
  const auto& inputs = signature_of(op).inputs;
  const bool is_variadic = !inputs.empty() && inputs.back().variadic;
  return std::max(given, inputs.size() - (is_variadic ? 1 : 0));
}

void compute_in_python(const py::object& function, const EvalCall& call) {
  py::tuple inputs(argument_count(call.op, call.inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs[i] = call.has(i) ? python_from_datum(call.inputs[i]) : py::none();
  const py::list results =
      results_of(call_python(function, inputs, attributes_of(call.raw_attrs)), call.outputs.size());
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (!results[i].is_none()) call.outputs[i] = tensor_from_array(results[i], text("output ", i));
  }
}

py::object shape_of_input(const Dims* shape) {
  if (!shape) return py::none();
  py::tuple dims(shape->size());
  for (size_t i = 0; i < shape->size(); ++i) {
    const Dim& dim = (*shape)[i];
    dims[i] = dim.is_known() ? py::object(py::int_(dim.value())) : py::str(dim.text());
  }
  return dims;
}

InputInfo info_of(const InferContext& context, size_t index) {
  if (!context.has(index) || !context.type(index).is_tensor())
    return {py::none(), py::none(), py::none()};
  py::object dtype = py::none();
  try {
    dtype = numpy_dtype(context.dtype(index));
  } catch (const py::type_error&) {
    // Without ml_dtypes NumPy has no name for it.
  }
  const std::optional<std::vector<int64_t>> elements = context.int64s(index);
  return {dtype, shape_of_input(context.shape(index)),
          elements ? py::object(py::cast(*elements)) : py::none()};
}

// Sizes that have a name are those of the inputs, or new ones.
Dim dim_from(const py::handle& given, InferContext& context) {
  if (given.is_none()) return context.unknown();
  if (py::isinstance<py::int_>(given)) return given.cast<int64_t>();
  const std::string name = given.cast<std::string>();
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Dims* shape = context.shape(i);
    for (size_t axis = 0; shape && axis < shape->size(); ++axis) {
      if (!(*shape)[axis].is_known() && (*shape)[axis].text() == name) return (*shape)[axis];
    }
  }
  fail(ErrorCode::kInvalidArgument, "no input has a size named ", name,
       "; None stands for one that is not known");
}

void infer_in_python(const py::object& function, InferContext& context) {
  py::tuple inputs(argument_count(context.op(), context.input_count()));
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs[i] = py::cast(info_of(context, i));
  py::object given = call_python(function, inputs, attributes_of(context.raw_attrs()));
  // One output may come without a list around it.
  if (py::isinstance<py::tuple>(given)) {
    py::list one;
    one.append(given);
    given = one;
  }
  const py::list results = results_of(given, context.output_count());
  for (size_t i = 0; i < context.output_count(); ++i) {
    const auto [dtype, shape] = results[i].cast<std::pair<py::object, py::object>>();
    const DType type = dtype_of_numpy(py::module_::import("numpy").attr("dtype")(dtype));
    if (shape.is_none()) {
      context.set(i, Type::tensor(type));
      continue;
    }
    Dims dims;
    for (const py::handle& dim : shape)
      dims.push_back(dim_from(dim, context));
    context.set(i, type, std::move(dims));
  }
}

DTypeSet dtypes_from(const std::string& name, const std::vector<std::string>& names) {
  DTypeSet set;
  for (const std::string& one : names) {
    const DType dtype = dtype_named(one);
    if (dtype == DType::kUndefined)
      fail(ErrorCode::kInvalidArgument, "types: ", name, ": there is no element type ", one);
    set = set | DTypeSet(dtype);
  }
  return set;
}

// Functions stay as long as the process: sessions may call them until its end.
std::shared_ptr<py::object> kept_for_good(const py::object& function) {
  return {new py::object(function), [](py::object*) {}};
}

void register_op(const std::string& domain, const std::string& name, const py::object& compute,
                 const std::string& signature,
                 const std::map<std::string, std::vector<std::string>>& types,
                 const py::dict& attributes, const py::object& infer, int since, bool pure,
                 const std::vector<uint32_t>& shape_inputs) {
  CustomOp op{.domain = domain, .name = name, .since = since, .signature = signature};
  for (const auto& [constraint, names] : types)
    op.types.push_back({constraint, dtypes_from(constraint, names)});
  for (const auto& [key, value] : attributes)
    op.attributes.push_back(attribute_from(key.cast<std::string>(), value));
  op.compute = [function = kept_for_good(compute)](const EvalCall& call) {
    with_interpreter([&] { compute_in_python(*function, call); });
  };
  if (!infer.is_none()) {
    op.infer = [function = kept_for_good(infer)](InferContext& context) {
      with_interpreter([&] { infer_in_python(*function, context); });
    };
  }
  op.is_pure = pure;
  for (const uint32_t input : shape_inputs) {
    if (input >= 32)
      fail(ErrorCode::kInvalidArgument, "shape_inputs: expected 0 to 31, got ", input);
    op.shape_inputs |= 1u << input;
  }
  const UnlockedInterpreter unlocked;
  register_custom_op(std::move(op));
}

}  // namespace

void bind_custom_ops(py::module_& module) {
  py::register_exception_translator([](std::exception_ptr pending) {
    try {
      if (pending) std::rethrow_exception(pending);
    } catch (PythonInterruption& interruption) {
      interruption.error.restore();
    }
  });
  py::class_<InputInfo>(module, "InputInfo", "What is known of an input before it is computed.")
      .def_readonly("dtype", &InputInfo::dtype)
      .def_readonly("shape", &InputInfo::shape)
      .def_readonly("elements", &InputInfo::elements);
  module.def("_register_custom_op", &register_op);
  module.def("_unregister_custom_op", [](const std::string& domain, const std::string& name) {
    if (!unregister_custom_op(name, domain))
      fail(ErrorCode::kInvalidArgument, "no custom operator is named ", domain, "::", name);
  });
}

}  // namespace sardonyx::python
