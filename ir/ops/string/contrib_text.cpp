// com.microsoft: ops on text.
#include <re2/re2.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "ir/autodiff/autodiff_body.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/eval_call.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

using Strings = std::vector<std::string>;
using Pieces = std::pmr::vector<std::string_view>;

// --- Tokenizer ---

struct TokenizerAttrs {
  int64_t mark = 0, mincharnum = 0;
  std::string pad_value;
  Strings separators;
  std::optional<std::string> tokenexp;
  static auto fields() {
    using A = TokenizerAttrs;
    return std::tuple{required("mark", &A::mark), required("mincharnum", &A::mincharnum),
                      required("pad_value", &A::pad_value), field("separators", &A::separators),
                      field("tokenexp", &A::tokenexp)};
  }
};

// The only separator is the empty one: each character is a token.
bool splits_characters(const TokenizerAttrs& attrs) {
  return attrs.separators.size() == 1 && attrs.separators[0].empty();
}

std::unique_ptr<re2::RE2> compile(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_longest_match(true);
  options.set_log_errors(false);
  auto expression = std::make_unique<re2::RE2>(pattern, options);
  if (!expression->ok()) {
    fail(ErrorCode::kInvalidModel, "Tokenizer: '", pattern,
         "' is no regular expression: ", expression->error());
  }
  return expression;
}

void infer_tokenizer(InferContext& c) {
  const auto& attrs = c.attrs<TokenizerAttrs>();
  c.require(attrs.mincharnum > 0, "attribute mincharnum: expected at least 1, got ",
            attrs.mincharnum);
  c.require(attrs.separators.empty() != !attrs.tokenexp,
            "expected just one of the attributes separators and tokenexp");
  if (attrs.tokenexp) {
    c.require(!attrs.tokenexp->empty(), "attribute tokenexp: expected an expression, got ''");
    compile(*attrs.tokenexp);
  } else if (splits_characters(attrs)) {
    c.require(attrs.mincharnum < 2, "attribute mincharnum: expected 1 where every character is a ",
              "token, got ", attrs.mincharnum);
  } else {
    for (const std::string& separator : attrs.separators)
      compile(separator);
  }
  const Dims* shape = c.shape(0);
  if (!shape) return c.set(0, DType::kString, std::nullopt);
  if (shape->empty() || shape->size() > 2) c.fail_input(0, "expected [columns] or [rows, columns]");
  Dims tokens = *shape;
  tokens.push_back(c.unknown());
  c.set(0, DType::kString, std::move(tokens));
}

// Bytes of the character that starts at `text`, 1 for what is none.
size_t character_bytes(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &code);
  return bytes > 0 ? static_cast<size_t>(bytes) : 1;
}

// Whether `text`, which is UTF-8, has `count` characters or more: bytes that begin one.
bool has_characters(std::string_view text, int64_t count) {
  for (const char byte : text) {
    if (count <= 0) break;
    count -= (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
  }
  return count <= 0;
}

// Bytes at the start of `text` that are ASCII, in whole words.
size_t ascii_bytes(std::string_view text) {
  size_t at = 0;
  for (uint64_t word; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if (word & 0x8080808080808080u) break;
  }
  return at;
}

void check_utf8(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    if (static_cast<uint8_t>(rest[0]) < 0x80) {
      rest.remove_prefix(std::max<size_t>(ascii_bytes(rest), 1));
      continue;
    }
    utf8proc_int32_t code = 0;
    const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                        static_cast<utf8proc_ssize_t>(rest.size()), &code);
    if (bytes <= 0) {
      fail(ErrorCode::kInvalidArgument, "Tokenizer: input X: expected UTF-8, got other bytes from ",
           "place ", text.size() - rest.size(), " on");
    }
    rest.remove_prefix(static_cast<size_t>(bytes));
  }
}

Pieces characters_of(std::string_view text) {
  Pieces out(scratch());
  while (!text.empty()) {
    out.push_back(text.substr(0, character_bytes(text)));
    text.remove_prefix(out.back().size());
  }
  return out;
}

