#include "eager/nn/linear.h"

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/init.h"
#include "eager/nn/module_state.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::eager::nn {
namespace {

double checked_share(double p) {
  if (p >= 0 && p <= 1) return p;
  fail(ErrorCode::kInvalidArgument, "Dropout: expected a probability within [0, 1], got ", p);
}

void check_bag_mode(const std::string& mode) {
  if (mode == "sum" || mode == "mean" || mode == "max") return;
  fail(ErrorCode::kInvalidArgument, "EmbeddingBag: expected mode sum, mean or max, got ", mode);
}

int64_t positive(int64_t count, const char* what) {
  if (count > 0) return count;
  fail(ErrorCode::kInvalidArgument, what, ": expected a positive size, got ", count);
}

}  // namespace

Linear::Linear(int64_t in, int64_t out, LinearOptions options, Loc loc) try {
  describe(text(in, " -> ", out, options.bias ? "" : ", no bias"));
  const double bound = 1 / std::sqrt(static_cast<double>(positive(in, "Linear")));
  weight = parameter("weight", init::uniform_tensor({positive(out, "Linear"), in}, bound));
  if (options.bias) bias = parameter("bias", init::uniform_tensor({out}, bound));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor Linear::forward(const Tensor& x) const {
  detail::require_registered(*this, {{"weight", weight}, {"bias", bias}});
  return linear(x, weight, bias, caller());
}

Bilinear::Bilinear(int64_t in1, int64_t in2, int64_t out, LinearOptions options, Loc loc) try {
  describe(text(in1, ", ", in2, " -> ", out));
  const double bound = 1 / std::sqrt(static_cast<double>(positive(in1, "Bilinear")));
  weight = parameter(
      "weight",
      init::uniform_tensor({positive(out, "Bilinear"), in1, positive(in2, "Bilinear")}, bound));
  if (options.bias) bias = parameter("bias", init::uniform_tensor({out}, bound));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor Bilinear::forward(const Tensor& a, const Tensor& b) const {
  detail::require_registered(*this, {{"weight", weight}, {"bias", bias}});
  return bilinear(a, b, weight, bias, caller());
}
Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                Loc loc) {
  require_defined(a, "bilinear", "a", loc);
  require_defined(b, "bilinear", "b", loc);
  require_defined(weight, "bilinear", "the weight", loc);
  const Tensor product = einsum("...i,kij,...j->...k", {a, weight, b}, loc);
  return bias.defined() ? eager::add({product, loc}, bias) : product;
}

Embedding::Embedding(int64_t count, int64_t size, EmbeddingOptions options, Loc loc) try
    : Embedding(
          [&] {
            const Tensor rows = zeros({positive(count, "Embedding"), positive(size, "Embedding")});
            init::normal(rows);
            return rows;
          }(),
          options, loc) {
  if (!padding_) return;
  const Tensor at = tensor({*padding_}).reshape({1, 1});
  weight.assign(where(arange(count).reshape({count, 1}) == at, 0.0, weight.detach()));
} catch (const Error& error) {
  throw placed(error, loc);
}
Embedding::Embedding(Tensor rows, EmbeddingOptions options, Loc loc) try
    : padding_(options.padding_idx) {
  if (rows.rank() != 2)
    fail(ErrorCode::kInvalidArgument, "Embedding: expected rows [count, size], got ", rows.type());
  const int64_t count = rows.size(0).value();
  describe(text(count, " x ", rows.size(1)));
  if (padding_ && *padding_ < 0) padding_ = *padding_ + count;
  if (padding_ && (*padding_ < 0 || *padding_ >= count)) {
    fail(ErrorCode::kInvalidArgument, "Embedding: expected padding_idx within ", count,
         " rows, got ", *options.padding_idx);
  }
  weight = parameter("weight", std::move(rows));
} catch (const Error& error) {
  throw placed(error, loc);
}
Embedding Embedding::from_pretrained(const Tensor& weight, bool freeze, EmbeddingOptions options,
                                     Loc loc) {
  require_defined(weight, "Embedding::from_pretrained", "the weight", loc);
  Embedding made(weight.detach().clone(), options, loc);
  made.weight.set_requires_grad(!freeze);
  return made;
}
Tensor Embedding::forward(const Tensor& indices) const {
  detail::require_registered(*this, {{"weight", weight}});
  require_defined(indices, "Embedding", "the indices", caller());
  const Tensor rows = index_select(weight, 0, indices, caller());
  // Files of evaluation mode should not hold what is for gradients alone.
  TraceContext* frame = TraceContext::active();
  const bool may_train =
      is_training() || !frame || frame->root().kind() != TraceContext::Kind::kConstants;
  if (!padding_ || !may_train || !is_grad_enabled()) return rows;
  const Tensor at = literal(sardonyx::Tensor::scalar(*padding_)).to(indices.dtype(), caller());
  const Tensor is_padding = (Operand(indices, caller()) == at).unsqueeze(-1, caller());
  return where(is_padding, {rows.detach(), caller()}, rows);
}

Tensor embedding(const Tensor& indices, const Tensor& weight, Loc loc) {
  require_defined(indices, "embedding", "the indices", loc);
  require_defined(weight, "embedding", "the weight", loc);
  return index_select(weight, 0, indices, loc);
}

EmbeddingBag::EmbeddingBag(int64_t count, int64_t size, EmbeddingBagOptions options, Loc loc) try
    : options_(std::move(options)) {
  describe(text(count, " x ", size, ", ", options_.mode));
  check_bag_mode(options_.mode);
  const Tensor rows = zeros({positive(count, "EmbeddingBag"), positive(size, "EmbeddingBag")});
  init::normal(rows);
  weight = parameter("weight", rows);
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor EmbeddingBag::forward(const Tensor& indices, const Tensor& offsets,
                             const Tensor& per_sample_weights) const {
  detail::require_registered(*this, {{"weight", weight}});
  return embedding_bag(indices, weight, offsets, options_, per_sample_weights, caller());
}

namespace {

Tensor bags_by_offsets(const Tensor& rows, const Tensor& offsets, const std::string& mode,
                       const Loc& loc) {
  const Tensor places = arange(rows.size(0, loc), {.dtype = DType::kInt64}, loc).unsqueeze(-1, loc);
  const Tensor has_begun = Operand(offsets.to(DType::kInt64, loc), loc) <= places;
  const Tensor bags = sub({has_begun.sum(1, false, loc), loc}, 1);
  const Tensor none =
      zeros({offsets.size(0, loc), rows.size(1, loc)}, {.dtype = rows.dtype()}, loc);
  if (mode == "max") {
    const Tensor wide = bags.unsqueeze(-1, loc).expand(rows.shape(loc), loc);
    return scatter_reduce(none, 0, wide, rows, "amax", false, loc);
  }
  const Tensor sums = index_add(none, 0, bags, rows, 1, loc);
  if (mode == "sum") return sums;
  const Tensor one = ones({rows.size(0, loc)}, {.dtype = rows.dtype()}, loc);
  const Tensor counts = index_add(none.select(1, 0, loc), 0, bags, one, 1, loc);
  return div({sums, loc}, clamp(counts, 1, {}, loc).unsqueeze(-1, loc));
}

}  // namespace

Tensor embedding_bag(const Tensor& indices, const Tensor& weight, const Tensor& offsets,
                     const EmbeddingBagOptions& options, const Tensor& per_sample_weights,
                     Loc loc) {
  at_line(loc, [&] { check_bag_mode(options.mode); });
  require_defined(indices, "embedding_bag", "the indices", loc);
  require_defined(weight, "embedding_bag", "the weight", loc);
  if (indices.rank() != (offsets.defined() ? 1 : 2)) {
    fail_at(loc, "EmbeddingBag: expected indices [N, L], or [n] with offsets, got ",
            indices.type());
  }
  Tensor rows = index_select(weight, 0, indices, loc);
  if (per_sample_weights.defined()) {
    if (options.mode != "sum" || per_sample_weights.rank() != indices.rank()) {
      fail_at(loc, "EmbeddingBag: per_sample_weights: expected weights of the indices' shape in ",
              "mode sum, got ", per_sample_weights.type(), " in mode ", options.mode);
    }
    rows = mul({rows, loc}, per_sample_weights.unsqueeze(-1, loc));
  }
  if (offsets.defined()) return bags_by_offsets(rows, offsets, options.mode, loc);
  if (options.mode == "max") return rows.amax(1, false, loc);
  return options.mode == "sum" ? rows.sum(1, false, loc) : rows.mean(1, false, loc);
}

Tensor dropout(const Tensor& x, double p, bool training, Loc loc) {
  at_line(loc, [&] { return checked_share(p); });
  require_defined(x, "dropout", "x", loc);
  if (!training || p == 0) return x;
  if (p == 1) return mul({x, loc}, 0.0);
  static const OpDef& op = op_named("Dropout");
  const Tensor inputs[] = {x, literal(sardonyx::Tensor::scalar(static_cast<float>(p))),
                           literal(sardonyx::Tensor::of<bool>({true}, {}))};
  // The mask is what the gradient goes through.
  return apply_many(op, inputs, {}, 2, loc)[0];
}

Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator, Loc loc) {
  const TraceContext* frame = TraceContext::active();
  if (frame) {
    fail_at(loc, "dropout: a graph draws from the generator of each run, and takes none of its ",
            "own: call it under UseGenerator");
  }
  const UseGenerator scope(generator);
  return dropout(x, p, training, loc);
}

Dropout::Dropout(double p, Loc loc) try : p_(checked_share(p)) {
  describe(text("p=", p));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor Dropout::forward(const Tensor& x) const {
  return dropout(x, p_, is_training(), caller());
}

DropoutChannels::DropoutChannels(double p, Loc loc) try : p_(checked_share(p)) {
  describe(text("p=", p));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor DropoutChannels::forward(const Tensor& x) const {
  require_defined(x, "DropoutChannels", "x", caller());
  if (!is_training() || p_ == 0) return x;
  if (x.rank() < 3) {
    fail(ErrorCode::kInvalidArgument, "DropoutChannels: expected x [N, C, ...], got ", x.type());
  }
  Dims shape{x.size(0), x.size(1)};
  shape.resize(x.rank(), 1);
  const Tensor kept = dropout(ones(shape, {.dtype = x.dtype()}, caller()), p_, true, caller());
  return mul({x, caller()}, kept);
}

Tensor alpha_dropout(const Tensor& x, double p, bool training, Loc loc) {
  at_line(loc, [&] { return checked_share(p); });
  require_defined(x, "alpha_dropout", "x", loc);
  if (!training || p == 0) return x;
  if (p == 1) return zeros_like(x, loc);
  constexpr double kLeast = -1.7580993408473766;  // of SELU: -scale * alpha
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * kLeast * kLeast));
  // 1 / (1 - p) where kept, 0 where dropped.
  const Tensor kept = Operand(dropout(ones_like(x, loc), p, true, loc), loc) > 0;
  const Tensor chosen = where(kept, {x, loc}, kLeast);
  return add({mul({chosen, loc}, scale), loc}, -scale * kLeast * p);
}
AlphaDropout::AlphaDropout(double p, Loc loc) try : p_(checked_share(p)) {
  describe(text("p=", p));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor AlphaDropout::forward(const Tensor& x) const {
  return alpha_dropout(x, p_, is_training(), caller());
}

Tensor Unflatten::forward(const Tensor& x) const {
  require_defined(x, "Unflatten", "x", caller());
  const Dims dims = x.shape(caller());
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = axis_ < 0 ? axis_ + rank : axis_;
  if (axis < 0 || axis >= rank) {
    fail(ErrorCode::kInvalidArgument, "Unflatten: expected an axis of ", x.type(), ", got ", axis_);
  }
  Dims shape(dims.begin(), dims.begin() + axis);
  shape.insert(shape.end(), sizes_.begin(), sizes_.end());
  shape.insert(shape.end(), dims.begin() + axis + 1, dims.end());
  return x.reshape(shape, caller());
}

}  // namespace sardonyx::eager::nn
