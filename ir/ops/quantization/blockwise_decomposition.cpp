#include "ir/ops/quantization/blockwise_decomposition.h"

#include <cmath>

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/quantization/nbits.h"

namespace sardonyx::ops {
namespace {

// ---- MatMulNBits

Val first_columns(Emitter& e, const Val& x, int64_t count) {
  return e.call("Slice", {x, e.int64s({0}), e.int64s({count}), e.int64s({1})});
}

// The group of each feature, a list.
Val groups_of_features(Emitter& e, const BodyCall& c, const NBitsAttrs& attrs) {
  if (c.has(kGroups)) {
    return e.call("Slice",
                  {reshape(e, c.inputs[kGroups], {-1}), e.int64s({0}), e.int64s({attrs.K})});
  }
  std::vector<int64_t> blocks;
  for (int64_t k = 0; k < attrs.K; ++k)
    blocks.push_back(k / attrs.block_size);
  return e.int64s(blocks);
}

Vals matmul_of_written_weights(Emitter& e, const BodyCall& c) {
  const auto& a = c.attrs<NBitsAttrs>();
  const DType dtype = e.type(c.inputs[kA]).dtype;
  const Val table = reshape(e, c.inputs[kB], {a.N, a.blocks() * a.block_bytes()});
  const Val values = first_columns(e, unpacked(e, table, a.bits, dtype), a.K);
  const Val groups = groups_of_features(e, c, a);
  const auto of_blocks = [&](const Val& x) {  // [N, blocks] -> [N, K]
    return Term{&e, e.call("Gather", {x, groups}, {{"axis", int64_t{1}}})};
  };
  Term shifted{&e, values};
  if (!c.has(kZeroPoints)) {
    shifted = shifted - std::ldexp(1.0, static_cast<int>(a.bits) - 1);
  } else if (e.type(c.inputs[kZeroPoints]).dtype == DType::kUInt8) {
    const Val packed = reshape(e, c.inputs[kZeroPoints], {a.N, a.zero_point_bytes()});
    shifted = shifted - of_blocks(first_columns(e, unpacked(e, packed, a.bits, dtype), a.blocks()));
  } else {
    shifted = shifted - of_blocks(reshape(e, c.inputs[kZeroPoints], {a.N, a.blocks()}));
  }
  const Term weights = shifted * of_blocks(reshape(e, c.inputs[kScales], {a.N, a.blocks()}));
  const Val product = e.call("MatMul", {c.inputs[kA], e.call("Transpose", {weights})});
  return {c.has(kBias) ? e.call("Add", {product, reshape(e, c.inputs[kBias], {a.N})}) : product};
}

// ---- GatherBlockQuantized

class GatheredBlocks {
 public:
  GatheredBlocks(Emitter& e, const BodyCall& c)
      : e_(e),
        call_(c),
        attrs_(c.attrs<GatherBlockAttrs>()),
        dtype_(e.type(c.inputs[kGatherScales]).dtype),
        data_dtype_(e.type(c.inputs[kData]).dtype) {
    const auto rank = static_cast<int64_t>(rank_of(e, c.inputs[kData], c.op.name));
    axis_ = attrs_.gather_axis < 0 ? attrs_.gather_axis + rank : attrs_.gather_axis;
    along_ = attrs_.quantize_axis < 0 ? attrs_.quantize_axis + rank : attrs_.quantize_axis;
    trailing_ = rank - axis_ - 1;
    const Term index = cast({&e, c.inputs[kIndices]}, DType::kInt64);
    const Term size = scalar(dims_of(e, c.inputs[kData], axis_, axis_ + 1));
    inside_ = (index >= -size && index < size).val;
    index_ = where({&e, inside_}, where(index < 0, index + size, index), 0).val;
  }

  // Rows are taken first, so that only they are written out, unless blocks are along them.
  Val all() const {
    const Val& scales = call_.inputs[kGatherScales];
    const Val data = gatherable(call_.inputs[kData]);
    const Val points =
        call_.has(kGatherZeroPoints) ? gatherable(call_.inputs[kGatherZeroPoints]) : Val();
    if (axis_ == along_) return with_zeros(taken(real(data, scales, points, along_)));
    const auto index_rank = static_cast<int64_t>(rank_of(e_, index_, call_.op.name));
    const int64_t along = along_ < axis_ ? along_ : along_ + index_rank - 1;
    return with_zeros(real(taken(data), taken(scales), points ? taken(points) : points, along));
  }

