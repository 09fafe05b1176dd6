// Calls that change what the server has and does.
#include <openssl/evp.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "executor/serving/json_text.h"
#include "tools/onnx-serve/api/api.h"
#include "tools/onnx-serve/api/routes.h"

namespace sardonyx::serve {
namespace {

using beast::http::verb;
using nlohmann::json;
using serving::refuse;

constexpr int kMaxControlDepth = 64;

// The body of a control call; an empty one is {}. Throws ServingError kInvalidArgument.
json body_of(const HttpRequest& request) {
  if (request.text.empty()) return json::object();
  int deepest = 0;
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    deepest = std::max(deepest, depth);
    if (depth > kMaxControlDepth) refuse(Status::kInvalidArgument, "more than 64 levels of JSON");
    return true;
  };
  json body = json::parse(request.text, watch, /*allow_exceptions=*/false);
  if (!body.is_object()) refuse(Status::kInvalidArgument, "expected a JSON object");
  return body;
}

json call_parameters(const json& body) {
  const auto found = body.find("parameters");
  if (found == body.end() || found->is_null()) return json::object();
  if (!found->is_object()) refuse(Status::kInvalidArgument, "parameters: expected an object");
  return *found;
}

std::string decoded_base64(const std::string& text, std::string_view name) {
  std::string bytes(text.size() / 4 * 3 + 3, '\0');
  const int got = text.size() % 4 != 0 || text.size() > INT_MAX
                      ? -1
                      : EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                        reinterpret_cast<const unsigned char*>(text.data()),
                                        static_cast<int>(text.size()));
  if (got < 0) refuse(Status::kInvalidArgument, "parameter '", name, "' is no base64");
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
    ++padding;
  bytes.resize(static_cast<size_t>(got) - padding);
  return bytes;
}

std::string settings_json(const ServerLog::Settings& settings) {
  return json({{"log_file", settings.file},
               {"log_info", settings.info},
               {"log_warning", settings.warning},
               {"log_error", settings.error},
               {"log_verbose_level", settings.verbose_level},
               {"log_format", settings.format}})
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

// A setting as the client gives it: a string or a list of them; null takes it back.
std::optional<std::vector<std::string>> trace_values(const std::string& name, const json& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_string()) return std::vector{value.get<std::string>()};
  const bool is_list =
      value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const json& one) { return one.is_string(); });
  if (!is_list)
    refuse(Status::kInvalidArgument, name, ": expected a string, a list of strings or null");
  return value.get<std::vector<std::string>>();
}

template <typename T>
void take_setting(const json& body, const char* name, T& to) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return;
  constexpr bool is_bool = std::is_same_v<T, bool>;
  constexpr bool is_text = std::is_same_v<T, std::string>;
  const bool fits = is_bool   ? found->is_boolean()
                    : is_text ? found->is_string()
                              : found->is_number_unsigned();
  if (!fits) {
    refuse(Status::kInvalidArgument, name, ": expected ",
           is_bool   ? "true or false"
           : is_text ? "a string"
                     : "a number from 0 on");
  }
  to = found->get<T>();
}

}  // namespace

HttpAnswer Api::index(const HttpRequest& request) const {
  bool ready_only = false;
  take_setting(body_of(request), "ready", ready_only);
  json out = json::array();
  for (const serving::ModelState& state : repository_.index(ready_only)) {
    json one = {{"name", state.name},
                {"state", std::string(name_of(state.state))},
                {"reason", state.reason}};
    if (state.version) one["version"] = std::to_string(*state.version);
    out.push_back(std::move(one));
  }
  return json_answer(out.dump(-1, ' ', false, json::error_handler_t::replace));
}

HttpAnswer Api::load(const std::string& name, const HttpRequest& request) {
  if (!repository_.is_explicit()) refuse(Status::kUnavailable, kNotExplicit);
  serving::ModelRepository::LoadOverride replaced;
  const json parameters = call_parameters(body_of(request));
  for (const auto& [key, value] : parameters.items()) {
    if (value.is_null()) continue;
    if (key != "config" && !key.starts_with("file:"))
      refuse(Status::kInvalidArgument, "unknown parameter '", key, "'");
    if (!value.is_string())
      refuse(Status::kInvalidArgument, "parameter '", key, "': expected a string");
    if (key == "config") {
      replaced.config_json = value.get<std::string>();
    } else {
      replaced.files[key.substr(5)] = decoded_base64(value.get_ref<const std::string&>(), key);
    }
  }
  repository_.load(name, replaced);
  return json_answer("{}");
}

