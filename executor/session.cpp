#include "executor/session.h"

#include <algorithm>
#include <ranges>

#include "executor/prepare.h"
#include "executor/program.h"
#include "executor/request.h"
#include "executor/selection.h"
#include "executor/shared_contents.h"
#include "executor/shared_symbols.h"
#include "executor/type_fit.h"
#include "executor/unnamed_dims.h"
#include "executor/warnings.h"
#include "ir/core/threading/cpu_limits.h"
#include "ir/core/threading/parallel_for.h"
#include "ir/out_of_memory.h"
#include "ir/run_control.h"
#include "onnx_io/late_load.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

using Clock = std::chrono::steady_clock;

void check_given(const ValueInfo& input, const Datum& datum) {
  if (!datum.defined()) {
    fail(ErrorCode::kInvalidArgument, "input ", input.name, " (", input.type, ") was not given");
  }
  if (datum.is_tensor() && input.type.is_tensor()) {
    if (datum.tensor().dtype() == input.type.dtype && allows(input.type, datum.tensor().shape()))
      return;
  } else if (datum.has_kind(input.type)) {
    return;
  }
  const Type got = datum.type();
  if (input.type.is_optional() && same_kind(*input.type.element, got)) return;
  const bool same = same_kind(input.type, got);
  fail(ErrorCode::kInvalidArgument, "input ", input.name, ": expected ", same ? "shape " : "type ",
       input.type, ", got ", got);
}

int thread_count_of(const SessionOptions& options, const ThreadPool& pool) {
  const int wanted = options.intra_op_threads;
  if (wanted < 0 || wanted > kMaxThreads) {
    fail(ErrorCode::kInvalidArgument, "intra_op_threads: expected 0 to ", kMaxThreads, ", got ",
         wanted);
  }
  return wanted > 0 ? wanted : pool.concurrency();
}

// A tensor of one element for an input that is a scalar.
bool is_scalar_in_disguise(const ValueInfo& input, const Datum& datum) {
  if (!datum.is_tensor() || !input.type.is_tensor() || !input.type.has_rank()) return false;
  const Tensor& tensor = datum.tensor();
  return input.type.rank() == 0 && tensor.rank() > 0 && tensor.count() == 1 &&
         tensor.dtype() == input.type.dtype;
}

void check_options(const SessionOptions& options) {
  const int level = options.optimization_level;
  if (level >= 0 && level <= 2) return;
  fail(ErrorCode::kInvalidArgument, "optimization_level: expected 0 to 2, got ", level);
}

}  // namespace

struct Session::Impl {
  SessionOptions options;
  std::shared_ptr<MemoryBudget> budget;
  Model model;
  std::shared_ptr<const Graph> original;  // before passes, for fetching what they removed
  Environment environment;
  std::unique_ptr<Program> program;
  std::vector<ValueInfo> inputs, outputs;  // of `inputs`, the first `required` must be given
  size_t required = 0;
  std::vector<Datum> defaults;  // by input; undefined: must be given
  std::vector<size_t> order;    // inputs as the graph's own order has them
  SharedSymbols symbols;
  bool is_strict = false;
  NamedWarnings warnings{environment.log};
  ModelMetadata metadata;
  bool owns_weights = false;              // nobody else holds tensors of the model
  Selections<size_t> choices;             // by outputs
  Selections<std::string> fetched_plain;  // by names of values; without rewriting
  Selections<std::string> apart;          // by names of values; each dim has a symbol of its own

  explicit Impl(SessionOptions given)
      : options(std::move(given)), budget(std::make_shared<MemoryBudget>(options.memory_limit)) {
    check_options(options);
    environment.providers = providers_named(options.providers);
    environment.pool = options.thread_pool ? options.thread_pool : process_thread_pool();
    environment.threads = thread_count_of(options, *environment.pool);
    environment.precision = options.precision;
    environment.layouts = environment.specializes = options.optimization_level > 0;
    environment.max_plans = std::max<size_t>(1, options.max_plans);
    environment.log = Log(options.log_level, options.log);
    is_strict = options.load.strict;
    options.load.on_warning = [this, given = options.load.on_warning](const LoadWarning& warning) {
      warnings.tell(warning.name, warning.message);
      if (given) given(warning);
    };
    if (options.plan_cache.empty()) return;
    environment.plan_cache =
        std::make_unique<PlanCache>(options.plan_cache, packing_version(), environment.log);
    environment.packs.set_store(environment.plan_cache.get());
  }

