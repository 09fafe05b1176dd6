// Updates of parameters by a gradient that is a product of two matrices (SgdProductStep,
// AdamProductStep): each tile of the product is used up while it is in the first cache.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/training/optimizer_params.h"

namespace sardonyx::cpu {
namespace {

struct GemmOptimizerInput {
  enum : size_t { kX, kA, kB, kRate };
};

constexpr size_t kRowsOfTask = 128;
constexpr int64_t kWorkPerThread = 1 << 18;  // multiplications worth a second thread

// The parts of the product, and their distribution over threads.
struct Parts {
  ProductPart whole;
  int threads = 1;

  explicit Parts(const KernelRequest& request, bool transposed) {
    const Shape &x = request.inputs[GemmOptimizerInput::kX].shape,
                &a = request.inputs[GemmOptimizerInput::kA].shape;
    whole.row_end = static_cast<size_t>(x[0]);
    whole.column_end = whole.width = static_cast<size_t>(x[1]);
    whole.depth = static_cast<size_t>(a[transposed ? 0 : 1]);
    whole.a_row = transposed ? 1 : whole.depth;
    whole.a_step = transposed ? whole.row_end : 1;
    const auto work = x[0] * x[1] * static_cast<int64_t>(std::max<size_t>(whole.depth, 1));
    threads =
        static_cast<int>(std::min<int64_t>({request.threads, count(), work / kWorkPerThread + 1}));
  }

  static size_t pieces(size_t length, size_t piece) { return (length + piece - 1) / piece; }
  size_t rows() const { return pieces(whole.row_end, kRowsOfTask); }
  int64_t count() const {
    return static_cast<int64_t>(rows() * pieces(whole.column_end, kPanelColumns));
  }
  size_t elements() const { return whole.row_end * whole.width; }
  size_t scratch_floats() const { return part_scratch(std::min(whole.row_end, kRowsOfTask)); }

  // body(part, scratch) for all parts.
  template <typename Body>
  void for_each(const KernelArgs& args, const Body& body) const {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const auto work = static_cast<int64_t>(kRowsOfTask * kPanelColumns * whole.depth);
    for_each_task(count(), threads, work, [&](int64_t task, size_t seat) {
      ProductPart part = whole;
      part.a = static_cast<const float*>(args.inputs[GemmOptimizerInput::kA]);
      part.b = static_cast<const float*>(args.inputs[GemmOptimizerInput::kB]);
      part.row = static_cast<size_t>(task) % rows() * kRowsOfTask;
      part.row_end = std::min(whole.row_end, part.row + kRowsOfTask);
      part.column = static_cast<size_t>(task) / rows() * kPanelColumns;
      part.column_end = std::min(whole.column_end, part.column + kPanelColumns);
      body(part, scratch + seat * scratch_floats());
    });
  }
};

// `Attrs` of the step; `update_of` and `run_part` as declared in optimizer_params.h and
// optimizer_kernel.h.
template <typename Attrs, auto update_of, auto run_part>
class ProductStep : public Kernel {
 public:
  ProductStep(const KernelRequest& request, const Attrs& attrs, bool transposed, size_t last_state)
      : attrs_(attrs),
        inputs_{GemmOptimizerInput::kRate,
                request.inputs[GemmOptimizerInput::kRate].dtype == DType::kDouble,
                request.has(last_state), request.has(last_state + 1) ? last_state + 1 : 0},
        parts_(request, transposed) {}

  size_t scratch_bytes() const override {
    return parts_.scratch_floats() * static_cast<size_t>(parts_.threads) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const auto update = update_of(attrs_, inputs_, args, parts_.elements());
    parts_.for_each(
        args, [&](const ProductPart& part, float* scratch) { run_part(update, part, scratch); });
  }

  // Output 1 is the count of updates; the states follow it in the order of the inputs.
  bool may_alias(size_t output, size_t input) const override {
    return output == 0 ? input == GemmOptimizerInput::kX
                       : output > 1 && input == output + GemmOptimizerInput::kRate;
  }

 private:
  Attrs attrs_;
  StepInputs inputs_;
  Parts parts_;
};

// The momentum follows the last state.
template <typename Attrs, auto update_of, auto run_part, size_t last_state>
Prepared prepare(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::ProductStepAttrs<Attrs>>();
  if (attrs.transB) return Prepared::refuse("columns of the second operand are not computed here");
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const KernelTensor& tensor = request.inputs[i];
    if (!tensor || i == GemmOptimizerInput::kRate || tensor.dtype == DType::kInt64) continue;
    if (i == last_state + 1) continue;
    if (tensor.dtype != DType::kFloat) return Prepared::refuse("only float is updated here");
    if (i > GemmOptimizerInput::kRate &&
        tensor.shape != request.inputs[GemmOptimizerInput::kX].shape)
      return Prepared::refuse("states must have the parameter's shape");
  }
  if (request.inputs[GemmOptimizerInput::kX].shape.size() != 2)
    return Prepared::refuse("a parameter of rank 2 only");
  return Prepared::accept(std::make_unique<ProductStep<Attrs, update_of, run_part>>(
                              request, attrs, attrs.transA, last_state),
                          "tiles");
}

constexpr KernelEntry kProductStepEntries[] = {
    {"sardonyx::SgdProductStep", "fused_gemm_optimizer",
     prepare<ops::SgdStepAttrs, sgd_update, sgd_part, GemmOptimizerInput::kRate + 2>},
    {"sardonyx::AdamProductStep", "fused_gemm_optimizer",
     prepare<ops::AdamStepAttrs, adam_update, adam_part, GemmOptimizerInput::kRate + 4>},
};

}  // namespace

std::span<const KernelEntry> fused_gemm_optimizer_kernels() {
  return kProductStepEntries;
}

}  // namespace sardonyx::cpu
