// Kernels that run one or a few oneDNN primitives in a row.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/core/memory/prepacked_weights.h"
#include "providers/onednn/layout.h"
#include "providers/onednn/primitive/partition.h"

namespace sardonyx::onednn {

// Builds the kernel for a request: declares buffers with their layouts, then the primitives that
// read and write them. Where the caller cannot provide or accept the layout of a primitive, a
// reorder through scratch memory is inserted. A builder belongs to one request, which must outlive
// it.
class SequenceBuilder {
 public:
  using Place = size_t;
  using Args = std::vector<std::pair<int, Place>>;  // DNNL_ARG_... and the place

  explicit SequenceBuilder(const KernelRequest& request);
  // A builder for a kernel that belongs to no op, with one input and one output in any layout.
  explicit SequenceBuilder(int threads);
  ~SequenceBuilder();

  // Layouts are announced to other kernels as `name` describes them: another descriptor of the same
  // memory. A layout without a name is reordered here.
  using Namer = std::function<std::optional<Desc>(const Desc&)>;
  void name_layouts(Namer name) { name_ = std::move(name); }

  // Input `index`, in the layout `wanted`, whose dims may differ from the tensor's as a row-major
  // view of it would.
  Place input(size_t index, const Desc& wanted);
  // A constant input, reordered once while preparing, through the request's PrepackedWeights, and
  // not read by run. `stored` is the layout of the tensor's elements. Falls back to input() if the
  // value is not constant.
  Place weights(size_t index, const Desc& stored, const Desc& wanted);
  // The buffer of layout `desc` that `fill` computes from constant input `index` while preparing,
  // through the PrepackedWeights under the name `form`; run does not read the input.
  Place packed(size_t index, const Desc& desc, const std::string& form, const FillPack& fill);
  // Input `index` read through `stored`, which must cover the same elements, without a layout of
  // its own.
  Place input_as(size_t index, const Desc& stored);
  // Input `index` from byte `offset` on.
  Place input_from(size_t index, const Desc& stored, size_t offset);
  // Asks for input `index` in the layout `wanted` though no primitive reads it under that name.
  void require_layout(size_t index, const Desc& wanted);
  Place output(size_t index, const Desc& given);
  // Output `index` written through `stored`, which covers all or a part of it, without a layout of
  // its own.
  Place output_as(size_t index, const Desc& stored);
  Place output_from(size_t index, const Desc& stored, size_t offset);
  Place constant(const Desc& desc, std::shared_ptr<const Buffer> values);
  Place scratch(const Desc& desc);
  // The memory of scratch place `place`, which must be as large, described as `desc`.
  Place scratch_as(Place place, const Desc& desc);

  // Threads that a run may use.
  int threads() const;

  Place part_of(Place place, const DescSlice& slice);

  // A step that copies elements from one place to another.
  struct Copy {
    Place from, to;
  };
  void copy(Place from, Place to);
  // Copies that run in parallel.
  void copy(const std::vector<Copy>& copies);
  // Adds scratch memory for the primitive if `args` has no DNNL_ARG_SCRATCHPAD. If `parts` are
  // given, they run in parallel in place of the primitive.
  void step(const Primitive& primitive, Args args, const std::vector<PrimitivePart>& parts = {});
  // A step of parts that each have arguments of their own besides their slices.
  void step(const std::vector<PrimitivePart>& parts, const std::vector<Args>& args);
  // A step of a primitive that is split into parts here, if `work` can be.
  void step(const Primitive& primitive, Args args, const Work& work);
  // One of several primitives that run in parallel: none reads or writes memory that another
  // writes.
  struct PrimitiveCall {
    Primitive primitive;
    Args args;
  };
  void step(std::vector<PrimitiveCall> calls);
  // `output` may be written over `input`.
  void allow_alias(size_t output, size_t input) { aliases_.emplace_back(output, input); }

  // Makes the kernel. `implementation` "": the name of the last step's. Refuses where a step, other
  // than a copy, is a reference implementation of oneDNN: these are slower than our own and may run
  // for long, as no primitive checks the deadline.
  Prepared finish(std::string implementation = "");

 private:
  struct Parts;

  PrimitiveCall copy_call(const Copy& copy) const;

  const KernelRequest* request_ = nullptr;
  bool layouts_ = true;
  // The layout that others give or take for `desc`, where they may give or take one.
  std::optional<Desc> name_of(const Desc& desc) const;

  Namer name_ = [](const Desc& desc) { return desc; };
  std::unique_ptr<Parts> parts_;
  std::vector<std::pair<size_t, size_t>> aliases_;
  std::vector<LayoutPtr> input_layouts_, output_layouts_;
  uint32_t unread_ = 0;
  bool has_reference_ = false;
  std::string implementation_;
  std::vector<Copy> pending_outputs_;
};

// Reorders `values`, outside any run.
void reorder(const void* values, const Desc& from, const Desc& to, std::byte* out, int threads);
void reorder(const Tensor& values, const Desc& from, const Desc& to, std::byte* out, int threads);

}  // namespace sardonyx::onednn
