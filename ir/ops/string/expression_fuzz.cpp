// The small languages inside of attributes and strings: Einsum's equation, regular expressions,
// numbers as text, separators, and the text operators over any bytes.
#include "ir/reference_evaluator.h"
#include "tests/support/fuzz_input.h"

namespace {

using namespace sardonyx;

Datum tensor_of_rank(fuzz::Choices& choices) {
  Shape shape;
  for (size_t rank = choices.below(5); rank > 0; --rank)
    shape.push_back(static_cast<int64_t>(choices.below(4)));
  return Tensor::zeros(DType::kFloat, shape);
}

Datum strings(fuzz::Choices& choices) {
  std::vector<std::string> items;
  for (size_t count = choices.below(4); count > 0; --count)
    items.push_back(choices.text());
  return Tensor::vector(items);
}

void call(const char* name, const AttrMap& given, const std::vector<Datum>& inputs,
          size_t outputs = 1) {
  const OpDef& op = op_named(name);
  evaluate(op, Attrs::parse(*op.attrs, given), inputs, outputs);
}

void einsum(fuzz::Choices& choices) {
  std::vector<Datum> inputs;
  for (size_t count = 1 + choices.below(3); count > 0; --count)
    inputs.push_back(tensor_of_rank(choices));
  call("Einsum", {{"equation", choices.rest()}}, inputs);
}

void regex(fuzz::Choices& choices) {
  const Datum subjects = strings(choices);
  call("RegexFullMatch", {{"pattern", choices.rest()}}, {subjects});
}

void numbers(fuzz::Choices& choices) {
  const auto to = static_cast<int64_t>(choices.below(28));
  call("Cast", {{"to", to}, {"saturate", static_cast<int64_t>(choices.below(2))}},
       {strings(choices)});
}

void split(fuzz::Choices& choices) {
  const Datum subjects = strings(choices);
  AttrMap attrs;
  if (choices.one_in(2)) attrs["maxsplit"] = choices.integer();
  if (choices.one_in(2)) attrs["delimiter"] = choices.text();
  call("StringSplit", attrs, {subjects}, 2);
}

void normalize(fuzz::Choices& choices) {
  constexpr const char* kCases[] = {"LOWER", "UPPER", "NONE", "other"};
  AttrMap attrs{{"case_change_action", std::string(kCases[choices.below(4)])},
                {"is_case_sensitive", static_cast<int64_t>(choices.below(2))}};
  if (choices.one_in(2)) attrs["stopwords"] = std::vector<std::string>{choices.text()};
  if (choices.one_in(2)) attrs["locale"] = choices.text();
  call("StringNormalizer", attrs, {strings(choices)});
}

void tokenize(fuzz::Choices& choices) {
  AttrMap attrs{{"mark", static_cast<int64_t>(choices.below(2))},
                {"mincharnum", choices.integer()},
                {"pad_value", choices.text()}};
  if (choices.one_in(2))
    attrs["separators"] = std::vector<std::string>{choices.text(), choices.text()};
  else
    attrs["tokenexp"] = choices.text();
  call("com.microsoft::Tokenizer", attrs, {strings(choices)});
}

}  // namespace

// The first byte chooses the language.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr void (*kLanguages[])(fuzz::Choices&) = {einsum, regex,     numbers,
                                                    split,  normalize, tokenize};
  fuzz::Choices choices(data, size);
  const auto language = kLanguages[choices.below(std::size(kLanguages))];
  fuzz::ends_well([&] { language(choices); });
  return 0;
}
