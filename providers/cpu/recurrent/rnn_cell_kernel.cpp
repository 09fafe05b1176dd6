#include "providers/cpu/recurrent/rnn_cell_kernel.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/recurrent/rnn_cell_kernel.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/activation-inl.h"
#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// sums[row * gates + gate] += in[row * in_stride] * panel[gate], for one k. The fewer of weights
// and inputs stay in registers: each is loaded once, since loads and not multiply-adds are the
// limit.
template <size_t kGates, size_t kRows>
HWY_INLINE void multiply_add(const float* in, size_t in_stride, const float* panel,
                             V* HWY_RESTRICT sums) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  if constexpr (kGates <= kRows) {
    V w[kGates];
    for (size_t gate = 0; gate < kGates; ++gate)
      w[gate] = hn::LoadU(d, panel + gate * lanes);
    for (size_t row = 0; row < kRows; ++row) {
      const V x = hn::Set(d, in[row * in_stride]);
      for (size_t gate = 0; gate < kGates; ++gate)
        sums[row * kGates + gate] = hn::MulAdd(x, w[gate], sums[row * kGates + gate]);
    }
  } else {
    V x[kRows];
    for (size_t row = 0; row < kRows; ++row)
      x[row] = hn::Set(d, in[row * in_stride]);
    for (size_t gate = 0; gate < kGates; ++gate) {
      const V w = hn::LoadU(d, panel + gate * lanes);
      for (size_t row = 0; row < kRows; ++row)
        sums[row * kGates + gate] = hn::MulAdd(x[row], w, sums[row * kGates + gate]);
    }
  }
}

// sums[row * gates + gate] += in[row][k] * panel[k][gate], with two sets of sums where there are
// too few to hide the latency of a multiply-add.
constexpr size_t kAhead = 4;
template <size_t kGates, size_t kRows>
HWY_INLINE void multiply(const float* in, size_t in_stride, size_t depth, const float* panel,
                         V* HWY_RESTRICT sums) {
  const D d;
  const size_t k_stride = kGates * hn::Lanes(d);
  V first[kRows * kGates], second[kRows * kGates];
  for (size_t i = 0; i < kRows * kGates; ++i)
    first[i] = sums[i], second[i] = hn::Zero(d);
  constexpr size_t kUnroll = kRows * kGates < 8 ? 2 : 1;
  size_t k = 0;
  for (; k + kUnroll <= depth; k += kUnroll) {
    for (size_t line = 0; line < kUnroll * kGates; ++line)
      hwy::Prefetch(panel + (k + kAhead) * k_stride + line * hn::Lanes(d));
    multiply_add<kGates, kRows>(in + k, in_stride, panel + k * k_stride, first);
    if constexpr (kUnroll == 2)
      multiply_add<kGates, kRows>(in + k + 1, in_stride, panel + (k + 1) * k_stride, second);
  }
  if (k < depth) multiply_add<kGates, kRows>(in + k, in_stride, panel + k * k_stride, first);
  for (size_t i = 0; i < kRows * kGates; ++i)
    sums[i] = kUnroll == 2 ? hn::Add(first[i], second[i]) : first[i];
}

template <size_t kGates, size_t kRows>
HWY_INLINE void products(const float* in, size_t in_stride, size_t depth, const float* panel,
                         const float* bias, float* out, size_t out_stride) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[kRows * kGates];
  for (size_t i = 0; i < kRows * kGates; ++i)
    sums[i] = hn::LoadU(d, bias + i % kGates * lanes);
  multiply<kGates, kRows>(in, in_stride, depth, panel, sums);
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t gate = 0; gate < kGates; ++gate) {
      hn::StoreU(sums[row * kGates + gate], d, out + row * out_stride + gate * lanes);
    }
  }
}

// Calls visit(first row, their count as a constant) for rows in about even parts of at most kMax,
// so that none is left to go alone.
template <size_t kMax, typename Visit>
HWY_INLINE void visit_counted(size_t first, size_t count, const Visit& visit) {
  if constexpr (kMax > 0) {
    if (count == kMax) return visit(first, std::integral_constant<size_t, kMax>());
    visit_counted<kMax - 1>(first, count, visit);
  }
}
template <size_t kMax, typename Visit>
HWY_INLINE void for_parts(size_t rows, const Visit& visit) {
  const size_t parts = (rows + kMax - 1) / kMax;
  for (size_t part = 0; part < parts; ++part) {
    const size_t first = rows * part / parts;
    visit_counted<kMax>(first, rows * (part + 1) / parts - first, visit);
  }
}

// Rows whose sums, with the weights and an input, fill the registers.
template <size_t kGates>
constexpr size_t kRowsAtOnce = (HWY_TARGET <= HWY_AVX3 ? 24 : 12) / (kGates < 3 ? 4 : kGates);

