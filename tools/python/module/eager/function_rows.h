// Functions of C++ as functions of Python, by one row each: the signature as Python writes it, and
// the function, whose own types say how arguments are converted.
//
//   define("topk(input, k, dim=-1, largest=True)", eager::topk, {.fields = {"values", "indices"}});
//
// What follows `=` stands for an argument that is left out. Behind `*` arguments come by name
// alone; `*size` takes numbers or one sequence, `**options` what has other names. `a|b` is one
// argument under two names; axis and keepdims stand for dim and keepdim everywhere.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <tuple>

#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {

class PythonSignature {
 public:
  struct PythonParameter {
    enum class Kind { kPlain, kKeyword, kRest, kOptions };
    std::vector<std::string> names;
    py::object fallback;  // none: it must be given
    Kind kind = Kind::kPlain;
    std::string fallback_text;
  };
  explicit PythonSignature(std::string_view text);

  const std::string& name() const { return name_; }
  const std::vector<PythonParameter>& parameters() const { return parameters_; }
  // One object for each parameter. Throws py::type_error naming what is missing or not known.
  std::vector<py::object> arguments(const py::args& args, const py::kwargs& kwargs) const;
  [[noreturn]] void fail_type(size_t parameter, const char* expected,
                              const py::handle& given) const;

 private:
  void take_places(const py::args& args, std::vector<py::object>& found) const;
  void take_names(const py::kwargs& kwargs, std::vector<py::object>& found) const;

  std::string name_;
  std::vector<PythonParameter> parameters_;
};

struct RowCall {
  const PythonSignature& signature;
  std::span<const py::object> given;
  Loc loc;
};

eager::Number number_argument(const RowCall& call, size_t place);

// An argument while the call lasts.
template <typename T>
class RowArgument {
 public:
  static constexpr const char* kType = kPythonType<T>;
  RowArgument(const RowCall& call, size_t place) {
    const py::object& given = call.given[place];
    const bool may_be_none =
        std::is_same_v<T, Tensor> && call.signature.parameters()[place].fallback;
    if (std::is_same_v<T, Tensor> && given.is_none() && !may_be_none)
      call.signature.fail_type(place, "Tensor", given);
    try {
      convert(given, value_);
    } catch (const std::exception&) {
      call.signature.fail_type(place, kExpected<T> ? kExpected<T> : kType, given);
    }
  }
  const T& get() const { return value_; }

 private:
  T value_{};
};
template <>
class RowArgument<eager::Operand> {
 public:
  static constexpr const char* kType = "TensorLike";
  RowArgument(const RowCall& call, size_t place);
  const eager::Operand& get() const { return holder_->get(); }

 private:
  std::unique_ptr<OperandHolder> holder_;  // operands point into it, so it stays in its place
};
// A number that takes on the type of the tensor beside it, which must hold it.
template <typename T>
requires std::same_as<T, eager::Number> || std::same_as<T, std::optional<eager::Number>>
class RowArgument<T> {
 public:
  static constexpr const char* kType = kPythonType<T>;
  RowArgument(const RowCall& call, size_t place) : value_() {
    const py::object& given = call.given[place];
    if (std::same_as<T, std::optional<eager::Number>> && given.is_none()) return;
    value_ = number_argument(call, place);
  }
  const T& get() const { return value_; }

 private:
  T value_;
};
template <>
class RowArgument<std::string_view> {
 public:
  static constexpr const char* kType = "str";
  RowArgument(const RowCall& call, size_t place) : text_(call, place) {}
  std::string_view get() const { return text_.get(); }

 private:
  RowArgument<std::string> text_;
};
template <>
class RowArgument<py::object> {
 public:
  static constexpr const char* kType = "Any";
  RowArgument(const RowCall& call, size_t place) : value_(call.given[place]) {}
  const py::object& get() const { return value_; }

 private:
  py::object value_;
};
template <>
class RowArgument<Loc> {
 public:
  static constexpr const char* kType = nullptr;
  RowArgument(const RowCall& call, size_t) : loc_(call.loc) {}
  const Loc& get() const { return loc_; }

 private:
  Loc loc_;
};

