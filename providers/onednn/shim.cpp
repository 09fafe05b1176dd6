#include "providers/onednn/shim.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "providers/cpu/tasks.h"
#include "providers/onednn/parts.h"
#include "providers/onednn/single_thread.h"
#include "providers/onednn/training.h"

#if DNNL_VERSION_MAJOR != 2
#error "this file speaks the API of oneDNN 2; another major version needs its own"
#endif

namespace sardonyx::onednn {
namespace {

// A primitive descriptor from the operation descriptor P::desc(args...).
template <typename P, typename... Args>
MaybePrimitive attempt(const dnnl::primitive_attr& attr, const Args&... args) {
  const SingleThread scope;
  try {
    const typename P::desc op(args...);
    const typename P::primitive_desc made(op, attr, cpu_engine(), /*allow_empty=*/true);
    if (!made) return std::nullopt;
    return Primitive(made);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return std::nullopt;
  }
}

// The same for those that have no operation descriptor.
template <typename P, typename... Args>
MaybePrimitive attempt_direct(const Args&... args) {
  const SingleThread scope;
  try {
    return Primitive(typename P::primitive_desc(args...));
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return std::nullopt;
  }
}

// ONNX counts the distance between taps, oneDNN 2 the gap between them.
Extents gaps(const Extents& dilations) {
  Extents result = dilations;
  for (auto& dilation : result)
    --dilation;
  return result;
}

bool is_dense(const Extents& dilations) {
  return std::all_of(dilations.begin(), dilations.end(), [](int64_t d) { return d == 1; });
}

// The offset of index `index` along `dim`, in elements.
int64_t offset_along(const dnnl_memory_desc_t& md, int dim, int64_t index) {
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  int64_t offset = 0, inner_stride = 1;
  for (int block = blocking.inner_nblks - 1; block >= 0; --block) {
    const int64_t size = blocking.inner_blks[block];
    if (blocking.inner_idxs[block] == dim) {
      offset += index % size * inner_stride;
      index /= size;
    }
    inner_stride *= size;
  }
  return offset + index * blocking.strides[dim];
}

}  // namespace

dnnl::primitive Primitive::make() const {
  const SingleThread scope;
  return dnnl::primitive(desc_.get());
}

bool Primitive::is_reference() const {
  return implementation().starts_with("ref");
}

bool Primitive::can_be_made() const {
  try {
    make();
    return true;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return false;
  }
}

const dnnl::engine& cpu_engine() {
  static const dnnl::engine& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

const dnnl::stream& thread_stream() {
  thread_local const dnnl::stream stream(cpu_engine());
  return stream;
}

memory::data_type data_type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return memory::data_type::f32;
    case DType::kFloat16:
      return memory::data_type::f16;
    case DType::kBFloat16:
      return memory::data_type::bf16;
    case DType::kInt32:
      return memory::data_type::s32;
    case DType::kInt8:
      return memory::data_type::s8;
    case DType::kUInt8:
      return memory::data_type::u8;
    default:
      return memory::data_type::undef;
  }
}

Desc plain_desc(memory::data_type type, const Extents& dims) {
  Extents strides(dims.size());
  int64_t stride = 1;
  for (size_t dim = dims.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= dims[dim];
  }
  return Desc(dims, type, strides);
}

Desc plain_desc(DType dtype, const Shape& shape) {
  return plain_desc(data_type_of(dtype), shape);
}

Desc transposed_desc(memory::data_type type, const Extents& dims) {
  Extents stored = dims;
  std::swap(stored[dims.size() - 2], stored[dims.size() - 1]);
  std::vector<int> exchanged(dims.size());
  std::iota(exchanged.begin(), exchanged.end(), 0);
  std::swap(exchanged[dims.size() - 2], exchanged[dims.size() - 1]);
  return plain_desc(type, stored).permute_axes(exchanged);
}

Desc strided_desc(memory::data_type type, const Extents& dims, const Extents& strides) {
  return Desc(dims, type, strides);
}

Desc blocked_desc(memory::data_type type, const Extents& dims) {
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b};
  return Desc(dims, type, kTags[dims.size() - 3]);
}

Desc channels_last_desc(memory::data_type type, const Extents& dims) {
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::acb, Tag::acdb, Tag::acdeb};
  return Desc(dims, type, kTags[dims.size() - 3]);
}

Desc any_desc(memory::data_type type, const Extents& dims) {
  return Desc(dims, type, memory::format_tag::any);
}

