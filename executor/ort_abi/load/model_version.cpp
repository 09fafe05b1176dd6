#include "executor/ort_abi/load/model_version.h"

#include <array>
#include <fstream>
#include <optional>

namespace sardonyx::ort_abi {
namespace {

// Bytes of a model one after another, from a file or from memory; what is passed over is not read.
class ModelBytes {
 public:
  explicit ModelBytes(const ModelSource& source) : bytes_(source.bytes) {
    if (source.path) file_.open(*source.path, std::ios::binary);
  }
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const int byte = next();
      if (byte < 0) return std::nullopt;
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    return std::nullopt;
  }
  bool skip(uint64_t count) {
    if (!file_.is_open()) {
      if (count > bytes_.size()) return false;
      bytes_ = bytes_.subspan(count);
      return true;
    }
    return count <= INT64_MAX && file_.seekg(static_cast<std::streamoff>(count), std::ios::cur);
  }

 private:
  int next() {
    if (file_.is_open()) return file_.get();
    if (bytes_.empty()) return -1;
    const int byte = std::to_integer<int>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  std::span<const std::byte> bytes_;
  std::ifstream file_;
};

}  // namespace

bool names_model_version(const ModelSource& source) {
  constexpr uint64_t kModelVersion = 5 << 3;  // field 5, a varint
  ModelBytes bytes(source);
  while (const std::optional<uint64_t> key = bytes.varint()) {
    if (*key == kModelVersion) return true;
    constexpr std::array<uint64_t, 6> kSizes{0, 8, 0, 0, 0, 4};  // by wire type
    const uint64_t wire = *key & 7;
    std::optional<uint64_t> size =
        wire < kSizes.size() ? std::optional(kSizes[wire]) : std::nullopt;
    if (wire == 0 && !bytes.varint()) return false;
    if (wire == 2) size = bytes.varint();
    if (!size || !bytes.skip(*size)) return false;
  }
  return false;
}

}  // namespace sardonyx::ort_abi
