// Inputs and outputs that are named once for many runs.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "executor/ort_abi/run.h"

struct OrtIoBinding {
  OrtSession* session;

  explicit OrtIoBinding(OrtSession& of) : session(&of) {}

  void bind_input(const char* name, const OrtValue& value);
  // An absent value is made by the first run, and written by those that follow.
  void bind_output(const char* name, OrtValue value);
  void clear_inputs();
  void clear_outputs();
  sardonyx::ort_abi::RunRequest request() const;

  // Copies share their elements with what was bound.
  struct BoundValue {
    std::string name;
    OrtValue value;
  };
  std::deque<BoundValue> inputs, outputs;  // what the lists below point to

 private:
  std::vector<const char*> input_names_, output_names_;
  std::vector<const OrtValue*> input_values_;
  mutable std::vector<OrtValue*> output_values_;
};
