// Encoders of ai.onnx.ml that give tensors of known shape: labels, categories, selected features.
// The ops on maps stand in map_ops.cpp.
#include "ir/ops/ml/label_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ir/core/dtype_convert.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/ml/linear_model_gradient.h"
#include "ir/ops/ml/post_transform.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/attribute_cache.h"
#include "ir/ops/reference/hash_table.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

constexpr DTypeSet kKeyTypes{DType::kFloat, DType::kDouble, DType::kInt64, DType::kInt32};
constexpr DTypeSet kStringOrInt{DType::kString, DType::kInt64};

// --- ArrayFeatureExtractor ---

void infer_array_feature_extractor(InferContext& c) {
  const Dims* x = c.shape(0);
  const Dims* y = c.shape(1);
  if (x && x->empty()) c.fail_input(0, "expected at least one dim");
  const Dim selected = y ? element_count(*y) : c.unknown();
  if (!x) return c.set(0, c.dtype(0), std::nullopt);
  Dims z = *x;
  z.back() = selected;
  if (z.size() == 1) z.insert(z.begin(), Dim(1));  // a vector counts as one row
  c.set(0, c.dtype(0), std::move(z));
}

void array_feature_extractor(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  const std::span<const int64_t> indices(call.inputs[1].data<int64_t>(),
                                         static_cast<size_t>(call.inputs[1].count()));
  const int64_t features = x.shape.back();
  for (const int64_t index : indices) {
    if (index < 0 || index >= features) {
      fail(ErrorCode::kInvalidArgument, "ArrayFeatureExtractor: input Y: index ", index,
           " is outside 0..", features, " (exclusive), the last dim of X");
    }
  }
  const int64_t rows = features == 0 ? 0 : x.count() / features;
  dispatch_width(x.dtype, [&]<typename T>() {
    const T* from = x.data<T>();
    T* to = call.outputs[0].data<T>();
    for (int64_t row = 0; row < rows; ++row, from += features) {
      for (const int64_t index : indices)
        assign_element(*to++, from[index]);
    }
  });
}

// --- CategoryMapper ---

void infer_category_mapper(InferContext& c) {
  const auto& attrs = c.attrs<CategoryMapperAttrs>();
  c.require(attrs.cats_int64s.size() == attrs.cats_strings.size(),
            "attribute cats_int64s: expected ", attrs.cats_strings.size(),
            " elements, as many as cats_strings, got ", attrs.cats_int64s.size());
  c.set(0, c.dtype(0) == DType::kString ? DType::kInt64 : DType::kString, shape_of(c, 0));
}

void category_mapper(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  const auto map = cached_for_attributes<ElementMap, CategoryMapperAttrs>(
      call.raw_attrs, static_cast<int64_t>(x.dtype),
      [&](const CategoryMapperAttrs& given) { return category_map(given, x.dtype); });
  map->apply(x.raw, x.count(), call.outputs[0].raw);
}

// --- LabelEncoder ---

// The one list that is given out of four, as a tensor; undefined where there is none or several.
Tensor one_list(const Floats& floats, const Ints& ints, const Strings& strings,
                const std::optional<Tensor>& tensor) {
  const int given = !floats.empty() + !ints.empty() + !strings.empty() + tensor.has_value();
  if (given != 1) return {};
  if (tensor) return *tensor;
  if (!floats.empty()) return Tensor::vector(floats);
  return ints.empty() ? Tensor::vector(strings) : Tensor::vector(ints);
}
Tensor keys_of(const LabelEncoderAttrs& attrs) {
  return one_list(attrs.keys_floats, attrs.keys_int64s, attrs.keys_strings, attrs.keys_tensor);
}
Tensor values_of(const LabelEncoderAttrs& attrs) {
  return one_list(attrs.values_floats, attrs.values_int64s, attrs.values_strings,
                  attrs.values_tensor);
}

// The output of an element that is no key.
Tensor default_of(const LabelEncoderAttrs& attrs) {
  if (attrs.default_tensor) return *attrs.default_tensor;
  const DType dtype = values_of(attrs).dtype();
  if (dtype == DType::kString) return Tensor::scalar(attrs.default_string);
  Tensor value = Tensor::allocate(dtype, {});
  if (is_floating(dtype))
    store_numbers(dtype, value.raw(), 0, 1, &attrs.default_float);
  else
    store_numbers(dtype, value.raw(), 0, 1, &attrs.default_int64);
  return value;
}

