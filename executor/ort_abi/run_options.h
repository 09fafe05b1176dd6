// What a run is to be done with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/c_api/cancellation.h"
#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/table/ort_c_api.h"

struct OrtRunOptions {
  int log_severity = -1, log_verbosity = 0;  // -1: the session's
  std::string tag;
  OrtKeyValuePairs config;
  std::optional<std::string> profile_prefix;
  std::vector<const OrtLoraAdapter*> adapters;
  // May be requested while runs are under way, and taken back for later ones.
  mutable sx_cancellation termination;
};
