#include "eager/functional/functional.h"

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/fusing_emitter.h"
#include "eager/dispatch/promotion.h"
#include "eager/trace/frame.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::eager {
namespace {

// Whether one op takes both: what autocast converts is no mistake.
bool may_meet(DType a, DType b) {
  return a == b || (Autocast::current() != DType::kUndefined && is_floating(a) && is_floating(b));
}

// The type's number that is nearest to a bound: one beyond all of them bounds nothing.
Number within(const Number& bound, DType dtype) {
  if (!is_integer(dtype)) return bound;
  const int bits = bits_of(dtype);
  const bool has_sign = is_signed_integer(dtype);
  const double least = has_sign ? -std::ldexp(1.0, bits - 1) : 0;
  const double end = std::ldexp(1.0, has_sign ? bits - 1 : bits);
  // A double may round an integer below the end up to it; bits of one beyond int64 are negative.
  const bool is_above = bound.is_fraction || bits < 64
                            ? bound.number >= end
                            : has_sign && bound.integer < 0 && bound.number > 0;
  if (bound.number < least) return has_sign ? Number(INT64_MIN >> (64 - bits)) : Number(0);
  if (!is_above) return bound;
  return has_sign ? Number(INT64_MAX >> (64 - bits)) : Number(UINT64_MAX >> (64 - bits));
}

// An op of one tensor; `name` is looked up once per call site.
#define SARDONYX_UNARY(function, name)        \
  Tensor function(const Tensor& x, Loc loc) { \
    static const OpDef& op = op_named(name);  \
    return apply(op, {x}, loc);               \
  }

}  // namespace

SARDONYX_UNARY(abs, "Abs")
SARDONYX_UNARY(exp, "Exp")
SARDONYX_UNARY(log, "Log")
SARDONYX_UNARY(sqrt, "Sqrt")
SARDONYX_UNARY(reciprocal, "Reciprocal")
SARDONYX_UNARY(sin, "Sin")
SARDONYX_UNARY(cos, "Cos")
SARDONYX_UNARY(tanh, "Tanh")
SARDONYX_UNARY(erf, "Erf")
SARDONYX_UNARY(floor, "Floor")
SARDONYX_UNARY(ceil, "Ceil")
SARDONYX_UNARY(round, "Round")
SARDONYX_UNARY(sign, "Sign")
SARDONYX_UNARY(isnan, "IsNaN")
SARDONYX_UNARY(relu, "Relu")
SARDONYX_UNARY(selu, "Selu")
SARDONYX_UNARY(sigmoid, "Sigmoid")
SARDONYX_UNARY(hardswish, "HardSwish")
SARDONYX_UNARY(softplus, "Softplus")
SARDONYX_UNARY(mish, "Mish")
#undef SARDONYX_UNARY

// Unsigned elements, which ONNX's Neg does not take, wrap as in torch.
Tensor neg(const Tensor& x, Loc loc) {
  static const OpDef& op = op_named("Neg");
  require_defined(x, "neg", "x", loc);
  const bool wraps = is_integer(x.dtype()) && !is_signed_integer(x.dtype());
  return wraps ? sub({0, loc}, x) : apply(op, {x}, loc);
}

// 1 + x is rounded, which matters near 0: what was rounded off is (u - 1) - x with u = 1 + x, and
// log(u) has it in first order as that over u. Beyond [-0.5, 1] nothing is lost. It is no part of
// the gradient, 1 / u.
Tensor log1p(const Tensor& x, Loc loc) {
  require_defined(x, "log1p", "x", loc);
  const auto formula = [](const ops::Term& t) {
    const ops::Term bounded = ops::apply("Min", ops::apply("Max", t, t.number(-0.5)), t.number(1));
    const ops::Term sum = bounded + 1;
    return ops::apply("Log", t + 1) - (sum - 1 - bounded) / sum;
  };
  if (const auto found = fused(loc, formula, x)) return *found;
  const Tensor near = clamp(x.detach(), -0.5, 1, loc);
  const Tensor sum = add({near, loc}, 1);
  const Tensor lost = div({sub({sub({sum, loc}, 1), loc}, near), loc}, sum);
  return sub({log(add({x, loc}, 1), loc), loc}, lost);
}
Tensor rsqrt(const Tensor& x, Loc loc) {
  return reciprocal(sqrt(x, loc), loc);
}
Tensor square(const Tensor& x, Loc loc) {
  return mul({x, loc}, x);
}

