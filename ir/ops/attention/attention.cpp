#include "ir/ops/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/core/bools.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/attention/attention_decomposition.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

AttentionShape attention_shape(const AttentionAttrs& attrs, std::span<const int64_t> query,
                               std::span<const int64_t> key, std::span<const int64_t> value,
                               std::span<const int64_t> past_key) {
  AttentionShape s{};
  s.batch = query[0];
  s.packed = query.size() == 3;
  s.past_length = past_key.empty() ? 0 : past_key[2];
  if (s.packed) {
    s.q_heads = *attrs.q_num_heads;
    s.kv_heads = *attrs.kv_num_heads;
    s.q_length = query[1];
    s.new_length = key[1];
    s.head_size = query[2] / s.q_heads;
    s.v_head_size = value[2] / s.kv_heads;
  } else {
    s.q_heads = query[1];
    s.kv_heads = key[1];
    s.q_length = query[2];
    s.new_length = key[2];
    s.head_size = query[3];
    s.v_head_size = value[3];
  }
  return s;
}

namespace {

// ---- Inference

// An operand's dims as [batch, heads, length, size].
struct Heads {
  Dim batch, heads, length, size;
};

Heads heads_of(InferContext& c, size_t input, std::optional<int64_t> heads) {
  const Dims& shape = *c.shape(input);
  if (shape.size() == 4) {
    const Dim merged =
        heads ? c.merged(shape[1], *heads, text("heads of ", c.input_label(input))) : shape[1];
    return {shape[0], merged, shape[2], shape[3]};
  }
  if (!heads) {
    c.fail_input(input, "of rank 3 needs the attributes q_num_heads and kv_num_heads");
  }
  if (shape[2].is_known() && shape[2].value() % *heads != 0) {
    c.fail_input(input, "last dim is no multiple of the number of heads, ", *heads);
  }
  return {shape[0], *heads, shape[1], floor_div(shape[2], *heads)};
}

void check_attributes(const InferContext& c, const AttentionAttrs& attrs) {
  for (const auto& [name, heads] : {std::pair{"q_num_heads", attrs.q_num_heads},
                                    std::pair{"kv_num_heads", attrs.kv_num_heads}}) {
    c.require(!heads || *heads > 0, "attribute ", name, ": expected a positive number, got ",
              heads.value_or(0));
  }
  c.require(attrs.qk_matmul_output_mode >= 0 && attrs.qk_matmul_output_mode <= 3,
            "attribute qk_matmul_output_mode: expected 0 to 3, got ", attrs.qk_matmul_output_mode);
  c.require(!attrs.softmax_precision || kFloats.has(*attrs.softmax_precision),
            "attribute softmax_precision: expected float, float16, bfloat16 or double");
  c.require(attrs.softcap >= 0, "attribute softcap: expected 0 or more, got ", attrs.softcap);
}

// The cached keys or values must be like the new ones but for their length, which is returned.
Dim past_length(InferContext& c, size_t input, const Heads& current) {
  if (!c.has(input)) return 0;
  c.require_rank(input, 4);
  const Dims* past = c.shape(input);
  if (!past) return c.unknown();
  const std::string what = "shapes of new and " + c.input_label(input);
  c.merged((*past)[0], current.batch, what);
  c.merged((*past)[1], current.heads, what);
  c.merged((*past)[3], current.size, what);
  return (*past)[2];
}

// Fits [batch, q_heads, q_length, total]; along the last dim it may be short.
void check_mask(const InferContext& c, const Dims& scores) {
  const Dims* mask = c.shape(kMask);
  if (!mask) return;
  bool fits = !mask->empty() && mask->size() <= 4;
  for (size_t i = 0; fits && i < mask->size(); ++i) {
    const Dim& dim = (*mask)[i];
    const Dim& wanted = scores[4 - mask->size() + i];
    if (!dim.is_known() || !wanted.is_known() || dim == 1) continue;
    const bool is_last = i + 1 == mask->size();
    fits = is_last ? dim.value() <= wanted.value() : dim == wanted;
  }
  if (!fits) c.fail_input(kMask, "does not broadcast to ", to_text(scores));
}

void infer_attention(InferContext& c) {
  const AttentionAttrs& attrs = c.attrs<AttentionAttrs>();
  check_attributes(c, attrs);
  c.require(c.has(kPastKey) == c.has(kPastValue), "past_key and past_value go together");
  const DType types[] = {c.dtype(kQuery), c.dtype(kKey), c.dtype(kValue), c.dtype(kQuery)};
  if (!c.shape(kQuery) || !c.shape(kKey) || !c.shape(kValue)) {
    for (size_t i = 0; i < c.output_count(); ++i)
      c.set(i, types[i == 0 ? 0 : i], std::nullopt);
    return;
  }
  const size_t rank = c.shape(kQuery)->size();
  if (rank != 3 && rank != 4) c.fail_input(kQuery, "expected rank 3 or 4, got ", rank);
  c.require_rank(kKey, rank);
  c.require_rank(kValue, rank);
  const Heads q = heads_of(c, kQuery, attrs.q_num_heads);
  const Heads k = heads_of(c, kKey, attrs.kv_num_heads);
  const Heads v = heads_of(c, kValue, attrs.kv_num_heads);
  const Dim batch = c.merged(c.merged(q.batch, k.batch, "batch sizes of Q and K"), v.batch,
                             "batch sizes of Q and V");
  c.merged(q.size, k.size, "head sizes of Q and K");
  c.merged(k.heads, v.heads, "heads of K and V");
  if (q.heads.is_known() && k.heads.is_known() &&
      (k.heads.value() == 0 || q.heads.value() % k.heads.value() != 0)) {
    c.fail("the heads of Q, ", q.heads, ", are no multiple of those of K and V, ", k.heads);
  }
  const Dim length = c.merged(k.length, v.length, "lengths of K and V");
  const Dim past = c.merged(past_length(c, kPastKey, k), past_length(c, kPastValue, v),
                            "lengths of past_key and past_value");
  const Dim total = past + length;
  const Dims scores{batch, q.heads, q.length, total};
  check_mask(c, scores);
  c.require_rank(kNonpadLengths, 1);
  if (const Dims* lengths = c.shape(kNonpadLengths)) {
    c.merged((*lengths)[0], batch, "batch sizes of nonpad_kv_seqlen and Q");
  }
  c.set(
      0, types[0],
      rank == 3 ? Dims{batch, q.length, q.heads * v.size} : Dims{batch, q.heads, q.length, v.size});
  c.set(1, types[1], Dims{batch, k.heads, total, k.size});
  c.set(2, types[2], Dims{batch, v.heads, total, v.size});
  c.set(3, types[3], scores);
}

// ---- Reference kernel

using Reals = std::pmr::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Reads any operand as doubles.
template <typename Visit>
void read_reals(const TensorView& view, Visit visit) {
  if (view.dtype == DType::kBool) {
    in_pieces(view.count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        visit(i, bool_at(view.raw, i) ? 0.0 : -kInfinity);
    });
    return;
  }
  dispatch_numbers(view.dtype, [&]<typename T>() {
    in_pieces(view.count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        visit(i, static_cast<double>(view.data<T>()[i]));
    });
  });
}

