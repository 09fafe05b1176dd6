// Gather, GatherElements and GatherND of elements of whole bytes; all threads compute offsets and
// copy rows. The data may be unaligned: the executor reads embedding tables directly from a mapped
// file.
#include "ir/ops/data_movement/gather.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/reference/indices.h"
#include "providers/cpu/data_movement/strided_copy.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// Bytes of the output that are worth a task, and a thread.
constexpr int64_t kTaskBytes = 1 << 15, kThreadBytes = 1 << 17;

const char* refusal(const KernelRequest& request) {
  if (const char* why = why_unsupported_elements(request.inputs[0].dtype)) return why;
  if (element_count(request.outputs[0].shape) == 0) return "there are no elements";
  if (element_count(request.inputs[0].shape) == 0) return "there is nothing to gather from";
  return nullptr;
}

int64_t width_of(const KernelRequest& request) {
  return bits_of(request.inputs[0].dtype) / 8;
}

// `index` made non-negative; for one that is out of range 0, and `is_wrong` is set.
int64_t place_of(int64_t index, int64_t size, bool& is_wrong) {
  const int64_t place = index + (index < 0 ? size : 0);
  const bool is_out = static_cast<uint64_t>(place) >= static_cast<uint64_t>(size);
  is_wrong |= is_out;
  return is_out ? 0 : place;
}

// Calls body(begin, end) for parts of [0, count), each of which is `bytes` of the output; body says
// whether it met an index that is out of range. Returns whether any did.
template <typename Body>
bool for_each_part(int64_t count, int64_t bytes, int threads, const Body& body) {
  const int64_t part = std::max<int64_t>(kTaskBytes / bytes, 1), parts = (count + part - 1) / part;
  const auto wanted = static_cast<int>(std::min<double>(
      threads,
      static_cast<double>(count) * static_cast<double>(bytes) / static_cast<double>(kThreadBytes) +
          1));
  std::atomic<bool> is_wrong = false;
  for_each_task(parts, wanted, part * bytes, [&](int64_t task) {
    if (body(task * part, std::min(count, (task + 1) * part)))
      is_wrong.store(true, std::memory_order_relaxed);
  });
  return is_wrong;
}

// The bytes of a row that will be copied soon are on their way.
void expect_row(const std::byte* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kMax = 1 << 12;
  for (int64_t at = 0; at < std::min(bytes, kMax); at += kLine)
    __builtin_prefetch(row + at);
}

// Rows of equal length, copied one behind the other from where `place(is_wrong)` says of one after
// the other. Rows of the width of an element are moved as such.
template <typename Place>
bool copy_rows(const std::byte* from, std::byte* to, int64_t begin, int64_t end, int64_t bytes,
               Place place) {
  bool is_wrong = false;
  const auto fixed = [&]<typename T>() {
    for (int64_t row = begin; row < end; ++row)
      std::memcpy(to + row * static_cast<int64_t>(sizeof(T)), from + place(is_wrong), sizeof(T));
    return is_wrong;
  };
  if (bytes == 1) return fixed.template operator()<uint8_t>();
  if (bytes == 2) return fixed.template operator()<uint16_t>();
  if (bytes == 4) return fixed.template operator()<uint32_t>();
  if (bytes == 8) return fixed.template operator()<uint64_t>();
  if (bytes == 16) return fixed.template operator()<Bytes16>();
  constexpr int64_t kLongRow = 256;
  int64_t next = place(is_wrong);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t at = next;
    if (row + 1 < end) {
      next = place(is_wrong);
      if (bytes >= kLongRow) expect_row(from + next, bytes);
    }
    std::memcpy(to + row * bytes, from + at, static_cast<size_t>(bytes));
  }
  return is_wrong;
}

// True if all indices are in [-size, size); uses SSE2-level operations only.
template <typename Index>
bool are_inside(const Index* indices, int64_t count, int64_t size) {
  const auto end = static_cast<uint64_t>(size);
  uint64_t signs = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<uint64_t>(int64_t{indices[i]});
    signs |= (index + end) | (end - 1 - index);
  }
  return signs >> 63 == 0;
}

