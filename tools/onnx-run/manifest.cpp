#include "tools/onnx-run/manifest.h"

#include <charconv>
#include <fstream>

#include "ir/core/error.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

namespace {

std::optional<double> number_in(const std::string& field, const std::string& where) {
  if (field.empty()) return std::nullopt;
  double value = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0))
    fail(ErrorCode::kInvalidArgument, where, ": expected a tolerance, got '", field, "'");
  return value;
}

}  // namespace

Manifest::Manifest(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line))
    fail(ErrorCode::kInvalidArgument, file.string(), ": cannot be read, or is empty");
  std::map<std::string, size_t> columns;
  for (const std::string& name : csv_fields(line))
    columns.emplace(name, columns.size());
  if (!columns.contains("case"))
    fail(ErrorCode::kInvalidArgument, file.string(), ": the first line names no column 'case'");
  has_groups_ = columns.contains("group");
  for (int number = 2; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = csv_fields(line);
    const auto field = [&](const std::string& column) {
      const auto found = columns.find(column);
      return found != columns.end() && found->second < fields.size() ? fields[found->second]
                                                                     : std::string();
    };
    const std::string where = text(file.string(), ":", number);
    Row row{.rtol = number_in(field("rtol"), where),
            .atol = number_in(field("atol"), where),
            .relative_to_max = number_in(field("relative_to_max"), where),
            .random = field("random") == "1"};
    rows_.emplace(has_groups_ ? field("group") + "/" + field("case") : field("case"), row);
  }
}

Judgement Manifest::judgement_of(const fs::path& case_folder, const Judgement& otherwise) const {
  std::string key = case_folder.filename().string();
  if (has_groups_) key = case_folder.parent_path().filename().string() + "/" + key;
  const auto found = rows_.find(key);
  if (found == rows_.end()) return otherwise;
  const Row& row = found->second;
  const Tolerance& tolerance = otherwise.tolerance;
  return {.tolerance = {.rtol = row.rtol.value_or(tolerance.rtol),
                        .atol = row.atol.value_or(tolerance.atol),
                        .relative_to_max = row.relative_to_max.value_or(tolerance.relative_to_max)},
          .random = row.random};
}

const Manifest* Manifests::nearest(const fs::path& folder) {
  for (fs::path above = folder;; above = above.parent_path()) {
    auto [place, is_new] = by_folder_.try_emplace(above);
    std::error_code ignored;
    if (is_new && fs::is_regular_file(above / "MANIFEST.csv", ignored))
      place->second.emplace(above / "MANIFEST.csv");
    if (place->second) return &*place->second;
    if (above == above.parent_path()) return nullptr;
  }
}

Judgement Manifests::judgement_of(const fs::path& case_folder, const Judgement& otherwise) {
  const fs::path absolute = fs::absolute(case_folder).lexically_normal();
  const Manifest* manifest = nearest(absolute.parent_path());
  return manifest ? manifest->judgement_of(absolute, otherwise) : otherwise;
}

}  // namespace sardonyx::tool