Reals reals_of(const TensorView& view) {
  Reals values(scratch());
  resize_in_pieces(values, static_cast<size_t>(view.count()));
  read_reals(view, [&](int64_t i, double x) { values[static_cast<size_t>(i)] = x; });
  return values;
}

// [batch, heads, total, size] of the past and the new keys or values.
Reals joined_heads(const AttentionShape& s, int64_t heads, int64_t size, const TensorView& fresh,
                   const TensorView& past) {
  const int64_t total = s.total_length();
  Reals joined(scratch());
  resize_in_pieces(joined, static_cast<size_t>(s.batch * heads * total * size));
  const auto place = [&](int64_t b, int64_t h, int64_t t, int64_t x) -> double& {
    return joined[static_cast<size_t>(((b * heads + h) * total + t) * size + x)];
  };
  if (past) {
    read_reals(past, [&](int64_t i, double value) {
      const int64_t line = i / size, head = line / s.past_length;
      place(head / heads, head % heads, line % s.past_length, i % size) = value;
    });
  }
  read_reals(fresh, [&](int64_t i, double value) {
    const int64_t line = i / size;
    const int64_t b = line / (heads * s.new_length);
    const int64_t h = s.packed ? line % heads : line / s.new_length % heads;
    const int64_t t = s.packed ? line / heads % s.new_length : line % s.new_length;
    place(b, h, s.past_length + t, i % size) = value;
  });
  return joined;
}