Tensor clamp(const Tensor& x, std::optional<Number> low, std::optional<Number> high, Loc loc) {
  static const OpDef& op = op_named("Clip");
  require_defined(x, "clamp", "x", loc);
  const auto is_whole = [](const std::optional<Number>& bound) {
    return !bound || bound->is_whole();
  };
  const auto is_nan = [](const std::optional<Number>& bound) {
    return bound && std::isnan(bound->number);
  };
  const bool fits = is_floating(x.dtype()) || (is_whole(low) && is_whole(high));
  const DType dtype = x.dtype() == DType::kBool ? DType::kInt64 : x.dtype();
  const Tensor value = x.to(fits ? dtype : DType::kFloat, loc);
  // No number is within such bounds; ONNX's Clip would take them for none.
  if (is_nan(low) || is_nan(high))
    return where(zeros_like(value, loc).to(DType::kBool, loc), {value, loc}, {NAN, loc});
  const auto bound = [&](const std::optional<Number>& number) {
    return number ? literal(within(*number, value.dtype()), value.dtype()) : Tensor();
  };
  return apply(op, {value, bound(low), bound(high)}, loc);
}
Tensor softplus(const Tensor& x, double beta, Loc loc) {
  if (beta == 1) return softplus(x, loc);
  return div({softplus(mul({x, loc}, beta), loc), loc}, beta);
}
Tensor softplus(const Tensor& x, double beta, double threshold, Loc loc) {
  require_defined(x, "softplus", "x", loc);
  const Tensor is_linear = Operand(mul({x, loc}, beta), loc) > threshold;
  return where(is_linear, {x, loc}, softplus(x, beta, loc));
}
Tensor clip(const Tensor& x, std::optional<Number> low, std::optional<Number> high, Loc loc) {
  return clamp(x, low, high, loc);
}
Tensor clamp_min(const Tensor& x, Number low, Loc loc) {
  return clamp(x, low, {}, loc);
}
Tensor clamp_max(const Tensor& x, Number high, Loc loc) {
  return clamp(x, {}, high, loc);
}
Tensor leaky_relu(const Tensor& x, double slope, Loc loc) {
  static const OpDef& op = op_named("LeakyRelu");
  return apply(op, {x}, {{"alpha", static_cast<float>(slope)}}, loc);
}
Tensor elu(const Tensor& x, double alpha, Loc loc) {
  static const OpDef& op = op_named("Elu");
  return apply(op, {x}, {{"alpha", static_cast<float>(alpha)}}, loc);
}
Tensor gelu(const Tensor& x, std::string_view approximate, Loc loc) {
  static const OpDef& op = op_named("Gelu");
  return apply(op, {x}, {{"approximate", std::string(approximate)}}, loc);
}
Tensor silu(const Tensor& x, Loc loc) {
  return mul({x, loc}, sigmoid(x, loc));
}
Tensor hardsigmoid(const Tensor& x, Loc loc) {
  static const OpDef& op = op_named("HardSigmoid");
  return apply(op, {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}}, loc);
}
Tensor softmax(const Tensor& x, int64_t axis, Loc loc) {
  static const OpDef& op = op_named("Softmax");
  return apply(op, {x}, {{"axis", axis}}, loc);
}
Tensor log_softmax(const Tensor& x, int64_t axis, Loc loc) {
  static const OpDef& op = op_named("LogSoftmax");
  return apply(op, {x}, {{"axis", axis}}, loc);
}