  static std::unique_ptr<Impl> made(SessionOptions options) {
    return reporting_out_of_memory([&] { return std::make_unique<Impl>(std::move(options)); });
  }

  // Prepares what `read` gives, within the limits of a load.
  template <typename Read>
  void load(const Read& read) {
    reporting_out_of_memory([&] {
      RunControl control = load_control();
      const EitherStop stop(control.cancel, options.cancel);
      control.cancel = stop.token();
      const ControlScope scope(control);
      const ThreadScope threads(environment.threads, environment.pool.get());
      const Clock::time_point begin = Clock::now();
      Model loaded = read();
      environment.log.write(LogLevel::kInfo, "read ", loaded.graph->nodes().size(), " nodes, ",
                            budget->used(), " bytes of weights, in ", milliseconds_since(begin),
                            " ms");
      prepare(std::move(loaded));
      options.cancel = {};
      options.load = {};  // what was loaded holds what it needs of it
    });
  }

  RunControl load_control() const {
    const RunControl* outer = current_control();
    RunControl control{budget, std::nullopt, outer ? outer->cancel : std::stop_token()};
    if (options.load_deadline) control.deadline = time_after(*options.load_deadline);
    return control;
  }

  void prepare(Model loaded) {
    model = std::move(loaded);
    metadata = metadata_of(model);
    original = clone(*model.graph);
    UnnamedDims unnamed;
    order.resize(model.graph->inputs().size());
    for (const bool with_default : {false, true}) {
      for (size_t i = 0; i < model.graph->inputs().size(); ++i) {
        const Value* input = model.graph->inputs()[i];
        if ((input->default_value != nullptr) != with_default) continue;
        order[i] = inputs.size();
        inputs.push_back({input->name, unnamed.numbered(input->type)});
        defaults.push_back(with_default ? Datum(*input->default_value) : Datum());
        required += with_default ? 0 : 1;
      }
    }
    for (const Value* output : model.graph->outputs())
      outputs.push_back({output->name, unnamed.numbered(output->type)});
    symbols = SharedSymbols(inputs);
    const Clock::time_point begin = Clock::now();
    if (owns_weights) bring_what_may_be_looked_at(*model.graph);
    const std::vector<PassEffect> effects =
        prepare_graph(*model.graph, options, environment.providers, owns_weights);
    for (const PassEffect& effect : effects) {
      if (effect.changes > 0)
        environment.log.write(LogLevel::kDebug, "  ", effect.pass, ": ", effect.changes);
    }
    environment.log.write(LogLevel::kInfo, "optimized to ", model.graph->nodes().size(),
                          " nodes in ", milliseconds_since(begin), " ms");
    program = std::make_unique<Program>(model.graph, environment, environment.max_plans);
    environment.pack_room.expect(weight_bytes(*model.graph));
    if (!owns_weights) return;
    Originals::release_replaced(*original, *model.graph);
    if (has_inner_graphs())
      environment.originals.restore(*model.graph);
    else
      environment.originals.allow_release();
  }

  // Inner graphs see the constants of this one.
  bool has_inner_graphs() const {
    return std::ranges::any_of(model.graph->nodes(),
                               [](const auto& node) { return !subgraphs_of(*node).empty(); });
  }

