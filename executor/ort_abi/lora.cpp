#include "executor/ort_abi/lora.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "executor/ort_abi/run_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

constexpr size_t kMaxParameters = 1 << 20;

// The fields of the format's tables, in their order.
enum AdapterField : size_t { kFormatField, kAdapterField, kModelField, kParametersField };
enum ParameterField : size_t { kParameterName, kParameterDims, kParameterType, kParameterData };

// A FlatBuffer, in which every position is checked before it is read.
class FlatBuffer {
 public:
  explicit FlatBuffer(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T read(size_t at) const {
    check(at, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  // Where an offset at `at` leads to.
  size_t target(size_t at) const { return at + read<uint32_t>(at); }
  // The place of a field of the table; 0 where it is left out.
  size_t field(size_t table, size_t index) const {
    const int64_t vtable = static_cast<int64_t>(table) - read<int32_t>(table);
    if (vtable < 0) refuse_file();
    const size_t begin = static_cast<size_t>(vtable), slot = 4 + 2 * index;
    if (slot + 2 > read<uint16_t>(begin)) return 0;
    const uint16_t offset = read<uint16_t>(begin + slot);
    return offset == 0 ? 0 : table + offset;
  }
  // The elements of the vector or string that a field refers to.
  std::span<const std::byte> vector(size_t field, size_t element_size) const {
    if (field == 0) return {};
    const size_t at = target(field);
    const size_t bytes = size_t{read<uint32_t>(at)} * element_size;
    check(at + 4, bytes);
    return bytes_.subspan(at + 4, bytes);
  }

  [[noreturn]] static void refuse_file() {
    refuse(ORT_INVALID_ARGUMENT,
           "The buffer is no valid LoRA adapter: it ends early or is corrupt");
  }

 private:
  void check(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) refuse_file();
  }
  std::span<const std::byte> bytes_;
};

template <typename T>
std::vector<T> numbers_in(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

DType stored_type(int32_t number) {
  const bool is_known =
      number > 0 && number < kDTypeCount && static_cast<DType>(number) != DType::kString;
  if (!is_known)
    refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: element type ", number, " is not supported");
  return static_cast<DType>(number);
}

std::pair<std::string, Tensor> read_parameter(const FlatBuffer& file, size_t table) {
  const auto name = file.vector(file.field(table, kParameterName), 1);
  const auto dims = file.vector(file.field(table, kParameterDims), sizeof(int64_t));
  const auto data = file.vector(file.field(table, kParameterData), 1);
  const size_t type_at = file.field(table, kParameterType);
  const DType dtype = stored_type(type_at == 0 ? 0 : file.read<int32_t>(type_at));
  Shape shape = numbers_in<int64_t>(dims);
  for (const int64_t dim : shape) {
    if (dim < 0) refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: a dim of ", dim);
  }
  if (bytes_for(dtype, element_count(shape)) != data.size()) {
    refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: ", dtype, to_text(shape), " has ", data.size(),
           " bytes");
  }
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (!data.empty()) std::memcpy(tensor.raw(), data.data(), data.size());
  return {std::string(reinterpret_cast<const char*>(name.data()), name.size()), std::move(tensor)};
}

OrtStatus* create_adapter(OrtLoraAdapter** out, const auto& bytes) {
  return guarded([&] {
    OrtLoraAdapter*& place = require_place(out, "out");
    place = new OrtLoraAdapter(read_lora_adapter(bytes()));
  });
}

}  // namespace

OrtLoraAdapter read_lora_adapter(std::span<const std::byte> bytes) {
  const FlatBuffer file(bytes);
  constexpr size_t kIdentifierAt = 4;
  if (bytes.size() < 8 || std::memcmp(bytes.data() + kIdentifierAt, kLoraIdentifier, 4) != 0)
    refuse(ORT_FAIL, "The buffer does not appear to be a valid lora parameter format");
  const size_t adapter = file.target(0);
  const auto version_in = [&](AdapterField field) {
    const size_t at = file.field(adapter, field);
    return at == 0 ? 0 : file.read<int32_t>(at);
  };
  const int32_t version = version_in(kFormatField);
  if (version != kLoraFormatVersion) {
    refuse(ORT_INVALID_ARGUMENT, "Unsupported LoRA adapter format version: ", version);
  }
  OrtLoraAdapter made{version_in(kAdapterField), version_in(kModelField), {}};
  const size_t parameters = file.field(adapter, kParametersField);
  if (parameters == 0) return made;
  const size_t count = file.vector(parameters, sizeof(uint32_t)).size() / sizeof(uint32_t);
  if (count > kMaxParameters)
    refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: ", count, " parameters are too many");
  for (size_t i = 0; i < count; ++i) {
    const size_t table = file.target(file.target(parameters) + 4 + i * sizeof(uint32_t));
    made.parameters.insert(read_parameter(file, table));
  }
  return made;
}

OrtStatus* Functions::CreateLoraAdapter(const char* adapter_file_path, OrtAllocator*,
                                        OrtLoraAdapter** out) {
  std::vector<char> content;
  return create_adapter(out, [&] {
    std::ifstream file(&require(adapter_file_path, "adapter_file_path"), std::ios::binary);
    if (!file) refuse(ORT_INVALID_ARGUMENT, "Load LoRA adapter ", adapter_file_path, " failed");
    content.assign(std::istreambuf_iterator<char>(file), {});
    return std::as_bytes(std::span(content));
  });
}

OrtStatus* Functions::CreateLoraAdapterFromArray(const void* bytes, size_t num_bytes, OrtAllocator*,
                                                 OrtLoraAdapter** out) {
  return create_adapter(out, [&] {
    require(static_cast<const char*>(bytes), "bytes");
    return std::span(static_cast<const std::byte*>(bytes), num_bytes);
  });
}

void Functions::ReleaseLoraAdapter(OrtLoraAdapter* input) {
  delete input;
}

// The adapter is the program's, and must be there when runs with these options are made.
OrtStatus* Functions::RunOptionsAddActiveLoraAdapter(OrtRunOptions* options,
                                                     const OrtLoraAdapter* adapter) {
  return guarded(
      [&] { require(options, "options").adapters.push_back(&require(adapter, "adapter")); });
}

}  // namespace sardonyx::ort_abi
