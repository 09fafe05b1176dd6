#include "tools/onnx-serve/api/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "executor/batching/serving_error.h"
#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"

namespace sardonyx::serve {

using serving::refuse;
using serving::Status;

namespace {

void check_inside(std::string_view region, uint64_t offset, uint64_t bytes, uint64_t size,
                  std::string_view what) {
  if (offset > 0 && offset >= size)
    refuse(Status::kInvalidArgument, "Invalid offset for shared memory region: '", region,
           "': ", what, " begins at ", offset, ", the region has ", size, " bytes");
  if (offset > size || bytes > size - offset) {
    refuse(Status::kInvalidArgument, "Invalid offset + byte size for shared memory region: '",
           region, "': ", what, " has ", bytes, " bytes from ", offset, " on, the region ", size);
  }
}

}  // namespace

// Read and written by calls, not mapped: what a client cuts off is a short read then, and no
// SIGBUS.
class SharedMemory::Object {
 public:
  Object(Region region, int descriptor) : region(std::move(region)), descriptor_(descriptor) {}
  ~Object() { ::close(descriptor_); }

  void transfer(void* to, const void* from, uint64_t at, uint64_t bytes,
                std::string_view what) const {
    // What is written beyond the end of a file would make it grow.
    struct stat info = {};
    const uint64_t end = region.offset + at + bytes;
    if (from && (fstat(descriptor_, &info) != 0 || static_cast<uint64_t>(info.st_size) < end))
      refuse_short(what);
    uint64_t done = 0;
    while (done < bytes) {
      const auto place = static_cast<off_t>(region.offset + at + done);
      const ssize_t got =
          to ? pread(descriptor_, static_cast<char*>(to) + done, bytes - done, place)
             : pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done, place);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) refuse_short(what);
      done += static_cast<uint64_t>(got);
    }
  }

  const Region region;

 private:
  [[noreturn]] void refuse_short(std::string_view what) const {
    refuse(Status::kInvalidArgument, what, ": shared memory region '", region.name,
           "' has become shorter than was registered");
  }
  const int descriptor_;
};

void SharedMemory::add(const Region& region) {
  if (!serving::is_plain_name(region.name)) {
    refuse(Status::kInvalidArgument, "shared memory region '", region.name,
           "': expected a name in UTF-8 without control characters");
  }
  if (region.byte_size == 0) {
    refuse(Status::kInvalidArgument, "failed to register shared memory region '", region.name,
           "': invalid args: byte_size: expected more than 0");
  }
  const bool is_plain = !region.key.empty() && region.key.find('/', 1) == std::string::npos &&
                        region.key.find("..") == std::string::npos;
  if (!is_plain) {
    refuse(Status::kInvalidArgument, "shared memory key '", region.key,
           "': expected a name as shm_open takes it");
  }
  const int descriptor = shm_open(region.key.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (descriptor < 0) {
    refuse(Status::kInvalidArgument, "Unable to open shared memory region: '", region.key,
           "': ", strerror(errno));
  }
  auto object = std::make_shared<Object>(region, descriptor);
  struct stat info = {};
  if (fstat(descriptor, &info) != 0 || info.st_size < 0 ||
      region.offset > static_cast<uint64_t>(info.st_size) ||
      region.byte_size > static_cast<uint64_t>(info.st_size) - region.offset) {
    refuse(Status::kInvalidArgument, "failed to register shared memory region '", region.name,
           "': invalid args: offset ", region.offset, " and byte_size ", region.byte_size,
           " reach beyond the ", info.st_size, " bytes of '", region.key, "'");
  }
  const std::lock_guard lock(mutex_);
  if (!objects_.emplace(region.name, std::move(object)).second) {
    refuse(Status::kInvalidArgument, "shared memory region '", region.name,
           "' already in manager: it is registered");
  }
}

void SharedMemory::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(name);
  if (found != objects_.end()) objects_.erase(found);
}

void SharedMemory::remove_all() {
  const std::lock_guard lock(mutex_);
  objects_.clear();
}

std::vector<SharedMemory::Region> SharedMemory::regions(std::string_view name) const {
  if (!name.empty()) return {find(name, "system shared memory")->region};
  std::vector<Region> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, object] : objects_)
    all.push_back(object->region);
  return all;
}

std::shared_ptr<SharedMemory::Object> SharedMemory::find(std::string_view region,
                                                         std::string_view kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(region);
  if (found == objects_.end())
    refuse(Status::kNotFound, "Unable to find ", kind, " region: '", region, "'");
  return found->second;
}

Tensor SharedMemory::read(std::string_view region, uint64_t offset, uint64_t bytes, DType dtype,
                          const Shape& shape, std::string_view what) const {
  const auto object = find(region);
  const uint64_t size = object->region.byte_size;
  check_inside(region, offset, bytes, size, what);
  const std::shared_ptr<Buffer> buffer = Buffer::allocate(bytes);
  object->transfer(buffer->data(), nullptr, offset, bytes, what);
  return serving::tensor_from_binary(dtype, shape, buffer, 0, bytes, what);
}

void SharedMemory::write(std::string_view region, uint64_t offset, uint64_t bytes,
                         const Tensor& tensor, std::string_view what) const {
  const auto object = find(region);
  const uint64_t size = object->region.byte_size;
  const uint64_t needed = serving::binary_size(tensor);
  check_inside(region, offset, bytes, size, what);
  if (needed > bytes) {
    refuse(Status::kInvalidArgument, "shared memory size specified with the request for ", what,
           " should be at least ", needed, " bytes to hold the results, got ", bytes, " from ",
           offset, " on of region '", region, "', which has ", size);
  }
  if (tensor.dtype() == DType::kString) {
    std::string strings;
    serving::append_binary_strings(tensor, strings);
    object->transfer(nullptr, strings.data(), offset, needed, what);
  } else {
    object->transfer(nullptr, tensor.raw(), offset, needed, what);
  }
}

}  // namespace sardonyx::serve