class AttentionRun {
 public:
  explicit AttentionRun(const KernelCall& call)
      : call_(call),
        attrs_(call.attrs<AttentionAttrs>()),
        s_(attention_shape(
            attrs_, call.inputs[kQuery].shape, call.inputs[kKey].shape, call.inputs[kValue].shape,
            call.has(kPastKey) ? call.inputs[kPastKey].shape : std::span<const int64_t>{})) {
    scale_ = attrs_.scale ? *attrs_.scale : 1 / std::sqrt(static_cast<double>(s_.head_size));
    query_ = reals_of(call.inputs[kQuery]);
    key_ = joined_heads(s_, s_.kv_heads, s_.head_size, call.inputs[kKey], optional(kPastKey));
    value_ =
        joined_heads(s_, s_.kv_heads, s_.v_head_size, call.inputs[kValue], optional(kPastValue));
    if (call.has(kMask)) prepare_mask();
    if (call.has(kNonpadLengths)) read_lengths();
  }

  void all() {
    Reals result(scratch());
    resize_in_pieces(result, static_cast<size_t>(call_.outputs[0].count()));
    const int64_t total = s_.total_length();
    if (call_.wants(3)) resize_in_pieces(shown_, static_cast<size_t>(call_.outputs[3].count()));
    Reals scores(static_cast<size_t>(total), scratch());
    int64_t row = 0;
    for (int64_t b = 0; b < s_.batch; ++b) {
      for (int64_t h = 0; h < s_.q_heads; ++h) {
        for (int64_t i = 0; i < s_.q_length; ++i, ++row) {
          check_interrupted();
          score(b, h, i, row, scores);
          const int64_t line = s_.packed ? (b * s_.q_length + i) * s_.q_heads + h : row;
          sum_values(b, h, scores, result.data() + line * s_.v_head_size);
        }
      }
    }
    const Reals* results[] = {&result, &key_, &value_, &shown_};
    for (size_t i = 0; i < std::size(results); ++i) {
      if (call_.wants(i)) write(call_.outputs[i], *results[i]);
    }
  }

 private:
  TensorView optional(size_t input) const {
    return call_.has(input) ? call_.inputs[input] : TensorView{};
  }

  // Keys beyond the mask's own last dim are masked out.
  void prepare_mask() {
    const TensorView& mask = call_.inputs[kMask];
    mask_ = reals_of(mask);
    mask_length_ = mask.shape.back();
    const Strides own = row_major_strides(mask.shape);
    for (size_t i = 0; i + 1 < mask.rank(); ++i) {
      mask_steps_[4 - mask.rank() + i] = mask.shape[i] == 1 ? 0 : own[i];
    }
  }

  void read_lengths() {
    const auto* lengths = call_.inputs[kNonpadLengths].data<int64_t>();
    for (int64_t b = 0; b < s_.batch; ++b) {
      if (lengths[b] < 0 || lengths[b] > s_.total_length()) {
        fail(ErrorCode::kInvalidArgument, "Attention: nonpad_kv_seqlen[", b, "] is ", lengths[b],
             ", expected 0 to the length of the keys, ", s_.total_length());
      }
      lengths_.push_back(lengths[b]);
    }
  }

