#include "executor/plan/inference_cache.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "ir/core/memory/evictable_buffer.h"

namespace sardonyx {
namespace {

// Sets of sizes whose inferences are kept, where no two nodes are alike.
constexpr size_t kSizes = 8;
constexpr size_t kMin = 1024;

std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), tensor.bytes()};
}

}  // namespace

TypeInfo::TypeInfo(const Type& given, std::optional<Shape> dims)
    : type(given), shape(std::move(dims)) {
  if (!type.is_tensor() || !shape) return;
  int64_t count = 1;
  bool is_too_large = false;
  for (const int64_t dim : *shape)
    is_too_large |= __builtin_mul_overflow(count, dim, &count);
  is_too_large = is_too_large || count > (int64_t{1} << 56);
  bytes = is_too_large ? kTooLarge : bytes_for(type.dtype, count);
}

bool TypeInfo::has_one_element() const {
  return std::ranges::all_of(*shape, [](int64_t dim) { return dim == 1; });
}

size_t InferenceCache::ByType::operator()(const auto& one) const {
  const View own = view(one);
  CacheKey key;
  key.add(static_cast<uint64_t>(own.dtype));
  for (const int64_t dim : own.shape)
    key.add(static_cast<uint64_t>(dim));
  return key.hash();
}

bool InferenceCache::ByType::operator()(const auto& one, const auto& other) const {
  const View a = view(one), b = view(other);
  return a.dtype == b.dtype && std::ranges::equal(a.shape, b.shape);
}

size_t InferenceCache::ByValue::operator()(const std::shared_ptr<const Tensor>& constant) const {
  return std::hash<std::string_view>()(bytes_of(*constant));
}

bool InferenceCache::ByValue::operator()(const std::shared_ptr<const Tensor>& one,
                                         const std::shared_ptr<const Tensor>& other) const {
  if (one->dtype() != other->dtype() || one->shape() != other->shape()) return false;
  load_weight(*one);  // a bias may have been let go since it was packed
  load_weight(*other);
  return bytes_of(*one) == bytes_of(*other);
}

TypeInfoPtr InferenceCache::facts_of(const Type& type) {
  std::optional<Shape> shape = type.is_tensor() ? type.known_shape() : std::nullopt;
  if (!shape) return std::make_shared<const TypeInfo>(type, type.known_shape());
  const auto known = facts_.find(View{type.dtype, *shape});
  if (known != facts_.end()) return *known;
  return *facts_.insert(std::make_shared<const TypeInfo>(type, std::move(shape))).first;
}

TypeInfoPtr InferenceCache::facts_of(DType dtype, std::span<const int64_t> shape) {
  const auto known = facts_.find(View{dtype, shape});
  if (known != facts_.end()) return *known;
  return facts_of(Type::tensor(dtype, to_dims(Shape(shape.begin(), shape.end()))));
}

std::shared_ptr<const Tensor> InferenceCache::same_constant(
    std::shared_ptr<const Tensor> constant) {
  return *constants_.insert(std::move(constant)).first;
}

const Inference* InferenceCache::find(const CacheKey& key) const {
  const auto at = inference_cache_.find(key);
  return at == inference_cache_.end() ? nullptr : &at->second.inference;
}

const Inference& InferenceCache::remember(const CacheKey& key, Inference inference,
                                          HeldByKey held) {
  Entry entry{std::move(inference), std::move(held)};
  return inference_cache_.insert_or_assign(key, std::move(entry)).first->second.inference;
}

void InferenceCache::limit(size_t nodes) {
  const size_t most = std::max(kMin, kSizes * nodes);
  if (inference_cache_.size() <= most && facts_.size() <= most && constants_.size() <= most) return;
  inference_cache_.clear();
  facts_.clear();
  constants_.clear();
}

}  // namespace sardonyx
