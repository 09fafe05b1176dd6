// Tensors in memory: a dtype, a shape and a row-major, contiguous range of a shared buffer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/core/dtype.h"
#include "ir/core/error.h"
#include "ir/core/symbolic_dim.h"

namespace sardonyx {

// Bytes that tensors share. Freed, unmapped or handed back when the last tensor lets go.
class Buffer {
 public:
  virtual ~Buffer() = default;
  // The first byte; null where there are none.
  std::byte* data() const { return data_; }
  // In bytes.
  size_t size() const { return size_; }

  // Aligned to 64 bytes, not initialised; counted by the current MemoryBudget.
  static std::shared_ptr<Buffer> allocate(size_t bytes);
  // `count` empty strings.
  static std::shared_ptr<Buffer> allocate_strings(int64_t count);
  // Memory of somebody else's; `keeper` is held as long as the buffer lives.
  static std::shared_ptr<Buffer> borrow(void* data, size_t bytes, std::shared_ptr<void> keeper);

  // Names the source of the bytes: two buffers of the same size and origin hold the same bytes. ""
  // where nothing is known.
  virtual std::string origin() const { return {}; }

  // What the last one to hold a buffer may write there: anything, strings, or nothing.
  enum class Kind : uint8_t { kBytes, kStrings, kBorrowed };
  // What the last owner may write; see above.
  Kind kind() const { return kind_; }

 protected:
  Buffer(void* data, size_t size, Kind kind = Kind::kBorrowed)
      : data_(static_cast<std::byte*>(data)), size_(size), kind_(kind) {}
  std::byte* data_;
  size_t size_;
  Kind kind_;
};

// A view of a tensor's elements, which does not own them; kernels work on these.
struct TensorView {
  DType dtype = DType::kUndefined;
  std::span<const int64_t> shape;
  void* raw = nullptr;

  // The number of elements.
  int64_t count() const {
    int64_t total = 1;
    for (const int64_t dim : shape)
      total *= dim;
    return total;
  }
  size_t rank() const { return shape.size(); }
  template <typename T>
  T* data() const {
    return static_cast<T*>(raw);
  }
  explicit operator bool() const {
    return dtype != DType::kUndefined;
  }  // false: an omitted optional input
};

// A value: copies share the elements, which are not to be changed once the tensor has been handed
// on.
class Tensor {
 public:
  Tensor() = default;
  // Elements begin `byte_offset` bytes into the buffer, which must hold all of them
  // (SARDONYX_CHECK).
  Tensor(DType dtype, Shape shape, std::shared_ptr<Buffer> buffer, size_t byte_offset = 0);

  // Elements are not initialised (strings are empty). Throws kResourceExhausted beyond the memory
  // budget.
  static Tensor allocate(DType dtype, Shape shape);
  // Like allocate(), filled with zeros or empty strings.
  static Tensor zeros(DType dtype, Shape shape);
  // Copies `values`, as many as the shape has elements; T decides the dtype.
  template <typename T>
  static Tensor of(const std::vector<T>& values, Shape shape);
  template <typename T>
  static Tensor vector(const std::vector<T>& values) {
    return of(values, {static_cast<int64_t>(values.size())});
  }
  template <typename T>
  static Tensor scalar(const T& value) {
    return of(std::vector<T>{value}, {});
  }

  // Makes this the tensor that a constructor would make of these, but uses the memory of the shape
  // again. `shape` may be the tensor's own.
  void assign(DType dtype, std::span<const int64_t> shape, std::shared_ptr<Buffer> buffer,
              size_t byte_offset = 0);
  // Undefined from now on, with the memory of the shape.
  void clear();

  // False for a tensor that was default-constructed, which stands for an omitted value.
  bool defined() const { return dtype_ != DType::kUndefined; }
  explicit operator bool() const { return defined(); }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  size_t rank() const { return shape_.size(); }
  // Elements; 1 for a scalar.
  int64_t count() const { return count_; }
  // The size of the elements, with several in a byte for packed types. Strings count as their
  // handles.
  size_t bytes() const { return bytes_for(dtype_, count_); }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
  size_t byte_offset() const { return offset_; }  // where it begins in its buffer
  // Names the source of the elements, as Buffer::origin does for all bytes of a buffer.
  std::string origin() const;

  // The first element; null where there is no buffer. Writing is for the one who made the tensor.
  void* raw() const { return buffer_ ? buffer_->data() + offset_ : nullptr; }
  // All elements, row-major. Throws kInvalidArgument where T is not the element type.
  template <typename T>
  std::span<const T> values() const {
    check_type(dtype_of<T>());
    return {static_cast<const T*>(raw()), static_cast<size_t>(count_)};
  }
  // The elements, to be written before the tensor is handed on.
  template <typename T>
  std::span<T> mutable_values() {
    check_type(dtype_of<T>());
    return {static_cast<T*>(raw()), static_cast<size_t>(count_)};
  }
  // The elements of any integer or bool tensor (packed ones too) as int64; throws kInvalidArgument
  // for other types.
  std::vector<int64_t> to_int64s() const;
  // The elements of any real tensor as double.
  std::vector<double> to_doubles() const;

  TensorView view() const { return {dtype_, shape_, raw()}; }
  // A tensor of the same elements under another shape of equal count.
  Tensor reshaped(Shape shape) const;
  // Elements [begin, end) of the first dim; shares the buffer. Not for packed types unless whole
  // bytes.
  Tensor slice(int64_t begin, int64_t end) const;
  // A copy with memory of its own.
  Tensor clone() const;

  bool operator==(const Tensor& other) const;  // dtype, shape and every bit

 private:
  void check_type(DType wanted) const;
  void check_range() const;

  DType dtype_ = DType::kUndefined;
  Shape shape_;
  int64_t count_ = 0;
  std::shared_ptr<Buffer> buffer_;
  size_t offset_ = 0;
};

// Reads or writes element `index` of packed data (2 and 4 bits; the first element in the lowest
// bits), as a byte: sign-extended for the signed types, the raw code for float4e2m1.
uint8_t get_packed(DType dtype, const void* data, int64_t index);
void set_packed(DType dtype, void* data, int64_t index, uint8_t value);

template <typename T>
Tensor Tensor::of(const std::vector<T>& values, Shape shape) {
  Tensor tensor = allocate(dtype_of<T>(), std::move(shape));
  SARDONYX_CHECK(tensor.count() == static_cast<int64_t>(values.size()));
  T* out = static_cast<T*>(tensor.raw());
  for (size_t i = 0; i < values.size(); ++i)
    out[i] = values[i];
  return tensor;
}

}  // namespace sardonyx