Desc any_desc(DType dtype, const Shape& shape) {
  return any_desc(data_type_of(dtype), shape);
}

bool is_blocked(const Desc& desc) {
  return desc.data.format_kind == dnnl_blocked;
}

bool is_row_major(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc) || md.extra.flags != dnnl_memory_extra_flag_none || md.offset0 != 0) {
    return false;
  }
  int64_t stride = 1;
  for (int dim = md.ndims - 1; dim >= 0; --dim) {
    if (md.dims[dim] != md.padded_dims[dim]) return false;
    for (int64_t index = 1; index < md.dims[dim]; ++index) {
      if (offset_along(md, dim, index) != index * stride) return false;
      if (md.format_desc.blocking.inner_nblks == 0) break;  // linear: one index tells all
    }
    stride *= md.dims[dim];
  }
  return true;
}

std::optional<Extents> plain_strides(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc) || md.extra.flags != dnnl_memory_extra_flag_none || md.offset0 != 0 ||
      md.format_desc.blocking.inner_nblks != 0 ||
      !std::equal(md.dims, md.dims + md.ndims, md.padded_dims)) {
    return std::nullopt;
  }
  const auto& strides = md.format_desc.blocking.strides;
  return Extents(strides, strides + md.ndims);
}

std::optional<BlockedForm> blocked_form(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc) || md.extra.flags != dnnl_memory_extra_flag_none || md.offset0 != 0 ||
      std::any_of(md.padded_offsets, md.padded_offsets + md.ndims, [](auto at) { return at != 0; }))
    return std::nullopt;
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  BlockedForm form{Extents(md.dims, md.dims + md.ndims),
                   Extents(md.padded_dims, md.padded_dims + md.ndims),
                   Extents(blocking.strides, blocking.strides + md.ndims),
                   {}};
  for (int i = 0; i < blocking.inner_nblks; ++i)
    form.inner.push_back({static_cast<size_t>(blocking.inner_idxs[i]), blocking.inner_blks[i]});
  return form;
}

int64_t block_of(const Desc& desc, size_t dim) {
  if (!is_blocked(desc)) return 1;
  const dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
  int64_t size = 1;
  for (int block = 0; block < blocking.inner_nblks; ++block) {
    if (blocking.inner_idxs[block] == static_cast<dnnl_dim_t>(dim))
      size *= blocking.inner_blks[block];
  }
  return size;
}

namespace {

// oneDNN knows a layout by its strides, so those of a part are to be the ones that a tensor of its
// size has, where it lies without gaps.
void close_gaps(Desc& part) {
  dnnl_memory_desc_t& md = part.data;
  dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  std::vector<int> order(static_cast<size_t>(md.ndims));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return blocking.strides[a] < blocking.strides[b]; });
  dnnl_dims_t strides;
  int64_t stride = 1;
  for (int block = 0; block < blocking.inner_nblks; ++block)
    stride *= blocking.inner_blks[block];
  for (const int dim : order) {
    const int64_t blocks = md.padded_dims[dim] / block_of(part, static_cast<size_t>(dim));
    if (blocks > 1 && blocking.strides[dim] != stride) return;
    strides[dim] = std::min(blocking.strides[dim], stride);
    stride *= blocks;
  }
  std::copy_n(strides, md.ndims, blocking.strides);
}

}  // namespace

std::optional<Slice> slice(const Desc& whole, size_t dim, int64_t begin, int64_t count) {
  if (!blocked_form(whole)) return std::nullopt;
  const dnnl_memory_desc_t& md = whole.data;
  const int64_t block = block_of(whole, dim), end = begin + count;
  const bool is_last = end == md.dims[dim];
  if (begin % block != 0 || (end % block != 0 && !is_last)) return std::nullopt;
  Slice part{whole, static_cast<size_t>(begin / block * md.format_desc.blocking.strides[dim]) *
                        memory::data_type_size(whole.data_type())};
  part.desc.data.dims[dim] = count;
  part.desc.data.padded_dims[dim] = is_last ? md.padded_dims[dim] - begin : count;
  close_gaps(part.desc);
  return part;
}

std::string layout_text(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc)) return "opaque";
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  std::vector<int> order(static_cast<size_t>(md.ndims));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  std::string text;
  for (const int dim : order) {
    bool is_split = false;
    for (int block = 0; block < blocking.inner_nblks; ++block) {
      is_split |= blocking.inner_idxs[block] == dim;
    }
    text += static_cast<char>((is_split ? 'A' : 'a') + dim);
  }
  for (int block = 0; block < blocking.inner_nblks; ++block) {
    text += std::to_string(blocking.inner_blks[block]);
    text += static_cast<char>('a' + blocking.inner_idxs[block]);
  }
  return text;
}