  std::vector<Datum> in_order(const NamedData& named) const {
    std::vector<Datum> ordered(inputs.size());
    size_t used = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto at = named.find(inputs[i].name);
      if (at == named.end()) continue;
      ordered[i] = at->second;
      ++used;
    }
    if (used == named.size()) return ordered;
    for (const auto& [given, datum] : named) {
      const std::string& name = given;
      const auto same = [&](const ValueInfo& input) { return input.name == name; };
      if (std::ranges::any_of(inputs, same)) continue;
      std::string known;
      for (const ValueInfo& input : inputs)
        known += (known.empty() ? "" : ", ") + input.name;
      fail(ErrorCode::kInvalidArgument, "the model has no input ", name, "; its inputs are ",
           known);
    }
    return ordered;
  }

  // Inputs that nobody looks at count as not given.
  static void leave_out_others(std::pmr::vector<const Datum*>& all,
                               std::span<const size_t> wanted) {
    static const Datum kOmitted;
    for (size_t i = 0; i < all.size(); ++i) {
      if (std::ranges::find(wanted, i) == wanted.end()) all[i] = &kOmitted;
    }
  }

  bool give_one_symbol_two_sizes(std::span<const Datum* const> all) {
    if (symbols.empty()) return false;
    const std::optional<std::string> conflict = symbols.conflict(all);
    if (!conflict) return false;
    if (is_strict) fail(ErrorCode::kInvalidArgument, *conflict);
    warnings.tell("reused-dim-name", *conflict + "; taken for two names");
    return true;
  }

  // The same values, by a program that does not rely on equal names being equal sizes.
  Selections<std::string>::Made without_shared_symbols(const Graph& graph) {
    std::vector<std::string> names;
    for (const Value* output : graph.outputs())
      names.push_back(output->name);
    return apart.find(names, environment.max_plans, [&] {
      environment.originals.restore(*original);
      auto own = selected(*original, names);
      set_symbols_apart(*own);
      prepare_graph(*own, options, environment.providers);
      return selection(std::move(own));
    });
  }

  // Of input `index`: a tensor of one element becomes a scalar, in `scalars`, where one is wanted.
  const Datum* accepted(size_t index, const Datum& given, std::pmr::vector<Datum>& scalars) {
    const ValueInfo& input = inputs[index];
    const Datum* datum = &given;
    if (!is_strict && is_scalar_in_disguise(input, given)) {
      warnings.tell("one-element-scalar", text("input ", input.name, ": expected ", input.type,
                                               ", got ", given.type(), "; its element is taken"));
      datum = &scalars.emplace_back(given.tensor().reshaped({}));
    }
    check_given(input, *datum);
    return datum;
  }

  // Calls `work` with `target`, or a program that serves in its place, and what is given for the
  // inputs `wanted`, within the limits of a run.
  template <typename Work>
  void serve(Program& target, std::span<const size_t> wanted, std::span<const Datum> given,
             const RunOptions& run_options, const Work& work) {
    RunControl control{budget, std::nullopt, run_options.cancel};
    if (run_options.deadline) control.deadline = time_after(*run_options.deadline);
    const ControlScope scope(control);
    const ThreadScope threads(environment.threads, environment.pool.get());
    const BorrowedScratch memory(environment);
    if (given.size() != inputs.size() && given.size() != required) {
      fail(ErrorCode::kInvalidArgument, "expected ", inputs.size(), " inputs, got ", given.size());
    }
    std::pmr::vector<const Datum*> all(inputs.size(), scratch());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_given = i < given.size() && given[i].defined();
      all[i] = is_given ? &given[i] : &defaults[i];
    }
    std::pmr::vector<Datum> scalars(scratch());
    scalars.reserve(2 * inputs.size());
    const auto placed_for = [&](std::span<const size_t> indices) {
      std::pmr::vector<const Datum*> placed(scratch());
      placed.reserve(indices.size());
      for (const size_t i : indices)
        placed.push_back(accepted(i, *all[i], scalars));
      return placed;
    };
    const std::pmr::vector<const Datum*> placed = placed_for(wanted);
    std::pmr::vector<const Datum*> wanted_alone(scratch());
    std::span<const Datum* const> looked_at = all;
    if (wanted.size() < inputs.size()) {
      wanted_alone = all;
      leave_out_others(wanted_alone, wanted);
      looked_at = wanted_alone;
    }
    const bool are_apart = give_one_symbol_two_sizes(looked_at);
    blaming_request(inputs, looked_at, [&] {
      if (!are_apart) return work(target, DatumRefs(placed));
      const auto other = without_shared_symbols(target.graph());
      work(*other->program, DatumRefs(placed_for(other->inputs)));
    });
  }

  // `slots`: an OutputSlot for each output of `target`, or a Datum where it is left to the library.
  template <typename Slots>
  void run(Program& target, std::span<const size_t> wanted, std::span<const Datum> given,
           Slots&& slots, const RunOptions& run_options) {
    serve(target, wanted, given, run_options, [&](Program& chosen, DatumRefs placed) {
      std::pmr::vector<RunOutput> results(scratch());
      results.reserve(chosen.graph().outputs().size());
      for (auto& slot : slots)
        results.emplace_back(slot);
      const auto& names = chosen.graph().outputs();
      require_apart(results, names);
      for (size_t i = 0; run_options.strict_outputs && i < results.size(); ++i)
        require_fit(results[i], names[i]->name, names[i]->type);
      chosen.run_into(placed, {}, results, run_options.profile, run_options.strict_outputs);
    });
  }

  Selections<size_t>::Made choice_of(std::span<const size_t> chosen) {
    const auto has_next = [](size_t a, size_t b) { return a >= b; };
    if (std::ranges::adjacent_find(chosen, has_next) != chosen.end() ||
        chosen.back() >= outputs.size()) {
      fail(ErrorCode::kInvalidArgument, "outputs: expected ascending indices below ",
           outputs.size());
    }
    return choices.find(chosen, environment.max_plans, [&] {
      std::vector<std::string> names;
      for (const size_t index : chosen)
        names.push_back(model.graph->outputs()[index]->name);
      return selection(selected(*model.graph, names));
    });
  }

  Selections<std::string>::Made fetcher(std::span<const std::string> names) {
    return fetched_plain.find(names, environment.max_plans, [&] {
      const RunControl control = load_control();
      const ControlScope scope(control);
      environment.originals.restore(*original);
      auto graph = selected(*original, names);
      SessionOptions plain = options;
      plain.optimization_level = 0;
      prepare_graph(*graph, plain, environment.providers);
      return selection(std::move(graph));
    });
  }

  std::shared_ptr<const Selection> selection(std::shared_ptr<const Graph> graph) {
    auto made = std::make_shared<Selection>();
    for (const Value* input : graph->inputs()) {
      const auto at = std::ranges::find(inputs, input->name, &ValueInfo::name);
      made->inputs.push_back(static_cast<size_t>(at - inputs.begin()));
    }
    made->program = std::make_unique<Program>(std::move(graph), environment, environment.max_plans);
    return made;
  }

  // Which outputs these are, in order of `names`; nullopt where one is none.
  std::optional<std::vector<size_t>> outputs_named(std::span<const std::string> names) const {
    std::vector<size_t> indices;
    for (const std::string& name : names) {
      const auto at = std::ranges::find(outputs, name, &ValueInfo::name);
      if (at == outputs.end()) return std::nullopt;
      indices.push_back(static_cast<size_t>(at - outputs.begin()));
    }
    return indices;
  }

  std::vector<Datum> fetch(std::span<const Datum> given, std::span<const std::string> names,
                           const RunOptions& run_options) {
    const std::optional<std::vector<size_t>> indices = outputs_named(names);
    if (names.empty()) return {};
    if (!indices) {
      std::vector<Datum> found(names.size());
      const auto made = fetcher(names);
      run(*made->program, made->inputs, given, found, run_options);
      return found;
    }
    std::vector<size_t> chosen = *indices;
    std::ranges::sort(chosen);
    const auto repeated = std::ranges::unique(chosen);
    chosen.erase(repeated.begin(), repeated.end());
    std::vector<Datum> computed(chosen.size());
    const auto made = choice_of(chosen);
    run(*made->program, made->inputs, given, computed, run_options);
    std::vector<Datum> found;
    for (const size_t index : *indices)
      found.push_back(computed[std::ranges::find(chosen, index) - chosen.begin()]);
    return found;
  }

  void prepare_for(std::span<const Datum> given, const RunOptions& run_options) {
    Selections<size_t>::Made chosen;
    if (!run_options.outputs.empty()) chosen = choice_of(run_options.outputs);
    serve(chosen ? *chosen->program : *program, chosen ? chosen->inputs : order, given, run_options,
          [&](Program& target, DatumRefs placed) { target.prepare(placed); });
  }

  Program::Trace segments_for(std::span<const Datum> given) {
    Program::Trace segments;
    serve(*program, order, given, {}, [&](Program& target, DatumRefs placed) {
      if (&target != program.get()) {
        fail(ErrorCode::kInvalidArgument, "the inputs give one name of a dim two sizes: the plan ",
             "is another program's");
      }
      segments = program->segments_for(placed);
    });
    return segments;
  }
};

