#include "eager/distributed/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>

#include "eager/distributed/sharded_optimizer.h"
#include "eager/files/state_files.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::distributed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";

fs::path share_file(size_t rank, size_t ranks) {
  return text("optimizer-", rank, "-of-", ranks, ".safetensors");
}

std::optional<int64_t> step_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  int64_t step = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), last, step);
  if (error != std::errc() || end != last) return std::nullopt;
  return step;
}

// So that what was renamed in it is still there after the power was gone.
void sync_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = descriptor >= 0 && fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  // Some file systems have no such thing.
  if (!is_synced && error != EINVAL && error != ENOTSUP)
    fail(ErrorCode::kInternal, folder.string(), ": ", std::strerror(error));
}

// Runs `body` and throws on all ranks where it threw on one.
void on_all(const ProcessGroup& group, const std::function<void()>& body) {
  std::string problem;
  std::exception_ptr own;
  try {
    body();
  } catch (const Error& error) {
    own = std::current_exception();
    problem = error.what();
  } catch (const std::exception& error) {  // of the file system, say
    problem = error.what();
  }
  const std::vector<std::string> problems = group.all_gather(problem);
  if (own) std::rethrow_exception(own);
  for (size_t rank = 0; rank < problems.size(); ++rank) {
    if (!problems[rank].empty())
      fail(ErrorCode::kInternal, "checkpoint: rank ", rank, ": ", problems[rank]);
  }
}

int64_t number_in(const Metadata& metadata, const std::string& name, const fs::path& file) {
  const auto found = metadata.find(name);
  int64_t number = 0;
  if (found != metadata.end()) {
    const std::string& digits = found->second;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, number);
    if (error == std::errc() && end == last) return number;
  }
  fail(ErrorCode::kInvalidArgument, file.string(), ": expected a number '", name,
       "' in its metadata");
}

std::string generator_name(int rank) {
  return text("generator.", rank);
}

// Where the data stands, over all ranks.
Metadata data_metadata(const TrainingParts& parts, const ProcessGroup& group) {
  Metadata metadata;
  if (!parts.loader) return metadata;
  const data::DataPosition at = parts.loader->position();
  metadata["epoch"] = text(at.epoch);
  metadata["batches"] = text(at.batches);
  metadata["batch_size"] = text(parts.loader->batch_size());
  metadata["sampler_begin"] = text(parts.sampler ? parts.sampler->begin_of(at.epoch) : 0);
  metadata["data_ranks"] = text(parts.sampler ? group.size() : 1);
  return metadata;
}

void load_data_position(const Metadata& metadata, const TrainingParts& parts,
                        const ProcessGroup& group, const fs::path& file) {
  if (!parts.loader) return;
  const auto number = [&](const char* name) { return number_in(metadata, name, file); };
  const int64_t epoch = number("epoch"), batches = number("batches");
  const int64_t batch = number("batch_size"), begin = number("sampler_begin");
  const int64_t ranks = number("data_ranks");
  const int64_t own_ranks = parts.sampler ? group.size() : 1;
  if (batch == parts.loader->batch_size() && ranks == own_ranks) {
    if (parts.sampler) parts.sampler->begin_at(epoch, begin);
    parts.loader->set_position({epoch, batches});
    return;
  }
  if (!parts.sampler || batch == 0) {
    fail(ErrorCode::kInvalidArgument, file.string(), ": saved by ", ranks,
         " ranks with batches of ", batch, ", and loaded by ", own_ranks, " with batches of ",
         parts.loader->batch_size(),
         "; to go on within an epoch the loader needs a DistributedSampler and a batch_size");
  }
  parts.sampler->begin_at(epoch, begin + batches * batch * ranks);
  parts.loader->set_position({epoch, 0});
}

void load_optimizer(const fs::path& folder, int64_t shares, optim::Optimizer& optimizer) {
  auto* const sharded = dynamic_cast<ShardedOptimizer*>(&optimizer);
  if (shares == 0) {
    optimizer.load_state_dict(load_safetensors(folder / "optimizer.safetensors"));
    return;
  }
  const auto count = static_cast<size_t>(shares);
  const auto share = [&](size_t rank) {
    return load_safetensors(folder / share_file(rank, count));
  };
  if (sharded)
    sharded->load_shares(count, share);
  else
    optimizer.load_state_dict(merged_shares(optimizer.parameters(), count, share));
}

// A rank that the checkpoint knows nothing of draws numbers of its own, which depend on the step.
void load_generator(const nn::StateDict& state, int64_t step, int rank,
                    const Generator& generator) {
  const auto found = state.find(generator_name(rank));
  if (found != state.end()) {
    generator.set_state(found->second);
    return;
  }
  const auto number = static_cast<uint64_t>(rank) + 1;
  generator.manual_seed(generator.initial_seed() + number * 0x9e3779b97f4a7c15u +
                        static_cast<uint64_t>(step));
}

}  // namespace

Checkpoints::Checkpoints(fs::path folder, ProcessGroup group, CheckpointOptions options)
    : folder_(std::move(folder)), group_(std::move(group)), options_(options) {
  if (options.keep < 1) {
    fail(ErrorCode::kInvalidArgument, "Checkpoints: expected to keep at least 1, got ",
         options.keep);
  }
}