// out[i] = the element indices[i] * step bytes from `from`, which may be any address.
template <typename T, typename Index>
void gather_elements(const std::byte* from, int64_t step, const Index* indices, int64_t count,
                     int64_t size, T* out) {
  if constexpr (std::is_trivially_copyable_v<T>) {  // never strings
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = indices[i];
      std::memcpy(out + i, from + (index + (index < 0 ? size : 0)) * step, sizeof(T));
    }
  }
}

// out[i] = the element indices[i] * step + i * own bytes from `from`. Ends at the first index that
// is outside of [-size, size); returns whether there was one. To look at all indices ahead would
// take as long again.
template <typename T, typename Index>
bool gather_checked(const std::byte* from, int64_t step, int64_t own, const Index* indices,
                    int64_t count, int64_t size, T* out) {
  const auto end = static_cast<uint64_t>(size);
  for (int64_t i = 0; i < count; ++i, from += own) {
    auto place = static_cast<uint64_t>(int64_t{indices[i]});
    if (place >= end) {
      place += end;
      if (place >= end) return true;
    }
    if constexpr (std::is_trivially_copyable_v<T>)  // never strings
      std::memcpy(out + i, from + static_cast<int64_t>(place) * step, sizeof(T));
  }
  return false;
}

template <typename Index>
class GatherKernel : public Kernel {
 public:
  explicit GatherKernel(const KernelRequest& request)
      : axis_(axis_of(request.attrs<ops::GatherAttrs>().axis, request.inputs[0].shape.size())),
        count_(element_count(request.inputs[1].shape)),
        threads_(request.threads) {
    const AxisSplit split = split_at(request.inputs[0].shape, axis_);
    outer_ = split.outer, size_ = split.size;
    bytes_ = split.inner * width_of(request);
    constexpr int64_t kFew = 8;
    if (split.inner == 1 && count_ >= kFew) element_ = request.inputs[0].dtype;
    // Long rows are copied in pieces.
    constexpr int64_t kPiece = 1 << 18;
    pieces_ = bytes_ > kPiece ? (bytes_ + kPiece - 1) / kPiece : 1;
  }

  void run(const KernelArgs& args) const override {
    const auto* from = static_cast<const std::byte*>(args.inputs[0]);
    const auto* indices = static_cast<const Index*>(args.inputs[1]);
    auto* to = static_cast<std::byte*>(args.outputs[0]);
    const bool is_wrong = !are_inside(indices, count_, size_);
    for (int64_t i = 0; is_wrong && i < count_; ++i)
      ops::checked_index(indices[i], size_, axis_);
    if (element_ != DType::kUndefined) return run_elements(from, indices, to);
    const int64_t rows = outer_ * count_;
    if (pieces_ == 1) {
      for_each_part(rows, bytes_, threads_, [&](int64_t begin, int64_t end) {
        return copy_rows(from, to, begin, end, bytes_, places_from(indices, begin));
      });
    } else {
      for_each_part(rows * pieces_, bytes_ / pieces_, threads_, [&](int64_t begin, int64_t end) {
        copy_pieces(from, to, begin, end, indices);
        return false;
      });
    }
  }

 private:
  void run_elements(const std::byte* from, const Index* indices, std::byte* to) const {
    dispatch_width(element_, [&]<typename T>() {
      for_each_part(outer_ * count_, bytes_, threads_, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end;) {
          const int64_t outer = row / count_, i = row - outer * count_;
          const int64_t count = std::min(count_ - i, end - row);
          gather_elements(from + outer * size_ * bytes_, bytes_, indices + i, count, size_,
                          reinterpret_cast<T*>(to) + row);
          row += count;
        }
        return false;
      });
    });
  }

  // The offsets of source rows from row `row` on.
  auto places_from(const Index* indices, int64_t row) const {
    int64_t i = row % count_, base = row / count_ * size_ * bytes_;
    return [=, this](bool&) mutable {
      if (i == count_) i = 0, base += size_ * bytes_;
      const int64_t index = indices[i++];
      return base + (index + (index < 0 ? size_ : 0)) * bytes_;
    };
  }

  void copy_pieces(const std::byte* from, std::byte* to, int64_t begin, int64_t end,
                   const Index* indices) const {
    bool is_wrong = false;  // all have been checked
    const int64_t piece = (bytes_ + pieces_ - 1) / pieces_;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / pieces_, first = std::min(i % pieces_ * piece, bytes_);
      const int64_t place = places_from(indices, row)(is_wrong);
      std::memcpy(to + row * bytes_ + first, from + place + first,
                  static_cast<size_t>(std::min(piece, bytes_ - first)));
    }
  }

  size_t axis_;
  int64_t count_;  // of indices
  int threads_;
  int64_t outer_, size_, bytes_, pieces_;
  DType element_ = DType::kUndefined;  // of many rows that are one element each
};

