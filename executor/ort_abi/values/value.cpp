#include "executor/ort_abi/values/value.h"

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/type_info.h"

OrtValue::OrtValue(sardonyx::Datum held, const OrtMemoryInfo& info) : datum(std::move(held)) {
  using namespace sardonyx::ort_abi;  // NOLINT: the struct is outside of every namespace
  // Those that nearly all values have are there for good.
  for (const OrtMemoryInfo* known : {&session_memory_info(), &cpu_memory_info()}) {
    if (&info != known && !(info == *known)) continue;
    memory_info = std::shared_ptr<const OrtMemoryInfo>(std::shared_ptr<void>(), known);
    return;
  }
  memory_info = std::make_shared<const OrtMemoryInfo>(info);
}

namespace sardonyx::ort_abi {
namespace {

bool has_value(const Datum& datum) {
  if (!datum.defined()) return false;
  return !datum.is_optional() || datum.optional().value() != nullptr;
}

// The values of a map are described without one.
std::shared_ptr<const Type> without_shape(Type type) {
  type.shape.reset();
  return std::make_shared<const Type>(std::move(type));
}

// What is in a sequence or map is handed out as copies (GetValue), so that sharing is no harm.
void make_tensor_own(Datum& datum) {
  if (datum.is_tensor() && !is_alone(datum.tensor())) datum = datum.tensor().clone();
}

}  // namespace

Shape checked_shape(const int64_t* dims, size_t rank) {
  constexpr size_t kMaxRank = 64;
  if (rank > kMaxRank) {
    refuse(ORT_INVALID_ARGUMENT, "a tensor may have ", kMaxRank, " dimensions, got ", rank);
  }
  if (rank > 0) require(dims, "shape");
  Shape shape(dims, dims + rank);
  for (const int64_t dim : shape) {
    if (dim < 0) {
      refuse(ORT_INVALID_ARGUMENT, "tried creating tensor with negative value in shape");
    }
  }
  try {
    element_count(shape);
  } catch (const Error& error) {
    refuse(ORT_FAIL, "Integer overflow: ", error.what());
  }
  return shape;
}

const Tensor& tensor_of(const OrtValue* value) {
  const OrtValue& held = require(value, "value");
  if (held.datum.is_tensor()) return held.datum.tensor();
  if (!held.datum.defined()) refuse(ORT_INVALID_ARGUMENT, "OrtValue is not allocated");
  refuse(ORT_RUNTIME_EXCEPTION, "the value is no tensor but ", held.datum.type());
}

bool is_alone(const Tensor& tensor) {
  return tensor.buffer() && tensor.buffer()->kind() != Buffer::Kind::kBorrowed &&
         is_sole_owner(tensor.buffer());
}

void make_own(Datum& result) {
  const Datum* content = result.is_optional() ? result.optional().value() : nullptr;
  if (content) result = Datum(*content);
  make_tensor_own(result);
}

OrtStatus* Functions::IsTensor(const OrtValue* value, int* out) {
  return guarded([&] { require(out, "out") = require(value, "value").datum.is_tensor() ? 1 : 0; });
}

OrtStatus* Functions::IsSparseTensor(const OrtValue* value, int* out) {
  return guarded([&] { require(out, "out") = require(value, "value").datum.is_sparse() ? 1 : 0; });
}

OrtStatus* Functions::HasValue(const OrtValue* value, int* out) {
  return guarded([&] { require(out, "out") = has_value(require(value, "value").datum) ? 1 : 0; });
}

OrtStatus* Functions::GetValueType(const OrtValue* value, ONNXType* out) {
  return guarded([&] {
    const Datum& datum = require(value, "value").datum;
    require(out, "out") = datum.defined() ? kind_of(datum.type()) : ONNX_TYPE_UNKNOWN;
  });
}

// NULL for a value that is not there.
OrtStatus* Functions::GetTypeInfo(const OrtValue* value, OrtTypeInfo** out) {
  return guarded([&] {
    OrtTypeInfo*& place = require_place(out, "out");
    const Datum& datum = require(value, "value").datum;
    if (!datum.defined()) return;
    Type type = datum.type();
    if (datum.is_map()) type.element = without_shape(*type.element);
    place = new OrtTypeInfo(type_info_of(type));
  });
}

OrtStatus* Functions::GetTensorTypeAndShape(const OrtValue* value,
                                            OrtTensorTypeAndShapeInfo** out) {
  return guarded([&] {
    OrtTensorTypeAndShapeInfo*& place = require_place(out, "out");
    const Datum& datum = require(value, "value").datum;
    if (!datum.is_tensor() && !datum.is_sparse()) refuse(ORT_FAIL, "Argument is not a tensor");
    place = new OrtTensorTypeAndShapeInfo(tensor_info_of(datum.type()));
  });
}

OrtStatus* Functions::GetTensorMemoryInfo(const OrtValue* value, const OrtMemoryInfo** mem_info) {
  return guarded([&] {
    const OrtMemoryInfo*& place = require_place(mem_info, "mem_info");
    tensor_of(value);
    place = value->memory_info.get();
  });
}

void Functions::ReleaseValue(OrtValue* input) {
  delete input;
}

}  // namespace sardonyx::ort_abi
