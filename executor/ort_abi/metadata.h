// What a handle to a model's metadata holds.
#pragma once

#include "executor/session.h"

struct OrtModelMetadata {
  sardonyx::ModelMetadata metadata;
  bool names_version;  // has the file a model_version?
};
