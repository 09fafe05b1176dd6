// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/text_fields.h"

namespace sardonyx::eager::op {

namespace {

const NamedCall kTextCalls[] = {
    {"StringConcat",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{StringConcat(at(in, 0), at(in, 1))};
     }},
    {"StringSplit",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return StringSplit(at(in, 0), read<StringSplitAttrs>(attrs));
     }},
    {"StringNormalizer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{StringNormalizer(at(in, 0), read<StringNormalizerAttrs>(attrs))};
     }},
    {"RegexFullMatch",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RegexFullMatch(at(in, 0), read<RegexFullMatchAttrs>(attrs))};
     }},
    {"TfIdfVectorizer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{TfIdfVectorizer(at(in, 0), read<TfIdfVectorizerAttrs>(attrs))};
     }},
    {"ImageDecoder",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ImageDecoder(at(in, 0), read<ImageDecoderAttrs>(attrs))};
     }},
};

}  // namespace

std::vector<std::span<const NamedCall>> text_calls() {
  return {kTextCalls};
}

}  // namespace sardonyx::eager::op