template <size_t kGates>
HWY_INLINE void all_products(const float* in, size_t in_stride, size_t rows, size_t depth,
                             const float* panel, const float* bias, float* out, size_t out_stride) {
  for_parts<kRowsAtOnce<kGates>>(rows, [&](size_t row, auto count) HWY_ATTR {
    products<kGates, decltype(count)::value>(in + row * in_stride, in_stride, depth, panel, bias,
                                             out + row * out_stride, out_stride);
  });
}

void GateProducts(size_t gates, const float* in, size_t in_stride, size_t rows, size_t depth,
                  const float* panel, const float* bias, float* out, size_t out_stride) {
  switch (gates) {
    case 1:
      return all_products<1>(in, in_stride, rows, depth, panel, bias, out, out_stride);
    case 2:
      return all_products<2>(in, in_stride, rows, depth, panel, bias, out, out_stride);
    case 3:
      return all_products<3>(in, in_stride, rows, depth, panel, bias, out, out_stride);
    default:
      return all_products<4>(in, in_stride, rows, depth, panel, bias, out, out_stride);
  }
}

// Calls finish(row, sums) for each row, where sums[gate] = start(row, gate) + the recurrent
// products of `h`. As many rows as registers allow are processed in one pass, so that the panel is
// read once for them all.
template <size_t kGates, typename Start, typename Epilogue>
HWY_INLINE void for_rows(const CellStep& s, const float* h, const Start& start,
                         const Epilogue& finish) {
  for_parts<kRowsAtOnce<kGates>>(s.rows, [&](size_t row, auto count) HWY_ATTR {
    constexpr size_t kRows = decltype(count)::value;
    V sums[kRows * kGates];
    for (size_t i = 0; i < kRows * kGates; ++i)
      sums[i] = start(row + i / kGates, i % kGates);
    multiply<kGates, kRows>(h + row * s.h_stride, s.h_stride, s.depth, s.panel, sums);
    for (size_t i = 0; i < kRows; ++i)
      finish(row + i, sums + i * kGates);
  });
}

// The input's part of a gate.
HWY_INLINE V input_part(const CellStep& s, size_t row, size_t gate) {
  const D d;
  return hn::LoadU(d, s.x.of(row) + gate * hn::Lanes(d));
}

// The rare activations, not inlined.
HWY_NOINLINE V other_function(const CellFunction& f, V x) {
  using Kind = CellFunctionKind;
  const V zero = set(0), one = set(1), alpha = set(f.alpha), beta = set(f.beta);
  switch (f.kind) {
    case Kind::kAffine:
      return hn::MulAdd(x, alpha, beta);
    case Kind::kLeakyRelu:
      return hn::IfThenElse(hn::Ge(x, zero), x, hn::Mul(alpha, x));
    case Kind::kThresholdedRelu:
      return hn::IfThenZeroElse(hn::Lt(x, alpha), x);
    case Kind::kScaledTanh:
      return hn::Mul(alpha, tanh_of(hn::Mul(beta, x)));
    case Kind::kElu:
      return elu(x, alpha);
    case Kind::kSoftsign:
      return hn::Div(x, hn::Add(one, hn::Abs(x)));
    case Kind::kSoftplus:
      return softplus(x);
    default:
      return clipped(hn::MulAdd(x, alpha, beta), zero, one);  // kHardSigmoid
  }
}

HWY_INLINE V activated(const CellFunctions& all, const CellFunction& f, V x) {
  if (all.clip < HUGE_VALF) x = clipped(x, set(-all.clip), set(all.clip));
  if (f.kind == CellFunctionKind::kSigmoid) return sigmoid(x);
  if (f.kind == CellFunctionKind::kTanh) return tanh_of(x);
  if (f.kind == CellFunctionKind::kRelu) return clipped(x, set(0), set(HUGE_VALF));
  return other_function(f, x);
}
HWY_INLINE V gate_of(const CellStep& s, V x) {
  return activated(s.functions, s.functions.gate, x);
}
HWY_INLINE V candidate_of(const CellStep& s, V x) {
  return activated(s.functions, s.functions.candidate, x);
}

void RnnStep(const CellStep& s) {
  const D d;
  for_rows<1>(
      s, s.h, [&](size_t row, size_t gate) HWY_ATTR { return input_part(s, row, gate); },
      [&](size_t row, const V* sums) HWY_ATTR {
        hn::StoreU(candidate_of(s, sums[0]), d, s.h_out + row * s.h_stride + s.unit);
      });
}

// `sum` and the peephole's part of gate `gate`, which sees the cell state.
HWY_INLINE V with_peephole(const CellStep& s, size_t gate, V sum, V cell) {
  const D d;
  if (!s.peepholes) return sum;
  return hn::MulAdd(hn::LoadU(d, s.peepholes + gate * hn::Lanes(d)), cell, sum);
}

