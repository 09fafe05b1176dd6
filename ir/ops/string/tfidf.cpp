// TfIdfVectorizer: how often each n-gram of a pool occurs, with gaps allowed.
#include <algorithm>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/attribute_cache.h"
#include "ir/ops/reference/hash_table.h"

namespace sardonyx::ops {
namespace {

struct NgramAttrs {
  int64_t max_gram_length = 0, max_skip_count = 0, min_gram_length = 0;
  std::string mode;                    // TF, IDF or TFIDF
  std::vector<int64_t> ngram_counts;   // where the 1-grams, 2-grams ... begin in the pool
  std::vector<int64_t> ngram_indexes;  // the output column of each n-gram
  std::optional<std::vector<int64_t>> pool_int64s;
  std::optional<std::vector<std::string>> pool_strings;
  std::vector<float> weights;  // of the n-grams of the pool, 1 where there are none
  static auto fields() {
    return std::tuple{required("max_gram_length", &NgramAttrs::max_gram_length),
                      required("max_skip_count", &NgramAttrs::max_skip_count),
                      required("min_gram_length", &NgramAttrs::min_gram_length),
                      required("mode", &NgramAttrs::mode),
                      required("ngram_counts", &NgramAttrs::ngram_counts),
                      required("ngram_indexes", &NgramAttrs::ngram_indexes),
                      field("pool_int64s", &NgramAttrs::pool_int64s),
                      field("pool_strings", &NgramAttrs::pool_strings),
                      field("weights", &NgramAttrs::weights)};
  }
};

template <typename... Parts>
void require_model(bool condition, const Parts&... parts) {
  if (!condition) fail(ErrorCode::kInvalidModel, "TfIdfVectorizer: ", parts...);
}

int64_t column_count(const NgramAttrs& attrs) {
  require_model(!attrs.ngram_indexes.empty(), "ngram_indexes is empty");
  const auto [least, most] =
      std::minmax_element(attrs.ngram_indexes.begin(), attrs.ngram_indexes.end());
  require_model(*least >= 0 && *most < INT64_MAX, "ngram_indexes: expected at least 0, got ",
                *least);
  return *most + 1;
}

// The pool as a trie over tokens.
template <typename Token>
class NgramTrie {
 public:
  NgramTrie(const NgramAttrs& attrs, const std::vector<Token>& items)
      : token_table_(items.size()), child_table_(items.size()) {
    int64_t ngram = 0;
    for (size_t i = 0; i < attrs.ngram_counts.size(); ++i) {
      const auto length = static_cast<int64_t>(i) + 1;
      const int64_t begin = attrs.ngram_counts[i];
      const int64_t end = i + 1 < attrs.ngram_counts.size() ? attrs.ngram_counts[i + 1]
                                                            : static_cast<int64_t>(items.size());
      require_model(begin >= 0 && begin <= end && end <= static_cast<int64_t>(items.size()),
                    "ngram_counts: the ", length, "-grams end before they begin or past the pool");
      require_model((end - begin) % length == 0, "the pool has ", end - begin, " items for ",
                    length, "-grams");
      for (int64_t at = begin; at < end; at += length, ++ngram) {
        require_model(ngram < static_cast<int64_t>(attrs.ngram_indexes.size()),
                      "ngram_indexes has fewer elements than the pool has n-grams");
        if (length < attrs.min_gram_length || length > attrs.max_gram_length) continue;
        add(&items[static_cast<size_t>(at)], length, ngram);
      }
    }
  }

  // The number of a token; -1 for one that no n-gram has.
  int64_t token(const Token& token) const {
    return token_table_.find(hash_element(token), [&](int64_t known) {
      return same_element(tokens_[static_cast<size_t>(known)], token);
    });
  }
  // The node that `token` leads to; -1: none.
  int64_t child(int64_t node, int64_t token) const {
    const uint64_t wanted = key(node, token);
    return child_table_.find(
        wanted, [&](int64_t known) { return keys_[static_cast<size_t>(known)] == wanted; });
  }
  // The place in the pool of the n-gram that ends here; -1: none does.
  int64_t ngram(int64_t node) const { return ngrams_[static_cast<size_t>(node)]; }

