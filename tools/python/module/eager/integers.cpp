#include "tools/python/module/eager/integers.h"

#include <optional>

#include "eager/dispatch/dispatch.h"
#include "eager/placed.h"

namespace sardonyx::python::eager_layer {
namespace {

// Two's complement of 64 bits, and whether they stand for a number from 2^63 on.
struct Wide {
  uint64_t bits;
  bool is_above_int64;
};
// None where 64 bits do not hold it.
std::optional<Wide> wide_of(const py::handle& integer) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow == 0) return Wide{static_cast<uint64_t>(value), false};
  if (overflow < 0) return std::nullopt;
  const unsigned long long above = PyLong_AsUnsignedLongLong(integer.ptr());
  if (!PyErr_Occurred()) return Wide{above, true};
  PyErr_Clear();
  return std::nullopt;
}

bool fits(const Wide& wide, DType dtype) {
  const int bits = bits_of(dtype);
  const auto value = static_cast<int64_t>(wide.bits);
  if (is_signed_integer(dtype)) {
    const int64_t greatest = INT64_MAX >> (64 - bits);
    return !wide.is_above_int64 && value >= -greatest - 1 && value <= greatest;
  }
  const bool is_negative = !wide.is_above_int64 && value < 0;
  return !is_negative && wide.bits <= UINT64_MAX >> (64 - bits);
}

}  // namespace

bool is_python_integer(const py::handle& object) {
  return PyLong_CheckExact(object.ptr());
}

bool is_int64(const py::handle& integer) {
  const std::optional<Wide> wide = wide_of(integer);
  return wide && !wide->is_above_int64;
}

DType dtype_beside(DType other) {
  return other == DType::kBool ? DType::kInt64 : other;
}

void check_fits(const py::handle& integer, DType dtype, const eager::Loc& loc) {
  if (!is_integer(dtype)) return;
  const std::optional<Wide> wide = wide_of(integer);
  if (wide && fits(*wide, dtype)) return;
  eager::at_line(loc, [&] {
    fail(ErrorCode::kInvalidArgument, "value ", std::string(py::str(integer)),
         " cannot be converted to type ", dtype,
         " without overflow; to(dtype) gives the tensor a wider type");
  });
}

eager::Tensor tensor_of_integer(const py::handle& integer, DType dtype, const eager::Loc& loc) {
  check_fits(integer, dtype, loc);
  return eager::literal(number_of_integer(integer), dtype);
}

eager::Number number_of_integer(const py::handle& integer) {
  const std::optional<Wide> wide = wide_of(integer);
  if (wide && wide->is_above_int64) return wide->bits;
  if (wide) return static_cast<int64_t>(wide->bits);
  const double value = PyFloat_AsDouble(integer.ptr());
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

}  // namespace sardonyx::python::eager_layer
