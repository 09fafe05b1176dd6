// What Python gives to functions of the eager layer: conversions, and arguments by place or name.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eager/nn/loss/losses.h"
#include "eager/nn/sizes.h"
#include "eager/tensor.h"
#include "tools/python/module/interpreter_lock.h"

namespace sardonyx::eager::optim {
class Optimizer;
}

namespace sardonyx::python::eager_layer {

namespace py = pybind11;
using eager::Loc;
using eager::Tensor;

// What os.fspath gives.
std::filesystem::path path_from(const py::handle& path);

// From here on torch takes x for softplus(x). Unless another is given nobody sees where: e^-20 is
// less than the last digit of a float32.
inline constexpr double kSoftplusThreshold = 20;
inline std::optional<double> softplus_threshold(double given) {
  return given == kSoftplusThreshold ? std::nullopt : std::optional(given);
}

// The floating type that tensors of Python's floats, new tensors and layers get: torch's
// set_default_dtype(), of all threads.
DType default_dtype();

// The line of the Python program that called into the package.
Loc python_line();

// Runs `run(line)` while other Python threads run.
template <typename Run>
auto unlocked(Run&& run) {
  const Loc loc = python_line();
  const UnlockedInterpreter released;
  return run(loc);
}

// Whether the object names a device; check_device() throws py::type_error unless that is the CPU.
bool is_device(const py::handle& object);
void check_device(const py::handle& object);

// A Python object that C++ may keep, copy and drop in any thread.
using SharedObject = std::shared_ptr<py::object>;
SharedObject shared_object(const py::handle& object);

// Throw py::type_error naming `what` and what came.
Tensor tensor_from(const py::handle& object, const char* what);
// Undefined for None.
Tensor tensor_or_undefined(const py::handle& object, const char* what);
// None where it is undefined.
py::object python_or_none(const Tensor& tensor);
std::vector<Tensor> tensors_from(const py::handle& object, const char* what);
// A DType of this module, a NumPy type, or its name.
DType dtype_from(const py::handle& object);
// An integer or a sequence; sizes in a trace may be symbolic.
eager::Dim dim_from_size(const py::handle& object);
Dims dims_from(const py::handle& object);
// f(2, 3) and f((2, 3)) alike.
Dims dims_from_args(const py::args& args);
std::vector<int64_t> int64s_from(const py::handle& object);  // None: none
std::vector<int64_t> int64s_from_args(const py::args& args);
py::object python_from_dim(const eager::Dim& dim);
py::object python_from_tensors(const std::vector<Tensor>& tensors);

// A tensor or number where C++ takes an Operand. Integers must fit the type of the tensor `beside`
// them, if that is one.
class OperandHolder {
 public:
  OperandHolder(const py::handle& object, const py::handle& beside, const Loc& loc);
  const eager::Operand& get() const { return *operand_; }

