#include "ir/core/run_control.h"

#include "ir/core/error.h"

namespace sardonyx {
namespace {

thread_local const RunControl* t_control = nullptr;

bool is_late(const RunControl& control) {
  return control.deadline && std::chrono::steady_clock::now() > *control.deadline;
}

}  // namespace

void MemoryBudget::take(size_t bytes) {
  size_t used = used_.load();
  do {
    if (bytes > limit_ || used > limit_ - bytes) {
      fail(ErrorCode::kResourceExhausted, "memory limit of ", limit_, " bytes reached: ", used,
           " in use, ", bytes, " more asked for; raise the memory limit or give smaller inputs");
    }
  } while (!used_.compare_exchange_weak(used, used + bytes));
  size_t peak = peak_.load();
  while (peak < used + bytes && !peak_.compare_exchange_weak(peak, used + bytes)) {
  }
}

ControlScope::ControlScope(const RunControl& control) : previous_(t_control) {
  t_control = &control;
}
ControlScope::~ControlScope() {
  t_control = previous_;
}

const RunControl* current_control() {
  return t_control;
}

MemorySource* current_memory_source() {
  return t_control && t_control->budget ? t_control->budget->source() : nullptr;
}

void check_interrupted() {
  if (!t_control) return;
  if (t_control->cancel.stop_requested()) fail(ErrorCode::kCancelled, "cancelled by the caller");
  if (is_late(*t_control)) fail(ErrorCode::kDeadlineExceeded, "the deadline has passed");
}

bool is_interrupted() {
  return t_control && (t_control->cancel.stop_requested() || is_late(*t_control));
}

}  // namespace sardonyx
