// Runs models: a Session prepares a graph once and plans it for each set of input shapes that it
// meets.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/model_metadata.h"
#include "executor/output_slot.h"
#include "executor/run_report.h"
#include "executor/session_options.h"
#include "ir/datum.h"
#include "ir/eval_call.h"
#include "ir/graph.h"

namespace sardonyx {

using NamedData = std::map<std::string, Datum, std::less<>>;

// One Session serves many threads: it is immutable, and `run` may be called from any number of them
// at once.
class Session {
 public:
  // Throws Error: kInvalidModel, kUnsupported (naming all ops that cannot run), kResourceExhausted
  // ...
  explicit Session(const std::filesystem::path& model, SessionOptions options = {});
  // Loads a model from the bytes of its file.
  explicit Session(std::span<const std::byte> bytes, SessionOptions options = {});
  explicit Session(Model model, SessionOptions options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Inputs that a run must be given, in the model's order, and those that have a default value in
  // the model. One of the first that no node reads may be left out all the same. Where a run gives
  // none of the latter, their defaults are constants, which are folded and packed; the first run
  // that gives some of them has the model prepared once more, with these as inputs, and weights
  // read again. Of such preparations as many are kept as of plans.
  //
  // The spans live as long as the session; of a temporary session there are copies.
  std::span<const ValueInfo> inputs() const&;
  std::vector<ValueInfo> inputs() &&;
  std::span<const ValueInfo> optional_inputs() const&;
  std::vector<ValueInfo> optional_inputs() &&;
  std::span<const ValueInfo> outputs() const&;
  std::vector<ValueInfo> outputs() &&;
  // The metadata of the model's file. Reads no weights.
  const ModelMetadata& metadata() const;
  // The model as optimised for runs that give no optional input. Weights that were evicted after
  // prepacking are read again for it, which throws kInvalidArgument where the file has changed.
  const Model& model() const;
  // The graph of model() for its names, types and connections: elements of weights may be evicted.
  const Graph& graph() const;

  // Runs with inputs by name and gives the outputs in the order of outputs(). Throws
  // kInvalidArgument where names, types or shapes do not fit, naming both sides; the session stays
  // usable after any error.
  std::vector<Datum> run(const NamedData& inputs, const RunOptions& options = {}) const;
  // Runs with inputs in the order of inputs(), followed by all of optional_inputs() or none.
  std::vector<Datum> run(std::span<const Datum> inputs, const RunOptions& options = {}) const;
  // Writes outputs into the memory that is bound to their slots, and has the other slots show them.
  // With the shapes of the run before, it allocates nothing: what a slot shows serves the next run
  // where nobody else holds it. After a failure no slot shows anything, and what is bound may be
  // half written. Throws kInvalidArgument where the memory of two outputs overlaps.
  //
  // Bound memory may be in that of an input, which is then overwritten. Where both begin at one
  // place, and the output is the input with something done to it that its op can do in place
  // (TensorScatter, an elementwise op) or with something appended to it (Concat along the first
  // axis that is not 1), nothing is copied; else the output is computed apart first.
  void run_into(std::span<const Datum> inputs, std::span<OutputSlot> outputs,
                const RunOptions& options = {}) const;
  // run_into() for inputs that are not contiguous.
  void run_into(DatumRefs inputs, std::span<OutputSlot> outputs,
                const RunOptions& options = {}) const;
  // Computes any values of the model by name, in the order of `names`, and only what they need.
  // Outputs are computed as `run` does; if some name is no output, all are computed without fusion.
  std::vector<Datum> fetch(const NamedData& inputs, std::span<const std::string> names,
                           const RunOptions& options = {}) const;
  std::vector<Datum> fetch(std::span<const Datum> inputs, std::span<const std::string> names,
                           const RunOptions& options = {}) const;

  // Prepares the plans and packed weights of a run with these inputs ahead of it. Computes nothing:
  // inputs are not read, but for those whose values decide shapes. Where shapes depend on computed
  // values, only the part before them is prepared. Throws as `run` does.
  void prepare(std::span<const Datum> inputs, const RunOptions& options = {}) const;
  // Prepares by shapes alone, in the order of inputs() and optional_inputs(). An input without a
  // shape has that of the model, where it is known, or its default. Throws kInvalidArgument where
  // the value of an input that has none here decides shapes.
  void prepare(std::span<const std::optional<Shape>> shapes, const RunOptions& options = {}) const;

  // The memory plan for inputs of these types and shapes; the plan is made where there is none yet,
  // and where shapes depend on computed values, these are computed. Of the options, deadline and
  // cancellation count.
  MemoryPlan memory_plan(std::span<const Datum> inputs, const RunOptions& options = {}) const;
  std::string plan_text(std::span<const Datum> inputs) const;  // one line per step
  // The kernel of each step of that plan, and the kernels that refused it.
  std::vector<NodeKernel> kernels(std::span<const Datum> inputs) const;

  struct Stats {
    size_t plans = 0, memory_used = 0, memory_peak = 0, packed_weight_bytes = 0;
  };
  Stats stats() const;
  // Gives back the memory that idle contexts hold.
  void trim();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx
