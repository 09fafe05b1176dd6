#include "eager/export/export.h"

#include <algorithm>
#include <set>

#include "eager/dispatch/dispatch.h"
#include "eager/export/export_verify.h"
#include "eager/trace/trace.h"
#include "ir/graph.h"
#include "ir/ops/normalization/batch_group_norm.h"
#include "onnx_io/save.h"

namespace sardonyx::eager {
namespace {

constexpr const char* kOutputBase = "output_";

std::string name_at(const std::vector<std::string>& names, size_t index, const char* base) {
  return index < names.size() && !names[index].empty() ? names[index] : text(base, index);
}

void check_name_count(const char* option, const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most) return;
  fail(ErrorCode::kInvalidArgument, option, ": expected at most ", most, " names, got ",
       names.size(), ": ", names[most], " names nothing");
}

std::vector<TensorSpec> specs_for(const std::vector<Tensor>& examples,
                                  const ExportOptions& options) {
  check_name_count("input_names", options.input_names, examples.size());
  std::vector<TensorSpec> specs;
  std::set<std::string> names;
  for (size_t i = 0; i < examples.size(); ++i) {
    require_defined(examples[i], "export_onnx", text("example ", i), Loc());
    const std::string name = name_at(options.input_names, i, "input_");
    if (!names.insert(name).second)
      fail(ErrorCode::kInvalidArgument, "input_names: ", name, " stands there twice");
    std::vector<std::pair<int64_t, std::string>> axes;
    const auto dynamic = options.dynamic_axes.find(name);
    if (dynamic != options.dynamic_axes.end())
      axes.assign(dynamic->second.begin(), dynamic->second.end());
    specs.push_back(spec_of(examples[i], axes, name));
  }
  for (const auto& [name, axes] : options.dynamic_axes) {
    bool is_known = names.contains(name) || name.starts_with(kOutputBase);
    is_known |= std::ranges::count(options.output_names, name) > 0;
    if (is_known) continue;
    fail(ErrorCode::kInvalidArgument, "dynamic_axes names ", name,
         ", which is none of the inputs and outputs; these are named by input_names and "
         "output_names");
  }
  return specs;
}

std::set<std::string> symbols_of_inputs(const Graph& graph) {
  std::set<std::string> found;
  for (const Value* input : graph.inputs()) {
    if (!input->type.has_rank()) continue;
    for (const sardonyx::Dim& dim : *input->type.shape)
      found.merge(dim.symbols());
  }
  return found;
}

// What dynamic_axes says of an output must be so.
void check_axes_of_output(const Graph& graph, const Value& output, const ExportOptions& options) {
  const auto named = options.dynamic_axes.find(output.name);
  if (named == options.dynamic_axes.end() || !output.type.has_rank()) return;
  const auto rank = static_cast<int64_t>(output.type.rank());
  const std::set<std::string> symbols = symbols_of_inputs(graph);
  for (const auto& [axis, symbol] : named->second) {
    if (axis < -rank || axis >= rank) {
      fail(ErrorCode::kInvalidArgument, "dynamic_axes: output ", output.name, " is ", output.type,
           ": expected an axis within [", -rank, ", ", rank, "), got ", axis);
    }
    const sardonyx::Dim& size =
        (*output.type.shape)[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    const bool is_other = symbols.contains(symbol) && size.text() != symbol;
    // What a run computes may turn out to be that size.
    const bool is_told = size.is_known() || std::ranges::includes(symbols, size.symbols());
    if (!is_other || !is_told) continue;
    fail(ErrorCode::kInvalidArgument, "dynamic_axes: axis ", axis, " of output ", output.name,
         " is named ", symbol, ", as an axis of an input, and its size is ", size,
         "; leave outputs out, or give it another name");
  }
}

// Every result has the name that it was given, which nothing else in the file may have.
void name_results(const Traced& traced, const ExportOptions& options) {
  Graph& graph = *traced.graph;
  check_name_count("output_names", options.output_names, traced.results);
  if (graph.outputs().empty()) {
    fail(ErrorCode::kInvalidArgument,
         "export_onnx: the function gives no results, so there is nothing to write");
  }
  for (size_t i = 0; i < traced.results; ++i) {
    Value& output = *graph.outputs()[i];
    const std::string name = name_at(options.output_names, i, kOutputBase);
    graph.rename(output, name);
    if (output.name == name) {
      check_axes_of_output(graph, output, options);
      continue;
    }
    fail(ErrorCode::kInvalidArgument, "output_names: ", name,
         " is the name of an input, a parameter or another output; choose another one");
  }
}

// A name for every tensor of the program that the step reads; those it assigns come out as
// NAME.next.
void name_states(const Traced& traced, const std::vector<Tensor>& examples) {
  Graph& graph = *traced.graph;
  size_t output = traced.results;
  for (size_t i = 0; i < traced.states.size(); ++i) {
    const TraceContext::TracedState& state = traced.states[i];
    const std::string name = graph.inputs()[examples.size() + i]->name;
    if (state.assigned.defined()) graph.rename(*graph.outputs()[output++], name + ".next");
  }
  for (const TraceContext::TracedState& state : traced.states) {
    if (state.grad_touched && state.grad.defined())
      graph.rename(*graph.outputs()[output++], state.input->name + ".grad");
  }
}

}  // namespace

namespace {

// Normalizations by a batch's own statistics, in other ops. ONNX Runtime writes the statistics that
// BatchNormalization gives over those that it is given, be they the caller's or constants of the
// file, with which its next run would begin.
void write_out_batch_statistics(Graph& graph) {
  static const OpDef& op = op_named("BatchNormalization");
  std::vector<Node*> found;
  for (const auto& node : graph.nodes()) {
    for (const GraphPtr& inner : subgraphs_of(*node))
      write_out_batch_statistics(*inner);
    if (node->op == &op && node->attrs.as<ops::BatchNormalizationAttrs>().training_mode)
      found.push_back(node.get());
  }
  for (Node* node : found)
    inline_body(graph, *node);
}

struct TracedModel {
  Model model;
  std::vector<SizeFact> comparisons;
};

TracedModel trace_model(const TensorFunction& fn, const std::vector<Tensor>& examples,
                        const ExportOptions& options) {
  std::unordered_map<const detail::TensorImpl*, std::string> names;
  for (const auto& [name, tensor] : options.names)
    names[tensor.impl().get()] = name;
  const auto kind =
      options.training_step ? TraceContext::Kind::kStates : TraceContext::Kind::kConstants;
  Traced traced = trace(fn, specs_for(examples, options), kind, options.graph_name, names);
  name_results(traced, options);
  if (options.training_step) name_states(traced, examples);
  TracedModel made;
  made.comparisons = traced.guards.sizes();
  std::erase_if(made.comparisons, [](const SizeFact& fact) { return fact.is_check; });
  Model& model = made.model;
  model.graph = traced.graph;
  write_out_batch_statistics(*model.graph);
  model.producer_name = "sardonyx";
  model.producer_version = SARDONYX_VERSION;
  model.metadata = options.metadata;
  return made;
}

SaveOptions save_options(const ExportOptions& options) {
  SaveOptions save;
  save.opset = options.opset;
  if (options.external_data) save.external_data.emplace();
  return save;
}

ExportReport report_on(const Model& model, const ExportOptions& options) {
  ExportReport report;
  report.opset = saved_opset(model, save_options(options));
  for (const auto& node : model.graph->nodes())
    ++report.ops[full_name(*node->op)];
  for (const auto& [value, owner] : model.graph->values()) {
    if (!value->constant) continue;
    ++report.constants;
    report.constant_bytes += value->constant->bytes();
  }
  for (const Value* input : model.graph->inputs())
    report.inputs.push_back(input->name + ": " + input->type.text());
  for (const Value* output : model.graph->outputs())
    report.outputs.push_back(output->name + ": " + output->type.text());
  return report;
}

// A folder beside the file in which it is verified before it takes its place.
class TrialFolder {
 public:
  explicit TrialFolder(const std::filesystem::path& path) : folder_(path.string() + ".trial") {
    std::filesystem::create_directories(folder_);
  }
  ~TrialFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  std::filesystem::path file(const std::filesystem::path& path) const {
    return folder_ / path.filename();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

namespace {

ExportReport write_onnx(const TensorFunction& fn, const std::vector<Tensor>& examples,
                        const std::filesystem::path& path, const ExportOptions& options) {
  const auto [model, comparisons] = trace_model(fn, examples, options);
  ExportReport report = report_on(model, options);
  for (const SizeFact& fact : comparisons)
    report.comparisons.push_back(fact.text());
  if (options.training_step && !comparisons.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "a training step is not verified, so C++ must not compare sizes "
         "that are to stay open: ",
         report.comparisons[0]);
  }
  const SaveOptions save = save_options(options);
  if (options.verify && !options.training_step) {
    const TrialFolder trial(path);
    save_model(model, trial.file(path), save);
    report.checks = verify_export({fn, examples, model, comparisons, options}, trial.file(path));
  }
  save_model(model, path, save);
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  report.file_bytes = unknown ? 0 : static_cast<size_t>(size);
  return report;
}

}  // namespace

Model traced_model(const TensorFunction& fn, const std::vector<Tensor>& examples,
                   const ExportOptions& options, Loc loc) {
  return at_line(loc, [&] { return trace_model(fn, examples, options).model; });
}

ExportReport export_onnx(const TensorFunction& fn, const std::vector<Tensor>& examples,
                         const std::filesystem::path& path, const ExportOptions& options, Loc loc) {
  return at_line(loc, [&] { return write_onnx(fn, examples, path, options); });
}

std::string ExportReport::text() const {
  std::string out = sardonyx::text("opset ", opset, ", ", file_bytes, " bytes, ", constants,
                                   " constants of ", constant_bytes, " bytes\n");
  for (const std::string& input : inputs)
    out += "input " + input + "\n";
  for (const std::string& output : outputs)
    out += "output " + output + "\n";
  for (const auto& [op, count] : ops)
    out += sardonyx::text(count, " ", op, "\n");
  for (const std::string& comparison : comparisons)
    out += "C++ compared sizes: " + comparison + "\n";
  for (const ExportCheck& check : checks) {
    out += "verified";
    for (const auto& [symbol, size] : check.sizes)
      out += sardonyx::text(" ", symbol, "=", size);
    out += check.skipped.empty()
               ? sardonyx::text(": largest relative difference ", check.difference)
               : ": not compared, the function itself fails: " + check.skipped;
    out += "\n";
  }
  if (checks.empty()) out += "not verified\n";
  return out;
}

}  // namespace sardonyx::eager
