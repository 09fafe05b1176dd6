// The interface between the ones who run ops (executor, eager) and the providers of fast kernels.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/tensor.h"
#include "ir/layout.h"
#include "ir/op_def.h"

namespace sardonyx {

class PrepackedWeights;  // ir/core/memory/prepacked_weights.h

// An input or output as a kernel's prepare sees it: all but an output's elements.
struct KernelTensor {
  DType dtype = DType::kUndefined;  // kUndefined: omitted
  Shape shape;
  LayoutPtr layout;  // what an input has where it comes from; the kernel may ask for another
  const Tensor* constant = nullptr;  // an input's value where it never changes (always row-major)
  explicit operator bool() const { return dtype != DType::kUndefined; }
};

// An implementation that was asked for a kernel, and what it answered.
struct KernelAttempt {
  std::string name;                  // "onednn/convolution"; within another one "conv_winograd"
  std::string implementation;        // as in Prepared; empty where it refused
  std::string refusal;               // why not; empty where its kernel was taken
  std::vector<KernelAttempt> inner;  // what it asked itself, in order
};

// One for each, those within others behind them and indented.
std::vector<std::string> attempt_lines(std::span<const KernelAttempt> attempts);

// The precision in which products of floats may be computed; see docs/limits.md.
enum class Precision { kFloat32, kBFloat16 };

// All that prepare may depend on: a kernel that was accepted serves every run with the same.
struct KernelRequest {
  const OpDef& op;
  const Attrs& raw_attrs;
  std::span<const KernelTensor> inputs;
  std::span<const KernelTensor> outputs;  // dtype and shape as inferred
  int threads = 1;
  bool layouts = false;        // may the kernel ask for and give other layouts than row-major?
  bool layout_readers = true;  // may readers of the outputs want other layouts than row-major?
  Precision precision = Precision::kFloat32;
  PrepackedWeights* packs = nullptr;  // null: keep packed weights in the kernel
  // Notes the implementations in the order in which they are asked; null where nobody wants to
  // know, which costs nothing.
  std::vector<KernelAttempt>* attempts = nullptr;
  template <typename S>
  const S& attrs() const {
    return raw_attrs.as<S>();
  }
  // Whether the optional input is given.
  bool has(size_t input) const { return input < inputs.size() && inputs[input]; }
  // Whether anybody reads the output; one that nobody reads is not written.
  bool wants(size_t output) const { return output < outputs.size() && outputs[output]; }
};

// Addresses of one run, by slot: null for omitted slots and for inputs in unread_inputs. Inputs are
// only read. Outputs overlap inputs only where may_alias allows it.
struct KernelArgs {
  const void* const* inputs;
  void* const* outputs;
  std::byte* scratch;  // aligned to 64 bytes
};

// Prepared for fixed types, shapes and layouts. `run` is const, safe from many threads, allocates
// nothing and does not fail on what was accepted, but for what only the data can show (an index out
// of range: throws kInvalidArgument).
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Writes all outputs. Called from many threads at a time; may use parallel_for.
  virtual void run(const KernelArgs& args) const = 0;
  // How many bytes of scratch memory each run needs.
  virtual size_t scratch_bytes() const { return 0; }
  // May output `output` be written over input `input`, when nobody reads that any more?
  virtual bool may_alias(size_t output, size_t input) const {
    (void)output, (void)input;
    return false;
  }
};

// The result of prepare: a kernel, or why there is none.
struct Prepared {
  std::unique_ptr<Kernel> kernel;  // exactly one of kernel and refusal is set
  std::string refusal;             // why the request was refused
  std::string implementation;      // for profiles: "jit:avx512_core", "reference"
  std::vector<LayoutPtr> input_layouts,
      output_layouts;          // that it takes and gives; empty: all row-major
  uint32_t unread_inputs = 0;  // bit k: input k (a constant) was packed and is not read by run

  static Prepared refuse(std::string why) {
    Prepared prepared;
    prepared.refusal = std::move(why);
    return prepared;
  }
  static Prepared accept(std::unique_ptr<Kernel> kernel, std::string implementation = "") {
    Prepared prepared;
    prepared.kernel = std::move(kernel);
    prepared.implementation = std::move(implementation);
    return prepared;
  }
};

// A kernel that an entry's prepare asks itself, before its own.
struct InnerKernel {
  std::string_view name;
  std::string_view file;  // its source, from the top of the tree
};

// One fast kernel. The first entry of the first provider that accepts a request wins.
struct KernelEntry {
  std::string_view op;    // full_name of the row
  std::string_view name;  // for messages and profiles
  Prepared (*prepare)(const KernelRequest& request);
  std::span<const InnerKernel> inner = {};   // all that prepare may note, in order
  std::string_view file = __builtin_FILE();  // the source that has the entry
};

// Kernels in the order in which they are asked. `name` is what users select it by.
struct Provider {
  std::string_view name;
  std::span<const KernelEntry> kernels;
  // Between row-major and the provider's layouts, and among these; null where it has none of its
  // own.
  Prepared (*prepare_reorder)(DType dtype, const Shape& shape, const LayoutPtr& from,
                              const LayoutPtr& to, int threads) = nullptr;
};

// Appends the answer of a kernel that an entry's prepare has asked itself to request.attempts, and
// returns it.
Prepared noted(const KernelRequest& request, std::string_view name, Prepared answer);
inline Prepared noted(const KernelRequest& request, const InnerKernel& kernel, Prepared answer) {
  return noted(request, kernel.name, std::move(answer));
}

// The kernel that runs the row's `reference`; refuses rows that have none.
Prepared prepare_reference(const KernelRequest& request);

// Walks `providers` in order, the reference last. On refusal of all, `refusal` lists every reason.
Prepared prepare_kernel(std::span<const Provider* const> providers, const KernelRequest& request);

}  // namespace sardonyx