void infer_label_encoder(InferContext& c) {
  const auto& attrs = c.attrs<LabelEncoderAttrs>();
  const Tensor keys = keys_of(attrs), values = values_of(attrs);
  c.require(keys.defined(),
            "expected just one of the attributes keys_floats, keys_int64s, keys_strings and "
            "keys_tensor");
  c.require(values.defined(),
            "expected just one of the attributes values_floats, values_int64s, values_strings and "
            "values_tensor");
  c.require(keys.count() == values.count(), "expected as many values as keys (", keys.count(),
            "), got ", values.count());
  if (keys.dtype() != c.dtype(0)) {
    c.fail_input(0, "expected elements of ", keys.dtype(), ", the type of the keys");
  }
  if (attrs.default_tensor) {
    c.require(attrs.default_tensor->dtype() == values.dtype(),
              "attribute default_tensor: expected an element of ", values.dtype(),
              ", the type of the values, got ", attrs.default_tensor->dtype());
    c.require(attrs.default_tensor->count() == 1,
              "attribute default_tensor: expected one element, got ",
              attrs.default_tensor->count());
  }
  c.set(0, values.dtype(), shape_of(c, 0));
}

void label_encoder(const KernelCall& call) {
  const auto map =
      cached_for_attributes<ElementMap, LabelEncoderAttrs>(call.raw_attrs, 0, label_map);
  map->apply(call.inputs[0].raw, call.inputs[0].count(), call.outputs[0].raw);
}

// --- OneHotEncoder ---

struct OneHotEncoderAttrs {
  Ints cats_int64s;
  Strings cats_strings;
  int64_t zeros = 1;
  static auto fields() {
    using A = OneHotEncoderAttrs;
    return std::tuple{field("cats_int64s", &A::cats_int64s),
                      field("cats_strings", &A::cats_strings), field("zeros", &A::zeros)};
  }
};

void infer_one_hot_encoder(InferContext& c) {
  const auto& attrs = c.attrs<OneHotEncoderAttrs>();
  const bool strings = c.dtype(0) == DType::kString;
  const size_t categories = strings ? attrs.cats_strings.size() : attrs.cats_int64s.size();
  c.require(categories > 0, "attribute ", strings ? "cats_strings" : "cats_int64s",
            ": expected categories, as X has elements of ", c.dtype(0));
  std::optional<Dims> shape = shape_of(c, 0);
  if (shape) shape->emplace_back(static_cast<int64_t>(categories));
  c.set(0, DType::kFloat, std::move(shape));
}

// Numbers are truncated to int64 first; what does not fit is in no category.
template <typename T>
std::optional<int64_t> category_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!(x >= T(-0x1p63) && x < T(0x1p63))) return std::nullopt;
  }
  return static_cast<int64_t>(x);
}

// From a category to its place; the last one of equal categories counts.
template <typename Category>
ElementMap place_map(const std::vector<Category>& categories) {
  Ints places(categories.size());
  std::iota(places.begin(), places.end(), int64_t{0});
  return {Tensor::vector(categories), Tensor::vector(places),
          Tensor::scalar<int64_t>(ElementTable::kNone), ElementMap::Equals::kLast};
}

constexpr int64_t kEncodedAtOnce = 256;

template <typename T>
void find_places(const ElementMap& map, const T* x, int64_t count, int64_t* places) {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, int64_t>) {
    map.apply(x, count, places);
  } else {
    std::array<int64_t, kEncodedAtOnce> categories;
    for (int64_t i = 0; i < count; ++i)
      categories[static_cast<size_t>(i)] = category_of(x[i]).value_or(0);
    map.apply(categories.data(), count, places);
    for (int64_t i = 0; i < count; ++i)
      places[i] = category_of(x[i]) ? places[i] : ElementTable::kNone;
  }
}

template <typename T, typename Category>
void encode_one_hot(const KernelCall& call, const std::vector<Category>& categories, bool zeros) {
  const auto map = cached_for_attributes<ElementMap, OneHotEncoderAttrs>(
      call.raw_attrs, std::is_same_v<T, std::string>,
      [&](const OneHotEncoderAttrs&) { return place_map(categories); });
  const TensorView& x = call.inputs[0];
  const auto width = static_cast<int64_t>(categories.size());
  float* y = call.outputs[0].data<float>();
  std::array<int64_t, kEncodedAtOnce> places;
  for (int64_t begin = 0; begin < x.count(); begin += kEncodedAtOnce) {
    const int64_t count = std::min(kEncodedAtOnce, x.count() - begin);
    find_places(*map, x.data<T>() + begin, count, places.data());
    for (int64_t i = 0; i < count; ++i, y += width) {
      std::fill_n(y, width, 0.f);  // row by row, while it is near
      const int64_t place = places[static_cast<size_t>(i)];
      if (place != ElementTable::kNone) {
        y[place] = 1;
      } else if (!zeros) {
        fail(ErrorCode::kInvalidArgument, "OneHotEncoder: input X: element ", begin + i, " (",
             x.data<T>()[begin + i], ") is in no category, and attribute zeros is 0");
      }
    }
  }
}