fs::path Checkpoints::folder_of(int64_t step) const {
  const std::string digits = text(step);
  constexpr size_t kDigits = 10;  // so that names sort as numbers
  return folder_ / (std::string(kPrefix) +
                    std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits);
}

std::vector<int64_t> Checkpoints::steps() const {
  std::vector<int64_t> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (const auto step = step_of(entry.path()); step && *step >= 0) found.push_back(*step);
  }
  std::ranges::sort(found);
  return found;
}

void Checkpoints::write(const fs::path& folder, int64_t step, const TrainingParts& parts,
                        const std::vector<std::string>& generators) const {
  const auto* const sharded = dynamic_cast<const ShardedOptimizer*>(parts.optimizer);
  if (sharded) {
    const fs::path file =
        share_file(static_cast<size_t>(group_.rank()), static_cast<size_t>(group_.size()));
    save_safetensors(sharded->own_state_dict(), folder / file);
  }
  if (group_.rank() != 0) return;
  save_safetensors(parts.module.state_dict(), folder / "model.safetensors");
  if (parts.optimizer && !sharded)
    save_safetensors(parts.optimizer->state_dict(), folder / "optimizer.safetensors");
  nn::StateDict others;
  for (const auto& [name, tensor] : parts.others)
    others["other." + name] = tensor.detach();
  if (parts.scheduler) {
    for (const auto& [name, tensor] : parts.scheduler->state_dict())
      others["scheduler." + name] = tensor;
  }
  for (size_t rank = 0; rank < generators.size(); ++rank) {
    const std::vector<uint8_t> bytes(generators[rank].begin(), generators[rank].end());
    others[generator_name(static_cast<int>(rank))] = Tensor(sardonyx::Tensor::vector(bytes));
  }
  Metadata metadata = data_metadata(parts, group_);
  metadata["step"] = text(step);
  metadata["shares"] = text(sharded ? group_.size() : 0);
  save_safetensors(others, folder / "training.safetensors", metadata);
}

void Checkpoints::save(int64_t step, const TrainingParts& parts) const {
  if (step < 0) fail(ErrorCode::kInvalidArgument, "Checkpoints: step ", step);
  const fs::path finished = folder_of(step);
  fs::path begun = finished;
  begun += ".writing";
  on_all(group_, [&] {
    if (group_.rank() != 0) return;
    remove_unfinished();
    fs::create_directories(begun);
  });
  const Tensor own = parts.generator.get_state();
  const sardonyx::Tensor& generator = own.data();
  const std::vector<std::string> generators =
      group_.all_gather({static_cast<const char*>(generator.raw()), generator.bytes()});
  on_all(group_, [&] { write(begun, step, parts, generators); });
  on_all(group_, [&] {
    if (group_.rank() != 0) return;
    sync_folder(begun);
    fs::remove_all(finished);
    fs::rename(begun, finished);
    sync_folder(folder_);
    remove_old();
  });
}

// What runs that were killed have left.
void Checkpoints::remove_unfinished() const {
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const fs::path& path = entry.path();
    if (path.filename().string().starts_with(kPrefix) &&
        (path.extension() == ".writing" || path.extension() == ".removed"))
      unfinished.push_back(path);
  }
  for (const fs::path& path : unfinished)
    fs::remove_all(path);
}

void Checkpoints::remove_old() const {
  const std::vector<int64_t> all = steps();
  for (size_t i = 0; i + static_cast<size_t>(options_.keep) < all.size(); ++i) {
    // Out of sight first: what is killed meanwhile leaves no half of a checkpoint.
    fs::path leaving = folder_of(all[i]);
    leaving += ".removed";
    fs::rename(folder_of(all[i]), leaving);
    fs::remove_all(leaving);
  }
}

std::optional<int64_t> Checkpoints::load_latest(const TrainingParts& parts) const {
  // Rank 0 says which, so that all take the same one.
  std::string latest;
  if (group_.rank() == 0) {
    if (const std::vector<int64_t> all = steps(); !all.empty()) latest = text(all.back());
  }
  latest = group_.all_gather(latest)[0];
  if (latest.empty()) return std::nullopt;
  const int64_t step = std::stoll(latest);
  on_all(group_, [&] {
    const fs::path folder = folder_of(step), file = folder / "training.safetensors";
    Metadata metadata;
    const nn::StateDict others = load_safetensors(file, &metadata);
    if (number_in(metadata, "step", file) != step)
      fail(ErrorCode::kInvalidArgument, file.string(), ": of another step than its folder");
    parts.module.load_state_dict(load_safetensors(folder / "model.safetensors"));
    if (parts.optimizer)
      load_optimizer(folder, number_in(metadata, "shares", file), *parts.optimizer);
    load_data_position(metadata, parts, group_, file);
    if (parts.scheduler) {
      nn::StateDict schedule;
      constexpr std::string_view kOfScheduler = "scheduler.";
      for (const auto& [name, tensor] : others) {
        if (name.starts_with(kOfScheduler)) schedule[name.substr(kOfScheduler.size())] = tensor;
      }
      parts.scheduler->load_state_dict(schedule);
    }
    for (const auto& [name, tensor] : parts.others) {
      const auto found = others.find("other." + name);
      if (found == others.end())
        fail(ErrorCode::kInvalidArgument, file.string(), ": has no '", name, "'");
      tensor.assign(found->second);
    }
    load_generator(others, step, group_.rank(), parts.generator);
  });
  return step;
}

}  // namespace sardonyx::eager::distributed
