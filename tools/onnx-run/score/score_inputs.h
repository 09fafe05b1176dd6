// What `onnx-run score` reads: files, in an order that every shard sees alike.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx-run/score/csv_source.h"
#include "tools/onnx-run/score/row_source.h"

namespace sardonyx::tool {

struct ScoreInputOptions {
  std::vector<std::string> inputs;     // "PATTERN" or "NAME=@PATTERN"
  std::vector<std::string> constants;  // "NAME=@FILE": the same for all rows
  std::vector<std::string> dims;       // "SYMBOL=SIZE"
  CsvSourceOptions csv;
};

// A pattern is a file, a folder (all files in it and below whose endings are known) or a pattern of
// the shell's. Files are taken in the order of the patterns, and those of one in the order of their
// bytes. By their ending: .npz (inputs by name), .csv, .tsv and .parquet (inputs by column), .npy,
// .bin and .raw (elements) and images, each image a row; the latter feed NAME, or the one input
// there is. Patterns with names give one input each, and their files are read in parallel: the
// first of each, then the second.
class ScoreInputs {
 public:
  // What is read as one: a file, files of several inputs, or the images that follow each other.
  struct Unit {
    std::string label;                         // the file's name, or the first and how many
    std::vector<std::filesystem::path> files;  // of one input, or one for each of `names`
    std::vector<std::string> names;            // inputs; empty: the files tell
    bool is_images = false;                    // each file is a row of names[0]
    std::string digest;  // of sizes and of the bytes at both ends: another one for other data
    int64_t rows = -1;   // below 0: not counted yet
  };

  // Throws UsageError where a pattern has no file, an ending is not known, or inputs do not fit.
  ScoreInputs(const ScoreInputOptions& options, const Runner& runner);

  const std::vector<Unit>& units() const { return units_; }
  // Takes the numbers of rows from somebody who counted before.
  void set_rows(const std::vector<int64_t>& rows);
  // Counts what is not counted yet, and checks what is opened for that.
  void count_rows();
  int64_t rows() const;  // of all; they must have been counted
  std::unique_ptr<RowSource> open(size_t unit) const;
  // Inputs that are the same for all rows.
  const NamedData& constants() const { return constants_; }

 private:
  void add_pattern(const std::string& pattern);
  void add_named_patterns(const std::vector<std::string>& patterns);
  void read_constants();
  void check_columns(const Unit& unit, const std::vector<std::string>& names);
  std::string only_input(const std::string& file) const;
  std::unique_ptr<RowSource> open_one(const std::filesystem::path& file,
                                      const std::string& name) const;

  ScoreInputOptions options_;
  const Runner& runner_;
  DimSizes sizes_;
  NamedData constants_;
  std::vector<Unit> units_;
  std::vector<std::string> columns_;  // of the first table
  std::string columns_from_;
};

// 32 hexadecimal digits for these bytes (XXH3).
std::string digest_of(std::string_view bytes);

}  // namespace sardonyx::tool
