#include "tools/onnx-run/feeds.h"

#include <algorithm>
#include <charconv>

#include "onnx_io/tensor_file.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

// Files or folders "STEMk" + suffix, by k.
std::vector<std::pair<int, fs::path>> numbered(const fs::path& folder, std::string_view stem,
                                               std::string_view suffix) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(stem) || !name.ends_with(suffix)) continue;
    const char* end = name.data() + name.size() - suffix.size();
    int number = 0;
    const auto [stop, problem] = std::from_chars(name.data() + stem.size(), end, number);
    if (problem == std::errc() && stop == end) found.emplace_back(number, entry.path());
  }
  if (error) fail(ErrorCode::kInvalidArgument, folder.string(), ": ", error.message());
  std::ranges::sort(found);
  return found;
}

const ValueInfo* find(std::span<const ValueInfo> values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &ValueInfo::name);
  return found == values.end() ? nullptr : &*found;
}

// A file of unknown kind: a tensor, or what the input of the same name declares.
NamedDatum read_named(const fs::path& file, const Runner& runner) {
  std::vector<ValueInfo> inputs(runner.inputs().begin(), runner.inputs().end());
  inputs.insert(inputs.end(), runner.optional_inputs().begin(), runner.optional_inputs().end());
  for (const ValueInfo& input : inputs) {
    if (input.type.is_tensor() || input.type.is_none()) continue;
    try {
      NamedDatum named = read_tensor_file(file, input.type);
      if (named.name == input.name) return named;
    } catch (const Error&) {
      // Not of this kind; it may be of another input's.
    }
  }
  return read_tensor_file(file);
}

void check_feed(const ValueInfo& input, const Datum& datum) {
  const Type given = datum.type();
  bool fits = same_kind(input.type, given);
  if (fits && input.type.is_tensor() && input.type.has_rank() && given.has_rank()) {
    fits = input.type.rank() == given.rank();
    for (size_t axis = 0; fits && axis < given.rank(); ++axis) {
      const Dim& declared = (*input.type.shape)[axis];
      fits = !declared.is_known() || declared == (*given.shape)[axis];
    }
  }
  if (!fits) {
    fail(ErrorCode::kInvalidArgument, "input '", input.name, "': expected ", input.type, ", got ",
         given);
  }
}

}  // namespace

std::vector<Datum> read_by_position(const fs::path& folder, std::string_view stem,
                                    std::span<const ValueInfo> values) {
  const auto files = numbered(folder, stem, ".pb");
  std::vector<Datum> data;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i >= files.size() || files[i].first != static_cast<int>(i)) {
      fail(ErrorCode::kInvalidArgument, folder.string(), ": ", stem, i,
           ".pb is missing; the model has ", values.size(), " of them");
    }
    data.push_back(read_tensor_file(files[i].second, values[i].type).value);
  }
  if (files.size() > values.size()) {
    fail(ErrorCode::kInvalidArgument, folder.string(), ": ", files.size(), " files ", stem,
         "*.pb, but the model has ", values.size());
  }
  return data;
}

NamedData read_by_name(const fs::path& folder, const Runner& runner) {
  NamedData feeds;
  for (const auto& [number, file] : numbered(folder, "input_", ".pb")) {
    NamedDatum named = read_named(file, runner);
    const ValueInfo* input = find(runner.inputs(), named.name);
    if (!input) input = find(runner.optional_inputs(), named.name);
    if (!input) {
      std::string names;
      for (const ValueInfo& known : runner.inputs())
        names += (names.empty() ? "" : ", ") + ("'" + known.name + "'");
      fail(ErrorCode::kInvalidArgument, file.string(), ": the model has no input named '",
           named.name, "'; its inputs are ", names.empty() ? "none" : names);
    }
    if (feeds.contains(named.name)) {
      fail(ErrorCode::kInvalidArgument, file.string(), ": input '", named.name,
           "' is given twice, duplicate of an earlier file");
    }
    feeds.emplace(named.name, std::move(named.value));
  }
  return feeds;
}

std::vector<fs::path> data_sets_in(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (const auto& [number, path] : numbered(folder, "test_data_set_", ""))
    sets.push_back(path);
  return sets;
}

void check_feeds(const Runner& runner, const NamedData& feeds) {
  std::map<std::string, std::pair<int64_t, std::string>>
      sizes;  // of symbols, and where they came from
  for (const auto& [name, datum] : feeds) {
    const ValueInfo* input = find(runner.inputs(), name);
    if (!input) input = find(runner.optional_inputs(), name);
    if (!input) fail(ErrorCode::kInvalidArgument, "the model has no input named '", name, "'");
    check_feed(*input, datum);
    if (!datum.is_tensor() || !input->type.has_rank()) continue;
    for (size_t axis = 0; axis < input->type.rank(); ++axis) {
      const Dim& declared = (*input->type.shape)[axis];
      if (declared.is_known()) continue;
      const int64_t size = datum.tensor().shape()[axis];
      const auto [known, is_new] =
          sizes.try_emplace(declared.text(), size, text("axis ", axis, " of input '", name, "'"));
      if (is_new || known->second.first == size) continue;
      fail(ErrorCode::kInvalidArgument, "dimension '", declared, "' is ", size, " at axis ", axis,
           " of input '", name, "', but ", known->second.first, " at ", known->second.second);
    }
  }
}

}  // namespace sardonyx::tool
