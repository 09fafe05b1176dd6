#include "executor/prepare_graph.h"

#include <algorithm>
#include <list>
#include <optional>

#include "executor/passes.h"
#include "executor/passes/precision/product_precision.h"
#include "ir/constant_folding.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

bool has_kernel(const OpDef& op, std::span<const Provider* const> providers) {
  const std::string name = full_name(op);
  return std::ranges::any_of(providers, [&](const Provider* provider) {
    return std::ranges::any_of(provider->kernels,
                               [&](const KernelEntry& entry) { return entry.op == name; });
  });
}

bool has_unknown_shape(const Node& node) {
  return std::ranges::any_of(node.inputs, [](const Value* input) {
    return input && input->type.is_tensor() && !input->type.known_shape();
  });
}

using NodePosition = std::list<std::unique_ptr<Node>>::const_iterator;

// A body may have to know a rank that a run alone tells. Its node stays then, without the nodes
// that the body has made by there, and each plan runs the body for the shapes at hand.
bool expands_body(Graph& graph, NodePosition at) {
  Node& node = **at;
  const Node* const previous = at == graph.nodes().begin() ? nullptr : std::prev(at)->get();
  try {
    return passes::expand_body(graph, node);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported || !has_unknown_shape(node)) throw;
  }
  while (at != graph.nodes().begin() && std::prev(at)->get() != previous)
    graph.erase(**std::prev(at));
  return false;
}

// Bodies may contain ops with bodies, so the traversal continues with the inserted nodes.
size_t expand_bodies(Graph& graph, std::span<const Provider* const> providers) {
  size_t expanded = 0;
  for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
    Node& node = **at;
    for (const GraphPtr& inner : subgraphs_of(node))
      expanded += expand_bodies(*inner, providers);
    const OpDef& op = *node.op;
    const bool runs = op.reference || op.evaluate || has_kernel(op, providers);
    const bool is_first = at == graph.nodes().begin();
    const auto before = is_first ? at : std::prev(at);
    if (runs || !op.body || !expands_body(graph, at)) {
      ++at;
      continue;
    }
    ++expanded;
    at = is_first ? graph.nodes().begin() : std::next(before);
  }
  return expanded;
}

void find_unsupported(const Graph& graph, std::span<const Provider* const> providers,
                      std::string& report) {
  for (const auto& node : graph.nodes()) {
    const OpDef& op = *node->op;
    for (const GraphPtr& inner : subgraphs_of(*node))
      find_unsupported(*inner, providers, report);
    if (op.reference || op.evaluate || op.body || has_kernel(op, providers)) continue;
    report += text("\n  node ", node->name, ": ", full_name(op), ": no provider has a kernel");
  }
}

std::vector<PassEffect>& operator+=(std::vector<PassEffect>& all, std::vector<PassEffect> more) {
  for (PassEffect& effect : more)
    all.push_back(effect);
  return all;
}

// Runs the passes of the optimization level: generic ones at 1; from 2 on quantised graphs become
// integer ops before them, and fusions follow.
std::vector<PassEffect> optimize(Graph& graph, const SessionOptions& options) {
  PassOptions pass_options{options.disabled_passes};
  std::vector<PassEffect> effects;
  if (options.optimization_level >= 2) {
    std::vector<Pass> narrow(generic_passes().begin(), generic_passes().end());
    std::erase_if(narrow, &Pass::dequantizes_weights);
    narrow.insert(narrow.end(), quantization_passes().begin(), quantization_passes().end());
    effects += run_passes(graph, narrow, pass_options);
  }
  if (options.optimization_level >= 1) effects += run_passes(graph, generic_passes(), pass_options);
  if (options.optimization_level >= 2) effects += run_passes(graph, fusion_passes(), pass_options);
  return effects;
}

// Needs no level: whoever asks for bfloat16 gets it. Casts of weights and shared inputs are left to
// the generic passes.
std::vector<PassEffect> narrow(Graph& graph, const SessionOptions& options,
                               const WrittenProducts& written) {
  if (!computes_bfloat16()) {
    fail(ErrorCode::kUnsupported,
         "precision bf16: this CPU has no bfloat16 instructions (AVX512-BF16 or AMX); use f32");
  }
  return written.narrow(graph, {options.disabled_passes});
}

// The options for a graph whose products become bfloat16, without passes that would keep them in
// float32, such as attention fusion, whose op computes in float32. Sums of float32 values stay in
// float32.
SessionOptions with_narrow_products(SessionOptions options, const WrittenProducts& written) {
  for (const Pass& pass : fusion_passes()) {
    if (pass.is_float32_only) options.disabled_passes.emplace_back(pass.name);
  }
  if (written.are_mixed()) {
    const std::vector<std::string>& merging = WrittenProducts::merging_passes();
    options.disabled_passes.insert(options.disabled_passes.end(), merging.begin(), merging.end());
  }
  return options;
}

}  // namespace

std::vector<PassName> list_passes() {
  struct PassStage {
    std::string_view name;
    int level;
    std::span<const Pass> passes;
  };
  const PassStage stages[] = {
      {"quantization", 2, quantization_passes()},
      {"generic", 1, generic_passes()},
      {"fusion", 2, fusion_passes()},
      {"lowering", 2, lowering_passes()},
      {"bfloat16", 0, narrowing_passes()},
  };
  std::vector<PassName> names;
  for (const PassStage& stage : stages) {
    for (const Pass& pass : stage.passes)
      names.push_back({pass.name, stage.level, stage.name, pass.file, pass.summary});
  }
  return names;
}

std::vector<PassEffect> prepare_graph(Graph& graph, const SessionOptions& given,
                                      std::span<const Provider* const> providers,
                                      bool owns_weights) {
  std::optional<WrittenProducts> written;
  if (given.precision == Precision::kBFloat16) written.emplace(graph);
  const SessionOptions options = written ? with_narrow_products(given, *written) : given;
  const FoldingScope folding({providers, owns_weights});
  std::vector<PassEffect> effects = optimize(graph, options);
  const size_t expanded = expand_bodies(graph, providers);
  effects.push_back({"expand-bodies", expanded});
  if (expanded > 0) effects += optimize(graph, options);
  if (options.optimization_level >= 2) {
    const PassOptions pass_options{options.disabled_passes};
    // Fusions leave constants to fold: weights that were widened or scaled.
    effects += run_passes(graph, generic_passes(), pass_options);
    effects += run_passes(graph, lowering_passes(), pass_options);
    expand_bodies(graph, providers);  // of ops that no provider has a kernel for
  }
  if (written) effects += narrow(graph, options, *written);
  remove_dead_nodes(graph);
  std::string report;
  find_unsupported(graph, providers, report);
  if (!report.empty()) fail(ErrorCode::kUnsupported, "the model has ops that cannot run:", report);
  return effects;
}

}  // namespace sardonyx
