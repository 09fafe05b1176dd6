// GroupQueryAttention in other ops, as it is differentiated: the whole past stands before the new
// keys in one table, and masks say which of its columns each query sees.
#include <limits>

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/attention/attention_decomposition.h"
#include "ir/ops/attention/group_query_attention.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/quantization/blockwise_decomposition.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

// In what follows B is the batch, N the heads of queries, M those of keys and values, L the new
// tokens, P the rows of the past, C = P + L the columns of the table, and D the size of a head.
class GroupedOps {
 public:
  GroupedOps(Emitter& e, const BodyCall& c)
      : e_(e),
        c_(c),
        attrs_(c.attrs<GroupedAttrs>()),
        dtype_(e.type(c.inputs[GroupedInput::kQuery]).dtype) {
    read_sizes();
    count_keys();
    place_columns();
  }

  Vals all() {
    Vals projected = heads();
    const Term keys =
        table(GroupedInput::kPastKey, attrs_.k_quant_type, GroupedInput::kKeyScale, projected[1]);
    const Term values = table(GroupedInput::kPastValue, attrs_.v_quant_type,
                              GroupedInput::kValueScale, projected[2]);
    Vals outputs(c_.output_count);
    const Term raw = scores({&e_, projected[0]}, keys);
    const Term shares = probabilities(raw);
    outputs[0] = mixed(shares, values);
    if (outputs.size() > 1) outputs[1] = present(keys, attrs_.k_quant_type);
    if (outputs.size() > 2) outputs[2] = present(values, attrs_.v_quant_type);
    if (outputs.size() > 3) outputs[3] = shown(attrs_.qk_output == 1 ? raw : shares);
    return outputs;
  }

 private:
  Term list(const Ints& values) const { return int64s(e_, values); }
  Term shape(std::initializer_list<Val> lists) const { return {&e_, joined_lists(e_, lists)}; }
  Term unsqueezed(const Term& x, const Ints& axes) const {
    return apply("Unsqueeze", x, list(axes));
  }
  Term permuted(const Term& x, const Ints& permutation) const {
    return apply("Transpose", x, {{"perm", permutation}});
  }
  Term expanded(const Term& x, const Term& to) const { return apply("Expand", x, to); }
  // 0, 1 ... up to a list of one, exclusive.
  Term numbers_to(const Term& end) const {
    const Val last = call_folded(e_, "Reshape", {end, e_.int64s({})});
    return {&e_, call_folded(e_, "Range",
                             {e_.scalar(DType::kInt64, 0), last, e_.scalar(DType::kInt64, 1)})};
  }
  Term folded(std::string_view op, const Term& a, const Term& b) const {
    return {&e_, call_folded(e_, op, {a, b})};
  }

  void read_sizes() {
    const Val& query = c_.inputs[GroupedInput::kQuery];
    batch_ = dims_of(e_, query, 0, 1);
    length_ = {&e_, dims_of(e_, query, 1, 2)};
    const int64_t all =
        attrs_.num_heads + (c_.has(GroupedInput::kKey) ? 0 : 2 * attrs_.kv_num_heads);
    head_ = folded("Div", {&e_, dims_of(e_, query, 2, 3)}, list({all}));
    rows_ = c_.has(GroupedInput::kPastKey)
                ? Term{&e_, dims_of(e_, c_.inputs[GroupedInput::kPastKey], 2, 3)}
                : list({0});
    const AttrMap wide{{"to", static_cast<int64_t>(DType::kInt64)}};
    const Val total = call_folded(e_, "Cast", {c_.inputs[GroupedInput::kTotal]}, wide);
    total_ = folded("Reshape", {&e_, total}, list({1}));
  }

