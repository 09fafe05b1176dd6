// Operators of the program's: they are registered.
#include "executor/c_api/custom_op.h"

#include "executor/c_api/structs.h"

namespace sardonyx::c_api {
namespace {

AttrValue default_of(const sx_attribute& attribute) {
  switch (attribute.kind) {
    case SX_ATTRIBUTE_INT:
      return attribute.default_int;
    case SX_ATTRIBUTE_FLOAT:
      return static_cast<float>(attribute.default_float);
    case SX_ATTRIBUTE_STRING:
      return std::string(attribute.default_string ? attribute.default_string : "");
    case SX_ATTRIBUTE_TENSOR:
      return Tensor();
    case SX_ATTRIBUTE_INTS:
      return std::vector<int64_t>();
    case SX_ATTRIBUTE_FLOATS:
      return std::vector<float>();
    case SX_ATTRIBUTE_STRINGS:
      return std::vector<std::string>();
    default:
      fail(ErrorCode::kInvalidArgument, "attribute ", attribute.name,
           ": expected a kind of sx_attribute_kind, got ", attribute.kind);
  }
}

CustomAttribute attribute_of(const sx_attribute& attribute) {
  const std::string name = &require(attribute.name, "attributes: name");
  const bool is_required = flag("is_required", attribute.is_required);
  return {name, default_of(attribute), is_required,
          !is_required && attribute.kind == SX_ATTRIBUTE_TENSOR};
}

CustomTypes constraint_of(const sx_type_constraint& constraint) {
  const std::string name = &require(constraint.name, "types: name");
  if (constraint.dtype_count == 0)
    fail(ErrorCode::kInvalidArgument, "types: ", name, ": expected at least one element type");
  require(constraint.dtypes, "types: dtypes");
  DTypeSet set;
  for (size_t i = 0; i < constraint.dtype_count; ++i) {
    const int32_t dtype = constraint.dtypes[i];
    if (dtype <= 0 || dtype >= kDTypeCount)
      fail(ErrorCode::kInvalidArgument, "types: ", name, ": expected one of sx_dtype, got ", dtype);
    set = set | DTypeSet(static_cast<DType>(dtype));
  }
  return {name, set};
}

ErrorCode code_of(sx_status status) {
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kInvalidModel, ErrorCode::kUnsupported,
        ErrorCode::kResourceExhausted, ErrorCode::kCancelled, ErrorCode::kDeadlineExceeded}) {
    if (status_of(code) == status) return code;
  }
  return ErrorCode::kInternal;
}

// Calls a callback of the program; a status other than SX_OK becomes an Error.
void call_program(const auto& function, void* user, auto* argument) {
  note_error(SX_OK, "");
  const sx_status status = function(user, argument);
  if (status == SX_OK) return;
  const std::string message = sx_last_error();
  throw Error(code_of(status), message.empty()
                                   ? text("its function gave the status ", sx_status_name(status))
                                   : message);
}

template <typename T>
std::span<const T> list(const T* first, size_t count, const char* what) {
  return {count > 0 ? &require(first, what) : nullptr, count};
}

CustomOp description_of(const sx_custom_op& given) {
  CustomOp op{.domain = &require(given.domain, "domain"),
              .name = &require(given.name, "name"),
              .since = given.since_version == 0 ? 1 : given.since_version,
              .signature = &require(given.signature, "signature")};
  for (const sx_type_constraint& constraint : list(given.types, given.type_count, "types"))
    op.types.push_back(constraint_of(constraint));
  for (const sx_attribute& attribute : list(given.attributes, given.attribute_count, "attributes"))
    op.attributes.push_back(attribute_of(attribute));
  if (!given.compute) fail(ErrorCode::kInvalidArgument, "compute: expected a function, got NULL");
  op.compute = [compute = given.compute, user = given.user](const EvalCall& call) {
    sx_op_call seen{call};
    call_program(compute, user, &seen);
  };
  if (given.infer) {
    op.infer = [infer = given.infer, user = given.user](InferContext& context) {
      sx_op_inference seen{context};
      call_program(infer, user, &seen);
    };
  }
  op.is_pure = !flag("is_impure", given.is_impure);
  op.shape_inputs = given.shape_inputs;
  return op;
}

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_custom_op_register(const sx_custom_op* op) {
  return guarded([&] {
    require(op, "custom operator");
    register_custom_op(description_of(read_struct(op, sx_custom_op{}, "custom operator")));
  });
}

sx_status sx_custom_op_unregister(const char* domain, const char* name) {
  return guarded([&] {
    require(domain, "domain");
    if (!unregister_custom_op(&require(name, "name"), domain))
      fail(ErrorCode::kInvalidArgument, "no custom operator is named ", domain, "::", name);
  });
}

sx_status sx_set_last_error(sx_status status, const char* message) {
  return note_error(status, message ? message : "");
}

}  // extern "C"
