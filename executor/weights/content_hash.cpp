#include "executor/weights/content_hash.h"

#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/threading/parallel_for.h"

namespace sardonyx {

ContentHash content_hash(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

// A hash of the hashes of pieces, so that threads can share them.
ContentHash shared_content_hash(std::span<const std::byte> bytes) {
  constexpr size_t kPiece = size_t{1} << 20;
  const size_t count = (bytes.size() + kPiece - 1) / kPiece;
  std::vector<ContentHash> hashes(count);
  parallel_for_each(static_cast<int64_t>(count), current_threads(), [&](int64_t index) {
    const auto piece = static_cast<size_t>(index);
    const size_t begin = piece * kPiece;
    hashes[piece] = content_hash(bytes.subspan(begin, std::min(kPiece, bytes.size() - begin)));
  });
  return content_hash(std::as_bytes(std::span(hashes)));
}

ContentHash content_hash(const Tensor& tensor) {
  return shared_content_hash({peek(tensor), tensor.bytes()});
}

}  // namespace sardonyx