  // Computes for each batch entry, as [B, 1]: tokens before and after this call, and rows of the
  // past that are there.
  void count_keys() {
    const Term lengths = cast({&e_, c_.inputs[GroupedInput::kLengths]}, DType::kInt64);
    const Term keys = apply("Reshape", lengths, list({-1, 1})) + 1;
    is_first_ = folded("Equal", length_, total_);
    before_ = where(is_first_, 0, keys - length_);
    after_ = where(is_first_, length_, keys);
    resident_ = attrs_.sliding_window_cache ? resident(before_) : before_;
  }
  // resident_rows() of a cache of P rows.
  Term resident(const Term& tokens) const {
    const Term group = rows_ - attrs_.local_window_size + 1;
    const Term evicted = group * ((tokens - rows_ + group - 1) / group);
    return where(tokens <= rows_, tokens, tokens - evicted);
  }

  void place_columns() {
    columns_ = folded("Add", rows_, length_);
    const Term column = numbers_to(columns_), is_past = column < rows_;
    is_there_ = apply("Or", !is_past, column < resident_);
    position_ = where(is_past, before_ - resident_ + column, before_ + column - rows_);  // [B, C]
    const Term own = unsqueezed(before_ + numbers_to(length_), {2});  // [B, L, 1]
    const Term key = unsqueezed(position_, {1});
    Term sees = unsqueezed(is_there_, {1});
    if (attrs_.causal) sees = sees && key <= own;
    if (attrs_.local_window_size > 0) sees = sees && key > own - attrs_.local_window_size;
    sees_ = unsqueezed(sees, {1});  // [B, 1, L or 1, C]
  }

  // Query, key and value of this call, each [B, heads, L, D].
  Vals heads() const {
    const auto split = [&](const Val& x, int64_t count) {
      return reshaped({&e_, x}, shape({batch_, length_, e_.int64s({count}), head_}));
    };
    Vals parts;
    if (c_.has(GroupedInput::kKey)) {
      parts = {split(c_.inputs[GroupedInput::kQuery], attrs_.num_heads),
               split(c_.inputs[GroupedInput::kKey], attrs_.kv_num_heads),
               split(c_.inputs[GroupedInput::kValue], attrs_.kv_num_heads)};
    } else {
      const Ints sizes{attrs_.num_heads, attrs_.kv_num_heads, attrs_.kv_num_heads};
      const Vals inputs{split(c_.inputs[GroupedInput::kQuery], sizes[0] + 2 * sizes[1]),
                        e_.int64s(sizes)};
      parts = e_.call_many("Split", inputs, {{"axis", int64_t{2}}}, 3);
    }
    parts[0] = normalized(parts[0], GroupedInput::kQueryNorm);
    parts[1] = normalized(parts[1], GroupedInput::kKeyNorm);
    for (Val& part : parts)
      part = permuted({&e_, part}, {0, 2, 1, 3});
    for (size_t i = 0; i < 2 && attrs_.do_rotary; ++i)
      parts[i] = rotated(parts[i]);
    return parts;
  }

  Val normalized(const Val& x, GroupedInput::InputIndex weights) const {
    if (!c_.has(weights)) return x;
    return e_.call("RMSNormalization",
                   {x, e_.call("Reshape", {c_.inputs[weights], e_.int64s({-1})})},
                   {{"axis", int64_t{-1}}, {"epsilon", attrs_.qk_norm_epsilon}});
  }

  Val rotated(const Val& x) const {
    Term places = before_ + numbers_to(length_);  // [B, L]
    if (c_.has(GroupedInput::kPositions)) {
      const Term given{&e_, c_.inputs[GroupedInput::kPositions]};
      const Term flat = apply("Reshape", given, list({-1}));
      const Term first{&e_, e_.call("Slice", {flat, e_.int64s({0}), e_.int64s({1})})};
      places = where(is_first_, first + numbers_to(length_), given);
    }
    const auto rows = [&](GroupedInput::InputIndex cache) {
      return unsqueezed(apply("Gather", Term{&e_, c_.inputs[cache]}, places), {1});
    };
    const Term transposed =
        folded("Mul", {&e_, dims_of(e_, c_.inputs[GroupedInput::kCos], 1, 2)}, list({2}));
    return rotary_heads(e_, x, rows(GroupedInput::kCos), rows(GroupedInput::kSin), transposed,
                        attrs_.rotary_interleaved);
  }

