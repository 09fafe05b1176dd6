// Plans one segment: walks the nodes with concrete shapes, picks kernels and layouts, and places
// the memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/run/executable.h"

namespace sardonyx {

// A tensor whose every dim is an integer.
bool is_concrete(const Type& type);

class Planner {
 public:
  // Goes on where `parent` ended, with the values that the run has by now. With `may_release`,
  // weights that nobody needs any more once they are packed are let go.
  Planner(Executable& executable, const PlanSegment& parent, const RunState& state,
          bool may_release);
  std::shared_ptr<PlanSegment> plan();

 private:
  static constexpr size_t kShown = SIZE_MAX;  // what was there already, under another shape
  // The elements of a value within a root.
  struct Extent {
    ValueId value;
    size_t offset, bytes;
    size_t last_use;             // node index after which nobody reads it; SIZE_MAX: never
    size_t written_at = kShown;  // node index
  };
  static constexpr size_t kNoRoot = SIZE_MAX;
  // Where the elements of one or more values lie.
  struct Root {
    enum class Kind : uint8_t {
      kArena,       // between two steps of this segment
      kAllocated,   // in a buffer of the run's, since it must outlive the segment
      kEntry,       // a value that is there when the segment starts
      kStepOutput,  // what an evaluated step returned
      kConstant,
    } kind = Kind::kArena;
    size_t bytes = 0;
    size_t first_step = 0, last_step = 0;
    ValueId owner = kNoValue;  // the value it was made for
    size_t owner_step = 0;     // of kStepOutput
    std::shared_ptr<const Tensor> constant;
    const std::byte* outside = nullptr;  // of kConstant: where it lies in a file instead
    bool has_strings = false;
    bool is_shared = false;  // others may refer to it for an unknown time
    InlineVector<Extent, 2> extents;
    std::vector<Extent> whole;  // those that the run needs as whole values
    InlineVector<PointerAt, 4> pointers;
    size_t parent = kNoRoot;  // set where it has become a part of another one
    size_t parent_offset = 0;
  };
  // A value that may be made over one that was there before the segment, if the caller binds both
  // to one place.
  struct InPlace {
    ValueId made, from;
  };
  // A place in a root, in bytes.
  struct Place {
    size_t root = kNoRoot;
    size_t offset = 0;
  };
  struct Representation {
    LayoutPtr layout;
    Place place;
  };
  // The first is how the value was made. Most have no other.
  struct Representations {
    Representation first;
    std::vector<Representation> others;
  };
  bool has_place(ValueId value) const { return form_of_[value] != kNoForms; }
  Representations& forms(ValueId value) { return forms_[form_of_[value]]; }
  void set_place(ValueId value, LayoutPtr layout, Place place);

