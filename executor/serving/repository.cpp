#include "executor/serving/repository.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "executor/serving/ensemble.h"
#include "executor/serving/json_text.h"
#include "onnx_io/load.h"

namespace sardonyx::serving {
namespace {

constexpr const char* kPlainName =
    "the name of a model is UTF-8 without control characters, and not empty";
constexpr const char* kAmbiguous = "model appears in two or more repositories";
constexpr std::streamsize kMaxConfigFileBytes = 16 << 20;

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(Status::kInvalidArgument, "'", path.string(), "' can't be read");
  std::string text(static_cast<size_t>(kMaxConfigFileBytes) + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.gcount() > kMaxConfigFileBytes)
    refuse(Status::kInvalidArgument, "'", path.string(), "' has more than 16 MiB");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// What a model has used is spread over the heaps of many threads, which keep what is freed.
void give_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// What clients of other servers know refusals by stands at the beginning of messages, as there.

// The versions of "file:1/model.onnx" overrides, in place of those of the folder.
ModelFolder with_files(ModelFolder folder, const ModelRepository::LoadOverride& replaced) {
  if (replaced.files.empty()) return folder;
  folder.versions.clear();
  folder.single_file.clear();
  for (const auto& [name, bytes] : replaced.files) {
    const size_t slash = name.find('/');
    int64_t version = 0;
    const auto end =
        std::from_chars(name.data(), name.data() + std::min(slash, name.size()), version);
    if (slash == std::string::npos || end.ptr != name.data() + slash || version < 1)
      refuse(Status::kInvalidArgument, "parameter 'file:", name, "': expected file:VERSION/FILE");
    folder.versions[version];
  }
  return folder;
}

}  // namespace

bool ModelRepository::Entry::serves() const {
  return std::any_of(versions.begin(), versions.end(),
                     [](const auto& version) { return version.second.model != nullptr; });
}

std::map<int64_t, ModelRepository::Version> ModelRepository::Entry::replace(
    std::map<int64_t, Version> now, const std::string& why) {
  std::map<int64_t, Version> old = std::exchange(versions, std::move(now));
  for (const auto& [number, version] : old)
    versions.emplace(number, Version{nullptr, ModelState::State::kUnavailable,
                                     version.model ? why : version.reason});
  return old;
}

std::string_view name_of(ModelState::State state) {
  switch (state) {
    case ModelState::State::kReady:
      return "READY";
    case ModelState::State::kLoading:
      return "LOADING";
    case ModelState::State::kUnloading:
      return "UNLOADING";
    default:
      return "UNAVAILABLE";
  }
}

ModelRepository::ModelRepository(RepositoryOptions options)
    : options_(std::move(options)),
      threads_(std::make_shared<RunThreads>()),
      gate_(std::make_shared<MemoryGate>(options_.total_memory)) {}

ModelRepository::~ModelRepository() {
  entries_.clear();
}

ModelRepository::Found ModelRepository::find_all() const {
  Found found;
  for (const RepositoryOptions::Root& root : options_.roots) {
    for (auto& [name, folder] : find_models(root.path, root.name)) {
      if (!is_plain_name(name)) {
        report_name(name);
      } else if (!found.models.emplace(name, std::move(folder)).second) {
        found.ambiguous.insert(name);
      }
    }
  }
  for (const std::string& name : found.ambiguous)
    found.models.erase(name);
  return found;
}

// Once each, however often the folder is looked at.
void ModelRepository::report_name(const std::string& name) const {
  const std::lock_guard lock(names_mutex_);
  if (reported_names_.insert(name).second)
    log(LogLevel::kError, "model ", json_string(name), " is left out: ", kPlainName);
}

std::optional<ModelFolder> ModelRepository::find_folder(const std::string& name) const {
  std::optional<ModelFolder> found;
  for (const RepositoryOptions::Root& root : options_.roots) {
    std::optional<ModelFolder> here = find_model(root.path, name);
    if (!here) {
      auto models = find_models(root.path, root.name);
      if (const auto at = models.find(name); at != models.end()) here = std::move(at->second);
    }
    if (found && here) refuse(Status::kInvalidArgument, "model '", name, "': ", kAmbiguous);
    if (here) found = std::move(here);
  }
  return found;
}

std::map<std::string, std::string> ModelRepository::start() {
  std::map<std::string, std::string> errors;
  const auto [all, ambiguous] = find_all();
  if (all.empty() && !reported_names_.empty())
    refuse(Status::kInvalidArgument, "no model can be served: ", kPlainName);
  std::vector<std::string> wanted;
  const auto& startup = options_.startup_models;
  const bool takes_all = options_.control != ControlMode::kExplicit ||
                         std::find(startup.begin(), startup.end(), "*") != startup.end();
  if (takes_all) {
    for (const auto& [name, folder] : all)
      wanted.push_back(name);
    wanted.insert(wanted.end(), ambiguous.begin(), ambiguous.end());
  } else {
    wanted = startup;
  }
  for (const std::string& name : wanted) {
    if (options_.session.cancel.stop_requested()) return errors;
    try {
      const auto found = all.find(name);
      if (ambiguous.contains(name))
        refuse(Status::kInvalidArgument, "model '", name, "': ", kAmbiguous);
      if (found == all.end()) refuse(Status::kNotFound, "there is no model '", name, "'");
      const std::lock_guard lock(load_mutex_);
      load_folder(found->second, {});
      if (!takes_all) load_parts(name);
    } catch (const ServingError& error) {
      errors[name] = error.message();
      const std::unique_lock lock(mutex_);
      missing_at_start_.insert(name);
    }
  }
  const std::unique_lock lock(mutex_);
  has_started_ = true;
  return errors;
}

bool ModelRepository::is_ready() const {
  const std::shared_lock lock(mutex_);
  return has_started_ && missing_at_start_.empty();
}

std::shared_ptr<Statistics> ModelRepository::statistics_of(const std::string& name,
                                                           int64_t version) {
  const std::unique_lock lock(mutex_);
  auto& statistics = statistics_[{name, version}];
  if (!statistics) statistics = std::make_shared<Statistics>();
  return statistics;
}

ModelRepository::ModelPointer ModelRepository::find(std::string_view name,
                                                    std::string_view version) const {
  int64_t number = -1;
  if (!version.empty()) {
    const auto end = std::from_chars(version.data(), version.data() + version.size(), number);
    if (end.ec != std::errc() || end.ptr != version.data() + version.size() || number < 0)
      refuse(Status::kInvalidArgument, "'", version,
             "' is no version of a model: expected a number");
  }
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end())
    refuse(Status::kNotFound, "Request for unknown model: '", name, "' is not found");
  const Entry& entry = found->second;
  if (number < 0) {
    for (auto at = entry.versions.rbegin(); at != entry.versions.rend(); ++at) {
      if (at->second.model) return at->second.model;
    }
    refuse(Status::kUnavailable, "Request for unknown model: '", name,
           "' has no available versions", entry.reason.empty() ? "" : ": ", entry.reason);
  }
  const auto at = entry.versions.find(number);
  if (at == entry.versions.end())
    refuse(Status::kNotFound, "Request for unknown model: '", name, "' version ", number,
           " is not found");
  if (!at->second.model)
    refuse(Status::kUnavailable, "Request for unknown model: '", name, "' version ", number,
           " is not at ready state: ", at->second.reason);
  return at->second.model;
}