// Each output is the element at its own place, but for the axis.
template <typename Index>
class GatherElementsKernel : public Kernel {
 public:
  explicit GatherElementsKernel(const KernelRequest& request)
      : dtype_(request.inputs[0].dtype),
        shape_(request.outputs[0].shape),
        axis_(axis_of(request.attrs<ops::GatherAttrs>().axis, shape_.size())),
        size_(request.inputs[0].shape[axis_]),
        rows_(element_count(shape_) / shape_.back()),
        threads_(request.threads) {
    Strides strides = row_major_strides(request.inputs[0].shape);
    step_ = strides[axis_];
    strides[axis_] = 0;  // the index itself moves along the axis
    for (size_t axis = shape_.size() - 1; axis-- > 0;) {
      if (shape_[axis] == 1) continue;
      const bool continues =
          !row_axes_.empty() && strides[axis] == row_axes_.back().step * row_axes_.back().size;
      if (continues) row_axes_.back().size *= shape_[axis];
      if (!continues) row_axes_.push_back({shape_[axis], strides[axis]});
    }
  }

  void run(const KernelArgs& args) const override {
    const auto* indices = static_cast<const Index*>(args.inputs[1]);
    const int64_t length = shape_.back();
    const bool is_wrong = dispatch_width(dtype_, [&]<typename T>() {
      const auto width = static_cast<int64_t>(sizeof(T));
      const bool is_last = axis_ + 1 == shape_.size();
      // Rows that are read in any order are not prefetched by the hardware.
      const bool expects = is_last && length >= size_ / kElementsOfLine;
      const auto row_of = [&](int64_t row) {
        return static_cast<const std::byte*>(args.inputs[0]) + base_of(row) * sizeof(T);
      };
      return for_each_part(rows_, length * width, threads_, [&](int64_t begin, int64_t end) {
        const std::byte* next = row_of(begin);
        for (int64_t row = begin; row < end; ++row) {
          const std::byte* from = next;
          if (row + 1 < end) next = row_of(row + 1);
          if (gather_row<T>(from, expects ? next : nullptr, indices + row * length,
                            static_cast<T*>(args.outputs[0]) + row * length))
            return true;
        }
        return false;
      });
    });
    for (int64_t i = 0; is_wrong && i < rows_ * length; ++i)
      ops::checked_index(indices[i], size_, axis_);
  }

 private:
  static constexpr int64_t kElementsOfLine = 16;

  struct RowAxis {
    int64_t size, step;
  };
  // Gathers a row in pieces, each of which prefetches as much of the row `next`, if there is one.
  // Returns whether it met an index that is out of range.
  template <typename T>
  bool gather_row(const std::byte* from, const std::byte* next, const Index* indices,
                  T* out) const {
    constexpr auto width = static_cast<int64_t>(sizeof(T));
    constexpr int64_t kPiece = 4096 / width;
    const int64_t length = shape_.back();
    const bool is_last = axis_ + 1 == shape_.size();
    for (int64_t first = 0; first < length; first += kPiece) {
      const int64_t count = std::min(kPiece, length - first);
      if (next && first < size_)
        expect_row(next + first * width, std::min(kPiece, size_ - first) * width);
      // Along the last axis the steps are constants.
      const bool is_wrong =
          is_last ? gather_checked(from, width, 0, indices + first, count, size_, out + first)
                  : gather_checked(from + first * width, step_ * width, width, indices + first,
                                   count, size_, out + first);
      if (is_wrong) return true;
    }
    return false;
  }
  // Of the data, without the axis. Divisions take as long as some elements: one for each axis but
  // the outermost.
  size_t base_of(int64_t row) const {
    int64_t base = 0;
    for (size_t i = 0; i + 1 < row_axes_.size(); ++i) {
      const int64_t outer = row / row_axes_[i].size;
      base += (row - outer * row_axes_[i].size) * row_axes_[i].step;
      row = outer;
    }
    if (!row_axes_.empty()) base += row * row_axes_.back().step;
    return static_cast<size_t>(base);
  }

