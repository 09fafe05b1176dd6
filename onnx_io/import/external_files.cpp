#include "onnx_io/import/external_files.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ir/core/bools.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {
namespace {

class GivenBuffer : public Buffer {
 public:
  explicit GivenBuffer(std::shared_ptr<Buffer> memory)
      : Buffer(memory->data(), memory->size()), memory_(std::move(memory)) {}
  std::string origin() const override { return text("given ", number_); }

 private:
  static inline std::atomic<uint64_t> next_ = 0;
  std::shared_ptr<Buffer> memory_;
  uint64_t number_ = next_++;
};

}  // namespace

Tensor of_the_caller(const Tensor& given) {
  if (given.dtype() == DType::kString || !given.buffer()) return given;
  return Tensor(given.dtype(), given.shape(), std::make_shared<GivenBuffer>(given.buffer()),
                given.byte_offset());
}

ExternalFiles::Opened& ExternalFiles::opened(std::string_view location) {
  if (const auto found = files_.find(location); found != files_.end()) return found->second;
  return files_.emplace(location, open(location)).first->second;
}

std::vector<std::string> ExternalFiles::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : options_.external_files) {
    if (!files_.contains(name)) names.push_back(name);
  }
  return names;
}

ExternalFiles::Opened ExternalFiles::open(std::string_view location) const {
  const auto given = options_.external_files.find(location);
  if (given != options_.external_files.end()) {
    const Tensor& bytes = given->second;
    if (bytes.dtype() != DType::kUInt8 || bytes.rank() != 1) {
      fail(ErrorCode::kInvalidArgument, "external_files: ", in_quotes(location),
           ": expected its bytes as uint8[size], got ", name_of(bytes.dtype()),
           to_text(bytes.shape()));
    }
    return {bytes.bytes(), std::nullopt, of_the_caller(bytes).buffer(), bytes.byte_offset()};
  }
  if (!sandbox_) {
    fail(ErrorCode::kInvalidModel, "external data location ", in_quotes(location),
         ": it is none of external_files, and files are not allowed here; set allowed_root");
  }
  OpenFile file = open_beneath(location);
  return {file.size, std::move(file), nullptr, 0};
}

OpenFile ExternalFiles::open_beneath(std::string_view location) const {
  try {
    return sandbox_->open(location);
  } catch (const Error&) {
    std::optional<OpenFile> linked = open_linked(location);
    if (!linked) throw;
    return std::move(*linked);
  }
}

// Where the name leads to is only looked up here: the file is opened beneath the folder, whatever
// became of the links since.
std::optional<OpenFile> ExternalFiles::open_linked(std::string_view location) const {
  const std::filesystem::path name(location);
  const bool is_plain = !linked_folder_.empty() && name.is_relative() &&
                        std::ranges::find(name, std::filesystem::path("..")) == name.end();
  if (!is_plain) return std::nullopt;
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(link_folder_ / name, error);
  if (error) return std::nullopt;
  const std::filesystem::path inside = target.lexically_relative(linked_folder_);
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  return Sandbox(linked_folder_, linked_folder_).open(inside.native());
}

Tensor ExternalFiles::read(std::string_view location, uint64_t offset, DType dtype, Shape shape) {
  const size_t bytes = bytes_for(dtype, element_count(shape));
  Opened& source = opened(location);
  const bool is_mapped = source.file && options_.map_external_data;
  if (bytes > 0 && is_mapped && !source.bytes) source.bytes = map_file(*source.file);
  if (bytes > 0 && source.bytes && dtype != DType::kBool) {
    const uint64_t alignment = std::max(bits_of(dtype) / 8, 1);
    const std::byte* begin = source.bytes->data() + source.begin + offset;
    if (reinterpret_cast<uintptr_t>(begin) % alignment == 0)
      return Tensor(dtype, std::move(shape), source.bytes, source.begin + offset);
  }
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (source.file)
    read_exactly(*source.file, offset, tensor.raw(), bytes);
  else if (bytes > 0)
    std::memcpy(tensor.raw(), source.bytes->data() + source.begin + offset, bytes);
  normalize_bools(tensor);
  return tensor;
}

}  // namespace sardonyx::onnx_import
