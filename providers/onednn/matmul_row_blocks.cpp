#include "providers/onednn/matmul_row_blocks.h"

#include <algorithm>
#include <array>

#include "ir/core/run_control.h"

namespace sardonyx::onednn {
namespace {

constexpr size_t kMaxInputs = 9;

// A block of rows: `size` indices of `axis` of the result, all of the axes after it, and one index
// of each axis before it.
struct RowCut {
  size_t axis = 0;
  int64_t size = 0;
};

// Axes are cut down to the rows; a row is never cut.
RowCut cut_of(const MatMulSpec& product, int64_t products_per_block) {
  const Extents dst = product.dst.dims();
  double products = static_cast<double>(product.a.dims().back()) * static_cast<double>(dst.back());
  size_t axis = dst.size() - 2;
  while (axis > 0 && products * static_cast<double>(dst[axis]) <= products_per_block)
    products *= static_cast<double>(dst[axis--]);
  const double most = std::clamp<double>(products_per_block / products, 1, dst[axis]);
  const int64_t size = static_cast<int64_t>(most), pieces = (dst[axis] + size - 1) / size;
  return {axis, (dst[axis] + pieces - 1) / pieces};
}

// The part of an operand that goes with a cut of the result; dims of 1 are repeated. Columns of
// `b`, and the depth, are never cut.
Desc part_of(const Desc& whole, const RowCut& cut, int64_t size, bool has_rows) {
  Extents dims = whole.dims();
  const size_t axes = dims.size() - (has_rows ? 1 : 2);
  for (size_t axis = 0; axis < std::min(cut.axis, axes); ++axis)
    dims[axis] = 1;
  const bool is_cut = cut.axis < axes && dims[cut.axis] > 1;
  if (is_cut) dims[cut.axis] = size;
  if (is_row_major(whole)) return plain_desc(whole.data_type(), dims);
  const bool cuts_matrix = is_cut && cut.axis + 2 == dims.size();
  if (!cuts_matrix) return transposed_desc(whole.data_type(), dims);
  return strided_desc(whole.data_type(), dims, plain_strides(whole).value());
}

MatMulSpec part_of(const MatMulSpec& whole, const RowCut& cut, int64_t size) {
  MatMulSpec part = whole;
  part.a = part_of(whole.a, cut, size, true);
  part.b = part_of(whole.b, cut, size, false);
  part.dst = part_of(whole.dst, cut, size, true);
  if (whole.bias) part.bias->desc = part_of(whole.bias->desc, cut, size, true);
  return part;
}

// The byte strides of an operand along each axis; 0 where it is broadcast.
class AxisStrides {
 public:
  AxisStrides(const Desc& desc, bool has_rows) {
    const Extents dims = desc.dims(), strides = plain_strides(desc).value();
    const auto element = static_cast<int64_t>(memory::data_type_size(desc.data_type()));
    for (size_t axis = 0; axis + (has_rows ? 1 : 2) < dims.size(); ++axis)
      steps_.push_back(dims[axis] == 1 ? 0 : strides[axis] * element);
  }
  int64_t offset(const Extents& at) const {
    int64_t bytes = 0;
    for (size_t axis = 0; axis < steps_.size(); ++axis)
      bytes += at[axis] * steps_[axis];
    return bytes;
  }

 private:
  Extents steps_;
};

class BlocksKernel : public Kernel {
 public:
  // `last` computes the remainder of the axis; null if there is none.
  BlocksKernel(const MatMulSpec& product, const RowCut& cut, size_t inputs,
               std::unique_ptr<Kernel> block, std::unique_ptr<Kernel> last)
      : block_(std::move(block)), last_(std::move(last)), inputs_(inputs) {
    const AxisStrides a(product.a, true), b(product.b, false), dst(product.dst, true);
    const Extents dims = product.dst.dims();
    for (Extents at(dims.size() - 1, 0); at[0] < dims[0];) {
      BlockOffsets place{
          std::min(cut.size, dims[cut.axis] - at[cut.axis]) == cut.size, {}, dst.offset(at)};
      place.inputs[product.a_input] = a.offset(at);
      place.inputs[product.b_input] = b.offset(at);
      if (product.bias)
        place.inputs[product.bias->input] = AxisStrides(product.bias->desc, true).offset(at);
      if (product.residual) place.inputs[*product.residual] = place.output;
      places_.push_back(place);
      at[cut.axis] += cut.size;
      for (size_t axis = cut.axis; axis > 0 && at[axis] >= dims[axis]; --axis) {
        at[axis] = 0;
        ++at[axis - 1];
      }
    }
  }

  void run(const KernelArgs& args) const override {
    std::array<const void*, kMaxInputs> inputs{};
    for (const BlockOffsets& place : places_) {
      check_interrupted();
      for (size_t i = 0; i < inputs_; ++i) {
        inputs[i] = args.inputs[i] ? static_cast<const std::byte*>(args.inputs[i]) + place.inputs[i]
                                   : nullptr;
      }
      void* const outputs[] = {static_cast<std::byte*>(args.outputs[0]) + place.output};
      (place.is_whole ? block_ : last_)->run({inputs.data(), outputs, args.scratch});
    }
  }
  size_t scratch_bytes() const override {
    return std::max(block_->scratch_bytes(), last_ ? last_->scratch_bytes() : 0);
  }
  bool may_alias(size_t output, size_t input) const override {
    return block_->may_alias(output, input) && (!last_ || last_->may_alias(output, input));
  }

 private:
  // A block: where it begins in each input and in the output, in bytes.
  struct BlockOffsets {
    bool is_whole;
    std::array<int64_t, kMaxInputs> inputs;
    int64_t output;
  };

  std::unique_ptr<Kernel> block_, last_;
  size_t inputs_;
  std::vector<BlockOffsets> places_;
};

}  // namespace

Prepared prepare_in_blocks(const KernelRequest& request, const MatMulSpec& product,
                           const PrepareProduct& prepare, int64_t products_per_block) {
  const RowCut cut = cut_of(product, products_per_block);
  const int64_t extent = product.dst.dims()[cut.axis];
  if (cut.axis == 0 && cut.size == extent) return prepare(request, product);
  SARDONYX_CHECK(request.inputs.size() <= kMaxInputs);
  std::vector<KernelTensor> inputs(request.inputs.begin(), request.inputs.end());
  const MatMulSpec whole = part_of(product, cut, cut.size);
  // The weights are packed as a whole.
  if (whole.b.dims() != product.b.dims()) inputs[product.b_input].constant = nullptr;
  KernelRequest of_block = request;
  of_block.inputs = inputs;
  Prepared block = prepare(of_block, whole);
  if (!block.kernel) return block;
  std::unique_ptr<Kernel> last;
  if (const int64_t rest = extent % cut.size; rest > 0) {
    Prepared prepared = prepare(of_block, part_of(product, cut, rest));
    if (!prepared.kernel) return prepared;
    SARDONYX_CHECK(prepared.unread_inputs == block.unread_inputs);
    last = std::move(prepared.kernel);
  }
  block.kernel = std::make_unique<BlocksKernel>(product, cut, request.inputs.size(),
                                                std::move(block.kernel), std::move(last));
  return block;
}

}  // namespace sardonyx::onednn
