// Prepares and runs one kernel on tensors, with the reorders that it asks for: what the tests and
// benchmarks use.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "providers/onednn/layout.h"
#include "providers/onednn/provider.h"
#include "tests/support/fenced_buffer.h"

namespace sardonyx::onednn {

struct RunOptions {
  int threads = 1;
  bool layouts = false;
  uint32_t constants = 0;  // bit k: input k is known when the kernel is prepared
  std::vector<LayoutPtr>
      incoming;  // layouts that the inputs have before the kernel says what it wants
  std::optional<size_t> overwrite;  // output 0 is to overlap this input
  Precision precision = Precision::kFloat32;
  bool layout_readers = true;
  bool fenced_inputs = true;  // what reads on beyond one ends the process; not for benchmarks
};

// A kernel with its inputs in the wanted layouts and memory for all that it writes; runs any number
// of times.
class PreparedRun {
 public:
  // `outputs` says dtypes and shapes. Throws kUnsupported with the refusal where no entry of the
  // provider accepts.
  PreparedRun(const OpDef& op, const Attrs& attrs, const std::vector<Tensor>& inputs,
              const std::vector<Type>& outputs, const RunOptions& options);
  void run();
  // Runs on other memory than run() does, with these inputs; may be called from many threads.
  // For kernels that take and give row-major tensors and read all their inputs.
  std::vector<Tensor> run_apart(const std::vector<Tensor>& inputs) const;
  // Row-major copies of the outputs of the last run.
  std::vector<Tensor> outputs() const;
  const Prepared& prepared() const { return prepared_; }
  bool aliased() const { return aliased_; }

 private:
  int threads_;
  Prepared prepared_;
  std::vector<std::shared_ptr<Buffer>> input_buffers_, output_buffers_;
  std::vector<Type> output_types_;
  std::vector<const void*> input_addresses_;
  std::vector<void*> output_addresses_;
  std::shared_ptr<Buffer> scratch_;
  bool aliased_ = false;
};

// Channels in blocks of 16, or last; null where the rank has no such layout or it is the same as
// row-major.
LayoutPtr blocked_layout(const Shape& shape);
LayoutPtr channels_last_layout(const Shape& shape);

// ---- implementation

inline std::shared_ptr<Buffer> with_layout(const void* from, DType dtype, const Shape& shape,
                                           const LayoutPtr& from_layout, const LayoutPtr& to_layout,
                                           int threads, bool is_fenced = false) {
  const size_t bytes = to_layout ? to_layout->bytes() : bytes_for(dtype, element_count(shape));
  auto to = is_fenced ? fenced_buffer(bytes) : Buffer::allocate(bytes);
  if (same_layout(from_layout, to_layout)) {
    std::memcpy(to->data(), from, bytes);
    return to;
  }
  const Prepared reorder =
      onednn_provider().prepare_reorder(dtype, shape, from_layout, to_layout, threads);
  if (!reorder.kernel) fail(ErrorCode::kUnsupported, reorder.refusal);
  const auto scratch = Buffer::allocate(reorder.kernel->scratch_bytes());
  const void* in[] = {from};
  void* out[] = {to->data()};
  reorder.kernel->run({in, out, scratch->data()});
  return to;
}

inline LayoutPtr at(const std::vector<LayoutPtr>& layouts, size_t index) {
  return index < layouts.size() ? layouts[index] : nullptr;
}

inline Prepared prepare_by_provider(const KernelRequest& request) {
  std::string refusals;
  for (const KernelEntry& entry : onednn_provider().kernels) {
    if (entry.op != full_name(request.op)) continue;
    std::vector<KernelAttempt> noted;
    KernelRequest asking = request;
    asking.attempts = &noted;
    Prepared prepared = entry.prepare(asking);
    for (const KernelAttempt& each : noted) {
      // What prepare_kernel() notes for a node of the entry's own making: kernels of a provider's
      // list, computation in float32, and the reference.
      const bool is_of_node = each.name.find('/') != std::string::npos || each.name == "float32" ||
                              each.name == "reference";
      if (!is_of_node &&
          std::ranges::find(entry.inner, each.name, &InnerKernel::name) == entry.inner.end())
        fail(ErrorCode::kInternal, "the entry ", entry.name, " of ", entry.op, " asks ", each.name,
             ", which its list of inner kernels lacks");
    }
    if (prepared.kernel) return prepared;
    refusals += prepared.refusal + "; ";
  }
  fail(ErrorCode::kUnsupported, refusals);
}

inline PreparedRun::PreparedRun(const OpDef& op, const Attrs& attrs,
                                const std::vector<Tensor>& inputs, const std::vector<Type>& outputs,
                                const RunOptions& options)
    : threads_(options.threads), output_types_(outputs) {
  std::vector<KernelTensor> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_constant = inputs[i] && (options.constants >> i & 1u);
    in.push_back({inputs[i].dtype(), inputs[i].shape(), at(options.incoming, i),
                  is_constant ? &inputs[i] : nullptr});
  }
  for (const Type& type : outputs)
    out.push_back({type.dtype, type.known_shape().value()});
  prepared_ = prepare_by_provider({.op = op,
                                   .raw_attrs = attrs,
                                   .inputs = in,
                                   .outputs = out,
                                   .threads = options.threads,
                                   .layouts = options.layouts,
                                   .layout_readers = options.layout_readers,
                                   .precision = options.precision});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_read = inputs[i] && !(prepared_.unread_inputs >> i & 1u);
    input_buffers_.push_back(
        is_read ? with_layout(inputs[i].raw(), inputs[i].dtype(), inputs[i].shape(), nullptr,
                              at(prepared_.input_layouts, i), threads_, options.fenced_inputs)
                : nullptr);
    input_addresses_.push_back(is_read ? input_buffers_.back()->data() : nullptr);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const LayoutPtr layout = at(prepared_.output_layouts, i);
    output_buffers_.push_back(Buffer::allocate(
        layout ? layout->bytes() : bytes_for(out[i].dtype, element_count(out[i].shape))));
    output_addresses_.push_back(output_buffers_.back()->data());
  }
  if (options.overwrite && prepared_.kernel->may_alias(0, *options.overwrite)) {
    output_buffers_[0] = input_buffers_[*options.overwrite];
    output_addresses_[0] = output_buffers_[0]->data();
    aliased_ = true;
  }
  scratch_ = Buffer::allocate(prepared_.kernel->scratch_bytes());
}