// Whether a pattern is one class of ASCII characters: \s, \d, \w, or brackets with characters,
// ranges and these classes in them.
bool is_ascii_class(std::string_view pattern) {
  const auto is_named = [](char c) { return c == 's' || c == 'd' || c == 'w'; };
  if (pattern.size() == 2 && pattern[0] == '\\') return is_named(pattern[1]);
  if (pattern.size() < 3 || pattern.front() != '[' || pattern.back() != ']') return false;
  const std::string_view inside = pattern.substr(1, pattern.size() - 2);
  for (size_t i = 0; i < inside.size(); ++i) {
    const char c = inside[i];
    if (static_cast<uint8_t>(c) >= 0x80 || c == '[' || c == ']' || c == '^') return false;
    if (c != '\\') continue;
    if (++i == inside.size()) return false;
    if (!is_named(inside[i]) &&
        std::string_view("\\-.tnr").find(inside[i]) == std::string_view::npos)
      return false;
  }
  return true;
}

// A separator to search texts for. Most are just characters, one of a few or a run of these, which
// are found without a regular expression: RE2 takes locks for each search.
class Searched {
 public:
  explicit Searched(const std::string& pattern)
      : expression_(compile(pattern)),
        literal_(pattern.find_first_of("\\.+*?()|[]{}^$") == std::string::npos ? pattern : ""),
        is_run_(pattern.ends_with('+')) {
    is_class_ = is_ascii_class(std::string_view(pattern).substr(0, pattern.size() - is_run_));
    for (size_t code = 0; is_class_ && code < 0x80; ++code) {
      const auto character = static_cast<char>(code);
      members_[code] = re2::RE2::FullMatch(re2::StringPiece(&character, 1), *expression_);
    }
  }

  // The first match in `text` from `start` on. One that is right there is found several times as
  // fast where that is expected.
  std::optional<std::string_view> find(std::string_view text, size_t start,
                                       bool is_expected_there) const;

 private:
  std::optional<std::string_view> find_member(std::string_view text, size_t start) const;

  std::unique_ptr<re2::RE2> expression_;
  std::string literal_;              // empty: not just characters
  bool is_class_, is_run_;           // one of members_, or, where it is a run, as many as there are
  std::array<bool, 256> members_{};  // by byte; no other than ASCII
};

std::optional<std::string_view> Searched::find_member(std::string_view text, size_t start) const {
  const auto is_member = [&](char c) { return members_[static_cast<uint8_t>(c)]; };
  const char* const end = text.data() + text.size();
  const char* const found = std::find_if(text.data() + start, end, is_member);
  if (found == end) return std::nullopt;
  const char* const behind = is_run_ ? std::find_if_not(found, end, is_member) : found + 1;
  return std::string_view(found, static_cast<size_t>(behind - found));
}

std::optional<std::string_view> Searched::find(std::string_view text, size_t start,
                                               bool is_expected_there) const {
  if (start > text.size()) return std::nullopt;
  if (!literal_.empty()) {
    const size_t at = text.find(literal_, start);
    if (at == std::string_view::npos) return std::nullopt;
    return text.substr(at, literal_.size());
  }
  if (is_class_) return find_member(text, start);
  re2::StringPiece found;
  const re2::StringPiece whole(text.data(), text.size());
  const auto matches = [&](re2::RE2::Anchor anchor) {
    return expression_->Match(whole, start, text.size(), anchor, &found, 1);
  };
  const bool is_there = is_expected_there && matches(re2::RE2::ANCHOR_START);
  if (!is_there && !matches(re2::RE2::UNANCHORED)) return std::nullopt;
  return std::string_view(found.data(), found.size());
}

// Appends the pieces between matches of one separator that are long enough. An empty match passes
// over one character.
void split_text(const Searched& separator, std::string_view text, int64_t shortest, Pieces& out) {
  size_t start = 0;
  const auto keep = [&](size_t end) {
    const std::string_view piece = text.substr(start, end - start);
    if (has_characters(piece, shortest)) out.push_back(piece);
  };
  bool was_there = false;
  while (const auto match = separator.find(text, start, was_there)) {
    const auto at = static_cast<size_t>(match->data() - text.data());
    was_there = at == start;
    keep(at);
    start = at + (match->empty() ? character_bytes(text.substr(at)) : match->size());
    if (start > text.size()) return;
  }
  keep(text.size());
}

