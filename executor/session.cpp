#include "executor/session.h"

#include <algorithm>
#include <mutex>

#include "executor/prepare.h"
#include "executor/program.h"
#include "executor/shared_contents.h"
#include "executor/type_fit.h"
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

// The places where one symbol stands: a symbol names one size, so they must agree.
struct SymbolPlaces {
  std::string symbol;
  std::vector<std::pair<size_t, size_t>> places;  // input, axis
};

// Symbols that stand in more than one place.
std::vector<SymbolPlaces> repeated_symbols(std::span<const ValueInfo> inputs) {
  std::map<std::string, SymbolPlaces> by_name;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].type.is_tensor() || !inputs[i].type.shape) continue;
    for (size_t axis = 0; axis < inputs[i].type.rank(); ++axis) {
      const Dim& dim = (*inputs[i].type.shape)[axis];
      if (!dim.is_known()) by_name[dim.text()].places.emplace_back(i, axis);
    }
  }
  std::vector<SymbolPlaces> repeated;
  for (auto& [symbol, entry] : by_name) {
    entry.symbol = symbol;
    if (entry.places.size() > 1) repeated.push_back(std::move(entry));
  }
  return repeated;
}

// `given(i)` is the tensor of input i.
void check_symbols(const std::vector<SymbolPlaces>& symbols, std::span<const ValueInfo> inputs,
                   const auto& given) {
  for (const SymbolPlaces& symbol : symbols) {
    const auto [first, first_axis] = symbol.places.front();
    const int64_t size = given(first).shape()[first_axis];
    for (const auto& [input, axis] : symbol.places) {
      const int64_t other = given(input).shape()[axis];
      if (other == size) continue;
      fail(ErrorCode::kInvalidArgument, "input ", inputs[input].name, ": dim ", axis, " is ", other,
           ", but input ", inputs[first].name, " gave ", size, " for the same ", symbol.symbol);
    }
  }
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
  std::vector<size_t> places;   // of inputs in the graph's own order
  std::vector<SymbolPlaces> symbols;
  bool owns_weights = false;  // nobody else holds tensors of the model
  std::mutex fetch_mutex;
  std::map<std::vector<std::string>, std::unique_ptr<Program>> fetchers;

  explicit Impl(SessionOptions given)
      : options(std::move(given)), budget(std::make_shared<MemoryBudget>(options.memory_limit)) {
    environment.providers = providers_named(options.providers);
    environment.pool = options.thread_pool ? options.thread_pool : process_thread_pool();
    environment.threads = thread_count_of(options, *environment.pool);
    environment.precision = options.precision;
    environment.layouts = environment.specializes = options.optimization_level > 0;
    environment.max_plans = std::max<size_t>(1, options.max_plans);
    environment.log = Log(options.log_level, options.log);
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
      const RunControl control = load_control();
      const ControlScope scope(control);
      const ThreadScope threads(environment.threads, environment.pool.get());
      const Clock::time_point begin = Clock::now();
      Model loaded = read();
      environment.log.write(LogLevel::kInfo, "read ", loaded.graph->nodes().size(), " nodes, ",
                            budget->used(), " bytes of weights, in ", milliseconds_since(begin),
                            " ms");
      prepare(std::move(loaded));
    });
  }

  RunControl load_control() const {
    const RunControl* outer = current_control();
    RunControl control{budget, std::nullopt, outer ? outer->cancel : std::stop_token()};
    if (options.load_deadline) control.deadline = Clock::now() + *options.load_deadline;
    return control;
  }

  void prepare(Model loaded) {
    model = std::move(loaded);
    original = clone(*model.graph);
    for (const bool with_default : {false, true}) {
      for (size_t i = 0; i < model.graph->inputs().size(); ++i) {
        const Value* input = model.graph->inputs()[i];
        if ((input->default_value != nullptr) != with_default) continue;
        inputs.push_back({input->name, input->type});
        defaults.push_back(with_default ? Datum(*input->default_value) : Datum());
        places.push_back(i);
        required += with_default ? 0 : 1;
      }
    }
    for (const Value* output : model.graph->outputs())
      outputs.push_back({output->name, output->type});
    symbols = repeated_symbols(inputs);
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

  // `Slot` is OutputSlot, or Datum where all outputs are left to the library.
  template <typename Slot>
  void run(Program& target, std::span<const Datum> given, std::span<Slot> slots,
           const RunOptions& run_options) {
    RunControl control{budget, std::nullopt, run_options.cancel};
    if (run_options.deadline) control.deadline = Clock::now() + *run_options.deadline;
    const ControlScope scope(control);
    const ThreadScope threads(environment.threads, environment.pool.get());
    const BorrowedScratch memory(environment);
    if (given.size() != inputs.size() && given.size() != required) {
      fail(ErrorCode::kInvalidArgument, "expected ", inputs.size(), " inputs, got ", given.size());
    }
    // In the graph's order, with the defaults of those that were not given.
    std::pmr::vector<const Datum*> placed(inputs.size(), scratch());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_given = i < given.size() && given[i].defined();
      placed[places[i]] = is_given ? &given[i] : &defaults[i];
    }
    check_all_given(placed);
    std::pmr::vector<RunOutput> results(slots.begin(), slots.end(), scratch());
    const auto& names = target.graph().outputs();
    require_apart(results, names);
    for (size_t i = 0; run_options.strict_outputs && i < results.size(); ++i)
      require_fit(results[i], names[i]->name, names[i]->type);
    target.run_into({placed}, {}, results, run_options.profile, run_options.strict_outputs);
  }

  void check_all_given(std::span<const Datum* const> placed) const {
    for (size_t i = 0; i < inputs.size(); ++i)
      check_given(inputs[i], *placed[places[i]]);
    check_symbols(symbols, inputs,
                  [&](size_t i) -> const Tensor& { return placed[places[i]]->tensor(); });
  }

  Program& fetcher(std::span<const std::string> names) {
    const std::lock_guard lock(fetch_mutex);
    const std::vector<std::string> key(names.begin(), names.end());
    if (const auto at = fetchers.find(key); at != fetchers.end()) return *at->second;
    const RunControl control = load_control();
    const ControlScope scope(control);
    environment.originals.restore(*original);
    auto graph = clone(*original);
    for (const std::string& name : names) {
      Value* value = graph->find_value(name);
      if (!value) fail(ErrorCode::kInvalidArgument, "the model has no value ", name);
      graph->add_output(value);
    }
    SessionOptions plain = options;
    plain.optimization_level = 0;
    prepare_graph(*graph, plain, environment.providers);
    auto made = std::make_unique<Program>(std::move(graph), environment, environment.max_plans);
    return *fetchers.emplace(key, std::move(made)).first->second;
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

std::span<const ValueInfo> Session::inputs() const {
  return std::span<const ValueInfo>(impl_->inputs).first(impl_->required);
}
std::span<const ValueInfo> Session::optional_inputs() const {
  return std::span<const ValueInfo>(impl_->inputs).subspan(impl_->required);
}
std::span<const ValueInfo> Session::outputs() const {
  return impl_->outputs;
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

std::vector<Datum> Session::run(const NamedData& inputs, const RunOptions& options) const {
  return reporting_out_of_memory([&] { return run(impl_->in_order(inputs), options); });
}

std::vector<Datum> Session::run(std::span<const Datum> inputs, const RunOptions& options) const {
  return reporting_out_of_memory([&] {
    std::vector<Datum> outputs(impl_->outputs.size());
    impl_->run(*impl_->program, inputs, std::span(outputs), options);
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
    reporting_out_of_memory([&] { impl_->run(*impl_->program, inputs, outputs, options); });
  } catch (...) {
    for (OutputSlot& slot : outputs)
      slot.take();  // whatever it shows by now is no result
    throw;
  }
}

std::vector<Datum> Session::fetch(const NamedData& inputs, std::span<const std::string> names,
                                  const RunOptions& options) const {
  return reporting_out_of_memory([&] {
    Program& program = impl_->fetcher(names);
    std::vector<Datum> all(program.graph().outputs().size());
    impl_->run(program, impl_->in_order(inputs), std::span(all), options);
    return std::vector<Datum>(all.end() - static_cast<std::ptrdiff_t>(names.size()), all.end());
  });
}

MemoryPlan Session::memory_plan(std::span<const Datum> inputs) const {
  MemoryPlan plan;
  plan.weight_bytes = impl_->environment.packs.bytes();
  const ThreadScope threads(impl_->environment.threads, impl_->environment.pool.get());
  for (const auto& segment : impl_->program->segments_for(inputs)) {
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
  const ThreadScope threads(impl_->environment.threads, impl_->environment.pool.get());
  for (const auto& segment : impl_->program->segments_for(inputs)) {
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
