// Loading: from options and a model to the executable that serves most requests.
#include "executor/overridable_initializers.h"
#include "executor/prepare_graph.h"
#include "executor/session/session_impl.h"
#include "ir/core/bad_alloc.h"
#include "ir/core/threading/cpu_limits.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

using Clock = std::chrono::steady_clock;

int thread_count_of(const SessionOptions& options, const ThreadPool& pool) {
  const int wanted = options.intra_op_threads;
  if (wanted < 0 || wanted > kMaxThreads) {
    fail(ErrorCode::kInvalidArgument, "intra_op_threads: expected 0 to ", kMaxThreads, ", got ",
         wanted);
  }
  return wanted > 0 ? wanted : pool.concurrency();
}

void check_options(const SessionOptions& options) {
  const int level = options.optimization_level;
  if (level < 0 || level > 2)
    fail(ErrorCode::kInvalidArgument, "optimization_level: expected 0 to 2, got ", level);
  if (options.disabled_passes.empty()) return;
  const std::vector<PassName> passes = list_passes();
  for (const std::string& name : options.disabled_passes) {
    if (std::ranges::find(passes, name, &PassName::name) != passes.end()) continue;
    fail(ErrorCode::kInvalidArgument, "disabled_passes: there is no pass \"", name,
         "\"; docs/passes.md lists them");
  }
}

void configure(SessionState& state, const SessionOptions& options) {
  check_options(options);
  state.providers = providers_named(options.providers);
  state.pool = options.thread_pool ? options.thread_pool : process_thread_pool();
  state.threads = thread_count_of(options, *state.pool);
  state.precision = options.precision;
  state.layouts = state.specializes = options.optimization_level > 0;
  state.max_plans = std::max<size_t>(1, options.max_plans);
  state.log = Log(options.log_level, options.log);
  state.keeps_attempts = options.keep_kernel_attempts || state.log.wants(LogLevel::kDebug);
  if (options.plan_cache.empty()) return;
  state.plan_cache =
      std::make_unique<PrepackFileStore>(options.plan_cache, packing_version(), state.log);
  state.packs.set_store(state.plan_cache.get());
}

}  // namespace

Session::Impl::Impl(SessionOptions given)
    : options(std::move(given)),
      budget(std::make_shared<MemoryBudget>(options.memory_limit, options.memory_source)) {
  configure(session_state, options);
  if (options.intra_op_threads == 0 && !options.thread_pool) {
    if (const std::string problem = thread_setting_problem(); !problem.empty())
      warnings.tell("thread-setting", problem);
  }
  options.load.on_warning = [this, given = options.load.on_warning](const LoadWarning& warning) {
    warnings.tell(warning.name, warning.message);
    if (given) given(warning);
  };
}

std::unique_ptr<Session::Impl> Session::Impl::made(SessionOptions options) {
  return reporting_out_of_memory([&] { return std::make_unique<Impl>(std::move(options)); });
}

void Session::Impl::load(const std::function<Model()>& read) {
  reporting_out_of_memory([&] {
    RunControl control = load_control();
    const EitherStop stop(control.cancel, options.cancel);
    control.cancel = stop.token();
    const ControlScope scope(control);
    const ThreadScope threads(session_state.threads, session_state.pool.get());
    const Clock::time_point begin = Clock::now();
    Model loaded = read();
    session_state.log.write(LogLevel::kInfo, "read ", loaded.graph->nodes().size(), " nodes, ",
                            budget->used(), " bytes of weights, in ", milliseconds_since(begin),
                            " ms");
    prepare(std::move(loaded));
    options.cancel = {};
    options.load = {};  // the loaded model owns all it needs of them
  });
}

RunControl Session::Impl::load_control() const {
  const RunControl* outer = current_control();
  RunControl control{budget, std::nullopt, outer ? outer->cancel : std::stop_token()};
  if (options.load_deadline) control.deadline = time_after(*options.load_deadline);
  return control;
}

void Session::Impl::prepare(Model loaded) {
  model = std::move(loaded);
  metadata = metadata_of(model);
  original = clone(*model.graph);
  UnnamedDims unnamed;
  inputs = SessionInputs(*model.graph, unnamed, options.load.strict);
  for (const Value* output : model.graph->outputs())
    outputs.push_back({output->name, unnamed.numbered(output->type)});
  const Clock::time_point begin = Clock::now();
  plain = made_form(std::move(model.graph), {}, owns_weights);
  model.graph = plain->graph;
  session_state.log.write(LogLevel::kInfo, "optimized to ", model.graph->nodes().size(),
                          " nodes in ", milliseconds_since(begin), " ms");
  session_state.packed_weight_arena.expect(weight_bytes(*model.graph));
  if (!owns_weights) return;
  WeightResidency::release_replaced(*original, *model.graph);
  if (has_inner_graphs())
    session_state.weight_residency.restore(*model.graph);
  else
    session_state.weight_residency.allow_release();
}

// `graph`, a copy of `original`, for requests that give the inputs `given` of those that have a
// default. The other defaults become constants, unless nodes cannot take them, as where a model
// has them for the sake of their shape alone: then they are inputs of each run.
std::shared_ptr<Session::Impl::InputVariant> Session::Impl::made_form(std::shared_ptr<Graph> graph,
                                                                      std::span<const size_t> given,
                                                                      bool may_evict_weights) {
  if (inputs.optional().empty()) return prepared_form(std::move(graph), may_evict_weights);
  try {
    make_constants_of_defaults(*graph, given);
    return prepared_form(std::move(graph), may_evict_weights);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidModel && error.code() != ErrorCode::kInvalidArgument)
      throw;
    session_state.log.write(LogLevel::kInfo,
                            "defaults of inputs are not taken for constants: ", error.what());
  }
  return prepared_form(clone(*original), may_evict_weights);
}

void Session::Impl::make_constants_of_defaults(Graph& graph, std::span<const size_t> given) {
  const auto is_given = [&](const std::string& name) {
    return std::ranges::any_of(given,
                               [&](size_t index) { return inputs.all()[index].name == name; });
  };
  defaults_to_constants(graph, is_given, [&](const Error& contradiction) {
    if (inputs.is_strict()) throw contradiction;
    warnings.tell("declared-shape", text(contradiction.what(), "; what is inferred counts"));
  });
}

std::shared_ptr<Session::Impl::InputVariant> Session::Impl::prepared_form(
    std::shared_ptr<Graph> graph, bool may_evict_weights) {
  if (may_evict_weights) load_inspectable_weights(*graph);
  const std::vector<PassEffect> effects =
      prepare_graph(*graph, options, session_state.providers, may_evict_weights);
  for (const PassEffect& effect : effects) {
    if (effect.changes > 0)
      session_state.log.write(LogLevel::kDebug, "  ", effect.pass, ": ", effect.changes);
  }
  auto form = std::make_shared<InputVariant>();
  form->graph = graph;
  form->whole = selection(std::move(graph));
  return form;
}

// Whether there are subgraphs, which read the constants of the outer graph.
bool Session::Impl::has_inner_graphs() const {
  return std::ranges::any_of(model.graph->nodes(),
                             [](const auto& node) { return !subgraphs_of(*node).empty(); });
}

}  // namespace sardonyx
