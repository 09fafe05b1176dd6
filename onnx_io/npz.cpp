#include "onnx_io/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "onnx_io/npy.h"

namespace sardonyx {
namespace {

// Signatures and fixed sizes of PKWARE's APPNOTE 6.3, sections 4.3.7 to 4.3.16.
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEndLocator64 = 0x07064b50;
constexpr size_t kEnd64Bytes = 56;
constexpr uint16_t kStored = 0;
constexpr uint32_t kIn64 = 0xffffffff;  // the number stands in the ZIP64 field instead
constexpr uint16_t kFirstDate = 0x21;   // 1980-01-01, the first that the format knows
constexpr std::string_view kSuffix = ".npy";

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint32_t crc_of(const void* data, size_t bytes) {
  return static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(data), bytes));
}

}  // namespace

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const std::string& name : zip_.names()) {
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  return names;
}

Tensor NpzReader::read(const std::string& name) const {
  const std::shared_ptr<Buffer> bytes = zip_.read(name + std::string(kSuffix));
  return parse_npy({bytes->data(), bytes->size()}, zip_.file_name() + ": '" + name + "'");
}

void NpzWriter::add(const std::string& name, const Tensor& tensor) {
  const std::string data = npy_bytes(tensor);
  const std::string file_name = name + std::string(kSuffix);
  if (file_name.size() > 0xffff)
    fail(ErrorCode::kInvalidArgument, "a name of ", name.size(), " bytes is too long for a .npz");
  const Member member{file_name, file_.size(), data.size(), crc_of(data.data(), data.size())};
  std::string head;
  constexpr uint16_t kVersion64 = 45, kNameIsUtf8 = 1 << 11, kZip64 = 1;
  put(head, kLocalHeader);
  put(head, kVersion64);
  put(head, kNameIsUtf8);
  put(head, kStored);
  put<uint16_t>(head, 0);
  put(head, kFirstDate);
  put(head, member.checksum);
  put(head, kIn64);
  put(head, kIn64);
  put(head, static_cast<uint16_t>(file_name.size()));
  put<uint16_t>(head, 20);
  head += file_name;
  put(head, kZip64);
  put<uint16_t>(head, 16);
  put(head, member.bytes);
  put(head, member.bytes);
  file_.write(std::as_bytes(std::span(head)));
  file_.write(std::as_bytes(std::span(data)));
  members_.push_back(member);
}

void NpzWriter::close() {
  const uint64_t begin = file_.size();
  constexpr uint16_t kVersion64 = 45, kNameIsUtf8 = 1 << 11, kZip64 = 1;
  std::string out;
  for (const Member& member : members_) {
    put(out, kDirectoryEntry);
    put(out, kVersion64);
    put(out, kVersion64);
    put(out, kNameIsUtf8);
    put(out, kStored);
    put<uint16_t>(out, 0);
    put(out, kFirstDate);
    put(out, member.checksum);
    put(out, kIn64);
    put(out, kIn64);
    put(out, static_cast<uint16_t>(member.name.size()));
    put<uint16_t>(out, 28);
    out.append(10, '\0');  // no comment, first disk, no attributes
    put(out, kIn64);
    out += member.name;
    put(out, kZip64);
    put<uint16_t>(out, 24);
    put(out, member.bytes);
    put(out, member.bytes);
    put(out, member.offset);
  }
  const uint64_t directory_bytes = out.size(), count = members_.size();
  put(out, kEnd64);
  put<uint64_t>(out, kEnd64Bytes - 12);
  put(out, kVersion64);
  put(out, kVersion64);
  out.append(8, '\0');  // this disk, the directory's disk
  put(out, count);
  put(out, count);
  put(out, directory_bytes);
  put(out, begin);
  put(out, kEndLocator64);
  put<uint32_t>(out, 0);
  put<uint64_t>(out, begin + directory_bytes);
  put<uint32_t>(out, 1);
  put(out, kEnd);
  put<uint32_t>(out, 0);
  const auto small_count = static_cast<uint16_t>(std::min<uint64_t>(count, 0xffff));
  put(out, small_count);
  put(out, small_count);
  put(out, kIn64);
  put(out, kIn64);
  put<uint16_t>(out, 0);
  file_.write(std::as_bytes(std::span(out)));
  file_.commit();
}

}  // namespace sardonyx
