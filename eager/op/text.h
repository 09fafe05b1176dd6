// Strings and encoded images.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

// The strings of X and Y joined, broadcast to one shape.
// (X: T, Y: T) -> (Z: T); T: string
Tensor StringConcat(const Tensor& X, const Tensor& Y, Loc loc = Loc::current());

struct StringSplitAttrs {
  std::optional<std::string> delimiter = {};
  std::optional<int64_t> maxsplit = {};
};
// The parts of each string between delimiters, in a further axis that is filled up with "", and
// their number.
// (X: T1) -> (Y: T2, Z: T3); T1: string; T2: string; T3: int64
std::vector<Tensor> StringSplit(const Tensor& X, const StringSplitAttrs& attrs = {},
    Loc loc = Loc::current());

struct StringNormalizerAttrs {
  std::string case_change_action = "NONE";
  int64_t is_case_sensitive = 0;
  std::optional<std::string> locale = {};
  OptionalList<std::string> stopwords = {};
};
// Strings [C] or [1, C] in upper or lower case, without stop words.
// (X: string) -> (Y: string)
Tensor StringNormalizer(const Tensor& X, const StringNormalizerAttrs& attrs = {},
    Loc loc = Loc::current());

struct RegexFullMatchAttrs {
  std::optional<std::string> pattern = {};
};
// Whether the whole string matches the pattern (RE2's syntax).
// (X: T1) -> (Y: T2); T1: string; T2: bool
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
// How often the n-grams of a pool are in each row, by count, presence or weight.
// (X: T) -> (Y: T1); T: int32, int64, string; T1: float
Tensor TfIdfVectorizer(const Tensor& X, const TfIdfVectorizerAttrs& attrs,
    Loc loc = Loc::current());

struct ImageDecoderAttrs {
  std::string pixel_format = "RGB";
};
// The image that the bytes of a file encode: uint8 [height, width, channels]; empty where they are
// damaged. Formats besides BMP and PNM need sardonyx::codecs to be linked.
// (encoded_stream: T1) -> (image: T2); T1: uint8; T2: uint8
Tensor ImageDecoder(const Tensor& encoded_stream, const ImageDecoderAttrs& attrs = {},
    Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
