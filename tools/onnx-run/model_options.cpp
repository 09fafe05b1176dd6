#include "tools/onnx-run/model_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "executor/prepare_graph.h"
#include "ir/core/run_control.h"
#include "onnx_io/load.h"
#include "providers/providers.h"
#include "tools/onnx-run/arguments.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/repeatable.h"
#include "tools/onnx-run/verbosity.h"

namespace sardonyx::tool {
namespace {

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const PassName& pass : list_passes())
    names.emplace_back(pass.name);
  return names;
}

void check_pass_names(const std::vector<std::string>& given) {
  const std::vector<std::string> known = pass_names();
  for (const std::string& name : given) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    fail_usage("there is no pass '", name, "'",
               nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?");
  }
}

std::vector<std::string> provider_names() {
  std::vector<std::string> names;
  for (const Provider* provider : all_providers())
    names.emplace_back(provider->name);
  names.emplace_back(kReferenceProvider);
  return names;
}

bool wants_reference(const ModelOptions& options) {
  return options.providers == std::vector<std::string>{std::string(kReferenceProvider)};
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  repeatable(command.add_option(
                 "--provider", options.providers,
                 "providers of kernels in the order in which they are asked, out of onednn, cpu "
                 "and reference; reference alone runs node by node without any rewriting"))
      ->delimiter(',')
      ->check(CLI::IsMember(provider_names()));
  command.add_option("-x,--threads", options.threads, "threads of one run (default: all cores)")
      ->check(CLI::Range(0, kMaxThreads));
  command
      .add_option("-O", options.level,
                  "optimization: 0 none, 1 clean-ups, 2 fusions (default), 3 all there is")
      ->check(CLI::Range(0, 3));
  repeatable(
      command.add_option("--pass", options.passes, "run this pass and no other (repeatable)"));
  repeatable(
      command.add_option("--no-pass", options.disabled_passes, "leave this pass out (repeatable)"));
  command.add_option("--precision", options.precision, "f32 (default) or bf16 for the heavy ops")
      ->check(CLI::IsMember({"f32", "bf16"}));
  command.add_option("--memory-limit-mb", options.memory_limit_mb,
                     "memory that loading and running may take");
  command.add_option("--plan-cache", options.plan_cache,
                     "file that keeps packed weights: written by the first run, mapped by later "
                     "ones of the same model and options");
  command.add_flag("--strict", options.strict,
                   "refuse models that deviate from ONNX, rather than warn of it");
}

SessionOptions session_options(const ModelOptions& options) {
  check_pass_names(options.passes);
  check_pass_names(options.disabled_passes);
  SessionOptions session;
  session.log_level = log_level();
  session.intra_op_threads = options.threads;
  session.optimization_level = options.level;
  session.disabled_passes = options.disabled_passes;
  if (!options.passes.empty()) {
    for (const std::string& name : pass_names()) {
      if (std::ranges::find(options.passes, name) == options.passes.end())
        session.disabled_passes.push_back(name);
    }
  }
  if (!options.providers.empty()) {
    session.providers = options.providers;  // the reference is last in any case
    std::erase(session.providers, kReferenceProvider);
  }
  session.precision = options.precision == "bf16" ? Precision::kBFloat16 : Precision::kFloat32;
  session.plan_cache = options.plan_cache;
  session.load.strict = options.strict;
  session.keep_kernel_attempts = options.keeps_kernel_attempts;
  if (options.memory_limit_mb > 0)
    session.memory_limit = static_cast<size_t>(options.memory_limit_mb) << 20;
  if (const RunControl* control = current_control(); control && control->deadline) {
    const auto left = *control->deadline - std::chrono::steady_clock::now();
    session.load_deadline =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
  }
  return session;
}

void announce_precision(std::ostream& out, const ModelOptions& options) {
  if (options.precision == "bf16")
    out << "precision: products and convolutions in bfloat16, their sums and all else in float32\n";
}

void require_another_file(const std::string& option, const std::filesystem::path& file,
                          const std::filesystem::path& model) {
  std::error_code error;
  if (file.empty() || !std::filesystem::equivalent(file, model, error)) return;
  fail_usage(option, ": '", file.string(), "' is the model itself, which would be overwritten");
}

std::unique_ptr<Runner> load_runner(const std::filesystem::path& model,
                                    const ModelOptions& options) {
  SessionOptions session = session_options(options);
  return loading([&] {
    return wants_reference(options) ? make_reference_runner(load_model(model, session.load))
                                    : make_session_runner(Session(model, std::move(session)));
  });
}

}  // namespace sardonyx::tool
