#include "onnx_io/import/functions.h"

#include "ir/core/error.h"
#include "ir/op_def.h"
#include "onnx_io/import/names.h"
#include "onnx_io/import/parse.h"
#include "onnx_io/load.h"

namespace sardonyx::onnx_import {
namespace {

using onnx_schema::FunctionProto;
using onnx_schema::GraphProto;
using onnx_schema::NodeProto;

// Counts the nodes of a graph with all functions expanded, each function once.
class ExpansionCounter {
 public:
  ExpansionCounter(const FunctionTable& table, const LoadLimits& limits)
      : table_(table), limits_(limits) {}

  int64_t count(const NodeList& nodes) {
    int64_t total = 0;
    for (const NodeProto& node : nodes) {
      const FunctionProto* callee = table_.called_by(node);
      total += callee ? count(*callee) : 1;
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) total += count(attribute.g().node());
        for (const GraphProto& graph : attribute.graphs())
          total += count(graph.node());
      }
      if (total > limits_.nodes) {
        fail(ErrorCode::kResourceExhausted, "the model has more nodes than the limit of ",
             limits_.nodes, " once its functions are expanded");
      }
    }
    return total;
  }

 private:
  int64_t count(const FunctionProto& function) {
    constexpr int64_t kBeingCounted = -1;
    const auto [known, is_new] = counts_.try_emplace(&function, kBeingCounted);
    if (!is_new && known->second == kBeingCounted) {
      fail(ErrorCode::kInvalidModel, label_of(function),
           " calls itself, directly or through others");
    }
    if (!is_new) return known->second;
    if (++depth_ > limits_.nesting) {
      fail(ErrorCode::kResourceExhausted, label_of(function),
           ": functions call each other more than ", limits_.nesting, " levels deep");
    }
    const int64_t total = count(function.node());
    --depth_;
    return counts_[&function] = total;
  }

  const FunctionTable& table_;
  const LoadLimits& limits_;
  std::unordered_map<const FunctionProto*, int64_t> counts_;
  int depth_ = 0;
};

int64_t newest_version(std::string_view domain) {
  if (domain.empty()) return kNewestOpset;
  return domain == "ai.onnx.ml" ? kNewestMlOpset : INT64_MAX;
}

}  // namespace

Opsets read_opsets(const OpsetList& imports, const std::string& what, const Leniency& leniency) {
  Opsets opsets;
  for (const auto& import : imports) {
    const std::string domain(canonical_domain(import.domain()));
    const auto label = [&] { return domain.empty() ? std::string("ai.onnx") : in_quotes(domain); };
    if (import.version() < 1 && !domain.empty()) {
      leniency.tolerate(kMissingOpsetImport, what, ": opset_import of domain ", label(),
                        " has version ", import.version(), "; taken for missing");
      continue;
    }
    if (import.version() < 1) {
      fail(ErrorCode::kInvalidModel, what, ": opset_import of domain ", label(), " has version ",
           import.version(), ", expected 1 or more");
    }
    const auto [known, is_new] = opsets.try_emplace(domain, import.version());
    if (!is_new && known->second != import.version()) {
      fail(ErrorCode::kInvalidModel, what, ": opset_import has the domain ", label(),
           " twice, with versions ", known->second, " and ", import.version());
    }
    if (import.version() > newest_version(domain)) {
      fail(ErrorCode::kUnsupported, what, ": opset ", import.version(), " of domain ", label(),
           " is newer than ", newest_version(domain),
           ", the newest that is known; export with an older one");
    }
  }
  return opsets;
}

FunctionTable::FunctionTable(onnx_schema::ModelProto& model, const Leniency& leniency) {
  for (FunctionProto& function : *model.mutable_functions()) {
    if (function.name().empty()) fail(ErrorCode::kInvalidModel, "a function has no name");
    const Key key{canonical_domain(function.domain()), function.name(), function.overload()};
    const auto [known, is_new] = functions_.emplace(key, &function);
    if (is_new) continue;
    const bool is_same = known->second->SerializeAsString() == function.SerializeAsString();
    leniency.tolerate(kRepeatedFunction, label_of(function), " is defined twice, ",
                      is_same ? "in the same way" : "in different ways; the last one counts");
    known->second = &function;
  }
}

FunctionProto* FunctionTable::called_by(const NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const Key key{canonical_domain(node.domain()), node.op_type(), node.overload()};
  const auto found = functions_.find(key);
  return found == functions_.end() ? nullptr : found->second;
}

void FunctionTable::check_expansion(const GraphProto& graph, const LoadLimits& limits) const {
  ExpansionCounter(*this, limits).count(graph.node());
}

std::string label_of(const FunctionProto& function) {
  const std::string domain = function.domain().empty() ? "" : function.domain() + "::";
  const std::string overload = function.overload().empty() ? "" : ":" + function.overload();
  return "function " + in_quotes(domain + function.name() + overload);
}

}  // namespace sardonyx::onnx_import
