// SessionOptions and RunOptions as users of onnxruntime know them.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <mutex>
#include <string>

#include "executor/ort_abi/lora.h"
#include "executor/ort_abi/session_options.h"
#include "executor/session.h"

namespace sardonyx::python {

// Numbers are those of onnxruntime.GraphOptimizationLevel and ExecutionMode.
enum class GraphOptimizationLevel {
  kDisableAll = 0,
  kBasic = 1,
  kExtended = 2,
  kLayout = 3,
  kAll = 99
};
enum class ExecutionMode { kSequential = 0, kParallel = 1 };
enum class ExecutionOrder { kDefault = 0, kPriorityBased = 1, kMemoryEfficient = 2 };

using ConfigEntries = std::map<std::string, std::string>;

// What a session is made with. Switches of ONNX Runtime's that have no counterpart here (memory
// patterns, arenas, execution mode) are kept and read back, and change nothing.
struct PySessionOptions {
  int intra_op_num_threads = 0;  // 0: as many as the machine leaves the process
  int inter_op_num_threads = 0;
  GraphOptimizationLevel graph_optimization_level = GraphOptimizationLevel::kAll;
  ExecutionMode execution_mode = ExecutionMode::kSequential;
  ExecutionOrder execution_order = ExecutionOrder::kDefault;
  bool enable_profiling = false;
  std::string profile_file_prefix = "onnxruntime_profile_";
  std::string optimized_model_filepath;
  int log_severity_level = -1;  // 0 verbose, 1 info, 2 warning, 3 error, 4 fatal; -1: the process's
  int log_verbosity_level = 0;
  std::string logid;
  bool enable_mem_pattern = true, enable_cpu_mem_arena = true, enable_mem_reuse = true;
  bool use_deterministic_compute = false, use_per_session_threads = true;
  ConfigEntries config;
  ort_abi::FixedDims fixed_dims;
  std::shared_ptr<OrtSessionOptions> op_libraries;  // what libraries of operators registered; null
  // Of the library alone.
  size_t memory_limit = SessionOptions().memory_limit;  // bytes
  std::string precision = "float32";                    // or "bfloat16"
  std::string plan_cache;
  bool strict = false;
  LoadOptions::NamedTensors initializers, external_files;

  SessionOptions made() const;
};

// What a run is given. `terminate` ends the runs that use the object, now and later, until it is
// set to False.
class PyRunOptions {
 public:
  int log_severity_level = -1, log_verbosity_level = 0;
  std::string logid;
  bool only_execute_path_to_fetches = false;
  ConfigEntries config;
  std::vector<std::shared_ptr<const OrtLoraAdapter>> adapters;
  double deadline = 0;  // seconds; 0: none

  bool terminate() const;
  void set_terminate(bool terminate);
  RunOptions made() const;

 private:
  mutable std::mutex mutex_;
  std::stop_source stop_;
};

// The severity of sessions that choose none, as log_severity_level counts.
void set_default_severity(int severity);

void bind_options(pybind11::module_& module);

}  // namespace sardonyx::python
