#include "onnx_io/import/model_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/parallel_for.h"
#include "ir/op_def.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {

using onnx_schema::ModelProto;
using onnx_schema::TensorProto;

namespace {

// Numbers of the fields on the way to the elements.
constexpr uint64_t kModelGraph = 7;
constexpr uint64_t kGraphInitializer = 5;
constexpr uint64_t kTensorRawData = 9;
// Smaller tensors are not worth a read of their own.
constexpr uint64_t kLarge = 4096;

enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

// Caught by read_model: the plain parser then finds the fault, or what this reader does not
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
    while (bytes > 0) {
      if (next_ == filled_) fill();
      const size_t piece = std::min<uint64_t>(bytes, filled_ - next_);
      out.append(reinterpret_cast<const char*>(block_.data()) + next_, piece);
      next_ += piece;
      bytes -= piece;
    }
  }
  // `bytes` must not lead beyond the end of the file.
  void skip(uint64_t bytes) {
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

  // Goes through the fields of a message of `size` bytes, which are there. Each is copied to `out`
  // unless `visit` takes it, which is asked for those with a length.
  template <typename Visit>
  void each_field(uint64_t size, std::string& out, const Visit& visit) {
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

// The attributes of a file that change when it is written to.
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

// Reads by several threads: most of the time goes into making space for what is read.
void read_shared(const OpenFile& file, uint64_t offset, std::byte* to, uint64_t bytes) {
  constexpr uint64_t kPiece = 512 << 10;
  const auto pieces = static_cast<int64_t>((bytes + kPiece - 1) / kPiece);
  const RunControl control = current_control() ? *current_control() : RunControl();
  std::mutex mutex;
  std::exception_ptr failure;
  parallel_for_each(pieces, current_threads(), [&](int64_t piece) {
    const ControlScope scope(control);
    const uint64_t begin = static_cast<uint64_t>(piece) * kPiece;
    try {
      read_exactly(file, offset + begin, to + begin, std::min(kPiece, bytes - begin));
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

// Elements within a file: copied where they are to stay in memory, mapped for a look in passing.
class FileElements : public EvictableBuffer {
 public:
  FileElements(std::shared_ptr<const OpenFile> file, std::shared_ptr<const Buffer> mapping,
               uint64_t offset, uint64_t bytes)
      : EvictableBuffer(
            bytes, [this](std::byte* to) { read(to); }, part_of(identity_of(*file), offset, bytes)),
        file_(std::move(file)),
        version_(Version::of(*file_)),
        mapping_(std::move(mapping)),
        offset_(offset) {}

  const std::byte* peek() override {
    if (!mapping_ || is_there()) return EvictableBuffer::peek();
    return outside();
  }
  const std::byte* outside() const override {
    if (!mapping_) return nullptr;
    check_version();
    return mapping_->data() + offset_;
  }
  void release() override {
    EvictableBuffer::release();
    if (mapping_) forget_pages(mapping_->data() + offset_, size());
  }

 private:
  void read(std::byte* to) const {
    check_version();
    read_shared(*file_, offset_, to, size());
  }
  static std::string part_of(const std::string& whole, uint64_t offset, uint64_t bytes) {
    return whole.empty() ? "" : text(whole, ", ", bytes, " bytes at ", offset);
  }
  void check_version() const {
    if (!(Version::of(*file_) == version_))
      fail(ErrorCode::kInvalidArgument, file_->name, ": was changed since the model was loaded");
  }

  std::shared_ptr<const OpenFile> file_;
  Version version_;
  std::shared_ptr<const Buffer> mapping_;  // of the whole file; may be null
  uint64_t offset_;
};

// Null where the file can't be mapped: then it is read instead.
std::shared_ptr<const Buffer> try_to_map(const OpenFile& file) {
  try {
    return map_file(file);
  } catch (const Error&) {
    return nullptr;
  }
}

// Names of initializers that nothing looks into while the model is imported, if they are of a type
// that weights have: those that are only ever the weights of a product, as they are or quantised,
// or a table that Gather reads. Defaults of inputs are among them.
std::unordered_set<std::string_view> weights_of(const ModelProto& proto) {
  std::unordered_set<std::string_view> weights, others;
  if (proto.functions_size() > 0 || proto.training_info_size() > 0) return {};
  for (const auto& node : proto.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g() || attribute.graphs_size() > 0) return {};
    }
    const OpDef* op = find_op(node.op_type(), node.domain());
    uint32_t read_late = op ? op->weight_inputs : 0;
    if (op && op->is(kDequantizes)) read_late = 1u << 0;
    for (int slot = 0; slot < node.input_size(); ++slot) {
      auto& uses = has_bit(read_late, static_cast<size_t>(slot)) ? weights : others;
      uses.insert(node.input(slot));
    }
  }
  for (const auto& output : proto.graph().output())
    others.insert(output.name());
  std::erase_if(weights, [&](std::string_view name) { return others.contains(name); });
  return weights;
}

bool has_weights(const TensorProto& proto) {
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
    case TensorProto::DOUBLE:
    case TensorProto::INT8:
    case TensorProto::UINT8:
      return true;
    default:
      return false;
  }
}

void take_elements(const std::shared_ptr<const OpenFile>& file,
                   const std::vector<Slimmer::Elements>& all, const LoadOptions& options,
                   bool reads_late, const ModelProto& proto, RawData& raw_data) {
  // Smaller ones are not worth to be given up for a while.
  constexpr uint64_t kWorthReloading = 64 << 10;
  std::unordered_set<std::string_view> late;
  if (reads_late) late = weights_of(proto);
  std::shared_ptr<const Buffer> mapping;
  if (!late.empty() && options.map_external_data) mapping = try_to_map(*file);
  for (const auto& [initializer, offset, bytes] : all) {
    if (initializer >= proto.graph().initializer_size()) continue;
    const TensorProto& tensor = proto.graph().initializer(initializer);
    if (options.initializers.contains(tensor.name())) continue;  // the caller gives it
    std::shared_ptr<Buffer>& buffer = raw_data[&tensor];
    if (bytes < kWorthReloading) {
      buffer = Buffer::allocate(bytes);
      read_exactly(*file, offset, buffer->data(), bytes);
      continue;
    }
    const bool is_late = late.contains(tensor.name()) && has_weights(tensor);
    const auto elements = std::make_shared<FileElements>(file, mapping, offset, bytes);
    if (!is_late) elements->reload();
    buffer = elements;
  }
}

}  // namespace

RawData read_model(const std::shared_ptr<const OpenFile>& file, const LoadOptions& options,
                   bool reads_late, ModelProto& proto) {
  RawData raw_data;
  try {
    Slimmer slimmer(*file);
    const std::string slim = slimmer.model();
    parse(slim, *file, options.limits, proto);
    take_elements(file, slimmer.elements(), options, reads_late, proto, raw_data);
  } catch (const Unreadable&) {
    std::string bytes(file->size, '\0');
    read_exactly(*file, 0, bytes.data(), bytes.size());
    parse(bytes, *file, options.limits, proto);
  }
  return raw_data;
}

}  // namespace sardonyx::onnx_import
