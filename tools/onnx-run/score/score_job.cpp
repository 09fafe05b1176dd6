#include "tools/onnx-run/score/score_job.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "onnx_io/file_access.h"
#include "onnx_io/file_write.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/score/score_inputs.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
using nlohmann::ordered_json;
namespace {

constexpr std::string_view kPartStem = "part-";

std::string text_of_file(const fs::path& path) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const OpenFile file = open_regular(path);
  if (file.size > kMostBytes)
    fail(ErrorCode::kResourceExhausted, path.string(), ": ", file.size, " bytes of JSON");
  std::string text(static_cast<size_t>(file.size), '\0');
  read_exactly(file, 0, text.data(), text.size());
  return text;
}

ordered_json parse_json_file(const fs::path& path) {
  ordered_json parsed = ordered_json::parse(text_of_file(path), nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object())
    fail(ErrorCode::kInvalidArgument, path.string(),
         ": no JSON object; it was not written by score");
  return parsed;
}

std::string pretty(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string digest_of_file(const fs::path& path) {
  const OpenFile file = open_regular(path);
  if (file.size == 0) return digest_of("");
  const std::shared_ptr<Buffer> mapped = map_file(file);
  return digest_of({reinterpret_cast<const char*>(mapped->data()), mapped->size()});
}

}  // namespace

fs::path ScoreJob::part_file(int64_t part) const {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%08lld", static_cast<long long>(part));
  const char* ending = format_ == PartFormat::kCsv ? ".csv" : ".npz";
  return folder_ / (std::string(kPartStem) + digits.data() + ending);
}

fs::path ScoreJob::note_file(int64_t part) const {
  return part_file(part).replace_extension(".json");
}

std::optional<ordered_json> ScoreJob::stored() const {
  std::error_code error;
  if (!fs::exists(folder_ / "job.json", error)) return std::nullopt;
  return parse_json_file(folder_ / "job.json");
}

void ScoreJob::begin(const ordered_json& job) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_))
    fail(ErrorCode::kInvalidArgument, folder_.string(),
         ": no folder can be made: ", error.message());
  const fs::path file = folder_ / "job.json";
  if (!fs::exists(file)) {
    // A link, which fails where the name is taken: of several that begin, one is the first.
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    const fs::path own = folder_ / text("job.json.", host.data(), ".", getpid(), ".tmp");
    write_atomically(own, pretty(job));
    const int linked = link(own.c_str(), file.c_str());
    const int problem = errno;
    unlink(own.c_str());
    if (linked != 0 && problem != EEXIST) {
      // File systems without links: what a rename replaces is the same, but for a mistaken start.
      write_atomically(file, pretty(job));
    }
  }
  const ordered_json there = parse_json_file(file);
  const nlohmann::json differences =
      nlohmann::json::diff(nlohmann::json(there), nlohmann::json(job));
  if (differences.empty()) return;
  const auto pointer = nlohmann::json::json_pointer(differences[0].at("path").get<std::string>());
  const nlohmann::json theirs(there), ours(job);
  const auto value_at = [&](const nlohmann::json& from) {
    return from.contains(pointer) ? from.at(pointer).dump() : std::string("nothing");
  };
  fail_usage("--output ", folder_.string(), " holds another job: ", pointer.to_string(), " is ",
             value_at(theirs), " there, ", value_at(ours),
             " here; finish it with the same model, inputs and options, or use another folder");
}

// What is written of a part, if that is done.
std::optional<ordered_json> ScoreJob::note_of(int64_t part, int64_t rows) const {
  std::error_code error;
  const fs::path note = note_file(part);
  if (!fs::exists(note, error)) return std::nullopt;
  ordered_json parsed = ordered_json::parse(text_of_file(note), nullptr, false);
  if (!parsed.is_object() || parsed.value("part", int64_t{-1}) != part ||
      parsed.value("rows", int64_t{-1}) != rows)
    return std::nullopt;
  const uintmax_t bytes = fs::file_size(part_file(part), error);
  if (error || parsed.value("bytes", uintmax_t{0}) != bytes) return std::nullopt;
  return parsed;
}

bool ScoreJob::is_done(int64_t part, int64_t rows) const {
  return note_of(part, rows).has_value();
}

void ScoreJob::try_write(int64_t number, int64_t first_row, const Part& part) const {
  const fs::path file = part_file(number);
  write_part(file, format_, part, first_row);
  const ordered_json note = {{"part", number},
                             {"first_row", first_row},
                             {"rows", part.rows()},
                             {"file", file.filename().string()},
                             {"bytes", fs::file_size(file)},
                             {"digest", digest_of_file(file)}};
  write_atomically(note_file(number), pretty(note));
}

void ScoreJob::write(int64_t number, int64_t first_row, const Part& part) const {
  try {
    try_write(number, first_row, part);
  } catch (const Error& error) {
    // The same shard may run twice for a while, and the other process remove a file that it takes
    // for left over.
    const bool is_file_error = error.code() == ErrorCode::kInvalidArgument;
    if (!is_file_error || !is_done(number, part.rows())) throw;
  }
}

void ScoreJob::remove_leftovers() const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_own = name.starts_with(kPartStem) || name.starts_with("job.json.") ||
                        name.starts_with("manifest.json.");
    if (is_own && name.ends_with(".tmp")) fs::remove(entry.path(), error);
  }
}

// Another process that finishes at the same time may take the new file for left over: then it is
// written once more.
void ScoreJob::write_manifest(const std::string& text) const {
  constexpr int kTries = 10;
  for (int tries = 1;; ++tries) {
    try {
      return write_atomically(folder_ / "manifest.json", text);
    } catch (const Error& error) {
      if (tries == kTries || error.code() != ErrorCode::kInvalidArgument) throw;
    }
  }
}

bool ScoreJob::finish(int64_t parts, const std::function<int64_t(int64_t)>& rows_of) const {
  int64_t notes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    notes += name.starts_with(kPartStem) && name.ends_with(".json");
  }
  if (notes < parts) return false;
  ordered_json manifest = parse_json_file(folder_ / "job.json");
  ordered_json done = ordered_json::array();
  for (int64_t part = 0; part < parts; ++part) {
    const std::optional<ordered_json> note = note_of(part, rows_of(part));
    if (!note) return false;
    done.push_back(*note);
  }
  manifest["done"] = std::move(done);
  remove_leftovers();
  write_manifest(pretty(manifest));
  return true;
}

}  // namespace sardonyx::tool
