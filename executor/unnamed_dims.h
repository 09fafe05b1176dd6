// Names for dims that the file gives none.
#pragma once

#include <map>
#include <string>

#include "ir/type.h"

namespace sardonyx {

// While a graph is loaded its unnamed dims get names that are unique in the process. Here they are
// numbered anew, "?0", "?1" ..., in the order in which a reader meets them: the same model has the
// same types whenever it is loaded.
class UnnamedDims {
 public:
  Type numbered(const Type& type);

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace sardonyx
