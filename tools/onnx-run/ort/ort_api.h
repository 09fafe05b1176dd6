// The part of ONNX Runtime's C interface that is used here. The interface is a table of functions
// to which entries are only ever added, so each has one place for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "ir/core/error.h"

namespace sardonyx::tool::ort {

// Objects that only the library looks into.
struct Status;
struct Env;
struct SessionOptions;
struct Session;
struct Value;
struct MemoryInfo;
struct Allocator;
struct TensorInfo;

// Places in the table.
enum OrtApiSlot : size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetSessionGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kSessionGetInputCount = 30,
  kSessionGetOutputCount = 31,
  kSessionGetInputName = 36,
  kSessionGetOutputName = 37,
  kCreateTensorAsOrtValue = 48,
  kCreateTensorWithDataAsOrtValue = 49,
  kGetTensorMutableData = 51,
  kFillStringTensor = 52,
  kGetStringTensorDataLength = 53,
  kGetStringTensorContent = 54,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetTensorTypeAndShape = 65,
  kGetValueType = 67,
  kCreateCpuMemoryInfo = 69,
  kAllocatorFree = 76,
  kGetAllocatorWithDefaultOptions = 78,
  kGetValue = 80,
  kGetValueCount = 81,
  kCreateValue = 82,
  kReleaseEnv = 92,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseTensorInfo = 99,
  kAddSessionConfigEntry = 130,
  kReleaseSessionOptions = 100,
};

// Values of the interface's enumerations.
enum ValueKind : int { kTensorValue = 1, kSequenceValue = 2, kMapValue = 3 };
enum OptimizationLevel : int { kDisableAll = 0, kEnableAll = 99 };
inline constexpr int kLogFatal = 4;
inline constexpr int kDeviceAllocator = 0;
inline constexpr int kDefaultMemory = 0;

// The loaded library; it stays loaded until the process ends.
class Api {
 public:
  explicit Api(const std::filesystem::path& library);

  const std::string& version() const { return version_; }

  // Calls an entry that returns a status; throws Error(kInvalidArgument) with the library's
  // message.
  template <typename... Args>
  void call(OrtApiSlot entry, Args... args) const {
    using Function = Status* (*)(Args...);
    check(reinterpret_cast<Function>(table_[entry])(args...));
  }
  // Calls an entry that releases an object.
  template <typename Object>
  void release(OrtApiSlot entry, Object* object) const {
    reinterpret_cast<void (*)(Object*)>(table_[entry])(object);
  }

 private:
  void check(Status* status) const;
  void* const* table_;
  std::string version_;
};

// Owns an object of the library's.
template <typename Object, OrtApiSlot release_entry>
class Owned {
 public:
  Owned() = default;
  explicit Owned(const Api& api) : api_(&api) {}
  Owned(Owned&& other) noexcept : api_(other.api_), object_(other.object_) {
    other.object_ = nullptr;
  }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_) api_->release(release_entry, object_);
  }
  Object* get() const { return object_; }
  Object** out() { return &object_; }  // for a call that makes the object

 private:
  const Api* api_ = nullptr;
  Object* object_ = nullptr;
};

using OwnedEnv = Owned<Env, kReleaseEnv>;
using OwnedOptions = Owned<SessionOptions, kReleaseSessionOptions>;
using OwnedSession = Owned<Session, kReleaseSession>;
using OwnedValue = Owned<Value, kReleaseValue>;
using OwnedMemoryInfo = Owned<MemoryInfo, kReleaseMemoryInfo>;
using OwnedTensorInfo = Owned<TensorInfo, kReleaseTensorInfo>;

}  // namespace sardonyx::tool::ort
