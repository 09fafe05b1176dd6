#include "executor/ort_abi/custom_ops/domain.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "executor/ort_abi/custom_ops/custom_op.h"
#include "executor/ort_abi/custom_ops/schema.h"
#include "executor/ort_abi/session_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

// Does this kernel take inputs of the node's types? That it has as many is known (schema.h).
bool fits(const OrtCustomOp& op, const CustomCall& call) {
  const size_t count = op.GetInputTypeCount(&op);
  if (call.version < start_version(op) || call.version > end_version(op)) return false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool is_given = !call.inputs[i].is_none();
    if (is_given && !takes_input(op, std::min(i, count - 1), call.inputs[i])) return false;
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

void check_domain(const OrtCustomOpDomain& domain) {
  std::map<std::string_view, const OrtCustomOp*> first_of;
  for (const OrtCustomOp* op : domain.ops) {
    check_custom_op(*op);
    const auto [known, is_new] = first_of.try_emplace(op->GetName(op), op);
    if (!is_new) check_one_schema(*known->second, *op);
  }
}

}  // namespace

SessionCustomOps::SessionCustomOps(std::vector<const OrtCustomOpDomain*> domains,
                                   const OrtLogger& logger, const OrtKeyValuePairs& config)
    : domains_(std::move(domains)), logger_(logger), config_(config) {
  std::set<std::string_view> names;
  for (const OrtCustomOpDomain* domain : domains_) {
    if (!names.insert(domain->domain).second)
      refuse(ORT_FAIL, "Domain already set in registry: ", domain->domain);
    check_domain(*domain);
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

std::vector<const OrtCustomOp*> SessionCustomOps::named_as(const CustomCall& call) const {
  std::vector<const OrtCustomOp*> found;
  for (const OrtCustomOpDomain* domain : domains_) {
    if (canonical_domain(domain->domain) != call.domain) continue;
    std::ranges::copy_if(domain->ops, std::back_inserter(found), [&](const OrtCustomOp* op) {
      return std::string_view(op->GetName(op)) == call.op;
    });
  }
  return found;
}

const OrtCustomOp& SessionCustomOps::chosen(const CustomCall& call) const {
  const std::vector<const OrtCustomOp*> kernels = named_as(call);
  check_call(kernels, call);
  bool is_for_others = false;
  for (const OrtCustomOp* op : kernels) {
    if (!fits(*op, call)) continue;
    if (is_for_cpu(*op)) return *op;
    is_for_others = true;
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
