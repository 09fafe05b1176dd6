#include "executor/weights/prepack_file.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "ir/core/rounding.h"
#include "ir/core/run_control.h"
#include "onnx_io/file_write.h"

namespace sardonyx {
namespace {

constexpr char kMagic[16] = "sardonyx packs\n";
constexpr uint64_t kVersion = 2;
constexpr uint64_t kAlignment = 64;  // the alignment that kernels rely on

struct PrepackHeader {
  char magic[sizeof kMagic];
  uint64_t version;
  uint64_t index_bytes;
  ContentHash index_hash;
};
static_assert(sizeof(PrepackHeader) == 48);

std::span<const std::byte> bytes_of(const auto& value) {
  return std::as_bytes(std::span(&value, 1));
}

class IndexWriter {
 public:
  void put(const auto& value) { append(bytes_of(value)); }
  void put(const std::string& value) {
    put(static_cast<uint64_t>(value.size()));
    append(std::as_bytes(std::span(value)));
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void append(std::span<const std::byte> part) {
    bytes_.insert(bytes_.end(), part.begin(), part.end());
  }
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse(std::string_view why) {
  fail(ErrorCode::kInvalidModel, why);
}

class IndexReader {
 public:
  explicit IndexReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    T value;
    const auto from = take(sizeof value);
    std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::string string() {
    const auto from = take(number<uint64_t>());
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> take(uint64_t bytes) {
    if (bytes > rest_.size()) refuse("its index ends early");
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  std::span<const std::byte> rest_;
};

std::shared_ptr<const Buffer> piece_of(const std::shared_ptr<Buffer>& file, uint64_t offset,
                                       uint64_t bytes) {
  if (offset % kAlignment != 0 || offset > file->size() || bytes > file->size() - offset)
    refuse("its index points outside of the file");
  return Buffer::borrow(file->data() + offset, bytes, file);
}

std::span<const std::byte> packed_bytes(const StoredPack& pack) {
  return {pack.packed->data(), pack.packed->size()};
}

using PackHashes = std::unordered_map<const Buffer*, ContentHash>;

PackHashes hashes_of(const PrepackFileContent& content) {
  PackHashes hashes;
  for (const StoredPack& pack : content.packs) {
    if (hashes.contains(pack.packed.get())) continue;
    check_interrupted();
    hashes.emplace(pack.packed.get(), shared_content_hash(packed_bytes(pack)));
  }
  return hashes;
}

// The index with the offsets of the packed buffers; one buffer may have several names.
IndexWriter index_of(const PrepackFileContent& content, const PackHashes& hashes,
                     uint64_t first_offset) {
  IndexWriter index;
  index.put(content.maker);
  std::unordered_map<const Buffer*, uint64_t> offsets;
  uint64_t end = first_offset;
  for (const StoredPack& pack : content.packs) {
    const auto [at, is_new] = offsets.emplace(pack.packed.get(), end);
    if (is_new) end += rounded_up<uint64_t>(pack.packed->size(), kAlignment);
    index.put(pack.form);
    index.put(pack.origin);
    index.put(pack.content);
    index.put(at->second);
    index.put(static_cast<uint64_t>(pack.packed->size()));
    index.put(hashes.at(pack.packed.get()));
  }
  return index;
}

}  // namespace

bool StoredPack::is_intact() const {
  return shared_content_hash(packed_bytes(*this)) == packed_hash;
}

bool is_prepack_file(std::span<const std::byte> file) {
  return file.size() >= sizeof kMagic && std::memcmp(file.data(), kMagic, sizeof kMagic) == 0;
}

PrepackFileContent read_prepack_file(const std::shared_ptr<Buffer>& file) {
  const std::span<const std::byte> bytes(file->data(), file->size());
  PrepackHeader header;
  if (!is_prepack_file(bytes)) refuse("it holds something else");
  if (bytes.size() < sizeof header) refuse("it ends early");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion) refuse("it is of another version");
  if (header.index_bytes > bytes.size() - sizeof header) refuse("it ends early");
  const auto index = bytes.subspan(sizeof header, header.index_bytes);
  if (content_hash(index) != header.index_hash) refuse("its index is damaged");
  IndexReader reader(index);
  PrepackFileContent content{reader.string(), {}};
  while (!reader.is_at_end()) {
    StoredPack pack{reader.string(), reader.string(), reader.number<ContentHash>(), nullptr, {}};
    const auto offset = reader.number<uint64_t>(), size = reader.number<uint64_t>();
    pack.packed = piece_of(file, offset, size);
    pack.packed_hash = reader.number<ContentHash>();
    content.packs.push_back(std::move(pack));
  }
  return content;
}

void write_prepack_file(const std::filesystem::path& path, const PrepackFileContent& content) {
  // Offsets are numbers of one size, so the index is as long with any of them.
  const PackHashes hashes = hashes_of(content);
  const uint64_t index_bytes = index_of(content, hashes, 0).bytes().size();
  const IndexWriter index = index_of(
      content, hashes, rounded_up<uint64_t>(sizeof(PrepackHeader) + index_bytes, kAlignment));
  PrepackHeader header{{}, kVersion, index_bytes, content_hash(index.bytes())};
  std::memcpy(header.magic, kMagic, sizeof kMagic);

  remove_abandoned_beside(path);
  AtomicFile file(path);
  file.write(bytes_of(header));
  file.write(index.bytes());
  std::unordered_set<const Buffer*> written;
  for (const StoredPack& pack : content.packs) {
    if (!written.insert(pack.packed.get()).second) continue;
    file.pad_to(kAlignment);
    file.write(packed_bytes(pack));
  }
  file.commit();
}

}  // namespace sardonyx
