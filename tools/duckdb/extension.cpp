// The DuckDB extension: what LOAD calls, and the functions that it registers.
#include <cstdlib>
#include <exception>
#include <sstream>

#include "tools/duckdb/model.h"

namespace sardonyx::duckdb {

DuckDbApi api;

namespace {

// Runs the body, whose exceptions become the query's error.
template <typename Body>
void guarded(Handle info, const Body& body) noexcept {
  try {
    body();
  } catch (const std::exception& error) {
    api.scalar_function_set_error(info, (std::string("sardonyx: ") + error.what()).c_str());
  }
}

void predict_path(Handle info, Handle chunk, Handle result, bool as_text) {
  guarded(info, [&] {
    const uint64_t rows = api.data_chunk_get_size(chunk);
    if (api.data_chunk_get_column_count(chunk) < 2)
      throw QueryError("expected a model's path and its columns");
    if (rows == 0) return;
    const std::string path =
        constant_text(api.data_chunk_get_vector(chunk, 0), rows, "the model's path");
    model_at(path)->predict_list(chunk, 1, result, as_text);
  });
}

void onnx_predict(Handle info, Handle chunk, Handle result) {
  predict_path(info, chunk, result, false);
}
void onnx_predict_text(Handle info, Handle chunk, Handle result) {
  predict_path(info, chunk, result, true);
}
void predict_named(Handle info, Handle chunk, Handle result) {
  guarded(info, [&] {
    const auto& model =
        *static_cast<std::shared_ptr<const SqlModel>*>(api.scalar_function_get_extra_info(info));
    model->predict(chunk, 0, result);
  });
}

// Takes columns of any types: what the model wants is made of them here.
void register_function(Handle connection, const char* name, bool has_path, Handle result,
                       void (*run)(Handle, Handle, Handle), std::shared_ptr<const SqlModel> model) {
  Handle function = api.create_scalar_function();
  const LogicalType any(TypeId::kAny), path(TypeId::kVarchar);
  api.scalar_function_set_name(function, name);
  if (has_path) api.scalar_function_add_parameter(function, path.get());
  api.scalar_function_set_varargs(function, any.get());
  api.scalar_function_set_return_type(function, result);
  api.scalar_function_set_special_handling(function);  // NULLs are seen to here
  if (model) {
    api.scalar_function_set_extra_info(
        function, new std::shared_ptr<const SqlModel>(std::move(model)),
        [](void* held) { delete static_cast<std::shared_ptr<const SqlModel>*>(held); });
  }
  api.scalar_function_set_function(function, run);
  const bool is_registered = api.register_scalar_function(connection, function) == 0;
  api.destroy_scalar_function(&function);
  if (!is_registered)
    throw QueryError("the function " + std::string(name) + " can't be registered; is there one?");
}

// "churn=/models/churn.onnx;digits=digits.onnx"
void register_named_models(Handle connection, const std::string& list) {
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ';');) {
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw QueryError("SARDONYX_DUCKDB_MODELS: expected NAME=PATH, got '" + entry + "'");
    const std::string name = entry.substr(0, equals);
    const auto model = model_at(entry.substr(equals + 1));
    const LogicalType result = model->result_type();
    register_function(connection, name.c_str(), false, result.get(), predict_named, model);
  }
}

void register_all(Handle connection) {
  const LogicalType numbers = result_type(SX_DOUBLE, 1), texts = result_type(SX_STRING, 1);
  register_function(connection, "onnx_predict", true, numbers.get(), onnx_predict, nullptr);
  register_function(connection, "onnx_predict_text", true, texts.get(), onnx_predict_text, nullptr);
  if (const char* list = std::getenv("SARDONYX_DUCKDB_MODELS"))
    register_named_models(connection, list);
}

bool load(Handle info, const ExtensionAccess& access) {
  const void* table = access.get_api(info, kApiVersion);
  if (!table) return false;  // DuckDB has said why
  api.read(table);
  Handle connection = nullptr;
  if (api.connect(*access.get_database(info), &connection) != 0) {
    access.set_error(info, "sardonyx: no connection to the database");
    return false;
  }
  std::string problem;
  try {
    register_all(connection);
  } catch (const std::exception& error) {
    problem = std::string("sardonyx: ") + error.what();
  }
  api.disconnect(&connection);
  if (!problem.empty()) access.set_error(info, problem.c_str());
  return problem.empty();
}

}  // namespace
}  // namespace sardonyx::duckdb

extern "C" __attribute__((visibility("default"))) bool sardonyx_init_c_api(
    void* info, sardonyx::duckdb::ExtensionAccess* access) {
  return sardonyx::duckdb::load(info, *access);
}
