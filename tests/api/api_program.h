// Random programs over the API, compared step by step with a model of what must come of them.
//
// A program makes sessions of one model and callers of these, in C++ and in C, which set and bind
// memory, run, free and fail, in turns or each in a thread of its own. After each run what it gives
// must be bit for bit what a fresh session gives; after each step all memory of the caller's must
// hold what the model says, with untouched canaries around it; and results that a caller keeps must
// stay as they are.
#pragma once

#include <stdexcept>

#include "tests/api/api_case.h"

namespace sardonyx::api_test {

// What is wrong, with the steps that led there.
class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ProgramLimits {
  size_t steps = 24;
  bool unmaps = false;   // memory that the caller frees is unmapped: its use ends the process
  bool threads = true;   // callers may run in threads of their own
  int most_threads = 2;  // of a session
};

// Throws Finding. `choices` decide on everything, so that a program can be had again.
void run_program(ApiCase made, fuzz::Choices& choices, const ProgramLimits& limits);

// Bytes for the choices of program number `seed`.
std::vector<uint8_t> program_bytes(uint64_t seed, size_t count);

}  // namespace sardonyx::api_test