  // The bias of key t for query i: 0, -infinity, or what the mask says.
  double bias(int64_t b, int64_t h, int64_t i, int64_t t) const {
    if (!lengths_.empty() && t >= lengths_[static_cast<size_t>(b)]) return -kInfinity;
    if (attrs_.is_causal) {
      // Query i of this call stands behind the cached keys, wherever these are kept.
      int64_t before = s_.past_length;
      if (!call_.has(kPastKey) && !lengths_.empty()) {
        before = lengths_[static_cast<size_t>(b)] - s_.q_length;
      }
      if (t > i + before) return -kInfinity;
    }
    if (!call_.has(kMask)) return 0;
    if (t >= mask_length_) return -kInfinity;
    return mask_[static_cast<size_t>(b * mask_steps_[0] + h * mask_steps_[1] + i * mask_steps_[2] +
                                     t)];
  }

  void show(ScoresShown stage, int64_t row, const Reals& scores) {
    if (shown_.empty() || attrs_.qk_matmul_output_mode != static_cast<int64_t>(stage)) return;
    std::copy(scores.begin(), scores.end(), shown_.begin() + row * s_.total_length());
  }

  // The probabilities of query i of head h.
  void score(int64_t b, int64_t h, int64_t i, int64_t row, Reals& scores) {
    const int64_t line = s_.packed ? (b * s_.q_length + i) * s_.q_heads + h : row;
    const double* q = query_.data() + line * s_.head_size;
    const double* k = key_.data() + head_of(b, h) * s_.total_length() * s_.head_size;
    for (double& x : scores) {
      x = 0;
      for (int64_t j = 0; j < s_.head_size; ++j)
        x += q[j] * *k++;
      x *= scale_;
    }
    show(ScoresShown::kRaw, row, scores);
    if (attrs_.softcap > 0) {
      for (double& x : scores)
        x = std::tanh(x / attrs_.softcap) * attrs_.softcap;
    }
    show(ScoresShown::kCapped, row, scores);
    for (size_t t = 0; t < scores.size(); ++t)
      scores[t] += bias(b, h, i, static_cast<int64_t>(t));
    show(ScoresShown::kMasked, row, scores);
    double greatest = -kInfinity, sum = 0;
    for (const double x : scores)
      greatest = std::max(greatest, x);
    for (double& x : scores)
      sum += x = std::exp(x - greatest);
    for (double& x : scores)
      x /= sum;
    show(ScoresShown::kSoftmax, row, scores);
  }

  // The head of keys and values that query head h reads, counted over the batch.
  int64_t head_of(int64_t b, int64_t h) const { return b * s_.kv_heads + h / s_.group(); }

  void sum_values(int64_t b, int64_t h, const Reals& weights, double* out) const {
    const double* v = value_.data() + head_of(b, h) * s_.total_length() * s_.v_head_size;
    for (const double weight : weights) {
      for (int64_t j = 0; j < s_.v_head_size; ++j)
        out[j] += weight * *v++;
    }
  }

  static void write(const TensorView& out, const Reals& values) {
    dispatch_floats(out.dtype, [&]<typename T>() {
      std::transform(values.begin(), values.end(), out.data<T>(), narrowed<T>);
    });
  }

  const KernelCall& call_;
  const AttentionAttrs& attrs_;
  AttentionShape s_;
  double scale_;
  Reals query_{scratch()}, key_{scratch()}, value_{scratch()}, mask_{scratch()}, shown_{scratch()};
  int64_t mask_steps_[3] = {0, 0, 0};  // along batch, heads and queries
  int64_t mask_length_ = 0;
  std::pmr::vector<int64_t> lengths_{scratch()};
};

void run_attention(const KernelCall& call) {
  AttentionRun(call).all();
}

// ---- RotaryEmbedding

