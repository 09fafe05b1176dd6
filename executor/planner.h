// Plans one segment: walks the nodes with concrete shapes, picks kernels and layouts, and places
// the memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/program.h"

namespace sardonyx {

class Planner {
 public:
  // Goes on where `parent` ended, with the values that the run has by now.
  Planner(const Program& program, const Segment& parent, const RunState& state);
  std::shared_ptr<Segment> plan();

 private:
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
    size_t last_use = 0;       // node index after which nobody reads it; SIZE_MAX: never
    ValueId owner = kNoValue;  // the value it was made for
    size_t owner_step = 0;     // of kStepOutput
    Tensor constant;
    bool has_strings = false;
    std::vector<ValueId> values;  // row-major values in it
    std::vector<uint32_t> pointers;
  };
  struct Representation {
    LayoutPtr layout;
    size_t root;
  };

  void note_conditions();
  bool plan_node(size_t index);
  bool bind_shape_inputs(const Node& node);
  bool plan_constants(const Node& node, const std::vector<InferOutput>& inferred);
  bool plan_view(const Node& node, const std::vector<InferOutput>& inferred);
  bool plan_kernel(const Node& node, const std::vector<InferOutput>& inferred);
  void plan_evaluation(const Node& node, const std::vector<InferOutput>& inferred);
  std::unique_ptr<Program> body_program(const Node& node) const;
  void add_kernel_step(const Node& node, Prepared prepared, const std::vector<KernelTensor>& inputs,
                       const std::vector<KernelTensor>& outputs);
  size_t output_root(const Kernel& kernel, size_t output, size_t bytes,
                     const std::vector<size_t>& input_roots, std::vector<bool>& taken);
  size_t root_for(ValueId value, const LayoutPtr& layout);
  size_t reorder(ValueId value, const LayoutPtr& to);
  size_t new_root(Root root);
  void point_at(size_t root, uint32_t pointer);
  void set_typed(ValueId value, const Type& type);
  void need_whole(ValueId value);
  void finish();
  void place_memory();
  void bind_pointers();
  void keep_for_children();
  int output_index(ValueId value) const;

  ValueId id(const Value* value) const { return program_.ids_.at(value); }

  const Program& program_;
  const Segment& parent_;
  const RunState& state_;
  Environment& environment_;
  std::shared_ptr<Segment> segment_ = std::make_shared<Segment>();
  std::vector<Segment::Known> known_;
  std::vector<std::vector<Representation>> representations_;
  std::vector<Root> roots_;
  std::vector<size_t> scratch_bytes_;  // by step
  size_t node_index_ = 0;
  uint64_t unknown_ = 0;
};

}  // namespace sardonyx
