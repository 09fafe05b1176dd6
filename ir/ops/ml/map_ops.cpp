// Ops of ai.onnx.ml that read or give maps.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <memory_resource>
#include <numeric>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/eval_call.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/ml/post_transform.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

// The element type of the values of input 0, a map.
DType map_value_type(const InferContext& c) {
  return c.type(0).element->dtype;
}

// The positions of a map's keys in the keys' order; of equal keys the last one counts.
template <typename Key>
using KeyIndex =
    std::pmr::map<std::conditional_t<std::is_same_v<Key, std::string>, std::string_view, Key>,
                  int64_t>;

template <typename Key>
KeyIndex<Key> index_keys(const Map& map) {
  KeyIndex<Key> index(scratch());
  const std::span<const Key> keys = map.keys.values<Key>();
  if (map.values.count() != map.keys.count()) {
    fail(ErrorCode::kInvalidArgument, "a map has ", keys.size(), " keys and ", map.values.count(),
         " values");
  }
  for (size_t i = 0; i < keys.size(); ++i)
    index[keys[i]] = static_cast<int64_t>(i);
  return index;
}

// --- CastMap ---

struct CastMapAttrs {
  std::string cast_to = "TO_FLOAT", map_form = "DENSE";
  int64_t max_map = 1;
  static auto fields() {
    using A = CastMapAttrs;
    return std::tuple{field("cast_to", &A::cast_to), field("map_form", &A::map_form),
                      field("max_map", &A::max_map)};
  }
};

void infer_cast_map(InferContext& c) {
  const auto& attrs = c.attrs<CastMapAttrs>();
  const bool sparse = attrs.map_form == "SPARSE";
  c.require(sparse || attrs.map_form == "DENSE",
            "attribute map_form: expected DENSE or SPARSE, got '", attrs.map_form, "'");
  c.require(!sparse || attrs.max_map >= 0, "attribute max_map: expected at least 0, got ",
            attrs.max_map);
  DType to = DType::kFloat;
  if (attrs.cast_to == "TO_STRING") {
    to = DType::kString;
  } else if (attrs.cast_to == "TO_INT64") {
    to = DType::kInt64;
  } else {
    c.require(attrs.cast_to == "TO_FLOAT",
              "attribute cast_to: expected TO_FLOAT, TO_STRING or TO_INT64, got '", attrs.cast_to,
              "'");
  }
  c.set(0, to, Dims{1, sparse ? Dim(attrs.max_map) : c.unknown()});
}

// Reads the whole of `text`, spaces around it allowed.
template <typename T>
T parse_number(std::string_view text) {
  const std::string_view spaces = " \t\n\v\f\r";
  std::string_view digits = text.substr(std::min(text.find_first_not_of(spaces), text.size()));
  digits = digits.substr(0, digits.find_last_not_of(spaces) + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    fail(ErrorCode::kInvalidArgument, "CastMap: expected a number, got '", text, "'");
  }
  return value;
}

template <typename To, typename From>
void cast_value(const From& value, To& to) {
  if constexpr (std::is_same_v<To, From>) {
    to = value;
  } else if constexpr (std::is_same_v<From, std::string>) {
    to = parse_number<To>(value);
  } else if constexpr (std::is_same_v<To, std::string>) {
    char digits[64];  // the longest float has 39 digits before the point
    const auto end =
        std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 6).ptr;
    to.assign(digits, end);
  } else {
    const bool fits = value >= From(-0x1p63) && value < From(0x1p63);
    to = fits ? static_cast<To>(value) : std::numeric_limits<To>::lowest();
  }
}

// The element where a sparse map has no value; for strings it is the text that ONNX Runtime writes.
template <typename To>
To absent_value() {
  if constexpr (std::is_same_v<To, std::string>)
    return "0.f";
  else
    return To(0);
}

template <typename From, typename To>
void cast_map_as(const EvalCall& call, const Map& map) {
  const auto& attrs = call.attrs<CastMapAttrs>();
  const KeyIndex<int64_t> index = index_keys<int64_t>(map);
  const std::span<const From> values = map.values.values<From>();
  const bool sparse = attrs.map_form == "SPARSE";
  if (sparse && !index.empty() && index.begin()->first < 0) {
    fail(ErrorCode::kInvalidArgument, "CastMap: input X: key ", index.begin()->first,
         " is negative, which no place of a sparse map has");
  }
  const int64_t length = sparse ? attrs.max_map : static_cast<int64_t>(index.size());
  const DimValues shape{1, length};
  const std::span<To> places = call.tensor(0, dtype_of<To>(), shape).template mutable_values<To>();
  if (sparse) std::fill(places.begin(), places.end(), absent_value<To>());
  int64_t next = 0;
  for (const auto& [key, at] : index) {
    const int64_t place = sparse ? key : next++;
    if (place < length) {
      cast_value(values[static_cast<size_t>(at)], places[static_cast<size_t>(place)]);
    }
  }
}

