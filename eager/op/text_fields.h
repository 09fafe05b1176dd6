// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/text.h"

namespace sardonyx::eager::op {

template <typename F>
void each_field(const StringSplitAttrs*, F&& field) {
  field("delimiter", &StringSplitAttrs::delimiter);
  field("maxsplit", &StringSplitAttrs::maxsplit);
}
template <typename F>
void each_field(const StringNormalizerAttrs*, F&& field) {
  field("case_change_action", &StringNormalizerAttrs::case_change_action);
  field("is_case_sensitive", &StringNormalizerAttrs::is_case_sensitive);
  field("locale", &StringNormalizerAttrs::locale);
  field("stopwords", &StringNormalizerAttrs::stopwords);
}
template <typename F>
void each_field(const RegexFullMatchAttrs*, F&& field) {
  field("pattern", &RegexFullMatchAttrs::pattern);
}
template <typename F>
void each_field(const TfIdfVectorizerAttrs*, F&& field) {
  field("max_gram_length", &TfIdfVectorizerAttrs::max_gram_length);
  field("max_skip_count", &TfIdfVectorizerAttrs::max_skip_count);
  field("min_gram_length", &TfIdfVectorizerAttrs::min_gram_length);
  field("mode", &TfIdfVectorizerAttrs::mode);
  field("ngram_counts", &TfIdfVectorizerAttrs::ngram_counts);
  field("ngram_indexes", &TfIdfVectorizerAttrs::ngram_indexes);
  field("pool_int64s", &TfIdfVectorizerAttrs::pool_int64s);
  field("pool_strings", &TfIdfVectorizerAttrs::pool_strings);
  field("weights", &TfIdfVectorizerAttrs::weights);
}
template <typename F>
void each_field(const ImageDecoderAttrs*, F&& field) {
  field("pixel_format", &ImageDecoderAttrs::pixel_format);
}

}  // namespace sardonyx::eager::op
