// LabelEncoder and CategoryMapper: what they map to what.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ir/attributes.h"
#include "ir/ops/reference/element_map.h"

namespace sardonyx::ops {

struct CategoryMapperAttrs {
  std::vector<int64_t> cats_int64s;
  std::vector<std::string> cats_strings;
  int64_t default_int64 = -1;
  std::string default_string = "_Unused";
  static auto fields() {
    using A = CategoryMapperAttrs;
    return std::tuple{
        field("cats_int64s", &A::cats_int64s), field("cats_strings", &A::cats_strings),
        field("default_int64", &A::default_int64), field("default_string", &A::default_string)};
  }
};

struct LabelEncoderAttrs {
  float default_float = -0.0f;
  int64_t default_int64 = -1;
  std::string default_string = "_Unused";
  std::optional<Tensor> default_tensor;
  std::vector<float> keys_floats;
  std::vector<int64_t> keys_int64s;
  std::vector<std::string> keys_strings;
  std::optional<Tensor> keys_tensor;
  std::vector<float> values_floats;
  std::vector<int64_t> values_int64s;
  std::vector<std::string> values_strings;
  std::optional<Tensor> values_tensor;
  static auto fields() {
    using A = LabelEncoderAttrs;
    return std::tuple{
        field("default_float", &A::default_float),   field("default_int64", &A::default_int64),
        field("default_string", &A::default_string), field("default_tensor", &A::default_tensor),
        field("keys_floats", &A::keys_floats),       field("keys_int64s", &A::keys_int64s),
        field("keys_strings", &A::keys_strings),     field("keys_tensor", &A::keys_tensor),
        field("values_floats", &A::values_floats),   field("values_int64s", &A::values_int64s),
        field("values_strings", &A::values_strings), field("values_tensor", &A::values_tensor)};
  }
};

// Elements of `from` (string or int64) to those of the other type. Of equal categories the last one
// counts.
ElementMap category_map(const CategoryMapperAttrs& attrs, DType from);
// The map of a LabelEncoder; of equal keys the first one counts. The attributes have passed the
// row's inference.
ElementMap label_map(const LabelEncoderAttrs& attrs);

}  // namespace sardonyx::ops
