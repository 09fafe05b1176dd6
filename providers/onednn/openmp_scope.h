// The number of OpenMP's threads, which oneDNN works with, within a scope.
#pragma once

#include <omp.h>

namespace sardonyx::onednn {

// For the calling thread. A primitive that was made for n threads must run with n.
class OpenMpScope {
 public:
  explicit OpenMpScope(int threads) : previous_(omp_get_max_threads()) {
    if (threads != previous_) omp_set_num_threads(threads);
  }
  ~OpenMpScope() {
    if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
  }
  OpenMpScope(const OpenMpScope&) = delete;
  OpenMpScope& operator=(const OpenMpScope&) = delete;

 private:
  const int previous_;
};

}  // namespace sardonyx::onednn
