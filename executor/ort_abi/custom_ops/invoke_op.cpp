// Operators of ONNX's that a kernel of the program's calls.
#include <mutex>

#include "executor/ort_abi/custom_ops/op_attr.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/value.h"
#include "executor/session.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/parallel_for.h"
#include "ir/op_def.h"
#include "onnx_io/model_addition.h"
#include "onnx_io/op_versions.h"

struct OrtOp {
  sardonyx::AddedNode node;
  int64_t version;

  OrtOp(sardonyx::AddedNode of, int64_t since) : node(std::move(of)), version(since) {}
  // A model of this node alone for inputs of these types, made once for as many threads as the
  // caller has; kNone: omitted.
  const sardonyx::Session& session_for(std::vector<sardonyx::Type> inputs);

 private:
  struct Form {
    std::vector<sardonyx::Type> inputs;
    int threads;
    std::unique_ptr<sardonyx::Session> session;
  };
  std::mutex mutex_;
  std::vector<Form> forms_;
};

namespace sardonyx::ort_abi {
namespace {

void check_known(const std::string& domain, const std::string& op, int64_t version) {
  const std::optional<OpVersions> versions = versions_of(domain, op);
  if (!versions && !find_op(op, domain)) {
    refuse(ORT_FAIL, "Kernel not found: there is no operator ", op, " in domain '", domain, "'");
  }
  if (!versions) return;
  const OpVersion found = version_in(*versions, version);
  if (found.since == 0 || found.removed) {
    refuse(ORT_FAIL, "Op with type (", op, "), domain (", domain, ") and version ", version,
           " is not supported: expected a version from ", versions->since.front(),
           " on that has it");
  }
}

std::vector<std::string> numbered(const char* prefix, int count, const char* what) {
  if (count < 0) refuse(ORT_INVALID_ARGUMENT, what, ": expected at least 0, got ", count);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    names.push_back(text(prefix, i));
  return names;
}

AttrMap attributes_of(const OrtOpAttr* const* attributes, int count) {
  AttrMap made;
  for (int i = 0; i < count; ++i) {
    const OrtOpAttr& attribute = require((&require(attributes, "attr_values"))[i], "attr_values");
    made.insert_or_assign(attribute.name, attribute.value);
  }
  return made;
}

// ONNX Runtime has no place for more than the node has, nor for fewer.
void check_count(size_t expected, int got, const char* what) {
  if (std::cmp_not_equal(expected, got))
    refuse(ORT_INVALID_ARGUMENT, "invalid node ", what, " count: ", got, ", expect: ", expected);
}

Type kind_of(const OrtValue* value) {
  if (!value || !value->datum.defined()) return Type::none();
  return value->datum.is_tensor() ? Type::tensor(value->datum.tensor().dtype())
                                  : value->datum.type();
}

// The result goes where the caller has memory for it, which is to be of its shape.
void give_output(const OutputSlot& slot, OrtValue& place, size_t index) {
  if (slot.is_bound() && slot.is_written()) return;
  const Datum& computed = slot.value();
  if (slot.is_bound()) {
    refuse(ORT_INVALID_ARGUMENT, "output ", index, ": the memory has type ",
           place.datum.type().text(), ", the operator computes ", computed.type().text());
  }
  place.datum = computed;
  make_own(place.datum);
}

void invoke(OrtOp& op, std::span<const OrtValue* const> inputs,
            std::span<OrtValue* const> outputs) {
  std::vector<Type> types;
  std::vector<const Datum*> given;
  for (const OrtValue* input : inputs) {
    types.push_back(kind_of(input));
    if (!types.back().is_none()) given.push_back(&input->datum);
  }
  std::vector<OutputSlot> slots(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] && outputs[i]->datum.is_tensor()) slots[i].bind(outputs[i]->datum.tensor());
  }
  RunOptions options;
  if (const RunControl* of_caller = current_control()) options.cancel = of_caller->cancel;
  try {
    op.session_for(std::move(types)).run_into(DatumRefs(given), slots, options);
  } catch (const Error& error) {
    refuse(ORT_FAIL, error.what());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) give_output(slots[i], *outputs[i], i);
  }
}

}  // namespace

// What types the operator's parameters are bound to, inputs tell when it is called.
OrtStatus* Functions::CreateOp(const OrtKernelInfo* info, const char* op_name, const char* domain,
                               int version, const char**, const ONNXTensorElementDataType*, int,
                               const OrtOpAttr* const* attr_values, int attr_count, int input_count,
                               int output_count, OrtOp** ort_op) {
  return guarded([&] {
    OrtOp*& place = require_place(ort_op, "ort_op");
    require(info, "info");
    AddedNode node{.op = &require(op_name, "op_name"),
                   .domain = std::string(canonical_domain(&require(domain, "domain")))};
    check_known(node.domain, node.op, version);
    node.inputs = numbered("input", input_count, "input_count");
    node.outputs = numbered("output", output_count, "output_count");
    node.attrs = attributes_of(attr_values, attr_count);
    place = new OrtOp(std::move(node), version);
  });
}

OrtStatus* Functions::InvokeOp(const OrtKernelContext* context, const OrtOp* ort_op,
                               const OrtValue* const* input_values, int input_count,
                               OrtValue* const* output_values, int output_count) {
  return guarded([&] {
    require(context, "context");
    auto& op = const_cast<OrtOp&>(require(ort_op, "ort_op"));  // it keeps sessions
    check_count(op.node.inputs.size(), input_count, "input");
    check_count(op.node.outputs.size(), output_count, "output");
    if (input_count > 0) require(input_values, "input_values");
    if (output_count > 0) require(output_values, "output_values");
    invoke(op, {input_values, op.node.inputs.size()}, {output_values, op.node.outputs.size()});
  });
}

void Functions::ReleaseOp(OrtOp* input) {
  delete input;
}

}  // namespace sardonyx::ort_abi

const sardonyx::Session& OrtOp::session_for(std::vector<sardonyx::Type> inputs) {
  const int threads = sardonyx::current_threads();
  const std::lock_guard lock(mutex_);
  for (const Form& form : forms_) {
    if (form.inputs == inputs && form.threads == threads) return *form.session;
  }
  sardonyx::ModelAddition model;
  model.opsets[node.domain] = version;
  model.nodes.push_back(node);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string& name = model.nodes.front().inputs[i];
    if (inputs[i].is_none())
      name.clear();
    else
      model.inputs.push_back({name, inputs[i]});
  }
  for (const std::string& output : node.outputs)
    model.outputs.push_back({output, sardonyx::Type::none()});
  const std::string bytes = sardonyx::with_addition({}, model);
  sardonyx::SessionOptions options;
  options.intra_op_threads = threads;
  // Of the session whose kernel calls, which outlives the kernel and so this operator.
  options.thread_pool = {std::shared_ptr<void>(), &sardonyx::current_pool()};
  auto made =
      std::make_unique<sardonyx::Session>(std::as_bytes(std::span(bytes)), std::move(options));
  forms_.push_back({std::move(inputs), threads, std::move(made)});
  return *forms_.back().session;
}