HttpAnswer Api::unload(const std::string& name, const HttpRequest& request) {
  if (!repository_.is_explicit()) refuse(Status::kUnavailable, kNotExplicit);
  const json parameters = call_parameters(body_of(request));
  bool and_dependents = false;
  take_setting(parameters, "unload_dependents", and_dependents);
  repository_.unload(name, and_dependents);
  return json_answer("{}");
}

HttpAnswer Api::logging(const HttpRequest& request) {
  if (request.method == verb::post) {
    const json body = body_of(request);
    ServerLog::Settings settings = log_.settings();
    for (const auto& [key, value] : body.items()) {
      if (!ServerLog::is_setting(key))
        refuse(Status::kInvalidArgument, "unknown setting '", key, "'");
    }
    // A client that may write any file of the server could do more than log.
    if (const auto file = body.find("log_file");
        file != body.end() && !file->is_null() && *file != settings.file) {
      refuse(Status::kUnsupported,
             "log file location can not be updated through network protocol; it is set when the "
             "server is started (--log-file)");
    }
    take_setting(body, "log_info", settings.info);
    take_setting(body, "log_warning", settings.warning);
    take_setting(body, "log_error", settings.error);
    take_setting(body, "log_verbose_level", settings.verbose_level);
    take_setting(body, "log_format", settings.format);
    log_.configure(settings);
  }
  return json_answer(settings_json(log_.settings()));
}

HttpAnswer Api::trace_setting(const HttpRequest& request, const std::string& model) {
  if (!model.empty() && repository_.serving(model).empty())
    refuse(Status::kNotFound, "Request for unknown model : ", model);
  if (request.method == verb::post) {
    TraceValues changes;
    const json body = body_of(request);
    for (const auto& [name, value] : body.items())
      changes[name] = trace_values(name, value);
    tracer_.update(model, changes);
  }
  json out = json::object();
  for (const auto& [name, values] : tracer_.settings(model)) {
    if (name == "trace_level") {
      out[name] = values;
    } else {
      out[name] = values.front();
    }
  }
  return json_answer(out.dump(-1, ' ', false, json::error_handler_t::replace));
}

// systemsharedmemory[/region/R]/{status,register,unregister}
HttpAnswer Api::shared_memory(const HttpRequest& request, const Path& path) {
  if (!options_.allows_shared_memory) {
    refuse(Status::kUnsupported,
           "shared memory of clients is off; start the server with --allow-client-shm");
  }
  const bool has_region = path.size() == 5 && path[2] == "region";
  if (path.size() != 3 && !has_region)
    return error_answer(404, text("there is nothing at '", request.target, "'"));
  const std::string region = has_region ? path[3] : "";
  const std::string& call = path.back();
  if (call == "status") {
    if (request.method != verb::get && request.method != verb::head)
      return wrong_method(methods_of(path));
    json out = json::array();
    for (const SharedMemory::Region& one : shared_memory_.regions(region)) {
      out.push_back({{"name", one.name},
                     {"key", one.key},
                     {"offset", one.offset},
                     {"byte_size", one.byte_size}});
    }
    return json_answer(out.dump());
  }
  const bool is_known = call == "unregister" || (call == "register" && has_region);
  if (!is_known) return error_answer(404, text("there is nothing at '", request.target, "'"));
  if (request.method != verb::post) return wrong_method(methods_of(path));
  if (call == "register" && has_region) {
    const json body = body_of(request);
    SharedMemory::Region wanted{.name = region};
    take_setting(body, "key", wanted.key);
    take_setting(body, "offset", wanted.offset);
    take_setting(body, "byte_size", wanted.byte_size);
    shared_memory_.add(wanted);
    return json_answer("{}");
  }
  if (has_region) {
    shared_memory_.remove(region);
  } else {
    shared_memory_.remove_all();
  }
  return json_answer("{}");
}

}  // namespace sardonyx::serve