void LstmStep(const CellStep& s) {
  const D d;
  enum { kInput, kOutput, kForget, kCell };
  for_rows<4>(
      s, s.h, [&](size_t row, size_t gate) HWY_ATTR { return input_part(s, row, gate); },
      [&](size_t row, const V* sums) HWY_ATTR {
        float* c = s.c + row * s.h_stride + s.unit;
        const V before = hn::LoadU(d, c);
        const V input = gate_of(s, with_peephole(s, kInput, sums[kInput], before));
        const V forget = s.functions.is_coupled
                             ? hn::Sub(set(1), input)
                             : gate_of(s, with_peephole(s, kForget, sums[kForget], before));
        const V cell = hn::MulAdd(input, candidate_of(s, sums[kCell]), hn::Mul(forget, before));
        hn::StoreU(cell, d, c);
        const V output = gate_of(s, with_peephole(s, kOutput, sums[kOutput], cell));
        const V shown = activated(s.functions, s.functions.output, cell);
        hn::StoreU(hn::Mul(output, shown), d, s.h_out + row * s.h_stride + s.unit);
      });
}

// (1 - z) * candidate + z * h
HWY_INLINE V mix(V z, V candidate, V h) {
  return hn::MulAdd(z, hn::Sub(h, candidate), candidate);
}

void GruStepLinear(const CellStep& s, const float* hidden_bias) {
  const D d;
  for_rows<3>(
      s, s.h,
      [&](size_t row, size_t gate)
          HWY_ATTR { return gate < 2 ? input_part(s, row, gate) : hn::LoadU(d, hidden_bias); },
      [&](size_t row, const V* sums) HWY_ATTR {
        const V candidate =
            candidate_of(s, hn::MulAdd(gate_of(s, sums[1]), sums[2], input_part(s, row, 2)));
        const V h = hn::LoadU(d, s.h + row * s.h_stride + s.unit);
        hn::StoreU(mix(gate_of(s, sums[0]), candidate, h), d, s.h_out + row * s.h_stride + s.unit);
      });
}

void GruStepGates(const CellStep& s, float* z, float* reset_h) {
  const D d;
  for_rows<2>(
      s, s.h, [&](size_t row, size_t gate) HWY_ATTR { return input_part(s, row, gate); },
      [&](size_t row, const V* sums) HWY_ATTR {
        const size_t place = row * s.h_stride + s.unit;
        hn::StoreU(gate_of(s, sums[0]), d, z + place);
        hn::StoreU(hn::Mul(gate_of(s, sums[1]), hn::LoadU(d, s.h + place)), d, reset_h + place);
      });
}

void GruStepCandidate(const CellStep& s, const float* z, const float* reset_h) {
  const D d;
  for_rows<1>(
      s, reset_h, [&](size_t row, size_t) HWY_ATTR { return input_part(s, row, 2); },
      [&](size_t row, const V* sums) HWY_ATTR {
        const size_t place = row * s.h_stride + s.unit;
        const V mixed =
            mix(hn::LoadU(d, z + place), candidate_of(s, sums[0]), hn::LoadU(d, s.h + place));
        hn::StoreU(mixed, d, s.h_out + place);
      });
}

size_t RecurrentLanes() {
  return hn::Lanes(D());
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(RecurrentLanes);
HWY_EXPORT(GateProducts);
HWY_EXPORT(RnnStep);
HWY_EXPORT(LstmStep);
HWY_EXPORT(GruStepLinear);
HWY_EXPORT(GruStepGates);
HWY_EXPORT(GruStepCandidate);

size_t recurrent_lanes() {
  return HWY_DYNAMIC_DISPATCH(RecurrentLanes)();
}

void gate_products(size_t gates, const float* in, size_t in_stride, size_t rows, size_t depth,
                   const float* panel, const float* bias, float* out, size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(GateProducts)
  (gates, in, in_stride, rows, depth, panel, bias, out, out_stride);
}
void rnn_step(const CellStep& step) {
  HWY_DYNAMIC_DISPATCH(RnnStep)(step);
}
void lstm_step(const CellStep& step) {
  HWY_DYNAMIC_DISPATCH(LstmStep)(step);
}
void gru_step_linear(const CellStep& step, const float* hidden_bias) {
  HWY_DYNAMIC_DISPATCH(GruStepLinear)(step, hidden_bias);
}
void gru_step_gates(const CellStep& step, float* z, float* reset_h) {
  HWY_DYNAMIC_DISPATCH(GruStepGates)(step, z, reset_h);
}
void gru_step_candidate(const CellStep& step, const float* z, const float* reset_h) {
  HWY_DYNAMIC_DISPATCH(GruStepCandidate)(step, z, reset_h);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