// The matches of an expression; one that is too short is tried again from its second character on.
Pieces matches_of(const Searched& expression, std::string_view text, int64_t shortest) {
  Pieces out(scratch());
  size_t start = 0;
  bool was_there = false;
  while (const auto match = expression.find(text, start, was_there)) {
    const auto at = static_cast<size_t>(match->data() - text.data());
    was_there = at == start;
    const bool keeps = has_characters(*match, shortest);
    if (keeps) out.push_back(*match);
    start = at + (keeps ? match->size() : character_bytes(text.substr(at)));
  }
  return out;
}

struct TokenizerMemory : StepMemory {
  std::vector<Searched> expressions;

  void compile_all(const TokenizerAttrs& attrs) {
    if (!expressions.empty()) return;
    if (attrs.tokenexp) expressions.emplace_back(*attrs.tokenexp);
    for (const std::string& separator : attrs.separators)
      expressions.emplace_back(separator);
  }
};

Pieces tokens_of(const TokenizerAttrs& attrs, const TokenizerMemory& memory,
                 std::string_view text) {
  if (splits_characters(attrs)) return characters_of(text);
  if (attrs.tokenexp) return matches_of(memory.expressions[0], text, attrs.mincharnum);
  Pieces row({text}, scratch());
  for (const auto& separator : memory.expressions) {
    Pieces finer(scratch());
    for (const std::string_view piece : row)
      split_text(separator, piece, attrs.mincharnum, finer);
    row = std::move(finer);
  }
  return row;
}

// [.., longest row]: each row between the marks for start (2) and end (3) of text, if these are
// wanted, then filled up.
void tokenizer(const EvalCall& call) {
  const auto& attrs = call.attrs<TokenizerAttrs>();
  const Tensor& x = call.inputs[0].tensor();
  const KeptMemory<TokenizerMemory> memory(call);
  memory->compile_all(attrs);
  std::pmr::vector<Pieces> rows(scratch());
  rows.reserve(static_cast<size_t>(x.count()));
  size_t longest = 0;
  for (const std::string& text : x.values<std::string>()) {
    check_interrupted();
    check_utf8(text);
    rows.push_back(tokens_of(attrs, *memory, text));
    longest = std::max(longest, rows.back().size());
  }
  if (longest > 0 && attrs.mark != 0) longest += 2;
  DimValues shape(x.shape().begin(), x.shape().end());
  shape.push_back(static_cast<int64_t>(longest));
  if (x.count() == 0) shape = x.rank() == 2 ? DimValues{x.shape()[0], 0} : DimValues{0};
  auto at = call.tensor(0, DType::kString, shape).mutable_values<std::string>().begin();
  for (const Pieces& row : rows) {
    if (longest == 0) break;
    const auto end = at + static_cast<int64_t>(longest);
    if (attrs.mark != 0) *at++ = "\x02";
    for (const std::string_view token : row)
      assign_string(*at++, token);
    if (attrs.mark != 0) *at++ = "\x03";
    for (; at != end; ++at)
      assign_string(*at, attrs.pad_value);
  }
}

std::vector<Sample> tokenizer_samples() {
  const SampleInput x{.shape = {2},
                      .value = Tensor::vector<std::string>({"one two", "na\xC3\xAFve"})};
  AttrMap attrs{{"mark", int64_t{1}}, {"mincharnum", int64_t{1}}, {"pad_value", std::string("#")}};
  AttrMap words = attrs, characters = attrs;
  words["tokenexp"] = std::string("[a-z]+");
  attrs["separators"] = Strings{" ", "n"};
  characters["separators"] = Strings{""};
  return {{.inputs = {x}, .attrs = words},
          {.inputs = {x}, .attrs = attrs},
          {.inputs = {x}, .attrs = characters}};
}

// --- WordConvEmbedding ---

struct WordConvEmbeddingAttrs {
  std::optional<int64_t> char_embedding_size, conv_window_size, embedding_size;
  static auto fields() {
    using A = WordConvEmbeddingAttrs;
    return std::tuple{field("char_embedding_size", &A::char_embedding_size),
                      field("conv_window_size", &A::conv_window_size),
                      field("embedding_size", &A::embedding_size)};
  }
};

