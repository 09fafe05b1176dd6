// FusedAttention on float32: a head at a time, out of the operands as they are stored and straight
// to where the result is wanted.
#include "ir/ops/attention/fused_attention.h"

#include <algorithm>

#include "ir/core/strides.h"
#include "providers/cpu/attention/flash_attention.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using ops::FusedAttentionAttrs;

enum HeadAxis : uint8_t { kBatchAxis, kHeadAxis, kLengthAxis, kSizeAxis };
using HeadSizes = std::array<int64_t, 4>;

// An operand or the result as [batch, heads, length, size].
struct HeadLines {
  HeadSizes sizes, steps;  // a step of 0: repeated
  int64_t first = 0;       // element
  int64_t group = 1;       // heads of the result that one serves

  int64_t at(int64_t b, int64_t h) const {
    return first + b * steps[kBatchAxis] + h / group * steps[kHeadAxis];
  }
};

HeadLines lines_of_heads(const KernelRequest& request, size_t operand) {
  const Shape& shape = request.inputs[operand].shape;
  const ops::StoredHeads heads =
      ops::stored_heads(request.attrs<FusedAttentionAttrs>(), operand, shape.size());
  const Strides strides = row_major_strides(shape);
  HeadLines lines{};
  for (size_t axis = 0; axis < 4; ++axis) {
    lines.sizes[axis] = shape[heads.axes[axis]];
    lines.steps[axis] = lines.sizes[axis] == 1 ? 0 : strides[heads.axes[axis]];
  }
  if (heads.fixed) {
    const int64_t count = shape[*heads.fixed];
    lines.first = (heads.index < 0 ? heads.index + count : heads.index) * strides[*heads.fixed];
  }
  return lines;
}

HeadLines lines_of_result(const KernelRequest& request) {
  const auto& perm = request.attrs<FusedAttentionAttrs>().out_perm;
  const Shape& shape = request.outputs[0].shape;
  const Strides strides = row_major_strides(shape);
  HeadLines lines{};
  for (size_t stored = 0; stored < 4; ++stored) {
    const size_t axis = perm.empty() ? stored : static_cast<size_t>(perm[stored]);
    lines.sizes[axis] = shape[stored];
    lines.steps[axis] = strides[stored];
  }
  return lines;
}

// How a mask repeats to the scores. Its last two steps are those of queries and keys.
struct MaskLines {
  bool is_there = false;
  HeadSizes steps{};
};

std::optional<MaskLines> lines_of_mask(const KernelRequest& request, size_t input,
                                       const HeadSizes& scores) {
  MaskLines lines;
  if (!request.has(input)) return lines;
  const Shape& shape = request.inputs[input].shape;
  if (shape.size() > 4) return std::nullopt;
  lines.is_there = true;
  const Strides strides = row_major_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t axis = 4 - shape.size() + i;
    if (shape[i] != 1 && shape[i] != scores[axis]) return std::nullopt;
    lines.steps[axis] = shape[i] == 1 ? 0 : strides[i];
  }
  return lines;
}

template <typename T>
AttentionMask<T> mask_of_head(const MaskLines& lines, const void* mask, int64_t b, int64_t h) {
  if (!lines.is_there) return {};
  const auto& steps = lines.steps;
  return {static_cast<const T*>(mask) + b * steps[kBatchAxis] + h * steps[kHeadAxis],
          steps[kLengthAxis], steps[kSizeAxis]};
}

struct HeadsCall {
  HeadLines q, k, v, out;
  MaskLines added, kept;
};

class FusedAttentionKernel : public Kernel {
 public:
  FusedAttentionKernel(const HeadsCall& call, const AttentionForm& form, int threads)
      : c_(call), heads_(form, c_.out.sizes[kBatchAxis] * c_.out.sizes[kHeadAxis], threads) {}

  size_t scratch_bytes() const override { return heads_.scratch_bytes(); }

