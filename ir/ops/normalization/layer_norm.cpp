// Normalizations along the last axes or along one axis: LayerNormalization, RMSNormalization,
// LpNormalization.
#include <cmath>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/gradient/function_bodies.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/normalization/batch_group_norm.h"
#include "ir/ops/normalization/normalization_gradient.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

namespace {

// `input` must broadcast to the shape of input 0, which keeps its shape.
void require_broadcasts(InferContext& c, size_t input) {
  const Dims* x = c.shape(0);
  const Dims* shape = c.shape(input);
  if (!x || !shape) return;
  const bool fits = shape->size() <= x->size();
  for (size_t i = 0; fits && i < shape->size(); ++i) {
    const Dim& size = (*shape)[shape->size() - 1 - i];
    const Dim& whole = (*x)[x->size() - 1 - i];
    if (!size.is_known() || size == 1 || !whole.is_known() || size == whole) continue;
    c.fail_input(input, "does not broadcast to the shape of the input, ", to_text(*x));
  }
  if (!fits) c.fail_input(input, "has more dims than the input, ", to_text(*x));
}

void infer_rows(InferContext& c) {
  const auto& attrs = c.attrs<LayerNormalizationAttrs>();
  c.require(kFloats.has(attrs.stash_type), "stash_type: expected a floating type, got ",
            attrs.stash_type);
  if (const auto rank = rank_of(c, 0)) c.normalized_axis(attrs.axis, *rank);
  for (size_t input = 1; input < c.input_count(); ++input)
    require_broadcasts(c, input);
}

void infer_layer_normalization(InferContext& c) {
  infer_rows(c);
  same_as_first(c);
  const auto& attrs = c.attrs<LayerNormalizationAttrs>();
  if (c.output_count() > 1) {
    c.require(attrs.stash_type == DType::kFloat || attrs.stash_type == DType::kBFloat16,
              "stash_type: Mean and InvStdDev are float or bfloat16, got ", attrs.stash_type);
  }
  std::optional<Dims> statistics = shape_of(c, 0);
  if (statistics) {
    const int64_t axis = c.normalized_axis(attrs.axis, statistics->size());
    for (size_t i = static_cast<size_t>(axis); i < statistics->size(); ++i)
      (*statistics)[i] = 1;
  }
  c.set(1, attrs.stash_type, statistics);
  c.set(2, attrs.stash_type, statistics);
}

void infer_rms_normalization(InferContext& c) {
  infer_rows(c);
  c.set(0, c.dtype(1), shape_of(c, 0));
}

// The rows that statistics are taken of, and what they give.
struct Rows {
  int64_t count = 1, length = 1;
  std::vector<double> mean, inverse;  // of each row; y = (x - mean) * inverse

  Rows(std::span<const int64_t> shape, int64_t axis) {
    const size_t first = axis_of(axis, shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      (i < first ? count : length) *= shape[i];
  }
};

template <typename T>
void measure(Rows& rows, const T* x, bool is_centered, double epsilon) {
  int64_t since_look = kElementsInPiece;
  for (int64_t row = 0; row < rows.count; ++row) {
    if ((since_look += rows.length) > kElementsInPiece) {
      check_interrupted();
      since_look = 0;
    }
    const T* begin = x + row * rows.length;
    const auto length = static_cast<double>(rows.length);
    double mean = 0, squares = 0;
    if (is_centered) {
      for (int64_t i = 0; i < rows.length; ++i)
        mean += widened(begin[i]);
      mean /= length;
    }
    for (int64_t i = 0; i < rows.length; ++i) {
      const double distance = widened(begin[i]) - mean;
      squares += distance * distance;
    }
    rows.mean.push_back(mean);
    rows.inverse.push_back(1 / std::sqrt(squares / length + epsilon));
  }
}

// y = (x - mean) * inverse * scale + bias, where scale and bias broadcast to x.
template <typename T, typename S>
void apply(const KernelCall& call, const Rows& rows) {
  const bool has_bias = call.has(2);
  const TensorView &x = call.inputs[0], &scale = call.inputs[1];
  const TensorView& bias = has_bias ? call.inputs[2] : scale;
  const std::span<const int64_t> shapes[] = {scale.shape, bias.shape};
  const RowWalk walk = broadcast_walk(x.shape, shapes);
  walk.for_each([&](const int64_t* offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = offsets[0] + i;
      const auto row = static_cast<size_t>(at / rows.length);
      const double normal = (widened(x.data<T>()[at]) - rows.mean[row]) * rows.inverse[row];
      double value = normal * widened(scale.data<S>()[offsets[1] + i * walk.step(1)]);
      if (has_bias) value += widened(bias.data<S>()[offsets[2] + i * walk.step(2)]);
      call.outputs[0].data<S>()[at] = narrowed<S>(value);
    }
  });
}

void store(const TensorView& out, const std::vector<double>& values) {
  dispatch_floats(out.dtype, [&]<typename T>() {
    for (size_t i = 0; i < values.size(); ++i)
      out.data<T>()[i] = narrowed<T>(values[i]);
  });
}

void reference_layer_normalization(const KernelCall& call) {
  const auto& attrs = call.attrs<LayerNormalizationAttrs>();
  Rows rows(call.inputs[0].shape, attrs.axis);
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() {
    measure(rows, call.inputs[0].data<T>(), true, attrs.epsilon);
    apply<T, T>(call, rows);
  });
  if (call.wants(1)) store(call.outputs[1], rows.mean);
  if (call.wants(2)) store(call.outputs[2], rows.inverse);
}

