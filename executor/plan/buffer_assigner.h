// The buffer assignment of a segment: which buffer backs each value, at which offset, in which
// layout, and until which step. Values share a buffer where one is a view of another, is computed
// in place of another, or is a part of a concatenation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/plan/plan_context.h"

namespace sardonyx {

struct BufferOffset {
  static constexpr size_t kNoBuffer = SIZE_MAX;
  size_t buffer = kNoBuffer;  // index in the assigner
  size_t offset = 0;          // bytes
};

// The bytes of a value within its buffer, and when they are live.
struct LiveRange {
  static constexpr size_t kNotWritten = SIZE_MAX;  // a view of what was there already
  ValueId value;
  size_t offset, bytes;
  size_t last_use;                  // index of the node; SIZE_MAX: an output of the graph
  size_t written_at = kNotWritten;  // index of the node
};

struct PlannedBuffer {
  enum class Kind : uint8_t {
    kArena,       // between two steps of this segment
    kAllocated,   // made by the run, since it must outlive the segment
    kLiveIn,      // of a value that is there when the segment starts
    kStepOutput,  // of what an evaluated step returned
    kConstant,
  } kind = Kind::kArena;
  size_t bytes = 0;
  size_t first_step = 0, last_step = 0;
  ValueId owner = kNoValue;  // the value it was made for
  size_t owner_step = 0;     // for kStepOutput: the step that returns it
  std::shared_ptr<const Tensor> constant;
  const std::byte* outside = nullptr;  // for kConstant: its address in a mapped file, instead
  bool has_strings = false;
  bool is_shared = false;  // others may refer to it for an unknown time
  InlineVector<LiveRange, 2> live_ranges;
  std::vector<LiveRange> whole;         // the values that the run needs as Datums
  InlineVector<PointerAt, 4> pointers;  // pointers of steps that are bound to it
  BufferOffset parent = {};             // set where it has become a part of another buffer
};

// An output that may overwrite a value which was there before the segment, if the caller binds both
// to one place.
struct InPlacePair {
  ValueId output, input;
};

class BufferAssigner {
 public:
  explicit BufferAssigner(PlanContext& context) : context_(context) {
    buffers_.reserve(context.graph.nodes().size());
    placements_.reserve(context.graph.nodes().size());
    placements_of_.resize(context.graph.values().size(), kNotPlaced);
  }

  // Values. The layout in which a value was made is null where it is row-major.
  bool is_placed(ValueId value) const { return placements_of_[value] != kNotPlaced; }
  const LayoutPtr& layout_of(ValueId value) const;
  BufferOffset made_at(ValueId value) const;  // of a placed value
  void place(ValueId value, LayoutPtr layout, BufferOffset at);
  void place_copy(ValueId value, LayoutPtr layout, BufferOffset at);
  // The place of `value` in `layout`; nullopt where it exists only in other layouts. Constants and
  // values from before the segment are given a buffer here. `reads_anywhere`: the reader accepts
  // addresses that are not aligned to the element type.
  std::optional<BufferOffset> find(ValueId value, const LayoutPtr& layout, bool reads_anywhere);

  // Buffers.
  PlannedBuffer& operator[](size_t buffer) { return buffers_[buffer]; }
  std::span<PlannedBuffer> all() { return buffers_; }
  std::span<const InPlacePair> in_place() const { return in_place_; }
  size_t add(PlannedBuffer buffer);
  size_t add_arena_buffer(ValueId owner, size_t bytes);  // used from the next step on
  void add_view(BufferOffset at, ValueId value, size_t bytes);
  void add_written(BufferOffset at, ValueId value, size_t bytes);  // by the current node
  // Pointer `pointer` of the next step is bound to `at`.
  void point_at(BufferOffset at, uint32_t pointer);
  // Whether [at, at + bytes) covers a whole value from before the segment.
  bool is_live_in(BufferOffset at, size_t bytes) const;
  void allow_in_place(ValueId output, ValueId input) { in_place_.push_back({output, input}); }

  struct KernelInput {
    BufferOffset at;
    size_t bytes = 0;
    bool is_taken = false;  // reused in place by an output
  };
  using KernelInputs = InlineVector<KernelInput, 8>;
  // A place for output `output` of the current node: over an input where the kernel may write there
  // and nobody reads it any more, else in a new buffer.
  BufferOffset place_output(const Kernel& kernel, size_t output, size_t bytes,
                            KernelInputs& inputs);

  // Whether `value` fills an arena buffer of its own, which can become a part of another buffer.
  bool can_become_part(ValueId value, size_t bytes) const;
  void become_part(ValueId value, BufferOffset of);

 private:
  static constexpr uint32_t kNotPlaced = UINT32_MAX;
  struct Placement {
    LayoutPtr layout;
    BufferOffset at;
  };
  struct Placements {
    Placement made;
    std::vector<Placement> copies;  // in other layouts; most values have none
  };
  Placements& placements(ValueId value) { return placements_[placements_of_[value]]; }
  const Placements& placements(ValueId value) const { return placements_[placements_of_[value]]; }
  void place_given(ValueId value, bool reads_anywhere);
  void keep_in_memory(PlannedBuffer& buffer);
  BufferOffset resolved(BufferOffset at) const;
  bool is_free(BufferOffset at, size_t bytes) const;

  PlanContext& context_;
  std::vector<PlannedBuffer> buffers_;
  std::vector<uint32_t> placements_of_;  // by ValueId: index into placements_
  std::vector<Placements> placements_;
  std::vector<InPlacePair> in_place_;
};

// Lays out the arena, binds the pointers of all steps to the buffers, and lists what the run has to
// allocate.
void bind_buffers(PlanContext& context, BufferAssigner& buffers);

}  // namespace sardonyx
