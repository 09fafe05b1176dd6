// Old forms of operators, brought to the newest on load.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/attributes.h"
#include "ir/emitter/emitter.h"

namespace sardonyx {

// One node of a file while it is made into today's form.
struct RawCall {
  std::string domain, op;
  int64_t version = 1;  // of the op: the newest one of the opset that was imported
  AttrMap attrs;
  Vals inputs;    // formal ones; an empty Val for an omitted optional input
  Vals captures;  // outer values that its subgraphs use
  size_t outputs = 1;
  Emitter& emitter;
  // Emits a node with subgraphs, whose captured values follow the inputs.
  std::function<Vals(std::string_view op, const Vals& inputs, const AttrMap& attrs,
                     const Vals& captures, size_t outputs)>
      emit_with_captures = {};

  bool has_input(size_t index) const { return index < inputs.size() && inputs[index]; }
  // Throws kInvalidModel where it is left out.
  const Val& input(size_t index) const;
  // Sets input `index`, with omitted ones before it where there are fewer.
  void set_input(size_t index, Val val);
  // Removes an attribute and gives its value; the second form gives `otherwise` where it was not
  // given. Throw kInvalidModel where it is of another kind.
  template <typename T>
  std::optional<T> take(std::string_view name);
  template <typename T>
  T take_or(std::string_view name, T otherwise) {
    return take<T>(name).value_or(std::move(otherwise));
  }
  void drop(std::string_view name) {
    if (const auto found = attrs.find(name); found != attrs.end()) attrs.erase(found);
  }
};

// Edits the call into the form of a later version (and leaves the result empty), or emits ops that
// mean the same and gives their outputs. It may also rename the call to another op, setting
// `version` to the one it writes.
using UpgradeFunction = std::optional<Vals> (*)(RawCall&);

struct UpgradeRule {
  std::string_view domain, op;
  int below;  // for calls of a version before this one
  UpgradeFunction upgrade;
};

// All rules; those of one op with rising `below`.
std::span<const UpgradeRule> upgrade_rules();

// Applies the rules until the call is in its newest form. Gives outputs where a rule emitted the
// call itself.
std::optional<Vals> upgrade(RawCall& call);

[[noreturn]] void fail_attribute_kind(const RawCall& call, std::string_view name,
                                      const AttrValue& value);

template <typename T>
std::optional<T> RawCall::take(std::string_view name) {
  const auto found = attrs.find(name);
  if (found == attrs.end()) return std::nullopt;
  T* value = std::get_if<T>(&found->second);
  if (!value) fail_attribute_kind(*this, name, found->second);
  std::optional<T> taken = std::move(*value);
  attrs.erase(found);
  return taken;
}

}  // namespace sardonyx
