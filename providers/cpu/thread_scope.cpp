#include "providers/cpu/thread_scope.h"

#include <omp.h>

namespace sardonyx {

ThreadScope::ThreadScope(int threads) : previous_(omp_get_max_threads()) {
  if (threads != previous_) omp_set_num_threads(threads);
}
ThreadScope::~ThreadScope() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}

}  // namespace sardonyx