 private:
  // Gather does not know the types of few bits.
  Val gatherable(const Val& stored) const {
    return data_dtype_ == DType::kUInt8 ? stored : cast({&e_, stored}, dtype_).val;
  }

  Term scalar(const Val& list) const {
    return {&e_, call_folded(e_, "Reshape", {list, e_.int64s({})})};
  }

  // The rows that are asked for; of a table of one row, that one.
  Val taken(const Val& table) const {
    const Term last = scalar(dims_of(e_, table, axis_, axis_ + 1)) - 1;
    const Term index = apply("Min", Term{&e_, index_}, last);
    return e_.call("Gather", {table, index}, {{"axis", axis_}});
  }

  Term numbers(const Val& stored) const {
    if (values_per_element(data_dtype_, attrs_) == 1) return cast({&e_, stored}, dtype_);
    return {&e_, unpacked(e_, stored, attrs_.bits, dtype_)};
  }

  // Repeats the elements of `list` so that there is one for each of `length` along an axis.
  Term spread(const Term& list, const Term& length, int64_t along) const {
    const Val zero = e_.scalar(DType::kInt64, 0), one = e_.scalar(DType::kInt64, 1);
    const Val place = call_folded(e_, "Range", {zero, length, one});
    const Val block = attrs_.block_size == 0
                          ? call_folded(e_, "Mul", {place, zero})
                          : call_folded(e_, "Div", {place, e_.int64s({attrs_.block_size})});
    const Term last = scalar(dims_of(e_, list, along, along + 1)) - 1;
    const Val index = call_folded(e_, "Min", {block, last});
    return {&e_, e_.call("Gather", {list, index}, {{"axis", along}})};
  }

  Val real(const Val& stored, const Val& scales, const Val& points, int64_t along) const {
    Term values = numbers(stored);
    const Term length = scalar(dims_of(e_, values, along, along + 1));
    if (call_.has(kGatherZeroPoints)) {
      values = values - spread(numbers(points), length, along);
    } else if (data_dtype_ == DType::kUInt8) {
      values = values - std::ldexp(1.0, static_cast<int>(attrs_.bits) - 1);
    }
    return values * spread({&e_, scales}, length, along);
  }

  // An index outside the table gives zeros.
  Val with_zeros(const Val& rows) const {
    std::vector<int64_t> axes;
    for (int64_t i = -trailing_; i < 0; ++i)
      axes.push_back(i);
    const Term inside{&e_,
                      axes.empty() ? inside_ : e_.call("Unsqueeze", {inside_, e_.int64s(axes)})};
    return where(inside, Term{&e_, rows}, 0);
  }

  Emitter& e_;
  const BodyCall& call_;
  const GatherBlockAttrs& attrs_;
  const DType dtype_, data_dtype_;
  int64_t axis_ = 0, along_ = 0, trailing_ = 0;
  Val inside_, index_;  // index_: from 0 on, 0 for what is outside
};

Vals gather_of_written_blocks(Emitter& e, const BodyCall& c) {
  return {GatheredBlocks(e, c).all()};
}

}  // namespace

Val unpacked(Emitter& e, const Val& bytes, int64_t bits, DType dtype) {
  const Term table =
      bits == 8 ? Term{&e, bytes} : Term{&e, e.call("Unsqueeze", {bytes, e.int64s({-1})})};
  if (bits == 8) return cast(table, dtype);
  const auto rank = static_cast<int64_t>(rank_of(e, bytes, "weights in few bits"));
  Vals parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const Term low = apply("BitShift", table, table.number(static_cast<double>(shift)),
                           {{"direction", std::string("RIGHT")}});
    parts.push_back(apply("BitwiseAnd", low, low.number(static_cast<double>((1 << bits) - 1))));
  }
  const Term all{&e, e.call_many("Concat", parts, {{"axis", int64_t{-1}}}, 1)[0]};
  const Val count =
      call_folded(e, "Mul", {dims_of(e, bytes, rank - 1, rank), e.int64s({8 / bits})});
  const Val shape = joined_lists(e, {dims_of(e, bytes, 0, rank - 1), count});
  return cast(reshaped(all, {&e, shape}), dtype);
}

Vals matmul_nbits_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, matmul_of_written_weights);
}

Vals gather_block_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, gather_of_written_blocks);
}

}  // namespace sardonyx::ops
