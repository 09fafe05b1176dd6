#include "tools/onnx-run/score/score_inputs.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <span>

#include "executor/weights/content_hash.h"
#include "ir/ops/image_decoder/image_files.h"
#include "onnx_io/arrays/byte_source.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/input_files.h"
#include "tools/onnx-run/input_options.h"
#include "tools/onnx-run/score/parquet_source.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

enum class RowFormat { kNpz, kNpy, kCsv, kRaw, kImage, kParquet, kUnknown };

RowFormat row_format_of(const fs::path& file) {
  static constexpr std::pair<std::string_view, RowFormat> kEndings[] = {
      {".npz", RowFormat::kNpz},         {".npy", RowFormat::kNpy}, {".csv", RowFormat::kCsv},
      {".tsv", RowFormat::kCsv},         {".bin", RowFormat::kRaw}, {".raw", RowFormat::kRaw},
      {".parquet", RowFormat::kParquet},
  };
  if (ops::is_image_file(file)) return RowFormat::kImage;
  const std::string ending = lower_ending(file);
  for (const auto& [known, format] : kEndings) {
    if (ending == known) return format;
  }
  return RowFormat::kUnknown;
}

// Whether files of it tell which inputs they feed.
bool is_table(RowFormat format) {
  return format == RowFormat::kNpz || format == RowFormat::kCsv || format == RowFormat::kParquet;
}

void check_format(const fs::path& file) {
  const RowFormat format = row_format_of(file);
  if (format == RowFormat::kUnknown) {
    fail_usage(file.string(),
               ": no ending that is known; rows come from .npz, .npy, .csv, .tsv, .bin, .raw and "
               "images");
  }
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const RowFormat format = row_format_of(entry.path());
    if (!entry.is_regular_file() || format == RowFormat::kUnknown) continue;
    files.push_back(entry.path());
  }
  return files;
}

std::vector<fs::path> files_of(const std::string& pattern) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_directory(pattern, error)) {
    files = files_below(pattern);
  } else if (fs::exists(pattern, error)) {
    files.emplace_back(pattern);
  } else {
    glob_t found{};
    glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
    for (size_t i = 0; i < found.gl_pathc; ++i)
      files.emplace_back(found.gl_pathv[i]);
    globfree(&found);
  }
  if (files.empty()) fail_usage("--input: '", pattern, "' has no file");
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.native(); });
  std::ranges::for_each(files, check_format);
  return files;
}

// Sizes and the first and last bytes: enough to tell that data was written anew, and read in no
// time.
std::string digest_of_files(const std::vector<fs::path>& files, bool looks_inside) {
  std::string bytes;
  for (const fs::path& file : files) {
    bytes += file.filename().string() + '\0';
    if (!looks_inside) {
      bytes += std::to_string(fs::file_size(file)) + '\0';
      continue;
    }
    const std::unique_ptr<ByteSource> source = file_source(file);
    bytes += std::to_string(source->size()) + '\0';
    constexpr uint64_t kEnd = uint64_t{64} << 10;
    const auto piece = static_cast<size_t>(std::min(kEnd, source->size()));
    std::string ends(2 * piece, '\0');
    source->read(0, ends.data(), piece);
    source->read(source->size() - piece, ends.data() + piece, piece);
    bytes += ends;
  }
  return digest_of(bytes);
}

struct NamedPattern {
  std::string name, pattern;
};

NamedPattern named_pattern(const std::string& argument) {
  const NamedFile named = parse_named_file(argument);
  return {named.name, named.file.string()};
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  const ContentHash hash = content_hash(std::as_bytes(std::span(bytes)));
  std::array<char, 33> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash[1]), static_cast<unsigned long long>(hash[0]));
  return digits.data();
}

ScoreInputs::ScoreInputs(const ScoreInputOptions& options, const Runner& runner)
    : options_(options), runner_(runner) {
  InputOptions dims;
  dims.dims = options.dims;
  sizes_ = random_inputs(dims).dims;
  check_symbols(sizes_, runner);
  read_constants();
  std::vector<std::string> named;
  for (const std::string& input : options.inputs) {
    if (input.find("=@") != std::string::npos) named.push_back(input);
  }
  if (!named.empty() && named.size() != options.inputs.size())
    fail_usage("--input: NAME=@PATTERN and patterns without a name can't be combined");
  if (named.empty())
    std::ranges::for_each(options.inputs, [&](const std::string& one) { add_pattern(one); });
  else
    add_named_patterns(named);
  for (Unit& unit : units_)
    unit.digest = digest_of_files(unit.files, !unit.is_images);
}

void ScoreInputs::read_constants() {
  InputOptions inputs;
  inputs.files = options_.constants;
  inputs.dims = options_.dims;
  for (const std::string& argument : options_.constants) {
    const NamedFile named = parse_named_file(argument);
    const ValueInfo& input = row_input_named(runner_, named.name, "--constant");
    const std::string ending = named.file.extension().string();
    const Shape shape = ending == ".npy" || ending == ".pb" || !input.type.is_tensor()
                            ? Shape()
                            : shape_of(input, random_inputs(inputs));
    constants_.insert_or_assign(named.name, read_input_file(named.file, input, shape));
    options_.csv.constants.push_back(named.name);
  }
}