std::vector<ModelRepository::ModelPointer> ModelRepository::serving(std::string_view name) const {
  std::vector<ModelPointer> models;
  const std::shared_lock lock(mutex_);
  for (const auto& [model, entry] : entries_) {
    if (!name.empty() && model != name) continue;
    for (const auto& [number, version] : entry.versions) {
      if (version.model) models.push_back(version.model);
    }
  }
  return models;
}

std::vector<ModelRepository::ModelPointer> ModelRepository::counted(
    std::string_view name, std::string_view version) const {
  std::vector<ModelPointer> models = serving(name);
  if (!name.empty() && models.empty())
    refuse(Status::kNotFound, "requested model '", name, "' is not available");
  if (version.empty()) return models;
  std::erase_if(models,
                [&](const ModelPointer& one) { return std::to_string(one->version()) != version; });
  if (models.empty()) {
    refuse(Status::kNotFound, "requested model version is not available for model '", name,
           "': version ", version);
  }
  return models;
}

// The model of one step is that of its folder, whether it is served by itself or not.
Model ModelRepository::load_ensemble(ModelConfig& config) const {
  bool batches = false;
  Model model = fused_ensemble(config, [&](const EnsembleStep& step) {
    const auto folder = find_folder(step.model);
    if (!folder)
      refuse(Status::kInvalidArgument, "ensemble '", config.name, "': there is no model '",
             step.model, "'");
    const ModelConfig own = read_config(*folder, {});
    const auto has_reshape = [](const TensorConfig& tensor) { return tensor.reshape.has_value(); };
    const bool reshapes = std::any_of(own.inputs.begin(), own.inputs.end(), has_reshape) ||
                          std::any_of(own.outputs.begin(), own.outputs.end(), has_reshape);
    if (own.is_ensemble() || own.sequence || reshapes) {
      refuse(Status::kUnsupported, "ensemble '", config.name, "': step '", step.model,
             own.is_ensemble() ? "' is an ensemble itself; name its steps instead"
             : own.sequence    ? "' has sequences, which an ensemble can't keep apart"
                               : "' has a reshape; put it into the model");
    }
    batches |= own.scheduling.batches || folder->config.empty();
    const auto versions = wanted_versions(*folder, own.versions);
    const int64_t version = step.version < 0 ? versions.back() : step.version;
    if (!folder->versions.empty() && !folder->versions.contains(version))
      refuse(Status::kInvalidArgument, "ensemble '", config.name, "': model '", step.model,
             "' has no version ", version);
    return load_model(model_file(*folder, version, own.file, own.names_file),
                      options_.session.load);
  });
  config.scheduling.batches = batches && config.max_batch_size > 1;
  return model;
}

