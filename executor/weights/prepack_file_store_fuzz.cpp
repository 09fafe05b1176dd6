// Files of any content as plan caches: they are refused, or all forms that they give are within
// them.
#include "executor/weights/prepack_file.h"
#include "tests/support/fuzz_input.h"

namespace {

using namespace sardonyx;

// Recomputes the hash of the index, since otherwise every mutation would be rejected there.
void mend(std::string& file, size_t header_bytes) {
  uint64_t index_bytes = 0;
  constexpr size_t kLength = 24, kHash = 32;
  std::memcpy(&index_bytes, file.data() + kLength, sizeof index_bytes);
  index_bytes = std::min<uint64_t>(index_bytes, file.size() - header_bytes);
  std::memcpy(file.data() + kLength, &index_bytes, sizeof index_bytes);
  const ContentHash hash =
      content_hash(std::as_bytes(std::span(file).subspan(header_bytes, index_bytes)));
  std::memcpy(file.data() + kHash, &hash, sizeof hash);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 48;
  std::string file(reinterpret_cast<const char*>(data), size);
  if (file.size() >= kHeader) mend(file, kHeader);
  fuzz::ends_well([&] {
    // The buffer has exactly the file's size, so that AddressSanitizer sees reads past the end.
    const auto buffer = Buffer::allocate(file.size());
    std::memcpy(buffer->data(), file.data(), file.size());
    uint64_t sum = 0;
    for (const StoredPack& pack : read_prepack_file(buffer).packs) {
      if (pack.packed->data() < buffer->data() ||
          pack.packed->data() + pack.packed->size() > buffer->data() + buffer->size())
        fuzz::finding("a form outside of the file");
      for (size_t i = 0; i < std::min<size_t>(pack.packed->size(), 64); ++i)
        sum += static_cast<uint64_t>(pack.packed->data()[i]);
    }
    if (sum == 1) std::fflush(stderr);  // the bytes are looked at
  });
  return 0;
}
