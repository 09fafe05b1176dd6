// What a trace took from the program around it: conditions under which it serves another call.
#pragma once

#include <functional>
#include <map>
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

class Guards {
 public:
  // What was read of the program, by the object and what of it; `change` says later what has become
  // different, "" if nothing. The first note of a key stays.
  using Key = std::pair<const void*, char>;
  void note(Key key, std::function<std::string()> change);
  void note(SizeFact fact);
  // Notes of this key have no effect from now on.
  void ignore(Key key) { keys_.insert(key); }

  const std::vector<SizeFact>& sizes() const { return sizes_; }
  // Why a trace with these guards does not serve a call of such sizes; "" where it does.
  std::string broken(const SizeOf& sizes) const;

 private:
  std::set<Key> keys_;
  std::set<std::string> size_texts_;
  std::vector<std::function<std::string()>> changes_;
  std::vector<SizeFact> sizes_;
};

}  // namespace sardonyx::eager
