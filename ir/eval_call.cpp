#include "ir/eval_call.h"

#include "ir/core/memory/memory_reservation.h"

namespace sardonyx {

const Datum DatumRefs::kOmitted;

std::vector<Datum> DatumRefs::copies() const {
  std::vector<Datum> data;
  for (const Datum* datum : data_)
    data.push_back(datum ? *datum : Datum());
  return data;
}

namespace {

// Millions of items take longer than a deadline may be missed by.
void grow_items(std::vector<Datum>& items, size_t size) {
  constexpr size_t kStep = size_t{1} << 16;
  if (size > kStep) items.reserve(size);
  while (items.size() + kStep < size) {
    check_interrupted();
    items.resize(items.size() + kStep);
  }
}

}  // namespace

Sequence& EvalCall::sequence(size_t index, const Type& element, size_t size) const {
  Sequence& sequence = renewed<Sequence>(outputs[index]);
  sequence.element = element;
  if (size > sequence.items.capacity()) {
    // Items are not counted for as long as they are there, but must fit within what is left now.
    const BudgetShare share(2 * size * sizeof(Datum));
  }
  grow_items(sequence.items, size);
  buffers ? buffers->resize(sequence.items, size) : sequence.items.resize(size);
  return sequence;
}

}  // namespace sardonyx
