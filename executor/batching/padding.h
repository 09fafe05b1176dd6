// Dynamic batches of requests whose lengths differ: shorter ones are padded, and their outputs cut.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/run_report.h"
#include "ir/datum.h"

namespace sardonyx::serving {

class Padding {
 public:
  // `setting`: "input_ids=0, attention_mask=0", the inputs that may be padded and with what. Their
  // open dims, the first one (the batch) aside, are lengths. Throws ServingError kInvalidArgument
  // where the model's types do not tell how long its outputs are for given lengths.
  Padding(std::string_view setting, std::span<const ValueInfo> inputs,
          std::span<const ValueInfo> outputs);

  // What requests that may run as one batch have in common: all but the lengths, which are less
  // than twice each other.
  std::string key(std::span<const Datum> inputs) const;
  // Elements of the inputs that may be padded.
  int64_t elements(std::span<const Datum> inputs) const;
  // One request after the other, each padded to the longest.
  std::vector<Datum> join(std::span<const std::span<const Datum>> requests) const;
  // A request's rows of output `index`, as long as for that request alone. Throws ServingError
  // kInternal where the output is not what the model's types say.
  Datum cut(size_t index, const Tensor& rows, std::span<const Datum> inputs) const;

 private:
  struct PaddedInput {
    bool is_padded = false;
    double value = 0;
    std::vector<size_t> axes;          // that are lengths
    std::vector<std::string> symbols;  // of them
  };
  struct OutputLength {
    size_t axis;
    Dim size;
  };
  Dim size_for(const Dim& dim, std::span<const Datum> inputs) const;

  std::vector<PaddedInput> inputs_;
  std::vector<std::vector<OutputLength>> outputs_;  // axes whose sizes follow from lengths
  std::vector<std::string> output_names_;
};

}  // namespace sardonyx::serving
