#include "executor/run/run_output.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "executor/type_check.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/datum_tensors.h"

namespace sardonyx {
namespace {

bool is_same(const Tensor& a, const Tensor& b) {
  return a.buffer() == b.buffer() && a.byte_offset() == b.byte_offset() && a.dtype() == b.dtype() &&
         a.shape() == b.shape();
}

bool is_of(const Tensor& tensor, DType dtype, const Shape& shape) {
  return tensor.dtype() == dtype && tensor.shape() == shape;
}

bool are_apart(const Buffer& a, const Buffer& b) {
  const std::less_equal<> before;
  return before(a.data() + a.size(), b.data()) || before(b.data() + b.size(), a.data());
}

}  // namespace

bool overlap(const Tensor& a, const Tensor& b) {
  // Fast path: two buffers that are apart, which is the usual case, need no counting of elements.
  if (a.buffer() && b.buffer() && are_apart(*a.buffer(), *b.buffer())) return false;
  const auto* first = static_cast<const std::byte*>(a.raw());
  const auto* second = static_cast<const std::byte*>(b.raw());
  const bool is_empty = a.bytes() == 0 || b.bytes() == 0;
  return !is_empty && first < second + b.bytes() && second < first + a.bytes();
}

bool overlaps(const Datum& datum, const Tensor& memory) {
  return any_tensor(datum, [&](const Tensor& tensor) { return overlap(tensor, memory); });
}

Datum moved_out_of(const Datum& datum, const Tensor& memory) {
  if (!overlaps(datum, memory)) return datum;
  return with_tensors(datum, [&](const Tensor& tensor) {
    return overlap(tensor, memory) ? tensor.clone() : tensor;
  });
}

// Keeps the result of an earlier run only if it may be overwritten or is in the bound memory.
RunOutput::RunOutput(Datum& shown, const Tensor* bound) : shown_(&shown), bound_(bound) {
  if (!shows_bound()) keep_own(*shown_);
}

bool RunOutput::shows_bound() const {
  return bound_ && shown_->is_tensor() && is_same(shown_->tensor(), *bound_);
}

const Tensor* RunOutput::bound(DType dtype, const Shape& shape) const {
  return bound_ && is_of(*bound_, dtype, shape) ? bound_ : nullptr;
}

const Tensor* RunOutput::writable(DType dtype, const Shape& shape) const {
  if (const Tensor* memory = bound(dtype, shape)) return memory;
  const bool is_own = shown_->is_tensor() && !shows_bound();
  return is_own && is_of(shown_->tensor(), dtype, shape) ? &shown_->tensor() : nullptr;
}

void RunOutput::show_written(const Tensor& written) {
  if (&written != bound_ || shows_bound()) return;
  shown_->as_tensor().assign(written.dtype(), written.shape(), written.buffer(),
                             written.byte_offset());
}

void RunOutput::show(const Datum& result, BufferPool& pool) {
  clear(pool);
  *shown_ = result;
}

void RunOutput::show_slot(Datum& slot) {
  if (shows_bound()) shown_->clear();
  std::swap(*shown_, slot);
}

void RunOutput::clear(BufferPool& pool) {
  std::shared_ptr<Buffer> buffer = shown_->is_tensor() ? shown_->tensor().buffer() : nullptr;
  shown_->clear();
  pool.give_back(std::move(buffer));
}

void require_apart(std::span<const RunOutput> outputs, std::span<const Value* const> names) {
  std::pmr::vector<size_t> bound(scratch());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].bound() && outputs[i].bound()->count() > 0) bound.push_back(i);
  }
  const auto begin = [&](size_t i) {
    return static_cast<const std::byte*>(outputs[i].bound()->raw());
  };
  std::ranges::sort(bound, std::ranges::less(), begin);
  for (size_t k = 1; k < bound.size(); ++k) {
    if (!overlap(*outputs[bound[k - 1]].bound(), *outputs[bound[k]].bound())) continue;
    const auto [first, second] = std::minmax(bound[k - 1], bound[k]);
    fail(ErrorCode::kInvalidArgument, "output ", names[second]->name,
         " is bound to memory that overlaps that of output ", names[first]->name,
         ": give each its own");
  }
}

void require_fit(const RunOutput& output, std::string_view name, const Type& given) {
  if (!output.bound()) return;
  const Tensor& memory = *output.bound();
  const Type bound = Type::tensor(memory.dtype(), to_dims(memory.shape()));
  const bool fits =
      given.is_tensor() && given.dtype == memory.dtype() && allows(given, memory.shape());
  if (fits) return;
  fail(ErrorCode::kInvalidArgument, "output ", name, ": the model gives ", given,
       ", but memory for ", bound, " is bound; bind memory of that type and shape, or none");
}

}  // namespace sardonyx
