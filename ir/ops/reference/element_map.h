// A map from elements to elements, made once and applied to whole tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/core/tensor.h"
#include "ir/ops/reference/hash_table.h"

namespace sardonyx::ops {

class ElementMap {
 public:
  // Which of several equal keys counts.
  enum class Equals { kFirst, kLast };
  // keys[i] becomes values[i], any other element `otherwise`, which has the type of the values and
  // one element. There are as many values as keys; keys are string, float, double, int16, int32 or
  // int64, values of any type but the packed ones.
  ElementMap(Tensor keys, const Tensor& values, const Tensor& otherwise, Equals equals);

  // Maps `count` elements; safe from many threads.
  void apply(const void* from, int64_t count, void* to) const;

 private:
  void list_dense_keys();
  // Finds the places of elements [begin, begin + count) among the values.
  void look_up(const void* from, int64_t begin, int64_t count, int64_t* places) const;

  Tensor keys_, values_;  // `otherwise` stands behind the values
  ElementTable table_;    // of positions among the keys
  // Where the keys are dense integers: the places of all integers from the least key to the
  // greatest, which are found without hashing.
  std::vector<int64_t> dense_places_;
  int64_t least_key_ = 0;
};

}  // namespace sardonyx::ops
