// A program's choice of devices.
#pragma once

#include "executor/model_metadata.h"
#include "executor/ort_abi/table/ort_c_api.h"

namespace sardonyx::ort_abi {

// A function that chooses devices for a model, and what it is called with; null: none.
struct EpSelection {
  EpSelectionDelegate delegate = nullptr;
  void* state = nullptr;
};

// Has the program choose. Throws Failure where it fails, or chooses none or too many; whatever else
// it chooses, there is the CPU.
void select_devices(const EpSelection& selection, const ModelMetadata& metadata);

}  // namespace sardonyx::ort_abi
