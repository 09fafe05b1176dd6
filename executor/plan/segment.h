// A segment: the steps that one set of input shapes allows to be planned ahead. A graph whose
// shapes do not depend on data is one segment; otherwise a segment ends where a shape is needed
// that only the run will tell, and its children go on from there, one for each outcome that was
// met.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/plan/arena_planner.h"
#include "executor/plan/inference_cache.h"
#include "executor/plan/kernel_cache.h"
#include "executor/plan/value_id.h"
#include "executor/run_report.h"
#include "ir/eval_call.h"
#include "ir/graph.h"
#include "ir/kernel.h"

namespace sardonyx {

class Executable;
struct ValueKnowledge;

// False for tensors that stand for a shape alone (Session::prepare by shapes).
inline bool has_elements(const Tensor& tensor) {
  return tensor.raw() || tensor.count() == 0;
}

// A condition on a value under which a segment serves a run.
struct ShapeGuard {
  ValueId value;
  Type type;  // exact dtype and shape of a tensor; kind and element types of others; none: omitted
  std::optional<Shape> shape;    // the tensor's shape, if every dim is an integer
  std::optional<Tensor> equals;  // the exact value, where shapes depend on it
  bool holds(const Datum& datum) const;
};

// A value that is a view of another one's elements under another shape.
struct Alias {
  ValueId value, source;
  Shape shape;
  size_t offset = 0;  // in bytes, from where the source begins
};

// Address `offset` bytes behind where `value` begins.
inline void* address_in(const Tensor& value, size_t offset) {
  return static_cast<std::byte*>(value.raw()) + offset;
}

// An entry of a table of pointers, and its offset from the beginning of the buffer that it is bound
// to.
struct PointerAt {
  uint32_t pointer;
  size_t offset;  // in bytes
};

struct Step {
  const Node* node = nullptr;  // null for reorders
  ValueId reordered = kNoValue;
  size_t bytes = 0;  // read and written
  // The kernel of `prepared` reads its pointers at pointers[first_pointer]: inputs, outputs,
  // scratch.
  const Kernel* kernel = nullptr;
  std::shared_ptr<const PreparedStep> prepared;  // without a kernel: its attempts alone, or null
  uint32_t first_pointer = 0;
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  // For a step without a kernel, which evaluates the op on whole values or runs `body` in its
  // place.
  std::vector<ValueId> inputs, outputs;  // kNoValue: omitted
  struct Promise {
    DType dtype;
    Shape shape;
  };
  std::vector<std::optional<Promise>> promised;  // the types that later steps rely on, by output
  std::shared_ptr<Executable> body;
  struct Rebind {
    PointerAt at;
    uint32_t output;  // index into `outputs`
  };
  std::vector<Rebind> rebinds;
  std::vector<Alias> aliases;  // of its outputs
  std::string_view implementation() const {
    return kernel ? std::string_view(prepared->implementation) : body ? "body" : "evaluate";
  }
  // Indices of its first output, first alias and memory in the RunContext.
  uint32_t first_result = 0, first_alias = 0, memory = 0;
};

// A buffer that a run allocates for itself: it backs values that outlive the segment or leave the
// planned world.
struct Allocation {
  size_t bytes = 0;
  int64_t strings = -1;  // count of std::strings to construct instead
  struct Held {
    ValueId value;
    DType dtype;
    Shape shape;
    int output_index = -1;  // of the graph, where the value is one of its outputs
    size_t offset = 0;      // in bytes
  };
  std::vector<Held> values;  // the values in it that the run needs as Datums
  std::vector<PointerAt> pointers;
  // Values from before the segment whose memory this allocation may take over: its values are
  // computed from them in place, and nobody reads them afterwards.
  std::vector<ValueId> in_place;
};

struct PlanSegment {
  std::vector<ShapeGuard> guards;
  std::vector<Step> steps;
  std::vector<void*> pointers;  // constants set, the rest null
  std::vector<PointerAt> arena_pointers;
  struct EntryPointer {
    PointerAt at;
    ValueId value;  // that is there when the segment starts
  };
  std::vector<EntryPointer> entry_pointers;
  std::vector<Allocation> allocations;
  std::vector<Alias> aliases;                        // of values that are there at the start
  std::vector<std::pair<ValueId, Datum>> constants;  // that later segments or the caller read
  // Outputs of the graph whose types are known before the segment runs, by their index.
  std::vector<std::pair<size_t, TypeInfoPtr>> known_outputs;
  std::vector<std::shared_ptr<Buffer>> held;          // keeps what `pointers` points at
  size_t results = 0, all_aliases = 0, memories = 0;  // of all steps and of the segment
  size_t arena_bytes = 0;
  size_t live_peak_bytes = 0;
  std::vector<MemoryItem> memory;
  size_t next_node = 0;  // the node at which the children start

  // The planner's knowledge at the end, which the children start from; null where the graph ends
  // here.
  std::shared_ptr<const ValueKnowledge> known;

  mutable std::mutex mutex;  // guards what follows
  std::vector<std::shared_ptr<PlanSegment>> children;
  // The working state of one run of this segment; it is kept for the next run.
  struct RunContext {
    std::vector<void*> pointers;
    std::byte* base = nullptr;
    // By index of the allocation: its buffer; and the values of all allocations.
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<Datum> values;
    // Datums of aliases, which are views of other values: the segment's own, then those of its
    // steps.
    std::vector<Datum> aliases;
    // What steps without a kernel returned, and the state that they keep from run to run.
    std::vector<Datum> results;
    std::vector<std::unique_ptr<StepMemory>> memory;
  };
  std::unique_ptr<RunContext> borrow_context();
  void return_context(std::unique_ptr<RunContext> context);
  std::vector<std::unique_ptr<RunContext>> idle_contexts;
};

// Texts for profiles and messages: label_of gives the node's name or "reorder of NAME", types_of
// "float[2, 3] -> float[3, 2]".
std::string source_text(const Node& node);  // " of model.cpp:12", where that is known
std::string label_of(const Step& step, std::span<const Value* const> values);
std::string types_of(const Step& step);
// One line that describes the step and its kernel.
std::string step_text(const Step& step, std::span<const Value* const> values);

}  // namespace sardonyx