void one_hot_encoder(const KernelCall& call) {
  const auto& attrs = call.attrs<OneHotEncoderAttrs>();
  detail::dispatch_among<std::string, int64_t, int32_t, float, double>(
      call.inputs[0].dtype, [&]<typename T>() {
        if constexpr (std::is_same_v<T, std::string>) {
          encode_one_hot<T>(call, attrs.cats_strings, attrs.zeros != 0);
        } else {
          encode_one_hot<T>(call, attrs.cats_int64s, attrs.zeros != 0);
        }
      });
}

// --- FeatureVectorizer ---

struct FeatureVectorizerAttrs {
  Ints inputdimensions;
  static auto fields() {
    return std::tuple{field("inputdimensions", &FeatureVectorizerAttrs::inputdimensions)};
  }
};

// The dims of an input as [rows, features]: a vector is one row, all dims but the first are
// features.
std::pair<Dim, Dim> rows_and_features(const Dims& shape) {
  if (shape.size() == 1) return {1, shape[0]};
  return {shape[0], element_count(Dims(shape.begin() + 1, shape.end()))};
}

void infer_feature_vectorizer(InferContext& c) {
  const Ints& sizes = c.attrs<FeatureVectorizerAttrs>().inputdimensions;
  c.require(sizes.empty() || sizes.size() == c.input_count(),
            "attribute inputdimensions: expected ", c.input_count(),
            " elements, one for each input, got ", sizes.size());
  std::optional<Dim> rows, total = Dim(0);
  for (size_t i = 0; i < c.input_count(); ++i) {
    c.require(sizes.empty() || sizes[i] >= 0,
              "attribute inputdimensions: ", sizes.empty() ? 0 : sizes[i], " is negative");
    const Dims* shape = c.shape(i);
    if (shape && shape->empty()) c.fail_input(i, "expected at least one dim");
    if (!sizes.empty()) *total += sizes[i];
    if (!shape) {
      if (sizes.empty()) total.reset();
      continue;
    }
    const auto [own_rows, features] = rows_and_features(*shape);
    rows = rows ? c.merged(*rows, own_rows, "rows") : own_rows;
    if (sizes.empty() && total) *total += features;
  }
  c.set(0, DType::kFloat, Dims{rows.value_or(c.unknown()), total.value_or(c.unknown())});
}

// Each input in its columns: cut where it has more features than inputdimensions says, filled up
// with zeros where it has fewer.
void feature_vectorizer(const KernelCall& call) {
  const Ints& sizes = call.attrs<FeatureVectorizerAttrs>().inputdimensions;
  constexpr int64_t kRowsPerPoll = 1 << 12;
  const int64_t rows = call.outputs[0].shape[0], width = call.outputs[0].shape[1];
  float* column = call.outputs[0].data<float>();
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const TensorView& x = call.inputs[k];
    const bool is_float = x.dtype == DType::kFloat;
    const auto converted = is_float ? std::pmr::vector<float>(scratch()) : read_features<float>(x);
    const float* from = is_float ? x.data<float>() : converted.data();
    const int64_t features = rows == 0 ? 0 : x.count() / rows;
    const int64_t wanted = sizes.empty() ? features : sizes[k], copied = std::min(features, wanted);
    for (int64_t row = 0; row < rows; ++row, from += features) {
      if (row % kRowsPerPoll == 0) check_interrupted();
      float* rest = std::copy_n(from, copied, column + row * width);
      std::fill_n(rest, wanted - copied, 0.f);
    }
    column += wanted;
  }
}

// --- samples ---

std::vector<Sample> extractor_samples() {
  return {{.inputs = {{.shape = {2, 3}}, given(Tensor::vector<int64_t>({2, 0, 2, 1}))}},
          {.inputs = {{.shape = {5}}, given(Tensor::of<int64_t>({4}, {1, 1}))}},
          {.inputs = {given(Tensor::of<std::string>({"a", "b"}, {1, 2})),
                      given(Tensor::vector<int64_t>({1}))}}};
}

std::vector<Sample> category_samples() {
  const AttrMap attrs{{"cats_int64s", Ints{5, 7}}, {"cats_strings", Strings{"five", "seven"}}};
  return {
      {.inputs = {given(Tensor::vector<std::string>({"seven", "six", "five"}))}, .attrs = attrs},
      {.inputs = {given(Tensor::of<int64_t>({7, 6, 5, 0}, {2, 2}))}, .attrs = attrs}};
}