void reference_rms_normalization(const KernelCall& call) {
  const auto& attrs = call.attrs<LayerNormalizationAttrs>();
  Rows rows(call.inputs[0].shape, attrs.axis);
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() {
    measure(rows, call.inputs[0].data<T>(), false, attrs.epsilon);
    dispatch_floats(call.inputs[1].dtype, [&]<typename S>() { apply<T, S>(call, rows); });
  });
}

// LpNormalization

void infer_lp_normalization(InferContext& c) {
  const auto& attrs = c.attrs<LpNormalizationAttrs>();
  c.require(attrs.p == 1 || attrs.p == 2, "p: expected 1 or 2, got ", attrs.p);
  if (const auto rank = rank_of(c, 0)) c.normalized_axis(attrs.axis, *rank);
  same_as_first(c);
}

// Rows of norm 0 stay 0.
void reference_lp_normalization(const KernelCall& call) {
  const auto& attrs = call.attrs<LpNormalizationAttrs>();
  const TensorView& x = call.inputs[0];
  const AxisSplit split = split_at(x.shape, axis_of(attrs.axis, x.rank()));
  int64_t since_look = kElementsInPiece;
  dispatch_floats(x.dtype, [&]<typename T>() {
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        if ((since_look += split.size) > kElementsInPiece) {
          check_interrupted();
          since_look = 0;
        }
        const int64_t begin = outer * split.size * split.inner + inner;
        const T* in = x.data<T>() + begin;
        T* out = call.outputs[0].data<T>() + begin;
        double norm = 0;
        for (int64_t i = 0; i < split.size; ++i) {
          const double value = widened(in[i * split.inner]);
          norm += attrs.p == 1 ? std::abs(value) : value * value;
        }
        if (attrs.p == 2) norm = std::sqrt(norm);
        for (int64_t i = 0; i < split.size; ++i) {
          const double value = widened(in[i * split.inner]);
          out[i * split.inner] = narrowed<T>(norm == 0 ? 0 : value / norm);
        }
      }
    }
  });
}

std::vector<Sample> layer_samples() {
  return {{.inputs = {{{2, 3, 4}}, {{4}}, {{4}}}, .outputs = 3},
          {.inputs = {{{2, 3, 4}}, {{3, 4}}}, .attrs = {{"axis", int64_t{1}}, {"epsilon", 0.1f}}},
          {.inputs = {{{2, 3, 4}}, {{3, 1}}, {{}}}, .attrs = {{"axis", int64_t{0}}}},
          {.inputs = {{{0, 4}}, {{4}}, {{4}}}}};
}

std::vector<Sample> rms_samples() {
  return {{{{{2, 3, 4}}, {{4}}}},
          {{{{2, 3, 4}}, {{3, 4}}}, {{"axis", int64_t{-2}}, {"epsilon", 0.1f}}}};
}

std::vector<Sample> lp_samples() {
  return {{{{{2, 3, 4}}}}, {{{{3, 5}}}, {{"axis", int64_t{0}}, {"p", int64_t{1}}}}};
}

const OpDef kRowNormalizationOps[] = {
    {.name = "LayerNormalization",
     .doc = "X made of mean 0 and variance 1 over the axes from `axis` on, times Scale plus B; "
            "mean and 1 / deviation come as well.",
     .since = 17,
     .signature = "(X: T, Scale: T, B?: T) -> (Y: T, Mean?: U, InvStdDev?: U)",
     .types = {{"T", kFloats}, {"U", DTypeSet{DType::kFloat, DType::kBFloat16}}},
     .attrs = attr_schema<LayerNormalizationAttrs>(),
     .infer = infer_layer_normalization,
     .reference = reference_layer_normalization,
     .body = layer_normalization_body,
     .grad = layer_normalization_grad,
     .facts = kFloat32InMixed | kFloat32Kernels | kIgnoresConstants,
     .samples = layer_samples},
    {.name = "RMSNormalization",
     .doc = "X divided by its root mean square over the axes from `axis` on, times scale.",
     .since = 23,
     .signature = "(X: T, scale: V) -> (Y: V)",
     .types = {{"T", kFloats}, {"V", kFloats}},
     .attrs = attr_schema<LayerNormalizationAttrs>(),
     .infer = infer_rms_normalization,
     .reference = reference_rms_normalization,
     .body = rms_normalization_body,
     .grad = rms_normalization_grad,
     .facts = kFloat32InMixed | kIgnoresConstants,
     .samples = rms_samples},
    {.name = "LpNormalization",
     .doc = "X divided by its norm of order p (1 or 2) along `axis`.",
     .since = 22,
     .signature = "(input: T) -> (output: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<LpNormalizationAttrs>(),
     .infer = infer_lp_normalization,
     .reference = reference_lp_normalization,
     .grad = lp_normalization_grad,
     .facts = kFloat32InMixed,
     .samples = lp_samples},
};

}  // namespace

std::span<const OpDef> row_normalization_ops() {
  return kRowNormalizationOps;
}

}  // namespace sardonyx::ops
