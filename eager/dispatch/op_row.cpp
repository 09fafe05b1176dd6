#include "eager/dispatch/op_row.h"

#include <atomic>

#include "eager/trace/frame.h"

namespace sardonyx::eager::op {

namespace {

struct KeptAttrs {
  std::vector<std::any> copies;  // of the fields
  Attrs parsed;
};

// What a thread keeps for a row: the oldest set of values is forgotten.
struct KeptRow {
  static constexpr size_t kMost = 8;

  std::vector<KeptAttrs> sets;
  size_t oldest = 0;

  void keep(KeptAttrs made) {
    if (sets.size() < kMost)
      sets.push_back(std::move(made));
    else
      sets[oldest++ % kMost] = std::move(made);
  }
};

KeptRow& kept_row(size_t index) {
  thread_local std::vector<KeptRow> rows;
  if (index >= rows.size()) rows.resize(index + 1);
  return rows[index];
}

size_t next_index() {
  static std::atomic<size_t> next = 0;
  return next++;
}

}  // namespace

void set_attr(AttrMap& map, const char* name, const Tensor& value, const Loc& loc) {
  if (!value.defined()) return;
  const Datum& datum = value.datum(loc);
  if (datum.is_sparse())
    map.emplace(name, datum.sparse());
  else
    map.emplace(name, datum.tensor());
}

void set_attr(AttrMap& map, const char* name, const std::vector<Tensor>& values, const Loc& loc) {
  if (values.empty()) return;
  std::vector<sardonyx::Tensor> tensors;
  for (const Tensor& value : values)
    tensors.push_back(value.data(loc));
  map.emplace(name, std::move(tensors));
}

std::vector<Tensor> joined(std::initializer_list<Tensor> first, const std::vector<Tensor>& rest) {
  std::vector<Tensor> all(first);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::span<const Tensor> trimmed(std::span<const Tensor> inputs) {
  while (!inputs.empty() && !inputs.back().defined())
    inputs = inputs.first(inputs.size() - 1);
  return inputs;
}

Attrs parsed(const OpDef& op, const AttrMap& attrs, const Loc& loc) {
  try {
    return Attrs::parse(*op.attrs, attrs);
  } catch (const Error& error) {
    throw error.with_context(text_of(loc) + ": " + full_name(op));
  }
}

OpRow::OpRow(const char* name, std::vector<NamedMember> fields)
    : op_(op_named(name)),
      fields_(std::move(fields)),
      plain_(fields_.empty() ? Attrs::parse(*op_.attrs, {}) : Attrs()),
      index_(next_index()) {}

template <typename Run>
void OpRow::with_attrs(const void* attrs, const Loc& loc, const Run& run) const {
  if (fields_.empty())
    run(plain_);
  else
    run(attrs_of(attrs, loc));
}

Tensor OpRow::call(std::span<const Tensor> inputs, const void* attrs, const Loc& loc) const {
  Tensor output;
  with_attrs(attrs, loc, [&](const Attrs& parsed) {
    apply({op_, parsed, trimmed(inputs), 0, loc}, {&output, 1});
  });
  return output;
}

std::vector<Tensor> OpRow::call_many(std::span<const Tensor> inputs, const void* attrs,
                                     size_t outputs, const Loc& loc) const {
  std::vector<Tensor> results(outputs);
  with_attrs(attrs, loc, [&](const Attrs& parsed) {
    apply({op_, parsed, trimmed(inputs), 0, loc}, results);
  });
  return results;
}

// By value: a call may run code that calls the same row with other values.
Attrs OpRow::attrs_of(const void* attrs, const Loc& loc) const {
  for (const KeptAttrs& set : kept_row(index_).sets) {
    if (is_same(set.copies, attrs)) return set.parsed;
  }
  AttrMap map;
  std::vector<std::any> copies;
  for (const NamedMember& field : fields_) {
    field.type->set(map, field.name, field.of(attrs), loc);
    copies.push_back(field.type->copy(field.of(attrs)));
  }
  Attrs made = parsed(op_, map, loc);
  // A set with tensors is never found again: it would only hold them.
  if (is_same(copies, attrs)) kept_row(index_).keep({std::move(copies), made});
  return made;
}

bool OpRow::is_same(std::span<const std::any> copies, const void* attrs) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (!fields_[i].type->is_same(copies[i], fields_[i].of(attrs))) return false;
  }
  return true;
}

}  // namespace sardonyx::eager::op
