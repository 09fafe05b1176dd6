// Threads as options ask for them, and the pools made of them.
#pragma once

#include <memory>
#include <string>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/core/threading/thread_pool.h"

namespace sardonyx::ort_abi {

// How the program makes threads of its own for a pool; without functions it does not.
struct CustomThreads {
  OrtCustomCreateThreadFn create = nullptr;
  void* creation_options = nullptr;
  OrtCustomJoinThreadFn join = nullptr;
};

// For `threads` threads at a time, the calling one included (0: as many as the machine leaves), and
// `more` of the program's that are to be there.
// `create` is called once for each of the others, at once, and `join` when the pool ends. Without
// these the pool of the process, or one of its own where `is_apart`. Throws kInvalidArgument where
// there is but one of the two functions.
std::shared_ptr<ThreadPool> made_pool(const CustomThreads& custom, int threads, int more,
                                      bool is_apart);

// What ONNX Runtime takes a number of threads for: 0 and less are its choice.
int thread_count(int asked);

}  // namespace sardonyx::ort_abi

struct OrtThreadingOptions {
  int intra_op_threads = 0, inter_op_threads = 0;
  bool allows_spinning = true, has_denormals_as_zero = false;
  std::string affinity;
  sardonyx::ort_abi::CustomThreads custom;
};