// Sequence [.., characters], W [filters, 1, window, size], B [filters], C [characters known, size].
void infer_word_conv(InferContext& c) {
  c.require_rank(1, 4);
  c.require_rank(2, 1);
  c.require_rank(3, 2);
  const Dims *words = c.shape(0), *w = c.shape(1), *table = c.shape(3);
  if (w && table) {
    c.merged((*w)[3], (*table)[1], "sizes of a character's embedding in W and C");
    c.merged((*w)[1], 1, "second dim of W");
  }
  const auto& attrs = c.attrs<WordConvEmbeddingAttrs>();
  if (w && attrs.embedding_size) c.merged((*w)[0], *attrs.embedding_size, "embedding_size and W");
  if (w && attrs.conv_window_size) {
    c.merged((*w)[2], *attrs.conv_window_size, "conv_window_size and W");
  }
  if (w && attrs.char_embedding_size) {
    c.merged((*w)[3], *attrs.char_embedding_size, "char_embedding_size and W");
  }
  if (!words) return c.set(0, DType::kFloat, std::nullopt);
  if (words->empty()) c.fail_input(0, "expected at least one dim");
  if (w) {
    const auto length = words->back().try_value(), window = (*w)[2].try_value();
    c.require(!length || !window || *length >= *window, "input Sequence: words of ", words->back(),
              " characters are shorter than the window of ", (*w)[2], " characters");
    if (const Dims* bias = c.shape(2)) c.merged((*bias)[0], (*w)[0], "filters of W and B");
  }
  Dims out = *words;
  out.back() = w ? (*w)[0] : c.unknown();
  c.set(0, DType::kFloat, std::move(out));
}

// The embedding of one word: the largest tanh(filter * characters + bias) over the places of the
// window. A word is as long as it has positive ids; one that starts with another id is empty, and
// zeros are its embedding.
void embed_word(const KernelCall& call, const int32_t* word, int64_t length, float* out) {
  const std::span<const int64_t> w_shape = call.inputs[1].shape;
  const int64_t filters = w_shape[0], window = w_shape[2], size = w_shape[3];
  const int64_t known = call.inputs[3].shape[0];
  const float *w = call.inputs[1].data<float>(), *bias = call.inputs[2].data<float>(),
              *table = call.inputs[3].data<float>();
  const int64_t characters =
      length > 0 && word[0] > 0
          ? std::count_if(word, word + length, [](int32_t id) { return id > 0; })
          : 0;
  std::fill_n(out, filters, 0.f);
  if (characters == 0) return;
  const int64_t places = std::max<int64_t>(1, characters - window + 1);
  for (int64_t filter = 0; filter < filters; ++filter) {
    float best = -2;
    for (int64_t place = 0; place < places; ++place) {
      double sum = bias[filter];
      for (int64_t i = 0; i < window; ++i) {
        const int64_t id = word[place + i];
        if (id < 0 || id >= known) {
          fail(ErrorCode::kInvalidArgument, "WordConvEmbedding: input Sequence: character ", id,
               " is outside the ", known, " rows of C");
        }
        for (int64_t j = 0; j < size; ++j)
          sum += static_cast<double>(w[(filter * window + i) * size + j]) * table[id * size + j];
      }
      best = std::max(best, std::tanh(static_cast<float>(sum)));
    }
    out[filter] = best;
  }
}

void word_conv_embedding(const KernelCall& call) {
  const TensorView& words = call.inputs[0];
  const int64_t length = words.shape.back(), filters = call.inputs[1].shape[0];
  // Words without characters are empty, and zeros are their embedding.
  const int64_t count = filters == 0 ? 0 : call.outputs[0].count() / filters;
  for (int64_t i = 0; i < count; ++i) {
    check_interrupted();
    embed_word(call, words.data<int32_t>() + i * length, length,
               call.outputs[0].data<float>() + i * filters);
  }
}

// The characters that windows of a word may read, others replaced by 0, [words, length], and how
// many places of the window count (none of an empty word), [words, 1, 1].
struct WordPlaces {
  Term characters, places;
};