void infer_rotary(InferContext& c) {
  const RotaryEmbeddingAttrs& attrs = c.attrs<RotaryEmbeddingAttrs>();
  const Dims* x = c.shape(0);
  const bool by_position = c.has(3);
  c.require_rank(3, 2);
  for (const size_t cache : {1, 2})
    c.require_rank(cache, by_position ? 2 : 3);
  c.require(attrs.rotary_embedding_dim >= 0 && attrs.rotary_embedding_dim % 2 == 0,
            "attribute rotary_embedding_dim: expected an even number, got ",
            attrs.rotary_embedding_dim);
  c.set(0, c.type(0));
  if (!x) return;
  if (x->size() != 3 && x->size() != 4) c.fail_input(0, "expected rank 3 or 4, got ", x->size());
  if (x->size() == 3) {
    c.require(attrs.num_heads.value_or(0) > 0,
              "attribute num_heads: an input of rank 3 needs a positive number of heads");
  }
  const Heads heads = heads_of(c, 0, x->size() == 3 ? attrs.num_heads : std::nullopt);
  const bool whole = attrs.rotary_embedding_dim == 0;
  if (heads.size.is_known()) {
    const int64_t size = heads.size.value();
    c.require(!whole || size % 2 == 0, "the head size ", size, " is odd");
    c.require(attrs.rotary_embedding_dim <= size,
              "attribute rotary_embedding_dim: ", attrs.rotary_embedding_dim,
              " is more than the head size ", size);
  }
  const Dim half = floor_div(whole ? heads.size : Dim(attrs.rotary_embedding_dim), 2);
  for (const size_t cache : {1, 2}) {
    const Dims* shape = c.shape(cache);
    if (!shape) continue;
    c.merged(shape->back(), half, text("half of the rotated dims and ", c.input_label(cache)));
    if (by_position) {
      if (c.shape(1)) c.merged((*c.shape(1))[0], (*shape)[0], "positions in the two caches");
      continue;
    }
    c.merged((*shape)[0], heads.batch, text("batch sizes of X and ", c.input_label(cache)));
    c.merged((*shape)[1], heads.length, text("lengths of X and ", c.input_label(cache)));
  }
  if (const Dims* positions = c.shape(3)) {
    c.merged((*positions)[0], heads.batch, "batch sizes of X and position_ids");
    c.merged((*positions)[1], heads.length, "lengths of X and position_ids");
  }
}

// The row of the caches for each [batch, position].
std::vector<int64_t> cache_rows(const KernelCall& call, int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = i;
    if (call.has(3)) {
      row = call.inputs[3].data<int64_t>()[i];
      const int64_t limit = call.inputs[1].shape[0];
      if (row < 0 || row >= limit) {
        fail(ErrorCode::kInvalidArgument, "RotaryEmbedding: position_ids holds ", row,
             ", expected 0 to ", limit - 1, ", the rows of the caches");
      }
    }
    rows[static_cast<size_t>(i)] = row;
  }
  return rows;
}

void run_rotary(const KernelCall& call) {
  const RotaryEmbeddingAttrs& attrs = call.attrs<RotaryEmbeddingAttrs>();
  const std::span<const int64_t> shape = call.inputs[0].shape;
  const bool packed = shape.size() == 3;
  const int64_t heads = packed ? *attrs.num_heads : shape[1];
  const int64_t length = packed ? shape[1] : shape[2];
  const int64_t size = packed ? shape[2] / heads : shape[3];
  const int64_t rotated = attrs.rotary_embedding_dim == 0 ? size : attrs.rotary_embedding_dim;
  const int64_t half = rotated / 2;
  const std::vector<int64_t> rows = cache_rows(call, shape[0] * length);
  // Pairs are neighbours, or are half the rotated dims apart.
  const int64_t pair_step = attrs.interleaved ? 2 : 1, partner = attrs.interleaved ? 1 : half;
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() {
    const T* x = call.inputs[0].data<T>();
    T* y = call.outputs[0].data<T>();
    for (int64_t line = 0; line < shape[0] * heads * length; ++line, x += size, y += size) {
      check_interrupted();
      const int64_t b = line / (heads * length);
      const int64_t t = packed ? line / heads % length : line % length;
      const int64_t cached = rows[static_cast<size_t>(b * length + t)] * half;
      for (int64_t i = 0; i < half; ++i) {
        const double cosine = call.inputs[1].data<T>()[cached + i];
        const double sine = call.inputs[2].data<T>()[cached + i];
        const double real = x[i * pair_step], imaginary = x[i * pair_step + partner];
        y[i * pair_step] = narrowed<T>(cosine * real - sine * imaginary);
        y[i * pair_step + partner] = narrowed<T>(sine * real + cosine * imaginary);
      }
      std::copy(x + rotated, x + size, y + rotated);
    }
  });
}