// The input that a file feeds which does not tell names.
std::string ScoreInputs::only_input(const std::string& file) const {
  std::string name;
  for (const ValueInfo& input : runner_.inputs()) {
    if (constants_.contains(input.name)) continue;
    if (!name.empty()) {
      fail_usage(file, ": the model has several inputs; say --input NAME=@", file,
                 " for each of them, or --constant");
    }
    name = input.name;
  }
  if (name.empty()) fail_usage(file, ": the model has no input that rows could feed");
  return name;
}

void ScoreInputs::add_pattern(const std::string& pattern) {
  for (const fs::path& file : files_of(pattern)) {
    const RowFormat format = row_format_of(file);
    const bool tells_names = is_table(format);
    if (format == RowFormat::kImage && !units_.empty() && units_.back().is_images) {
      units_.back().files.push_back(file);
      continue;
    }
    Unit& unit = units_.emplace_back();
    unit.label = file.string();
    unit.files = {file};
    unit.is_images = format == RowFormat::kImage;
    if (!tells_names) unit.names = {only_input(file.string())};
  }
}

void ScoreInputs::add_named_patterns(const std::vector<std::string>& patterns) {
  std::vector<std::vector<Unit>> by_input;
  for (const std::string& argument : patterns) {
    const NamedPattern named = named_pattern(argument);
    row_input_named(runner_, named.name, "--input");
    std::vector<Unit>& units = by_input.emplace_back();
    for (const fs::path& file : files_of(named.pattern)) {
      const RowFormat format = row_format_of(file);
      if (is_table(format)) {
        fail_usage("--input ", argument, ": ", file.string(),
                   " tells itself which inputs it feeds; leave out the name");
      }
      const bool is_image = format == RowFormat::kImage;
      if (is_image && !units.empty() && units.back().is_images)
        units.back().files.push_back(file);
      else
        units.push_back({file.string(), {file}, {named.name}, is_image, "", -1});
    }
    if (units.size() != by_input[0].size()) {
      fail_usage("--input ", argument, ": ", units.size(), " files, but '", patterns[0], "' has ",
                 by_input[0].size());
    }
  }
  for (size_t i = 0; i < by_input[0].size(); ++i) {
    Unit unit = by_input[0][i];
    for (size_t other = 1; other < by_input.size(); ++other) {
      const Unit& more = by_input[other][i];
      if (unit.is_images || more.is_images)
        fail_usage("--input: images feed a model that takes no other rows");
      unit.files.insert(unit.files.end(), more.files.begin(), more.files.end());
      unit.names.insert(unit.names.end(), more.names.begin(), more.names.end());
    }
    units_.push_back(std::move(unit));
  }
}

void ScoreInputs::set_rows(const std::vector<int64_t>& rows) {
  SARDONYX_CHECK(rows.size() == units_.size());
  for (size_t i = 0; i < rows.size(); ++i)
    units_[i].rows = rows[i];
  // The first table says in which order columns are taken.
  for (size_t i = 0; i < units_.size() && columns_.empty(); ++i) {
    const Unit& unit = units_[i];
    const RowFormat format = row_format_of(unit.files[0]);
    if (format == RowFormat::kCsv || format == RowFormat::kParquet)
      check_columns(unit, open(i)->column_names());
  }
}

// Columns that are taken by their places must mean the same in all files.
void ScoreInputs::check_columns(const Unit& unit, const std::vector<std::string>& names) {
  if (names.empty()) return;
  if (columns_.empty()) {
    columns_ = options_.csv.order = names;
    columns_from_ = unit.label;
    return;
  }
  for (size_t i = 0; i < std::min(names.size(), columns_.size()); ++i) {
    if (names[i] == columns_[i]) continue;
    fail_usage(unit.label, ": column '", names[i], "' is where ", columns_from_, " has '",
               columns_[i], "', and columns are taken by their places; name them by --columns");
  }
}

void ScoreInputs::count_rows() {
  for (Unit& unit : units_) {
    if (unit.rows >= 0) continue;
    const std::unique_ptr<RowSource> source = open(static_cast<size_t>(&unit - units_.data()));
    check_columns(unit, source->column_names());
    unit.rows = source->rows();
  }
}

int64_t ScoreInputs::rows() const {
  int64_t rows = 0;
  for (const Unit& unit : units_)
    rows += unit.rows;
  return rows;
}

std::unique_ptr<RowSource> ScoreInputs::open_one(const fs::path& file,
                                                 const std::string& name) const {
  const ValueInfo& input = row_input_named(runner_, name, file.string());
  if (row_format_of(file) == RowFormat::kNpy) return npy_source(file, input);
  return raw_source(file, input, sizes_);
}

std::unique_ptr<RowSource> ScoreInputs::open(size_t index) const {
  const Unit& unit = units_.at(index);
  if (unit.is_images)
    return image_source(unit.files, row_input_named(runner_, unit.names[0], unit.label), sizes_);
  if (unit.names.empty()) {
    const RowFormat format = row_format_of(unit.files[0]);
    if (format == RowFormat::kNpz) return npz_source(unit.files[0], runner_);
    if (format == RowFormat::kParquet) return parquet_source(unit.files[0], runner_, options_.csv);
    return csv_source(unit.files[0], runner_, options_.csv, unit.rows);
  }
  std::vector<std::unique_ptr<RowSource>> sources;
  for (size_t i = 0; i < unit.files.size(); ++i)
    sources.push_back(open_one(unit.files[i], unit.names[i]));
  return joined_source(std::move(sources), unit.label);
}

}  // namespace sardonyx::tool
