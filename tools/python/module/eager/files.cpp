// States and checkpoints in files.
#include <pybind11/stl.h>

#include <filesystem>

#include "eager/files/state_files.h"
#include "eager/files/torch_object.h"
#include "eager/nn/state_dict.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {
namespace {

using eager::TorchObject;

constexpr int kMaxNesting = 60;  // files that are nested deeper are not read

std::string place_below(const std::string& place, const py::handle& key) {
  return eager::nn::path_below(place, py::str(key));
}

[[noreturn]] void refuse_to_save(const std::string& place, const py::handle& given) {
  throw py::type_error(
      text("save(): ", place.empty() ? "obj" : place,
           ": expected tensors, numbers, text, None, and dicts, lists and tuples of them, got ",
           std::string(py::str(py::type::of(given).attr("__name__"))),
           py::hasattr(given, "state_dict") ? "; save its state_dict()"
                                            : "; pickle takes other objects"));
}

TorchObject torch_object_from(const py::handle& given, const std::string& place, int depth);

TorchObject::List torch_list_from(const py::handle& given, const std::string& place, int depth) {
  TorchObject::List list{.is_tuple = py::isinstance<py::tuple>(given)};
  for (const py::handle& item : given)
    list.items.push_back(
        torch_object_from(item, place_below(place, py::int_(list.items.size())), depth + 1));
  return list;
}

TorchObject::Dict torch_dict_from(const py::handle& given, const std::string& place, int depth) {
  TorchObject::Dict dict;
  dict.is_ordered = py::str(py::type::of(given).attr("__name__")).equal(py::str("OrderedDict"));
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(given)) {
    const bool is_key = PyUnicode_Check(key.ptr()) || PyLong_Check(key.ptr());
    if (!is_key) {
      throw py::type_error(text("save(): ", place.empty() ? "obj" : place,
                                ": expected text and integers as keys, got ",
                                std::string(py::repr(key))));
    }
    dict.keys.push_back(torch_object_from(key, place, depth + 1));
    dict.values.push_back(torch_object_from(value, place_below(place, key), depth + 1));
  }
  return dict;
}

TorchObject torch_object_from(const py::handle& given, const std::string& place, int depth) {
  if (depth > kMaxNesting) {
    throw py::value_error(text("save(): ", place, ": nested more than ", kMaxNesting,
                               " deep; does a dict or list hold itself?"));
  }
  if (given.is_none()) return {};
  if (py::isinstance<Tensor>(given)) return {given.cast<Tensor>()};
  if (PyBool_Check(given.ptr())) return {given.cast<bool>()};
  if (PyUnicode_Check(given.ptr())) return {given.cast<std::string>()};
  if (PyDict_Check(given.ptr())) return {torch_dict_from(given, place, depth)};
  if (PyList_Check(given.ptr()) || PyTuple_Check(given.ptr()))
    return {torch_list_from(given, place, depth)};
  if (PyFloat_Check(given.ptr())) return {given.cast<double>()};
  if (PyIndex_Check(given.ptr())) {
    int overflow = 0;
    const py::int_ whole(py::reinterpret_borrow<py::object>(given));
    const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (overflow == 0) return {int64_t{value}};
    throw py::value_error(
        text("save(): ", place, ": ", std::string(py::repr(given)), " does not fit into 64 bits"));
  }
  // NumPy's numbers.
  if (py::hasattr(given, "item") && py::hasattr(given, "dtype")) {
    const py::object number = given.attr("item")();
    if (PyFloat_Check(number.ptr()) || PyBool_Check(number.ptr()))
      return torch_object_from(number, place, depth);
  }
  refuse_to_save(place, given);
}

py::object python_from_torch(const TorchObject& object);

py::object python_from_torch(const TorchObject::List& list) {
  py::list items;
  for (const TorchObject& item : list.items)
    items.append(python_from_torch(item));
  return list.is_tuple ? py::object(py::tuple(items)) : items;
}
py::object python_from_torch(const TorchObject::Dict& dict) {
  py::dict made;
  for (size_t i = 0; i < dict.keys.size(); ++i)
    made[python_from_torch(dict.keys[i])] = python_from_torch(dict.values[i]);
  return made;
}
py::object python_from_torch(const TorchObject& object) {
  return std::visit(
      []<typename T>(const T& value) -> py::object {
        if constexpr (std::is_same_v<T, std::monostate>)
          return py::none();
        else if constexpr (std::is_same_v<T, TorchObject::List> ||
                           std::is_same_v<T, TorchObject::Dict>)
          return python_from_torch(value);
        else
          return py::cast(value);
      },
      object.value);
}

void save_object(const py::object& object, const std::filesystem::path& path) {
  if (!eager::is_torch_file(path)) {
    eager::nn::StateDict state;
    try {
      state = object.cast<eager::nn::StateDict>();
    } catch (const py::cast_error&) {
      throw py::type_error(text("save(): obj: expected a dict of tensors for ", path.string(),
                                "; .pt takes numbers and nested dicts besides"));
    }
    const UnlockedInterpreter released;
    return eager::save(state, path);
  }
  const TorchObject whole = torch_object_from(object, "", 0);
  const UnlockedInterpreter released;
  eager::save_torch_object(whole, path);
}

py::object load_object(const std::filesystem::path& path) {
  if (!eager::is_torch_file(path)) {
    return py::cast([&] {
      const UnlockedInterpreter released;
      return eager::load(path);
    }());
  }
  return python_from_torch([&] {
    const UnlockedInterpreter released;
    return eager::load_torch_object(path);
  }());
}

}  // namespace

void bind_files(py::module_& module) {
  module.def("_save", [](const py::object& object, const py::object& path) {
    save_object(object, path_from(path));
  });
  module.def("_load", [](const py::object& path) { return load_object(path_from(path)); });
}

}  // namespace sardonyx::python::eager_layer