 private:
  Tensor tensor_;
  std::optional<eager::Operand> operand_;
};

// Conversions of one argument; they throw py::type_error or py::cast_error.
void convert(const py::handle& from, bool& to);
void convert(const py::handle& from, int64_t& to);
void convert(const py::handle& from, uint64_t& to);
void convert(const py::handle& from, double& to);
void convert(const py::handle& from, eager::Number& to);
void convert(const py::handle& from, std::string& to);
void convert(const py::handle& from, py::object& to);
void convert(const py::handle& from, const eager::optim::Optimizer*& to);
void convert(const py::handle& from, eager::optim::Optimizer*& to);
void convert(const py::handle& from, std::vector<int64_t>& to);
void convert(const py::handle& from, std::vector<double>& to);
void convert(const py::handle& from, Dims& to);
void convert(const py::handle& from, eager::Dim& to);
void convert(const py::handle& from, DType& to);
void convert(const py::handle& from, Tensor& to);
void convert(const py::handle& from, std::vector<Tensor>& to);
void convert(const py::handle& from, eager::nn::Sizes& to);
void convert(const py::handle& from, eager::nn::Reduction& to);
template <typename T>
void convert(const py::handle& from, std::optional<T>& to) {
  if (from.is_none()) {
    to.reset();
    return;
  }
  convert(from, to ? *to : to.emplace());
}
inline void convert(const py::handle& from, std::optional<eager::nn::Sizes>& to) {
  to = eager::nn::Sizes(0);
  if (from.is_none())
    to.reset();
  else
    convert(from, *to);
}

// What a call with another argument was expected to give.
template <typename T>
constexpr const char* kExpected = nullptr;
template <>
inline constexpr const char* kExpected<eager::nn::Reduction> = "'none', 'mean' or 'sum'";
template <>
inline constexpr const char* kExpected<std::vector<int64_t>> = "int or a sequence of int";
template <>
inline constexpr const char* kExpected<eager::IntList> = "int or a sequence of int";
template <>
inline constexpr const char* kExpected<Dims> = "int or a sequence of int";
template <>
inline constexpr const char* kExpected<eager::Dim> = "int";
template <>
inline constexpr const char* kExpected<Tensor> = "a Tensor";
template <>
inline constexpr const char* kExpected<const eager::optim::Optimizer*> = "an Optimizer";
template <>
inline constexpr const char* kExpected<eager::optim::Optimizer*> = "an Optimizer";
template <>
inline constexpr const char* kExpected<std::vector<Tensor>> = "Tensors";

// A number that becomes elements of the type. Throws kInvalidArgument where it is an integer that
// the type can't hold.
eager::Number number_for(const py::handle& value, DType dtype, const Loc& loc);

// What stubs and help() say of a type.
template <typename T>
constexpr const char* kPythonType = nullptr;
template <>
inline constexpr const char* kPythonType<bool> = "bool";
template <>
inline constexpr const char* kPythonType<int64_t> = "int";
template <>
inline constexpr const char* kPythonType<uint64_t> = "int";
template <>
inline constexpr const char* kPythonType<double> = "float";
template <>
inline constexpr const char* kPythonType<eager::Number> = "float";
template <>
inline constexpr const char* kPythonType<std::optional<eager::Number>> = "Optional[float]";
template <>
inline constexpr const char* kPythonType<std::string> = "str";
template <>
inline constexpr const char* kPythonType<std::vector<int64_t>> = "Ints";
template <>
inline constexpr const char* kPythonType<std::vector<double>> = "Floats";
template <>
inline constexpr const char* kPythonType<Dims> = "Optional[Ints]";
template <>
inline constexpr const char* kPythonType<eager::IntList> = "Ints";
template <>
inline constexpr const char* kPythonType<eager::Dim> = "Size";
template <>
inline constexpr const char* kPythonType<std::optional<eager::Dim>> = "Optional[Size]";
template <>
inline constexpr const char* kPythonType<DType> = "DTypeLike";
template <>
inline constexpr const char* kPythonType<std::optional<DType>> = "Optional[DTypeLike]";
template <>
inline constexpr const char* kPythonType<std::optional<bool>> = "Optional[bool]";
template <>
inline constexpr const char* kPythonType<Tensor> = "Optional[Tensor]";
template <>
inline constexpr const char* kPythonType<std::vector<Tensor>> = "Iterable[Tensor]";
template <>
inline constexpr const char* kPythonType<py::object> = "Any";
template <>
inline constexpr const char* kPythonType<const eager::optim::Optimizer*> = "Optimizer";
template <>
inline constexpr const char* kPythonType<eager::optim::Optimizer*> = "Optimizer";
template <>
inline constexpr const char* kPythonType<eager::nn::Sizes> = "Ints";
template <>
inline constexpr const char* kPythonType<eager::nn::Reduction> = "str";
template <>
inline constexpr const char* kPythonType<std::optional<int64_t>> = "Optional[int]";
template <>
inline constexpr const char* kPythonType<std::optional<double>> = "Optional[float]";
template <>
inline constexpr const char* kPythonType<std::optional<std::string>> = "Optional[str]";
template <>
inline constexpr const char* kPythonType<std::optional<eager::nn::Sizes>> = "Optional[Ints]";

// The arguments of one call, taken in the order of their places. Each may come by name as well;
// what is not given keeps its value.
class CallArguments {
 public:
  struct Parameter {
    std::string name, type, fallback;  // fallback: "" where it must be given
  };

