// MANIFEST.csv: tolerances of test cases.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/value_compare.h"

namespace sardonyx::tool {

// How the outputs of a case are judged.
struct Judgement {
  Tolerance tolerance;
  bool random = false;  // the values come from a random generator: only their look can be judged
};

class Manifest {
 public:
  // Columns are found by name: `case` (needed), `group`, `rtol`, `atol`, `relative_to_max`,
  // `random`. Throws kInvalidArgument naming file and line.
  explicit Manifest(const std::filesystem::path& file);

  // The row of a case folder: its name stands in `case`, and the name of the folder above it in
  // `group` where there is such a column. Empty cells, and a case without a row, take `otherwise`.
  Judgement judgement_of(const std::filesystem::path& case_folder,
                         const Judgement& otherwise) const;

 private:
  struct Row {
    std::optional<double> rtol, atol, relative_to_max;
    bool random = false;
  };
  bool has_groups_ = false;
  std::map<std::string, Row> rows_;  // by "group/case" or "case"
};

// Finds the nearest MANIFEST.csv above a case; reads each file once.
class Manifests {
 public:
  Judgement judgement_of(const std::filesystem::path& case_folder, const Judgement& otherwise);

 private:
  const Manifest* nearest(const std::filesystem::path& folder);
  std::map<std::filesystem::path, std::optional<Manifest>> by_folder_;
};

// The fields of one line; quotes as in RFC 4180, without line breaks inside them.
std::vector<std::string> csv_fields(const std::string& line);

}  // namespace sardonyx::tool
