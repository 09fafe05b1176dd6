// The C interface: see include/sardonyx/sardonyx.h.
#include <cstdio>
#include <deque>
#include <stop_token>
#include <string>
#include <vector>

#include "executor/c_structs.h"
#include "executor/session.h"

namespace sardonyx::c_api {
namespace {

// Fixed memory: to tell of an error must not fail.
thread_local char t_message[4000];
thread_local char t_node[500];

sx_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return SX_INVALID_ARGUMENT;
    case ErrorCode::kInvalidModel:
      return SX_INVALID_MODEL;
    case ErrorCode::kUnsupported:
      return SX_UNSUPPORTED;
    case ErrorCode::kResourceExhausted:
      return SX_RESOURCE_EXHAUSTED;
    case ErrorCode::kCancelled:
      return SX_CANCELLED;
    case ErrorCode::kDeadlineExceeded:
      return SX_DEADLINE_EXCEEDED;
    case ErrorCode::kInternal:
      break;
  }
  return SX_INTERNAL;
}

// A value of the model in the form of sx_value_info.
struct Described {
  std::string name, type;
  std::vector<int64_t> dims;
  std::vector<std::string> dim_texts;
  std::vector<const char*> dim_names;
  sx_value_info info{};
};

int32_t kind_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return SX_TENSOR;
    case Type::Kind::kSparseTensor:
      return SX_SPARSE_TENSOR;
    case Type::Kind::kSequence:
      return SX_SEQUENCE;
    case Type::Kind::kOptional:
      return SX_OPTIONAL;
    case Type::Kind::kMap:
      return SX_MAP;
    default:
      return SX_OTHER;
  }
}

// In place: the info points into it.
void describe(Described& to, const ValueInfo& value, bool is_optional) {
  to.name = value.name;
  to.type = value.type.text();
  const bool has_dims = value.type.is_tensor() && value.type.has_rank();
  for (size_t i = 0; has_dims && i < value.type.rank(); ++i) {
    const Dim& dim = (*value.type.shape)[i];
    to.dims.push_back(dim.try_value().value_or(-1));
    to.dim_texts.push_back(dim.is_known() ? "" : dim.text());
  }
  for (const std::string& text : to.dim_texts)
    to.dim_names.push_back(text.empty() ? nullptr : text.c_str());
  to.info.name = to.name.c_str();
  to.info.type = to.type.c_str();
  to.info.kind = kind_of(value.type);
  to.info.dtype = value.type.is_tensor() ? static_cast<int32_t>(value.type.dtype) : SX_UNDEFINED;
  to.info.rank = has_dims ? static_cast<int32_t>(to.dims.size()) : -1;
  to.info.is_optional = is_optional;
  to.info.dims = to.dims.data();
  to.info.dim_names = to.dim_names.data();
}

sx_session_options default_options() {
  const SessionOptions options;
  sx_session_options made{};
  made.optimization_level = options.optimization_level;
  made.memory_limit = options.memory_limit;
  made.max_plans = options.max_plans;
  return made;
}

