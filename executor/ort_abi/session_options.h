// What a session is to be made with.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "executor/ort_abi/ep/ep_selection.h"
#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/logging.h"
#include "executor/ort_abi/threading.h"
#include "executor/ort_abi/values/value.h"
#include "onnx_io/load.h"

namespace sardonyx::ort_abi {

// A function of the program's that gives the bytes of a name, and what it is called with.
struct NamedBufferRead {
  OrtReadNamedBufferFunc function = nullptr;
  void* state = nullptr;
};

// Sizes for dimensions of inputs, by their names and by what they are denoted as ("DATA_BATCH").
struct FixedDims {
  std::map<std::string, int64_t> by_name, by_denotation;
  bool empty() const { return by_name.empty() && by_denotation.empty(); }
};

}  // namespace sardonyx::ort_abi

struct OrtSessionOptions {
  ExecutionMode execution_mode = ORT_SEQUENTIAL;
  GraphOptimizationLevel optimization_level = ORT_ENABLE_ALL;
  int intra_op_threads = 0, inter_op_threads = 0;
  bool has_own_threads = true;
  bool uses_memory_pattern = true, uses_arena = true, is_deterministic = false;
  bool appends_cpu = false;  // as a provider by name
  std::string log_id;
  int log_severity = -1, log_verbosity = 0;                  // -1: the environment's
  std::optional<sardonyx::ort_abi::LogDestination> logging;  // none: the environment's
  std::optional<std::string> profile_prefix;
  std::string optimized_model_path;  // "": is not written
  OrtKeyValuePairs config;
  sardonyx::ort_abi::FixedDims fixed_dims;
  sardonyx::LoadOptions::NamedTensors initializers;  // in place of the model's, by name
  sardonyx::LoadOptions::NamedTensors external_files;
  sardonyx::ort_abi::CustomThreads custom_threads;
  std::vector<const OrtCustomOpDomain*> custom_domains;
  std::vector<std::shared_ptr<void>> libraries;  // that have the operators of the domains
  sardonyx::ort_abi::EpSelection selection;
  sardonyx::ort_abi::NamedBufferRead read_ep_context;
  std::span<const std::byte> weightless_source;  // the program's
  // Shared by copies: a load may be cancelled while it is under way.
  std::shared_ptr<std::stop_source> load_cancellation = std::make_shared<std::stop_source>();
};
