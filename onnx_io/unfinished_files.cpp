#include "onnx_io/unfinished_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace sardonyx {
namespace {

// Names in memory of their own, which belong to who takes them out: a handler may come between any
// two steps of their writer. More files at a time than there are places are not removed.
std::array<std::atomic<char*>, 64> unfinished;
static_assert(std::atomic<char*>::is_always_lock_free);

}  // namespace

size_t remember_unfinished(const char* name) {
  char* copy = strdup(name);
  for (size_t place = 0; copy && place < unfinished.size(); ++place) {
    char* none = nullptr;
    if (unfinished[place].compare_exchange_strong(none, copy)) return place;
  }
  std::free(copy);
  return unfinished.size();
}

void forget_unfinished(size_t place) {
  if (place < unfinished.size()) std::free(unfinished[place].exchange(nullptr));
}

void remove_unfinished_files() noexcept {
  for (std::atomic<char*>& place : unfinished) {
    if (const char* name = place.exchange(nullptr)) unlink(name);
  }
}

}  // namespace sardonyx
