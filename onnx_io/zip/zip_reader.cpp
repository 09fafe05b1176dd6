#include "onnx_io/zip/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "onnx_io/zip/zip_format.h"

namespace sardonyx {
namespace {

using namespace zip;

constexpr uint64_t kMaxMembers = 1 << 20;

template <typename T>
T number_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// `packed` inflated into exactly `bytes` bytes; false where it is broken or of another size.
bool inflate_into(std::span<const std::byte> packed, std::byte* out, uint64_t bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  size_t taken = 0;
  uint64_t made = 0;
  int status = Z_OK;
  constexpr uint64_t kStep = 1 << 30;  // zlib counts in 32 bits
  std::byte none{};
  while (status == Z_OK) {
    const auto in = static_cast<uInt>(std::min<uint64_t>(kStep, packed.size() - taken));
    const auto space = static_cast<uInt>(std::min(kStep, bytes - made));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(space > 0 ? out + made : &none);
    stream.avail_out = space;
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += space - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && made == bytes;
}

}  // namespace

ZipReader::ZipReader(const std::filesystem::path& path, std::string what)
    : file_(open_regular(path)), what_(std::move(what)) {
  read_directory();
}

void ZipReader::refuse(const std::string& why) const {
  fail(ErrorCode::kInvalidArgument, file_.name, ": not ", what_, ": ", why);
}

void ZipReader::read_directory() {
  constexpr uint64_t kLongestComment = 0xffff;
  const auto tail_bytes = static_cast<size_t>(
      std::min<uint64_t>(file_.size, kEndBytes + kLongestComment + kLocatorBytes));
  std::vector<std::byte> tail(tail_bytes);
  read_exactly(file_, file_.size - tail_bytes, tail.data(), tail_bytes);
  size_t at = tail_bytes;
  while (at-- > 0) {
    if (at + kEndBytes <= tail_bytes && number_at<uint32_t>(&tail[at]) == kEnd) break;
  }
  if (at == SIZE_MAX) refuse("it has no end record");
  uint64_t count = number_at<uint16_t>(&tail[at + 10]);
  uint64_t bytes = number_at<uint32_t>(&tail[at + 12]);
  uint64_t offset = number_at<uint32_t>(&tail[at + 16]);
  if (at >= kLocatorBytes && number_at<uint32_t>(&tail[at - kLocatorBytes]) == kEndLocator64) {
    const auto place = number_at<uint64_t>(&tail[at - kLocatorBytes + 8]);
    if (place > file_.size || file_.size - place < kEnd64Bytes) refuse("its end record is outside");
    std::vector<std::byte> end(kEnd64Bytes);
    read_exactly(file_, place, end.data(), end.size());
    if (number_at<uint32_t>(end.data()) != kEnd64) refuse("its end record is broken");
    count = number_at<uint64_t>(&end[32]);
    bytes = number_at<uint64_t>(&end[40]);
    offset = number_at<uint64_t>(&end[48]);
  }
  if (offset > file_.size || bytes > file_.size - offset) refuse("its directory is outside");
  if (count > kMaxMembers) refuse(text(count, " members"));
  std::vector<std::byte> directory(static_cast<size_t>(bytes));
  read_exactly(file_, offset, directory.data(), directory.size());
  size_t entry = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (directory.size() - entry < kEntryBytes) refuse("its directory ends early");
    const std::byte* head = &directory[entry];
    if (number_at<uint32_t>(head) != kDirectoryEntry) refuse("its directory is broken");
    const size_t name = number_at<uint16_t>(head + 28), extra = number_at<uint16_t>(head + 30);
    const size_t all = kEntryBytes + name + extra + number_at<uint16_t>(head + 32);
    if (directory.size() - entry < all) refuse("its directory ends early");
    Member member{.name = std::string(reinterpret_cast<const char*>(head + kEntryBytes), name),
                  .offset = number_at<uint32_t>(head + 42),
                  .packed_bytes = number_at<uint32_t>(head + 20),
                  .bytes = number_at<uint32_t>(head + 24),
                  .checksum = number_at<uint32_t>(head + 16),
                  .method = number_at<uint16_t>(head + 10)};
    constexpr uint16_t kEncrypted = 1;
    if (number_at<uint16_t>(head + 8) & kEncrypted) refuse("'" + member.name + "' is encrypted");
    read_member(head + kEntryBytes + name, member, extra);
    entry += all;
  }
}

// Takes the numbers that do not fit 32 bits from the ZIP64 field among the extra ones.
void ZipReader::read_member(const std::byte* at, const Member& partial, size_t extra_bytes) {
  Member member = partial;
  constexpr uint16_t kZip64 = 1;
  for (size_t field = 0; field + 4 <= extra_bytes;) {
    const auto id = number_at<uint16_t>(at + field);
    const size_t length = number_at<uint16_t>(at + field + 2);
    if (length > extra_bytes - field - 4) refuse("'" + member.name + "' has a broken entry");
    size_t place = field + 4;
    for (uint64_t* number : {&member.bytes, &member.packed_bytes, &member.offset}) {
      if (id != kZip64 || *number != kIn64) continue;
      if (place + 8 > field + 4 + length) refuse("'" + member.name + "' has a broken entry");
      *number = number_at<uint64_t>(at + place);
      place += 8;
    }
    field += 4 + length;
  }
  if (member.offset > file_.size || member.packed_bytes > file_.size - member.offset)
    refuse("'" + member.name + "' is outside of the file");
  members_.push_back(std::move(member));
}

std::vector<std::string> ZipReader::names() const {
  std::vector<std::string> names;
  for (const Member& member : members_)
    names.push_back(member.name);
  return names;
}

bool ZipReader::has(const std::string& name) const {
  return std::ranges::find(members_, name, &Member::name) != members_.end();
}

const ZipReader::Member& ZipReader::member_named(const std::string& name) const {
  const auto found = std::ranges::find(members_, name, &Member::name);
  if (found == members_.end()) refuse("it has no '" + name + "'");
  return *found;
}

uint64_t ZipReader::size_of(const std::string& name) const {
  return member_named(name).bytes;
}

ZipReader::Extent ZipReader::extent_of(const std::string& name) const {
  const Member& member = member_named(name);
  std::byte head[kLocalBytes];
  if (file_.size - member.offset < kLocalBytes) refuse("'" + name + "' ends early");
  read_exactly(file_, member.offset, head, kLocalBytes);
  if (number_at<uint32_t>(head) != kLocalHeader) refuse("'" + name + "' has no header");
  const uint64_t begin =
      member.offset + kLocalBytes + number_at<uint16_t>(head + 26) + number_at<uint16_t>(head + 28);
  if (begin > file_.size || member.packed_bytes > file_.size - begin)
    refuse("'" + name + "' ends early");
  // Deflate packs at most 1032 to 1, so a size beyond that is a are and nothing is allocated.
  constexpr uint64_t kBestRatio = 1032;
  const bool plausible = member.method == kStored
                             ? member.bytes == member.packed_bytes
                             : member.bytes / kBestRatio <= member.packed_bytes;
  if (member.method != kStored && member.method != kDeflated)
    refuse(text("'", name, "' is packed by method ", member.method));
  if (!plausible) refuse(text("'", name, "' claims ", member.bytes, " bytes"));
  return {begin, member.packed_bytes, member.bytes, member.checksum, member.method == kDeflated};
}

std::shared_ptr<Buffer> ZipReader::read(const std::string& name) const {
  const Extent member = extent_of(name);
  const auto packed = Buffer::allocate(static_cast<size_t>(member.packed_bytes));
  read_exactly(file_, member.begin, packed->data(), packed->size());
  std::shared_ptr<Buffer> plain = packed;
  if (member.is_deflated) {
    plain = Buffer::allocate(static_cast<size_t>(member.bytes));
    if (!inflate_into({packed->data(), packed->size()}, plain->data(), member.bytes))
      refuse("'" + name + "' does not unpack to its size");
  }
  if (crc_of(plain->data(), plain->size()) != member.checksum)
    refuse("'" + name + "' has another checksum than it should");
  return plain;
}

}  // namespace sardonyx
