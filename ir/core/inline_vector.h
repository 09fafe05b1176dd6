// A vector that holds its first elements in itself, so that short ones (a value for each dim of a
// tensor) cost no allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>

namespace sardonyx {

// Has what is needed of std::vector's interface, with the same meaning. More than `inline_size`
// elements are allocated.
template <typename T, size_t inline_size>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() = default;
  // `count` copies of `value`.
  explicit InlineVector(size_t count, const T& value = T()) { resize(count, value); }
  // The elements of a list or of a range.
  InlineVector(std::initializer_list<T> values) : InlineVector(values.begin(), values.end()) {}
  template <std::input_iterator Iterator>
  InlineVector(Iterator first, Iterator last) {
    for (; first != last; ++first)
      push_back(*first);
  }
  InlineVector(const InlineVector& other) { assign(other.begin(), other.size()); }
  // Leaves the other empty; allocated elements move, inline ones are copied.
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other.begin(), other.size());
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  // Elements, which is never above the capacity.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Neighbours in memory; invalid after push_back, resize, reserve and moves.
  T* data() { return allocated_ ? allocated_.get() : own_; }
  const T* data() const { return allocated_ ? allocated_.get() : own_; }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  // Not checked.
  T& operator[](size_t index) { return data()[index]; }
  const T& operator[](size_t index) const { return data()[index]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  // Takes `value` by value, as it may be an element of this vector, whose memory reserve() may
  // move.
  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void resize(size_t count, const T& value = T()) {
    const T filler = value;  // `value` may be an element
    reserve(count);
    if (count > size_) std::fill(data() + size_, data() + count, filler);
    size_ = count;
  }
  // Keeps the memory.
  void clear() { size_ = 0; }
  // Memory for `count` elements; never shrinks.
  void reserve(size_t count) {
    if (count <= capacity_) return;
    const size_t grown = std::max(count, 2 * capacity_);
    auto larger = std::make_unique<T[]>(grown);
    std::copy_n(data(), size_, larger.get());
    allocated_ = std::move(larger);
    capacity_ = grown;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void assign(const T* values, size_t count) {
    reserve(count);
    std::copy_n(values, count, data());
    size_ = count;
  }
  void take(InlineVector& other) {
    if (other.allocated_) {
      allocated_ = std::move(other.allocated_);
      capacity_ = other.capacity_;
    } else {
      std::copy_n(other.own_, other.size_, data());  // fits: no capacity is below inline_size
    }
    size_ = other.size_;
    other.size_ = 0;
    other.capacity_ = inline_size;
  }

  size_t size_ = 0, capacity_ = inline_size;
  std::unique_ptr<T[]> allocated_;
  T own_[inline_size];
};

}  // namespace sardonyx