ModelRepository::ModelPointer ModelRepository::load_version(const ModelFolder& folder,
                                                            ModelConfig config, int64_t version,
                                                            const LoadOverride& replaced) {
  ServedModel::Source source;
  source.folder = folder.folder;
  source.version = version;
  source.has_config = replaced.config_json || !folder.config.empty();
  source.default_max_batch = options_.default_max_batch;
  config.scheduling.waits_for_delay |= options_.waits_for_delay;
  try {
    if (config.is_ensemble()) {
      source.model = load_ensemble(config);
    } else if (replaced.files.empty()) {
      source.file = model_file(folder, version, config.file, config.names_file);
    } else {
      const auto found = replaced.files.find(std::to_string(version) + '/' + config.file);
      if (found == replaced.files.end())
        refuse(Status::kInvalidArgument, "no parameter 'file:", version, '/', config.file, "'");
      source.bytes = &found->second;
    }
    auto model =
        std::make_unique<ServedModel>(std::move(config), std::move(source), options_.session,
                                      *threads_, statistics_of(folder.name, version), gate_);
    // Whoever lets go of it last may be one of the threads that it waits for.
    return {model.release(), [threads = threads_](ServedModel* old) {
              threads->post([old] {
                delete old;
                give_memory_back();
              });
            }};
  } catch (...) {
    const ServingError error = current_serving_error();
    if (options_.session.cancel.stop_requested())
      refuse(Status::kUnavailable, "model '", folder.name, "': the server is shutting down");
    const std::string where = text("model '", folder.name, "', version ", version, ": ");
    const bool says_where = error.message().starts_with(where);
    refuse(error.status(), says_where ? "" : where, error.message());
  }
}

