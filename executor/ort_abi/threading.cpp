#include "executor/ort_abi/threading.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

// Threads that the program made, which take what is submitted until they are told to end.
class CustomWorkers {
 public:
  CustomWorkers(const CustomThreads& custom, int count) : custom_(custom), process_(getpid()) {
    handles_.reserve(count);
    for (int i = 0; i < count; ++i) {
      OrtCustomThreadHandle handle = custom_.create(custom_.creation_options, work, this);
      if (!handle) break;  // one that there is not is done without
      handles_.push_back(handle);
    }
  }
  ~CustomWorkers() {
    if (process_ != getpid()) return;  // a forked child has none of them
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (OrtCustomThreadHandle handle : handles_)
      custom_.join(handle);
  }
  CustomWorkers(const CustomWorkers&) = delete;
  CustomWorkers& operator=(const CustomWorkers&) = delete;

  static void submit(void* self, void (*task)(void*), void* argument) {
    auto& workers = *static_cast<CustomWorkers*>(self);
    {
      const std::lock_guard lock(workers.mutex_);
      workers.tasks_.push_back({task, argument});
    }
    workers.changed_.notify_one();
  }
  static int concurrency(void* self) {
    return static_cast<int>(static_cast<CustomWorkers*>(self)->handles_.size()) + 1;
  }

 private:
  struct Task {
    void (*work)(void*);
    void* argument;
  };

  static void work(void* self) { static_cast<CustomWorkers*>(self)->loop(); }
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const Task task = tasks_.front();
      tasks_.pop_front();
      lock.unlock();
      task.work(task.argument);
      lock.lock();
    }
  }

  CustomThreads custom_;
  int process_;
  std::vector<OrtCustomThreadHandle> handles_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool ends_ = false;
};

// The pool goes before the threads that serve it.
struct CustomPool {
  CustomWorkers workers;
  std::shared_ptr<ThreadPool> pool;

  CustomPool(const CustomThreads& custom, int count) : workers(custom, count) {
    pool = make_thread_pool({&workers, CustomWorkers::submit, CustomWorkers::concurrency});
  }
};

}  // namespace

int thread_count(int asked) {
  return std::clamp(asked, 0, kMaxThreads);
}

std::shared_ptr<ThreadPool> made_pool(const CustomThreads& custom, int threads, int more,
                                      bool is_apart) {
  if (!custom.create && !custom.join) return is_apart ? make_thread_pool() : process_thread_pool();
  if (!custom.create || !custom.join) {
    refuse(ORT_INVALID_ARGUMENT,
           "custom threads: expected a function that creates and one that joins, got one of them");
  }
  const int count = threads > 0 ? threads : process_thread_pool()->concurrency();
  auto made = std::make_shared<CustomPool>(custom, count - 1 + more);
  return {made, made->pool.get()};
}

OrtStatus* Functions::CreateThreadingOptions(OrtThreadingOptions** out) {
  return guarded([&] { make_at(out, "out"); });
}

void Functions::ReleaseThreadingOptions(OrtThreadingOptions* input) {
  delete input;
}

OrtStatus* Functions::SetGlobalIntraOpNumThreads(OrtThreadingOptions* tp_options,
                                                 int intra_op_num_threads) {
  return guarded(
      [&] { require(tp_options, "tp_options").intra_op_threads = intra_op_num_threads; });
}

OrtStatus* Functions::SetGlobalInterOpNumThreads(OrtThreadingOptions* tp_options,
                                                 int inter_op_num_threads) {
  return guarded(
      [&] { require(tp_options, "tp_options").inter_op_threads = inter_op_num_threads; });
}

// Threads of ours wait awake for microseconds and then asleep, whatever is asked for.
OrtStatus* Functions::SetGlobalSpinControl(OrtThreadingOptions* tp_options, int allow_spinning) {
  return guarded([&] {
    OrtThreadingOptions& options = require(tp_options, "tp_options");
    if (allow_spinning != 0 && allow_spinning != 1) {
      refuse(ORT_INVALID_ARGUMENT,
             "Received invalid value for allow_spinning. Valid values are 0 or 1");
    }
    options.allows_spinning = allow_spinning == 1;
  });
}

OrtStatus* Functions::SetGlobalDenormalAsZero(OrtThreadingOptions* tp_options) {
  return guarded([&] { require(tp_options, "tp_options").has_denormals_as_zero = true; });
}

OrtStatus* Functions::SetGlobalIntraOpThreadAffinity(OrtThreadingOptions* tp_options,
                                                     const char* affinity_string) {
  return guarded([&] {
    constexpr size_t kLongest = 4096;
    OrtThreadingOptions& options = require(tp_options, "tp_options");
    if (!affinity_string) refuse(ORT_INVALID_ARGUMENT, "Received null affinity_string");
    const size_t length = std::strlen(affinity_string);
    if (length == 0 || length > kLongest) {
      refuse(ORT_INVALID_ARGUMENT, "Size of affinity string must be between 1 and ", kLongest);
    }
    options.affinity = affinity_string;
  });
}

OrtStatus* Functions::SetGlobalCustomCreateThreadFn(
    OrtThreadingOptions* tp_options, OrtCustomCreateThreadFn ort_custom_create_thread_fn) {
  return guarded(
      [&] { require(tp_options, "tp_options").custom.create = ort_custom_create_thread_fn; });
}

OrtStatus* Functions::SetGlobalCustomThreadCreationOptions(
    OrtThreadingOptions* tp_options, void* ort_custom_thread_creation_options) {
  return guarded([&] {
    require(tp_options, "tp_options").custom.creation_options = ort_custom_thread_creation_options;
  });
}

OrtStatus* Functions::SetGlobalCustomJoinThreadFn(OrtThreadingOptions* tp_options,
                                                  OrtCustomJoinThreadFn ort_custom_join_thread_fn) {
  return guarded(
      [&] { require(tp_options, "tp_options").custom.join = ort_custom_join_thread_fn; });
}

}  // namespace sardonyx::ort_abi
