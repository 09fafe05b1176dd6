// StringConcat, StringSplit, StringNormalizer, RegexFullMatch.
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/eval_call.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/attribute_cache.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/string/utf8.h"

namespace sardonyx::ops {
namespace {

// ---- StringConcat

// A string that is too short grows to twice its capacity at least.
size_t grown_capacity(const std::string& string, size_t size) {
  return std::max(size, 2 * string.capacity());
}
size_t growth_of(const std::string& string, size_t size) {
  if (size <= string.capacity()) return 0;
  return outside_bytes(grown_capacity(string, size)) - outside_bytes(string.capacity());
}

// One string may be all that there is.
void append_in_pieces(std::string& to, std::string_view from) {
  constexpr size_t kPiece = size_t{16} << 20;
  for (size_t at = 0; at < from.size(); at += kPiece) {
    if (at > 0) check_interrupted();
    to.append(from.substr(at, kPiece));
  }
}

// `to` is one of the others.
void join_in_place(std::string& to, const std::string& first, const std::string& second) {
  const size_t size = first.size() + second.size(), before = outside_bytes(to.capacity());
  count_characters(to, before, std::max(before, outside_bytes(size)));
  std::string joined;
  joined.reserve(size);
  append_in_pieces(joined, first);
  append_in_pieces(joined, second);
  to = std::move(joined);
}

// Elements of the operands, which may be those of the output.
struct ConcatRow {
  const std::string *first, *second;
  int64_t first_step, second_step;
  std::string* to;

  ConcatRow from(int64_t i) const {
    return {first + i * first_step, second + i * second_step, first_step, second_step, to + i};
  }
  const std::string& left(int64_t i) const { return first[i * first_step]; }
  const std::string& right(int64_t i) const { return second[i * second_step]; }
  bool is_in_place(int64_t i) const { return to + i == &left(i) || to + i == &right(i); }
};

// The bytes of all strings are counted at once.
void join_strings(const ConcatRow& row, int64_t count) {
  size_t bytes = 0, growth = 0;
  for (int64_t i = 0; i < count; ++i) {
    const size_t size = row.left(i).size() + row.right(i).size();
    bytes += size;
    if (!row.is_in_place(i)) growth += growth_of(row.to[i], size);
  }
  note_copied(bytes + static_cast<size_t>(count) * sizeof(std::string));
  count_characters(*row.to, 0, growth);
  for (int64_t i = 0; i < count; ++i) {
    const std::string &left = row.left(i), &right = row.right(i);
    std::string& to = row.to[i];
    if (row.is_in_place(i)) {
      join_in_place(to, left, right);
      continue;
    }
    if (const size_t size = left.size() + right.size(); size > to.capacity()) {
      const size_t capacity = grown_capacity(to, size);
      to.clear();
      to.reserve(capacity);
    }
    to.clear();
    append_in_pieces(to, left);
    append_in_pieces(to, right);
  }
}

void run_string_concat(const KernelCall& call) {
  constexpr int64_t kPiece = 256;
  const TensorView& out = call.outputs[0];
  const std::span<const int64_t> shapes[] = {call.inputs[0].shape, call.inputs[1].shape};
  const RowWalk walk = broadcast_walk(out.shape, shapes);
  walk.for_each([&](const int64_t* offsets, int64_t length) {
    const ConcatRow row{call.inputs[0].data<std::string>() + offsets[1],
                        call.inputs[1].data<std::string>() + offsets[2], walk.step(1), walk.step(2),
                        out.data<std::string>() + offsets[0]};
    for (int64_t begin = 0; begin < length; begin += kPiece)
      join_strings(row.from(begin), std::min(kPiece, length - begin));
  });
}

// ---- StringSplit

struct StringSplitAttrs {
  std::optional<std::string> delimiter;  // absent or empty: runs of white space
  std::optional<int64_t> maxsplit;       // absent or negative: no limit
  static auto fields() {
    return std::tuple{field("delimiter", &StringSplitAttrs::delimiter),
                      field("maxsplit", &StringSplitAttrs::maxsplit)};
  }
};

void infer_string_split(InferContext& c) {
  std::optional<Dims> counts = shape_of(c, 0);
  c.set(1, DType::kInt64, counts);
  if (counts) counts->push_back(c.unknown());
  c.set(0, DType::kString, std::move(counts));
}

void run_string_split(const EvalCall& call) {
  const auto& attrs = call.attrs<StringSplitAttrs>();
  const Tensor& input = call.inputs[0].tensor();
  const int64_t limit = attrs.maxsplit.value_or(-1);
  const std::string_view delimiter = attrs.delimiter ? *attrs.delimiter : std::string_view();
  Pieces pieces(scratch());  // of all elements
  std::pmr::vector<size_t> counts(scratch());
  counts.reserve(static_cast<size_t>(input.count()));
  pieces.reserve(static_cast<size_t>(2 * input.count()));
  for (const std::string& element : input.values<std::string>()) {
    const size_t before = pieces.size();
    if (delimiter.empty())
      split_at_spaces(element, limit, pieces);
    else
      split_at_separator(element, delimiter, limit, pieces);
    counts.push_back(pieces.size() - before);
    if (counts.size() % 1024 == 0) check_interrupted();
  }
  const size_t most = counts.empty() ? 0 : *std::ranges::max_element(counts);
  DimValues shape(input.shape().begin(), input.shape().end());
  if (call.outputs.size() > 1) {
    std::ranges::copy(counts,
                      call.tensor(1, DType::kInt64, shape).mutable_values<int64_t>().begin());
  }
  shape.push_back(static_cast<int64_t>(most));
  auto* out = call.tensor(0, DType::kString, shape).mutable_values<std::string>().data();
  const std::string_view* piece = pieces.data();
  for (const size_t count : counts) {
    size_t characters = 0;
    for (size_t i = 0; i < count; ++i) {
      characters += piece->size();
      assign_noted_string(*out++, *piece++);
    }
    for (size_t i = count; i < most; ++i)
      (out++)->clear();
    note_copied(characters + most * sizeof(std::string));
  }
}

// ---- StringNormalizer

struct StringNormalizerAttrs {
  std::string case_change_action = "NONE";
  bool is_case_sensitive = false;  // in the comparison with the stop words
  std::optional<std::string> locale;
  std::optional<std::vector<std::string>> stopwords;
  static auto fields() {
    return std::tuple{field("case_change_action", &StringNormalizerAttrs::case_change_action),
                      field("is_case_sensitive", &StringNormalizerAttrs::is_case_sensitive),
                      field("locale", &StringNormalizerAttrs::locale),
                      field("stopwords", &StringNormalizerAttrs::stopwords)};
  }
};

void infer_string_normalizer(InferContext& c) {
  const auto& attrs = c.attrs<StringNormalizerAttrs>();
  const std::string& action = attrs.case_change_action;
  c.require(action == "NONE" || action == "LOWER" || action == "UPPER",
            "case_change_action: expected NONE, LOWER or UPPER, got \"", action, "\"");
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, DType::kString, std::nullopt);
  const bool is_row = dims->size() == 2 && (!(*dims)[0].is_known() || (*dims)[0] == 1);
  if (dims->size() != 1 && !is_row) c.fail_input(0, "expected shape [C] or [1, C]");
  const bool drops = attrs.stopwords && !attrs.stopwords->empty();
  const Dim count = drops ? c.unknown() : max(dims->back(), 1);
  c.set(0, DType::kString, is_row ? Dims{1, count} : Dims{count});
}

// Case differs between locales for the Turkic languages alone, as far as single letters go.
bool is_turkic(const std::optional<std::string>& locale) {
  const std::string language = locale ? locale->substr(0, locale->find_first_of("_-.@")) : "";
  return language == "tr" || language == "az";
}

// The words to be left out, in the form in which they are compared.
struct StopWords : StepMemory {
  std::optional<std::unordered_set<std::string>> words;
  std::string compared;  // an element in that form

