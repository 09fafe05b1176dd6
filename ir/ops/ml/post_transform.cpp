#include "ir/ops/ml/post_transform.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/threading/interruptible_pieces.h"

namespace sardonyx::ops {

FeatureTable feature_table(std::span<const int64_t> shape) {
  if (shape.size() == 1) return {1, shape[0]};
  SARDONYX_CHECK(shape.size() == 2);
  return {shape[0], shape[1]};
}

Dim feature_rows(InferContext& c) {
  const Dims* shape = c.shape(0);
  if (!shape) return c.unknown();
  if (shape->empty() || shape->size() > 2) {
    c.fail_input(0, "expected [rows, features] or [features]");
  }
  return shape->size() == 1 ? Dim(1) : (*shape)[0];
}

std::optional<Dim> feature_count(InferContext& c) {
  const Dims* shape = c.shape(0);
  return shape ? std::optional(shape->back()) : std::nullopt;
}

template <typename T>
std::pmr::vector<T> read_features(const TensorView& x) {
  std::pmr::vector<T> out(scratch());
  out.reserve(static_cast<size_t>(x.count()));
  detail::dispatch_among<float, double, int64_t, int32_t, Float16>(x.dtype, [&]<typename From>() {
    const From* from = x.data<From>();
    in_pieces(x.count(), [&](int64_t begin, int64_t end) {
      std::transform(from + begin, from + end, std::back_inserter(out),
                     [](const From& value) { return static_cast<T>(value); });
    });
  });
  return out;
}
template std::pmr::vector<float> read_features<float>(const TensorView&);
template std::pmr::vector<double> read_features<double>(const TensorView&);

PostTransform post_transform_named(std::string_view name) {
  if (name == "NONE") return PostTransform::kNone;
  if (name == "SOFTMAX") return PostTransform::kSoftmax;
  if (name == "LOGISTIC") return PostTransform::kLogistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (name == "PROBIT") return PostTransform::kProbit;
  fail(ErrorCode::kInvalidModel, "attribute post_transform: expected NONE, SOFTMAX, LOGISTIC, ",
       "SOFTMAX_ZERO or PROBIT, got '", name, "'");
}

template <typename T>
T logistic(T x) {
  const T y = 1 / (1 + std::exp(-std::abs(x)));  // no overflow for either sign
  return x < 0 ? 1 - y : y;
}
template float logistic<float>(float);
template double logistic<double>(double);

float probit(float p) {
  const float x = 2 * p - 1;
  const float log = std::log((1 - x) * (1 + x));
  const float a = 2 / (3.14159f * 0.147f) + 0.5f * log;
  const float root = std::sqrt(-a + std::sqrt(a * a - log / 0.147f));
  return 1.41421356f * (x < 0 ? -root : root);
}

template <typename T>
void softmax(std::span<T> scores, bool keep_zeros) {
  T highest = std::numeric_limits<T>::lowest();
  for (const T score : scores)
    highest = std::max(highest, score);
  T sum = 0;
  for (T& score : scores) {
    if (keep_zeros && std::abs(score) <= T(1e-7)) {
      score *= std::exp(-highest);
    } else {
      score = std::exp(score - highest);
      sum += score;
    }
  }
  for (T& score : scores)
    score /= sum;
}

template <typename T>
void transform_scores(PostTransform transform, std::span<T> scores) {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return softmax(scores, /*keep_zeros=*/false);
    case PostTransform::kSoftmaxZero:
      return softmax(scores, /*keep_zeros=*/true);
    case PostTransform::kLogistic:
      for (T& score : scores)
        score = logistic(score);
      return;
    case PostTransform::kProbit:
      for (T& score : scores)
        score = probit(static_cast<float>(score));
      return;
  }
}
template void transform_scores<float>(PostTransform, std::span<float>);
template void transform_scores<double>(PostTransform, std::span<double>);

void transform_score_table(PostTransform transform, std::span<float> scores, int64_t columns) {
  if (columns == 1 && transform != PostTransform::kProbit) return;
  const auto width = static_cast<size_t>(columns);
  for (size_t begin = 0; width > 0 && begin < scores.size(); begin += width) {
    transform_scores(transform, scores.subspan(begin, width));
  }
}

void ClassLabels::check(const InferContext& c) const {
  c.require(strings.empty() || integers.empty(),
            "class labels: expected a list of strings or one of integers, got both");
  c.require(size() > 0, "class labels: expected a list of strings or of integers, got neither");
}

void ClassLabels::write(const TensorView& out, int64_t at, size_t index) const {
  if (are_strings()) {
    assign_string(out.data<std::string>()[at], strings[index]);
  } else {
    out.data<int64_t>()[at] = integers[index];
  }
}

}  // namespace sardonyx::ops
