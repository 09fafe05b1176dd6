// What a model is to be compiled of, and where to.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <variant>

#include "executor/ort_abi/session_options.h"
#include "onnx_io/save.h"

namespace sardonyx::ort_abi {

// Memory of the caller's allocator, which is told where it is.
struct BufferOutput {
  OrtAllocator* allocator;
  void** bytes;
  size_t* size;
};
struct FunctionOutput {
  OrtWriteBufferFunc write;
  void* state;
};
struct InitializerPlacing {
  OrtGetInitializerLocationFunc function = nullptr;
  void* state = nullptr;
};
struct NamedBufferWrite {
  OrtWriteNamedBufferFunc function = nullptr;
  void* state = nullptr;
};

}  // namespace sardonyx::ort_abi

struct OrtModelCompilationOptions {
  OrtSessionOptions session;
  // The model: none yet, a file, bytes of the caller's, or one that was built.
  std::variant<std::monostate, std::filesystem::path, std::span<const std::byte>, const OrtModel*>
      input;
  std::variant<std::monostate, std::filesystem::path, sardonyx::ort_abi::BufferOutput,
               sardonyx::ort_abi::FunctionOutput>
      output;  // none: a file beside that of the model
  std::optional<sardonyx::ExternalDataOptions> external;
  // Where initializers of the written model are, as the program says; null: as above.
  sardonyx::ort_abi::InitializerPlacing placing;
  sardonyx::ort_abi::NamedBufferWrite write_ep_context;  // of contexts, which there are none of
  uint32_t flags = 0;
};
