#include "ir/core/random.h"

#include <algorithm>
#include <cmath>

#include "ir/core/dtype_convert.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

constexpr int64_t kDrawnAtATime = 1024;  // elements made at a time

struct RandomNormalAttrs {
  DType dtype = DType::kFloat;
  float mean = 0;
  float scale = 1;
  std::optional<float> seed;
  Shape shape;
  static auto fields() {
    return std::tuple{
        field("dtype", &RandomNormalAttrs::dtype), field("mean", &RandomNormalAttrs::mean),
        field("scale", &RandomNormalAttrs::scale), field("seed", &RandomNormalAttrs::seed),
        required("shape", &RandomNormalAttrs::shape)};
  }
};
struct RandomNormalLikeAttrs {
  std::optional<DType> dtype;
  float mean = 0;
  float scale = 1;
  std::optional<float> seed;
  static auto fields() {
    return std::tuple{
        field("dtype", &RandomNormalLikeAttrs::dtype), field("mean", &RandomNormalLikeAttrs::mean),
        field("scale", &RandomNormalLikeAttrs::scale), field("seed", &RandomNormalLikeAttrs::seed)};
  }
};
struct RandomUniformAttrs {
  DType dtype = DType::kFloat;
  float high = 1;
  float low = 0;
  std::optional<float> seed;
  Shape shape;
  static auto fields() {
    return std::tuple{
        field("dtype", &RandomUniformAttrs::dtype), field("high", &RandomUniformAttrs::high),
        field("low", &RandomUniformAttrs::low), field("seed", &RandomUniformAttrs::seed),
        required("shape", &RandomUniformAttrs::shape)};
  }
};
struct RandomUniformLikeAttrs {
  std::optional<DType> dtype;
  float high = 1;
  float low = 0;
  std::optional<float> seed;
  static auto fields() {
    return std::tuple{field("dtype", &RandomUniformLikeAttrs::dtype),
                      field("high", &RandomUniformLikeAttrs::high),
                      field("low", &RandomUniformLikeAttrs::low),
                      field("seed", &RandomUniformLikeAttrs::seed)};
  }
};
struct BernoulliAttrs {
  std::optional<DType> dtype;
  std::optional<float> seed;
  static auto fields() {
    return std::tuple{field("dtype", &BernoulliAttrs::dtype), field("seed", &BernoulliAttrs::seed)};
  }
};
struct MultinomialAttrs {
  DType dtype = DType::kInt32;
  int64_t sample_size = 1;
  std::optional<float> seed;
  static auto fields() {
    return std::tuple{field("dtype", &MultinomialAttrs::dtype),
                      field("sample_size", &MultinomialAttrs::sample_size),
                      field("seed", &MultinomialAttrs::seed)};
  }
};

template <typename A>
void infer_from_shape(InferContext& c) {
  const A& attrs = c.attrs<A>();
  for (const int64_t dim : attrs.shape) {
    c.require(dim >= 0, "shape: negative dimension in ", to_text(attrs.shape));
  }
  c.set(0, require_dtype(c, attrs.dtype, "T", "dtype"), to_dims(attrs.shape));
}

template <typename A>
void infer_like(InferContext& c) {
  const DType dtype = c.attrs<A>().dtype.value_or(c.dtype(0));
  c.set(0, require_dtype(c, dtype, "T2", "dtype"), shape_of(c, 0));
}

// Draws with `draw` (uniforms or normals of the stream), piece by piece; change(first index, drawn
// numbers, count) makes the elements of them in place.
using Draw = void (RandomStream::*)(uint64_t, size_t, double*) const;
template <typename Change>
void fill_drawn(const TensorView& out, const RandomStream& random, Draw draw,
                const Change& change) {
  double piece[kDrawnAtATime];
  for (int64_t begin = 0; begin < out.count(); begin += kDrawnAtATime) {
    check_interrupted();
    const int64_t length = std::min(kDrawnAtATime, out.count() - begin);
    (random.*draw)(static_cast<uint64_t>(begin), static_cast<size_t>(length), piece);
    change(begin, piece, length);
    store_numbers(out.dtype, out.raw, begin, length, piece);
  }
}

