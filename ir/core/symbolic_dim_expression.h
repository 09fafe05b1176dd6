// How a Dim holds its expression; for the sources that walk it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/core/symbolic_dim.h"

namespace sardonyx {

// An atom is a symbol or a function of dims. Its text is its identity.
struct Atom {
  enum class Kind { kSymbol, kFloor, kMin, kMax } kind;
  std::string text;
  std::vector<Dim> arguments;
};
using AtomPtr = std::shared_ptr<const Atom>;

// coefficient * atoms[0] * atoms[1] ...; atoms sorted by text.
struct DimTerm {
  int64_t coefficient;
  std::vector<AtomPtr> atoms;
};

// A sum of terms; the key is the product of the atoms' texts, "" for the constant term.
struct Dim::Expression {
  std::map<std::string, DimTerm> terms;
};

// The expression of a dim that is not known; null otherwise.
const Dim::Expression* expression_of(const Dim& dim);

}  // namespace sardonyx
