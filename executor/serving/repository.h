// The models that a server has, by name and version: loads, unloads and finds them.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "executor/serving/repository_layout.h"
#include "executor/serving/served_model.h"

namespace sardonyx::serving {

enum class ControlMode {
  kNone,      // what is there at the start
  kPoll,      // and what comes and goes later
  kExplicit,  // what is asked for
};

struct RepositoryOptions {
  struct Root {
    std::filesystem::path path;
    std::string name;  // of the one model that the path is; may be empty
  };
  std::vector<Root> roots;
  ControlMode control = ControlMode::kNone;
  std::vector<std::string> startup_models;  // in mode kExplicit; "*": all
  SessionOptions session;                   // its token ends loads for good, with kUnavailable
  uint64_t total_memory = 0;                // that all models with their runs may take; 0: no limit
  int64_t default_max_batch = 16;  // of models without configuration; 0: they are not batched
  bool waits_for_delay = false;    // SchedulingPolicy's, for all models
  // Remarks: what was loaded, what failed, settings without effect.
  std::function<void(LogLevel, const std::string&)> log;
};

struct ModelState {
  std::string name;
  std::optional<int64_t> version;
  enum class State { kReady, kUnavailable, kLoading, kUnloading } state = State::kUnavailable;
  std::string reason;
};
std::string_view name_of(ModelState::State state);

class ModelRepository {
 public:
  using ModelPointer = std::shared_ptr<ServedModel>;

  explicit ModelRepository(RepositoryOptions options);
  ~ModelRepository();
  ModelRepository(const ModelRepository&) = delete;
  ModelRepository& operator=(const ModelRepository&) = delete;

  // Loads what is to be there from the start. Gives the errors of models that could not be loaded,
  // by name; the others serve.
  std::map<std::string, std::string> start();
  // In mode kPoll: loads what is new or changed, once it has stayed the same from one call to the
  // next, and unloads what is gone.
  void poll();

  // The model that serves a request; version "": the highest. It stays whole as long as the
  // pointer does, whatever is loaded meanwhile. Throws ServingError kNotFound or kUnavailable.
  ModelPointer find(std::string_view name, std::string_view version) const;
  // All versions that serve, of one model or (name "") of all.
  std::vector<ModelPointer> serving(std::string_view name = {}) const;
  // The same, or one version; throws ServingError kInvalidArgument where there is none.
  std::vector<ModelPointer> counted(std::string_view name, std::string_view version) const;

  struct LoadOverride {
    std::optional<std::string> config_json;
    // By name within the model's folder ("1/model.onnx"); in place of what is there.
    std::map<std::string, std::string> files;
  };
  // Loads a model, or loads it anew: requests go to the old one until the new one is ready, and
  // where that fails they stay there. Throws ServingError.
  void load(const std::string& name, const LoadOverride& replaced = {});
  // With `and_dependents` also the models that an ensemble is made of. Nothing happens where there
  // is no such model.
  void unload(const std::string& name, bool and_dependents = false);
  // Are calls of load() and unload() those of clients?
  bool is_explicit() const { return options_.control == ControlMode::kExplicit; }

  // All models of the repository, those that serve with their versions.
  std::vector<ModelState> index(bool ready_only) const;
  // Is everything loaded that was to be there from the start?
  bool is_ready() const;
  std::shared_ptr<Statistics> statistics_of(const std::string& name, int64_t version);
  RunThreads& threads() { return *threads_; }

 private:
  struct Version {
    ModelPointer model;
    ModelState::State state = ModelState::State::kUnavailable;
    std::string reason;
  };
  struct Entry {
    std::map<int64_t, Version> versions;  // those that were unloaded without a model
    std::string fingerprint, seen_fingerprint, failed_fingerprint;
    std::vector<std::string> parts;  // the models that it is made of, if it is an ensemble
    std::string reason;              // why nothing serves
    bool is_loading = false;

    bool serves() const;
    // Marks versions that none of `now` replaces as unloaded, and gives what they were.
    std::map<int64_t, Version> replace(std::map<int64_t, Version> now, const std::string& why);
  };

  template <typename... Parts>
  void log(LogLevel level, const Parts&... parts) const {
    if (options_.log) options_.log(level, text(parts...));
  }
  struct Found {
    std::map<std::string, ModelFolder> models;
    std::set<std::string> ambiguous;  // names that two repositories have
  };
  // Without those whose names can't be told to clients.
  Found find_all() const;
  void report_name(const std::string& name) const;
  std::optional<ModelFolder> find_folder(const std::string& name) const;
  void load_folder(const ModelFolder& folder, const LoadOverride& replaced);
  ModelConfig read_config(const ModelFolder& folder, const LoadOverride& replaced) const;
  Model load_ensemble(ModelConfig& config) const;
  void load_parts(const std::string& name);
  std::string fingerprint_of(const ModelFolder& folder, std::span<const std::string> parts) const;
  ModelPointer load_version(const ModelFolder& folder, ModelConfig config, int64_t version,
                            const LoadOverride& replaced);
  bool remove(const std::string& name, const std::string& reason);  // false: it is unknown

  RepositoryOptions options_;
  std::shared_ptr<RunThreads> threads_;
  std::shared_ptr<MemoryGate> gate_;
  std::mutex load_mutex_;  // one load at a time
  mutable std::mutex names_mutex_;
  mutable std::set<std::string> reported_names_;

  mutable std::shared_mutex mutex_;  // of what follows
  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::pair<std::string, int64_t>, std::shared_ptr<Statistics>> statistics_;
  std::set<std::string> missing_at_start_;
  bool has_started_ = false;
};

}  // namespace sardonyx::serving
