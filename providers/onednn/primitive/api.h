// oneDNN's API as this provider uses it: descriptions of primitives in, primitives out. What
// differs between oneDNN 2 and 3 is nowhere but in api.cpp (operation descriptors, post-ops) and
// api_memory_desc.cpp (the insides of memory descriptors).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/core/dtype.h"
#include "ir/kernel.h"
#include "providers/onednn/primitive/library.h"

namespace sardonyx::onednn {

using dnnl::algorithm;
using dnnl::memory;
using Desc = memory::desc;
using Extents = memory::dims;

// Dims that a tensor may have here.
constexpr size_t kMaxRank = DNNL_MAX_NDIMS;

const dnnl::engine& cpu_engine();
// The stream of the calling thread. Threads must not share a stream.
const dnnl::stream& thread_stream();

// undef where oneDNN has no such type.
memory::data_type data_type_of(DType dtype);
// The inverse of data_type_of(): kUndefined where no tensor has such elements.
DType dtype_of(memory::data_type type);
// The row-major layout.
Desc plain_desc(memory::data_type type, const Extents& dims);
Desc plain_desc(DType dtype, const Shape& shape);
// The row-major layout with the last two dims exchanged in memory.
Desc transposed_desc(memory::data_type type, const Extents& dims);
// A strided layout: index i of a dim is at i * its stride, in elements.
Desc strided_desc(memory::data_type type, const Extents& dims, const Extents& strides);
// Channels in blocks of 16, and channels last; the rank must be 3 to 5.
Desc blocked_desc(memory::data_type type, const Extents& dims);
Desc channels_last_desc(memory::data_type type, const Extents& dims);
// A descriptor that leaves the layout to the primitive (format_tag::any).
Desc any_desc(memory::data_type type, const Extents& dims);
Desc any_desc(DType dtype, const Shape& shape);

// True for row-major order without padding.
bool is_row_major(const Desc& desc);
// A blocked layout with strides, as opposed to one that only its primitive reads (Winograd).
bool is_blocked(const Desc& desc);
// Strides of the dims, in elements, of a layout without blocks and padding.
std::optional<Extents> plain_strides(const Desc& desc);
// A blocked layout: index i of dim d is number i % block of block i / block, where `block` is the
// product of the inner sizes of d. Blocks of d are strides[d] elements apart; within a block the
// dims of `inner` are nested in order, the last one contiguous.
struct BlockedForm {
  struct Inner {
    size_t dim;
    int64_t size;
    bool operator==(const Inner&) const = default;
  };
  Extents dims, padded, strides;  // padded: dims rounded up to whole blocks
  std::vector<Inner> inner;
};
// nullopt for a layout of another kind, or with an offset.
std::optional<BlockedForm> blocked_form(const Desc& desc);
// The oneDNN tag of the layout, such as "aBcd16b". Different layouts may have the same text.
std::string layout_text(const Desc& desc);
// A key that differs for any two descriptors that are not equal.
std::string fingerprint(const Desc& desc);
// The layout without the compensation (sums of weights) that integer primitives append; nullopt if
// there is none, or the layout is blocked.
std::optional<Desc> without_sums(const Desc& desc);

// A range of the indices of one dim.
struct DescSlice {
  Desc desc;
  size_t offset;  // bytes behind the beginning of the whole
};
// nullopt where the range has no place of its own: it cuts a block in two, the layout is known to
// one primitive alone, or there are sums behind the elements.
std::optional<DescSlice> slice(const Desc& whole, size_t dim, int64_t begin, int64_t count);
// The size of a dim's blocks; 1 without blocks.
int64_t block_of(const Desc& desc, size_t dim);

// An operation on a primitive's result before it is written.
struct PostOp {
  enum class Kind { kEltwise, kSum, kBinary };
  Kind kind;
  algorithm op = algorithm::undef;
  float alpha = 0, beta = 0;
  Desc operand;  // of kBinary; passed as binary_argument(index of the post-op)
};
using PostOps = std::vector<PostOp>;
inline int binary_argument(size_t place) {
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(place)) | DNNL_ARG_SRC_1;
}

// Attributes with these post-ops and a scratchpad that the caller provides. `scale` multiplies the
// sum of products before anything else is done to it.
dnnl::primitive_attr attributes(const PostOps& post_ops = {}, float scale = 1);
constexpr int kSourceZeroPoint = DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC;

// The epilogue of an int8 primitive, from int32 sums to results:
//   dst = post_ops(scale * (sum + bias)) + destination_zero.
struct IntegerScaling {
  int32_t source_zero = 0;          // taken off every element of the source
  bool source_zero_at_run = false;  // passed as argument kSourceZeroPoint in every run
  std::vector<float> scales{1};     // one, or one for each index of the result's `scale_dim`
  int scale_dim = 1;
  PostOps post_ops;
  int32_t destination_zero = 0;
};
dnnl::primitive_attr attributes(const IntegerScaling& scaling);