Session::Session(const std::filesystem::path& path, SessionOptions options)
    : impl_(Impl::made(std::move(options))) {
  impl_->owns_weights = true;
  impl_->load([&] { return load_model_late(path, impl_->options.load); });
}

Session::Session(std::span<const std::byte> bytes, SessionOptions options)
    : impl_(Impl::made(std::move(options))) {
  impl_->owns_weights = true;
  impl_->load([&] {
    Model model = load_model(bytes, impl_->options.load);
    share_contents(*model.graph);
    return model;
  });
}

Session::Session(Model model, SessionOptions options) : impl_(Impl::made(std::move(options))) {
  impl_->load([&] { return std::move(model); });
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::span<const ValueInfo> Session::inputs() const& {
  return std::span<const ValueInfo>(impl_->inputs).first(impl_->required);
}
std::span<const ValueInfo> Session::optional_inputs() const& {
  return std::span<const ValueInfo>(impl_->inputs).subspan(impl_->required);
}
std::span<const ValueInfo> Session::outputs() const& {
  return impl_->outputs;
}
std::vector<ValueInfo> Session::inputs() && {
  return {impl_->inputs.begin(), impl_->inputs.begin() + ptrdiff_t(impl_->required)};
}
std::vector<ValueInfo> Session::optional_inputs() && {
  return {impl_->inputs.begin() + ptrdiff_t(impl_->required), impl_->inputs.end()};
}
std::vector<ValueInfo> Session::outputs() && {
  return std::move(impl_->outputs);
}
const Model& Session::model() const {
  const RunControl control = impl_->load_control();
  const ControlScope scope(control);
  impl_->environment.originals.restore(*impl_->model.graph);
  return impl_->model;
}

const Graph& Session::graph() const {
  return *impl_->model.graph;
}

const ModelMetadata& Session::metadata() const {
  return impl_->metadata;
}

std::vector<Datum> Session::run(const NamedData& inputs, const RunOptions& options) const {
  return reporting_out_of_memory([&] { return run(impl_->in_order(inputs), options); });
}

std::vector<Datum> Session::run(std::span<const Datum> inputs, const RunOptions& options) const {
  return reporting_out_of_memory([&] {
    std::vector<Datum> outputs(impl_->outputs.size());
    impl_->run(*impl_->program, impl_->order, inputs, outputs, options);
    return outputs;
  });
}

void Session::run_into(std::span<const Datum> inputs, std::span<OutputSlot> outputs,
                       const RunOptions& options) const {
  if (outputs.size() != impl_->outputs.size()) {
    fail(ErrorCode::kInvalidArgument, "expected ", impl_->outputs.size(), " outputs, got ",
         outputs.size());
  }
  try {
    reporting_out_of_memory([&] {
      if (options.outputs.empty())
        return impl_->run(*impl_->program, impl_->order, inputs, outputs, options);
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (std::ranges::find(options.outputs, i) == options.outputs.end()) outputs[i].take();
      }
      const auto chosen = impl_->choice_of(options.outputs);
      const auto slot_at = [&](size_t index) -> OutputSlot& { return outputs[index]; };
      impl_->run(*chosen->program, chosen->inputs, inputs,
                 options.outputs | std::views::transform(slot_at), options);
    });
  } catch (...) {
    for (OutputSlot& slot : outputs)
      slot.take();  // whatever it shows by now is no result
    throw;
  }
}

