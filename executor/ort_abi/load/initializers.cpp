// Weights from the program, in place of those that the model has or refers to.
#include "executor/ort_abi/session_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

void add_initializer_tensor(OrtSessionOptions& options, const char* name, const OrtValue* value) {
  const std::string key = &require(name, "name");
  const Tensor& tensor = tensor_of(value);
  // A session reads the elements where they are, for as long as it lives.
  if (tensor.buffer() && tensor.buffer()->kind() != Buffer::Kind::kBorrowed)
    refuse(ORT_INVALID_ARGUMENT, "Buffer containing the initializer must be owned by the user.");
  if (!options.initializers.emplace(key, tensor).second) {
    refuse(ORT_INVALID_ARGUMENT, "An OrtValue for this name has already been added: ", key);
  }
}

}  // namespace

OrtStatus* Functions::AddInitializer(OrtSessionOptions* options, const char* name,
                                     const OrtValue* val) {
  return guarded([&] { add_initializer_tensor(require(options, "options"), name, val); });
}

OrtStatus* Functions::AddExternalInitializers(OrtSessionOptions* options,
                                              const char* const* initializer_names,
                                              const OrtValue* const* initializers,
                                              size_t num_initializers) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    if (num_initializers > 0) require(initializer_names, "initializer_names");
    if (num_initializers > 0) require(initializers, "initializers");
    for (size_t i = 0; i < num_initializers; ++i)
      add_initializer_tensor(changed, initializer_names[i], initializers[i]);
  });
}

// The bytes are copied: the program may let go of them once the session is made, whose weights
// are in the copies.
OrtStatus* Functions::AddExternalInitializersFromFilesInMemory(
    OrtSessionOptions* options, const char* const* external_initializer_file_names,
    char* const* external_initializer_file_buffer_array,
    const size_t* external_initializer_file_lengths, size_t num_external_initializer_files) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    if (num_external_initializer_files > 0) {
      require(external_initializer_file_names, "file names");
      require(external_initializer_file_buffer_array, "file buffers");
      require(external_initializer_file_lengths, "file lengths");
    }
    for (size_t i = 0; i < num_external_initializer_files; ++i) {
      const char* name = &require(external_initializer_file_names[i], "file name");
      const size_t size = external_initializer_file_lengths[i];
      char* bytes = external_initializer_file_buffer_array[i];
      if (size > 0) require(bytes, "file buffer");
      const Shape shape{static_cast<int64_t>(size)};
      if (shape[0] < 0) refuse(ORT_INVALID_ARGUMENT, "file length: ", size, " bytes");
      const Tensor file(DType::kUInt8, shape, Buffer::borrow(bytes, size, nullptr));
      if (!changed.external_files.emplace(name, file.clone()).second) {
        refuse(ORT_INVALID_ARGUMENT, "An external initializer file of this name has already been ",
               "added: ", name);
      }
    }
  });
}

}  // namespace sardonyx::ort_abi
