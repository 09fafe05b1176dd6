// Random programs over the API, on models of any row of the op table.
#include "tests/api/api_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sardonyx;
  using namespace sardonyx::api_test;
  // Behind the input come choices that follow from it, so that every program is of full length.
  std::vector<uint8_t> bytes(data, data + size);
  uint64_t seed = 0;
  for (const uint8_t byte : bytes)
    seed = seed * 1099511628211u + byte + 1;
  const std::vector<uint8_t> rest = program_bytes(seed, 1024);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  fuzz::Choices choices(bytes.data(), bytes.size());
  try {
    const ApiCase made = row_case(choices);
    if (!made.name.empty())
      run_program(made, choices, {.steps = 24, .unmaps = true, .threads = true});
  } catch (const Finding& found) {
    fuzz::finding(found.what());
  } catch (const Error& error) {  // a model that is refused
    if (error.code() == ErrorCode::kInternal) fuzz::finding(error.what());
  }
  return 0;
}