// ---- Rows

std::vector<Sample> attention_samples() {
  const SampleInput q4{.shape = {2, 4, 3, 8}}, k4{.shape = {2, 2, 5, 8}}, v4{.shape = {2, 2, 5, 6}};
  const SampleInput none{.omitted = true};
  const SampleInput causal{
      .shape = {3, 5},
      .value = Tensor::of<bool>({true, true, true, false, false, true, true, true, true, false,
                                 true, true, true, true, true},
                                {3, 5})};
  const SampleInput past_key{.shape = {2, 2, 4, 8}}, past_value{.shape = {2, 2, 4, 6}};
  const SampleInput lengths{.shape = {2}, .value = Tensor::vector<int64_t>({5, 4})};
  const AttrMap heads{{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  return {
      {.inputs = {q4, k4, v4}},
      {.inputs = {{.shape = {2, 3, 32}}, {.shape = {2, 5, 16}}, {.shape = {2, 5, 12}}},
       .attrs = heads},
      {.inputs = {q4, k4, v4, causal}, .attrs = {{"softcap", 2.f}, {"scale", 0.25f}}},
      {.inputs = {q4, k4, v4, none, past_key, past_value},
       .attrs = {{"is_causal", int64_t{1}}, {"qk_matmul_output_mode", int64_t{2}}},
       .outputs = 4},
      {.inputs = {q4, k4, v4, {.shape = {4, 3, 4}}, none, none, lengths},
       .attrs = {{"qk_matmul_output_mode", int64_t{3}}, {"softmax_precision", int64_t{1}}},
       .outputs = 4},
  };
}

std::vector<Sample> rotary_samples() {
  const SampleInput positions{.shape = {2, 3},
                              .value = Tensor::of<int64_t>({0, 1, 4, 2, 2, 3}, {2, 3})};
  return {
      {.inputs = {{.shape = {2, 4, 3, 8}}, {.shape = {5, 4}}, {.shape = {5, 4}}, positions}},
      {.inputs = {{.shape = {2, 3, 32}}, {.shape = {2, 3, 2}}, {.shape = {2, 3, 2}}},
       .attrs = {{"num_heads", int64_t{4}},
                 {"rotary_embedding_dim", int64_t{4}},
                 {"interleaved", int64_t{1}}}},
  };
}

}  // namespace

std::span<const OpDef> attention_ops() {
  static const OpDef kOps[] = {
      {.name = "Attention",
       .doc = "softmax(Q K' * scale + mask) V for each head, of [batch, heads, length, size] or "
              "[batch, length, heads * size], with a cache of past keys and values.",
       .since = 24,
       .signature = "(Q: T1, K: T1, V: T2, attn_mask?: U, past_key?: T1, past_value?: T2, "
                    "nonpad_kv_seqlen?: int64) -> (Y: T1, present_key?: T1, present_value?: T2, "
                    "qk_matmul_output?: T1)",
       .types = {{"T1", kFloats}, {"T2", kFloats}, {"U", kNumbers | DType::kBool}},
       .attrs = attr_schema<AttentionAttrs>(),
       .infer = infer_attention,
       .reference = run_attention,
       .grad = attention_grad,
       .facts = kSmallInMixed | kFloat32Kernels,
       .samples = attention_samples},
      {.name = "RotaryEmbedding",
       .doc = "X with pairs of its last axis rotated by the angles whose cosines and sines are "
              "given for each position.",
       .since = 23,
       .signature = "(X: T, cos_cache: T, sin_cache: T, position_ids?: M) -> (Y: T)",
       .types = {{"T", DTypeSet{DType::kFloat, DType::kFloat16, DType::kBFloat16}},
                 {"M", DType::kInt64}},
       .attrs = attr_schema<RotaryEmbeddingAttrs>(),
       .infer = infer_rotary,
       .reference = run_rotary,
       .grad = rotary_grad,
       .samples = rotary_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