 private:
  // Both stay below 2^32: a pool of so many items does not fit a model.
  static uint64_t key(int64_t node, int64_t token) {
    return static_cast<uint64_t>(node) << 32 | static_cast<uint64_t>(token);
  }

  void add(const Token* items, int64_t length, int64_t ngram) {
    int64_t node = 0;
    for (int64_t i = 0; i < length; ++i) {
      const auto next_token = static_cast<int64_t>(tokens_.size());
      const int64_t token = token_table_.find_or_add(
          hash_element(items[i]), next_token,
          [&](int64_t known) { return tokens_[static_cast<size_t>(known)] == items[i]; });
      if (token == next_token) tokens_.push_back(items[i]);
      const uint64_t wanted = key(node, token);
      const auto next_node = static_cast<int64_t>(ngrams_.size());
      node = child_table_.find_or_add(wanted, next_node, [&](int64_t known) {
        return keys_[static_cast<size_t>(known)] == wanted;
      });
      if (node != next_node) continue;
      ngrams_.push_back(-1);
      keys_.push_back(wanted);
    }
    ngrams_[static_cast<size_t>(node)] = ngram;
  }

  ElementTable token_table_, child_table_;  // of numbers of tokens and of nodes
  std::vector<Token> tokens_;
  // One element for each node, of which the first is the root: its parent and token, its place in
  // the pool.
  std::vector<uint64_t> keys_{UINT64_MAX};
  std::vector<int64_t> ngrams_{-1};
};

// How an occurrence of an n-gram changes its column: by the count, the weight, or both.
class Tally {
 public:
  explicit Tally(const NgramAttrs& attrs)
      : attrs_(attrs),
        weighs_(attrs.mode != "TF" && !attrs.weights.empty()),
        adds_(attrs.mode != "IDF") {}

  void add(size_t ngram, float* row) const {
    float& column = row[attrs_.ngram_indexes[ngram]];
    const float weight = weighs_ ? attrs_.weights[ngram] : 1.0f;
    column = adds_ ? column + weight : weight;
  }

