#include "executor/content_hash.h"

#include <omp.h>
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "ir/reloadable_buffer.h"

namespace sardonyx {

ContentHash content_hash(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

// A hash of the hashes of pieces, so that threads can share them.
ContentHash content_hash(const Tensor& tensor) {
  constexpr size_t kPiece = size_t{1} << 20;
  const std::span<const std::byte> bytes(peek(tensor), tensor.bytes());
  const size_t count = (bytes.size() + kPiece - 1) / kPiece;
  std::vector<ContentHash> hashes(count);
#pragma omp parallel for num_threads(omp_get_max_threads()) if (count > 1)
  for (size_t piece = 0; piece < count; ++piece) {
    const size_t begin = piece * kPiece;
    hashes[piece] = content_hash(bytes.subspan(begin, std::min(kPiece, bytes.size() - begin)));
  }
  return content_hash(std::as_bytes(std::span(hashes)));
}

}  // namespace sardonyx
