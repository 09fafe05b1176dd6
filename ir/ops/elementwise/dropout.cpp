// Dropout.
#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/core/random.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/normalization/normalization_gradient.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/elementwise.h"

namespace sardonyx::ops {
namespace {

struct DropoutAttrs {
  std::optional<int64_t> seed;
  static auto fields() { return std::tuple{field("seed", &DropoutAttrs::seed)}; }
};

void infer_dropout(InferContext& c) {
  same_as_first(c);
  c.set(1, DType::kBool, shape_of(c, 0));
  for (const size_t scalar : {1, 2}) {
    if (c.has(scalar)) require_single(c, scalar);
  }
  if (const Tensor* ratio = c.constant(1); ratio && ratio->count() == 1) {
    const double value = ratio->to_doubles()[0];
    c.require(value >= 0 && value < 1, "ratio: expected a number in [0, 1), got ", value);
  }
}

// Kept with probability 1 - ratio and then scaled by its inverse.
void drop(const KernelCall& call, double ratio) {
  const std::optional<int64_t> seed = call.attrs<DropoutAttrs>().seed;
  const RandomStream random =
      next_random_stream(seed ? std::optional(static_cast<float>(*seed)) : std::nullopt);
  const TensorView& data = call.inputs[0];
  bool* mask = call.wants(1) ? call.outputs[1].data<bool>() : nullptr;
  dispatch_domain(data.dtype, [&]<typename C>() {
    constexpr int64_t kPiece = 1024;
    const auto scale = static_cast<C>(1 / (1 - ratio));
    C piece[kPiece];
    double uniforms[kPiece];
    for (int64_t begin = 0; begin < data.count(); begin += kPiece) {
      check_interrupted();
      const int64_t length = std::min(kPiece, data.count() - begin);
      load_numbers(data.dtype, data.raw, begin, 1, length, piece);
      random.uniforms(static_cast<uint64_t>(begin), static_cast<size_t>(length), uniforms);
      for (int64_t i = 0; i < length; ++i) {
        const bool kept = uniforms[i] >= ratio;
        const C either[] = {C{0}, static_cast<C>(piece[i] * scale)};  // no branch to be guessed
        piece[i] = either[kept];
        if (mask) mask[begin + i] = kept;
      }
      store_numbers(data.dtype, call.outputs[0].raw, begin, length, piece);
    }
  });
}

void dropout(const KernelCall& call) {
  const bool training = call.has(2) && *call.inputs[2].data<const bool>();
  double ratio = 0.5;
  if (call.has(1)) load_numbers(call.inputs[1].dtype, call.inputs[1].raw, 0, 1, 1, &ratio);
  if (training && !(ratio >= 0 && ratio < 1)) {
    fail(ErrorCode::kInvalidArgument, "Dropout: ratio: expected a number in [0, 1), got ", ratio);
  }
  if (training && ratio > 0) return drop(call, ratio);
  const TensorView& data = call.inputs[0];
  if (const size_t bytes = bytes_for(data.dtype, data.count())) {
    std::memcpy(call.outputs[0].raw, data.raw, bytes);
  }
  if (call.wants(1)) std::fill_n(call.outputs[1].data<bool>(), data.count(), true);
}

std::vector<Sample> dropout_samples() {
  const SampleInput data{.shape = {2, 3, 4}};
  const SampleInput half{.shape = {}, .low = 0.5, .high = 0.5};
  const SampleInput zero{.shape = {}, .low = 0, .high = 0};
  const SampleInput no{.value = Tensor::scalar(false)}, yes{.value = Tensor::scalar(true)};
  return {{.inputs = {data}},
          {.inputs = {data, half}, .outputs = 2},
          {.inputs = {data, half, no}, .outputs = 2},
          {.inputs = {data, zero, yes}, .outputs = 2},
          {.inputs = {{.shape = {0}}, half, yes}, .outputs = 2}};
}

const OpDef kDropoutOps[] = {
    {.name = "Dropout",
     .doc = "In training mode zeros at random places, a share `ratio` of them, and the others "
            "scaled by 1 / (1 - ratio); else the data. The mask (bool) says what was kept.",
     .since = 22,
     .signature = "(data: T, ratio?: T1, training_mode?: T2) -> (output: T, mask?: T2)",
     .types = {{"T", kFloats | kFloat8s}, {"T1", kFloats | kFloat8s}, {"T2", DType::kBool}},
     .attrs = attr_schema<DropoutAttrs>(),
     .infer = infer_dropout,
     .reference = dropout,
     .grad = dropout_grad,
     .facts = kRandom,
     .samples = dropout_samples},
};

}  // namespace

std::span<const OpDef> dropout_ops() {
  return kDropoutOps;
}

}  // namespace sardonyx::ops