std::optional<Desc> without_sums(const Desc& desc) {
  const bool in_blocks = !is_blocked(desc) || desc.data.format_desc.blocking.inner_nblks > 0;
  if (desc.data.extra.flags == 0 || in_blocks) return std::nullopt;
  Desc plain = desc;
  plain.data.extra = {};
  return plain;
}

std::string fingerprint(const Desc& desc) {
  std::string out;
  const dnnl_memory_desc_t& md = desc.data;
  const auto add = [&](const auto* values, int count) {
    out.append(reinterpret_cast<const char*>(values), sizeof(*values) * static_cast<size_t>(count));
  };
  const bool is_blocks = md.format_kind == dnnl_blocked;
  const int blocks = is_blocks ? md.format_desc.blocking.inner_nblks : 0;
  const int heads[] = {md.data_type, md.format_kind, md.ndims, blocks};
  add(heads, 4);
  add(md.dims, md.ndims);
  add(md.padded_dims, md.ndims);
  add(md.padded_offsets, md.ndims);
  add(&md.offset0, 1);
  if (is_blocks) {
    const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
    add(blocking.strides, md.ndims);
    add(blocking.inner_blks, blocks);
    add(blocking.inner_idxs, blocks);
  } else {  // one of the opaque kinds, whose parameters fill the union from its start
    add(&md.format_desc, 1);
  }
  add(&md.extra, 1);
  return out;
}

dnnl::primitive_attr attributes(const PostOps& post_ops, float scale) {
  dnnl::post_ops list;
  for (const PostOp& op : post_ops) {
    switch (op.kind) {
      case PostOp::Kind::kEltwise:
        list.append_eltwise(1.0f, op.op, op.alpha, op.beta);
        break;
      case PostOp::Kind::kSum:
        list.append_sum();
        break;
      case PostOp::Kind::kBinary:
        list.append_binary(op.op, op.operand);
        break;
    }
  }
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(list);
  if (scale != 1) attr.set_output_scales(0, {scale});
  return attr;
}

dnnl::primitive_attr attributes(const IntegerScaling& scaling) {
  dnnl::primitive_attr attr = attributes(scaling.post_ops);
  const size_t count = scaling.scales.size();
  if (count > 1 || scaling.scales[0] != 1) {
    attr.set_output_scales(count > 1 ? 1 << scaling.scale_dim : 0, scaling.scales);
  }
  if (scaling.source_zero_at_run) {
    attr.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
  } else if (scaling.source_zero != 0) {
    attr.set_zero_points(DNNL_ARG_SRC, 0, {scaling.source_zero});
  }
  if (scaling.destination_zero != 0) {
    attr.set_zero_points(DNNL_ARG_DST, 0, {scaling.destination_zero});
  }
  return attr;
}

bool has_exact_byte_products() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx512_core_vnni:
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx:
      return true;
    default:
      return false;
  }
}

bool has_bfloat16() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx:
      return true;
    default:
      return false;
  }
}

namespace {
constexpr auto kInference = dnnl::prop_kind::forward_inference;
}

namespace {

// For wide windows on few channels oneDNN's first choice generates code for every column of the
// source: it takes a hundred times as long as a run, which the next in its list does as fast.
bool generates_by_column(const ConvolutionSpec& spec, const std::string& implementation) {
  constexpr int64_t kWide = 64, kFew = 8;
  const Extents weights = spec.weights.dims();
  const bool is_grouped = weights.size() > spec.src.dims().size();
  return implementation.starts_with("brgconv:") && weights.back() >= kWide &&
         weights[is_grouped ? 2 : 1] < kFew;
}

}  // namespace

MaybePrimitive convolution(const ConvolutionSpec& spec, const dnnl::primitive_attr& attr) {
  using Forward = dnnl::convolution_forward;
  const SingleThread scope;
  try {
    const Forward::desc op(kInference, spec.method, spec.src, spec.weights, spec.bias, spec.dst,
                           spec.strides, gaps(spec.dilations), spec.pads_begin, spec.pads_end);
    Forward::primitive_desc made(op, attr, cpu_engine(), /*allow_empty=*/true);
    if (!made) return std::nullopt;
    if (!generates_by_column(spec, made.impl_info_str())) return Primitive(made);
    Forward::primitive_desc other = made;
    const bool has_other = other.next_impl();
    return Primitive(has_other && !Primitive(other).is_reference() ? other : made);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return std::nullopt;
  }
}

