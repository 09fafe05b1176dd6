// IO bindings.
#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

const std::string kFloats = tensor_type(1, {"n", "3"});

void bound(const OrtIoBinding* binding) {
  char* names = nullptr;
  size_t* lengths = nullptr;
  size_t count = 99;
  if (answer("  names",
             lib.api->GetBoundOutputNames(binding, lib.allocator, &names, &lengths, &count))) {
    line("  count", count);
    size_t at = 0;
    for (size_t i = 0; i < count; at += lengths[i++])
      line("  name", std::string(names + at, lengths[i]));
  }
  OrtValue** values = nullptr;
  count = 99;
  if (answer("  values", lib.api->GetBoundOutputValues(binding, lib.allocator, &values, &count))) {
    line("  count", count);
    for (size_t i = 0; i < count; ++i)
      line("  value", described(values[i]));
  }
}

}  // namespace

void binding_chapter() {
  OrtSession* session =
      load("binding", model({{port("x", kFloats), port("w", tensor_type(1, {"3"}))},
                             {port("y", kFloats), port("z \xc3\xa9", kFloats)},
                             {{"Add", {"x", "w"}, {"y"}}, {"Mul", {"x", "w"}, {"z \xc3\xa9"}}},
                             {initializer<float>("w", 1, {3}, {10, 20, 30})}}));
  OrtIoBinding* binding = nullptr;
  ANSWER(CreateIoBinding(session, &binding));
  ANSWER(RunWithBinding(session, nullptr, binding));
  bound(binding);
  OrtValue* x = tensor<float>({1, 3}, {1, 2, 3});
  OrtValue* two = tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  OrtIoBinding* other_binding = nullptr;
  ANSWER(CreateIoBinding(session, &other_binding));
  ANSWER(BindInput(other_binding, "none", x));
  ANSWER(BindInput(binding, "w", tensor<double>({3}, {1, 2, 3})));
  ANSWER(BindInput(binding, "x", x));
  ANSWER(BindOutput(binding, "none", x));
  ANSWER(RunWithBinding(session, nullptr, binding));
  lib.api->ClearBoundOutputs(binding);
  lib.api->ClearBoundInputs(binding);
  bound(binding);
  ANSWER(BindInput(binding, "x", x));
  ANSWER(BindOutputToDevice(binding, "z \xc3\xa9", lib.cpu));
  ANSWER(BindOutputToDevice(binding, "y", lib.cpu));
  bound(binding);
  ANSWER(RunWithBinding(session, nullptr, binding));
  bound(binding);
  ANSWER(BindInput(binding, "x", two));
  ANSWER(RunWithBinding(session, nullptr, binding));
  lib.api->ClearBoundOutputs(binding);
  ANSWER(BindOutput(binding, "y", tensor<float>({2, 3}, std::vector<float>(6))));
  ANSWER(RunWithBinding(session, nullptr, binding));
  bound(binding);
  ANSWER(BindOutput(binding, "y", tensor<float>({1, 3}, std::vector<float>(3))));
  ANSWER(RunWithBinding(session, nullptr, binding));
  ANSWER(BindOutput(binding, "y", tensor<double>({2, 3}, std::vector<double>(6))));
  ANSWER(RunWithBinding(session, nullptr, binding));
  ANSWER(SynchronizeBoundInputs(binding));
  ANSWER(SynchronizeBoundOutputs(binding));
  OrtMemoryInfo* gpu = nullptr;
  ANSWER(CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, &gpu));
  ANSWER(BindOutputToDevice(binding, "y", gpu));
  ANSWER(RunWithBinding(session, nullptr, binding));
  OrtRunOptions* with = run_options();
  (void)lib.api->RunOptionsSetTerminate(with);
  lib.api->ClearBoundOutputs(binding);
  ANSWER(BindOutputToDevice(binding, "y", lib.cpu));
  ANSWER(RunWithBinding(session, with, binding));
  OrtSession* other = load("other", relu());
  ANSWER(RunWithBinding(other, nullptr, binding));
}

}  // namespace behaviour