 private:
  const NgramAttrs& attrs_;
  bool weighs_, adds_;
};

template <typename Token>
void count_row(const NgramAttrs& attrs, const NgramTrie<Token>& pool, std::span<const int64_t> row,
               float* columns) {
  const Tally tally(attrs);
  const auto length = static_cast<int64_t>(row.size());
  int64_t least = attrs.min_gram_length;
  for (int64_t skip = 0; skip <= attrs.max_skip_count; ++skip) {
    const int64_t step = skip + 1;
    if (least > 1 && step > (length - 1) / (least - 1)) break;  // no n-gram reaches so far
    for (int64_t start = 0; start < length; ++start) {
      if (start % 1024 == 0) check_interrupted();
      int64_t node = 0;
      for (int64_t size = 1, at = start; size <= attrs.max_gram_length && at < length;
           ++size, at += step) {
        const int64_t token = row[static_cast<size_t>(at)];
        node = token < 0 ? -1 : pool.child(node, token);
        if (node < 0) break;
        const int64_t ngram = pool.ngram(node);
        if (size >= least && ngram >= 0) tally.add(static_cast<size_t>(ngram), columns);
      }
    }
    if (least == 1) least = 2;  // single tokens have no gaps: they count once
    if (least > attrs.max_gram_length) break;
  }
}

void check_ngram_attrs(const NgramAttrs& attrs) {
  require_model(attrs.mode == "TF" || attrs.mode == "IDF" || attrs.mode == "TFIDF",
                "mode: expected TF, IDF or TFIDF, got \"", attrs.mode, "\"");
  require_model(attrs.min_gram_length >= 1 && attrs.max_gram_length >= attrs.min_gram_length,
                "gram lengths: expected 1 or more, got ", attrs.min_gram_length, " to ",
                attrs.max_gram_length);
  require_model(attrs.max_skip_count >= 0, "max_skip_count: expected at least 0, got ",
                attrs.max_skip_count);
  require_model(!attrs.pool_int64s || !attrs.pool_strings,
                "both pool_int64s and pool_strings are given");
  require_model(attrs.weights.empty() || attrs.weights.size() == attrs.ngram_indexes.size(),
                "weights: expected ", attrs.ngram_indexes.size(),
                " elements, one for each n-gram of the pool, got ", attrs.weights.size());
}

void infer_ngrams(InferContext& c) {
  const auto& attrs = c.attrs<NgramAttrs>();
  check_ngram_attrs(attrs);
  const bool strings = c.dtype(0) == DType::kString;
  c.require(strings ? attrs.pool_strings.has_value() : attrs.pool_int64s.has_value(),
            strings ? "pool_strings" : "pool_int64s", " is missing for an input of ", c.dtype(0));
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, DType::kFloat, std::nullopt);
  if (dims->size() > 2) c.fail_input(0, "expected shape [C] or [N, C]");
  Dims result;
  if (dims->size() == 2) result.push_back((*dims)[0]);
  result.push_back(column_count(attrs));
  c.set(0, DType::kFloat, std::move(result));
}

template <typename Token>
const std::vector<Token>& items_of(const NgramAttrs& attrs) {
  if constexpr (std::is_same_v<Token, std::string>)
    return *attrs.pool_strings;
  else
    return *attrs.pool_int64s;
}

template <typename Token, typename Element>
void count_all(const KernelCall& call) {
  const auto& attrs = call.attrs<NgramAttrs>();
  const auto held = cached_for_attributes<NgramTrie<Token>, NgramAttrs>(
      call.raw_attrs, 0,
      [](const NgramAttrs& a) { return NgramTrie<Token>(a, items_of<Token>(a)); });
  const NgramTrie<Token>& pool = *held;
  const TensorView& input = call.inputs[0];
  const int64_t rows = input.rank() == 2 ? input.shape[0] : 1;
  const int64_t length = input.rank() == 0 ? 1 : input.shape.back();
  const int64_t columns = call.outputs[0].shape.back();
  std::fill_n(call.outputs[0].data<float>(), call.outputs[0].count(), 0.0f);
  std::pmr::vector<int64_t> tokens(static_cast<size_t>(length), scratch());
  for (int64_t row = 0; row < rows; ++row) {
    const Element* elements = input.data<Element>() + row * length;
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = pool.token(elements[i]);
    count_row(attrs, pool, tokens, call.outputs[0].data<float>() + row * columns);
  }
}

void run_ngrams(const KernelCall& call) {
  switch (call.inputs[0].dtype) {
    case DType::kString:
      return count_all<std::string, std::string>(call);
    case DType::kInt32:
      return count_all<int64_t, int32_t>(call);
    default:
      return count_all<int64_t, int64_t>(call);
  }
}

std::vector<Sample> ngram_samples() {
  const AttrMap attrs{{"max_gram_length", int64_t{2}},
                      {"max_skip_count", int64_t{1}},
                      {"min_gram_length", int64_t{1}},
                      {"mode", std::string("TFIDF")},
                      {"ngram_counts", std::vector<int64_t>{0, 3}},
                      {"ngram_indexes", std::vector<int64_t>{3, 1, 4, 0, 2}},
                      {"pool_int64s", std::vector<int64_t>{1, 2, 3, 1, 2, 2, 1}},
                      {"weights", std::vector<float>{1, 2, 3, 4, 5}}};
  return {{{{.value = Tensor::of(std::vector<int64_t>{1, 2, 1, 3, 2, 2}, {2, 3})}}, attrs}};
}

const OpDef kNgramOps[] = {
    {.name = "TfIdfVectorizer",
     .doc = "How often the n-grams of a pool are in each row, by count, presence or weight.",
     .since = 9,
     .signature = "(X: T) -> (Y: T1)",
     .types = {{"T", DTypeSet{DType::kString, DType::kInt32, DType::kInt64}},
               {"T1", DType::kFloat}},
     .attrs = attr_schema<NgramAttrs>(),
     .infer = infer_ngrams,
     .reference = run_ngrams,
     .samples = ngram_samples},
};

}  // namespace

std::span<const OpDef> ngram_ops() {
  return kNgramOps;
}

}  // namespace sardonyx::ops
