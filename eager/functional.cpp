#include "eager/functional.h"

#include "eager/create.h"
#include "eager/dispatch.h"
#include "eager/frame.h"
#include "ir/convert.h"

namespace sardonyx::eager {
namespace {

// An op of one tensor; `name` is looked up once per call site.
#define SARDONYX_UNARY(function, name)        \
  Tensor function(const Tensor& x, Loc loc) { \
    static const OpDef& op = op_named(name);  \
    return apply(op, {x}, loc);               \
  }

}  // namespace

SARDONYX_UNARY(abs, "Abs")
SARDONYX_UNARY(neg, "Neg")
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

Tensor log1p(const Tensor& x, Loc loc) {
  return log(add({x, loc}, 1.0), loc);
}
Tensor rsqrt(const Tensor& x, Loc loc) {
  return reciprocal(sqrt(x, loc), loc);
}
Tensor square(const Tensor& x, Loc loc) {
  return mul({x, loc}, x);
}

Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high, Loc loc) {
  static const OpDef& op = op_named("Clip");
  return apply(
      op,
      {x, low ? literal(*low, x.dtype()) : Tensor(), high ? literal(*high, x.dtype()) : Tensor()},
      loc);
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
  if (x.rank() == 2) {
    const Tensor inputs[] = {x, weight, bias};
    return apply(gemm, std::span(inputs, bias.defined() ? 3 : 2), attrs, loc);
  }
  const Tensor product = matmul(x, weight.transpose(0, 1, loc), loc);
  return bias.defined() ? add({product, loc}, bias) : product;
}

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Loc loc) {
  static const OpDef& op = op_named("Einsum");
  return apply_many(op, operands, {{"equation", std::string(equation)}}, 1, loc)[0];
}

Tensor cat(const std::vector<Tensor>& tensors, int64_t axis, Loc loc) {
  static const OpDef& op = op_named("Concat");
  return apply_many(op, tensors, {{"axis", axis}}, 1, loc)[0];
}
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis, Loc loc) {
  std::vector<Tensor> wider;
  for (const Tensor& tensor : tensors)
    wider.push_back(tensor.unsqueeze(axis, loc));
  return cat(wider, axis, loc);
}
std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis,
                          Loc loc) {
  static const OpDef& op = op_named("Split");
  const Tensor inputs[] = {x, int64s(sizes)};
  return apply_many(op, inputs, {{"axis", axis}}, sizes.size(), loc);
}
std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis, Loc loc) {
  static const OpDef& op = op_named("Split");
  if (count <= 0) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": chunk: expected a positive count, got ",
         count);
  }
  return apply_many(op, std::span(&x, 1), {{"axis", axis}, {"num_outputs", count}},
                    static_cast<size_t>(count), loc);
}
Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, double value, Loc loc) {
  static const OpDef& op = op_named("Pad");
  std::vector<int64_t> begins, ends;
  for (size_t i = 0; i + 1 < pads.size(); i += 2) {
    begins.push_back(pads[i]);
    ends.push_back(pads[i + 1]);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  return apply(op, {x, int64s(begins), literal(value, x.dtype())}, loc);
}
Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats, Loc loc) {
  static const OpDef& op = op_named("Tile");
  return apply(op, {x, int64s(repeats)}, loc);
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
Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype, Loc loc) {
  static const OpDef& op = op_named("OneHot");
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
std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t axis, bool largest, Loc loc) {
  static const OpDef& op = op_named("TopK");
  const Tensor inputs[] = {x, int64s({k})};
  const std::vector<Tensor> found =
      apply_many(op, inputs, {{"axis", axis}, {"largest", int64_t{largest}}}, 2, loc);
  return {found[0], found[1]};
}
Tensor cumsum(const Tensor& x, int64_t axis, Loc loc) {
  static const OpDef& op = op_named("CumSum");
  return apply(op, {x, literal(sardonyx::Tensor::scalar(axis))}, loc);
}

Tensor var(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim, int64_t correction,
           Loc loc) {
  const Tensor centred = sub({x, loc}, x.mean(axes, true, loc));
  const Tensor squares = square(centred, loc).sum(axes, keepdim, loc);
  Dim count = axes.empty() ? x.numel() : Dim(1);
  for (const int64_t axis : axes)
    count *= x.size(axis);
  const Tensor divisor = dim_tensor(count - Dim(correction), loc).to(x.dtype(), loc);
  return div({squares, loc}, divisor);
}
Tensor logsumexp(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim, Loc loc) {
  static const OpDef& op = op_named("ReduceLogSumExp");
  return apply(op, {x, int64s(axes)}, {{"keepdims", int64_t{keepdim}}}, loc);
}
Tensor norm(const Tensor& x, Loc loc) {
  static const OpDef& op = op_named("ReduceL2");
  return apply(op, {x}, {{"keepdims", int64_t{0}}}, loc);
}

Tensor dim_tensor(const Dim& dim, Loc loc) {
  if (dim.is_known()) return literal(sardonyx::Tensor::scalar(dim.value()));
  static const OpDef& squeeze = op_named("Squeeze");
  return apply(squeeze, {dims_tensor({dim}, loc)}, loc);
}

Tensor dims_tensor(const Dims& dims, Loc loc) {
  if (const std::optional<Shape> known = known_shape(dims)) return int64s(*known);
  Frame* frame = Frame::active();
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
