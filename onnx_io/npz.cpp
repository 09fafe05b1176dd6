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
constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56;
constexpr size_t kLocatorBytes = 20;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint32_t kIn64 = 0xffffffff;  // the number stands in the ZIP64 field instead
constexpr uint16_t kFirstDate = 0x21;   // 1980-01-01, the first that the format knows
constexpr uint64_t kMostMembers = 1 << 20;
constexpr std::string_view kSuffix = ".npy";

template <typename T>
T number_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint32_t crc_of(const void* data, size_t bytes) {
  return static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(data), bytes));
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
    const auto room = static_cast<uInt>(std::min(kStep, bytes - made));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out + made : &none);
    stream.avail_out = room;
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += room - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && made == bytes;
}

}  // namespace

NpzReader::NpzReader(const std::filesystem::path& path) : file_(open_regular(path)) {
  read_directory();
}

void NpzReader::refuse(const std::string& why) const {
  fail(ErrorCode::kInvalidArgument, file_.name, ": not an archive of arrays: ", why);
}

void NpzReader::read_directory() {
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
  if (count > kMostMembers) refuse(text(count, " members"));
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
void NpzReader::read_member(const std::byte* at, const Member& partial, size_t extra_bytes) {
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

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const Member& member : members_) {
    if (member.name.ends_with(kSuffix))
      names.push_back(member.name.substr(0, member.name.size() - kSuffix.size()));
  }
  return names;
}

Tensor NpzReader::read(const std::string& name) const {
  const auto found = std::ranges::find(members_, name + std::string(kSuffix), &Member::name);
  if (found == members_.end()) refuse("it has no '" + name + "'");
  const Member& member = *found;
  const std::string where = file_.name + ": '" + name + "'";
  std::byte head[kLocalBytes];
  if (file_.size - member.offset < kLocalBytes) refuse("'" + name + "' ends early");
  read_exactly(file_, member.offset, head, kLocalBytes);
  if (number_at<uint32_t>(head) != kLocalHeader) refuse("'" + name + "' has no header");
  const uint64_t begin =
      member.offset + kLocalBytes + number_at<uint16_t>(head + 26) + number_at<uint16_t>(head + 28);
  if (begin > file_.size || member.packed_bytes > file_.size - begin)
    refuse("'" + name + "' ends early");
  // Deflate packs at most 1032 to 1, so a size beyond that is a lie and nothing is allocated.
  constexpr uint64_t kBestRatio = 1032;
  const bool plausible = member.method == kStored
                             ? member.bytes == member.packed_bytes
                             : member.bytes / kBestRatio <= member.packed_bytes;
  if (member.method != kStored && member.method != kDeflated)
    refuse(text("'", name, "' is packed by method ", member.method));
  if (!plausible) refuse(text("'", name, "' claims ", member.bytes, " bytes"));
  const auto packed = Buffer::allocate(static_cast<size_t>(member.packed_bytes));
  read_exactly(file_, begin, packed->data(), packed->size());
  std::shared_ptr<Buffer> plain = packed;
  if (member.method == kDeflated) {
    plain = Buffer::allocate(static_cast<size_t>(member.bytes));
    if (!inflate_into({packed->data(), packed->size()}, plain->data(), member.bytes))
      refuse("'" + name + "' does not unpack to its size");
  }
  if (crc_of(plain->data(), plain->size()) != member.checksum)
    refuse("'" + name + "' has another checksum than it should");
  return parse_npy({plain->data(), plain->size()}, where);
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