void cast_map(const EvalCall& call) {
  const Map& map = call.inputs[0].map();
  const auto& attrs = call.attrs<CastMapAttrs>();
  const DType to = attrs.cast_to == "TO_STRING"  ? DType::kString
                   : attrs.cast_to == "TO_INT64" ? DType::kInt64
                                                 : DType::kFloat;
  detail::dispatch_among<float, std::string>(map.values.dtype(), [&]<typename From>() {
    detail::dispatch_among<float, std::string, int64_t>(
        to, [&]<typename To>() { cast_map_as<From, To>(call, map); });
  });
}

// --- DictVectorizer ---

struct DictVectorizerAttrs {
  Ints int64_vocabulary;
  Strings string_vocabulary;
  static auto fields() {
    using A = DictVectorizerAttrs;
    return std::tuple{field("int64_vocabulary", &A::int64_vocabulary),
                      field("string_vocabulary", &A::string_vocabulary)};
  }
};

void infer_dict_vectorizer(InferContext& c) {
  const auto& attrs = c.attrs<DictVectorizerAttrs>();
  const bool strings = c.dtype(0) == DType::kString;
  c.require(strings ? attrs.int64_vocabulary.empty() : attrs.string_vocabulary.empty(),
            "expected attribute ", strings ? "string_vocabulary" : "int64_vocabulary",
            ", as the keys of X are ", c.dtype(0));
  const size_t words = strings ? attrs.string_vocabulary.size() : attrs.int64_vocabulary.size();
  c.set(0, map_value_type(c), Dims{1, static_cast<int64_t>(words)});
}

template <typename Key, typename T>
void vectorize(const EvalCall& call, const Map& map, const std::vector<Key>& vocabulary) {
  const KeyIndex<Key> index = index_keys<Key>(map);
  const std::span<const T> values = map.values.values<T>();
  const DimValues shape{1, static_cast<int64_t>(vocabulary.size())};
  const std::span<T> places = call.tensor(0, dtype_of<T>(), shape).template mutable_values<T>();
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto found = index.find(vocabulary[i]);
    if (found == index.end())
      places[i] = T();
    else
      places[i] = values[static_cast<size_t>(found->second)];
  }
}

void dict_vectorizer(const EvalCall& call) {
  const Map& map = call.inputs[0].map();
  const auto& attrs = call.attrs<DictVectorizerAttrs>();
  detail::dispatch_among<int64_t, float, double, std::string>(
      map.values.dtype(), [&]<typename T>() {
        if (map.keys.dtype() == DType::kString)
          vectorize<std::string, T>(call, map, attrs.string_vocabulary);
        else
          vectorize<int64_t, T>(call, map, attrs.int64_vocabulary);
      });
}

// --- ZipMap ---

struct ZipMapAttrs {
  Ints classlabels_int64s;
  Strings classlabels_strings;
  static auto fields() {
    using A = ZipMapAttrs;
    return std::tuple{field("classlabels_int64s", &A::classlabels_int64s),
                      field("classlabels_strings", &A::classlabels_strings)};
  }
};

const Type& zip_map_element(const ClassLabels& labels) {
  static const Type kOfStrings = Type::map(DType::kString, Type::tensor(DType::kFloat, Dims{}));
  static const Type kOfIntegers = Type::map(DType::kInt64, Type::tensor(DType::kFloat, Dims{}));
  return labels.are_strings() ? kOfStrings : kOfIntegers;
}

void infer_zip_map(InferContext& c) {
  const auto& attrs = c.attrs<ZipMapAttrs>();
  const ClassLabels labels{attrs.classlabels_strings, attrs.classlabels_int64s};
  labels.check(c);
  feature_rows(c);
  const std::optional<Dim> columns = feature_count(c);
  if (columns && columns->is_known() && *columns != static_cast<int64_t>(labels.size())) {
    c.fail_input(0, "expected ", labels.size(), " columns, one for each class label");
  }
  c.set(0, Type::sequence(zip_map_element(labels)));
}

