// Einsum of float32 and float64 as products of matrices: other kernels transpose, sum and multiply.
// Operands are contracted from left to right; an index is summed out as soon as nobody has it any
// more. Indices of a pair are of four kinds: of the batch (in both and shown), of rows (in the
// first), of columns (in the second) and of the sum (in both and not shown).
#include "ir/ops/gemm/einsum.h"

#include <algorithm>
#include <deque>

#include "providers/cpu/provider.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/provider.h"

namespace sardonyx::onednn {
namespace einsum {
namespace {

using Labels = std::vector<int>;

constexpr size_t kAlignment = 64;  // the alignment of buffers that kernels write
size_t align_up(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool has(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

Labels joined(std::initializer_list<Labels> lists) {
  Labels all;
  for (const Labels& list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

// A buffer that a step reads or writes.
struct BufferRef {
  enum class Kind { kInput, kOutput, kScratch, kConstant };
  Kind kind = Kind::kInput;
  size_t at = 0;  // which one, or the byte of the scratch
};

// An operand or a product of some: row-major over labels of which each occurs once.
struct PlacedFactor {
  BufferRef place;
  Labels labels;
};

// Runs several kernels in sequence.
class StepsKernel : public Kernel {
 public:
  struct ContractionStep {
    std::unique_ptr<Kernel> kernel;
    std::vector<BufferRef> inputs;
    BufferRef output;
  };
  static constexpr size_t kMaxInputs = 2;

  void run(const KernelArgs& args) const override {
    for (const ContractionStep& step : steps) {
      const void* inputs[kMaxInputs];
      for (size_t i = 0; i < step.inputs.size(); ++i)
        inputs[i] = address(step.inputs[i], args);
      void* output = const_cast<void*>(address(step.output, args));
      step.kernel->run({inputs, &output, args.scratch + own_bytes});
    }
  }
  size_t scratch_bytes() const override {
    size_t most = 0;
    for (const ContractionStep& step : steps)
      most = std::max(most, step.kernel->scratch_bytes());
    return own_bytes + most;
  }

  std::vector<ContractionStep> steps;
  std::deque<Tensor> constants;  // their addresses stay
  size_t own_bytes = 0;          // scratch bytes of intermediate values

 private:
  const void* address(const BufferRef& place, const KernelArgs& args) const {
    switch (place.kind) {
      case BufferRef::Kind::kInput:
        return args.inputs[place.at];
      case BufferRef::Kind::kOutput:
        return args.outputs[place.at];
      case BufferRef::Kind::kScratch:
        return args.scratch + place.at;
      default:
        return constants[place.at].raw();
    }
  }
};

class ContractionBuilder {
 public:
  ContractionBuilder(const KernelRequest& request, const ops::EinsumLabels& labels)
      : request_(request), kernel_(std::make_unique<StepsKernel>()) {
    sizes_.assign(static_cast<size_t>(labels.count), 1);
    for (size_t i = 0; i < labels.operands.size(); ++i) {
      for (size_t axis = 0; axis < labels.operands[i].size(); ++axis) {
        const int64_t dim = request.inputs[i].shape[axis];
        if (dim != 1) sizes_[static_cast<size_t>(labels.operands[i][axis])] = dim;
      }
    }
    output_ = shown(labels.output);
    for (const Labels& operand : labels.operands)
      operands_.push_back(operand);
  }

  Prepared build() {
    PlacedFactor product = load(0);
    for (size_t i = 1; i < operands_.size(); ++i)
      product = multiplied(product, load(i), wanted_after(i));
    product = in_order(summed(product, output_), output_);
    if (kernel_->steps.empty()) return Prepared::refuse("nothing is computed");
    if (!refusal_.empty()) return Prepared::refuse(refusal_);
    kernel_->steps.back().output = {BufferRef::Kind::kOutput, 0};
    return Prepared::accept(std::move(kernel_), "products");
  }

 private:
  int64_t size_of(const Labels& labels) const {
    int64_t size = 1;
    for (const int label : labels)
      size *= sizes_[static_cast<size_t>(label)];
    return size;
  }
  Shape dims_of(const Labels& labels) const {
    Shape dims;
    for (const int label : labels)
      dims.push_back(sizes_[static_cast<size_t>(label)]);
    return dims;
  }
  // Dims of 1 change nothing in memory: they are left out throughout.
  Labels shown(const Labels& labels) const {
    Labels kept;
    for (const int label : labels) {
      if (sizes_[static_cast<size_t>(label)] != 1) kept.push_back(label);
    }
    return kept;
  }

  // The labels that the output or an operand after `operand` has.
  Labels wanted_after(size_t operand) const {
    Labels wanted = output_;
    for (size_t i = operand + 1; i < operands_.size(); ++i)
      wanted = joined({wanted, operands_[i]});
    return wanted;
  }

  struct StepArgument {
    BufferRef place;
    Shape shape;
    const Tensor* constant = nullptr;
  };
  // A step by the first kernel that takes it; `fast`: unless there is none but the reference.
  bool call(std::string_view name, const AttrMap& map, const std::vector<StepArgument>& arguments,
            const Shape& result, BufferRef& place, bool fast = false) {
    const OpDef& op = op_named(name);
    const Attrs attrs = Attrs::parse(*op.attrs, map);
    const DType dtype = request_.inputs[0].dtype;
    std::vector<KernelTensor> inputs;
    for (const StepArgument& argument : arguments) {
      const DType own = argument.constant ? argument.constant->dtype() : dtype;
      inputs.push_back({own, argument.shape, nullptr, argument.constant});
    }
    const KernelTensor output{dtype, result, nullptr, nullptr};
    static const Provider* const kProviders[] = {&onednn_provider(), &cpu_provider()};
    KernelRequest request{op, attrs, inputs, {&output, 1}, request_.threads};
    request.precision = request_.precision;
    request.attempts = request_.attempts;
    Prepared prepared = prepare_kernel(kProviders, request);
    if (fast && (!prepared.kernel || prepared.implementation == "reference")) return false;
    if (!prepared.kernel) {
      refusal_ = std::move(prepared.refusal);
      return false;
    }
    StepsKernel::ContractionStep step{std::move(prepared.kernel), {}, {}};
    for (const StepArgument& argument : arguments)
      step.inputs.push_back(argument.place);
    place = step.output = {BufferRef::Kind::kScratch, kernel_->own_bytes};
    kernel_->own_bytes += align_up(bytes_for(dtype, element_count(result)));
    kernel_->steps.push_back(std::move(step));
    return true;
  }

  // Loads an operand. For a label that occurs twice the diagonal is taken.
  PlacedFactor load(size_t operand) {
    Labels kept, distinct;
    Shape shape;
    for (size_t axis = 0; axis < operands_[operand].size(); ++axis) {
      const int64_t dim = request_.inputs[operand].shape[axis];
      if (dim == 1) continue;
      const int label = operands_[operand][axis];
      kept.push_back(label);
      shape.push_back(dim);
      if (!has(distinct, label)) distinct.push_back(label);
    }
    PlacedFactor factor{{BufferRef::Kind::kInput, operand}, distinct};
    if (kept.size() != distinct.size()) {
      const std::string equation = letters(kept, distinct) + "->" + letters(distinct, distinct);
      call("Einsum", {{"equation", equation}}, {{factor.place, shape}}, dims_of(distinct),
           factor.place);
    }
    operands_[operand] = distinct;
    return factor;
  }
  static std::string letters(const Labels& labels, const Labels& alphabet) {
    std::string text;
    for (const int label : labels) {
      const auto at = std::ranges::find(alphabet, label) - alphabet.begin();
      text += static_cast<char>(at < 26 ? 'a' + at : 'A' + (at - 26));
    }
    return text;
  }

  PlacedFactor summed(const PlacedFactor& x, const Labels& wanted) {
    PlacedFactor result{x.place, {}};
    std::vector<int64_t> axes;
    for (size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (has(wanted, x.labels[axis]))
        result.labels.push_back(x.labels[axis]);
      else
        axes.push_back(static_cast<int64_t>(axis));
    }
    if (axes.empty()) return x;
    const Tensor& list = kernel_->constants.emplace_back(Tensor::vector(axes));
    const StepArgument constant{
        {BufferRef::Kind::kConstant, kernel_->constants.size() - 1}, list.shape(), &list};
    call("ReduceSum", {{"keepdims", int64_t{0}}}, {{x.place, dims_of(x.labels)}, constant},
         dims_of(result.labels), result.place);
    return result;
  }

  PlacedFactor in_order(const PlacedFactor& x, const Labels& order) {
    if (x.labels == order) return x;
    std::vector<int64_t> permutation;
    for (const int label : order)
      permutation.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
    PlacedFactor result{x.place, order};
    call("Transpose", {{"perm", permutation}}, {{x.place, dims_of(x.labels)}}, dims_of(order),
         result.place);
    return result;
  }

  // `labels` sorted in the order of the output; labels that the output lacks follow in their own
  // order.
  Labels as_shown(const Labels& labels) const {
    Labels sorted;
    for (const int label : output_) {
      if (has(labels, label)) sorted.push_back(label);
    }
    for (const int label : labels) {
      if (!has(sorted, label)) sorted.push_back(label);
    }
    return sorted;
  }

  PlacedFactor multiplied(PlacedFactor a, PlacedFactor b, const Labels& wanted) {
    a = summed(a, joined({wanted, b.labels}));
    b = summed(b, joined({wanted, a.labels}));
    Labels batch, rows, columns, sum;
    for (const int label : a.labels) {
      if (!has(b.labels, label))
        rows.push_back(label);
      else
        (has(wanted, label) ? batch : sum).push_back(label);
    }
    for (const int label : b.labels) {
      if (!has(a.labels, label)) columns.push_back(label);
    }
    batch = as_shown(batch), rows = as_shown(rows), columns = as_shown(columns);
    // The product of the exchanged operands is the transposed one.
    const auto first = std::ranges::find_if(output_, [&](int label) { return !has(batch, label); });
    if (first != output_.end() && has(columns, *first)) {
      std::swap(a, b);
      std::swap(rows, columns);
    }
    PlacedFactor product{{}, joined({batch, rows, columns})};
    const int64_t count = size_of(batch), height = size_of(rows), width = size_of(columns);
    if (sum.empty()) {
      a = in_order(a, joined({batch, rows}));
      b = in_order(b, joined({batch, columns}));
      call("Mul", {}, {{a.place, {count, height, 1}}, {b.place, {count, 1, width}}},
           {count, height, width}, product.place);
      return product;
    }
    sum = order_of_sum(a, b, batch, rows, columns, sum);
    const Side left = side(a, batch, rows, sum), right = side(b, batch, sum, columns);
    multiply({left, height}, {right, width}, count, size_of(sum), product.place);
    return product;
  }

  // An operand as [batch, height, width], or with these two exchanged.
  struct Side {
    BufferRef place;
    bool is_transposed;
  };
  static bool fits(const PlacedFactor& x, const Labels& batch, const Labels& height,
                   const Labels& width) {
    return x.labels == joined({batch, height, width}) || x.labels == joined({batch, width, height});
  }
  Side side(const PlacedFactor& x, const Labels& batch, const Labels& height, const Labels& width) {
    const bool is_transposed =
        x.labels != joined({batch, height, width}) && fits(x, batch, height, width);
    if (is_transposed) return {x.place, true};
    return {in_order(x, joined({batch, height, width})).place, false};
  }
  // The order of the summed labels in an operand that then needs no transpose, if there is one.
  static Labels order_of_sum(const PlacedFactor& a, const PlacedFactor& b, const Labels& batch,
                             const Labels& rows, const Labels& columns, const Labels& sum) {
    Labels of_b;
    for (const int label : b.labels) {
      if (has(sum, label)) of_b.push_back(label);
    }
    Labels of_a;
    for (const int label : a.labels) {
      if (has(sum, label)) of_a.push_back(label);
    }
    const int by_a = fits(a, batch, rows, of_a) + fits(b, batch, of_a, columns);
    const int by_b = fits(a, batch, rows, of_b) + fits(b, batch, of_b, columns);
    return by_b > by_a ? of_b : of_a;
  }

  struct MatrixSide {
    Side side;
    int64_t size;  // of rows or columns
  };
  static Shape matrices(int64_t count, int64_t height, int64_t width, bool is_transposed) {
    Shape shape = is_transposed ? Shape{width, height} : Shape{height, width};
    if (count != 1) shape.insert(shape.begin(), count);
    return shape;
  }
  void multiply(MatrixSide left, MatrixSide right, int64_t count, int64_t depth, BufferRef& place) {
    const auto attempt = [&](std::string_view op, bool fast) {
      AttrMap attrs;
      if (left.side.is_transposed) attrs["transA"] = int64_t{1};
      if (right.side.is_transposed) attrs["transB"] = int64_t{1};
      return call(
          op, attrs,
          {{left.side.place, matrices(count, left.size, depth, left.side.is_transposed)},
           {right.side.place, matrices(count, depth, right.size, right.side.is_transposed)}},
          matrices(count, left.size, right.size, false), place, fast);
    };
    // Products of two transposed matrices are added up in an order that depends on the threads.
    if (left.side.is_transposed && right.side.is_transposed)
      exchange(left.side, count, left.size, depth);
    const bool is_plain = !left.side.is_transposed && !right.side.is_transposed;
    if (is_plain && attempt("MatMul", true)) return;
    if (attempt(count == 1 ? "Gemm" : "sardonyx::FusedMatMul", true)) return;
    exchange(left.side, count, left.size, depth);
    exchange(right.side, count, depth, right.size);
    attempt("MatMul", false);
  }
  // Writes [count, width, height] as [count, height, width].
  void exchange(Side& side, int64_t count, int64_t height, int64_t width) {
    if (!side.is_transposed) return;
    call("Transpose", {{"perm", std::vector<int64_t>{0, 2, 1}}},
         {{side.place, {count, width, height}}}, {count, height, width}, side.place);
    side.is_transposed = false;
  }

  const KernelRequest& request_;
  std::unique_ptr<StepsKernel> kernel_;
  Shape sizes_;                   // by label
  std::vector<Labels> operands_;  // without dims of 1, once they are loaded
  Labels output_;
  std::string refusal_;
};

Prepared prepare_einsum(const KernelRequest& request) {
  const DType dtype = request.outputs[0].dtype;
  if (dtype != DType::kFloat && dtype != DType::kDouble)
    return Prepared::refuse("elements of this type are left to the reference");
  std::vector<size_t> ranks;
  for (const KernelTensor& input : request.inputs)
    ranks.push_back(input.shape.size());
  const ops::EinsumLabels labels =
      ops::parse_einsum(request.attrs<ops::EinsumAttrs>().equation, ranks);
  const bool has_product = request.inputs.size() > 1;
  const auto is_diagonal = [](const Labels& list) {
    return std::ranges::any_of(list,
                               [&](int label) { return std::ranges::count(list, label) > 1; });
  };
  // Without a product there is nothing to gain, and a single diagonal would recurse into itself.
  if (!has_product && is_diagonal(labels.operands[0]))
    return Prepared::refuse("a diagonal is left to the reference");
  return ContractionBuilder(request, labels).build();
}

constexpr KernelEntry kEinsumKernels[] = {{"Einsum", "einsum", guarded<prepare_einsum>}};

}  // namespace
}  // namespace einsum

std::span<const KernelEntry> einsum_kernels() {
  return einsum::kEinsumKernels;
}

}  // namespace sardonyx::onednn
