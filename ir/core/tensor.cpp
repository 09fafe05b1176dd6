#include "ir/core/tensor.h"

#include <cstring>
#include <new>

#include "ir/core/bools.h"
#include "ir/core/memory/block_allocator.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/memory_reservation.h"
#include "ir/core/sanitizers.h"

namespace sardonyx {
namespace {

class HeapBuffer : public Buffer {
 public:
  explicit HeapBuffer(size_t bytes, Kind kind = Kind::kBytes)
      : Buffer(nullptr, bytes, kind), share_(bytes) {
    MemorySource* source = share_.source();
    data_ = static_cast<std::byte*>(source ? source->allocate(bytes) : take_block(bytes));
    if (!data_) fail(ErrorCode::kResourceExhausted, "out of memory: ", bytes, " bytes asked for");
  }
  ~HeapBuffer() override {
    if (MemorySource* source = share_.source())
      source->give_back(data_, size_);
    else
      give_back_block(data_, size_);
  }

 private:
  BudgetShare share_;
};

constexpr bool kOwnBlocks = kAddressSanitizer;  // there, blocks are watched

// The elements are in the buffer's own block: most results of small ops are of this kind, and one
// allocation is half the cost of two.
constexpr size_t kSmallBytes = kBlockAlignment;

class SmallBuffer : public Buffer {
 public:
  // The object itself is what takes memory.
  explicit SmallBuffer(size_t bytes)
      : Buffer(nullptr, bytes, Kind::kBytes), share_(sizeof(SmallBuffer)) {
    const auto address = reinterpret_cast<uintptr_t>(storage_);
    data_ =
        storage_ + ((address + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment - address);
  }

 private:
  BudgetShare share_;
  std::byte storage_[kSmallBytes + kBlockAlignment - 1];
};

class StringBuffer : public HeapBuffer {
 public:
  explicit StringBuffer(int64_t count)
      : HeapBuffer(bytes_for(DType::kString, count), Kind::kStrings),
        count_(count),
        counted_(strings(), count) {
    for (int64_t i = 0; i < count_; ++i)
      new (strings() + i) std::string;
  }
  ~StringBuffer() override {
    for (int64_t i = 0; i < count_; ++i)
      strings()[i].~basic_string();
  }

 private:
  std::string* strings() const { return reinterpret_cast<std::string*>(data_); }
  int64_t count_;
  CountedStrings counted_;
};

class BorrowedBuffer : public Buffer {
 public:
  BorrowedBuffer(void* data, size_t bytes, std::shared_ptr<void> keeper)
      : Buffer(data, bytes), keeper_(std::move(keeper)) {}

