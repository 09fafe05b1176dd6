// The file of a PrepackFileStore: packed weights by name, to be mapped.
//
//   header   magic "sardonyx packs", version, length and hash of the index
//   index    the maker; for each form: its name, where the elements came from, their hash, where
//            the bytes are, and the hash of these
//   bytes    each form at a multiple of 64
//
// Numbers are the machine's own: a file is of use to its kind of machine alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/weights/content_hash.h"
#include "ir/core/tensor.h"

namespace sardonyx {

struct StoredPack {
  std::string form;     // the prepack key, including shape and type of the elements
  std::string origin;   // Tensor::origin of the elements; "" where it had none
  ContentHash content;  // the hash of the elements
  std::shared_ptr<const Buffer> packed;
  ContentHash packed_hash = {};  // the hash that the file records for `packed`

  // Whether the bytes still have the recorded hash. Reads all of them.
  bool is_intact() const;
};

struct PrepackFileContent {
  std::string maker;
  std::vector<StoredPack> packs;
};

// Whether `file` begins as a file of packed weights, of any version.
bool is_prepack_file(std::span<const std::byte> file);
// Parses the file; the `packed` bytes point into it. Throws kInvalidModel saying what is wrong with
// it.
PrepackFileContent read_prepack_file(const std::shared_ptr<Buffer>& file);
// Replaces the file at `path` once the new one is whole. Throws as AtomicFile does.
void write_prepack_file(const std::filesystem::path& path, const PrepackFileContent& content);

}  // namespace sardonyx
