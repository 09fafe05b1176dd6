// The environment: one for the process, counted.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/logging.h"
#include "executor/ort_abi/threading.h"
#include "executor/ort_abi/values/memory_info.h"

struct OrtEnv {
  OrtLogger logger;
  OrtKeyValuePairs config;
  std::shared_ptr<sardonyx::ThreadPool> pool;  // for sessions without threads of their own
  int pool_threads = 0;
  bool has_pool = false;

  // Memory that was registered for sharing, by where it is.
  struct SharedAllocator {
    OrtMemoryInfo info;
    OrtAllocator* allocator;
    bool is_ours;  // to be released with its entry
  };
  std::mutex mutex;
  std::vector<SharedAllocator> allocators;

  OrtEnv(sardonyx::ort_abi::LogDestination destination, OrtLoggingLevel level, std::string id)
      : logger(destination, level, std::move(id)) {}
  ~OrtEnv();
};

namespace sardonyx::ort_abi {

// Of the environment that there is; throws where there is none.
OrtKeyValuePairs::Entries env_config_entries();

}  // namespace sardonyx::ort_abi
