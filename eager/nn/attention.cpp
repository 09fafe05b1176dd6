#include "eager/nn/attention.h"

#include <cmath>
#include <limits>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/init.h"
#include "eager/nn/linear.h"
#include "eager/nn/module_state.h"
#include "eager/placed.h"

namespace sardonyx::eager::nn {
namespace {

constexpr double kBlocked = -std::numeric_limits<double>::infinity();

void require_queries(const char* function, const Tensor& query, const Tensor& key,
                     const Tensor& value, const Loc& loc) {
  require_defined(query, function, "the query", loc);
  require_defined(key, function, "the key", loc);
  require_defined(value, function, "the value", loc);
}

// A mask to add to scores: bools that are `blocked` become minus infinity.
Tensor additive(const Tensor& mask, bool blocked, DType dtype, const Loc& loc) {
  if (mask.dtype() != DType::kBool) return mask.to(dtype, loc);
  const Tensor zero = literal(zeros({}, {.dtype = dtype}).data());
  const Tensor low = literal(full({}, kBlocked, {.dtype = dtype}).data());
  return blocked ? where(mask, {low, loc}, zero) : where(mask, {zero, loc}, low);
}

// [queries, keys]: minus infinity above the diagonal.
Tensor causal_mask(const Dim& queries, const Dim& keys, DType dtype, const Loc& loc) {
  const Tensor rows = arange(queries, {.dtype = DType::kInt64}, loc).unsqueeze(1, loc);
  const Tensor columns = arange(keys, {.dtype = DType::kInt64}, loc).unsqueeze(0, loc);
  return additive(Operand(columns, loc) > rows, true, dtype, loc);
}

Tensor sum_of(const Tensor& a, const Tensor& b, const Loc& loc) {
  return !a.defined() ? b : !b.defined() ? a : eager::add({a, loc}, b);
}

// By the scale that is asked for, or 1 / sqrt(width).
Tensor scaled_queries(const Tensor& query, std::optional<double> scale, const Loc& loc) {
  if (scale) return mul({query, loc}, *scale);
  const Dim width = query.size(-1, loc);
  if (width.is_known()) return mul({query, loc}, 1 / std::sqrt(static_cast<double>(width.value())));
  // Of a trace's open size, rounded as the number above is.
  const Tensor root = sqrt(dim_tensor(width, loc).to(DType::kDouble, loc), loc);
  return mul({query, loc}, reciprocal(root, loc).to(query.dtype(), loc));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const DotProductOptions& options, Loc loc) {
  require_queries("scaled_dot_product_attention", query, key, value, loc);
  const Tensor scaled = scaled_queries(query, options.scale, loc);
  Tensor scores = matmul(scaled, key.transpose(-2, -1, loc), loc);
  Tensor mask;
  if (options.mask.defined()) mask = additive(options.mask, false, query.dtype(), loc);
  if (options.is_causal)
    mask =
        sum_of(mask, causal_mask(query.size(-2, loc), key.size(-2, loc), query.dtype(), loc), loc);
  scores = sum_of(scores, mask, loc);
  const Tensor weights = dropout(softmax(scores, -1, loc), options.dropout, true, loc);
  return matmul(weights, value, loc);
}

MultiheadAttention::MultiheadAttention(int64_t embed, int64_t heads, AttentionOptions options,
                                       Loc loc) try
    : embed_(embed), heads_(heads), options_(options) {
  if (embed <= 0 || heads <= 0 || embed % heads != 0) {
    fail(ErrorCode::kInvalidArgument, "MultiheadAttention: ", heads,
         " heads do not divide an embedding of ", embed);
  }
  describe(text(embed, ", ", heads, " heads"));
  const int64_t key_size = options.key_size.value_or(embed);
  const int64_t value_size = options.value_size.value_or(embed);
  if (key_size <= 0 || value_size <= 0) {
    fail(ErrorCode::kInvalidArgument, "MultiheadAttention: expected positive sizes of keys and ",
         "values, got ", key_size, " and ", value_size);
  }
  const auto xavier = [&](int64_t out, int64_t in) {
    const Tensor made = zeros({out, in});
    init::xavier_uniform(made);
    return made;
  };
  if (key_size == embed && value_size == embed) {
    joint_ = parameter("in_proj_weight", xavier(3 * embed, embed));
  } else {
    query_ = parameter("q_proj_weight", xavier(embed, embed));
    key_ = parameter("k_proj_weight", xavier(embed, key_size));
    value_ = parameter("v_proj_weight", xavier(embed, value_size));
  }
  if (options.bias) bias_ = parameter("in_proj_bias", zeros({3 * embed}));
  const Linear out = add("out_proj", Linear(embed, embed, {.bias = options.bias}, loc));
  out_weight_ = out.weight;
  out_bias_ = out.bias;
  if (out_bias_.defined()) init::zeros(out_bias_);
} catch (const Error& error) {
  throw placed(error, loc);
}

MultiheadAttention::Projected MultiheadAttention::project(const Tensor& query, const Tensor& key,
                                                          const Tensor& value) const {
  const Loc loc = caller();
  detail::require_registered(
      *this,
      {{nullptr, joint_}, {nullptr, query_}, {nullptr, key_}, {nullptr, value_}, {nullptr, bias_}});
  if (joint_.defined() && query.is_same(key) && key.is_same(value)) {
    const std::vector<Tensor> parts =
        split(linear(query, joint_, bias_, loc), {embed_, embed_, embed_}, -1, loc);
    return {parts[0], parts[1], parts[2]};
  }
  std::vector<Tensor> weights{query_, key_, value_}, biases(3);
  if (joint_.defined()) weights = split(joint_, {embed_, embed_, embed_}, 0, loc);
  if (bias_.defined()) biases = split(bias_, {embed_, embed_, embed_}, 0, loc);
  return {linear(query, weights[0], biases[0], loc), linear(key, weights[1], biases[1], loc),
          linear(value, weights[2], biases[2], loc)};
}

// To [batch, heads, length, width].
Tensor MultiheadAttention::split_heads(const Tensor& x) const {
  const Loc loc = caller();
  const Tensor split = x.reshape({x.size(0), x.size(1), heads_, embed_ / heads_}, loc);
  return options_.batch_first ? split.transpose(1, 2, loc) : split.permute({1, 2, 0, 3}, loc);
}

Tensor MultiheadAttention::mask_of(const AttentionMasks& masks, const Tensor& scores) const {
  const Loc loc = caller();
  const DType dtype = scores.dtype();
  Tensor mask;
  if (masks.is_causal) mask = causal_mask(scores.size(2), scores.size(3), dtype, loc);
  if (masks.attention.defined()) {
    Tensor given = additive(masks.attention, true, dtype, loc);
    if (given.rank() == 3) given = given.reshape(scores.shape(), loc);
    mask = sum_of(mask, given, loc);
  }
  if (masks.key_padding.defined()) {
    const Tensor padding = additive(masks.key_padding, true, dtype, loc);
    const Dims shape{padding.size(0), 1, 1, padding.size(1)};
    mask = sum_of(mask, padding.reshape(shape, loc), loc);
  }
  return mask;
}

AttentionResult MultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const AttentionMasks& masks,
                                            bool wants_weights) const {
  const Loc loc = caller();
  require_queries("MultiheadAttention", query, key, value, loc);
  for (const Tensor* x : {&query, &key, &value}) {
    if (x->rank() == 3) continue;
    fail(ErrorCode::kInvalidArgument, "MultiheadAttention: expected ",
         options_.batch_first ? "[batch, length, width]" : "[length, batch, width]", ", got ",
         x->type());
  }
  const Projected in = project(query, key, value);
  const double scale = 1 / std::sqrt(static_cast<double>(embed_ / heads_));
  const Tensor q = eager::mul({split_heads(in.query), loc}, scale);
  const Tensor k = split_heads(in.key), v = split_heads(in.value);
  Tensor scores = matmul(q, k.transpose(-2, -1, loc), loc);
  scores = sum_of(scores, mask_of(masks, scores), loc);
  const Tensor weights = dropout(softmax(scores, -1, loc), options_.dropout, is_training(), loc);
  const Tensor heads = matmul(weights, v, loc);
  const Tensor transposed =
      options_.batch_first ? heads.transpose(1, 2, loc) : heads.permute({2, 0, 1, 3}, loc);
  const Tensor output = linear(transposed.flatten(2, 3, loc), out_weight_, out_bias_, loc);
  return {output, wants_weights ? weights.mean({1}, false, loc) : Tensor()};
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMasks& masks, Loc loc) const {
  const auto run = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return forward(q, k, v, masks, false).output;
  };
  return call(loc, run, query, key, value);
}

AttentionResult MultiheadAttention::with_weights(const Tensor& query, const Tensor& key,
                                                 const Tensor& value, const AttentionMasks& masks,
                                                 Loc loc) const {
  const auto run = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return forward(q, k, v, masks, true);
  };
  return call(loc, run, query, key, value);
}

}  // namespace sardonyx::eager::nn
