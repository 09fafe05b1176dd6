// Weights as kernels want them, in a file that outlasts the process: the next one maps what this
// one packed, and processes share the memory.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/log.h"
#include "executor/weights/prepack_file.h"
#include "ir/core/memory/prepacked_weights.h"
#include "ir/kernel.h"

namespace sardonyx {

// Safe from many threads. What a form holds follows from its name, the elements and the maker, so
// the file can't be out of date: what is not in it, or is no longer what was written, is packed
// anew.
class PrepackFileStore : public PrepackStore {
 public:
  // `maker` tells version and CPU. Throws kInvalidArgument where `path` holds something else than a
  // plan cache, which would be overwritten. A file of another maker, or a damaged one, is replaced
  // by the first `save`; one that can't be read is left alone, with a warning.
  PrepackFileStore(std::filesystem::path path, std::string maker, const Log& log);

  std::shared_ptr<const Buffer> get(
      const Tensor& weight, const std::string& form, size_t bytes,
      const std::function<std::shared_ptr<const Buffer>()>& make) override;
  // Writes everything that was asked for where the file lacks much of it. What goes wrong is
  // logged; the file is then as it was.
  void save() noexcept;

 private:
  using Names = std::unordered_map<std::string, const StoredPack*>;

  std::shared_ptr<Buffer> mapped_file();
  bool is_intact(const StoredPack& pack);
  bool is_of_no_use();

  const std::filesystem::path path_;
  const Log& log_;
  PrepackFileContent stored_;  // the file's content when it was opened
  Names by_origin_, by_content_;
  std::mutex mutex_;
  std::unordered_map<const StoredPack*, bool> intact_;  // results of is_intact(), once checked
  PrepackFileContent asked_for_;
  size_t bytes_ = 0, new_bytes_ = 0;  // total of `asked_for_`, and those not in the file
  bool has_failed_ = false, is_damaged_ = false;
};

}  // namespace sardonyx