MaybePrimitive convolution_of_new_weights(const ConvolutionSpec& spec,
                                          const dnnl::primitive_attr& attr) {
  return attempt<dnnl::convolution_forward>(
      attr, dnnl::prop_kind::forward_training, spec.method, spec.src, spec.weights, spec.bias,
      spec.dst, spec.strides, gaps(spec.dilations), spec.pads_begin, spec.pads_end);
}

namespace {

// oneDNN wants to be shown the forward primitive before it gives a backward one.
template <typename Backward>
MaybePrimitive convolution_gradient(const ConvolutionSpec& spec, const Desc& left,
                                    const Desc& right, const dnnl::primitive_attr& attr) {
  using Forward = dnnl::convolution_forward;
  const Extents skipped = gaps(spec.dilations);
  const SingleThread scope;
  try {
    const Forward::desc forward(dnnl::prop_kind::forward_training, spec.method, spec.src,
                                spec.weights, spec.dst, spec.strides, skipped, spec.pads_begin,
                                spec.pads_end);
    const Forward::primitive_desc shown(forward, cpu_engine(), /*allow_empty=*/true);
    if (!shown) return std::nullopt;
    const typename Backward::desc op(spec.method, left, right, spec.dst, spec.strides, skipped,
                                     spec.pads_begin, spec.pads_end);
    const typename Backward::primitive_desc made(op, attr, cpu_engine(), shown,
                                                 /*allow_empty=*/true);
    if (!made) return std::nullopt;
    return Primitive(made);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return std::nullopt;
  }
}

}  // namespace

MaybePrimitive convolution_input_gradient(const ConvolutionSpec& spec,
                                          const dnnl::primitive_attr& attr) {
  return convolution_gradient<dnnl::convolution_backward_data>(spec, spec.src, spec.weights, attr);
}

MaybePrimitive convolution_weight_gradient(const ConvolutionSpec& spec,
                                           const dnnl::primitive_attr& attr) {
  return convolution_gradient<dnnl::convolution_backward_weights>(spec, spec.src, spec.weights,
                                                                  attr);
}

MaybePrimitive deconvolution(const ConvolutionSpec& spec, const dnnl::primitive_attr& attr) {
  return attempt<dnnl::deconvolution_forward>(
      attr, kInference, algorithm::deconvolution_direct, spec.src, spec.weights, spec.bias,
      spec.dst, spec.strides, gaps(spec.dilations), spec.pads_begin, spec.pads_end);
}

MaybePrimitive matmul(const ProductSpec& spec, const dnnl::primitive_attr& attr) {
  if (spec.bias.is_zero()) {
    return attempt<dnnl::matmul>(attr, spec.src, spec.weights, spec.dst);
  }
  return attempt<dnnl::matmul>(attr, spec.src, spec.weights, spec.bias, spec.dst);
}

namespace {

// Rows and columns of the result that one of several parts of a product makes.
struct ProductPart {
  cpu::Portion rows, columns;
};

// Parts have as many of the rows, or of the columns if there are more.
ProductPart part_of(const MatrixProduct& p, int64_t part, int64_t parts) {
  constexpr int64_t kTogether = 16;
  ProductPart whole{{0, p.m}, {0, p.n}};
  (p.m > p.n ? whole.rows : whole.columns) =
      cpu::portion_of(std::max(p.m, p.n), kTogether, part, parts);
  return whole;
}

dnnl_status_t multiply_part(const MatrixProduct& p, const ProductPart& part) {
  const auto [row, last_row] = part.rows;
  const auto [column, last_column] = part.columns;
  if (row == last_row || column == last_column) return dnnl_success;
  const SingleThread scope;
  return dnnl::dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', last_row - row,
                          last_column - column, p.k, 1, p.a + (p.a_transposed ? row : row * p.k),
                          p.a_transposed ? p.m : p.k,
                          p.b + (p.b_transposed ? column * p.k : column),
                          p.b_transposed ? p.k : p.n, p.beta, p.c + row * p.n + column, p.n);
}

}  // namespace