// Whether sums of int8 products are exact on this CPU. Without VNNI instructions oneDNN adds pairs
// of products in 16 bits, which may saturate.
bool has_exact_byte_products();
// Whether the CPU has instructions for bfloat16 products.
bool has_bfloat16();

// A primitive that is implemented, before code is generated for it.
//
// With oneDNN's primitive cache on, code is generated at once: a descriptor may be shared with a
// cached primitive and refer to memory of the descriptor that primitive was created from, which is
// gone (oneDNN 2.6, matmul with attributes). While the primitive is cached it is found; later, code
// would be generated from freed memory.
class Primitive {
 public:
  explicit Primitive(dnnl::primitive_desc_base desc);
  dnnl::primitive make() const;
  Desc src(int index = 0) const { return desc_.src_desc(index); }
  Desc weights(int index = 0) const { return desc_.weights_desc(index); }
  Desc dst(int index = 0) const { return desc_.dst_desc(index); }
  // The layout of an argument by its DNNL_ARG_ number, for primitives with many.
  Desc argument(int number) const { return desc_.query_md(dnnl::query::exec_arg_md, number); }
  Desc scratchpad() const { return desc_.scratchpad_desc(); }
  std::string implementation() const { return desc_.impl_info_str(); }
  // Whether the implementation is oneDNN's slow reference one, which is not worth using.
  bool is_reference() const;
  // Whether code generation succeeds; it fails for some primitives that oneDNN reports as
  // implemented. The generated primitive is kept for `make`.
  bool can_be_made();

 private:
  dnnl::primitive_desc_base desc_;
  dnnl::primitive made_;  // empty: not yet
};
// nullopt where oneDNN has no implementation.
using MaybePrimitive = std::optional<Primitive>;

struct ConvolutionSpec {
  Desc src, weights, bias, dst;  // bias: default-constructed where there is none
  Extents strides, dilations;    // dilations of 1 are dense
  Extents pads_begin, pads_end;
  algorithm method = algorithm::convolution_direct;
};
MaybePrimitive convolution(const ConvolutionSpec& spec, const dnnl::primitive_attr& attr);
// The gradients of a convolution by its source and by its weights: `src`, `weights` and `dst` have
// the shapes of its own, there is no bias. Arguments are DNNL_ARG_DIFF_DST and the two of SRC and
// WEIGHTS that are not asked for; results DNNL_ARG_DIFF_SRC and DNNL_ARG_DIFF_WEIGHTS.
MaybePrimitive convolution_input_gradient(const ConvolutionSpec& spec,
                                          const dnnl::primitive_attr& attr);
MaybePrimitive convolution_weight_gradient(const ConvolutionSpec& spec,
                                           const dnnl::primitive_attr& attr);
// Transposed convolution; `weights` has the dims [groups,] output, input, kernel...
MaybePrimitive deconvolution(const ConvolutionSpec& spec, const dnnl::primitive_attr& attr);

struct ProductSpec {
  Desc src, weights, bias, dst;
};
MaybePrimitive matmul(const ProductSpec& spec, const dnnl::primitive_attr& attr);
MaybePrimitive inner_product(const ProductSpec& spec, const dnnl::primitive_attr& attr);

struct PoolSpec {
  algorithm method = algorithm::pooling_max;
  Desc src, dst;
  Extents strides, kernel, dilations;  // dilations of 1 are dense
  Extents pads_begin, pads_end;
};
MaybePrimitive pooling(const PoolSpec& spec, const dnnl::primitive_attr& attr);

MaybePrimitive eltwise(algorithm op, float alpha, float beta, const Desc& data,
                       const dnnl::primitive_attr& attr);
MaybePrimitive binary(algorithm op, const Desc& a, const Desc& b, const Desc& dst,
                      const dnnl::primitive_attr& attr);
MaybePrimitive lrn(const Desc& data, int64_t size, float alpha, float beta, float bias,
                   const dnnl::primitive_attr& attr);
// Scale, shift, mean and variance are separate inputs of one dim.
MaybePrimitive batch_normalization(const Desc& data, float epsilon,
                                   const dnnl::primitive_attr& attr);
// Layer normalization over the last dim, with a scale and, `has_shift`, a shift.
MaybePrimitive layer_normalization(const Desc& data, const Desc& statistics, float epsilon,
                                   bool has_shift, const dnnl::primitive_attr& attr);
// The layout for elements of another type.
Desc with_type(const Desc& desc, memory::data_type type);
// The layout of `model` for a tensor of other dims; nullopt where it is none of the usual ones for
// activations.
std::optional<Desc> same_format(const Desc& model, const Extents& dims);
// Output o of an axis samples the input at (o + 1/2) * in / out - 1/2; "nearest" rounds half away
// from zero.
MaybePrimitive resampling(algorithm method, const Desc& src, const Desc& dst,
                          const dnnl::primitive_attr& attr);
MaybePrimitive reorder(const Desc& from, const Desc& to, const dnnl::primitive_attr& attr);

}  // namespace sardonyx::onednn
