// The files that external tensors of one model name.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/file_access.h"
#include "onnx_io/load.h"

namespace sardonyx::onnx_import {

class ExternalFiles {
 public:
  // Files are in memory (options.external_files) or else beneath `sandbox`, where there is one.
  // `options` must outlive this.
  ExternalFiles(std::optional<Sandbox> sandbox, const LoadOptions& options)
      : sandbox_(std::move(sandbox)), options_(options) {}
  // For a model that is called by a link: names in the folder that the link is in may be links,
  // too, to what is beneath the folder that has the model itself.
  void follow_links(std::filesystem::path from, std::filesystem::path to) {
    link_folder_ = std::move(from);
    linked_folder_ = std::move(to);
  }
  // Bytes [offset, offset + length) of the file, as a tensor. All were checked not to overflow.
  Tensor read(std::string_view location, uint64_t offset, DType dtype, Shape shape);
  uint64_t size_of(std::string_view location) { return opened(location).size; }
  // The names in options.external_files that no tensor has named so far.
  std::vector<std::string> unused() const;

 private:
  struct Opened {
    uint64_t size = 0;
    std::optional<OpenFile> file;   // none: it is in memory
    std::shared_ptr<Buffer> bytes;  // null: not mapped yet
    size_t begin = 0;               // in `bytes`
  };
  Opened& opened(std::string_view location);
  Opened open(std::string_view location) const;
  OpenFile open_beneath(std::string_view location) const;
  std::optional<OpenFile> open_linked(std::string_view location) const;

  std::optional<Sandbox> sandbox_;
  const LoadOptions& options_;
  std::filesystem::path link_folder_, linked_folder_;  // "": the model is called by its own name
  std::map<std::string, Opened, std::less<>> files_;
};

// A tensor of the caller's, whose memory stays its own: with an origin that no other has, it is not
// taken for one of equal elements that may go sooner.
Tensor of_the_caller(const Tensor& given);

}  // namespace sardonyx::onnx_import