// Positions of the labels in the labels' order, as a map of ONNX Runtime has them; of equal ones
// the last.
template <typename Key>
std::vector<size_t> ordered_positions(const std::vector<Key>& labels) {
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  if (std::ranges::adjacent_find(labels, std::greater_equal<>()) == labels.end()) return order;
  const auto less = [&](size_t a, size_t b) { return labels[a] < labels[b]; };
  std::stable_sort(order.begin(), order.end(), less);
  std::vector<size_t> last;
  for (const size_t position : order) {
    const bool is_repeated = !last.empty() && labels[last.back()] == labels[position];
    is_repeated ? void(last.back() = position) : last.push_back(position);
  }
  return last;
}

struct ZipMapMemory : StepMemory {
  std::vector<size_t> order;
  Tensor keys;  // the labels in that order, which all maps share

  template <typename Key>
  void order_labels(const std::vector<Key>& labels) {
    if (keys) return;
    order = ordered_positions(labels);
    keys = Tensor::allocate(dtype_of<Key>(), {static_cast<int64_t>(order.size())});
    for (size_t i = 0; i < order.size(); ++i)
      keys.mutable_values<Key>()[i] = labels[order[i]];
  }
};

// Each is some objects, which take a microsecond.
constexpr ptrdiff_t kMapsPerPoll = 1024;

// A map for each row.
void zip_map(const EvalCall& call) {
  const auto& attrs = call.attrs<ZipMapAttrs>();
  const ClassLabels labels{attrs.classlabels_strings, attrs.classlabels_int64s};
  const Tensor& x = call.inputs[0].tensor();
  const auto [rows, columns] = feature_table(x.shape());
  // Inference has said so where it knew the columns; a label is read for each of them.
  if (columns != static_cast<int64_t>(labels.size())) {
    fail(ErrorCode::kInvalidArgument, "ZipMap: input X: expected ", labels.size(),
         " columns, one for each class label, got ", columns);
  }
  const KeptMemory<ZipMapMemory> memory(call);
  labels.are_strings() ? memory->order_labels(labels.strings)
                       : memory->order_labels(labels.integers);
  Sequence& maps = call.sequence(0, zip_map_element(labels), static_cast<size_t>(rows));
  const float* from = x.values<float>().data();
  for (Datum& item : maps.items) {
    if ((&item - maps.items.data()) % kMapsPerPoll == 0) check_interrupted();
    Map& map = renewed<Map>(item);
    map.keys = memory->keys;
    renew(map.values, DType::kFloat, memory->keys.shape(), call.buffers);
    const std::span<float> to = map.values.mutable_values<float>();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = from[memory->order[i]];
    from += labels.size();
  }
}

// Inputs of samples are tensors, so ops on maps have none.
std::vector<Sample> no_samples() {
  return {};
}

std::vector<Sample> zip_map_samples() {
  return {{.inputs = {{.shape = {3, 2}}}, .attrs = {{"classlabels_strings", Strings{"b", "a"}}}},
          {.inputs = {{.shape = {2}}}, .attrs = {{"classlabels_int64s", Ints{5, 3}}}}};
}

const OpDef kFeatureMapOps[] = {
    {.name = "CastMap",
     .doc = "The values of a map from integers as a tensor [1, N], dense or sparse.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T1) -> (Y: T2)",
     .types = {{"T1", TypeSet({}, {}, {}, {}, "map(int64, string);map(int64, float)")},
               {"T2", DTypeSet{DType::kString, DType::kFloat, DType::kInt64}}},
     .attrs = attr_schema<CastMapAttrs>(),
     .infer = infer_cast_map,
     .evaluate = cast_map,
     .samples = no_samples},
    {.name = "DictVectorizer",
     .doc = "The values of a map in the order of a vocabulary: [1, N], zeros for what it lacks.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T1) -> (Y: T2)",
     .types = {{"T1", TypeSet({}, {}, {}, {},
                              "map(string, int64);map(int64, string);map(int64, float);"
                              "map(int64, double);map(string, float);map(string, double)")},
               {"T2", DTypeSet{DType::kInt64, DType::kFloat, DType::kDouble, DType::kString}}},
     .attrs = attr_schema<DictVectorizerAttrs>(),
     .infer = infer_dict_vectorizer,
     .evaluate = dict_vectorizer,
     .samples = no_samples},
    {.name = "ZipMap",
     .doc = "The rows [N, classes] as a sequence of maps from class to value.",
     .domain = "ai.onnx.ml",
     .signature = "(X: float) -> (Z: T)",
     .types = {{"T", TypeSet({}, {}, {}, {}, "seq(map(string, float));seq(map(int64, float))")}},
     .attrs = attr_schema<ZipMapAttrs>(),
     .infer = infer_zip_map,
     .evaluate = zip_map,
     .samples = zip_map_samples},
};

}  // namespace

std::span<const OpDef> feature_map_ops() {
  return kFeatureMapOps;
}

}  // namespace sardonyx::ops
