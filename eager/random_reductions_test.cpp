// Steps of random programs over axes: reductions, order, products and losses.
#include <cmath>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/random_programs_for_test.h"

namespace sardonyx::eager::programs {
std::vector<Op> reduction_steps() {
  return {
      {"sum", [](W, S s, T a, T) { return a.sum({axis_of(s, a)}, s.k % 2 == 0); }},
      {"mean", [](W, S s, T a, T) { return a.mean({axis_of(s, a)}, s.k % 2 == 0); }},
      {"amax", [](W, S s, T a, T) { return a.amax({axis_of(s, a)}, true); }},
      {"sum of all", [](W, S, T a, T) { return a.sum(); }},
      {"argmax", [](W, S s, T a, T) { return a.argmax(axis_of(s, a)); }, kJumps},
      {"var", [](W, S s, T a, T) { return var(a, {axis_of(s, a)}, true, 0); }},
      {"logsumexp", [](W, S s, T a, T) { return logsumexp(a, {axis_of(s, a)}); }},
      {"cumsum", [](W, S s, T a, T) { return cumsum(a, axis_of(s, a)); }},
      {"softmax", [](W, S s, T a, T) { return softmax(a, axis_of(s, a)); }},
      {"log_softmax", [](W, S s, T a, T) { return log_softmax(a, axis_of(s, a)); }},
      {"topk", [](W, S s, T a, T) { return topk(a, 1 + s.k % 2, axis_of(s, a)).first; }, kJumps},
      {"sort", [](W, S s, T a, T) { return sort(a, axis_of(s, a)).first; }},
      {"std", [](W, S s, T a, T) { return eager::std(as_float(a), {axis_of(s, a)}, true, 0) + a; }},
      {"norm",
       [](W, S s, T a, T) {
         constexpr double kOrders[] = {1, 2, 3, 0.5, INFINITY, 2.5};
         return norm(as_float(a), kOrders[s.k], {axis_of(s, a)}, true);
       }},
      {"prod", [](W, S s, T a, T) { return prod(tanh(as_float(a)) + 1, {axis_of(s, a)}); }},
      {"amin", [](W, S s, T a, T) { return a.amin({axis_of(s, a)}); }},
      {"any", [](W, S s, T a, T) { return any(a > 1, {axis_of(s, a)}); }, kJumps},
      {"all", [](W, S s, T a, T) { return all(a < 1, {axis_of(s, a)}); }, kJumps},
      {"count_nonzero", [](W, S s, T a, T) { return count_nonzero(a > 0, {axis_of(s, a)}); },
       kJumps},
      {"max with indices",
       [](W, S s, T a, T) {
         const auto [values, indices] = max(as_float(a), axis_of(s, a));
         return values + indices;
       },
       kJumps},
      {"argmin", [](W, S, T a, T) { return argmin(as_float(a)); }, kJumps},
      {"median", [](W, S s, T a, T) { return median(a, axis_of(s, a)).first; }},
      {"kthvalue", [](W, S s, T a, T) { return kthvalue(a, 1 + s.k % 2, axis_of(s, a)).first; }},
      {"quantile", [](W, S s, T a, T) { return quantile(as_float(a), 0.4, axis_of(s, a)); }},
      {"cumprod", [](W, S s, T a, T) { return cumprod(tanh(as_float(a)), axis_of(s, a)); }},
      {"cummax", [](W, S s, T a, T) { return cummax(a, axis_of(s, a)).first; }},
      {"logcumsumexp", [](W, S s, T a, T) { return logcumsumexp(as_float(a), axis_of(s, a)); }},
      {"diff", [](W, S s, T a, T) { return diff(a, 1, axis_of(s, a)); }},
      {"trapezoid", [](W, S s, T a, T) { return trapezoid(as_float(a), 0.5, axis_of(s, a)); }},
      {"argsort", [](W, S s, T a, T) { return argsort(a, axis_of(s, a), s.k % 2 == 0); }, kJumps},
      {"bucketize",
       [](W, S, T a, T) {
         return bucketize(as_float(a), tensor({-1.f, 0.f, 1.f}));
       },
       kJumps},
      {"bincount",
       [](W, S, T a, T) {
         return bincount(clamp(as_float(a), 0, 3).to(DType::kInt64).flatten(), {}, 4);
       },
       kJumps},
      {"unique", [](W, S, T a, T) { return unique(floor(as_float(a))).counts.sum(); }, kJumps},
      {"glu", [](W, S, T a, T) { return glu(as_float(a)); }},
      {"matmul", [](W, S, T a, T b) { return matmul(a, b.t()); }, kTwo},
      {"einsum",
       [](W, S s, T a, T b) {
         constexpr const char* kEquations[] = {"ij,kj->ik", "ij,ij->j", "ij,ik->jk",
                                               "...i,...i->..."};
         return einsum(kEquations[s.k % 4], {a, b});
       },
       kTwo},
      {"outer", [](W, S, T a, T b) { return outer(a.flatten(), b.flatten()); }, kTwo},
      {"tensordot", [](W, S, T a, T b) { return tensordot(as_float(a), as_float(b), {-1}, {-1}); },
       kTwo},
      {"cdist", [](W, S, T a, T b) { return cdist(as_float(a), as_float(b)); }, kTwo},
      {"addmm",
       [](W, S, T a, T b) {
         return addmm(as_float(a).sum(), as_float(a), as_float(b).t(), {.beta = 0.5, .alpha = 0.1});
       },
       kTwo},
      // losses
      {"mse_loss", [](W, S, T a, T b) { return nn::mse_loss(as_float(a), as_float(b)); }, kTwo},
      {"smooth_l1_loss",
       [](W, S, T a, T b) {
         return nn::smooth_l1_loss(as_float(a), as_float(b), {.reduction = nn::Reduction::kNone});
       },
       kTwo},
      {"cross_entropy",
       [](W, S s, T a, T) {
         const double smoothing = s.k % 2 == 0 ? 0 : 0.1;
         return nn::cross_entropy(as_float(a), as_float(a).argmax(1),
                                  {.label_smoothing = smoothing});
       },
       kJumps},
      {"bce_with_logits",
       [](W, S, T a, T b) { return nn::bce_with_logits(as_float(a), sigmoid(as_float(b))); }, kTwo},
      {"kl_div",
       [](W, S, T a, T b) {
         return nn::kl_div(log_softmax(as_float(a)), softmax(as_float(b)), {.batch_mean = true});
       },
       kTwo},
      {"cosine_similarity",
       [](W, S, T a, T b) {
         return nn::cosine_similarity(as_float(a), as_float(b) + 3, {.axis = -1});
       },
       kTwo},
  };
}

}  // namespace sardonyx::eager::programs
