// `onnx-run list-ops`: the rows of the op table, and who has a fast kernel for each; with --kernels
// where the row and every kernel stand, in the order in which kernels are asked.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ir/op_def.h"
#include "providers/providers.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/json_output.h"

namespace sardonyx::tool {
namespace {

struct ListCommand {
  bool markdown = false;
  bool kernels = false;
  JsonOutput json;
};

std::string domain_of(const OpDef& op) {
  return op.domain.empty() ? "ai.onnx" : std::string(op.domain);
}

std::string_view meaning_of(const OpDef& op) {
  return op.reference ? "kernel" : op.evaluate ? "evaluator" : "body";
}

// "onednn, cpu".
std::vector<std::string> providers_of(const OpDef& op) {
  std::vector<std::string> names;
  const std::string name = full_name(op);
  for (const Provider* provider : all_providers()) {
    if (std::ranges::find(provider->kernels, name, &KernelEntry::op) != provider->kernels.end())
      names.emplace_back(provider->name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names)
    out += (out.empty() ? "" : ", ") + name;
  return out;
}

// With Markdown's marks as they are: |X| ends no cell, <x> is no tag.
std::string in_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("|*<_").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::vector<const OpDef*> sorted_ops() {
  std::vector<const OpDef*> ops(all_ops().begin(), all_ops().end());
  std::ranges::sort(
      ops, {}, [](const OpDef* op) { return std::pair(domain_of(*op), std::string(op->name)); });
  return ops;
}

// In the order in which they are asked.
std::vector<std::pair<std::string_view, const KernelEntry*>> kernels_of(const OpDef& op) {
  std::vector<std::pair<std::string_view, const KernelEntry*>> found;
  const std::string name = full_name(op);
  for (const Provider* provider : all_providers()) {
    for (const KernelEntry& entry : provider->kernels) {
      if (entry.op == name) found.emplace_back(provider->name, &entry);
    }
  }
  return found;
}

// The kernel behind those that its prepare asks first, each with its source.
std::string described(std::string_view provider, const KernelEntry& entry, std::string_view mark) {
  std::string out = text(provider, " ", entry.name, ": ", mark, entry.file, mark);
  for (const InnerKernel& inner : entry.inner) {
    out += text(&inner == entry.inner.data() ? ", after " : ", ", inner.name, ": ", mark,
                inner.file, mark);
  }
  return out;
}

int run_kernels(const ListCommand& command) {
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  auto list = nlohmann::ordered_json::array();
  if (command.markdown) out << "| op | row | kernels, in order |\n| --- | --- | --- |\n";
  for (const OpDef* op : sorted_ops()) {
    auto kernels = nlohmann::ordered_json::array();
    std::string text;
    for (const auto& [provider, entry] : kernels_of(*op)) {
      const std::string_view separator = command.markdown ? "<br>" : "\n    ";
      if (!text.empty() || !command.markdown) text += separator;
      text += described(provider, *entry, command.markdown ? "`" : "");
      auto inner = nlohmann::ordered_json::array();
      for (const InnerKernel& each : entry->inner)
        inner.push_back({{"name", each.name}, {"file", each.file}});
      kernels.push_back(
          {{"provider", provider}, {"name", entry->name}, {"file", entry->file}, {"inner", inner}});
    }
    if (command.markdown)
      out << "| " << full_name(*op) << " | `" << op->file << "` | " << text << " |\n";
    else if (!command.json.on_stdout())
      out << full_name(*op) << "  " << op->file << text << '\n';
    list.push_back({{"name", full_name(*op)}, {"file", op->file}, {"kernels", kernels}});
  }
  out.flush();
  if (command.json.wanted()) command.json.write({{"ops", list}});
  return kOk;
}

int run_list(const ListCommand& command) {
  if (command.kernels) return run_kernels(command);
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  auto list = nlohmann::ordered_json::array();
  if (command.markdown)
    out << "| op | domain | version | signature | reference | fast kernels | gradient | computes "
           "|\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const OpDef* op : sorted_ops()) {
    const std::vector<std::string> providers = providers_of(*op);
    if (command.markdown) {
      out << "| " << op->name << " | " << domain_of(*op) << " | " << op->since << " | `"
          << op->signature << "` | " << meaning_of(*op) << " | " << joined(providers) << " | "
          << (op->grad ? "yes" : "") << " | " << in_cell(op->doc) << " |\n";
    } else if (!command.json.on_stdout()) {
      out << full_name(*op) << "  " << op->since << "  " << op->signature
          << (providers.empty() ? "" : "  [" + joined(providers) + "]") << "\n    " << op->doc
          << '\n';
    }
    list.push_back({{"name", op->name},
                    {"domain", domain_of(*op)},
                    {"version", op->since},
                    {"signature", op->signature},
                    {"doc", op->doc},
                    {"reference", meaning_of(*op)},
                    {"kernels", providers},
                    {"gradient", op->grad != nullptr}});
  }
  out.flush();
  if (command.json.wanted()) command.json.write({{"ops", list}});
  return kOk;
}

}  // namespace

void add_list_ops_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ListCommand>();
  CLI::App* command = app.add_subcommand("list-ops", "list the operators that are known");
  command->add_flag("--markdown", options->markdown, "as a Markdown table");
  command->add_flag("--kernels", options->kernels,
                    "the sources of rows and kernels, these in the order in which they are asked");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  command->callback([options, &action] { action = [options] { return run_list(*options); }; });
}

}  // namespace sardonyx::tool
