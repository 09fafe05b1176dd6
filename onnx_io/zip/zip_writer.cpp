#include "onnx_io/zip/zip_writer.h"

#include <zlib.h>

#include <algorithm>

#include "ir/core/error.h"
#include "onnx_io/zip/zip_format.h"

namespace sardonyx {
namespace {

using namespace zip;

constexpr uint16_t kVersion64 = 45, kNameIsUtf8 = 1 << 11;
constexpr uint16_t kSizesField = 1, kPaddingField = 0x4246;  // the second is torch's
constexpr uint16_t kFirstDate = 0x21;  // 1980-01-01, the first that the format knows

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

uint32_t zip::crc_of(const void* data, size_t bytes) {
  return static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(data), bytes));
}

void ZipWriter::add(const std::string& name, std::span<const std::byte> data, uint64_t alignment) {
  constexpr uint16_t kSizesBytes = 16, kFieldBytes = 4;
  if (name.size() > 0xffff) {
    fail(ErrorCode::kInvalidArgument, "a name of ", name.size(),
         " bytes is too long for an archive");
  }
  const WrittenMember member{name, file_.size(), data.size(), crc_of(data.data(), data.size())};
  uint64_t padding = 0;
  if (alignment > 1) {
    const uint64_t begin = file_.size() + kLocalBytes + name.size() + 2 * kFieldBytes + kSizesBytes;
    padding = (alignment - begin % alignment) % alignment;
  }
  std::string head;
  put(head, kLocalHeader);
  put(head, kVersion64);
  put(head, kNameIsUtf8);
  put(head, kStored);
  put<uint16_t>(head, 0);
  put(head, kFirstDate);
  put(head, member.checksum);
  put(head, kIn64);
  put(head, kIn64);
  put(head, static_cast<uint16_t>(name.size()));
  put(head, static_cast<uint16_t>(kFieldBytes + kSizesBytes +
                                  (alignment > 1 ? kFieldBytes + padding : 0)));
  head += name;
  put(head, kSizesField);
  put(head, kSizesBytes);
  put(head, member.bytes);
  put(head, member.bytes);
  if (alignment > 1) {
    put(head, kPaddingField);
    put(head, static_cast<uint16_t>(padding));
    head.append(padding, 'Z');
  }
  file_.write(std::as_bytes(std::span(head)));
  file_.write(data);
  members_.push_back(member);
}

void ZipWriter::close() {
  const uint64_t begin = file_.size();
  std::string out;
  for (const WrittenMember& member : members_) {
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
    put(out, kSizesField);
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
