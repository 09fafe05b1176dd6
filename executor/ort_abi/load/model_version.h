// What a model's file says and our graph does not keep.
#pragma once

#include "executor/ort_abi/load/load_session.h"

namespace sardonyx::ort_abi {

// Is there a model_version in the file, be it 0?
bool names_model_version(const ModelSource& source);

}  // namespace sardonyx::ort_abi