Tensor matmul(const Tensor& a, const Tensor& b, Loc loc) {
  static const OpDef& op = op_named("MatMul");
  return apply(op, {a, b}, loc);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Loc loc) {
  static const OpDef& gemm = op_named("Gemm");
  static const Attrs attrs = Attrs::parse(*gemm.attrs, {{"transB", int64_t{1}}});
  require_defined(x, "linear", "x", loc);
  require_defined(weight, "linear", "the weight", loc);
  const Dims inner{x.size(-1, loc), weight.size(-1, loc)};
  if (inner[0].is_known() && inner[1].is_known() && !(inner[0] == inner[1])) {
    fail_at(loc, "linear: x is ", x.type(), " and the weight ", weight.type(),
            ": expected x to end in ", inner[1], ", got ", inner[0]);
  }
  if (!may_meet(x.dtype(), weight.dtype())) {
    fail_at(loc, "linear: x is ", x.type(), " and the weight ", weight.type(),
            "; convert x with to(), or the module with its own to()");
  }
  if (x.rank() == 2) {
    const Tensor inputs[] = {x, weight, bias};
    return apply(gemm, std::span(inputs, bias.defined() ? 3 : 2), attrs, loc);
  }
  const Tensor product = matmul(x, weight.transpose(0, 1, loc), loc);
  return bias.defined() ? add({product, loc}, bias) : product;
}

namespace {

// The terms before the arrow, without spaces.
std::vector<std::string> einsum_terms(std::string_view equation) {
  std::vector<std::string> terms(1);
  for (const char c : equation.substr(0, equation.find("->"))) {
    if (c == ',') terms.emplace_back();
    if (c != ',' && c != ' ') terms.back() += c;
  }
  return terms;
}

constexpr std::string_view kEllipsis = "...";

// Einsum wants each "..." to stand for as many dims: here the shorter ones get dims of 1 in front,
// which broadcast. What does not fit the equation is left for the op to refuse.
std::vector<Tensor> with_equal_ellipses(std::string_view equation, std::vector<Tensor> operands,
                                        const Loc& loc) {
  const std::vector<std::string> terms = einsum_terms(equation);
  if (terms.size() != operands.size()) return operands;
  size_t most = 0;
  std::vector<size_t> own(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (terms[i].find(kEllipsis) == std::string::npos) continue;
    const size_t letters = terms[i].size() - kEllipsis.size();
    if (operands[i].rank() < letters) return operands;
    own[i] = operands[i].rank() - letters;
    most = std::max(most, own[i]);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t at = terms[i].find(kEllipsis);
    if (at == std::string::npos) continue;
    for (size_t added = own[i]; added < most; ++added)
      operands[i] = operands[i].unsqueeze(static_cast<int64_t>(at), loc);
  }
  return operands;
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Loc loc) {
  static const OpDef& op = op_named("Einsum");
  for (size_t i = 0; i < operands.size(); ++i)
    require_defined(operands[i], "einsum", text("operand ", i), loc);
  const AttrMap attrs{{"equation", std::string(equation)}};
  if (equation.find(kEllipsis) == std::string_view::npos)
    return apply_many(op, operands, attrs, 1, loc)[0];
  return apply_many(op, with_equal_ellipses(equation, operands, loc), attrs, 1, loc)[0];
}

namespace {

void require_some(const char* function, const std::vector<Tensor>& tensors, const Loc& loc) {
  if (tensors.empty()) fail_at(loc, function, ": expected at least one tensor");
  for (size_t i = 0; i < tensors.size(); ++i)
    require_defined(tensors[i], function, text("tensor ", i), loc);
}

// Tensors to be joined: of one shape but for the axis (where there is one).
void check_alike(const std::vector<Tensor>& tensors, std::optional<int64_t> axis,
                 const char* function, const Loc& loc) {
  const Dims first = tensors[0].shape(loc);
  const auto open = axis && *axis < 0 ? *axis + static_cast<int64_t>(first.size()) : axis;
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Dims shape = tensors[i].shape(loc);
    bool fits = shape.size() == first.size();
    for (size_t at = 0; fits && at < shape.size(); ++at) {
      const bool is_free = !shape[at].is_known() || !first[at].is_known();
      fits = is_free || shape[at] == first[at] || open == static_cast<int64_t>(at);
    }
    if (fits) continue;
    fail_at(loc, function, ": tensor ", i, " is ", tensors[i].type(), " and tensor 0 is ",
            tensors[0].type(), "; all axes", axis ? text(" but ", *axis) : "",
            " must have one size");
  }
}

// As in torch, all of the element type that they are promoted to; of tensors of shape [0] too.
std::vector<Tensor> of_one_dtype(const std::vector<Tensor>& tensors, const Loc& loc) {
  DType dtype = tensors[0].dtype();
  for (size_t i = 1; i < tensors.size(); ++i) {
    const std::optional<DType> both = promoted(dtype, tensors[i].dtype());
    if (!both) {
      fail_at(loc, "cat: tensor ", i, " is ", tensors[i].type(), " and those before it are ", dtype,
              "; such elements do not mix: convert some with to()");
    }
    dtype = *both;
  }
  std::vector<Tensor> found;
  for (const Tensor& tensor : tensors)
    found.push_back(tensor.dtype() == dtype ? tensor : tensor.to(dtype, loc));
  return found;
}

bool is_nothing(const Tensor& tensor, const Loc& loc) {
  return tensor.rank() == 1 && proved_equal(tensor.size(0, loc), 0);
}

// [0] as no slices of a tensor along an axis, so that a gradient finds its way back.
Tensor no_slices(const Tensor& nothing, const Tensor& of, int64_t axis, const Loc& loc) {
  Dims shape = of.shape(loc);
  const auto at = static_cast<size_t>(axis < 0 ? axis + of.dim() : axis);
  if (at >= shape.size()) return nothing;  // refused with the others
  Tensor wide = nothing;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != at) wide = wide.unsqueeze(static_cast<int64_t>(i), loc);
  }
  shape[at] = 0;
  return wide.expand(shape, loc);
}