std::vector<Datum> Session::fetch(const NamedData& inputs, std::span<const std::string> names,
                                  const RunOptions& options) const {
  return reporting_out_of_memory(
      [&] { return impl_->fetch(impl_->in_order(inputs), names, options); });
}

std::vector<Datum> Session::fetch(std::span<const Datum> inputs, std::span<const std::string> names,
                                  const RunOptions& options) const {
  return reporting_out_of_memory([&] { return impl_->fetch(inputs, names, options); });
}

void Session::prepare(std::span<const Datum> inputs, const RunOptions& options) const {
  reporting_out_of_memory([&] { impl_->prepare_for(inputs, options); });
}

void Session::prepare(std::span<const std::optional<Shape>> shapes,
                      const RunOptions& options) const {
  reporting_out_of_memory([&] {
    impl_->prepare_for(tensors_of_shapes(impl_->inputs, impl_->defaults, shapes), options);
  });
}

MemoryPlan Session::memory_plan(std::span<const Datum> inputs) const {
  MemoryPlan plan;
  plan.weight_bytes = impl_->environment.packs.bytes();
  for (const auto& segment : impl_->segments_for(inputs)) {
    plan.arena_bytes = std::max(plan.arena_bytes, segment->arena_bytes);
    plan.live_peak_bytes = std::max(plan.live_peak_bytes, segment->live_peak_bytes);
    for (const MemoryItem& item : segment->memory) {
      const bool is_scratch = item.value == kNoValue;
      plan.items.push_back({is_scratch ? "" : impl_->program->label(item.value), item.offset,
                            item.bytes, item.first_step, item.last_step});
    }
  }
  return plan;
}

std::string Session::plan_text(std::span<const Datum> inputs) const {
  std::string out;
  for (const auto& segment : impl_->segments_for(inputs)) {
    if (!out.empty()) out += "-- shapes that depend on data are known --\n";
    for (const Step& step : segment->steps) {
      out += step_text(step, impl_->program->values()) + "\n";
    }
  }
  return out;
}

Session::Stats Session::stats() const {
  return {impl_->program->plan_count(), impl_->budget->used(), impl_->budget->peak(),
          impl_->environment.packs.bytes()};
}

void Session::trim() {
  impl_->environment.trim();
}

}  // namespace sardonyx
