// Strings and encoded pictures.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

// (X: T, Y: T) -> (Z: T)
Tensor StringConcat(const Tensor& X, const Tensor& Y, Loc loc = Loc::current());

struct StringSplitAttrs {
  std::optional<std::string> delimiter = {};
  std::optional<int64_t> maxsplit = {};
};
// (X: T1) -> (Y: T2, Z: T3)
std::vector<Tensor> StringSplit(const Tensor& X, const StringSplitAttrs& attrs = {},
    Loc loc = Loc::current());

struct StringNormalizerAttrs {
  std::string case_change_action = "NONE";
  int64_t is_case_sensitive = 0;
  std::optional<std::string> locale = {};
  OptionalList<std::string> stopwords = {};
};
// (X: string) -> (Y: string)
Tensor StringNormalizer(const Tensor& X, const StringNormalizerAttrs& attrs = {},
    Loc loc = Loc::current());

struct RegexFullMatchAttrs {
  std::optional<std::string> pattern = {};
};
// (X: T1) -> (Y: T2)
Tensor RegexFullMatch(const Tensor& X, const RegexFullMatchAttrs& attrs = {},
    Loc loc = Loc::current());

struct TfIdfVectorizerAttrs {
  std::optional<int64_t> max_gram_length = {};  // required
  std::optional<int64_t> max_skip_count = {};  // required
  std::optional<int64_t> min_gram_length = {};  // required
  std::optional<std::string> mode = {};  // required
  OptionalList<int64_t> ngram_counts = {};  // required
  OptionalList<int64_t> ngram_indexes = {};  // required
  OptionalList<int64_t> pool_int64s = {};
  OptionalList<std::string> pool_strings = {};
  std::vector<float> weights = {};
};
// (X: T) -> (Y: T1)
Tensor TfIdfVectorizer(const Tensor& X, const TfIdfVectorizerAttrs& attrs,
    Loc loc = Loc::current());

struct ImageDecoderAttrs {
  std::string pixel_format = "RGB";
};
// (encoded_stream: T1) -> (image: T2)
Tensor ImageDecoder(const Tensor& encoded_stream, const ImageDecoderAttrs& attrs = {},
    Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