// As in torch, a tensor of shape [0] may stand beside any others, as what they are appended to.
std::vector<Tensor> without_nothing(const std::vector<Tensor>& tensors, int64_t axis,
                                    const Loc& loc) {
  const auto other =
      std::ranges::find_if(tensors, [&](const Tensor& tensor) { return !is_nothing(tensor, loc); });
  if (other->rank() == 1) return tensors;
  std::vector<Tensor> kept;
  for (const Tensor& tensor : tensors) {
    if (!is_nothing(tensor, loc))
      kept.push_back(tensor);
    else if (tensor.impl()->tracked())
      kept.push_back(no_slices(tensor, *other, axis, loc));
  }
  return kept;
}

Tensor concatenated(const std::vector<Tensor>& tensors, int64_t axis, const Loc& loc) {
  static const OpDef& op = op_named("Concat");
  check_alike(tensors, axis, "cat", loc);
  return apply_many(op, tensors, {{"axis", axis}}, 1, loc)[0];
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int64_t axis, Loc loc) {
  require_some("cat", tensors, loc);
  const bool is_mixed = std::ranges::any_of(
      tensors, [&](const Tensor& tensor) { return tensor.dtype() != tensors[0].dtype(); });
  const std::vector<Tensor> alike = is_mixed ? of_one_dtype(tensors, loc) : tensors;
  const auto nothings =
      std::ranges::count_if(alike, [&](const Tensor& tensor) { return is_nothing(tensor, loc); });
  if (nothings == 0) return concatenated(alike, axis, loc);
  // Nothings alone are joined along any axis, which need not exist.
  if (nothings == std::ssize(alike)) return concatenated(alike, 0, loc);
  return concatenated(without_nothing(alike, axis, loc), axis, loc);
}
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis, Loc loc) {
  require_some("stack", tensors, loc);
  check_alike(tensors, {}, "stack", loc);
  const auto rank = static_cast<int64_t>(tensors[0].rank());
  if (axis < -rank - 1 || axis > rank) {
    fail_at(loc, "stack: expected an axis within [", -rank - 1, ", ", rank, "] for tensors ",
            tensors[0].type(), ", got ", axis);
  }
  std::vector<Tensor> wider;
  for (const Tensor& tensor : tensors)
    wider.push_back(tensor.unsqueeze(axis, loc));
  return cat(wider, axis, loc);
}
std::vector<Tensor> split(const Tensor& x, const Dims& sizes, int64_t axis, Loc loc) {
  static const OpDef& op = op_named("Split");
  const Tensor inputs[] = {x, dims_tensor(sizes, loc)};
  return apply_many(op, inputs, {{"axis", axis}}, sizes.size(), loc);
}
std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis, Loc loc) {
  require_defined(x, "chunk", "x", loc);
  if (count <= 0) fail_at(loc, "chunk: expected a positive count, got ", count);
  const Dim size = x.size(axis, loc), piece = ceil_div(size, count);
  int64_t full = 0;  // pieces before the last
  if (size == 0)
    full = count - 1;
  else
    while (full + 1 < count && piece * (full + 1) < size)
      ++full;
  Dims sizes(static_cast<size_t>(full), piece);
  sizes.push_back(size - piece * full);
  return split(x, sizes, axis, loc);
}
Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, Number value, Loc loc) {
  static const OpDef& op = op_named("Pad");
  require_defined(x, "pad", "x", loc);
  const size_t rank = x.rank(), padded = pads.size() / 2;
  if (pads.size() % 2 != 0 || padded > rank) {
    fail_at(loc, "pad: expected two numbers for each of at most ", rank, " axes of ", x.type(),
            ", the last axis first, got ", pads.size(), " numbers");
  }
  std::vector<int64_t> sides(2 * rank);
  for (size_t i = 0; i < padded; ++i) {
    sides[rank - 1 - i] = pads[2 * i];
    sides[2 * rank - 1 - i] = pads[2 * i + 1];
  }
  return apply(op, {x, int64s(sides), literal(value, x.dtype())}, loc);
}
Tensor tile(const Tensor& x, const Dims& repeats, Loc loc) {
  static const OpDef& op = op_named("Tile");
  return apply(op, {x, dims_tensor(repeats, loc)}, loc);
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices, Loc loc) {
  static const OpDef& op = op_named("Gather");
  return apply(op, {x, indices}, {{"axis", axis}}, loc);
}
Tensor gather(const Tensor& x, int64_t axis, const Tensor& indices, Loc loc) {
  static const OpDef& op = op_named("GatherElements");
  return apply(op, {x, indices}, {{"axis", axis}}, loc);
}
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
               std::string_view reduction, Loc loc) {
  static const OpDef& op = op_named("ScatterElements");
  return apply(op, {x, indices, source}, {{"axis", axis}, {"reduction", std::string(reduction)}},
               loc);
}
namespace {

void check_classes(const Tensor& indices, int64_t classes, const Loc& loc) {
  require_defined(indices, "one_hot", "the classes", loc);
  if (!is_integer(indices.dtype())) {
    fail_at(loc, "one_hot: expected integer classes, got ", indices.type(),
            "; convert them with to(DType::kInt64)");
  }
  if (indices.is_symbolic() || TraceContext::active()) return;
  for (const int64_t one : indices.data(loc).to_int64s()) {
    if (one < 0 || one >= classes)
      fail_at(loc, "one_hot: class ", one, " is none of ", classes, " classes");
  }
}

}  // namespace

Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype, Loc loc) {
  static const OpDef& op = op_named("OneHot");
  check_classes(indices, classes, loc);
  const double off_on[] = {0, 1};
  sardonyx::Tensor values = sardonyx::Tensor::allocate(dtype, {2});
  store_numbers(dtype, values.raw(), 0, 2, off_on);
  return apply(op, {indices, int64s({classes}), literal(std::move(values))}, loc);
}
Tensor tril(const Tensor& x, int64_t diagonal, Loc loc) {
  static const OpDef& op = op_named("Trilu");
  return apply(op, {x, literal(sardonyx::Tensor::scalar(diagonal))}, {{"upper", int64_t{0}}}, loc);
}
Tensor triu(const Tensor& x, int64_t diagonal, Loc loc) {
  static const OpDef& op = op_named("Trilu");
  return apply(op, {x, literal(sardonyx::Tensor::scalar(diagonal))}, {{"upper", int64_t{1}}}, loc);
}
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, int64_t axis, bool largest, Loc loc) {
  static const OpDef& op = op_named("TopK");
  const Tensor inputs[] = {x, dims_tensor({k}, loc)};
  const std::vector<Tensor> found =
      apply_many(op, inputs, {{"axis", axis}, {"largest", int64_t{largest}}}, 2, loc);
  return {found[0], found[1]};
}
Tensor cumsum(const Tensor& x, int64_t axis, Loc loc) {
  static const OpDef& op = op_named("CumSum");
  require_defined(x, "cumsum", "x", loc);
  const DType dtype = x.dtype();
  const bool is_widened = dtype == DType::kBool || (is_integer(dtype) && bits_of(dtype) < 64);
  if (is_widened) return cumsum(x.to(DType::kInt64, loc), axis, loc);
  return apply(op, {x, literal(sardonyx::Tensor::scalar(axis))}, loc);
}

