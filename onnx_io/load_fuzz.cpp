// Any bytes as a model: the checker and the loader agree on what is a model, and neither comes to
// harm.
#include "ir/graph.h"
#include "onnx_io/check.h"
#include "onnx_io/load.h"
#include "tests/support/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sardonyx;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const LoadOptions options{.limits = {.nodes = 10'000, .tensor_bytes = fuzz::kMemoryLimit}};
  bool has_problems = false;
  const bool was_checked =
      fuzz::ends_well([&] { has_problems = !check_model(bytes, options).empty(); });
  const bool was_loaded = fuzz::ends_well([&] { verify(*load_model(bytes, options).graph); });
  if (was_loaded && was_checked && has_problems)
    fuzz::finding("the checker found problems in a model that was loaded");
  return 0;
}
