#include "ir/evaluation.h"

namespace sardonyx {

const Datum DatumRefs::kOmitted;

std::vector<Datum> DatumRefs::copies() const {
  std::vector<Datum> data;
  for (const Datum* datum : data_)
    data.push_back(datum ? *datum : Datum());
  return data;
}

Sequence& EvalCall::sequence(size_t index, const Type& element, size_t size) const {
  Sequence& sequence = renewed<Sequence>(outputs[index]);
  sequence.element = element;
  buffers ? buffers->resize(sequence.items, size) : sequence.items.resize(size);
  return sequence;
}

}  // namespace sardonyx