void multiply(const MatrixProduct& product, int threads) {
  const double products = static_cast<double>(product.m) * static_cast<double>(product.n) *
                          static_cast<double>(product.k);
  const int64_t parts = threads_for(products, threads);
  std::atomic<dnnl_status_t> status = dnnl_success;
  cpu::for_each_task(parts, static_cast<int>(parts), cpu::kWorkBetweenLooks, [&](int64_t part) {
    const dnnl_status_t own = multiply_part(product, part_of(product, part, parts));
    if (own != dnnl_success) status.store(own, std::memory_order_relaxed);
  });
  if (status != dnnl_success) {
    fail(status == dnnl_out_of_memory ? ErrorCode::kResourceExhausted : ErrorCode::kInternal,
         "oneDNN: a product ended with status ", static_cast<int>(status.load()));
  }
}

MaybePrimitive inner_product(const ProductSpec& spec, const dnnl::primitive_attr& attr) {
  return attempt<dnnl::inner_product_forward>(attr, kInference, spec.src, spec.weights, spec.bias,
                                              spec.dst);
}

MaybePrimitive pooling(const PoolSpec& spec, const dnnl::primitive_attr& attr) {
  if (is_dense(spec.dilations)) {
    return attempt<dnnl::pooling_forward>(attr, kInference, spec.method, spec.src, spec.dst,
                                          spec.strides, spec.kernel, spec.pads_begin,
                                          spec.pads_end);
  }
  return attempt<dnnl::pooling_v2_forward>(attr, kInference, spec.method, spec.src, spec.dst,
                                           spec.strides, spec.kernel, gaps(spec.dilations),
                                           spec.pads_begin, spec.pads_end);
}

MaybePrimitive eltwise(algorithm op, float alpha, float beta, const Desc& data,
                       const dnnl::primitive_attr& attr) {
  return attempt<dnnl::eltwise_forward>(attr, kInference, op, data, alpha, beta);
}

MaybePrimitive binary(algorithm op, const Desc& a, const Desc& b, const Desc& dst,
                      const dnnl::primitive_attr& attr) {
  return attempt<dnnl::binary>(attr, op, a, b, dst);
}

MaybePrimitive lrn(const Desc& data, int64_t size, float alpha, float beta, float bias,
                   const dnnl::primitive_attr& attr) {
  return attempt<dnnl::lrn_forward>(attr, kInference, algorithm::lrn_across_channels, data, size,
                                    alpha, beta, bias);
}

MaybePrimitive batch_normalization(const Desc& data, float epsilon,
                                   const dnnl::primitive_attr& attr) {
  using dnnl::normalization_flags;
  return attempt<dnnl::batch_normalization_forward>(attr, kInference, data, epsilon,
                                                    normalization_flags::use_global_stats |
                                                        normalization_flags::use_scale |
                                                        normalization_flags::use_shift);
}

MaybePrimitive layer_normalization(const Desc& data, const Desc& statistics, float epsilon,
                                   bool has_shift, const dnnl::primitive_attr& attr) {
  using dnnl::normalization_flags;
  auto flags = normalization_flags::use_scale;
  if (has_shift) flags = flags | normalization_flags::use_shift;
  return attempt<dnnl::layer_normalization_forward>(attr, kInference, data, statistics, epsilon,
                                                    flags);
}

Desc with_type(const Desc& desc, memory::data_type type) {
  Desc typed = desc;
  typed.data.data_type = static_cast<dnnl_data_type_t>(type);
  return typed;
}

std::optional<Desc> same_format(const Desc& model, const Extents& dims) {
  if (is_row_major(model)) return plain_desc(model.data_type(), dims);
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::abc,   Tag::acb,   Tag::aBc8b,   Tag::aBc16b,
                                  Tag::abcd,  Tag::acdb,  Tag::aBcd8b,  Tag::aBcd16b,
                                  Tag::abcde, Tag::acdeb, Tag::aBcde8b, Tag::aBcde16b};
  for (const Tag tag : kTags) {
    const Desc tried(model.dims(), model.data_type(), tag, /*allow_empty=*/true);
    if (tried && tried == model) return Desc(dims, model.data_type(), tag);
  }
  return std::nullopt;
}

MaybePrimitive resampling(algorithm method, const Desc& src, const Desc& dst,
                          const dnnl::primitive_attr& attr) {
  return attempt<dnnl::resampling_forward>(attr, kInference, method, src, dst);
}

MaybePrimitive reorder(const Desc& from, const Desc& to, const dnnl::primitive_attr& attr) {
  return attempt_direct<dnnl::reorder>(cpu_engine(), from, cpu_engine(), to, attr);
}

}  // namespace sardonyx::onednn