std::vector<Sample> label_samples() {
  return {{.inputs = {given(Tensor::vector<std::string>({"b", "c", "a"}))},
           .attrs = {{"keys_strings", Strings{"a", "b"}}, {"values_floats", Floats{1.5f, 2}}}},
          {.inputs = {given(Tensor::vector<float>({1, NAN, 3}))},
           .attrs = {{"keys_floats", Floats{NAN, 3}}, {"values_int64s", Ints{10, 20}}}},
          {.inputs = {given(Tensor::of<int16_t>({1, 2, 3, 4}, {2, 2}))},
           .attrs = {{"keys_tensor", Tensor::vector<int16_t>({1, 2, 4})},
                     {"values_tensor", Tensor::vector<double>({0.25, 0.5, 0.75})},
                     {"default_tensor", Tensor::vector<double>({-1.5})}}}};
}

std::vector<Sample> one_hot_encoder_samples() {
  return {{.inputs = {{.shape = {2, 3}}},
           .attrs = {{"cats_int64s", Ints{-1, 0, 1}}, {"cats_strings", Strings{"", "a"}}}}};
}

std::vector<Sample> vectorizer_samples() {
  return {{.inputs = {{.shape = {2, 3}}, {.shape = {2, 1}}},
           .attrs = {{"inputdimensions", Ints{2, 2}}}},
          {.inputs = {{.shape = {3}}, {.shape = {1, 2}}}}};
}

const OpDef kEncoderOps[] = {
    {.name = "ArrayFeatureExtractor",
     .doc = "The elements of the last axis of X at the indices Y.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T, Y: int64) -> (Z: T)",
     .types = {{"T", kKeyTypes | DType::kString}},
     .infer = infer_array_feature_extractor,
     .reference = array_feature_extractor,
     .grad = array_feature_extractor_grad,
     .samples = extractor_samples},
    {.name = "CategoryMapper",
     .doc = "Strings as their integers, or integers as their strings; defaults for those that are "
            "not listed.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T1) -> (Y: T2)",
     .types = {{"T1", kStringOrInt}, {"T2", kStringOrInt}},
     .attrs = attr_schema<CategoryMapperAttrs>(),
     .infer = infer_category_mapper,
     .reference = category_mapper,
     .samples = category_samples},
    {.name = "FeatureVectorizer",
     .doc = "The inputs [N, C] joined as floats: [N, sum of C].",
     .domain = "ai.onnx.ml",
     .signature = "(X...: T1) -> (Y: float)",
     .types = {{"T1", kKeyTypes}},
     .attrs = attr_schema<FeatureVectorizerAttrs>(),
     .infer = infer_feature_vectorizer,
     .reference = feature_vectorizer,
     .grad = feature_vectorizer_grad,
     .samples = vectorizer_samples},
    {.name = "LabelEncoder",
     .doc = "Each element replaced by its value in a table of keys and values.",
     .domain = "ai.onnx.ml",
     .since = 4,
     .signature = "(X: T1) -> (Y: T2)",
     .types = {{"T1", kKeyTypes | DTypeSet{DType::kString, DType::kInt16}},
               {"T2", kKeyTypes | DTypeSet{DType::kString, DType::kInt16}}},
     .attrs = attr_schema<LabelEncoderAttrs>(),
     .infer = infer_label_encoder,
     .reference = label_encoder,
     .samples = label_samples},
    {.name = "OneHotEncoder",
     .doc = "Ones at each element's category in a further axis, zeros elsewhere.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T) -> (Y: float)",
     .types = {{"T", kKeyTypes | DType::kString}},
     .attrs = attr_schema<OneHotEncoderAttrs>(),
     .infer = infer_one_hot_encoder,
     .reference = one_hot_encoder,
     .samples = one_hot_encoder_samples},
};

}  // namespace

ElementMap category_map(const CategoryMapperAttrs& attrs, DType from) {
  const Tensor ints = Tensor::vector(attrs.cats_int64s), names = Tensor::vector(attrs.cats_strings);
  if (from == DType::kString)
    return {names, ints, Tensor::scalar(attrs.default_int64), ElementMap::Equals::kLast};
  return {ints, names, Tensor::scalar(attrs.default_string), ElementMap::Equals::kLast};
}

ElementMap label_map(const LabelEncoderAttrs& attrs) {
  return {keys_of(attrs), values_of(attrs), default_of(attrs), ElementMap::Equals::kFirst};
}

std::span<const OpDef> encoder_ops() {
  return kEncoderOps;
}

}  // namespace sardonyx::ops
