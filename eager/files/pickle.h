// What a state_dict's pickle says, read without executing anything. For the eager layer's own
// sources.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace sardonyx::eager {

// Values by number, in one table: pickles share and nest them at will, and no depth of nesting
// costs stack.
struct Pickle {
  enum class Kind {
    kNone,
    kBool,
    kInteger,
    kReal,
    kText,
    kTuple,       // items
    kList,        // items
    kDict,        // items: key, value, key, value ...
    kGlobal,      // text: "module name"
    kCall,        // items: a global and a tuple of arguments
    kPersistent,  // items: what identifies it
  };
  struct PickleNode {
    Kind kind = Kind::kNone;
    int64_t integer = 0;
    double real = 0;
    std::string text = {};
    std::vector<uint32_t> items = {};
  };
  std::deque<PickleNode> nodes;
  uint32_t root = 0;

  const PickleNode& at(uint32_t index) const { return nodes.at(index); }
};

// Reads protocols 2 to 5. Opcodes that a state_dict has no use for, globals outside of the
// allow-list and anything malformed throw kInvalidArgument, beginning with `where`. `end`: where it
// ends, for files that go on.
Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where,
                   size_t* end = nullptr);

}  // namespace sardonyx::eager
