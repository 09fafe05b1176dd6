#include "ir/ops/ml/tree_aggregation.h"

#include "ir/core/dtype_dispatch.h"
#include "ir/ops/ml/post_transform.h"
#include "ir/ops/ml/tree_attributes.h"

namespace sardonyx::ops {
namespace {

// Scores of a regression: a single target knows no transform but PROBIT, as the others need rivals.
template <typename T>
void finish_regression(std::span<const TargetScore<T>> scores, size_t trees, Aggregate aggregate,
                       std::span<const T> base, PostTransform transform, std::span<T> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = scores[i].present ? scores[i].value : T(0);
    if (aggregate == Aggregate::kAverage && trees > 0) out[i] /= static_cast<T>(trees);
    if (base.size() == out.size()) out[i] += base[i];
  }
  if (out.size() > 1 || transform == PostTransform::kProbit) transform_scores<T>(transform, out);
}

template <typename T>
void store(const TensorView& view, int64_t at, std::span<const T> values) {
  detail::dispatch_among<float, double, Float16>(view.dtype, [&]<typename To>() {
    To* out = view.data<To>() + at;
    for (size_t i = 0; i < values.size(); ++i)
      out[i] = To(values[i]);
  });
}

template <typename T>
class Regression : public TreeOp<T> {
 public:
  Regression(TreeEnsembleModel<T> model, Aggregate aggregate, PostTransform transform,
             std::vector<T> base)
      : TreeOp<T>(std::move(model), aggregate), transform_(transform), base_(std::move(base)) {}

  void write(int64_t row, std::span<const TargetScore<T>> scores, std::span<T> row_scores,
             std::span<const TensorView> outputs) const override {
    finish_regression<T>(scores, this->model().roots.size(), this->aggregate(), base_, transform_,
                         row_scores);
    store<T>(outputs[0], row * this->model().targets, row_scores);
  }

 private:
  PostTransform transform_;
  std::vector<T> base_;
};

// With two classes whose leaves all vote for one class, the votes are the score of the second
// class: a probability where no vote is negative, else a margin. LOGISTIC takes it for a margin in
// any case.
struct Voting {
  bool single_sided = false;
  bool probabilities = false;
};
template <typename T>
Voting voting_of(const TreeEnsembleModel<T>& model) {
  return {model.targets == 2 && model.has_one_target, model.is_nonnegative};
}

// Whether `score` speaks for the second of two classes.
template <typename T>
bool is_second_class(const Voting& voting, T score) {
  return score > (voting.single_sided && voting.probabilities ? T(0.5) : T(0));
}

// Both classes' scores out of the second one's alone.
template <typename T>
void spread_score(const Voting& voting, T score, PostTransform transform, std::span<T> out) {
  const bool squash = transform == PostTransform::kLogistic;
  if (transform == PostTransform::kProbit) {
    out[0] = probit(static_cast<float>(score));
    out[1] = 0;
  } else if (voting.single_sided && voting.probabilities && !squash) {
    out[0] = 1 - score;
    out[1] = score;
  } else {
    out[0] = squash ? logistic(-score) : -score;
    out[1] = squash ? logistic(score) : score;
  }
}

// Two classes: gives the winner.
template <typename T>
size_t classify_two(const Voting& voting, std::span<const TargetScore<T>> votes,
                    std::span<const T> base, PostTransform transform, std::span<T> out) {
  T first = votes[0].value, second = votes[1].value;
  if (base.size() < 2) {
    if (base.size() == 1) first += base[0];
    if (!votes[1].present) {
      spread_score(voting, first, transform, out);
      return is_second_class(voting, first);
    }
  } else if (votes[1].present) {  // the first class's votes are taken for a margin
    second = base[1] + first;
    first = -second;
  } else {
    second += base[1];
    first += base[0];
  }
  out[0] = first;
  out[1] = second;
  transform_scores(transform, out);
  return is_second_class(voting, votes[1].present ? second : first);
}

template <typename T>
size_t classify_many(std::span<const TargetScore<T>> votes, std::span<const T> base,
                     PostTransform transform, std::span<T> out) {
  size_t best = 0;
  bool found = false;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = votes[i].value + (i < base.size() ? base[i] : T(0));
    const bool counts = votes[i].present || i < base.size();
    if (counts && (!found || out[i] > out[best])) best = i;
    found |= counts;
  }
  if (out.size() > 1 || transform == PostTransform::kProbit) transform_scores(transform, out);
  return best;
}

