// Where the elements of a file of torch.save are, in its zip form and in the one before torch 1.6.
// For the eager layer's own sources.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "eager/files/pickle.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager {

// torch's name for storages of a type ("FloatStorage"); kUndefined and "" where there is none.
DType storage_dtype(std::string_view name);
std::string_view storage_name(DType dtype);

// A file of torch.save, opened: its pickle, and the bytes of its storages by key.
class TorchArchive {
 public:
  static std::unique_ptr<TorchArchive> open(const std::filesystem::path& path);
  virtual ~TorchArchive() = default;
  const Pickle& pickle() const { return pickle_; }
  // Throws kInvalidArgument where the file has none of that key.
  virtual uint64_t bytes_of(const std::string& key) const = 0;
  virtual std::shared_ptr<Buffer> read(const std::string& key) const = 0;
  // "FILE: not a file of torch.save: WHY"
  [[noreturn]] void refuse(const std::string& why) const;

 protected:
  explicit TorchArchive(std::string file) : file_(std::move(file)) {}
  std::string file_;
  Pickle pickle_;
};

}  // namespace sardonyx::eager
