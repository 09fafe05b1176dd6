#include "providers/onednn/primitive/api.h"

#include <algorithm>
#include <atomic>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/onednn/primitive/partition.h"
#include "providers/onednn/primitive/single_thread.h"
#include "providers/onednn/training.h"

#if DNNL_VERSION_MAJOR != 2
#error "this file speaks the API of oneDNN 2; another major version needs its own"
#endif

namespace sardonyx::onednn {
namespace {

// The primitive that `make` gives; nullopt where oneDNN has none for these descriptors.
template <typename Make>
MaybePrimitive unless_refused(const Make& make) {
  const SingleThread scope;
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return std::nullopt;
  }
}

// A primitive descriptor from the operation descriptor P::desc(args...).
template <typename P, typename... Args>
MaybePrimitive attempt(const dnnl::primitive_attr& attr, const Args&... args) {
  return unless_refused([&]() -> MaybePrimitive {
    const typename P::desc op(args...);
    const typename P::primitive_desc made(op, attr, cpu_engine(), /*allow_empty=*/true);
    if (!made) return std::nullopt;
    return Primitive(made);
  });
}

// attempt() for primitives without an operation descriptor.
template <typename P, typename... Args>
MaybePrimitive attempt_direct(const Args&... args) {
  return unless_refused(
      [&]() -> MaybePrimitive { return Primitive(typename P::primitive_desc(args...)); });
}

// The next implementation in oneDNN's list, or its first choice if the next one is not vectorised.
template <typename Description>
Primitive next_choice(const Description& made) {
  Description next = made;
  const bool has_next = next.next_impl();
  return Primitive(has_next && !Primitive(next).is_reference() ? next : made);
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

}  // namespace

Primitive::Primitive(dnnl::primitive_desc_base desc) : desc_(std::move(desc)) {
  int kept_by_others = 0;
  library().dnnl_get_primitive_cache_capacity(&kept_by_others);
  if (kept_by_others > 0) made_ = make();
}

dnnl::primitive Primitive::make() const {
  if (made_) return made_;
  const SingleThread scope;
  return dnnl::primitive(desc_.get());
}

bool Primitive::is_reference() const {
  return implementation().starts_with("ref");
}

bool Primitive::can_be_made() {
  try {
    made_ = make();
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

// Whether the implementation generates code for every column of the source, as oneDNN's first
// choice does for wide windows on few channels. That takes a hundred times as long as a run, and
// the next implementation in its list runs as fast.
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
  return unless_refused([&]() -> MaybePrimitive {
    const Forward::desc op(kInference, spec.method, spec.src, spec.weights, spec.bias, spec.dst,
                           spec.strides, gaps(spec.dilations), spec.pads_begin, spec.pads_end);
    const Forward::primitive_desc made(op, attr, cpu_engine(), /*allow_empty=*/true);
    if (!made) return std::nullopt;
    return generates_by_column(spec, made.impl_info_str()) ? next_choice(made) : Primitive(made);
  });
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
  return unless_refused([&]() -> MaybePrimitive {
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
  });
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

namespace {

// oneDNN's first choice takes a transposed source as a whole only: the parts that threads take
// would be made by the next in its list, which adds up in another order. Both take about as long.
bool takes_whole_source_only(const ProductSpec& spec, const std::string& implementation) {
  return implementation.starts_with("brg:") &&
         spec.src.data_type() == dnnl::memory::data_type::f32 && !is_row_major(spec.src) &&
         plain_strides(spec.src) && plain_strides(spec.src)->back() != 1;
}

}  // namespace

MaybePrimitive matmul(const ProductSpec& spec, const dnnl::primitive_attr& attr) {
  return unless_refused([&]() -> MaybePrimitive {
    const dnnl::matmul::desc op =
        spec.bias.is_zero() ? dnnl::matmul::desc(spec.src, spec.weights, spec.dst)
                            : dnnl::matmul::desc(spec.src, spec.weights, spec.bias, spec.dst);
    const dnnl::matmul::primitive_desc made(op, attr, cpu_engine(), /*allow_empty=*/true);
    if (!made) return std::nullopt;
    return takes_whole_source_only(spec, made.impl_info_str()) ? next_choice(made)
                                                               : Primitive(made);
  });
}

namespace {

// Rows and columns of the result that one of several parts of a product makes.
struct MatMulPart {
  cpu::IndexRange rows, columns;
};

// Splits the longer of rows and columns evenly, in multiples of 16.
MatMulPart part_of(const MatrixProduct& p, int64_t part, int64_t parts) {
  constexpr int64_t kSplitUnit = 16;
  MatMulPart whole{{0, p.m}, {0, p.n}};
  (p.m > p.n ? whole.rows : whole.columns) =
      cpu::split_range(std::max(p.m, p.n), kSplitUnit, part, parts);
  return whole;
}

dnnl_status_t multiply_part(const MatrixProduct& p, const MatMulPart& part) {
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
  const int64_t parts =
      gemm_sums_depend_on_extents() ? fixed_parts_for(products) : threads_for(products, threads);
  std::atomic<dnnl_status_t> status = dnnl_success;
  cpu::for_each_task(parts, static_cast<int>(std::min<int64_t>(parts, threads)), cpu::kWorkPerPoll,
                     [&](int64_t part) {
                       const dnnl_status_t own =
                           multiply_part(product, part_of(product, part, parts));
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

MaybePrimitive resampling(algorithm method, const Desc& src, const Desc& dst,
                          const dnnl::primitive_attr& attr) {
  return attempt<dnnl::resampling_forward>(attr, kInference, method, src, dst);
}

MaybePrimitive reorder(const Desc& from, const Desc& to, const dnnl::primitive_attr& attr) {
  return attempt_direct<dnnl::reorder>(cpu_engine(), from, cpu_engine(), to, attr);
}

}  // namespace sardonyx::onednn