WordPlaces word_places(const Term& words, const Term& window) {
  Emitter& e = *words.e;
  const auto sum = [&](const Term& is_counted) {
    return Term{&e, e.call("ReduceSum", {cast(is_counted, DType::kInt64), e.int64s({1})})};
  };
  const Term first{&e, e.call("Slice", {words, e.int64s({0}), e.int64s({1}), e.int64s({1})})};
  const Term count = sum(words > 0) * cast(first > 0, DType::kInt64);
  const Term last = apply("Max", count, window);
  const Term place{&e, count_up(e, dim_of(e, words, 1))};
  const Term places = apply("Max", count - window + 1, count.number(1));
  return {where(place < last, words, 0),
          apply("Unsqueeze", where(equal(count, 0), 0, places), int64s(e, {2}))};
}

// The embedding as a convolution over all windows, as it is differentiated.
Vals word_conv_decomposition(Emitter& e, const BodyCall& c) {
  const Term sequence{&e, c.inputs[0]}, w{&e, c.inputs[1]}, table{&e, c.inputs[3]};
  const auto rank = static_cast<int64_t>(rank_of(e, sequence, c.op.name));
  const Val length = dims_of(e, sequence, rank - 1, rank);
  const Term words = reshaped(sequence, {&e, joined_lists(e, {e.int64s({-1}), length})});
  const Term window{&e, dim_of(e, w, 2)};
  const WordPlaces word = word_places(words, window);
  const Term letters = apply("Unsqueeze", apply("Gather", table, word.characters), int64s(e, {1}));
  const Term sums{&e, e.call("Conv", {letters, w, c.inputs[2]})};
  const Term found = apply("Tanh", apply("Squeeze", sums, int64s(e, {3})));  // [words, F, places]
  const Term place{&e, count_up(e, dim_of(e, found, 2))};
  const Term counted = where(place < word.places, found, -2.0);
  const Term best{&e, e.call("ReduceMax", {counted, e.int64s({2})}, {{"keepdims", int64_t{0}}})};
  const Term is_empty = apply("Squeeze", equal(word.places, 0), int64s(e, {2}));
  const Val shape = joined_lists(e, {dims_of(e, sequence, 0, rank - 1), dims_of(e, w, 0, 1)});
  return {reshaped(where(is_empty, 0, best), {&e, shape})};
}

Vals word_conv_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, word_conv_decomposition);
}

std::vector<Sample> word_conv_samples() {
  const std::vector<SampleInput> weights{
      {.shape = {3, 1, 2, 2}}, {.shape = {3}}, {.shape = {5, 2}}};
  const auto of_words = [&](const std::vector<int32_t>& words, Shape shape) {
    Sample sample{.inputs = {{.shape = shape, .value = Tensor::of<int32_t>(words, shape)}}};
    sample.inputs.insert(sample.inputs.end(), weights.begin(), weights.end());
    return sample;
  };
  return {of_words({1, 2, 3, 0, 4, 0, 0, 0}, {2, 4}),
          of_words({1, 2, -1, 0, 2, 3, 3, 2, 0, 1, 4, 4}, {1, 3, 4})};
}

const OpDef kContribTextOps[] = {
    {.name = "Tokenizer",
     .doc = "The strings of X [C] or [N, C] cut into tokens, in a further axis filled up with "
            "pad_value.",
     .domain = kMicrosoft,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", DType::kString}},
     .attrs = attr_schema<TokenizerAttrs>(),
     .infer = infer_tokenizer,
     .evaluate = tokenizer,
     .samples = tokenizer_samples},
    {.name = "WordConvEmbedding",
     .doc = "Embeddings of words [words, characters] by a convolution over their characters and a "
            "maximum: [words, size].",
     .domain = kMicrosoft,
     .signature = "(Sequence: T, W: T1, B: T1, C: T1) -> (Y: T1)",
     .types = {{"T", DType::kInt32}, {"T1", DType::kFloat}},
     .attrs = attr_schema<WordConvEmbeddingAttrs>(),
     .infer = infer_word_conv,
     .reference = word_conv_embedding,
     .grad = word_conv_grad,
     .samples = word_conv_samples},
};

}  // namespace

std::span<const OpDef> contrib_text_ops() {
  return kContribTextOps;
}

}  // namespace sardonyx::ops
