// ai.onnx.ml
#include "ir/core/error.h"
#include "onnx_io/upgrade/functions.h"

namespace sardonyx::upgrades {

// Strings to their places in classes_strings, or places to strings, by the type of the input.
Upgraded label_encoder_1(RawCall& call) {
  auto classes = call.take_or("classes_strings", std::vector<std::string>{});
  Ints places(classes.size());
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int64_t>(i);
  const bool from_strings = call.emitter.type(call.input(0)).dtype == DType::kString;
  if (from_strings) {
    call.drop("default_string");
    call.attrs["keys_strings"] = std::move(classes);
    call.attrs["values_int64s"] = std::move(places);
  } else {
    call.drop("default_int64");
    call.attrs["keys_int64s"] = std::move(places);
    call.attrs["values_strings"] = std::move(classes);
  }
  return edited();
}

}  // namespace sardonyx::upgrades