  // A scale of a cache, of one element or of one for each head and channel, against [B, M, ., D].
  Term step_of(GroupedInput::InputIndex scale, const CacheForm& form) const {
    const Term given{&e_, c_.inputs[scale]};
    if (!form.is_per_channel) return apply("Reshape", given, list({1}));
    return reshaped(given, shape({e_.int64s({attrs_.kv_num_heads, 1}), head_}));
  }

  // New rows as a cache that rounds gives them back.
  Term rounded(const Term& fresh, GroupedInput::InputIndex past, const CacheForm& form,
               const Term& step) const {
    const Term codes = cast(fresh, DType::kFloat) / step;
    const DType stored = c_.has(past) ? e_.type(c_.inputs[past]).dtype : DType::kInt8;
    if (stored == DType::kFloat8E4M3FN) return cast(cast(codes, stored), DType::kFloat) * step;
    const double bound = form.bits == 4 ? 8 : 128;
    return apply("Clip", apply("Round", codes), codes.number(-bound), codes.number(bound - 1)) *
           step;
  }

  Term past_codes(GroupedInput::InputIndex past, const CacheForm& form) const {
    const Term stored{&e_, c_.inputs[past]};
    if (form.bits == 8) return cast(stored, DType::kFloat);
    const Term all{&e_, unpacked(e_, stored, 4, DType::kFloat)};
    return Term{&e_, e_.call("Slice", {all, e_.int64s({0}), head_, e_.int64s({3})})} - 8;
  }

  // [B, M, C, D]: the past and what came behind it; zeros where no row is.
  Term table(GroupedInput::InputIndex past, const std::string& quant_type,
             GroupedInput::InputIndex scale, const Val& projected) const {
    const CacheForm form = cache_form(quant_type, attrs_);
    Term fresh{&e_, projected};
    const Term step = form.is_quantized ? step_of(scale, form) : fresh;
    if (form.is_quantized) fresh = cast(rounded(fresh, past, form, step), dtype_);
    if (!c_.has(past)) return fresh;
    const Term old = form.is_quantized ? cast(past_codes(past, form) * step, dtype_)
                                       : Term{&e_, c_.inputs[past]};
    const Vals both{old, fresh};
    const Term all{&e_, e_.call_many("Concat", both, {{"axis", int64_t{2}}}, 1)[0]};
    return where(unsqueezed(is_there_, {1, 3}), all, 0);
  }

  // [B, N, L, D] <-> [B, M, N / M, L, D]
  Term grouped(const Term& x, const Term& last) const {
    const int64_t group = attrs_.num_heads / attrs_.kv_num_heads;
    return reshaped(x, shape({batch_, e_.int64s({attrs_.kv_num_heads, group}), length_, last}));
  }
  Term ungrouped(const Term& x, const Term& last) const {
    return reshaped(x, shape({batch_, e_.int64s({attrs_.num_heads}), length_, last}));
  }

  // [B, N, L, C], before the softmax.
  Term scores(const Term& query, const Term& keys) const {
    const Term transposed = permuted(unsqueezed(keys, {2}), {0, 1, 2, 4, 3});
    const Term products = ungrouped(apply("MatMul", grouped(query, head_), transposed), columns_);
    const float given = attrs_.scale.value_or(0);
    Term sums =
        given != 0 ? products * double{given} : products / apply("Sqrt", cast(head_, dtype_));
    if (attrs_.softcap > 0) {
      const double cap = attrs_.softcap;
      sums = apply("Tanh", sums / cap) * cap;
    }
    return c_.has(GroupedInput::kBias) ? sums + bias() : sums;
  }

  Term by_position(const Term& last) const {
    const Term place = unsqueezed(apply("Min", position_, last - 1), {1, 2});
    return expanded(place, shape({batch_, e_.int64s({attrs_.num_heads}), length_, columns_}));
  }

