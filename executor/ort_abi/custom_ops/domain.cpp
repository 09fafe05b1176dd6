#include "executor/ort_abi/custom_ops/domain.h"

#include <algorithm>
#include <limits>
#include <set>

#include "executor/ort_abi/custom_ops/custom_op.h"
#include "executor/ort_abi/session_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/element_type.h"

namespace sardonyx::ort_abi {
namespace {

bool takes(const OrtCustomOp& op, size_t index, const Type& type) {
  const ONNXTensorElementDataType wanted = op.GetInputType(&op, index);
  if (wanted == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) return true;
  return type.is_tensor() && element_type_of(type.dtype) == wanted;
}

// Could the node be of this operator?
bool fits(const OrtCustomOp& op, const CustomCall& call) {
  const size_t count = op.GetInputTypeCount(&op);
  const bool is_variadic = count > 0 && input_kind(op, count - 1) == INPUT_OUTPUT_VARIADIC;
  if (call.inputs.size() > count && !is_variadic) return false;
  if (call.version < start_version(op) || call.version > end_version(op)) return false;
  for (size_t i = 0; i < std::max(count, call.inputs.size()); ++i) {
    const size_t declared = std::min(i, count - 1);
    const bool is_given = i < call.inputs.size() && !call.inputs[i].is_none();
    if (is_given && !takes(op, declared, call.inputs[i])) return false;
    if (!is_given && input_kind(op, declared) == INPUT_OUTPUT_REQUIRED) return false;
  }
  return true;
}

// A kernel for the CPU's provider, which is there where none is named.
bool is_for_cpu(const OrtCustomOp& op) {
  const char* provider = op.GetExecutionProviderType ? op.GetExecutionProviderType(&op) : nullptr;
  return !provider || std::string_view(provider) == "CPUExecutionProvider";
}

std::string types_text(const CustomCall& call) {
  std::string out;
  for (const Type& type : call.inputs)
    out += (out.empty() ? "" : ", ") + (type.is_none() ? "omitted" : type.text());
  return out;
}

}  // namespace

SessionCustomOps::SessionCustomOps(std::vector<const OrtCustomOpDomain*> domains,
                                   const OrtLogger& logger, const OrtKeyValuePairs& config)
    : domains_(std::move(domains)), logger_(logger), config_(config) {
  std::set<std::string_view> names;
  for (const OrtCustomOpDomain* domain : domains_) {
    if (!names.insert(domain->domain).second)
      refuse(ORT_FAIL, "Domain already set in registry: ", domain->domain);
    for (const OrtCustomOp* op : domain->ops)
      check_custom_op(*op);
  }
}

bool SessionCustomOps::knows(std::string_view domain, std::string_view op) const {
  return std::ranges::any_of(domains_, [&](const OrtCustomOpDomain* known) {
    return canonical_domain(known->domain) == domain &&
           std::ranges::any_of(known->ops, [&](const OrtCustomOp* has) {
             return std::string_view(has->GetName(has)) == op;
           });
  });
}

const OrtCustomOp& SessionCustomOps::chosen(const CustomCall& call) const {
  bool is_for_others = false;
  for (const OrtCustomOpDomain* domain : domains_) {
    if (canonical_domain(domain->domain) != call.domain) continue;
    for (const OrtCustomOp* op : domain->ops) {
      if (std::string_view(op->GetName(op)) != call.op || !fits(*op, call)) continue;
      if (is_for_cpu(*op)) return *op;
      is_for_others = true;
    }
  }
  if (is_for_others) {
    fail(ErrorCode::kUnsupported, "Could not find an implementation for ", call.op, "(",
         call.version, ") node with name '", call.node, "'");
  }
  fail(ErrorCode::kInvalidModel, "no custom operator ", call.op, " of domain ", call.domain,
       " takes version ", call.version, " with inputs (", types_text(call), ")");
}

const OpDef& SessionCustomOps::row(CustomCall call) {
  const OrtCustomOp& op = chosen(call);
  rows_.push_back(std::make_unique<CustomRow>(op, std::move(call), logger_, config_));
  return rows_.back()->row();
}

OrtStatus* Functions::CreateCustomOpDomain(const char* domain, OrtCustomOpDomain** out) {
  return guarded([&] {
    OrtCustomOpDomain*& place = require_place(out, "out");
    place = new OrtCustomOpDomain{&require(domain, "domain"), {}};
  });
}

void Functions::ReleaseCustomOpDomain(OrtCustomOpDomain* input) {
  delete input;
}

OrtStatus* Functions::CustomOpDomain_Add(OrtCustomOpDomain* custom_op_domain,
                                         const OrtCustomOp* op) {
  return guarded([&] {
    require(custom_op_domain, "custom_op_domain").ops.push_back(&require(op, "custom op"));
  });
}

OrtStatus* Functions::AddCustomOpDomain(OrtSessionOptions* options,
                                        OrtCustomOpDomain* custom_op_domain) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    changed.custom_domains.push_back(&require(custom_op_domain, "custom_op_domain"));
  });
}

}  // namespace sardonyx::ort_abi