  void run(const KernelArgs& args) const override {
    const auto* q = static_cast<const float*>(args.inputs[ops::kFusedQuery]);
    const auto* k = static_cast<const float*>(args.inputs[ops::kFusedKey]);
    const auto* v = static_cast<const float*>(args.inputs[ops::kFusedValue]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const void* added = c_.added.is_there ? args.inputs[ops::kFusedAdded] : nullptr;
    const void* kept = c_.kept.is_there ? args.inputs[ops::kFusedKept] : nullptr;
    heads_.run(args.scratch, [&](int64_t index) {
      const int64_t b = index / c_.out.sizes[kHeadAxis], h = index % c_.out.sizes[kHeadAxis];
      AttentionHead head{};
      head.queries = q + c_.q.at(b, h);
      head.keys = k + c_.k.at(b, h);
      head.values = v + c_.v.at(b, h);
      head.out = out + c_.out.at(b, h);
      head.key_count = c_.k.sizes[kLengthAxis];
      head.added = mask_of_head<float>(c_.added, added, b, h);
      head.kept = mask_of_head<bool>(c_.kept, kept, b, h);
      return head;
    });
  }

 private:
  HeadsCall c_;
  HeadAttention heads_;
};

// Elements of one row are adjacent; a step of 0 is that of a single element.
bool has_whole_rows(const HeadLines& lines) {
  return lines.steps[kSizeAxis] <= 1;
}

AttentionForm attention_form(const FusedAttentionAttrs& attrs, const HeadsCall& call) {
  AttentionForm form;
  form.queries = call.q.sizes[kLengthAxis];
  form.keys = call.k.sizes[kLengthAxis];
  form.size = call.q.sizes[kSizeAxis];
  form.value_size = call.v.sizes[kSizeAxis];
  form.query_step = call.q.steps[kLengthAxis];
  form.key_step = call.k.steps[kLengthAxis];
  form.key_element_step = has_whole_rows(call.k) ? 1 : call.k.steps[kSizeAxis];
  form.value_step = call.v.steps[kLengthAxis];
  form.out_step = call.out.steps[kLengthAxis];
  form.scale = attrs.scale;
  form.fill = attrs.fill;
  form.fills_last = attrs.fills_last;
  form.zeroes_nan = attrs.zeroes_nan;
  return form;
}

// An index that is none is for the body to complain of.
bool has_valid_indices(const KernelRequest& request) {
  const auto& attrs = request.attrs<FusedAttentionAttrs>();
  for (size_t operand = 0; operand < 3; ++operand) {
    const Shape& shape = request.inputs[operand].shape;
    const ops::StoredHeads heads = ops::stored_heads(attrs, operand, shape.size());
    if (!heads.fixed) continue;
    const int64_t count = shape[*heads.fixed];
    if (heads.index < -count || heads.index >= count) return false;
  }
  return true;
}

// Single queries that share keys and values become queries of one head, which reads these once.
void join_queries(HeadsCall& call) {
  const int64_t group = call.k.group;
  const bool can_join = group > 1 && call.v.group == group && call.q.sizes[kLengthAxis] == 1 &&
                        call.q.sizes[kHeadAxis] == call.out.sizes[kHeadAxis];
  if (!can_join) return;
  call.k.group = call.v.group = 1;
  call.out.sizes[kHeadAxis] /= group;
  call.q.sizes[kLengthAxis] = group;
  for (HeadSizes* steps : {&call.q.steps, &call.out.steps, &call.added.steps, &call.kept.steps}) {
    (*steps)[kLengthAxis] = (*steps)[kHeadAxis];
    (*steps)[kHeadAxis] *= group;
  }
}

Prepared prepare_fused_attention(const KernelRequest& request) {
  for (size_t operand = 0; operand < 4; ++operand) {
    if (request.has(operand) && request.inputs[operand].dtype != DType::kFloat)
      return Prepared::refuse("only float is computed here");
  }
  if (request.outputs[0].shape.size() != 4) return Prepared::refuse("a mask has more than 4 dims");
  if (element_count(request.outputs[0].shape) == 0)
    return Prepared::refuse("there are no elements");
  if (!has_valid_indices(request)) return Prepared::refuse("an index is out of range");
  HeadsCall call{lines_of_heads(request, ops::kFusedQuery),
                 lines_of_heads(request, ops::kFusedKey),
                 lines_of_heads(request, ops::kFusedValue),
                 lines_of_result(request),
                 {},
                 {}};
  if (call.q.sizes[kSizeAxis] == 0) return Prepared::refuse("there are no products");
  const HeadSizes scores{call.out.sizes[kBatchAxis], call.out.sizes[kHeadAxis],
                         call.q.sizes[kLengthAxis], call.k.sizes[kLengthAxis]};
  const bool is_enlarged = call.out.sizes[kLengthAxis] != scores[kLengthAxis];
  const auto added = lines_of_mask(request, ops::kFusedAdded, scores);
  const auto kept = lines_of_mask(request, ops::kFusedKept, scores);
  if (!added || !kept || is_enlarged) return Prepared::refuse("a mask is larger than the scores");
  call.added = *added;
  call.kept = *kept;
  const auto& attrs = request.attrs<FusedAttentionAttrs>();
  call.k.group = attrs.k_repeats;
  call.v.group = attrs.v_repeats;
  join_queries(call);
  const bool has_columns = call.k.steps[kLengthAxis] <= 1;
  if (!has_whole_rows(call.q) || !has_whole_rows(call.v) || !has_whole_rows(call.out) ||
      !(has_whole_rows(call.k) || has_columns))
    return Prepared::refuse("elements of a row are not adjacent");
  const AttentionForm form = attention_form(attrs, call);
  return Prepared::accept(std::make_unique<FusedAttentionKernel>(call, form, request.threads),
                          "fused_attention");
}

constexpr KernelEntry kFusedAttentionEntries[] = {
    {"sardonyx::FusedAttention", "fused_attention", prepare_fused_attention}};

}  // namespace

std::span<const KernelEntry> fused_attention_kernels() {
  return kFusedAttentionEntries;
}

}  // namespace sardonyx::cpu
