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
    std::shared_ptr<OrtAllocator> allocator;  // a program's own is never released
  };
  mutable std::mutex mutex;
  std::vector<SharedAllocator> allocators;

  OrtEnv(sardonyx::ort_abi::LogDestination destination, OrtLoggingLevel level, std::string id)
      : logger(destination, level, std::move(id)) {}

  // The one for ordinary memory of the CPU; null where none was registered.
  std::shared_ptr<OrtAllocator> cpu_allocator() const;
};

namespace sardonyx::ort_abi {

// Of the environment that there is; throws where there is none.
OrtKeyValuePairs::Entries env_config_entries();

}  // namespace sardonyx::ort_abi
