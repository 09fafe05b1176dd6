// Runs a model on all rows of some files and writes what it gives, part by part.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/onnx-run/model_options.h"
#include "tools/onnx-run/score/part.h"
#include "tools/onnx-run/score/score_inputs.h"
#include "tools/onnx-run/score/shard.h"

namespace sardonyx::tool {

struct ScoreOptions {
  std::filesystem::path model, folder;
  ModelOptions loading;
  ScoreInputOptions inputs;
  std::vector<std::string> outputs;  // values by name; empty: the model's outputs
  int64_t batch = 0;                 // rows of a run; 0: from what a row takes
  int64_t part_rows = 0;             // rows of a part; 0: from what a row takes
  PartFormat format = PartFormat::kNpz;
  Shard shard;
};

struct ScoreReport {
  int64_t rows = 0, parts = 0;              // of the job
  int64_t shard_rows = 0, shard_parts = 0;  // of this shard
  int64_t scored_rows = 0, scored_parts = 0;
  double seconds = 0;        // of scoring, without loading
  bool is_complete = false;  // all parts of all shards are done: manifest.json is there
};

// Parts of the shard that are done are passed over, so that a run that was stopped at any moment
// goes on where it was. Obeys the current RunControl; errors are as those of `onnx-run run`.
ScoreReport score(const ScoreOptions& options);

}  // namespace sardonyx::tool
