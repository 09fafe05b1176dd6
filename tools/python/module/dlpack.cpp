#include "tools/python/module/dlpack.h"

#include <algorithm>

#include "ir/core/bools.h"
#include "tools/python/module/interpreter_lock.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

struct Device {
  int32_t type;  // 1: CPU
  int32_t id;
};
struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct StridedTensor {
  void* data;
  Device device;
  int32_t rank;
  ElementType type;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct ManagedTensor {
  StridedTensor tensor;
  void* context;
  void (*release)(ManagedTensor*);
};

constexpr int32_t kCpu = 1;
constexpr const char* kName = "dltensor";
constexpr const char* kUsedName = "used_dltensor";

struct TypeCode {
  DType dtype;
  uint8_t code;
};
constexpr TypeCode kTypeCodes[] = {
    {DType::kInt8, 0},      {DType::kInt16, 0},      {DType::kInt32, 0},  {DType::kInt64, 0},
    {DType::kUInt8, 1},     {DType::kUInt16, 1},     {DType::kUInt32, 1}, {DType::kUInt64, 1},
    {DType::kFloat16, 2},   {DType::kFloat, 2},      {DType::kDouble, 2}, {DType::kBFloat16, 4},
    {DType::kComplex64, 5}, {DType::kComplex128, 5}, {DType::kBool, 6},
};

struct Exported {
  ManagedTensor managed;
  Tensor tensor;
};

// Of a capsule that nobody took.
void destroy_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName)) return;
  auto* managed = static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule, kName));
  if (managed->release) managed->release(managed);
}

bool is_row_major(const StridedTensor& tensor) {
  if (!tensor.strides) return true;
  int64_t step = 1;
  for (int32_t i = tensor.rank; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != step) return false;
    step *= tensor.shape[i];
  }
  return true;
}

DType dtype_of_code(const ElementType& type) {
  for (const TypeCode& known : kTypeCodes) {
    if (known.code == type.code && bits_of(known.dtype) == type.bits && type.lanes == 1)
      return known.dtype;
  }
  fail(ErrorCode::kInvalidArgument, "from_dlpack: no ONNX type for code ", int{type.code}, ", ",
       int{type.bits}, " bits, ", type.lanes, " lanes");
}

ManagedTensor* managed_in(const py::object& capsule, const char* function) {
  if (!PyCapsule_IsValid(capsule.ptr(), kName))
    fail(ErrorCode::kInvalidArgument, function,
         ": expected a DLPack capsule that nobody has used yet, got ",
         std::string(py::repr(capsule)));
  return static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kName));
}

}  // namespace

py::object to_dlpack(const Tensor& tensor) {
  const TypeCode* known = nullptr;
  for (const TypeCode& type : kTypeCodes) {
    if (type.dtype == tensor.dtype()) known = &type;
  }
  if (!known) fail(ErrorCode::kUnsupported, "DLPack has no type for ", tensor.dtype());
  auto exported = std::make_unique<Exported>();
  exported->tensor = tensor;
  ManagedTensor& managed = exported->managed;
  managed.tensor = {.data = tensor.raw(),
                    .device = {kCpu, 0},
                    .rank = static_cast<int32_t>(tensor.rank()),
                    .type = {known->code, static_cast<uint8_t>(bits_of(tensor.dtype())), 1},
                    .shape = const_cast<int64_t*>(exported->tensor.shape().data()),
                    .strides = nullptr,
                    .byte_offset = 0};
  managed.context = exported.get();
  managed.release = [](ManagedTensor* self) { delete static_cast<Exported*>(self->context); };
  PyObject* capsule = PyCapsule_New(&managed, kName, &destroy_capsule);
  if (!capsule) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::object>(capsule);
}

bool is_dlpack_uint8(const py::object& capsule) {
  const ElementType& type = managed_in(capsule, "is_dlpack_uint8_tensor")->tensor.type;
  return type.code == 1 && type.bits == 8 && type.lanes == 1;
}

Tensor from_dlpack(const py::object& source, bool is_bool) {
  const py::object capsule =
      py::hasattr(source, "__dlpack__") ? source.attr("__dlpack__")() : source;
  ManagedTensor* managed = managed_in(capsule, "from_dlpack");
  const StridedTensor& tensor = managed->tensor;
  if (tensor.device.type != kCpu)
    fail(ErrorCode::kInvalidArgument, "from_dlpack: expected memory of the CPU, got device type ",
         tensor.device.type);
  if (tensor.rank < 0 || tensor.rank > 64)
    fail(ErrorCode::kInvalidArgument, "from_dlpack: rank is ", tensor.rank);
  if (!is_row_major(tensor))
    fail(ErrorCode::kInvalidArgument,
         "from_dlpack: elements are not contiguous in row-major order; make a contiguous copy");
  DType dtype = dtype_of_code(tensor.type);
  if (is_bool && dtype != DType::kUInt8 && dtype != DType::kBool)
    fail(ErrorCode::kInvalidArgument, "from_dlpack: is_bool_tensor: expected uint8 or bool, got ",
         dtype);
  if (is_bool) dtype = DType::kBool;
  Shape shape(tensor.shape, tensor.shape + tensor.rank);
  if (std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; }))
    fail(ErrorCode::kInvalidArgument, "from_dlpack: a dimension is negative");
  const size_t bytes = bytes_for(dtype, element_count(shape));
  std::byte* data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  PyCapsule_SetName(capsule.ptr(), kUsedName);
  // Producers may want the interpreter's lock to release what they hold.
  std::shared_ptr<void> keeper(managed, [](void* held) {
    auto* taken = static_cast<ManagedTensor*>(held);
    if (!taken->release || !Py_IsInitialized()) return;
    const LockedInterpreter locked;
    taken->release(taken);
  });
  return with_normal_bools(
      {dtype, std::move(shape), Buffer::borrow(data, bytes, std::move(keeper))});
}

}  // namespace sardonyx::python
