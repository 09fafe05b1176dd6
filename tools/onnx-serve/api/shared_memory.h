// Regions of POSIX shared memory that clients on the same machine have registered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/tensor.h"

namespace sardonyx::serve {

class SharedMemory {
 public:
  struct Region {
    std::string name, key;
    uint64_t offset = 0, byte_size = 0;
  };

  // Takes `byte_size` bytes from `offset` on of the object that shm_open() knows as `key`. Each
  // throws ServingError kInvalidArgument or kNotFound.
  void add(const Region& region);
  void remove(std::string_view name);
  void remove_all();
  std::vector<Region> regions(std::string_view name = {}) const;

  // Copies elements out of a region and into one. A client that shrinks its object meanwhile gets
  // an error and no more.
  Tensor read(std::string_view region, uint64_t offset, uint64_t bytes, DType dtype,
              const Shape& shape, std::string_view what) const;
  void write(std::string_view region, uint64_t offset, uint64_t bytes, const Tensor& tensor,
             std::string_view what) const;

 private:
  class Object;
  std::shared_ptr<Object> find(std::string_view region,
                               std::string_view kind = "shared memory") const;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Object>, std::less<>> objects_;
};

}  // namespace sardonyx::serve