ModelConfig ModelRepository::read_config(const ModelFolder& folder,
                                         const LoadOverride& replaced) const {
  if (replaced.config_json) return config_from_json(*replaced.config_json, folder.name);
  return config_from_text(folder.config.empty() ? "" : read_text(folder.config), folder.name);
}

std::string ModelRepository::fingerprint_of(const ModelFolder& folder,
                                            std::span<const std::string> parts) const {
  std::string mark = fingerprint(folder);
  for (const std::string& part : parts) {
    if (const auto found = find_folder(part)) mark += fingerprint(*found);
  }
  return mark;
}

void ModelRepository::load_folder(const ModelFolder& given, const LoadOverride& replaced) {
  const auto begin = std::chrono::steady_clock::now();
  std::string mark = fingerprint(given);
  std::vector<std::string> parts;
  std::map<int64_t, Version> loaded;
  {
    const std::unique_lock lock(mutex_);
    Entry& entry = entries_[given.name];
    entry.is_loading = true;
    if (!entry.serves()) entry.reason = "it is being loaded";
  }
  try {
    const ModelFolder folder = with_files(given, replaced);
    const ModelConfig config = read_config(folder, replaced);
    for (const EnsembleStep& step : config.ensemble)
      parts.push_back(step.model);
    mark = fingerprint_of(given, parts);
    for (const std::string& setting : config.without_effect)
      log(LogLevel::kWarning, "model '", folder.name, "': no effect here: ", setting);
    for (const int64_t version : wanted_versions(folder, config.versions)) {
      loaded[version] = {load_version(folder, config, version, replaced), ModelState::State::kReady,
                         ""};
    }
  } catch (...) {
    const ServingError error = current_serving_error();
    log(LogLevel::kError, error.message());
    const std::unique_lock lock(mutex_);
    Entry& entry = entries_[given.name];
    entry.is_loading = false;
    entry.failed_fingerprint = mark;
    entry.parts = std::move(parts);
    if (!entry.serves()) entry.reason = error.message();
    throw error;
  }
  std::map<int64_t, Version> old;
  {
    const std::unique_lock lock(mutex_);
    Entry& entry = entries_[given.name];
    old = entry.replace(std::move(loaded), "unloaded");
    entry.reason.clear();
    entry.is_loading = false;
    entry.fingerprint = mark;
    entry.parts = std::move(parts);
    missing_at_start_.erase(given.name);
  }
  log(LogLevel::kInfo, "model '", given.name, "' is ready after ", milliseconds_since(begin),
      " ms");
}

// Clients expect the models of an ensemble's steps to be served once it is.
void ModelRepository::load_parts(const std::string& name) {
  std::vector<std::string> parts;
  {
    const std::shared_lock lock(mutex_);
    for (const std::string& part : entries_.at(name).parts) {
      const auto found = entries_.find(part);
      if (found == entries_.end() || !found->second.serves()) parts.push_back(part);
    }
  }
  for (const std::string& part : parts) {
    if (const auto folder = find_folder(part)) load_folder(*folder, {});
  }
}

void ModelRepository::load(const std::string& name, const LoadOverride& replaced) {
  if (!replaced.files.empty() && !replaced.config_json)
    refuse(Status::kInvalidArgument, "parameters 'file:...' need parameter 'config' beside them");
  if (!is_plain_name(name))
    refuse(Status::kInvalidArgument, "failed to load ", json_string(name), ": ", kPlainName);
  const std::lock_guard lock(load_mutex_);
  std::optional<ModelFolder> folder = as_serving_error([&] { return find_folder(name); });
  if (!folder && !replaced.files.empty()) folder = ModelFolder{.name = name};
  if (!folder)
    refuse(Status::kNotFound, "failed to load '", name,
           "', failed to poll from model repository: it has no model of this name");
  try {
    load_folder(*folder, replaced);
    load_parts(name);
  } catch (const ServingError& error) {
    const std::shared_lock read(mutex_);
    refuse(
        error.status(), "load failed for model '", name,
        entries_.at(name).serves() ? "', the old version stays: " : "', no version is available: ",
        error.message());
  }
}

