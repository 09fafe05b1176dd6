// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/text.h"

#include "eager/op/text_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

Tensor StringConcat(const Tensor& X, const Tensor& Y, Loc loc) {
  static const OpRow row("StringConcat");
  return row.call({X, Y}, nullptr, loc);
}
std::vector<Tensor> StringSplit(const Tensor& X, const StringSplitAttrs& attrs, Loc loc) {
  static const OpRow row("StringSplit", fields_of(attrs));
  return row.call_many({X}, &attrs, 2, loc);
}
Tensor StringNormalizer(const Tensor& X, const StringNormalizerAttrs& attrs, Loc loc) {
  static const OpRow row("StringNormalizer", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor RegexFullMatch(const Tensor& X, const RegexFullMatchAttrs& attrs, Loc loc) {
  static const OpRow row("RegexFullMatch", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor TfIdfVectorizer(const Tensor& X, const TfIdfVectorizerAttrs& attrs, Loc loc) {
  static const OpRow row("TfIdfVectorizer", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor ImageDecoder(const Tensor& encoded_stream, const ImageDecoderAttrs& attrs, Loc loc) {
  static const OpRow row("ImageDecoder", fields_of(attrs));
  return row.call({encoded_stream}, &attrs, loc);
}

}  // namespace sardonyx::eager::op
