#include "onnx_io/import/model_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

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
  void read_to(std::byte* out, uint64_t bytes) {
    if (bytes > left()) throw Unreadable();
    const size_t held = std::min<uint64_t>(bytes, filled_ - next_);
    std::copy_n(block_.begin() + static_cast<ptrdiff_t>(next_), held, out);
    next_ += held;
    if (held == bytes) return;
    const uint64_t from = position();
    read_exactly(file_, from, out + held, bytes - held);
    start_ = from + bytes - held;
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
  // By index in the main graph's initializers.
  std::vector<std::pair<int, std::shared_ptr<Buffer>>> take_buffers() {
    return std::move(buffers_);
  }

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
      if (length > in_.left()) throw Unreadable();
      std::shared_ptr<Buffer> buffer = Buffer::allocate(length);
      in_.read_to(buffer->data(), length);
      buffers_.emplace_back(index, std::move(buffer));
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
  std::vector<std::pair<int, std::shared_ptr<Buffer>>> buffers_;
};

void parse(std::string_view bytes, const OpenFile& file, const LoadLimits& limits,
           ModelProto& proto) {
  parse_message(std::as_bytes(std::span(bytes)), file.name, ErrorCode::kInvalidModel, limits,
                proto);
}

}  // namespace

RawData read_model(const OpenFile& file, const LoadLimits& limits, ModelProto& proto) {
  RawData raw_data;
  try {
    Slimmer slimmer(file);
    const std::string slim = slimmer.model();
    parse(slim, file, limits, proto);
    for (auto& [index, buffer] : slimmer.take_buffers()) {
      if (index < proto.graph().initializer_size()) {
        raw_data[&proto.graph().initializer(index)] = std::move(buffer);
      }
    }
  } catch (const Unreadable&) {
    std::string bytes(file.size, '\0');
    read_exactly(file, 0, bytes.data(), bytes.size());
    parse(bytes, file, limits, proto);
  }
  return raw_data;
}

}  // namespace sardonyx::onnx_import
