// The number of OpenMP's threads, which oneDNN works with, within a scope.
#pragma once

#include "providers/onednn/library.h"

namespace sardonyx::onednn {

// For the calling thread. A primitive that was made for n threads must run with n.
class OpenMpScope {
 public:
  explicit OpenMpScope(int threads) : previous_(onednn_threads()) {
    if (threads != previous_) set_onednn_threads(threads);
  }
  ~OpenMpScope() {
    if (onednn_threads() != previous_) set_onednn_threads(previous_);
  }
  OpenMpScope(const OpenMpScope&) = delete;
  OpenMpScope& operator=(const OpenMpScope&) = delete;

 private:
  const int previous_;
};

}  // namespace sardonyx::onednn
