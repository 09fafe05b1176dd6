#include "onnx_io/import/model_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "ir/reloadable_buffer.h"
#include "ir/run_control.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {

using onnx_schema::ModelProto;

namespace {

// Numbers of the fields on the way to the elements.
constexpr uint64_t kModelGraph = 7;
constexpr uint64_t kGraphInitializer = 5;
constexpr uint64_t kTensorRawData = 9;
// Smaller tensors are not worth a read of their own.
constexpr uint64_t kLarge = 4096;

enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

// Thrown away by read_model: the plain parser then finds the fault, or what this reader does not
// know.
struct Unreadable {};

// Reads the file in order, in blocks.
class BlockReader {
 public:
  explicit BlockReader(const OpenFile& file) : file_(file), block_(kBlock) {}

  uint64_t position() const { return start_ + next_; }
  uint64_t left() const { return file_.size - position(); }

  uint8_t byte() {
    if (next_ == filled_) fill();
    return static_cast<uint8_t>(block_[next_++]);
  }
  void append_to(std::string& out, uint64_t bytes) {
    if (bytes > left()) throw Unreadable();
    while (bytes > 0) {
      if (next_ == filled_) fill();
      const size_t piece = std::min<uint64_t>(bytes, filled_ - next_);
      out.append(reinterpret_cast<const char*>(block_.data()) + next_, piece);
      next_ += piece;
      bytes -= piece;
    }
  }
  void skip(uint64_t bytes) {
    if (bytes > left()) throw Unreadable();
    if (bytes <= filled_ - next_) {
      next_ += bytes;
      return;
    }
    start_ = position() + bytes;
    next_ = filled_ = 0;
  }

 private:
  static constexpr size_t kBlock = size_t{1} << 16;

  void fill() {
    start_ += filled_;
    next_ = 0;
    filled_ = std::min<uint64_t>(kBlock, file_.size - start_);
    if (filled_ == 0) throw Unreadable();
    read_exactly(file_, start_, block_.data(), filled_);
  }

  const OpenFile& file_;
  std::vector<std::byte> block_;
  uint64_t start_ = 0;  // of the block in the file
  size_t next_ = 0, filled_ = 0;
};

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Copies messages without the large elements.
class Slimmer {
 public:
  explicit Slimmer(const OpenFile& file) : in_(file) {}

  std::string model() {
    std::string out;
    each_field(in_.left(), out, [&](uint64_t field, uint64_t length) {
      if (field != kModelGraph) return false;
      append_message(out, field, graph(length));
      return true;
    });
    return out;
  }
  // The elements that were left out.
  struct Elements {
    int initializer;  // of the main graph, by index
    uint64_t offset, bytes;
  };
  const std::vector<Elements>& elements() const { return elements_; }

 private:
  std::string graph(uint64_t size) {
    std::string out;
    each_field(size, out, [&](uint64_t field, uint64_t length) {
      if (field != kGraphInitializer) return false;
      const int index = initializers_++;
      if (length < kLarge) return false;
      append_message(out, field, tensor(length, index));
      return true;
    });
    return out;
  }

  std::string tensor(uint64_t size, int index) {
    std::string out;
    each_field(size, out, [&](uint64_t field, uint64_t length) {
      if (field != kTensorRawData || length < kLarge) return false;
      elements_.push_back({index, in_.position(), length});
      in_.skip(length);
      return true;
    });
    return out;
  }

  // Goes through the fields of a message of `size` bytes. Each is copied to `out` unless `visit`
  // takes it, which is asked for those with a length.
  template <typename Visit>
  void each_field(uint64_t size, std::string& out, const Visit& visit) {
    if (size > in_.left()) throw Unreadable();
    const uint64_t end = in_.position() + size;
    while (in_.position() < end) {
      const uint64_t tag = varint();
      const uint64_t type = tag & 7;
      if (type == kLength) {
        const uint64_t length = varint();
        if (in_.position() > end || length > end - in_.position()) throw Unreadable();
        if (visit(tag >> 3, length)) continue;
        append_varint(out, tag);
        append_varint(out, length);
        in_.append_to(out, length);
      } else {
        append_varint(out, tag);
        copy_number(type, out);
      }
    }
    if (in_.position() != end) throw Unreadable();
  }

