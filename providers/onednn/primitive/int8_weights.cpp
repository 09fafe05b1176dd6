#include "providers/onednn/primitive/int8_weights.h"

#include <cstring>

namespace sardonyx::onednn {

SequenceBuilder::Place place_weights(SequenceBuilder& builder, size_t index,
                                     const CenteredWeights& weights, const Desc& stored,
                                     const Desc& wanted) {
  const std::string form = weights.form() + fingerprint(stored) + ">" + fingerprint(wanted);
  return builder.packed(index, wanted, form, [&](std::byte* to) {
    if (wanted == stored)  // copied, for the tensor's elements may be let go
      std::memcpy(to, weights.elements(), wanted.get_size());
    else if (weights.original())
      reorder(*weights.original(), stored, wanted, to, builder.threads());
    else
      reorder(weights.elements(), stored, wanted, to, builder.threads());
  });
}

}  // namespace sardonyx::onednn