 private:
  std::shared_ptr<void> keeper_;
};

}  // namespace

std::shared_ptr<Buffer> Buffer::allocate(size_t bytes) {
  if (!kOwnBlocks && bytes <= kSmallBytes && !current_memory_source())
    return std::make_shared<SmallBuffer>(bytes);
  return std::make_shared<HeapBuffer>(bytes);
}
std::shared_ptr<Buffer> Buffer::allocate_strings(int64_t count) {
  return std::make_shared<StringBuffer>(count);
}
std::shared_ptr<Buffer> Buffer::borrow(void* data, size_t bytes, std::shared_ptr<void> keeper) {
  return std::make_shared<BorrowedBuffer>(data, bytes, std::move(keeper));
}

Tensor::Tensor(DType dtype, Shape shape, std::shared_ptr<Buffer> buffer, size_t byte_offset)
    : dtype_(dtype),
      shape_(std::move(shape)),
      count_(element_count(shape_)),
      buffer_(std::move(buffer)),
      offset_(byte_offset) {
  check_range();
}

void Tensor::check_range() const {
  SARDONYX_CHECK(buffer_ && offset_ <= buffer_->size() && bytes() <= buffer_->size() - offset_);
}

void Tensor::assign(DType dtype, std::span<const int64_t> shape, std::shared_ptr<Buffer> buffer,
                    size_t byte_offset) {
  if (shape.data() != shape_.data() || shape.size() != shape_.size())
    shape_.assign(shape.begin(), shape.end());
  dtype_ = dtype;
  count_ = element_count(shape_);
  buffer_ = std::move(buffer);
  offset_ = byte_offset;
  check_range();
}

std::string Tensor::origin() const {
  const std::string whole = buffer_ ? buffer_->origin() : std::string();
  return whole.empty() ? whole : text("from ", offset_, " of ", whole);
}

void Tensor::clear() {
  dtype_ = DType::kUndefined;
  shape_.clear();
  count_ = 0;
  buffer_.reset();
  offset_ = 0;
}

Tensor Tensor::allocate(DType dtype, Shape shape) {
  for (const int64_t dim : shape) {
    if (dim < 0)
      fail(ErrorCode::kInvalidArgument, "shape ", to_text(shape), " has a negative dimension");
  }
  const int64_t count = element_count(shape);
  auto buffer = dtype == DType::kString ? Buffer::allocate_strings(count)
                                        : Buffer::allocate(bytes_for(dtype, count));
  return Tensor(dtype, std::move(shape), std::move(buffer));
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor tensor = allocate(dtype, std::move(shape));
  if (dtype != DType::kString) std::memset(tensor.raw(), 0, tensor.bytes());
  return tensor;
}

void Tensor::check_type(DType wanted) const {
  if (dtype_ != wanted) {
    fail(ErrorCode::kInvalidArgument, "the tensor's elements are ", dtype_, ", asked for as ",
         wanted);
  }
}

namespace {

template <typename To, typename From>
std::vector<To> convert(const Tensor& tensor) {
  const auto* from = static_cast<const From*>(tensor.raw());
  std::vector<To> to(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<To>(from[i]);
  return to;
}

template <typename To>
std::vector<To> convert_bools(const Tensor& tensor) {
  std::vector<To> to(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<To>(bool_at(tensor.raw(), static_cast<int64_t>(i)));
  return to;
}

template <typename To>
std::vector<To> unpack(const Tensor& tensor) {
  std::vector<To> to(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < to.size(); ++i) {
    const uint8_t raw = get_packed(tensor.dtype(), tensor.raw(), static_cast<int64_t>(i));
    if (tensor.dtype() == DType::kFloat4E2M1)
      to[i] = static_cast<To>(static_cast<float>(Float4E2M1::from_bits(raw)));
    else
      to[i] = is_signed_integer(tensor.dtype()) ? static_cast<To>(static_cast<int8_t>(raw))
                                                : static_cast<To>(raw);
  }
  return to;
}

template <typename To>
std::vector<To> convert_integers(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kInt64:
      return convert<To, int64_t>(tensor);
    case DType::kInt32:
      return convert<To, int32_t>(tensor);
    case DType::kInt16:
      return convert<To, int16_t>(tensor);
    case DType::kInt8:
      return convert<To, int8_t>(tensor);
    case DType::kUInt64:
      return convert<To, uint64_t>(tensor);
    case DType::kUInt32:
      return convert<To, uint32_t>(tensor);
    case DType::kUInt16:
      return convert<To, uint16_t>(tensor);
    case DType::kUInt8:
      return convert<To, uint8_t>(tensor);
    case DType::kBool:
      return convert_bools<To>(tensor);
    case DType::kInt4:
    case DType::kUInt4:
    case DType::kInt2:
    case DType::kUInt2:
      return unpack<To>(tensor);
    default:
      fail(ErrorCode::kInvalidArgument, "a tensor of ", tensor.dtype(), " has no integer elements");
  }
}

}  // namespace

std::vector<int64_t> Tensor::to_int64s() const {
  return convert_integers<int64_t>(*this);
}

std::vector<double> Tensor::to_doubles() const {
  switch (dtype_) {
    case DType::kFloat:
      return convert<double, float>(*this);
    case DType::kDouble:
      return convert<double, double>(*this);
    case DType::kFloat16:
      return convert<double, Float16>(*this);
    case DType::kBFloat16:
      return convert<double, BFloat16>(*this);
    case DType::kFloat8E4M3FN:
      return convert<double, Float8E4M3FN>(*this);
    case DType::kFloat8E4M3FNUZ:
      return convert<double, Float8E4M3FNUZ>(*this);
    case DType::kFloat8E5M2:
      return convert<double, Float8E5M2>(*this);
    case DType::kFloat8E5M2FNUZ:
      return convert<double, Float8E5M2FNUZ>(*this);
    case DType::kFloat8E8M0:
      return convert<double, Float8E8M0>(*this);
    case DType::kFloat4E2M1:
      return unpack<double>(*this);
    default:
      return convert_integers<double>(*this);
  }
}

Tensor Tensor::reshaped(Shape shape) const {
  SARDONYX_CHECK(element_count(shape) == count_);
  return Tensor(dtype_, std::move(shape), buffer_, offset_);
}

Tensor Tensor::slice(int64_t begin, int64_t end) const {
  SARDONYX_CHECK(rank() > 0 && 0 <= begin && begin <= end && end <= shape_[0]);
  Shape inner = shape_;
  inner[0] = 1;
  const int64_t step_bits = element_count(inner) * bits_of(dtype_);
  SARDONYX_CHECK(begin * step_bits % 8 == 0);
  inner[0] = end - begin;
  return Tensor(dtype_, std::move(inner), buffer_,
                offset_ + static_cast<size_t>(begin * step_bits / 8));
}

Tensor Tensor::clone() const {
  if (!defined()) return {};
  Tensor copy = allocate(dtype_, shape_);
  if (dtype_ == DType::kString) {
    copy_elements(static_cast<const std::string*>(raw()), count_,
                  static_cast<std::string*>(copy.raw()));
  } else if (bytes() > 0) {
    std::memcpy(copy.raw(), raw(), bytes());
  }
  return copy;
}

bool Tensor::operator==(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  if (!defined() || count_ == 0) return true;
  if (dtype_ == DType::kString) {
    const auto* mine = static_cast<const std::string*>(raw());
    return std::equal(mine, mine + count_, static_cast<const std::string*>(other.raw()));
  }
  if (is_packed(dtype_)) {  // bits after the last element do not count
    for (int64_t i = 0; i < count_; ++i) {
      if (get_packed(dtype_, raw(), i) != get_packed(dtype_, other.raw(), i)) return false;
    }
    return true;
  }
  return std::memcmp(raw(), other.raw(), bytes()) == 0;
}

uint8_t get_packed(DType dtype, const void* data, int64_t index) {
  const int bits = bits_of(dtype);
  const int per_byte = 8 / bits;
  const auto byte = static_cast<const uint8_t*>(data)[index / per_byte];
  const auto raw = static_cast<uint8_t>(byte >> (index % per_byte * bits) & ((1 << bits) - 1));
  const bool negative = is_signed_integer(dtype) && raw >> (bits - 1);
  return static_cast<uint8_t>(negative ? raw | (0xff << bits) : raw);
}

void set_packed(DType dtype, void* data, int64_t index, uint8_t value) {
  const int bits = bits_of(dtype);
  const int per_byte = 8 / bits;
  auto& byte = static_cast<uint8_t*>(data)[index / per_byte];
  const auto shift = static_cast<int>(index % per_byte * bits);
  const int mask = ((1 << bits) - 1) << shift;
  byte = static_cast<uint8_t>((byte & ~mask) | (value << shift & mask));
}

}  // namespace sardonyx
