// What a trace took from the program around it: conditions under which it serves another call.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "eager/trace/location.h"
#include "ir/core/symbolic_dim.h"

namespace sardonyx::eager {

// The sizes of this call, by symbol.
using SizeOf = std::map<std::string, int64_t>;

// An answer that C++ got for a comparison of sizes that are open in the graph.
struct SizeFact {
  enum class Relation { kEqual, kLess };
  sardonyx::Dim left, right;
  Relation relation = Relation::kEqual;
  bool holds = false;
  Loc asked;
  bool is_check = false;  // of arguments: for other answers the call is an error

  std::string text() const;  // "batch == 3 (model.cpp:12) was true"
  // The answer for other sizes; the one of the trace where these do not say all symbols.
  bool answer(const SizeOf& sizes) const;
};

// A size that is computed of others: of these symbols; nullopt where it has no value.
struct DerivedSize {
  std::set<std::string> symbols;
  std::function<std::optional<int64_t>(const SizeOf&)> value;
};

class Guards {
 public:
  // What was read of the program, by the object and what of it; `change` says later what has become
  // different, "" if nothing. The first note of a key stays.
  using Key = std::pair<const void*, char>;
  void note(Key key, std::function<std::string()> change);
  void note(SizeFact fact);
  // Facts may speak of this symbol from now on.
  void derive(const std::string& symbol, DerivedSize size) {
    derived_.try_emplace(symbol, std::move(size));
  }
  // Notes of this key have no effect from now on.
  void ignore(Key key) { keys_.insert(key); }

  const std::vector<SizeFact>& sizes() const { return sizes_; }
  // Why a trace with these guards does not serve a call of such sizes; "" where it does.
  std::string broken(SizeOf sizes) const;

 private:
  // Adds the symbol and those that it is computed of; false where there is no value.
  bool add_derived(const std::string& symbol, SizeOf& sizes) const;
  // The same for the derived symbols of a fact.
  bool add_derived(const SizeFact& fact, SizeOf& sizes) const;

  std::set<Key> keys_;
  std::set<std::string> size_texts_;
  std::vector<std::function<std::string()>> changes_;
  std::vector<SizeFact> sizes_;
  std::map<std::string, DerivedSize> derived_;
};

// For checks of arguments, as sizes_agree() of eager/dim.h: whether a size is `least` or more; true
// where that is left to the run.
bool size_reaches(const sardonyx::Dim& size, const sardonyx::Dim& least, const Loc& loc);

}  // namespace sardonyx::eager