bool ModelRepository::remove(const std::string& name, const std::string& reason) {
  std::map<int64_t, Version> old;
  const std::unique_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) return false;
  old = found->second.replace({}, reason);
  found->second.reason = reason;
  found->second.fingerprint.clear();
  return true;
}

void ModelRepository::unload(const std::string& name, bool and_dependents) {
  const std::lock_guard lock(load_mutex_);
  std::vector<std::string> parts;
  {
    const std::shared_lock read(mutex_);
    const auto found = entries_.find(name);
    if (found != entries_.end() && and_dependents) parts = found->second.parts;
  }
  if (!remove(name, "unloaded")) return;  // what is wanted is so already
  for (const std::string& part : parts)
    remove(part, "unloaded");
  log(LogLevel::kInfo, "model '", name, "' is unloaded");
}

void ModelRepository::poll() {
  const std::lock_guard load_lock(load_mutex_);
  std::map<std::string, ModelFolder> all;
  try {
    all = find_all().models;
  } catch (...) {
    log(LogLevel::kWarning, "the repository can't be read: ", current_serving_error().message());
    return;
  }
  std::vector<std::string> gone;
  std::vector<const ModelFolder*> changed;
  {
    const std::unique_lock lock(mutex_);
    for (const auto& [name, entry] : entries_) {
      if (!all.contains(name) && entry.serves()) gone.push_back(name);
    }
    for (const auto& [name, folder] : all) {
      Entry& entry = entries_[name];
      const std::string mark = fingerprint_of(folder, entry.parts);
      const bool is_stable = entry.seen_fingerprint == mark;
      entry.seen_fingerprint = mark;
      if (is_stable && entry.fingerprint != mark && entry.failed_fingerprint != mark)
        changed.push_back(&folder);
    }
  }
  for (const std::string& name : gone) {
    remove(name, "its files are gone");
    log(LogLevel::kInfo, "model '", name, "' is unloaded: its files are gone");
  }
  for (const ModelFolder* folder : changed) {
    if (options_.session.cancel.stop_requested()) return;
    try {
      load_folder(*folder, {});
    } catch (const ServingError&) {
      // Logged, and kept as the reason; it is tried again when a file changes.
    }
  }
}

std::vector<ModelState> ModelRepository::index(bool ready_only) const {
  std::vector<ModelState> states;
  Found all;
  if (!ready_only) {
    try {
      all = find_all();
    } catch (const std::exception&) {
      // What is loaded is listed all the same.
    }
  }
  const std::shared_lock lock(mutex_);
  for (const auto& [name, entry] : entries_) {
    for (const auto& [number, version] : entry.versions) {
      if (version.model || !(ready_only || entry.is_loading))
        states.push_back({name, number, version.state, version.reason});
    }
    if (!ready_only && (entry.versions.empty() || (entry.is_loading && !entry.serves()))) {
      const auto state =
          entry.is_loading ? ModelState::State::kLoading : ModelState::State::kUnavailable;
      states.push_back({name, {}, state, entry.reason});
    }
  }
  for (const auto& [name, folder] : all.models) {
    if (!entries_.contains(name)) states.push_back({name, {}, ModelState::State::kUnavailable, ""});
  }
  for (const std::string& name : all.ambiguous) {
    if (!entries_.contains(name))
      states.push_back({name, {}, ModelState::State::kUnavailable, kAmbiguous});
  }
  return states;
}

}  // namespace sardonyx::serving
