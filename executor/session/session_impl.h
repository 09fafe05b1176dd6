// The implementation of Session: its state, and the lookup of the executable for a request.
// session_load.cpp makes it, session_select.cpp finds executables, session.cpp and
// session_report.cpp answer requests.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/named_warnings.h"
#include "executor/partial_executable.h"
#include "executor/request.h"
#include "executor/run/executable.h"
#include "executor/session.h"
#include "executor/session/session_inputs.h"
#include "executor/session_state.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/parallel_for.h"

namespace sardonyx {

struct Session::Impl {
  // The model prepared for requests that give one set of its optional inputs. The other optional
  // inputs are constants.
  struct InputVariant {
    std::shared_ptr<Graph> graph;
    PartialExecutable whole;
    PartialExecutables<size_t> choices;  // keyed by the outputs computed
  };
  using Selected = PartialExecutables<size_t>::Made;

  explicit Impl(SessionOptions given);
  static std::unique_ptr<Impl> made(SessionOptions options);
  // Prepares what `read` gives, within the limits of a load.
  void load(const std::function<Model()>& read);
  RunControl load_control() const;

  // Finds the selection of the outputs `chosen` (none: all), by the optional inputs that are given.
  auto outputs_at(std::span<const size_t> chosen) {
    return [this, chosen](std::span<const size_t> given_options) {
      return choice_of(form_for(given_options), chosen);
    };
  }
  // The executable that computes the values `names` of the graph before any pass.
  PartialExecutables<std::string>::Made fetcher(std::span<const std::string> names);
  // The indices of the outputs `names`, in that order; nullopt where one of them is no output.
  std::optional<std::vector<size_t>> outputs_named(std::span<const std::string> names) const;

  template <typename Find, typename Work>
  void serve(const Find& find, DatumRefs given, const RunOptions& run_options, const Work& work);
  template <typename Find, typename Slots>
  void run(const Find& find, DatumRefs given, Slots&& slots, const RunOptions& run_options);
  std::vector<Datum> fetch(DatumRefs given, std::span<const std::string> names,
                           const RunOptions& run_options);
  void prepare_for(DatumRefs given, const RunOptions& run_options);
  template <typename Work>
  void trace(DatumRefs given, const RunOptions& run_options, const Work& work);
  size_t plan_count() const;

  SessionOptions options;
  std::shared_ptr<MemoryBudget> budget;
  Model model;
  std::shared_ptr<const Graph> original;  // before passes, for fetching what they removed
  SessionState session_state;
  std::shared_ptr<InputVariant> plain;  // of `model`, where none of the optional inputs is given
  PartialExecutables<size_t, InputVariant> others;  // by the optional inputs that are given
  SessionInputs inputs;
  std::vector<ValueInfo> outputs;
  NamedWarnings warnings{session_state.log};
  ModelMetadata metadata;
  bool owns_weights = false;                      // nobody else holds tensors of the model
  PartialExecutables<std::string> fetched_plain;  // by names of values; without rewriting
  PartialExecutables<std::string> apart;  // by names of values; each dim has a symbol of its own

 private:
  void prepare(Model loaded);
  std::shared_ptr<InputVariant> made_form(std::shared_ptr<Graph> graph,
                                          std::span<const size_t> given, bool may_evict_weights);
  std::shared_ptr<InputVariant> prepared_form(std::shared_ptr<Graph> graph, bool may_evict_weights);
  void make_constants_of_defaults(Graph& graph, std::span<const size_t> given);
  bool has_inner_graphs() const;
  std::shared_ptr<InputVariant> form_for(std::span<const size_t> given_options);
  Selected choice_of(const std::shared_ptr<InputVariant>& form, std::span<const size_t> chosen);
  PartialExecutables<std::string>::Made without_shared_symbols(const Graph& graph);
  void require_ascending(std::span<const size_t> chosen) const;
  PartialExecutable selection(std::shared_ptr<const Graph> graph);
};

// Calls `work` with an executable and what is given for its inputs, within the limits of a run.
// `find` gives the selection that serves, by the optional inputs that are given; where one symbol
// has two sizes, another selection of the same values takes its place.
template <typename Find, typename Work>
void Session::Impl::serve(const Find& find, DatumRefs given, const RunOptions& run_options,
                          const Work& work) {
  RunControl control{budget, std::nullopt, run_options.cancel};
  if (run_options.deadline) control.deadline = time_after(*run_options.deadline);
  const ControlScope scope(control);
  const ThreadScope threads(session_state.threads, session_state.pool.get());
  const BorrowedScratch memory(session_state);
  const SessionInputs::Given all = inputs.merged_with_defaults(given);
  Selected target;
  blaming_request(inputs.all(), all.values, [&] { target = find(all.optional); });
  std::pmr::vector<Datum> changed(scratch());
  changed.reserve(4 * all.values.size());  // for the inputs of up to two selections
  const auto placed_for = [&](std::span<const size_t> indices) {
    std::pmr::vector<const Datum*> placed(scratch());
    placed.reserve(indices.size());
    for (const size_t i : indices)
      placed.push_back(inputs.accepted(i, *all.values[i], changed, warnings));
    return placed;
  };
  const std::pmr::vector<const Datum*> placed = placed_for(target->inputs);
  const std::pmr::vector<const Datum*> read = inputs.read_by(target->inputs, all.values);
  const bool has_conflict = inputs.has_symbol_conflict(read, warnings);
  blaming_request(inputs.all(), read, [&] {
    if (!has_conflict) return work(*target->executable, DatumRefs(placed));
    const auto other = without_shared_symbols(target->executable->graph());
    work(*other->executable, DatumRefs(placed_for(other->inputs)));
  });
}

// `slots`: an OutputSlot for each output of what `find` gives, or a Datum where it is left to the
// library.
template <typename Find, typename Slots>
void Session::Impl::run(const Find& find, DatumRefs given, Slots&& slots,
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

// Calls `work` with the executable that serves these inputs, and the segments that a run goes
// through.
template <typename Work>
void Session::Impl::trace(DatumRefs given, const RunOptions& run_options, const Work& work) {
  serve(outputs_at({}), given, run_options,
        [&](Executable& target, DatumRefs placed) { work(target, target.segments_for(placed)); });
}

}  // namespace sardonyx