SessionOptions options_of(const sx_session_options* given) {
  const sx_session_options read = read_struct(given, default_options(), "options");
  SessionOptions options;
  if (read.threads < 0)
    fail(ErrorCode::kInvalidArgument, "threads: expected at least 0, got ", read.threads);
  if (read.load_deadline_ms < 0) {
    fail(ErrorCode::kInvalidArgument, "load_deadline_ms: expected at least 0, got ",
         read.load_deadline_ms);
  }
  options.intra_op_threads = read.threads;
  options.optimization_level = read.optimization_level;
  options.memory_limit = read.memory_limit;
  options.max_plans = read.max_plans;
  if (read.load_deadline_ms > 0)
    options.load_deadline = std::chrono::milliseconds(read.load_deadline_ms);
  if (read.providers) {
    options.providers.clear();
    const std::string_view names = read.providers;
    for (size_t begin = 0; begin < names.size();) {
      const size_t end = std::min(names.find(',', begin), names.size());
      options.providers.emplace_back(names.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (read.allowed_root) options.load.allowed_root = read.allowed_root;
  if (read.bfloat16) options.precision = Precision::kBFloat16;
  if (read.plan_cache) options.plan_cache = read.plan_cache;
  return options;
}

Shape shape_of(const int64_t* dims, size_t rank) {
  constexpr size_t kMostDims = 64;
  if (rank > kMostDims)
    fail(ErrorCode::kInvalidArgument, "rank: expected at most ", kMostDims, ", got ", rank);
  if (rank > 0) require(dims, "dims");
  Shape shape(dims, dims + rank);
  for (const int64_t dim : shape) {
    if (dim < 0) fail(ErrorCode::kInvalidArgument, "dims: expected at least 0, got ", dim);
  }
  element_count(shape);  // throws where it overflows
  return shape;
}

// A tensor in memory of the caller's.
Tensor borrowed(sx_dtype dtype, const int64_t* dims, size_t rank, void* data, size_t size) {
  const int number = static_cast<int>(dtype);
  if (number <= 0 || number >= kDTypeCount || dtype == SX_STRING) {
    fail(ErrorCode::kInvalidArgument, "dtype: expected one of sx_dtype, and no strings, got ",
         number);
  }
  Shape shape = shape_of(dims, rank);
  const size_t needed = bytes_for(static_cast<DType>(number), element_count(shape));
  if (size != needed) {
    fail(ErrorCode::kInvalidArgument, "size: ", name_of(static_cast<DType>(number)), to_text(shape),
         " takes ", needed, " bytes, got ", size);
  }
  if (needed > 0) require(static_cast<std::byte*>(data), "data");
  return Tensor(static_cast<DType>(number), std::move(shape), Buffer::borrow(data, size, nullptr));
}

template <typename List>
void check_index(size_t index, const List& list, const char* what) {
  if (index >= list.size()) {
    fail(ErrorCode::kInvalidArgument, "index: there are ", list.size(), " ", what, ", got ", index);
  }
}

}  // namespace

sx_status note_error(const Error& error) noexcept {
  std::snprintf(t_node, sizeof t_node, "%s", error.node().c_str());
  std::snprintf(t_message, sizeof t_message, "%s", error.what());
  return status_of(error.code());
}

sx_status note_error(sx_status status, const char* message) noexcept {
  t_node[0] = '\0';
  std::snprintf(t_message, sizeof t_message, "%s", message);
  return status;
}

}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

struct sx_session {
  Session session;
  std::deque<Described> inputs, outputs;

  explicit sx_session(Session made) : session(std::move(made)) {
    for (const ValueInfo& value : session.inputs())
      describe(inputs.emplace_back(), value, false);
    for (const ValueInfo& value : session.optional_inputs())
      describe(inputs.emplace_back(), value, true);
    for (const ValueInfo& value : session.outputs())
      describe(outputs.emplace_back(), value, false);
  }
};

struct sx_binding {
  sx_session* owner;
  std::vector<Datum> inputs;
  std::vector<OutputSlot> outputs;

  explicit sx_binding(sx_session& session)
      : owner(&session), inputs(session.inputs.size()), outputs(session.outputs.size()) {}

  // Of the inputs those that must be given, or all where an optional one is.
  std::span<const Datum> given() const {
    const size_t required = owner->session.inputs().size();
    const auto optional = std::span(inputs).subspan(required);
    const bool any = std::ranges::any_of(optional, &Datum::defined);
    return std::span(inputs).first(any ? inputs.size() : required);
  }
};

struct sx_cancellation {
  std::stop_source source;
};

namespace {

sx_status create(const sx_session_options* options, sx_session** session, const auto& load) {
  return guarded([&] {
    require(session, "session") = nullptr;
    *session = new sx_session(load(options_of(options)));
  });
}

using Values = std::deque<Described> sx_session::*;

sx_status find(const sx_session* session, Values of, const char* name, size_t* index,
               const char* what) {
  return guarded([&] {
    const std::deque<Described>& values = require(session, "session").*of;
    require(name, "name");
    require(index, "index");
    const auto at = std::ranges::find(values, name, &Described::name);
    if (at == values.end())
      fail(ErrorCode::kInvalidArgument, "name: the model has no ", what, " ", name);
    *index = static_cast<size_t>(at - values.begin());
  });
}

sx_status inform(const sx_session* session, Values of, size_t index, sx_value_info* info,
                 const char* what) {
  return guarded([&] {
    const std::deque<Described>& values = require(session, "session").*of;
    const size_t size = require(info, "info").struct_size;
    check_index(index, values, what);
    write_struct(*info, size, values[index].info, "info");
  });
}

const Tensor& output_tensor(const sx_binding* binding, size_t index) {
  const std::vector<OutputSlot>& outputs = require(binding, "binding").outputs;
  check_index(index, outputs, "outputs");
  const Datum& output = outputs[index].value();
  if (!output.defined())
    fail(ErrorCode::kInvalidArgument, "output ", index, ": nothing has been run yet");
  if (!output.is_tensor()) {
    fail(ErrorCode::kUnsupported, "output ", index, " is ", output.type(),
         ", which the C interface does not hand out");
  }
  return output.tensor();
}

}  // namespace

extern "C" {

const char* sx_version(void) {
  return SARDONYX_VERSION;
}

const char* sx_status_name(sx_status status) {
  constexpr const char* kNames[] = {
      "ok",        "invalid argument",  "invalid model", "unsupported", "resource exhausted",
      "cancelled", "deadline exceeded", "internal"};
  const auto index = static_cast<size_t>(status);
  return index < std::size(kNames) ? kNames[index] : "unknown status";
}

const char* sx_last_error(void) {
  return t_message;
}
const char* sx_last_error_node(void) {
  return t_node;
}

sx_status sx_session_options_init(sx_session_options* options, size_t struct_size) {
  return guarded([&] {
    write_struct(require(options, "options"), struct_size, default_options(), "options");
  });
}

sx_status sx_session_create(const char* path, const sx_session_options* options,
                            sx_session** session) {
  return create(options, session, [&](SessionOptions read) {
    return Session(std::filesystem::path(&require(path, "path")), std::move(read));
  });
}

sx_status sx_session_create_from_bytes(const void* bytes, size_t size,
                                       const sx_session_options* options, sx_session** session) {
  return create(options, session, [&](SessionOptions read) {
    const auto* data = static_cast<const std::byte*>(bytes);
    if (size > 0) require(data, "bytes");
    return Session(std::span(data, size), std::move(read));
  });
}

void sx_session_destroy(sx_session* session) {
  delete session;
}

size_t sx_session_input_count(const sx_session* session) {
  return session ? session->inputs.size() : 0;
}
size_t sx_session_output_count(const sx_session* session) {
  return session ? session->outputs.size() : 0;
}

sx_status sx_session_input(const sx_session* session, size_t index, sx_value_info* info) {
  return inform(session, &sx_session::inputs, index, info, "inputs");
}
sx_status sx_session_output(const sx_session* session, size_t index, sx_value_info* info) {
  return inform(session, &sx_session::outputs, index, info, "outputs");
}
sx_status sx_session_find_input(const sx_session* session, const char* name, size_t* index) {
  return find(session, &sx_session::inputs, name, index, "input");
}
sx_status sx_session_find_output(const sx_session* session, const char* name, size_t* index) {
  return find(session, &sx_session::outputs, name, index, "output");
}

sx_status sx_session_stats(const sx_session* session, sx_stats* stats) {
  return guarded([&] {
    const Session::Stats now = require(session, "session").session.stats();
    const size_t size = require(stats, "stats").struct_size;
    write_struct(*stats, size,
                 {0, now.plans, now.memory_used, now.memory_peak, now.packed_weight_bytes},
                 "stats");
  });
}

sx_status sx_session_trim(sx_session* session) {
  return guarded([&] { require(session, "session").session.trim(); });
}

sx_status sx_binding_create(sx_session* session, sx_binding** binding) {
  return guarded([&] {
    require(binding, "binding") = nullptr;
    *binding = new sx_binding(require(session, "session"));
  });
}

void sx_binding_destroy(sx_binding* binding) {
  delete binding;
}

sx_status sx_binding_set_input(sx_binding* binding, size_t index, sx_dtype dtype,
                               const int64_t* dims, size_t rank, const void* data, size_t size) {
  return guarded([&] {
    std::vector<Datum>& inputs = require(binding, "binding").inputs;
    check_index(index, inputs, "inputs");
    inputs[index] = borrowed(dtype, dims, rank, const_cast<void*>(data), size);
  });
}

sx_status sx_binding_set_string_input(sx_binding* binding, size_t index, const int64_t* dims,
                                      size_t rank, const char* const* strings,
                                      const size_t* lengths) {
  return guarded([&] {
    std::vector<Datum>& inputs = require(binding, "binding").inputs;
    check_index(index, inputs, "inputs");
    Tensor tensor = Tensor::allocate(DType::kString, shape_of(dims, rank));
    const std::span<std::string> elements = tensor.mutable_values<std::string>();
    if (!elements.empty()) require(strings, "strings");
    for (size_t i = 0; i < elements.size(); ++i) {
      const char* string = &require(strings[i], "strings");
      elements[i] = lengths ? std::string(string, lengths[i]) : std::string(string);
    }
    inputs[index] = std::move(tensor);
  });
}

sx_status sx_binding_clear_input(sx_binding* binding, size_t index) {
  return guarded([&] {
    check_index(index, require(binding, "binding").inputs, "inputs");
    binding->inputs[index] = Datum();
  });
}

sx_status sx_binding_set_output(sx_binding* binding, size_t index, sx_dtype dtype,
                                const int64_t* dims, size_t rank, void* data, size_t size) {
  return guarded([&] {
    check_index(index, require(binding, "binding").outputs, "outputs");
    binding->outputs[index] = OutputSlot::bound(borrowed(dtype, dims, rank, data, size));
  });
}

sx_status sx_binding_clear_output(sx_binding* binding, size_t index) {
  return guarded([&] {
    check_index(index, require(binding, "binding").outputs, "outputs");
    binding->outputs[index] = OutputSlot();
  });
}

sx_status sx_run_options_init(sx_run_options* options, size_t struct_size) {
  return guarded(
      [&] { write_struct(require(options, "options"), struct_size, sx_run_options{}, "options"); });
}

sx_status sx_binding_run(sx_binding* binding, const sx_run_options* options) {
  return guarded([&] {
    sx_binding& run = require(binding, "binding");
    const sx_run_options read = read_struct(options, sx_run_options{}, "options");
    if (read.deadline_ms < 0) {
      fail(ErrorCode::kInvalidArgument, "deadline_ms: expected at least 0, got ", read.deadline_ms);
    }
    RunOptions run_options;
    if (read.deadline_ms > 0) run_options.deadline = std::chrono::milliseconds(read.deadline_ms);
    if (read.cancellation) run_options.cancel = read.cancellation->source.get_token();
    run.owner->session.run_into(run.given(), run.outputs, run_options);
  });
}

sx_status sx_binding_output(const sx_binding* binding, size_t index, sx_tensor* tensor) {
  return guarded([&] {
    const Tensor& output = output_tensor(binding, index);
    const size_t size = require(tensor, "tensor").struct_size;
    const bool has_data = output.dtype() != DType::kString;
    write_struct(
        *tensor, size,
        {0, static_cast<int32_t>(output.dtype()), static_cast<int32_t>(output.rank()),
         output.shape().data(), has_data ? output.raw() : nullptr, has_data ? output.bytes() : 0},
        "tensor");
  });
}

sx_status sx_binding_output_string(const sx_binding* binding, size_t index, size_t element,
                                   const char** string, size_t* length) {
  return guarded([&] {
    const std::span<const std::string> elements =
        output_tensor(binding, index).values<std::string>();
    check_index(element, elements, "elements");
    require(string, "string") = elements[element].data();
    require(length, "length") = elements[element].size();
  });
}

sx_status sx_cancellation_create(sx_cancellation** cancellation) {
  return guarded([&] {
    require(cancellation, "cancellation") = nullptr;
    *cancellation = new sx_cancellation;
  });
}
void sx_cancellation_request(sx_cancellation* cancellation) {
  if (cancellation) cancellation->source.request_stop();
}
void sx_cancellation_destroy(sx_cancellation* cancellation) {
  delete cancellation;
}

}  // extern "C"