  bool has(const std::string& element, const StringNormalizerAttrs& attrs, bool turkic) {
    if (!words) {
      words.emplace();
      for (const std::string& word : attrs.stopwords.value_or(std::vector<std::string>())) {
        set_compared(word, attrs, turkic);
        words->insert(compared);
      }
    }
    if (words->empty()) return false;
    set_compared(element, attrs, turkic);
    return words->contains(compared);
  }

  void set_compared(const std::string& text, const StringNormalizerAttrs& attrs, bool turkic) {
    if (attrs.is_case_sensitive)
      compared = text;
    else
      set_case(compared, text, Casing::kLower, turkic);
  }
};

void run_string_normalizer(const EvalCall& call) {
  const auto& attrs = call.attrs<StringNormalizerAttrs>();
  const Tensor& input = call.inputs[0].tensor();
  const bool turkic = is_turkic(attrs.locale);
  const KeptMemory<StopWords> stop_words(call);
  std::pmr::vector<const std::string*> kept(scratch());
  kept.reserve(static_cast<size_t>(input.count()));
  for (const std::string& element : input.values<std::string>()) {
    note_copied(element.size());
    if (!stop_words->has(element, attrs, turkic)) kept.push_back(&element);
  }
  static const auto& kEmpty = *new std::string;
  if (kept.empty()) kept.push_back(&kEmpty);  // so the specification: never no element
  DimValues shape{static_cast<int64_t>(kept.size())};
  if (input.rank() == 2) shape = {1, shape[0]};
  auto* out = call.tensor(0, DType::kString, shape).mutable_values<std::string>().data();
  const std::string& action = attrs.case_change_action;
  for (const std::string* element : kept) {
    std::string& to = *out++;
    if (action == "NONE") {
      assign_string(to, *element);
      continue;
    }
    note_copied(element->size());
    const size_t before = to.capacity();
    set_case(to, *element, action == "LOWER" ? Casing::kLower : Casing::kUpper, turkic);
    count_characters(to, outside_bytes(before), outside_bytes(to.capacity()));
  }
}

// ---- RegexFullMatch

struct RegexAttrs {
  std::optional<std::string> pattern;
  static auto fields() { return std::tuple{field("pattern", &RegexAttrs::pattern)}; }
};

RE2::Options quiet_options() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

void infer_regex(InferContext& c) {
  const auto& pattern = c.attrs<RegexAttrs>().pattern;
  c.require(pattern.has_value(), "the attribute pattern is missing");
  const RE2 compiled(*pattern, quiet_options());
  c.require(compiled.ok(), "pattern: ", compiled.error());
  c.set(0, DType::kBool, shape_of(c, 0));
}

// A pattern, and the range of all its matches. Most texts that do not begin as the pattern
// does are told by two comparisons, where RE2 takes locks for each text.
struct MatchedPattern {
  explicit MatchedPattern(const std::string& pattern)
      : expression(std::make_unique<RE2>(pattern, quiet_options())),
        has_range(expression->PossibleMatchRange(&least, &greatest, kRangeCharacters)) {}

