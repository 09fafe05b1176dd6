// A graph made ready to run: its values numbered, its plans kept by the shapes they are for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "executor/plan/op_traits.h"
#include "executor/plan/segment.h"
#include "executor/plan/shape_expressions.h"
#include "executor/run/run_output.h"
#include "executor/session_state.h"

namespace sardonyx {

// The values of one run.
struct RunState {
  std::vector<const Datum*> values;  // by ValueId; null where not there
  std::vector<ValueId> touched;
  std::span<RunOutput> outputs;  // by output index; empty where nobody takes them
  bool strict_outputs = false;   // see RunOptions
  // Of the segments that ran: `values` may point into them.
  std::vector<std::pair<std::shared_ptr<PlanSegment>, std::unique_ptr<PlanSegment::RunContext>>>
      frames;
  void refer(ValueId id, const Datum* datum);
  // The slot of an evaluated step that `datum` is; null where it is none.
  Datum* slot_of(const Datum* datum) const;
  // Forgets the values; the frames go back to their segments.
  void clear(BufferPool& buffers);
};

class Executable {
 public:
  // `most_plans` are kept for a segment, those that were used last.
  Executable(std::shared_ptr<const Graph> graph, SessionState& session_state, size_t most_plans);
  ~Executable();

  const Graph& graph() const { return *graph_; }
  std::span<const Value* const> values() const { return values_; }
  // For messages: the value and the node that makes it; "scratch" for kNoValue.
  std::string label(ValueId id) const;
  void run_into(DatumRefs inputs, DatumRefs captures, std::span<RunOutput> outputs,
                std::vector<NodeTiming>* profile, bool strict_outputs = false);
  // Plans what a run with these inputs begins with, up to the first shape that depends on what is
  // computed. Elements of tensors may be missing where they do not decide shapes.
  void prepare(DatumRefs inputs);
  // The segments that a run with these inputs goes through, after running it.
  using Trace = std::vector<std::shared_ptr<const PlanSegment>>;
  Trace segments_for(DatumRefs inputs);
  size_t plan_count() const;

 private:
  friend class Planner;
  void run_segments(RunState& state, std::vector<NodeTiming>* profile, Trace* trace);
  std::shared_ptr<PlanSegment> find_or_plan(PlanSegment& parent, const RunState& state);
  std::shared_ptr<PlanSegment> plan(PlanSegment& parent, const RunState& state);
  void run_segment(const std::shared_ptr<PlanSegment>& shared, RunState& state,
                   std::vector<NodeTiming>* profile);
  void refer_to_aliases(const PlanSegment& segment, PlanSegment::RunContext& frame,
                        RunState& state);
  void require_fits(const PlanSegment& segment, const RunState& state) const;
  const Datum* output_for(const Allocation& allocation, const RunState& state) const;
  bool may_be_written(const Tensor& memory, const Allocation& allocation,
                      const RunState& state) const;
  void take_outputs(const RunState& state) const;
  static void lay_into(const Tensor& memory, const Allocation& allocation, std::span<Datum> made);
  void make_anew(const Allocation& allocation, std::shared_ptr<Buffer>& buffer,
                 std::span<Datum> made) const;
  std::shared_ptr<Buffer> allocated(const Allocation& allocation) const;
  void run_steps(PlanSegment& segment, PlanSegment::RunContext& frame, RunState& state,
                 std::vector<NodeTiming>* profile);
  void allocate(const PlanSegment& segment, PlanSegment::RunContext& frame, RunState& state);
  void evaluate_step(const Step& step, PlanSegment::RunContext& frame, RunState& state,
                     std::vector<NodeTiming>* profile);
  void evaluate_op(const Step& step, PlanSegment::RunContext& frame, DatumRefs inputs,
                   std::span<Datum> outputs);
  void run_inner(DatumRefs inputs, DatumRefs captures, std::span<Datum> outputs,
                 std::vector<NodeTiming>* profile);
  static void run_body(const Step& step, DatumRefs inputs, std::span<Datum> outputs,
                       std::vector<NodeTiming>* profile);
  std::shared_ptr<const PlanSegment::Knowledge> known_at_load(std::span<const ValueId> given);
  void number_kinds();
  const OpTraits& planned_op(const OpDef& op);
  std::unique_ptr<RunState> borrow_state();
  void return_state(std::unique_ptr<RunState> state);

  std::shared_ptr<const Graph> graph_;
  SessionState& session_state_;
  size_t most_plans_;
  // A node in order, with its values by number.
  struct Numbered {
    const Node* node;
    const OpTraits* op = nullptr;
    InlineVector<ValueId, 6> inputs;   // kNoValue: omitted; captures last
    InlineVector<ValueId, 2> outputs;  // kNoValue: omitted
    uint32_t formal_inputs = 0;
    // Nodes of one kind have one op, attributes and count of outputs: what is planned for them
    // follows from their inputs.
    uint32_t kind = kNoKind;
    // Do all outputs follow from the sizes of the inputs, where the sizes are known?
    bool has_formulas = false;
  };
  static constexpr uint32_t kNoKind = UINT32_MAX;  // no other node is of its kind
  std::vector<Numbered> nodes_;
  std::vector<const Value*> values_;  // by ValueId
  std::vector<int> output_index_;     // by ValueId; -1: no output of the graph
  ShapeExpressions symbolic_;
  std::unordered_map<const Value*, ValueId> ids_;
  std::vector<size_t> last_use_;  // index into nodes_; SIZE_MAX for graph outputs
  std::vector<ValueId> input_ids_, capture_ids_, output_ids_;
  std::unordered_map<const Graph*, std::unique_ptr<Executable>> subprograms_;
  PlanSegment root_;  // no steps; its children are the plans
  std::mutex planning_;
  // What plans share, guarded by `planning_`.
  InferenceCache inference_cache_;
  KernelCache prepared_steps_;
  std::unordered_map<const OpDef*, OpTraits> ops_;
  std::optional<WeightUses> weight_uses_;  // made by the first plan that may let weights go
  std::vector<bool> is_kept_;              // by ValueId: constants that a plan reads as they lie
  std::mutex state_mutex_;
  std::vector<std::unique_ptr<RunState>> idle_states_;
};

}  // namespace sardonyx
