// Operators of the program's: what their functions see and make.
#include <algorithm>

#include "executor/c_api/custom_op.h"
#include "executor/c_api/value.h"
#include "ir/core/threading/parallel_for.h"

namespace sardonyx::c_api {
namespace {

DType dtype_of_number(int32_t number) {
  if (number <= 0 || number >= kDTypeCount)
    fail(ErrorCode::kInvalidArgument, "dtype: expected one of sx_dtype, got ", number);
  return static_cast<DType>(number);
}

// The attribute, kept alive with the others that were read; null where it has no value.
template <typename T>
const T* read_attribute(sx_op_attributes* attributes, const char* name) {
  sx_op_attributes& known = require(attributes, "attributes");
  if (!known.attrs.schema().find(&require(name, "name")))
    fail(ErrorCode::kInvalidArgument, "name: the operator has no attribute ", name);
  std::optional<AttrValue> value = known.attrs.get(name);
  if (!value) return nullptr;
  const T* held = std::get_if<T>(&known.read.emplace_back(std::move(*value)));
  if (held) return held;
  fail(ErrorCode::kInvalidArgument, "attribute ", name, " is of kind ",
       kind_name(known.read.back()), ", another one was asked for");
}

template <typename T>
sx_status read_list(sx_op_attributes* attributes, const char* name, const T** values,
                    size_t* count) {
  return guarded([&] {
    require(values, "values") = nullptr;
    require(count, "count") = 0;
    const auto* held = read_attribute<std::vector<T>>(attributes, name);
    if (!held) return;
    *values = held->data();
    *count = held->size();
  });
}

template <typename T, typename Read>
sx_status read_number(sx_op_attributes* attributes, const char* name, Read* value) {
  return guarded([&] {
    Read& place = require(value, "value");
    const T* held = read_attribute<T>(attributes, name);
    if (!held) fail(ErrorCode::kInvalidArgument, "attribute ", name, " was not given");
    place = static_cast<Read>(*held);
  });
}

int64_t number_of(const Dim& dim) {
  return dim.try_value().value_or(-1);
}

const std::vector<int64_t>& kept_dims(sx_op_inference& inference, const Dims& dims) {
  std::vector<int64_t>& numbers = inference.lists.emplace_back();
  for (const Dim& dim : dims)
    numbers.push_back(number_of(dim));
  return numbers;
}

Dims dims_of(InferContext& context, std::span<const int64_t> numbers) {
  Dims dims;
  for (const int64_t number : numbers) {
    if (number < -1)
      fail(ErrorCode::kInvalidArgument, "dims: expected at least 0, or -1, got ", number);
    dims.push_back(number < 0 ? context.unknown() : Dim(number));
  }
  return dims;
}

Datum& output_at(sx_op_call* call, size_t index) {
  const std::span<Datum> outputs = require(call, "call").call.outputs;
  check_index(index, outputs, "outputs");
  return outputs[index];
}

const Datum& input_at(const sx_op_call* call, size_t index) {
  static const Datum omitted;
  const EvalCall& known = require(call, "call").call;
  if (index < known.inputs.size()) return known.inputs[index];
  check_index(index, signature_of(known.op).inputs, "inputs");
  return omitted;
}

void check_inference_input(const InferContext& context, size_t index) {
  if (index < context.input_count()) return;
  fail(ErrorCode::kInvalidArgument, "index: there are ", context.input_count(), " inputs, got ",
       index);
}

void check_inference_output(const InferContext& context, size_t index) {
  if (index < context.output_count()) return;
  fail(ErrorCode::kInvalidArgument, "index: there are ", context.output_count(), " outputs, got ",
       index);
}

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

size_t sx_op_call_input_count(const sx_op_call* call) {
  return call ? call->call.inputs.size() : 0;
}
size_t sx_op_call_output_count(const sx_op_call* call) {
  return call ? call->call.outputs.size() : 0;
}

sx_status sx_op_call_input(const sx_op_call* call, size_t index, sx_tensor* tensor) {
  return guarded([&] {
    const Datum& input = input_at(call, index);
    const std::string what = text("input ", index);
    fill_struct(tensor, input.defined() ? described(tensor_in(input, what), false) : sx_tensor{},
                "tensor");
  });
}

sx_status sx_op_call_input_value(const sx_op_call* call, size_t index, sx_value** value) {
  return guarded([&] {
    sx_value*& place = require_place(value, "value");
    const Datum& input = input_at(call, index);
    if (!input.defined()) return;
    // The input is copied: the handle may outlive the run's memory.
    place = new sx_value(input.is_tensor() ? Datum(input.tensor().clone()) : input);
  });
}

sx_status sx_op_call_make_output(sx_op_call* call, size_t index, sx_dtype dtype,
                                 const int64_t* dims, size_t rank, void** data) {
  return guarded([&] {
    void*& place = require_place(data, "data");
    output_at(call, index);
    if (dtype == SX_STRING)
      fail(ErrorCode::kInvalidArgument, "dtype: strings are made as values: sx_op_call_set_output");
    const Shape shape = shape_of(dims, rank);
    place = call->call.tensor(index, dtype_of_number(dtype), shape).raw();
  });
}

sx_status sx_op_call_set_output(sx_op_call* call, size_t index, const sx_value* value) {
  return guarded([&] { output_at(call, index) = require(value, "value").datum; });
}

sx_status sx_op_call_parallel_for(sx_op_call* call, int64_t count, int64_t least,
                                  void (*work)(void* argument, int64_t begin, int64_t end),
                                  void* argument) {
  return guarded([&] {
    require(call, "call");
    require(work, "work");
    if (count <= 0) return;
    const int64_t parts = std::clamp<int64_t>(count / std::max<int64_t>(least, 1), 1, kMaxThreads);
    parallel_for(count, static_cast<int>(parts),
                 [&](int64_t begin, int64_t end, int) { work(argument, begin, end); });
  });
}

sx_op_attributes* sx_op_call_attributes(sx_op_call* call) {
  return call ? &call->attributes : nullptr;
}
sx_op_attributes* sx_op_inference_attributes(sx_op_inference* inference) {
  return inference ? &inference->attributes : nullptr;
}

sx_status sx_op_attribute_int(sx_op_attributes* attributes, const char* name, int64_t* value) {
  return read_number<int64_t>(attributes, name, value);
}
sx_status sx_op_attribute_float(sx_op_attributes* attributes, const char* name, double* value) {
  return read_number<float>(attributes, name, value);
}
sx_status sx_op_attribute_string(sx_op_attributes* attributes, const char* name, const char** value,
                                 size_t* length) {
  return guarded([&] {
    require(value, "value") = nullptr;
    if (length) *length = 0;
    const auto* held = read_attribute<std::string>(attributes, name);
    if (!held) return;
    *value = held->c_str();
    if (length) *length = held->size();
  });
}
sx_status sx_op_attribute_ints(sx_op_attributes* attributes, const char* name,
                               const int64_t** values, size_t* count) {
  return read_list(attributes, name, values, count);
}
sx_status sx_op_attribute_floats(sx_op_attributes* attributes, const char* name,
                                 const float** values, size_t* count) {
  return read_list(attributes, name, values, count);
}

sx_status sx_op_attribute_strings(sx_op_attributes* attributes, const char* name,
                                  const char* const** values, size_t* count) {
  return guarded([&] {
    require(values, "values") = nullptr;
    require(count, "count") = 0;
    const auto* held = read_attribute<std::vector<std::string>>(attributes, name);
    if (!held) return;
    std::vector<const char*>& pointers = attributes->strings.emplace_back();
    for (const std::string& string : *held)
      pointers.push_back(string.c_str());
    *values = pointers.data();
    *count = pointers.size();
  });
}

sx_status sx_op_attribute_tensor(sx_op_attributes* attributes, const char* name, sx_value** value) {
  return guarded([&] {
    sx_value*& place = require_place(value, "value");
    const Tensor* held = read_attribute<Tensor>(attributes, name);
    if (held && held->defined()) place = new sx_value(Datum(*held));
  });
}

size_t sx_op_inference_input_count(const sx_op_inference* inference) {
  return inference ? inference->context.input_count() : 0;
}
size_t sx_op_inference_output_count(const sx_op_inference* inference) {
  return inference ? inference->context.output_count() : 0;
}

sx_status sx_op_inference_input(sx_op_inference* inference, size_t index, int32_t* dtype,
                                int32_t* rank, const int64_t** dims) {
  return guarded([&] {
    const InferContext& context = require(inference, "inference").context;
    check_inference_input(context, index);
    const bool is_tensor = context.has(index) && context.type(index).is_tensor();
    const Dims* shape = is_tensor ? context.shape(index) : nullptr;
    if (dtype) *dtype = is_tensor ? static_cast<int32_t>(context.dtype(index)) : SX_UNDEFINED;
    if (rank) *rank = shape ? static_cast<int32_t>(shape->size()) : -1;
    if (dims) *dims = shape ? kept_dims(*inference, *shape).data() : nullptr;
  });
}

sx_status sx_op_inference_elements(sx_op_inference* inference, size_t index,
                                   const int64_t** elements, size_t* count) {
  return guarded([&] {
    require(elements, "elements") = nullptr;
    require(count, "count") = 0;
    const InferContext& context = require(inference, "inference").context;
    check_inference_input(context, index);
    std::optional<std::vector<int64_t>> known = context.int64s(index);
    if (!known) return;
    const std::vector<int64_t>& kept = inference->lists.emplace_back(std::move(*known));
    *elements = kept.data();
    *count = kept.size();
  });
}

sx_status sx_op_inference_set_output(sx_op_inference* inference, size_t index, sx_dtype dtype,
                                     const int64_t* dims, int32_t rank) {
  return guarded([&] {
    InferContext& context = require(inference, "inference").context;
    check_inference_output(context, index);
    const DType type = dtype_of_number(dtype);
    constexpr int32_t kMaxRank = 64;
    if (rank < -1 || rank > kMaxRank)
      fail(ErrorCode::kInvalidArgument, "rank: expected -1 to ", kMaxRank, ", got ", rank);
    if (rank > 0) require(dims, "dims");
    if (rank < 0)
      context.set(index, Type::tensor(type));
    else
      context.set(index, type, dims_of(context, {dims, static_cast<size_t>(rank)}));
  });
}

sx_status sx_op_inference_copy(sx_op_inference* inference, size_t output, size_t input) {
  return guarded([&] {
    InferContext& context = require(inference, "inference").context;
    check_inference_output(context, output);
    check_inference_input(context, input);
    if (!context.has(input))
      fail(ErrorCode::kInvalidArgument, "input ", input, " is omitted: it has no type");
    context.set(output, context.type(input));
  });
}

}  // extern "C"