  bool matches(const std::string& text) const {
    if (has_range && (text < least || text > greatest)) return false;
    return expression->Match(text, 0, text.size(), RE2::ANCHOR_BOTH, nullptr, 0);
  }

  static constexpr int kRangeCharacters = 16;
  std::unique_ptr<RE2> expression;
  std::string least, greatest;
  bool has_range;
};

void run_regex(const KernelCall& call) {
  const auto pattern = cached_for_attributes<MatchedPattern, RegexAttrs>(
      call.raw_attrs, 0, [](const RegexAttrs& a) { return MatchedPattern(*a.pattern); });
  const int64_t count = call.inputs[0].count();
  const auto* text = call.inputs[0].data<std::string>();
  bool* out = call.outputs[0].data<bool>();
  for (int64_t i = 0; i < count; ++i) {
    if (i % 1024 == 0) check_interrupted();
    out[i] = pattern->matches(text[i]);
  }
}

// ---- Samples and rows

std::vector<Sample> concat_samples() {
  return {{{given<std::string>({"a", "ä", ""}, {3, 1}), given<std::string>({"x", "y"}, {2})}}};
}
std::vector<Sample> split_samples() {
  return {{.inputs = {given<std::string>({"a b  c", ""}, {2})}, .outputs = 2},
          {.inputs = {given<std::string>({"a,b,,c", ""}, {2})},
           .attrs = {{"delimiter", std::string(",")}, {"maxsplit", int64_t{2}}},
           .outputs = 2}};
}
std::vector<Sample> normalizer_samples() {
  return {{{given<std::string>({"Monday", "ÄRGER", "x"}, {3})},
           {{"case_change_action", std::string("LOWER")},
            {"stopwords", std::vector<std::string>{"monday"}}}}};
}
std::vector<Sample> regex_samples() {
  return {{{given<std::string>({"www.google.com", "www"}, {2})},
           {{"pattern", std::string(R"(www\.[\w.-]+\.\bcom\b)")}}}};
}

const OpDef kTextOps[] = {
    {.name = "StringConcat",
     .doc = "The strings of X and Y joined, broadcast to one shape.",
     .since = 20,
     .signature = "(X: T, Y: T) -> (Z: T)",
     .types = {{"T", DType::kString}},
     .infer = broadcast_all,
     .reference = run_string_concat,
     .samples = concat_samples},
    {.name = "StringSplit",
     .doc = "The parts of each string between delimiters, in a further axis that is filled up with "
            "\"\", and their number.",
     .since = 20,
     .signature = "(X: T1) -> (Y: T2, Z: T3)",
     .types = {{"T1", DType::kString}, {"T2", DType::kString}, {"T3", DType::kInt64}},
     .attrs = attr_schema<StringSplitAttrs>(),
     .infer = infer_string_split,
     .evaluate = run_string_split,
     .samples = split_samples},
    {.name = "StringNormalizer",
     .doc = "Strings [C] or [1, C] in upper or lower case, without stop words.",
     .since = 10,
     .signature = "(X: string) -> (Y: string)",
     .attrs = attr_schema<StringNormalizerAttrs>(),
     .infer = infer_string_normalizer,
     .evaluate = run_string_normalizer,
     .samples = normalizer_samples},
    {.name = "RegexFullMatch",
     .doc = "Whether the whole string matches the pattern (RE2's syntax).",
     .since = 20,
     .signature = "(X: T1) -> (Y: T2)",
     .types = {{"T1", DType::kString}, {"T2", DType::kBool}},
     .attrs = attr_schema<RegexAttrs>(),
     .infer = infer_regex,
     .reference = run_regex,
     .samples = regex_samples},
};

}  // namespace

std::span<const OpDef> text_ops() {
  return kTextOps;
}

}  // namespace sardonyx::ops