  DType dtype_;
  Shape shape_;
  size_t axis_;
  int64_t size_, rows_, step_;
  int threads_;
  std::vector<RowAxis>
      row_axes_;  // of all axes but the last, innermost first; adjacent ones joined
};

class GatherNDKernel : public Kernel {
 public:
  explicit GatherNDKernel(const KernelRequest& request) : threads_(request.threads) {
    const Shape &data = request.inputs[0].shape, &indices = request.inputs[1].shape;
    const auto batch = static_cast<size_t>(request.attrs<ops::GatherNDAttrs>().batch_dims);
    const auto depth = static_cast<size_t>(indices.back());
    const Strides strides = row_major_strides(data);
    const int64_t width = width_of(request);
    for (size_t axis = batch; axis < batch + depth; ++axis)
      axes_.push_back({axis, data[axis], strides[axis] * width});
    for (size_t axis = batch; axis + 1 < indices.size(); ++axis)
      tuples_ *= indices[axis];
    batches_ = element_count(indices) / static_cast<int64_t>(depth) / tuples_;
    bytes_ = axes_.back().step;
    batch_bytes_ = axes_.front().step * data[batch];
  }

  void run(const KernelArgs& args) const override {
    const auto* from = static_cast<const std::byte*>(args.inputs[0]);
    const auto* indices = static_cast<const int64_t*>(args.inputs[1]);
    auto* to = static_cast<std::byte*>(args.outputs[0]);
    const auto depth = static_cast<int64_t>(axes_.size());
    const int64_t rows = batches_ * tuples_;
    const bool is_wrong = for_each_part(rows, bytes_, threads_, [&](int64_t begin, int64_t end) {
      const int64_t* tuple = indices + begin * depth;
      int64_t i = begin % tuples_, base = begin / tuples_ * batch_bytes_;
      return copy_rows(from, to, begin, end, bytes_, [=, this](bool& is_wrong_here) mutable {
        if (i++ == tuples_) i = 1, base += batch_bytes_;
        int64_t at = base;
        for (const GatheredAxis& axis : axes_)
          at += place_of(*tuple++, axis.size, is_wrong_here) * axis.step;
        return at;
      });
    });
    for (int64_t i = 0; is_wrong && i < rows * depth; ++i) {
      const GatheredAxis& axis = axes_[static_cast<size_t>(i % depth)];
      ops::checked_index(indices[i], axis.size, axis.axis);
    }
  }

 private:
  struct GatheredAxis {
    size_t axis;
    int64_t size, step;  // in bytes
  };
  int threads_;
  std::vector<GatheredAxis> axes_;
  int64_t batches_ = 1, tuples_ = 1, bytes_ = 1, batch_bytes_ = 1;
};

template <template <typename> class Kernel>
Prepared prepare(const KernelRequest& request) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  if (request.inputs[1].dtype == DType::kInt32)
    return Prepared::accept(std::make_unique<Kernel<int32_t>>(request), "gather");
  return Prepared::accept(std::make_unique<Kernel<int64_t>>(request), "gather");
}

Prepared prepare_nd(const KernelRequest& request) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  if (request.inputs[1].shape.back() == 0) return Prepared::refuse("its tuples have no indices");
  return Prepared::accept(std::make_unique<GatherNDKernel>(request), "gather");
}

constexpr KernelEntry kGatherEntries[] = {
    {"Gather", "gather", prepare<GatherKernel>},
    {"GatherElements", "gather", prepare<GatherElementsKernel>},
    {"GatherND", "gather", prepare_nd},
};

}  // namespace

std::span<const KernelEntry> gather_kernels() {
  return kGatherEntries;
}

}  // namespace sardonyx::cpu
