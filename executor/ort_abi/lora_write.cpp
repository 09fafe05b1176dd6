// LoRA adapters as files: a FlatBuffer that is written from its beginning to its end.
#include <cstring>

#include "executor/ort_abi/lora.h"
#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {
namespace {

// Readers map files and use elements where they are.
constexpr size_t kDataAlignment = 8;

class FlatBufferWriter {
 public:
  size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

  // Zeros until what follows `ahead` bytes is aligned.
  void align(size_t alignment, size_t ahead = 0) {
    while ((size() + ahead) % alignment != 0)
      bytes_.push_back({});
  }
  size_t append(const void* data, size_t size) {
    const size_t at = bytes_.size();
    bytes_.resize(at + size);
    if (size > 0) std::memcpy(bytes_.data() + at, data, size);
    return at;
  }
  template <typename T>
  size_t put(T value) {
    return append(&value, sizeof value);
  }
  // The place of an offset, which refer() fills in.
  size_t leave_offset() { return put<uint32_t>(0); }
  void refer(size_t from, size_t to) {
    const auto distance = static_cast<uint32_t>(to - from);
    std::memcpy(bytes_.data() + from, &distance, sizeof distance);
  }
  // The head of a table with four fields of 4 bytes, which the caller puts behind it.
  size_t begin_table() {
    align(4);
    const size_t layout = size();
    for (const uint16_t number : {12, 20, 4, 8, 12, 16})
      put(number);
    return put(static_cast<int32_t>(size() - layout));
  }
  // A vector: its length, then its elements at a multiple of their alignment.
  size_t put_vector(const void* data, size_t count, size_t element_size, size_t alignment) {
    align(alignment < 4 ? 4 : alignment, sizeof(uint32_t));
    const size_t at = put(static_cast<uint32_t>(count));
    append(data, count * element_size);
    return at;
  }
  size_t put_string(const std::string& text) {
    const size_t at = put_vector(text.data(), text.size(), 1, 4);
    put('\0');
    return at;
  }

 private:
  std::vector<std::byte> bytes_;
};

void put_parameter(FlatBufferWriter& file, size_t from, const std::string& name,
                   const Tensor& tensor) {
  if (tensor.dtype() == DType::kString)
    refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: parameter ", name, " is of strings");
  file.refer(from, file.begin_table());
  const size_t name_at = file.leave_offset(), dims_at = file.leave_offset();
  file.put(static_cast<int32_t>(tensor.dtype()));
  const size_t data_at = file.leave_offset();
  file.refer(name_at, file.put_string(name));
  const Shape& shape = tensor.shape();
  file.refer(dims_at,
             file.put_vector(shape.data(), shape.size(), sizeof(int64_t), alignof(int64_t)));
  file.refer(data_at, file.put_vector(tensor.raw(), tensor.bytes(), 1, kDataAlignment));
}

}  // namespace

std::vector<std::byte> write_lora_adapter(const OrtLoraAdapter& adapter) {
  FlatBufferWriter file;
  const size_t root = file.leave_offset();
  file.append(kLoraIdentifier, 4);
  file.refer(root, file.begin_table());
  for (const int32_t version : {kLoraFormatVersion, adapter.adapter_version, adapter.model_version})
    file.put(version);
  const size_t list_at = file.leave_offset();
  file.align(4);
  file.refer(list_at, file.put(static_cast<uint32_t>(adapter.parameters.size())));
  std::vector<size_t> places;
  for (size_t i = 0; i < adapter.parameters.size(); ++i)
    places.push_back(file.leave_offset());
  size_t next = 0;
  for (const auto& [name, tensor] : adapter.parameters)
    put_parameter(file, places[next++], name, tensor);
  file.align(kDataAlignment);
  return file.take();
}

}  // namespace sardonyx::ort_abi
