// Any bytes as an image, in each of the decoder's pixel formats.
#include "ir/reference_evaluator.h"
#include "tests/support/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sardonyx;
  if (size < 1) return 0;
  constexpr const char* kFormats[] = {"RGB", "BGR", "Grayscale"};
  const std::string format = kFormats[data[0] % 3];
  fuzz::ends_well([&] {
    const OpDef& op = op_named("ImageDecoder");
    const Datum stream = Tensor::vector(std::vector<uint8_t>(data + 1, data + size));
    const Attrs attrs = Attrs::parse(*op.attrs, {{"pixel_format", format}});
    evaluate(op, attrs, {&stream, 1}, 1);
  });
  return 0;
}
