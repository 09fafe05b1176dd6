// The functions of sardonyx/arrow.h.
#include "sardonyx/arrow.h"

#include "executor/c_api/arrow_export.h"
#include "executor/c_api/arrow_import.h"
#include "executor/c_api/binding.h"
#include "executor/c_api/value.h"

namespace sardonyx::c_api {
namespace {

sx_arrow_nulls nulls_of(const sx_arrow_options* given) {
  sx_arrow_options defaults{};
  defaults.struct_size = sizeof defaults;
  const sx_arrow_options options = read_struct(given, defaults, "sx_arrow_options");
  check_range("nulls", options.nulls, 0, static_cast<int32_t>(SX_ARROW_NULLS_NAN));
  check_range("reserved", options.reserved, 0, 0);
  return static_cast<sx_arrow_nulls>(options.nulls);
}

size_t input_named(const SharedSession& session, const std::string& name) {
  for (size_t i = 0; i < session.inputs.size(); ++i) {
    if (session.inputs[i].name == name) return i;
  }
  std::string names;
  for (const Described& input : session.inputs)
    names += (names.empty() ? "" : ", ") + input.name;
  fail(ErrorCode::kInvalidArgument, "column '", name, "' is no input of the model, which has ",
       names, "; leave it out, or rename it");
}

const Type& input_type(const SharedSession& session, size_t index) {
  const auto required = session.session.inputs();
  return index < required.size() ? required[index].type
                                 : session.session.optional_inputs()[index - required.size()].type;
}

// Marks the caller's struct as empty until it is filled in, so that it may be released after an
// error too.
ArrowArray& empty(ArrowArray* array) {
  ArrowArray& place = require(array, "array");
  place = ArrowArray{};
  return place;
}
ArrowSchema& empty(ArrowSchema* schema) {
  ArrowSchema& place = require(schema, "schema");
  place = ArrowSchema{};
  return place;
}

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_value_import_arrow(struct ArrowArray* array, const struct ArrowSchema* schema,
                                const sx_arrow_options* options, sx_value** value) {
  return guarded([&] {
    sx_value*& place = require_place(value, "value");
    const auto keeper = std::make_shared<ArrowKeeper>();
    ArrowArray& given = require(array, "array");
    const sx_arrow_nulls nulls = nulls_of(options);
    place = new sx_value(Datum(imported_column(given, require(schema, "schema"), nulls, keeper)));
    keeper->take(given);
  });
}

sx_status sx_value_export_arrow(const sx_value* value, const char* name, struct ArrowArray* array,
                                struct ArrowSchema* schema) {
  return guarded([&] {
    ArrowArray& place = empty(array);
    ArrowSchema unwanted{};
    ArrowSchema& type = schema ? empty(schema) : unwanted;
    const Tensor& tensor = tensor_in(require(value, "value").datum, "value");
    export_column(tensor, name ? name : "", place, type);
    if (unwanted.release) unwanted.release(&unwanted);
  });
}

sx_status sx_binding_set_inputs_arrow(sx_binding* binding, struct ArrowArray* array,
                                      const struct ArrowSchema* schema,
                                      const sx_arrow_options* options) {
  return guarded([&] {
    sx_binding& changed = idle(binding);
    const auto keeper = std::make_shared<ArrowKeeper>();
    ArrowArray& given = require(array, "array");
    const sx_arrow_nulls nulls = nulls_of(options);
    std::vector<Datum> inputs = changed.inputs;
    for (const auto& [name, column] :
         imported_columns(given, require(schema, "schema"), nulls, keeper)) {
      const size_t index = input_named(*changed.shared, name);
      inputs[index] = Datum(with_dims_of(column, input_type(*changed.shared, index)));
    }
    changed.inputs = std::move(inputs);
    keeper->take(given);
  });
}

sx_status sx_binding_outputs_arrow(const sx_binding* binding, struct ArrowArray* array,
                                   struct ArrowSchema* schema) {
  return guarded([&] {
    ArrowArray& place = empty(array);
    ArrowSchema& type = empty(schema);
    const sx_binding& run = idle(binding);
    std::vector<std::pair<std::string, Tensor>> columns;
    for (size_t i = 0; i < run.outputs.size(); ++i) {
      const OutputSlot& output = run.outputs[i];
      if (!output.value().defined()) continue;  // not among the chosen ones
      const std::string& name = run.shared->outputs[i].name;
      const Tensor& tensor = tensor_in(output.value(), "output " + name);
      columns.emplace_back(name, kept(tensor));
    }
    if (columns.empty()) fail(ErrorCode::kInvalidArgument, "binding: nothing has been run yet");
    export_columns(columns, place, type);
  });
}

}  // extern "C"