  // The bias of each column, by its position.
  Term bias() const {
    const Term given{&e_, c_.inputs[GroupedInput::kBias]};
    const Term rows{&e_, e_.call("Slice", {given, e_.int64s({0}), length_, e_.int64s({2})})};
    const Term last{&e_, dims_of(e_, given, 3, 4)};
    const Term all = expanded(rows, shape({batch_, e_.int64s({attrs_.num_heads}), length_, last}));
    return apply("GatherElements", all, by_position(last), {{"axis", int64_t{3}}});
  }

  // [B, N, L, C]; a sink takes its share and gives nothing.
  Term probabilities(const Term& raw) const {
    const AttrMap last{{"axis", int64_t{-1}}};
    Term seen = where(sees_, raw, -std::numeric_limits<double>::infinity());
    const bool has_sink = c_.has(GroupedInput::kSink) || attrs_.smooth_softmax == 1;
    if (!has_sink) return apply("Softmax", seen, last);
    const Term sink =
        c_.has(GroupedInput::kSink)
            ? apply("Reshape", Term{&e_, c_.inputs[GroupedInput::kSink]}, list({1, -1, 1, 1}))
            : apply("Reshape", raw.number(0), list({1, 1, 1, 1}));
    const Vals both{
        seen,
        expanded(sink, shape({batch_, e_.int64s({attrs_.num_heads}), length_, e_.int64s({1})}))};
    const Term all = apply("Softmax", Term{&e_, e_.call_many("Concat", both, last, 1)[0]}, last);
    return {&e_, e_.call("Slice", {all, e_.int64s({0}), columns_, e_.int64s({3})})};
  }

  Val mixed(const Term& shares, const Term& values) const {
    const Term sums = apply("MatMul", grouped(shares, columns_), unsqueezed(values, {2}));
    const Term tokens = permuted(ungrouped(sums, head_), {0, 2, 1, 3});
    const Term features = folded("Mul", head_, list({attrs_.num_heads}));
    return reshaped(tokens, shape({batch_, length_, features}));
  }

  // [B, M, rows of the cache behind this call, D], zeros where none is; empty where it holds
  // integers.
  Val present(const Term& all, const std::string& quant_type) const {
    if (cache_form(quant_type, attrs_).is_quantized) return {};
    const bool slides = attrs_.sliding_window_cache;
    const Term size = slides                           ? rows_
                      : c_.has(GroupedInput::kPastKey) ? folded("Max", rows_, total_)
                                                       : total_;
    const Term held = resident_ + length_;
    const Term kept = slides ? resident(after_) : held;
    const Term row = numbers_to(size);      // [rows]
    const Term source = row + held - kept;  // [B, rows]
    const Term column = where(source < resident_, source, source + rows_ - resident_);
    const Term is_kept = row < kept;
    const Term to = shape({batch_, e_.int64s({attrs_.kv_num_heads}), size, head_});
    const Term index = expanded(unsqueezed(where(is_kept, column, 0), {1, 3}), to);
    const Term found = apply("GatherElements", all, index, {{"axis", int64_t{2}}});
    return where(unsqueezed(is_kept, {1, 3}), found, 0);
  }

  // Scores or probabilities as [B, N, L, total_sequence_length], by the position of the key.
  Val shown(const Term& table) const {
    const Term to = shape({batch_, e_.int64s({attrs_.num_heads}), length_, total_});
    const Term zeros = expanded(table.number(0), to);
    return e_.call("ScatterElements", {zeros, by_position(total_), where(sees_, table, 0)},
                   {{"axis", int64_t{3}}, {"reduction", std::string("add")}});
  }

  Emitter& e_;
  const BodyCall& c_;
  const GroupedAttrs& attrs_;
  const DType dtype_;
  // Lists of one.
  Val batch_;
  Term length_{}, head_{}, rows_{}, total_{}, columns_{}, is_first_{};
  Term before_{}, after_{}, resident_{};  // [B, 1]
  Term is_there_{}, position_{};          // [B, C]
  Term sees_{};                           // [B, 1, L or 1, C]
};

Vals grouped_decomposition(Emitter& e, const BodyCall& c) {
  return GroupedOps(e, c).all();
}

}  // namespace

Vals grouped_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, grouped_decomposition);
}

}  // namespace sardonyx::ops