template <typename T>
class Classification : public TreeOp<T> {
 public:
  Classification(TreeEnsembleModel<T> model, const TreeClassifierAttrs& attrs)
      : TreeOp<T>(std::move(model), Aggregate::kSum),
        transform_(post_transform_named(attrs.post_transform)),
        base_(base_values<T>(attrs)),
        strings_(attrs.classlabels_strings),
        integers_(attrs.classlabels_int64s),
        voting_(voting_of(this->model())) {}

  void write(int64_t row, std::span<const TargetScore<T>> votes, std::span<T> row_scores,
             std::span<const TensorView> outputs) const override {
    const size_t winner = row_scores.size() == 2
                              ? classify_two<T>(voting_, votes, base_, transform_, row_scores)
                              : classify_many<T>(votes, base_, transform_, row_scores);
    if (outputs[0]) ClassLabels{strings_, integers_}.write(outputs[0], row, winner);
    if (outputs.size() > 1 && outputs[1])
      store<T>(outputs[1], row * this->model().targets, row_scores);
  }

 private:
  PostTransform transform_;
  std::vector<T> base_;
  std::vector<std::string> strings_;
  std::vector<int64_t> integers_;
  Voting voting_;
};

template <typename T>
std::shared_ptr<const TreeOp<T>> make(TreeEnsembleModel<T> model, const TreeEnsembleAttrs& attrs) {
  return std::make_shared<Regression<T>>(
      std::move(model), static_cast<Aggregate>(attrs.aggregate_function),
      static_cast<PostTransform>(attrs.post_transform), std::vector<T>{});
}

template <typename T>
std::shared_ptr<const TreeOp<T>> make(TreeEnsembleModel<T> model, const TreeRegressorAttrs& attrs) {
  return std::make_shared<Regression<T>>(
      std::move(model), aggregate_named(attrs.aggregate_function),
      post_transform_named(attrs.post_transform), base_values<T>(attrs));
}

template <typename T>
std::shared_ptr<const TreeOp<T>> make(TreeEnsembleModel<T> model,
                                      const TreeClassifierAttrs& attrs) {
  return std::make_shared<Classification<T>>(std::move(model), attrs);
}

// Calls `use` with the attributes of the op that they are of.
template <typename Use>
auto with_attributes(const OpDef& op, const Attrs& attrs, const Use& use) {
  if (op.name == "TreeEnsemble") return use(attrs.as<TreeEnsembleAttrs>());
  if (op.name == "TreeEnsembleRegressor") return use(attrs.as<TreeRegressorAttrs>());
  return use(attrs.as<TreeClassifierAttrs>());
}

}  // namespace

template <typename T>
std::shared_ptr<const TreeOp<T>> make_tree_op(const OpDef& op, const Attrs& attrs,
                                              int64_t features) {
  return with_attributes(op, attrs, [&](const auto& given) {
    TreeEnsembleModel<T> model = build_ensemble<T>(given);
    model.check(features);  // inference may not have known how many there are
    return make<T>(std::move(model), given);
  });
}

bool tree_op_is_wide(const OpDef& op, const Attrs& attrs, DType input) {
  return with_attributes(op, attrs, [&](const auto& given) { return in_double(given, input); });
}

template std::shared_ptr<const TreeOp<float>> make_tree_op(const OpDef&, const Attrs&, int64_t);
template std::shared_ptr<const TreeOp<double>> make_tree_op(const OpDef&, const Attrs&, int64_t);

}  // namespace sardonyx::ops
