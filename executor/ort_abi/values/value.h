// What a handle to a value holds, and values from what a caller hands over.
#pragma once

#include <memory>
#include <utility>

#include "executor/ort_abi/table/ort_c_api.h"
#include "executor/ort_abi/values/memory_info.h"
#include "executor/ort_abi/values/sparse.h"
#include "ir/datum.h"

// Copies share the elements, as ONNX Runtime's do. A caller may write to a tensor's elements, so
// they are in memory that no constant of a model and no other value uses, unless a caller
// brought it.
struct OrtValue {
  sardonyx::Datum datum;                             // omitted: an absent value
  std::shared_ptr<const OrtMemoryInfo> memory_info;  // where a caller put it, or a run
  std::shared_ptr<const sardonyx::ort_abi::SparseParts> sparse = {};  // as a caller filled it in

  explicit OrtValue(sardonyx::Datum held)
      : datum(std::move(held)),
        memory_info(std::shared_ptr<void>(), &sardonyx::ort_abi::session_memory_info()) {}
  OrtValue(sardonyx::Datum held, const OrtMemoryInfo& info);
};

namespace sardonyx::ort_abi {

// Throws where a dim is negative, or there are too many of them or of elements.
Shape checked_shape(const int64_t* dims, size_t rank);
// A tensor in memory of the caller's, which `keeper` keeps. `size` is checked.
Tensor borrowed_tensor(void* data, size_t size, const int64_t* dims, size_t rank,
                       ONNXTensorElementDataType type, std::shared_ptr<void> keeper = nullptr);

// Throw where the value is no tensor, or none of strings.
const Tensor& tensor_of(const OrtValue* value);
std::span<std::string> strings_of(const OrtValue* value);

// The elements of one tensor into the memory of another, which is as large and of the same type.
void copy_tensor(const Tensor& from, const Tensor& to);

// Does nobody but the tensor hold its elements, in memory of the library's?
bool is_alone(const Tensor& tensor);

// Makes what a run gave the caller's, to do with as it likes: what is in memory of others is
// copied. An optional is its content, or absent.
void make_own(Datum& result);

}  // namespace sardonyx::ort_abi
