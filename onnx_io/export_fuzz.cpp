// Fuzzes export: a model that was loaded and saved is loaded again, and saves to the same bytes.
#include "onnx_io/load.h"
#include "onnx_io/save.h"
#include "tests/support/fuzz_input.h"

namespace {

using namespace sardonyx;

std::optional<Model> try_load(std::span<const std::byte> bytes) {
  std::optional<Model> model;
  fuzz::ends_well([&] { model = load_model(bytes, {.limits = {.nodes = 10'000}}); });
  return model;
}

}  // namespace

// The first byte chooses the opset to save in (0: the newest); a model's bytes follow.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const auto model = try_load({reinterpret_cast<const std::byte*>(data) + 1, size - 1});
  if (!model) return 0;
  SaveOptions options;
  if (data[0] > 0) options.opset = data[0] % 32;
  std::string first, second;
  if (!fuzz::ends_well([&] { first = model_bytes(*model, options); })) return 0;
  const bool is_stable = fuzz::ends_well([&] {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(first));
    second = model_bytes(load_model(bytes), options);
  });
  if (!is_stable) {
    try {
      load_model(std::as_bytes(std::span(first)));
    } catch (const Error& error) {
      fuzz::finding(text("what was saved can't be loaded: ", error.what()));
    }
  }
  if (is_stable && first != second) {
    // Names that were invented may settle in a second round only.
    const std::string third = model_bytes(load_model(std::as_bytes(std::span(second))), options);
    if (second != third) fuzz::finding("saved, loaded and saved again gives other bytes each time");
  }
  return 0;
}
