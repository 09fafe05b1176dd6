// Files of one value each, as test data has them: a serialised TensorProto, SequenceProto, MapProto
// or OptionalProto.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ir/datum.h"

namespace sardonyx {

// The limits of what a file may ask for. Everything is compared with these before anything is
// allocated.
struct LoadLimits {
  uint64_t file_bytes = uint64_t{2} << 30;  // of one protobuf file; the format itself ends at 2 GiB
  int nesting = 100;                        // of messages in messages; a subgraph takes three
  int64_t nodes = 1'000'000;                // with functions expanded
  size_t rank = 64;
  uint64_t tensor_bytes = uint64_t{64} << 30;
  uint64_t total_bytes = uint64_t{1} << 40;       // of all tensors of a file
  uint64_t expanded_bytes = uint64_t{256} << 20;  // of a sparse tensor made dense

  // Throws kResourceExhausted, naming `what` has them, where `dims` are more than `rank`.
  void check_rank(std::string_view what, size_t dims) const;
};

struct NamedDatum {
  std::string name;
  Datum value;
};

// `type` is the declared type of the value; without it the file is taken for a TensorProto.
// A file never names other files: external data is refused.
// Throws kInvalidArgument naming the file.
NamedDatum read_tensor_file(const std::filesystem::path& path,
                            const std::optional<Type>& type = std::nullopt,
                            const LoadLimits& limits = {});
// The same value gives the same bytes. Throws kInvalidArgument where the file can't be written.
void write_tensor_file(const std::filesystem::path& path, const std::string& name,
                       const Datum& value);

}  // namespace sardonyx