// The same, with scale * drawn + start for all.
void fill_drawn(const TensorView& out, const RandomStream& random, Draw draw, double scale,
                double start) {
  fill_drawn(out, random, draw, [&](int64_t, double* piece, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      piece[i] = start + scale * piece[i];
  });
}

template <typename A>
void random_normal(const KernelCall& call) {
  const A& attrs = call.attrs<A>();
  fill_drawn(call.outputs[0], next_random_stream(attrs.seed), &RandomStream::normals, attrs.scale,
             attrs.mean);
}

template <typename A>
void random_uniform(const KernelCall& call) {
  const A& attrs = call.attrs<A>();
  fill_drawn(call.outputs[0], next_random_stream(attrs.seed), &RandomStream::uniforms,
             static_cast<double>(attrs.high) - attrs.low, attrs.low);
}

// 1 with the probability that the input gives.
void bernoulli(const KernelCall& call) {
  const TensorView& input = call.inputs[0];
  const RandomStream random = next_random_stream(call.attrs<BernoulliAttrs>().seed);
  constexpr double kEither[] = {0, 1};  // no branch to be guessed
  double probabilities[kDrawnAtATime];
  fill_drawn(call.outputs[0], random, &RandomStream::uniforms,
             [&](int64_t begin, double* piece, int64_t length) {
               load_numbers(input.dtype, input.raw, begin, 1, length, probabilities);
               for (int64_t i = 0; i < length; ++i)
                 piece[i] = kEither[piece[i] < probabilities[i]];
             });
}

void infer_multinomial(InferContext& c) {
  const auto& attrs = c.attrs<MultinomialAttrs>();
  c.require_rank(0, 2);
  c.require(attrs.sample_size > 0, "sample_size: expected a positive number, got ",
            attrs.sample_size);
  if (const Dims* shape = c.shape(0)) {
    c.require(!((*shape)[1] == 0), "there must be at least one outcome to choose from");
  }
  c.set(0, require_dtype(c, attrs.dtype, "T2", "dtype"),
        Dims{c.shape(0) ? (*c.shape(0))[0] : c.unknown(), attrs.sample_size});
}

// The running sums of exp(log-probability), scaled so that the greatest term is 1.
std::pmr::vector<double> cumulative_weights(const TensorView& input, int64_t row) {
  const int64_t classes = input.shape[1];
  std::pmr::vector<double> weights(static_cast<size_t>(classes), scratch());
  load_numbers(input.dtype, input.raw, row * classes, 1, classes, weights.data());
  const double greatest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (i % (1 << 14) == 0) check_interrupted();
    weights[i] = sum += std::exp(weights[i] - greatest);
  }
  return weights;
}

// The first whose running sum is above `target`, the last one where none is. Half of what is left
// is passed over without a branch, which could not be foreseen.
int64_t outcome_of(std::span<const double> sums, double target) {
  const double* from = sums.data();
  size_t left = sums.size();
  while (left > 1) {
    const size_t half = left / 2;
    from += target < from[half - 1] ? 0 : half;
    left -= half;
  }
  return from - sums.data();
}

void multinomial(const KernelCall& call) {
  const auto& attrs = call.attrs<MultinomialAttrs>();
  const RandomStream random = next_random_stream(attrs.seed);
  const TensorView& out = call.outputs[0];
  for (int64_t row = 0; row < out.shape[0]; ++row) {
    check_interrupted();
    const ScratchMark mark;
    const std::pmr::vector<double> sums = cumulative_weights(call.inputs[0], row);
    constexpr int64_t kPiece = 256;
    double uniforms[kPiece];
    int64_t outcomes[kPiece];
    for (int64_t i = 0; i < attrs.sample_size; i += kPiece) {
      check_interrupted();
      const int64_t count = std::min(kPiece, attrs.sample_size - i);
      const int64_t at = row * attrs.sample_size + i;
      random.uniforms(static_cast<uint64_t>(at), static_cast<size_t>(count), uniforms);
      for (int64_t k = 0; k < count; ++k)
        outcomes[k] = outcome_of(sums, uniforms[k] * sums.back());
      store_numbers(out.dtype, out.raw, at, count, outcomes);
    }
  }
}

std::vector<Sample> shape_samples() {
  std::vector<Sample> samples;
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0, 4}}) {
    samples.push_back({.attrs = {{"shape", shape}, {"seed", 3.0f}}});
  }
  samples.push_back({.attrs = {{"shape", Shape{5}}, {"seed", 1.0f}, {"dtype", int64_t{11}}}});
  return samples;
}

