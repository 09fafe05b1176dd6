#include "onnx_io/arrays/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "ir/core/run_control.h"
#include "onnx_io/file_access.h"
#include "onnx_io/zip/zip_reader.h"

namespace sardonyx {
namespace {

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path) : file_(open_regular(path)) {}
  uint64_t size() const override { return file_.size; }
  void read(uint64_t offset, void* out, size_t bytes) override {
    read_exactly(file_, offset, out, bytes);
  }

 private:
  OpenFile file_;
};

class StoredMember : public ByteSource {
 public:
  StoredMember(ZipReader zip, const ZipReader::Extent& extent)
      : zip_(std::move(zip)), extent_(extent) {}
  uint64_t size() const override { return extent_.bytes; }
  void read(uint64_t offset, void* out, size_t bytes) override {
    read_exactly(zip_.file(), extent_.begin + offset, out, bytes);
  }

 private:
  ZipReader zip_;
  ZipReader::Extent extent_;
};

class DeflatedMember : public ByteSource {
 public:
  DeflatedMember(ZipReader zip, const ZipReader::Extent& extent, std::string name)
      : zip_(std::move(zip)), extent_(extent), name_(std::move(name)) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
      fail(ErrorCode::kResourceExhausted, zip_.file_name(), ": no memory to unpack it");
  }
  DeflatedMember(const DeflatedMember&) = delete;
  DeflatedMember& operator=(const DeflatedMember&) = delete;
  ~DeflatedMember() override { inflateEnd(&stream_); }

  uint64_t size() const override { return extent_.bytes; }
  void read(uint64_t offset, void* out, size_t bytes) override {
    if (offset < made_) restart();
    std::vector<std::byte> passed(static_cast<size_t>(std::min<uint64_t>(kPiece, offset - made_)));
    while (made_ < offset)
      inflate_exactly(passed.data(), std::min<uint64_t>(passed.size(), offset - made_));
    auto* to = static_cast<std::byte*>(out);
    while (bytes > 0) {
      const size_t piece = std::min(bytes, kPiece);
      inflate_exactly(to, piece);
      to += piece;
      bytes -= piece;
    }
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 18;

  void restart() {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    taken_ = made_ = 0;
    checksum_ = 0;
  }
  void refuse() const { zip_.refuse("'" + name_ + "' does not unpack to its size"); }

  void inflate_exactly(std::byte* to, size_t bytes) {
    check_interrupted();
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(bytes);
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0) refill();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && !(status == Z_STREAM_END && stream_.avail_out == 0)) refuse();
    }
    checksum_ = static_cast<uint32_t>(
        crc32(checksum_, reinterpret_cast<const Bytef*>(to), static_cast<uInt>(bytes)));
    made_ += bytes;
    if (made_ == extent_.bytes && checksum_ != extent_.checksum)
      zip_.refuse("'" + name_ + "' has another checksum than it should");
  }
  void refill() {
    const auto bytes =
        static_cast<size_t>(std::min<uint64_t>(kPiece, extent_.packed_bytes - taken_));
    if (bytes == 0) refuse();
    packed_.resize(bytes);
    read_exactly(zip_.file(), extent_.begin + taken_, packed_.data(), bytes);
    taken_ += bytes;
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(bytes);
  }

  ZipReader zip_;
  ZipReader::Extent extent_;
  std::string name_;
  z_stream stream_{};
  std::vector<std::byte> packed_;
  uint64_t taken_ = 0, made_ = 0;
  uint32_t checksum_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> file_source(const std::filesystem::path& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<ByteSource> zip_member_source(const std::filesystem::path& archive,
                                              const std::string& member) {
  ZipReader zip(archive, "an archive of arrays");
  const ZipReader::Extent extent = zip.extent_of(member);
  if (extent.is_deflated) return std::make_unique<DeflatedMember>(std::move(zip), extent, member);
  return std::make_unique<StoredMember>(std::move(zip), extent);
}

}  // namespace sardonyx