  void record_guards();
  bool plan_node();
  bool bind_shape_inputs();
  bool plan_constants(const Node& node, const Inference& inference);
  bool plan_view(const Inference& inference);
  bool plan_parts(const Node& node, const Inference& inference);
  bool plan_concat(const Node& node, const Inference& inference);
  bool can_become_part(ValueId value, size_t bytes);
  void join(size_t part, Place to);
  void copy_to(ValueId value, Place to, size_t bytes, const Node& node);
  bool plan_kernel(const Node& node, const Inference& inference);
  void plan_evaluation(const Node& node, const Inference& inference);
  static constexpr uint64_t kHidden = 1;  // in a key: a constant that nobody is told
  std::optional<uint64_t> constant_word(size_t slot);
  bool is_looked_at(size_t slot) const;
  bool has_only_constants() const;
  bool inference_key(CacheKey& key, uint32_t& hidden);
  HeldByKey held_by_key() const;
  const Inference& infer_node(const Node& node);
  Inference inferred(const Node& node, uint32_t hidden);
  static std::vector<std::shared_ptr<const Tensor>> values_of_dims(
      std::span<const InferOutput> outputs);
  std::vector<std::shared_ptr<const Tensor>> evaluated(const Node& node,
                                                       const Inference& inference);
  bool sees_constant(size_t slot) const;
  // Does a convolution, or what joins or pools for one, read an output of `node`? It wants a
  // layout.
  static bool feeds_layout(const Node& node);
  bool takes_layouts(const Node& node) const;
  bool kernel_key(CacheKey& key);
  std::shared_ptr<const PreparedStep> prepared_step(const Node& node, const Inference& inference);
  std::optional<PreparedStep> prepare_step(const Node& node, const Inference& inference);
  static void describe(const StepValue& value, KernelTensor& tensor);
  std::unique_ptr<Executable> body_program(const Node& node) const;
  void add_kernel_step(const Node& node, std::shared_ptr<const PreparedStep> prepared);
  Step new_step(std::shared_ptr<const PreparedStep> prepared, size_t inputs, size_t outputs);
  void add_step(Step step);
  struct InputPlace {
    Place place;
    size_t bytes = 0;
    bool is_taken = false;  // by an output
  };
  using InputPlaces = InlineVector<InputPlace, 8>;
  Place output_place(const Kernel& kernel, size_t output, size_t bytes, InputPlaces& inputs);
  bool is_free(Place place, size_t bytes) const;
  bool is_entry(Place place, size_t bytes) const;
  // Where `reads_anywhere`, an address that does not suit the elements' type will do.
  Place place_for(ValueId value, const LayoutPtr& layout, bool reads_anywhere = false);
  void place_given(ValueId value, bool reads_anywhere);
  void keep_in_memory(Root& root);
  Place reorder(ValueId value, const LayoutPtr& to);
  size_t new_root(Root root);
  Place resolved(Place place) const;
  Extent& add_extent(Place place, ValueId value, size_t bytes);
  void add_written(Place place, ValueId value, size_t bytes);
  void point_at(Place place, uint32_t pointer);
  size_t plain_bytes(ValueId value) const;
  PlanSegment::ValueState& set_typed(ValueId value, TypeInfoPtr facts);
  void need_whole(ValueId value);
  void finish();
  void place_memory();
  void bind_pointers();
  void number_slots();
  Allocation allocation_of(const Root& root) const;
  bool may_lie_in(const Root& root, const InPlace& pair) const;
  void note_shared(ValueId value);
  void keep_for_children();
  int output_index(ValueId value) const { return executable_.output_index_[value]; }

  // The node that is planned now, and its values; kNoValue where omitted.
  const Executable::Numbered& numbered() const { return executable_.nodes_[node_index_]; }
  ValueId input(size_t slot) const { return numbered().inputs[slot]; }
  ValueId output(size_t slot) const { return numbered().outputs[slot]; }
  const LayoutPtr& layout_of(ValueId value) const;
  const PlanSegment::ValueState& known(ValueId value) const { return *known_[value]; }
  PlanSegment::ValueState& refine(ValueId value);
  void load_constants(bool all);
  void release_packed(uint32_t unread_inputs);
  bool can_leave_out() const;
  void compute_if_left_out(ValueId value);

  Executable& executable_;
  const PlanSegment& parent_;
  const RunState& state_;
  SessionState& session_state_;
  std::shared_ptr<PlanSegment> segment_ = std::make_shared<PlanSegment>();
  std::vector<const PlanSegment::ValueState*> known_;  // by ValueId
  std::shared_ptr<PlanSegment::Knowledge> learned_ = std::make_shared<PlanSegment::Knowledge>();
  std::optional<ComputedValues> computed_;
  Inference inference_;  // of the node that is planned now, where it is not remembered
  static constexpr uint32_t kNoForms = UINT32_MAX;
  std::vector<uint32_t> form_of_;  // by ValueId: index into forms_; kNoForms: it has no place yet
  std::vector<Representations> forms_;
  std::vector<KernelTensor> request_;  // inputs, then outputs
  // Attempts for the node that is planned now, where they are kept and none was taken.
  std::shared_ptr<const PreparedStep> refused_;
  std::vector<Root> roots_;
  std::vector<InPlace> in_place_;
  std::vector<size_t> scratch_;              // bytes, by step
  const WeightUses* weight_uses_ = nullptr;  // set where weights may be let go
  size_t node_index_ = 0;
  uint64_t unknown_ = 0;
};

}  // namespace sardonyx