inline void PreparedRun::run() {
  prepared_.kernel->run({input_addresses_.data(), output_addresses_.data(), scratch_->data()});
}

inline std::vector<Tensor> PreparedRun::run_apart(const std::vector<Tensor>& inputs) const {
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<Tensor> results;
  for (const Tensor& input : inputs)
    in.push_back(input.raw());
  for (const Type& type : output_types_) {
    results.push_back(Tensor::allocate(type.dtype, type.known_shape().value()));
    out.push_back(results.back().raw());
  }
  const auto scratch = Buffer::allocate(prepared_.kernel->scratch_bytes());
  prepared_.kernel->run({in.data(), out.data(), scratch->data()});
  return results;
}

inline std::vector<Tensor> PreparedRun::outputs() const {
  std::vector<Tensor> results;
  for (size_t i = 0; i < output_types_.size(); ++i) {
    const Shape shape = output_types_[i].known_shape().value();
    results.emplace_back(output_types_[i].dtype, shape,
                         with_layout(output_buffers_[i]->data(), output_types_[i].dtype, shape,
                                     at(prepared_.output_layouts, i), nullptr, threads_));
  }
  return results;
}

inline LayoutPtr blocked_layout(const Shape& shape) {
  if (shape.size() < 3 || shape.size() > 5) return nullptr;
  return layout_of(blocked_desc(memory::data_type::f32, shape));
}

inline LayoutPtr channels_last_layout(const Shape& shape) {
  if (shape.size() < 3 || shape.size() > 5) return nullptr;
  return layout_of(channels_last_desc(memory::data_type::f32, shape));
}

}  // namespace sardonyx::onednn