  CallArguments(const char* callee, py::args args, py::kwargs kwargs)
      : callee_(callee), args_(std::move(args)), kwargs_(std::move(kwargs)) {}
  // Notes the parameters alone: finish() throws Noted.
  CallArguments(const char* callee, std::vector<Parameter>* notes)
      : callee_(callee), notes_(notes) {}
  struct Noted {};

  template <typename T>
  CallArguments& take(const char* name, T& value) {
    note(name, kPythonType<T>, [&] { return fallback_text(value); });
    if (const py::object given = next(name); given) set(name, given, value);
    return *this;
  }
  template <typename T>
  T need(const char* name, T value = T()) {
    note(name, std::is_same_v<T, Tensor> ? "Tensor" : kPythonType<T>, [] { return std::string(); });
    const py::object given = next(name);
    if (given)
      set(name, given, value);
    else if (!notes_)
      fail_missing(name);
    return value;
  }
  // Sizes, or the word "same", which sets `is_same`.
  CallArguments& take_padding(const char* name, eager::nn::Sizes& value, bool& is_same);
  // A reduction, or the word "batchmean", which sets `is_batch_mean`.
  CallArguments& take_batch_reduction(const char* name, eager::nn::Reduction& value,
                                      bool& is_batch_mean);
  // Throws py::type_error naming an argument that was not taken.
  void finish() const;

 private:
  template <typename T>
  void set(const char* name, const py::object& given, T& value) const {
    try {
      convert(given, value);
    } catch (const std::exception&) {
      fail_type(name, kExpected<T> ? kExpected<T> : kPythonType<T>, given);
    }
  }
  template <typename Fallback>
  void note(const char* name, const char* type, const Fallback& fallback) {
    names_.push_back(name);
    if (notes_) notes_->push_back({name, type, fallback()});
  }
  py::object next(const char* name);
  [[noreturn]] void fail_type(const char* name, const char* type, const py::object& given) const;
  [[noreturn]] void fail_missing(const char* name) const;

  static std::string fallback_text(bool value) { return value ? "True" : "False"; }
  static std::string fallback_text(int64_t value) { return std::to_string(value); }
  static std::string fallback_text(double value);
  static std::string fallback_text(const eager::Number& value) {
    return fallback_text(value.number);
  }
  static std::string fallback_text(const std::string& value) { return "'" + value + "'"; }
  static std::string fallback_text(eager::nn::Reduction) { return "'mean'"; }
  static std::string fallback_text(const eager::nn::Sizes& value);
  static std::string fallback_text(const std::vector<double>& values);
  template <typename T>
  static std::string fallback_text(const std::optional<T>& value) {
    return value ? fallback_text(*value) : "None";
  }
  template <typename T>
  static std::string fallback_text(const T&) {
    return "None";
  }

  const char* callee_;
  py::args args_;
  py::kwargs kwargs_;
  std::vector<Parameter>* notes_ = nullptr;
  std::vector<const char*> names_;
};

// "Linear(in_features: int, out_features: int, bias: bool = True)", of what `make` takes.
template <typename Make>
std::string signature_text(const char* callee, const Make& make) {
  std::vector<CallArguments::Parameter> notes;
  CallArguments arguments(callee, &notes);
  try {
    make(arguments);
  } catch (const CallArguments::Noted&) {
    // That was all of them.
  }
  std::string text = std::string(callee) + "(";
  for (const auto& [name, type, fallback] : notes) {
    if (text.back() != '(') text += ", ";
    text += name + ": " + type;
    if (!fallback.empty()) text += " = " + fallback;
  }
  return text + ")";
}

}  // namespace sardonyx::python::eager_layer
