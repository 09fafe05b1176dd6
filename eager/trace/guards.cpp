#include "eager/trace/guards.h"

#include "eager/dim.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager {
namespace {

std::optional<int64_t> value_at(const sardonyx::Dim& dim, const SizeOf& sizes) {
  const auto lookup = [&](std::string_view symbol) -> std::optional<sardonyx::Dim> {
    const auto at = sizes.find(std::string(symbol));
    return at == sizes.end() ? std::nullopt : std::optional<sardonyx::Dim>(at->second);
  };
  return dim.substitute(lookup).try_value();
}

bool decide(SizeFact::Relation relation, int64_t left, int64_t right) {
  return relation == SizeFact::Relation::kEqual ? left == right : left < right;
}

// What holds for all sizes needs no answer.
std::optional<bool> proved(const SizeFact& fact) {
  if (fact.left.is_known() && fact.right.is_known())
    return decide(fact.relation, fact.left.value(), fact.right.value());
  const bool is_greater = is_nonnegative(fact.left - fact.right - 1);
  const bool is_less = is_nonnegative(fact.right - fact.left - 1);
  if (fact.relation == SizeFact::Relation::kEqual) {
    if (proved_equal(fact.left, fact.right)) return true;
    return is_greater || is_less ? std::optional(false) : std::nullopt;
  }
  if (is_less) return true;
  return is_nonnegative(fact.left - fact.right) ? std::optional(false) : std::nullopt;
}

bool answer(SizeFact fact) {
  if (const std::optional<bool> known = proved(fact)) return *known;
  TraceContext* frame = TraceContext::active();
  if (!frame) return false;
  frame = &frame->root();
  const auto left = value_at(fact.left, frame->example_sizes),
             right = value_at(fact.right, frame->example_sizes);
  if (!left || !right) {
    fail(ErrorCode::kInvalidArgument, text_of(fact.asked), ": the size ",
         left ? fact.right : fact.left,
         " depends on data, so C++ can't compare it while the function is traced; use cond() or "
         "where() on dim_tensor(size)");
  }
  fact.holds = decide(fact.relation, *left, *right);
  frame->guards.note(fact);
  return fact.holds;
}

// Of a check of arguments; `unknown` where no example says it.
bool checked(const SizeFact& fact, bool unknown) {
  if (const std::optional<bool> known = proved(fact)) return *known;
  TraceContext* frame = TraceContext::active();
  if (!frame || frame->root().kind() != TraceContext::Kind::kStates) return unknown;
  const SizeOf& sizes = frame->root().example_sizes;
  return value_at(fact.left, sizes) && value_at(fact.right, sizes) ? answer(fact) : unknown;
}

}  // namespace

namespace detail {

bool sizes_agree(const sardonyx::Dim& a, const sardonyx::Dim& b, const Loc& loc, bool unknown) {
  return checked({a, b, SizeFact::Relation::kEqual, false, loc, /*is_check=*/true}, unknown);
}
bool sizes_equal(const sardonyx::Dim& a, const sardonyx::Dim& b, const Loc& loc) {
  return answer({a, b, SizeFact::Relation::kEqual, false, loc});
}
bool size_less(const sardonyx::Dim& a, const sardonyx::Dim& b, const Loc& loc) {
  return answer({a, b, SizeFact::Relation::kLess, false, loc});
}

}  // namespace detail

bool size_reaches(const sardonyx::Dim& size, const sardonyx::Dim& least, const Loc& loc) {
  return !checked({size, least, SizeFact::Relation::kLess, false, loc, /*is_check=*/true},
                  /*unknown=*/false);
}

int64_t Dim::value() const {
  if (is_known()) return sardonyx::Dim::value();
  TraceContext* frame = TraceContext::active();
  const auto size = frame ? value_at(*this, frame->root().example_sizes) : std::nullopt;
  if (!size || frame->root().kind() == TraceContext::Kind::kConstants) {
    fail(ErrorCode::kInvalidArgument, text_of(asked_), ": the size ", *this,
         " is open while the function is traced and has no value; compute with the Dim, or take "
         "dim_tensor(size) for it as a tensor");
  }
  frame->root().guards.note({*this, *size, SizeFact::Relation::kEqual, true, asked_});
  return *size;
}

bool Sizes::operator==(const Dims& other) const {
  if (size() != other.size()) return false;
  for (size_t i = 0; i < size(); ++i) {
    if (!(Dim(data()[i], asked_) == other[i])) return false;
  }
  return true;
}

std::string SizeFact::text() const {
  const char* sign = relation == Relation::kEqual ? " == " : " < ";
  return sardonyx::text(left, sign, right, " (", text_of(asked), ") was ",
                        holds ? "true" : "false");
}

bool SizeFact::answer(const SizeOf& sizes) const {
  const auto a = value_at(left, sizes), b = value_at(right, sizes);
  return a && b ? decide(relation, *a, *b) : holds;
}

void Guards::note(Key key, std::function<std::string()> change) {
  if (keys_.insert(key).second) changes_.push_back(std::move(change));
}

void Guards::note(SizeFact fact) {
  if (size_texts_.insert(fact.text()).second) sizes_.push_back(std::move(fact));
}

bool Guards::add_derived(const std::string& symbol, SizeOf& sizes) const {
  if (sizes.contains(symbol)) return true;
  const auto at = derived_.find(symbol);
  if (at == derived_.end()) return false;
  for (const std::string& one : at->second.symbols) {
    if (!add_derived(one, sizes)) return false;
  }
  const std::optional<int64_t> value = at->second.value(sizes);
  if (value) sizes[symbol] = *value;
  return value.has_value();
}

bool Guards::add_derived(const SizeFact& fact, SizeOf& sizes) const {
  if (derived_.empty()) return true;
  for (const sardonyx::Dim& side : {fact.left, fact.right}) {
    for (const std::string& symbol : side.symbols()) {
      if (derived_.contains(symbol) && !add_derived(symbol, sizes)) return false;
    }
  }
  return true;
}

std::string Guards::broken(SizeOf sizes) const {
  for (const auto& change : changes_) {
    if (std::string why = change(); !why.empty()) return why;
  }
  for (const SizeFact& fact : sizes_) {
    if (!add_derived(fact, sizes)) return fact.text() + " and has no answer any more";
    if (fact.answer(sizes) != fact.holds) return fact.text() + " and is not any more";
  }
  return "";
}

}  // namespace sardonyx::eager