Tensor var(const Tensor& x, const Axes& axes, bool keepdim, int64_t correction, Loc loc) {
  require_defined(x, "var", "x", loc);
  const Tensor centred = sub({x, loc}, x.mean(axes, true, loc));
  const Tensor squares = square(centred, loc).sum(axes, keepdim, loc);
  sardonyx::Dim count = axes.empty() ? x.numel(loc) : Dim(1);
  for (const int64_t axis : axes)
    count *= x.size(axis, loc);
  // Of too few elements it is infinite, or NaN, not negative.
  const Dim freedoms = max(count - Dim(correction), 0);
  const Tensor divisor = dim_tensor(freedoms, loc).to(x.dtype(), loc);
  return div({squares, loc}, divisor);
}
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim, Loc loc) {
  static const OpDef& op = op_named("ReduceLogSumExp");
  require_defined(x, "logsumexp", "x", loc);
  if (!is_floating(x.dtype())) {
    fail_at(loc, "logsumexp: expected floating elements, got ", x.type(),
            "; convert with to(DType::kFloat)");
  }
  return apply(op, {x, int64s(axes)}, {{"keepdims", int64_t{keepdim}}}, loc);
}
Tensor norm(const Tensor& x, Loc loc) {
  return norm(x, 2, {}, false, loc);
}

Tensor dim_tensor(const Dim& dim, Loc loc) {
  if (dim.is_known()) return literal(sardonyx::Tensor::scalar(dim.value()));
  static const OpDef& squeeze = op_named("Squeeze");
  return apply(squeeze, {dims_tensor({dim}, loc)}, loc);
}

Tensor dims_tensor(const Dims& dims, Loc loc) {
  if (const std::optional<Shape> known = known_shape(dims)) return int64s(*known);
  TraceContext* frame = TraceContext::active();
  if (!frame) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": the shape ", to_text(dims),
         " has sizes that are known in their trace only");
  }
  std::vector<Tensor> parts;
  std::vector<int64_t> run;
  const auto end_run = [&] {
    if (!run.empty()) parts.push_back(int64s(run));
    run.clear();
  };
  for (const sardonyx::Dim& dim : dims) {
    if (dim.is_known()) {
      run.push_back(dim.value());
      continue;
    }
    end_run();
    parts.push_back(frame->dim_tensor(dim, loc));
  }
  end_run();
  return parts.size() == 1 ? parts[0] : cat(parts, 0, loc);
}

}  // namespace sardonyx::eager
