#include "executor/session.h"

#include <algorithm>
#include <ranges>

#include "executor/named_warnings.h"
#include "executor/overridable_initializers.h"
#include "executor/partial_program.h"
#include "executor/prepare_graph.h"
#include "executor/request.h"
#include "executor/run/executable.h"
#include "executor/shared_symbols.h"
#include "executor/type_check.h"
#include "executor/unnamed_dims.h"
#include "executor/weights/weight_sharing.h"
#include "ir/core/bad_alloc.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/cpu_limits.h"
#include "ir/core/threading/parallel_for.h"
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
  // The model as it is prepared for requests that give the same ones of its optional inputs: the
  // others are constants.
  struct Form {
    std::shared_ptr<Graph> graph;
    PartialExecutable whole;
    PartialExecutables<size_t> choices;  // by outputs
  };

  SessionOptions options;
  std::shared_ptr<MemoryBudget> budget;
  Model model;
  std::shared_ptr<const Graph> original;  // before passes, for fetching what they removed
  SessionState session_state;
  std::shared_ptr<Form> plain;  // of `model`, where none of the optional inputs is given
  PartialExecutables<size_t, Form> others;  // by the optional inputs that are given
  std::vector<ValueInfo> inputs, outputs;   // of `inputs`, the first `required` must be given
  size_t required = 0;
  std::vector<Datum> defaults;  // by input; undefined: must be given
  SharedSymbols symbols;
  bool is_strict = false;
  NamedWarnings warnings{session_state.log};
  ModelMetadata metadata;
  bool owns_weights = false;                      // nobody else holds tensors of the model
  PartialExecutables<std::string> fetched_plain;  // by names of values; without rewriting
  PartialExecutables<std::string> apart;  // by names of values; each dim has a symbol of its own

  explicit Impl(SessionOptions given)
      : options(std::move(given)), budget(std::make_shared<MemoryBudget>(options.memory_limit)) {
    check_options(options);
    session_state.providers = providers_named(options.providers);
    session_state.pool = options.thread_pool ? options.thread_pool : process_thread_pool();
    session_state.threads = thread_count_of(options, *session_state.pool);
    session_state.precision = options.precision;
    session_state.layouts = session_state.specializes = options.optimization_level > 0;
    session_state.max_plans = std::max<size_t>(1, options.max_plans);
    session_state.log = Log(options.log_level, options.log);
    session_state.keeps_attempts =
        options.keep_kernel_attempts || session_state.log.wants(LogLevel::kDebug);
    is_strict = options.load.strict;
    options.load.on_warning = [this, given = options.load.on_warning](const LoadWarning& warning) {
      warnings.tell(warning.name, warning.message);
      if (given) given(warning);
    };
    if (options.plan_cache.empty()) return;
    session_state.plan_cache =
        std::make_unique<PrepackCache>(options.plan_cache, packing_version(), session_state.log);
    session_state.packs.set_store(session_state.plan_cache.get());
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
      const ThreadScope threads(session_state.threads, session_state.pool.get());
      const Clock::time_point begin = Clock::now();
      Model loaded = read();
      session_state.log.write(LogLevel::kInfo, "read ", loaded.graph->nodes().size(), " nodes, ",
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
    for (const bool with_default : {false, true}) {
      for (const Value* input : model.graph->inputs()) {
        if ((input->default_value != nullptr) != with_default) continue;
        inputs.push_back({input->name, unnamed.numbered(input->type)});
        defaults.push_back(with_default ? Datum(*input->default_value) : Datum());
        required += with_default ? 0 : 1;
      }
    }
    for (const Value* output : model.graph->outputs())
      outputs.push_back({output->name, unnamed.numbered(output->type)});
    symbols = SharedSymbols(inputs);
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
  std::shared_ptr<Form> made_form(std::shared_ptr<Graph> graph, std::span<const size_t> given,
                                  bool weights_may_be_away) {
    if (inputs.size() == required) return prepared_form(std::move(graph), weights_may_be_away);
    try {
      make_constants_of_defaults(*graph, given);
      return prepared_form(std::move(graph), weights_may_be_away);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidModel && error.code() != ErrorCode::kInvalidArgument)
        throw;
      session_state.log.write(LogLevel::kInfo,
                              "defaults of inputs are not taken for constants: ", error.what());
    }
    return prepared_form(clone(*original), weights_may_be_away);
  }

  void make_constants_of_defaults(Graph& graph, std::span<const size_t> given) {
    const auto is_given = [&](const std::string& name) {
      return std::ranges::any_of(given, [&](size_t index) { return inputs[index].name == name; });
    };
    defaults_to_constants(graph, is_given, [&](const Error& contradiction) {
      if (is_strict) throw contradiction;
      warnings.tell("declared-shape", text(contradiction.what(), "; what is inferred counts"));
    });
  }

  std::shared_ptr<Form> prepared_form(std::shared_ptr<Graph> graph, bool weights_may_be_away) {
    if (weights_may_be_away) load_inspectable_weights(*graph);
    const std::vector<PassEffect> effects =
        prepare_graph(*graph, options, session_state.providers, weights_may_be_away);
    for (const PassEffect& effect : effects) {
      if (effect.changes > 0)
        session_state.log.write(LogLevel::kDebug, "  ", effect.pass, ": ", effect.changes);
    }
    auto form = std::make_shared<Form>();
    form->graph = graph;
    form->whole = selection(std::move(graph));
    return form;
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

  // Inputs that nobody looks at count as not given. Defaults may be constants of what is run.
  void leave_out_others(std::pmr::vector<const Datum*>& all, std::span<const size_t> wanted) const {
    static const Datum kOmitted;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] != &defaults[i] && std::ranges::find(wanted, i) == wanted.end())
        all[i] = &kOmitted;
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
  PartialExecutables<std::string>::Made without_shared_symbols(const Graph& graph) {
    std::vector<std::string> names;
    for (const Value* output : graph.outputs())
      names.push_back(output->name);
    return apart.find(names, session_state.max_plans, [&] {
      session_state.weight_residency.restore(*original);
      auto own = selected(*original, names);
      set_symbols_apart(*own);
      prepare_graph(*own, options, session_state.providers);
      return std::make_shared<const PartialExecutable>(selection(std::move(own)));
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

  // Calls `work` with a program and what is given for its inputs, within the limits of a run.
  // `find` gives the selection that serves, by the optional inputs that are given; where one symbol
  // has two sizes, another one of the same values takes its place.
  template <typename Find, typename Work>
  void serve(const Find& find, std::span<const Datum> given, const RunOptions& run_options,
             const Work& work) {
    RunControl control{budget, std::nullopt, run_options.cancel};
    if (run_options.deadline) control.deadline = time_after(*run_options.deadline);
    const ControlScope scope(control);
    const ThreadScope threads(session_state.threads, session_state.pool.get());
    const BorrowedScratch memory(session_state);
    if (given.size() != inputs.size() && given.size() != required) {
      fail(ErrorCode::kInvalidArgument, "expected ", inputs.size(), " inputs, got ", given.size());
    }
    std::pmr::vector<const Datum*> all(inputs.size(), scratch());
    std::pmr::vector<size_t> given_options(scratch());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_given = i < given.size() && given[i].defined();
      all[i] = is_given ? &given[i] : &defaults[i];
      if (is_given && i >= required) given_options.push_back(i);
    }
    PartialExecutables<size_t>::Made target;
    blaming_request(inputs, all, [&] { target = find(given_options); });
    const std::span<const size_t> wanted = target->inputs;
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
    std::pmr::vector<const Datum*> looked_at(all, scratch());
    leave_out_others(looked_at, wanted);
    const bool are_apart = give_one_symbol_two_sizes(looked_at);
    blaming_request(inputs, looked_at, [&] {
      if (!are_apart) return work(*target->executable, DatumRefs(placed));
      const auto other = without_shared_symbols(target->executable->graph());
      work(*other->executable, DatumRefs(placed_for(other->inputs)));
    });
  }

  // `slots`: an OutputSlot for each output of what `find` gives, or a Datum where it is left to the
  // library.
  template <typename Find, typename Slots>
  void run(const Find& find, std::span<const Datum> given, Slots&& slots,
           const RunOptions& run_options) {
    serve(find, given, run_options, [&](Executable& chosen, DatumRefs placed) {
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

  // Gives the selection of the outputs `chosen` (none: all), by the optional inputs that are given.
  auto outputs_at(std::span<const size_t> chosen) {
    return [this, chosen](std::span<const size_t> given_options) {
      return choice_of(form_for(given_options), chosen);
    };
  }

  std::shared_ptr<Form> form_for(std::span<const size_t> given_options) {
    if (given_options.empty()) return plain;
    return others.find(given_options, session_state.max_plans, [&] {
      session_state.weight_residency.restore(*original);
      return made_form(clone(*original), given_options, /*weights_may_be_away=*/false);
    });
  }

  PartialExecutables<size_t>::Made choice_of(const std::shared_ptr<Form>& form,
                                             std::span<const size_t> chosen) {
    if (chosen.empty()) return {form, &form->whole};
    require_ascending(chosen);
    return form->choices.find(chosen, session_state.max_plans, [&] {
      std::vector<std::string> names;
      for (const size_t index : chosen)
        names.push_back(form->graph->outputs()[index]->name);
      return std::make_shared<const PartialExecutable>(selection(selected(*form->graph, names)));
    });
  }

  void require_ascending(std::span<const size_t> chosen) const {
    const auto has_next = [](size_t a, size_t b) { return a >= b; };
    if (std::ranges::adjacent_find(chosen, has_next) != chosen.end() ||
        chosen.back() >= outputs.size()) {
      fail(ErrorCode::kInvalidArgument, "outputs: expected ascending indices below ",
           outputs.size());
    }
  }

  PartialExecutables<std::string>::Made fetcher(std::span<const std::string> names) {
    return fetched_plain.find(names, session_state.max_plans, [&] {
      const RunControl control = load_control();
      const ControlScope scope(control);
      session_state.weight_residency.restore(*original);
      auto graph = selected(*original, names);
      SessionOptions unchanged = options;
      unchanged.optimization_level = 0;
      prepare_graph(*graph, unchanged, session_state.providers);
      return std::make_shared<const PartialExecutable>(selection(std::move(graph)));
    });
  }

  PartialExecutable selection(std::shared_ptr<const Graph> graph) {
    PartialExecutable made;
    for (const Value* input : graph->inputs()) {
      const auto at = std::ranges::find(inputs, input->name, &ValueInfo::name);
      made.inputs.push_back(static_cast<size_t>(at - inputs.begin()));
    }
    made.executable =
        std::make_unique<Executable>(std::move(graph), session_state, session_state.max_plans);
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
      run([&](std::span<const size_t>) { return fetcher(names); }, given, found, run_options);
      return found;
    }
    std::vector<size_t> chosen = *indices;
    std::ranges::sort(chosen);
    const auto repeated = std::ranges::unique(chosen);
    chosen.erase(repeated.begin(), repeated.end());
    std::vector<Datum> computed(chosen.size());
    run(outputs_at(chosen), given, computed, run_options);
    std::vector<Datum> found;
    for (const size_t index : *indices)
      found.push_back(computed[std::ranges::find(chosen, index) - chosen.begin()]);
    return found;
  }

  void prepare_for(std::span<const Datum> given, const RunOptions& run_options) {
    serve(outputs_at(run_options.outputs), given, run_options,
          [&](Executable& target, DatumRefs placed) { target.prepare(placed); });
  }

  // Calls `work` with the program that serves these inputs, and the segments that a run goes
  // through.
  template <typename Work>
  void trace(std::span<const Datum> given, const Work& work) {
    serve(outputs_at({}), given, {},
          [&](Executable& target, DatumRefs placed) { work(target, target.segments_for(placed)); });
  }

  size_t plan_count() const {
    size_t count = plain->whole.executable->plan_count();
    others.each([&](const Form& form) { count += form.whole.executable->plan_count(); });
    return count;
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
  impl_->session_state.weight_residency.restore(*impl_->model.graph);
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
    impl_->run(impl_->outputs_at({}), inputs, outputs, options);
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
      const auto chosen = impl_->outputs_at(options.outputs);
      if (options.outputs.empty()) return impl_->run(chosen, inputs, outputs, options);
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (std::ranges::find(options.outputs, i) == options.outputs.end()) outputs[i].take();
      }
      const auto slot_at = [&](size_t index) -> OutputSlot& { return outputs[index]; };
      impl_->run(chosen, inputs, options.outputs | std::views::transform(slot_at), options);
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
  const auto add = [&](const Executable& executable, const PlanSegment& segment) {
    plan.arena_bytes = std::max(plan.arena_bytes, segment.arena_bytes);
    plan.live_peak_bytes = std::max(plan.live_peak_bytes, segment.live_peak_bytes);
    for (const MemoryItem& item : segment.memory) {
      const bool is_scratch = item.value == kNoValue;
      plan.items.push_back({is_scratch ? "" : executable.label(item.value), item.offset, item.bytes,
                            item.first_step, item.last_step});
    }
  };
  impl_->trace(inputs, [&](const Executable& executable, const Executable::Trace& segments) {
    for (const auto& segment : segments)
      add(executable, *segment);
  });
  plan.weight_bytes = impl_->session_state.packs.bytes();
  return plan;
}

std::string Session::plan_text(std::span<const Datum> inputs) const {
  std::string out;
  impl_->trace(inputs, [&](const Executable& executable, const Executable::Trace& segments) {
    for (const auto& segment : segments) {
      if (!out.empty()) out += "-- shapes that depend on data are known --\n";
      for (const Step& step : segment->steps)
        out += step_text(step, executable.values()) + "\n";
    }
  });
  return out;
}

std::vector<NodeKernel> Session::kernels(std::span<const Datum> inputs) const {
  std::vector<NodeKernel> kernels;
  impl_->trace(inputs, [&](const Executable& program, const Executable::Trace& segments) {
    for (const auto& segment : segments) {
      for (const Step& step : segment->steps) {
        kernels.push_back({step.node ? full_name(*step.node->op) : "reorder",
                           label_of(step, program.values()),
                           std::string(step.implementation()),
                           types_of(step),
                           {}});
        if (step.prepared) kernels.back().attempts = step.prepared->attempts;
      }
    }
  });
  return kernels;
}

Session::Stats Session::stats() const {
  return {impl_->plan_count(), impl_->budget->used(), impl_->budget->peak(),
          impl_->session_state.packs.bytes()};
}

void Session::trim() {
  impl_->session_state.trim();
}

}  // namespace sardonyx
