// The folder of a scoring job: what it is about, which parts of it are done.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/onnx-run/score/part.h"

namespace sardonyx::tool {

// Files in the folder, all written beside and renamed:
//   job.json            model, options and inputs; written by whoever comes first
//   part-K.npz or .csv  outputs of rows [K * part_rows, (K + 1) * part_rows)
//   part-K.json         written after it: its rows, size and digest. With it the part is done
//   manifest.json       written when all parts are done: the job and all of these
// Parts are the same for any number of shards, and the same job writes the same bytes.
class ScoreJob {
 public:
  explicit ScoreJob(std::filesystem::path folder, PartFormat format)
      : folder_(std::move(folder)), format_(format) {}

  // What job.json says; nothing where there is none yet. Throws kInvalidArgument where it can't be
  // read.
  std::optional<nlohmann::ordered_json> stored() const;
  // Makes the folder and writes job.json, unless it is there; then it must say the same: throws
  // UsageError naming the first difference.
  void begin(const nlohmann::ordered_json& job);

  bool is_done(int64_t part, int64_t rows) const;
  // Where somebody else finished the part at the same time, that is as good.
  void write(int64_t number, int64_t first_row, const Part& part) const;
  // Writes manifest.json where every one of `parts` is done, and removes what killed processes
  // left. False where some part is not done.
  bool finish(int64_t parts, const std::function<int64_t(int64_t part)>& rows_of) const;

 private:
  std::filesystem::path part_file(int64_t part) const;
  std::filesystem::path note_file(int64_t part) const;
  void try_write(int64_t number, int64_t first_row, const Part& part) const;
  std::optional<nlohmann::ordered_json> note_of(int64_t part, int64_t rows) const;
  void remove_leftovers() const;
  void write_manifest(const std::string& text) const;

  std::filesystem::path folder_;
  PartFormat format_;
};

}  // namespace sardonyx::tool
