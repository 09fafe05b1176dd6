// Any bytes as a file of arrays: .npy, .npz and serialised tensors. What was read and written is
// read again as it was.
#include <sys/mman.h>
#include <unistd.h>

#include "onnx_io/file_access.h"
#include "onnx_io/npy.h"
#include "onnx_io/npz.h"
#include "onnx_io/tensor_file.h"
#include "tests/support/fuzz_input.h"

namespace {

using namespace sardonyx;

// A file in memory, for readers that take a path.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : handle_(memfd_create("fuzz", 0)) {
    if (write(handle_.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  std::filesystem::path path() const { return text("/proc/self/fd/", handle_.get()); }

 private:
  FileHandle handle_;
};

void read_npy_bytes(const uint8_t* data, size_t size) {
  const Tensor tensor = parse_npy({reinterpret_cast<const std::byte*>(data), size}, "input");
  const std::string written = npy_bytes(tensor);
  if (!(parse_npy(std::as_bytes(std::span(written)), "written") == tensor))
    fuzz::finding("an array that was read and written is another one");
}

void read_archive(const MemoryFile& file) {
  const NpzReader archive(file.path());
  for (const std::string& name : archive.names())
    fuzz::ends_well([&] { archive.read(name); });
}

}  // namespace

// The first byte chooses the reader.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint8_t kind = data[0] % 4;
  ++data, --size;
  if (kind == 0) {
    fuzz::ends_well([&] { read_npy_bytes(data, size); });
    return 0;
  }
  const MemoryFile file(data, size);
  if (kind == 1) fuzz::ends_well([&] { read_archive(file); });
  const LoadLimits limits{.tensor_bytes = fuzz::kMemoryLimit, .expanded_bytes = 1 << 20};
  if (kind == 2) fuzz::ends_well([&] { read_tensor_file(file.path(), std::nullopt, limits); });
  if (kind == 3) {
    const Type type = Type::sequence(Type::tensor(DType::kFloat, std::nullopt));
    fuzz::ends_well([&] { read_tensor_file(file.path(), type, limits); });
  }
  return 0;
}