std::vector<Sample> like_samples() {
  std::vector<Sample> samples;
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0, 4}}) {
    samples.push_back({.inputs = {{.shape = shape, .low = 0, .high = 1}},
                       .attrs = {{"seed", 3.0f}},
                       .only = kFloats});
  }
  samples.push_back({.inputs = {{.shape = {4}, .low = 0, .high = 1}},
                     .attrs = {{"seed", 3.0f}, {"dtype", int64_t{1}}}});
  return samples;
}

std::vector<Sample> multinomial_samples() {
  return {{.inputs = {{.shape = {2, 5}}}, .attrs = {{"seed", 1.0f}}},
          {.inputs = {{.shape = {3, 1}}},
           .attrs = {{"seed", 1.0f}, {"sample_size", int64_t{4}}, {"dtype", int64_t{7}}}},
          {.inputs = {{.shape = {0, 3}}}, .attrs = {{"seed", 1.0f}}}};
}

OpDef from_shape(std::string_view name, const AttrSchema* attrs, void (*infer)(InferContext&),
                 void (*reference)(const KernelCall&)) {
  return {.name = name,
          .since = 22,
          .signature = "() -> (output: T)",
          .types = {{"T", kFloats}},
          .attrs = attrs,
          .infer = infer,
          .reference = reference,
          .facts = kRandom,
          .samples = shape_samples};
}

OpDef like_input(std::string_view name, const AttrSchema* attrs, void (*infer)(InferContext&),
                 void (*reference)(const KernelCall&)) {
  return {.name = name,
          .since = 22,
          .signature = "(input: T1) -> (output: T2)",
          .types = {{"T1", kClassicTypes | DType::kBFloat16}, {"T2", kFloats}},
          .attrs = attrs,
          .infer = infer,
          .reference = reference,
          .facts = kRandom,
          .samples = like_samples};
}

}  // namespace

std::span<const OpDef> random_ops() {
  static const OpDef rows[] = {
      from_shape("RandomNormal", attr_schema<RandomNormalAttrs>(),
                 infer_from_shape<RandomNormalAttrs>, random_normal<RandomNormalAttrs>)
          .documented("A tensor of the attribute's shape with normally distributed elements."),
      from_shape("RandomUniform", attr_schema<RandomUniformAttrs>(),
                 infer_from_shape<RandomUniformAttrs>, random_uniform<RandomUniformAttrs>)
          .documented("A tensor of the attribute's shape with elements distributed evenly over "
                      "[low, high)."),
      like_input("RandomNormalLike", attr_schema<RandomNormalLikeAttrs>(),
                 infer_like<RandomNormalLikeAttrs>, random_normal<RandomNormalLikeAttrs>)
          .documented("Normally distributed elements in the shape of the input."),
      like_input("RandomUniformLike", attr_schema<RandomUniformLikeAttrs>(),
                 infer_like<RandomUniformLikeAttrs>, random_uniform<RandomUniformLikeAttrs>)
          .documented("Elements distributed evenly over [low, high), in the shape of the input."),
      {.name = "Bernoulli",
       .doc = "1 with the probability that the element is, else 0; probabilities are in [0, 1].",
       .since = 22,
       .signature = "(input: T1) -> (output: T2)",
       .types = {{"T1", kFloats}, {"T2", kNumbers | DType::kBool}},
       .attrs = attr_schema<BernoulliAttrs>(),
       .infer = infer_like<BernoulliAttrs>,
       .reference = bernoulli,
       .facts = kRandom,
       .samples = like_samples},
      {.name = "Multinomial",
       .doc = "sample_size draws from each row of log-probabilities [batch, classes]: classes as "
              "integers [batch, sample_size].",
       .since = 22,
       .signature = "(input: T1) -> (output: T2)",
       .types = {{"T1", kFloats}, {"T2", DTypeSet{DType::kInt32, DType::kInt64}}},
       .attrs = attr_schema<MultinomialAttrs>(),
       .infer = infer_multinomial,
       .reference = multinomial,
       .facts = kRandom,
       .samples = multinomial_samples},
  };
  return rows;
}

}  // namespace sardonyx::ops
