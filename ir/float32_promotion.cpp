#include "ir/float32_promotion.h"

#include <algorithm>

#include "ir/core/error.h"

namespace sardonyx {
namespace {

constexpr size_t kAlignment = 64;

bool is_small(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

size_t aligned(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t count_of(const KernelTensor& tensor) {
  int64_t count = 1;
  for (const int64_t dim : tensor.shape)
    count *= dim;
  return count;
}

// A tensor that the kernel within sees as float32, and the conversion between.
struct Widened {
  size_t slot = 0;    // among the inputs, or the outputs
  size_t offset = 0;  // of its float32 elements in the scratch
  std::unique_ptr<Kernel> cast;
};

class WidenedKernel : public Kernel {
 public:
  static constexpr size_t kMaxTensors = 16;
  std::unique_ptr<Kernel> inner;
  std::vector<Widened> inputs, outputs;
  size_t input_count = 0, output_count = 0;
  size_t own_bytes = 0, inner_bytes = 0;  // the second for whichever kernel is running

  size_t scratch_bytes() const override { return own_bytes + inner_bytes; }

  void run(const KernelArgs& args) const override {
    std::byte* const rest = args.scratch + own_bytes;
    Pointers pointers;
    std::copy_n(args.inputs, input_count, pointers.inputs);
    std::copy_n(args.outputs, output_count, pointers.outputs);
    for (const Widened& input : inputs) {
      void* wide = args.scratch + input.offset;
      input.cast->run({&args.inputs[input.slot], &wide, rest});
      pointers.inputs[input.slot] = wide;
    }
    for (const Widened& output : outputs) {
      if (args.outputs[output.slot]) pointers.outputs[output.slot] = args.scratch + output.offset;
    }
    inner->run({pointers.inputs, pointers.outputs, rest});
    for (const Widened& output : outputs) {
      if (!args.outputs[output.slot]) continue;
      const void* wide = args.scratch + output.offset;
      output.cast->run({&wide, &args.outputs[output.slot], rest});
    }
  }

 private:
  // Copies of the caller's pointers, without a heap allocation.
  struct Pointers {
    const void* inputs[kMaxTensors] = {};
    void* outputs[kMaxTensors] = {};
  };
};

Prepared cast_kernel(std::span<const Provider* const> providers, const KernelRequest& request,
                     const KernelTensor& from, const KernelTensor& to) {
  static const OpDef& op = op_named("Cast");
  const Attrs attrs = Attrs::parse(*op.attrs, {{"to", static_cast<int64_t>(to.dtype)}});
  return prepare_kernel(providers,
                        {op, attrs, std::span(&from, 1), std::span(&to, 1), request.threads});
}

}  // namespace

Prepared prepare_as_float32(std::span<const Provider* const> providers,
                            const KernelRequest& request) {
  const auto has_small = [](const KernelTensor& tensor) { return is_small(tensor.dtype); };
  if (!request.op.is(kFloat32Kernels) || std::ranges::none_of(request.inputs, has_small))
    return Prepared::refuse("it is not computed in float32");
  if (std::max(request.inputs.size(), request.outputs.size()) > WidenedKernel::kMaxTensors)
    return Prepared::refuse("it has too many inputs to be computed in float32");
  auto kernel = std::make_unique<WidenedKernel>();
  std::vector<KernelTensor> wide[2];
  for (const bool is_output : {false, true}) {
    const std::span<const KernelTensor> given = is_output ? request.outputs : request.inputs;
    for (size_t slot = 0; slot < given.size(); ++slot) {
      KernelTensor tensor = given[slot];
      tensor.layout = nullptr;  // it asks for row-major elements
      if (is_small(tensor.dtype)) {
        const KernelTensor small{tensor.dtype, tensor.shape};
        tensor.dtype = DType::kFloat;
        tensor.constant = nullptr;  // its elements are of the small type
        Prepared cast = is_output ? cast_kernel(providers, request, tensor, small)
                                  : cast_kernel(providers, request, small, tensor);
        if (!cast.kernel) return cast;
        kernel->inner_bytes = std::max(kernel->inner_bytes, cast.kernel->scratch_bytes());
        (is_output ? kernel->outputs : kernel->inputs)
            .push_back({slot, kernel->own_bytes, std::move(cast.kernel)});
        kernel->own_bytes += aligned(static_cast<size_t>(count_of(tensor)) * sizeof(float));
      }
      wide[is_output].push_back(std::move(tensor));
    }
  }
  const std::string name = full_name(request.op);
  for (const Provider* provider : providers) {
    for (const KernelEntry& entry : provider->kernels) {
      if (entry.op != name) continue;
      Prepared inner =
          noted(request, text(provider->name, "/", entry.name),
                entry.prepare({request.op, request.raw_attrs, wide[0], wide[1], request.threads}));
      if (!inner.kernel) continue;
      kernel->inner_bytes = std::max(kernel->inner_bytes, inner.kernel->scratch_bytes());
      kernel->inner = std::move(inner.kernel);
      kernel->input_count = request.inputs.size();
      kernel->output_count = request.outputs.size();
      const std::string implementation =
          inner.implementation.empty() ? std::string(entry.name) : inner.implementation;
      return Prepared::accept(std::move(kernel), "in float32: " + implementation);
    }
  }
  return Prepared::refuse("no provider computes it in float32");
}

}  // namespace sardonyx