  void copy_number(uint64_t type, std::string& out) {
    if (type == kVarint) {
      append_varint(out, varint());
    } else if (type == kFixed64 || type == kFixed32) {
      in_.append_to(out, type == kFixed64 ? 8 : 4);
    } else {
      throw Unreadable();  // groups, which ONNX has none of
    }
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = in_.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw Unreadable();
  }

  static void append_message(std::string& out, uint64_t field, const std::string& message) {
    append_varint(out, field << 3 | kLength);
    append_varint(out, message.size());
    out += message;
  }

  BlockReader in_;
  int initializers_ = 0;
  std::vector<Elements> elements_;
};

void parse(std::string_view bytes, const OpenFile& file, const LoadLimits& limits,
           ModelProto& proto) {
  parse_message(std::as_bytes(std::span(bytes)), file.name, ErrorCode::kInvalidModel, limits,
                proto);
}

// What the system says of a file when it is written to.
struct Version {
  timespec modified;
  off_t size;
  static Version of(const OpenFile& file) {
    struct stat info = {};
    if (fstat(file.handle.get(), &info) != 0)
      fail(ErrorCode::kInvalidArgument, file.name, ": can't be examined");
    return {info.st_mtim, info.st_size};
  }
  bool operator==(const Version& other) const {
    return modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec &&
           size == other.size;
  }
};

// Reads by several threads: most of the time goes into making room for what is read.
void read_shared(const OpenFile& file, uint64_t offset, std::byte* to, uint64_t bytes) {
  constexpr uint64_t kPiece = 512 << 10;
  const auto pieces = static_cast<int64_t>((bytes + kPiece - 1) / kPiece);
  const RunControl control = current_control() ? *current_control() : RunControl();
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic) if (pieces > 1)
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const ControlScope scope(control);
    const uint64_t begin = static_cast<uint64_t>(piece) * kPiece;
    try {
      read_exactly(file, offset + begin, to + begin, std::min(kPiece, bytes - begin));
    } catch (...) {
#pragma omp critical(sardonyx_read_shared)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

std::shared_ptr<Buffer> buffer_of(const std::shared_ptr<const OpenFile>& file,
                                  const Slimmer::Elements& elements) {
  // Smaller ones are not worth to be given up for a while.
  constexpr uint64_t kWorthReloading = 64 << 10;
  if (elements.bytes < kWorthReloading) {
    std::shared_ptr<Buffer> buffer = Buffer::allocate(elements.bytes);
    read_exactly(*file, elements.offset, buffer->data(), elements.bytes);
    return buffer;
  }
  const auto read = [file, elements, version = Version::of(*file)](std::byte* to) {
    if (!(Version::of(*file) == version))
      fail(ErrorCode::kInvalidArgument, file->name, ": was changed since the model was loaded");
    read_shared(*file, elements.offset, to, elements.bytes);
  };
  return std::make_shared<ReloadableBuffer>(elements.bytes, read);
}

}  // namespace

RawData read_model(const std::shared_ptr<const OpenFile>& file, const LoadLimits& limits,
                   ModelProto& proto) {
  RawData raw_data;
  try {
    Slimmer slimmer(*file);
    const std::string slim = slimmer.model();
    parse(slim, *file, limits, proto);
    for (const Slimmer::Elements& elements : slimmer.elements()) {
      if (elements.initializer < proto.graph().initializer_size())
        raw_data[&proto.graph().initializer(elements.initializer)] = buffer_of(file, elements);
    }
  } catch (const Unreadable&) {
    std::string bytes(file->size, '\0');
    read_exactly(*file, 0, bytes.data(), bytes.size());
    parse(bytes, *file, limits, proto);
  }
  return raw_data;
}

}  // namespace sardonyx::onnx_import
