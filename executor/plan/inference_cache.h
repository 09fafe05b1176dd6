// A cache of type and shape inference, for nodes with equal inputs: the repeated layers of a
// network, and one node at shapes that recur.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executor/plan/cache_key.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx {

// The type of a value, shared by all values that have it.
struct TypeInfo {
  Type type;
  std::optional<Shape> shape;  // of a tensor whose every dim is an integer
  size_t bytes = 0;            // of such a tensor, row-major; kTooLarge: beyond all memory
  static constexpr size_t kTooLarge = SIZE_MAX;

  TypeInfo(const Type& type, std::optional<Shape> shape);
  bool has_one_element() const;
  // Throws kResourceExhausted where it is too large.
  size_t plain_bytes() const {
    return bytes == kTooLarge ? bytes_for(type.dtype, element_count(*shape)) : bytes;
  }
};
using TypeInfoPtr = std::shared_ptr<const TypeInfo>;

struct Inference {
  std::vector<TypeInfoPtr> outputs;
  // The outputs' values, where all of them are known before the run; else empty.
  std::vector<std::shared_ptr<const Tensor>> values;
  bool is_concrete = false;  // all outputs are tensors with known shapes
};

// Interns type facts and small constants, so that equal ones have one address and serve as keys.
// Not thread-safe.
class InferenceCache {
 public:
  // Constants up to this size are told apart by value.
  static constexpr size_t kSmall = 512;

  TypeInfoPtr facts_of(const Type& type);
  TypeInfoPtr facts_of(DType dtype, std::span<const int64_t> shape);
  // Interns a constant of at most kSmall bytes, no strings: returns the first one with the same
  // value.
  std::shared_ptr<const Tensor> same_constant(std::shared_ptr<const Tensor> constant);

  // nullptr where there is none.
  const Inference* find(const CacheKey& key) const;
  const Inference& remember(const CacheKey& key, Inference inference, HeldByKey held);
  // Clears the cache once it is larger than `nodes` nodes may need for a few sets of sizes. Results
  // that others hold stay alive.
  void limit(size_t nodes);

 private:
  struct View {
    DType dtype;
    std::span<const int64_t> shape;
  };
  struct ByType {
    using is_transparent = void;
    static View view(const TypeInfoPtr& facts) { return {facts->type.dtype, *facts->shape}; }
    static View view(const View& view) { return view; }
    size_t operator()(const auto& one) const;                   // the hash
    bool operator()(const auto& one, const auto& other) const;  // are they equal?
  };
  struct ByValue {
    size_t operator()(const std::shared_ptr<const Tensor>& constant) const;
    bool operator()(const std::shared_ptr<const Tensor>& one,
                    const std::shared_ptr<const Tensor>& other) const;
  };
  std::unordered_set<TypeInfoPtr, ByType, ByType> facts_;
  std::unordered_set<std::shared_ptr<const Tensor>, ByValue, ByValue> constants_;
  struct Entry {
    Inference inference;
    HeldByKey held;
  };
  std::unordered_map<CacheKey, Entry, CacheKey::Hash> inference_cache_;
};

}  // namespace sardonyx
