#include "executor/c_api/session.h"

#include "executor/c_api/options.h"
#include "executor/c_api/value.h"

namespace sardonyx::c_api {
namespace {

// Fills `to` in place, since its info points into its own strings and dims.
void describe(Described& to, const ValueInfo& value, bool is_optional) {
  to.name = value.name;
  to.type = value.type.text();
  const bool is_dense = value.type.is_tensor();
  const bool has_dims =
      (is_dense || value.type.kind == Type::Kind::kSparseTensor) && value.type.has_rank();
  for (size_t i = 0; has_dims && i < value.type.rank(); ++i) {
    const Dim& dim = (*value.type.shape)[i];
    to.dims.push_back(dim.try_value().value_or(-1));
    to.dim_texts.push_back(dim.is_known() ? "" : dim.text());
  }
  for (const std::string& text : to.dim_texts)
    to.dim_names.push_back(text.empty() ? nullptr : text.c_str());
  const bool has_dtype = is_dense || value.type.kind == Type::Kind::kSparseTensor;
  to.info.name = to.name.c_str();
  to.info.type = to.type.c_str();
  to.info.kind = kind_of(value.type);
  to.info.dtype = has_dtype ? static_cast<int32_t>(value.type.dtype) : SX_UNDEFINED;
  to.info.rank = has_dims ? static_cast<int32_t>(to.dims.size()) : -1;
  to.info.is_optional = is_optional;
  to.info.dims = to.dims.data();
  to.info.dim_names = to.dim_names.data();
}

using Values = std::deque<Described> SharedSession::*;

const SharedSession& shared_in(const sx_session* session) {
  return *require(session, "session").shared;
}

sx_status create_session(const sx_session_options* options, sx_session** session,
                         const auto& load) {
  return guarded_with(options, [&] {
    sx_session*& place = require_place(session, "session");
    const sx_session_options read = read_struct(options, default_session_options(), "options");
    SessionOptions made = session_options(read, options ? options->struct_size : sizeof read);
    place = new sx_session{std::make_shared<SharedSession>(load(std::move(made)))};
  });
}

sx_status find_value(const sx_session* session, Values of, const char* name, size_t* index,
                     const char* what) {
  return guarded([&] {
    const std::deque<Described>& values = shared_in(session).*of;
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
    const std::deque<Described>& values = shared_in(session).*of;
    check_struct_size(require(info, "info").struct_size, "info");
    check_index(index, values, what);
    fill_struct(info, values[index].info, "info");
  });
}

}  // namespace

SharedSession::SharedSession(Session made)
    : session(std::move(made)), metadata(session.metadata()) {
  for (const ValueInfo& value : session.inputs())
    describe(inputs.emplace_back(), value, false);
  for (const ValueInfo& value : session.optional_inputs())
    describe(inputs.emplace_back(), value, true);
  for (const ValueInfo& value : session.outputs())
    describe(outputs.emplace_back(), value, false);
}

}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_session_create(const char* path, const sx_session_options* options,
                            sx_session** session) {
  return create_session(options, session, [&](SessionOptions read) {
    return Session(std::filesystem::path(&require(path, "path")), std::move(read));
  });
}

sx_status sx_session_create_from_bytes(const void* bytes, size_t size,
                                       const sx_session_options* options, sx_session** session) {
  return create_session(options, session, [&](SessionOptions read) {
    const auto* data = static_cast<const std::byte*>(bytes);
    if (size > 0) require(data, "bytes");
    return Session(std::span(data, size), std::move(read));
  });
}

void sx_session_destroy(sx_session* session) {
  delete session;
}

size_t sx_session_input_count(const sx_session* session) {
  return session ? session->shared->inputs.size() : 0;
}
size_t sx_session_output_count(const sx_session* session) {
  return session ? session->shared->outputs.size() : 0;
}

sx_status sx_session_input(const sx_session* session, size_t index, sx_value_info* info) {
  return inform(session, &SharedSession::inputs, index, info, "inputs");
}
sx_status sx_session_output(const sx_session* session, size_t index, sx_value_info* info) {
  return inform(session, &SharedSession::outputs, index, info, "outputs");
}
sx_status sx_session_find_input(const sx_session* session, const char* name, size_t* index) {
  return find_value(session, &SharedSession::inputs, name, index, "input");
}
sx_status sx_session_find_output(const sx_session* session, const char* name, size_t* index) {
  return find_value(session, &SharedSession::outputs, name, index, "output");
}

sx_status sx_session_prepare(sx_session* session, const int64_t* const* dims, const size_t* ranks,
                             size_t count, const sx_run_options* options) {
  return guarded_with(options, [&] {
    const SharedSession& shared = shared_in(session);
    if (count > 0) {
      check_index(count - 1, shared.inputs, "inputs");
      require(dims, "dims");
      require(ranks, "ranks");
    }
    std::vector<std::optional<Shape>> shapes(count);
    for (size_t i = 0; i < count; ++i) {
      if (dims[i]) shapes[i] = shape_of(dims[i], ranks[i]);
    }
    shared.session.prepare(shapes, run_options(read_run_options(options)));
  });
}

sx_status sx_session_stats(const sx_session* session, sx_stats* stats) {
  return guarded([&] {
    const Session::Stats now = shared_in(session).session.stats();
    fill_struct(stats,
                {.struct_size = 0,
                 .plans = now.plans,
                 .memory_used = now.memory_used,
                 .memory_peak = now.memory_peak,
                 .packed_weight_bytes = now.packed_weight_bytes},
                "stats");
  });
}

sx_status sx_session_trim(sx_session* session) {
  return guarded([&] { require(session, "session").shared->session.trim(); });
}

}  // extern "C"
