// An inference request as the protocol has it over HTTP.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "executor/batching/infer_request.h"
#include "executor/serving/served_model.h"
#include "tools/onnx-serve/http/message.h"

namespace sardonyx::serve {

using ParameterValue = std::variant<bool, int64_t, uint64_t, double, std::string>;
using Parameters = std::map<std::string, ParameterValue, std::less<>>;

// Each throws ServingError kInvalidArgument where the parameter is there and of another type.
std::optional<bool> bool_parameter(const Parameters& parameters, std::string_view name);
std::optional<uint64_t> count_parameter(const Parameters& parameters, std::string_view name);
std::optional<std::string> string_parameter(const Parameters& parameters, std::string_view name);

struct RequestedOutput {
  std::string name;
  Parameters parameters;
};

struct ParsedInfer {
  struct Input {
    std::string name, datatype;
    Shape shape;
    Parameters parameters;
    std::string_view data;  // the JSON array, in the request's text; empty: none was given
    bool has_data = false;
  };
  std::optional<std::string> id;
  Parameters parameters;
  std::vector<Input> inputs;
  std::vector<RequestedOutput> outputs;
};

// Reads the JSON of a request; `data` refers to `text`, which is followed by padding. Throws
// ServingError kInvalidArgument.
ParsedInfer parse_infer(const std::string& text);

// What the parameters of a request say of scheduling and sequences. Throws ServingError
// kInvalidArgument.
void apply_parameters(const Parameters& parameters, serving::InferRequest& request);

class Trace;

// Where clients may leave and fetch tensors without sending them (parameter shared_memory_region).
class SharedMemory;

// Throws ServingError where there is none (clients may not use it), or the parameter with the size
// is missing.
void expect_shared_memory(const SharedMemory* memory, bool has_size, std::string_view what);

// The tensors of a request: from the JSON, from the binary part, from shared memory. Throws
// ServingError kInvalidArgument.
std::vector<serving::NamedTensor> request_tensors(const HttpRequest& http,
                                                  const ParsedInfer& parsed,
                                                  const serving::ServedModel& model,
                                                  const SharedMemory* memory);
// The body as the only input of the model.
std::vector<serving::NamedTensor> raw_tensors(const HttpRequest& http,
                                              const serving::ServedModel& model);

// `outputs`: by index; empty: all, as `parameters` says.
struct OutputChoice {
  std::vector<size_t> order;  // indices into the model's outputs, as the client wants them
  std::vector<Parameters> parameters;
};
OutputChoice choose_outputs(const ParsedInfer& parsed, const serving::ServedModel& model);

// The answer to a request whose outputs these are. Throws ServingError.
HttpAnswer infer_answer(const serving::ServedModel& model, const ParsedInfer& parsed,
                        const OutputChoice& choice, const std::vector<Datum>& outputs,
                        bool prefers_binary, const SharedMemory* memory);

// The tensors of a request that is traced, and those of its answer.
void add_inputs(Trace& trace, const std::vector<serving::NamedTensor>& tensors);
void add_outputs(Trace& trace, const serving::ServedModel& model, const OutputChoice& choice,
                 const std::vector<Datum>& outputs);

// The `k` largest of each item as "value:index[:label]", strings of shape [k], or [batch, k] where
// the model batches. Throws ServingError kInvalidArgument.
Tensor classification(const Tensor& scores, uint64_t k, const serving::TensorConfig& output,
                      bool has_batch_dim);

}  // namespace sardonyx::serve
