// A graph made ready to run: its values numbered, its plans kept by the shapes they are for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "executor/plan/indexed_graph.h"
#include "executor/plan/plan_context.h"
#include "executor/plan/planning_mutex.h"
#include "executor/plan/segment.h"
#include "executor/run/run_output.h"
#include "executor/session_state.h"

namespace sardonyx {

// The values of one run.
struct RunState {
  std::vector<const Datum*> values;  // by ValueId; null where not there
  std::vector<ValueId> touched;
  std::span<RunOutput> outputs;  // by output index; empty where nobody takes them
  bool strict_outputs = false;   // see RunOptions
  // The contexts of the segments that have run, kept because `values` may point into them.
  std::vector<std::pair<std::shared_ptr<PlanSegment>, std::unique_ptr<PlanSegment::RunContext>>>
      contexts;
  void refer(ValueId id, const Datum* datum);
  // The slot of an evaluated step that `datum` is; null where it is none.
  Datum* slot_of(const Datum* datum) const;
  // Forgets the values; the contexts go back to their segments.
  void clear(BufferPool& buffers);
};

class Executable {
 public:
  // The `max_plans` most recently used plans are kept for each segment.
  Executable(std::shared_ptr<const Graph> graph, SessionState& session_state, size_t max_plans);
  ~Executable();

  const Graph& graph() const { return graph_.graph(); }
  std::span<const Value* const> values() const { return graph_.values(); }
  // The name of a value for messages, see IndexedGraph::label.
  std::string label(ValueId id) const { return graph_.label(id); }
  void run_into(DatumRefs inputs, DatumRefs captures, std::span<RunOutput> outputs,
                std::vector<NodeTiming>* profile, bool strict_outputs = false);
  // Plans the first segment of a run with these inputs, up to the first shape that depends on
  // computed values. Elements of tensors may be missing where they do not decide shapes.
  void prepare(DatumRefs inputs);
  // The segments that a run with these inputs goes through, after running it.
  using Trace = std::vector<std::shared_ptr<const PlanSegment>>;
  Trace segments_for(DatumRefs inputs);
  size_t plan_count() const;

 private:
  void run_segments(RunState& state, std::vector<NodeTiming>* profile, Trace* trace);
  std::shared_ptr<PlanSegment> find_or_plan(PlanSegment& parent, const RunState& state);
  std::shared_ptr<PlanSegment> plan(PlanSegment& parent, const RunState& state);
  void run_segment(const std::shared_ptr<PlanSegment>& shared, RunState& state,
                   std::vector<NodeTiming>* profile);
  void refer_to_aliases(const PlanSegment& segment, PlanSegment::RunContext& context,
                        RunState& state);
  void require_fits(const PlanSegment& segment, const RunState& state) const;
  const Datum* output_for(const Allocation& allocation, const RunState& state) const;
  bool may_be_written(const Tensor& memory, const Allocation& allocation,
                      const RunState& state) const;
  void take_outputs(const RunState& state) const;
  static void place_in_output(const Tensor& memory, const Allocation& allocation,
                              std::span<Datum> made);
  void allocate_or_reuse(const Allocation& allocation, std::shared_ptr<Buffer>& buffer,
                         std::span<Datum> made) const;
  std::shared_ptr<Buffer> allocated(const Allocation& allocation) const;
  void run_steps(PlanSegment& segment, PlanSegment::RunContext& context, RunState& state,
                 std::vector<NodeTiming>* profile);
  void allocate(const PlanSegment& segment, PlanSegment::RunContext& context, RunState& state);
  void evaluate_step(const Step& step, PlanSegment::RunContext& context, RunState& state,
                     std::vector<NodeTiming>* profile);
  void evaluate_op(const Step& step, PlanSegment::RunContext& context, DatumRefs inputs,
                   std::span<Datum> outputs);
  void run_inner(DatumRefs inputs, DatumRefs captures, std::span<Datum> outputs,
                 std::vector<NodeTiming>* profile);
  static void run_body(const Step& step, DatumRefs inputs, std::span<Datum> outputs,
                       std::vector<NodeTiming>* profile);
  std::unique_ptr<RunState> borrow_state();
  void return_state(std::unique_ptr<RunState> state);

  const IndexedGraph graph_;
  SessionState& session_state_;
  size_t max_plans_;
  std::unordered_map<const Graph*, std::unique_ptr<Executable>> inner_executables_;
  PlanSegment root_;  // no steps; its children are the plans
  PlanningMutex planning_;
  PlanCaches caches_;  // guarded by `planning_`
  std::mutex state_mutex_;
  std::vector<std::unique_ptr<RunState>> idle_states_;
};

}  // namespace sardonyx