struct RowOptions {
  const char* doc = "";
  std::vector<const char*> fields = {};  // of a named tuple that is the result
};

// A row without the types of its function.
struct PythonRow {
  PythonSignature signature;
  std::function<py::object(const RowCall&)> call;
  std::vector<const char*> types;
  const char* result;
  RowOptions options;
};

// Functions of one type under their names, for tables of them.
template <typename Function>
struct FunctionRow {
  const char* name;
  Function function;
};

template <typename R>
constexpr const char* kResultType = nullptr;
template <>
inline constexpr const char* kResultType<Tensor> = "Tensor";
template <>
inline constexpr const char* kResultType<std::vector<Tensor>> = "Tuple[Tensor, ...]";
template <>
inline constexpr const char* kResultType<std::pair<Tensor, Tensor>> = "Tuple[Tensor, Tensor]";
template <>
inline constexpr const char* kResultType<bool> = "bool";
template <>
inline constexpr const char* kResultType<double> = "float";
template <>
inline constexpr const char* kResultType<void> = "None";
template <>
inline constexpr const char* kResultType<eager::RemovableHandle> = "RemovableHandle";
template <>
inline constexpr const char* kResultType<py::list> = "List[Optional[Tensor]]";
template <>
inline constexpr const char* kResultType<py::object> = "Any";

inline py::object python_from(const std::vector<Tensor>& result) {
  return python_from_tensors(result);
}
inline py::object python_from(const std::pair<Tensor, Tensor>& result) {
  return py::make_tuple(result.first, result.second);
}
template <typename R>
py::object python_from(const R& result) {
  if constexpr (std::is_base_of_v<py::object, R>)
    return result;
  else
    return py::cast(result);
}

// Other Python threads run while it computes, unless it takes or gives objects of Python.
template <typename R, typename... P, size_t... place>
py::object call_row(R (*function)(P...), const RowCall& call, std::index_sequence<place...>) {
  // Braces: arguments are converted from left to right.
  const std::tuple<RowArgument<std::remove_cvref_t<P>>...> arguments{
      RowArgument<std::remove_cvref_t<P>>(call, place)...};
  const auto run = [&] {
    return std::apply([&](const auto&... one) { return function(one.get()...); }, arguments);
  };
  constexpr bool is_of_python = std::is_base_of_v<py::object, R> ||
                                (std::is_same_v<std::remove_cvref_t<P>, py::object> || ...);
  if constexpr (std::is_void_v<R>) {
    if constexpr (is_of_python) {
      run();
    } else {
      const UnlockedInterpreter released;
      run();
    }
    return py::none();
  } else if constexpr (is_of_python) {
    return python_from(run());
  } else {
    return python_from([&] {
      const UnlockedInterpreter released;
      return run();
    }());
  }
}

template <typename R, typename... P>
PythonRow row_of(const char* signature, R (*function)(P...), RowOptions options) {
  const auto call = [function](const RowCall& call) {
    return call_row(function, call, std::index_sequence_for<P...>());
  };
  return {PythonSignature(signature),
          call,
          {RowArgument<std::remove_cvref_t<P>>::kType...},
          kResultType<R>,
          std::move(options)};
}

// Defines rows as functions of a module, and as methods of a class.
class RowDefiner {
 public:
  explicit RowDefiner(py::module_& module, py::object* type = nullptr)
      : module_(module), type_(type) {}
  template <typename Function>
  void operator()(const char* signature, const Function& function, RowOptions options = {}) {
    define(row_of(signature, +function, std::move(options)));
  }
  // Of a name that the method has alone, or the function.
  template <typename Function>
  void method(const char* signature, const Function& function, RowOptions options = {}) {
    define(row_of(signature, +function, std::move(options)), false);
  }
  template <typename Function>
  void function(const char* signature, const Function& function, RowOptions options = {}) {
    define(row_of(signature, +function, std::move(options)), true, false);
  }

 private:
  void define(PythonRow row, bool is_function = true, bool is_method = true);

  py::module_& module_;
  py::object* type_;  // of tensors, unless methods alone are defined
};

}  // namespace sardonyx::python::eager_layer
