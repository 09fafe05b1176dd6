#include "providers/cpu/provider.h"

namespace sardonyx {

const Provider& cpu_provider() {
  static const Provider provider{"cpu", {}};
  return provider;
}

}  // namespace sardonyx
