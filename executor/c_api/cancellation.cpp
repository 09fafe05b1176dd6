#include "executor/c_api/cancellation.h"

#include "executor/c_api/structs.h"

// Threads that read after the exchange see the new source, so old sources can be freed once no
// thread is still using one.
void sx_cancellation::reset() {
  const std::lock_guard lock(mutex_);
  if (!current_.load()->stop_requested()) return;
  replaced_.reserve(replaced_.size() + 1);
  auto made = std::make_unique<std::stop_source>();
  replaced_.emplace_back(current_.exchange(made.release()));
  if (users_.load() == 0) replaced_.clear();
}

using namespace sardonyx::c_api;  // NOLINT: the functions below are outside of every namespace

extern "C" {

sx_status sx_cancellation_create(sx_cancellation** cancellation) {
  return guarded([&] { make_at(cancellation, "cancellation"); });
}

void sx_cancellation_request(sx_cancellation* cancellation) {
  if (cancellation) cancellation->request();
}

sx_status sx_cancellation_reset(sx_cancellation* cancellation) {
  return guarded([&] { require(cancellation, "cancellation").reset(); });
}

void sx_cancellation_destroy(sx_cancellation* cancellation) {
  delete cancellation;
}

}  // extern "C"
