#include "eager/dispatch/autocast.h"

#include <map>

#include "ir/op_def.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

thread_local DType t_autocast = DType::kUndefined;

bool is_small(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// Can the guard convert it? Sequences and optionals of tensors it leaves alone.
DType floating_dtype(const Tensor& tensor) {
  if (!tensor.defined()) return DType::kUndefined;
  const Type type = tensor.type();
  return type.is_tensor() && is_floating(type.dtype) ? type.dtype : DType::kUndefined;
}

DType wider(DType a, DType b) {
  if (a == b || b == DType::kUndefined) return a;
  if (a == DType::kUndefined) return b;
  return a == DType::kDouble || b == DType::kDouble ? DType::kDouble : DType::kFloat;
}

// The widest floating type among the inputs that share each of the signature's types.
std::vector<DType> widest(const OpDef& op, std::span<const Tensor> inputs) {
  const Signature& signature = signature_of(op);
  std::map<std::string_view, DType> by_name;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Param& param = signature.input(i);
    if (!param.homogeneous) continue;
    DType& found = by_name.try_emplace(param.type, DType::kUndefined).first->second;
    found = wider(found, floating_dtype(inputs[i]));
  }
  std::vector<DType> wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Param& param = signature.input(i);
    wanted.push_back(param.homogeneous ? by_name[param.type] : DType::kUndefined);
  }
  return wanted;
}

}  // namespace

Autocast::Autocast(DType dtype, bool enabled) : previous_(t_autocast) {
  if (!is_small(dtype)) {
    fail(ErrorCode::kInvalidArgument, "Autocast: expected bfloat16 or float16, got ", dtype);
  }
  t_autocast = enabled ? dtype : DType::kUndefined;
}
Autocast::~Autocast() {
  t_autocast = previous_;
}
DType Autocast::current() {
  return t_autocast;
}

namespace detail {

AutocastMode::AutocastMode(DType dtype) : previous_(t_autocast) {
  t_autocast = dtype;
}
AutocastMode::~AutocastMode() {
  t_autocast = previous_;
}

std::vector<Tensor> autocast_inputs(const OpDef& op, std::span<const Tensor> inputs, DType dtype,
                                    const Loc& loc) {
  std::vector<Tensor> cast(inputs.begin(), inputs.end());
  std::vector<DType> wanted(inputs.size(), dtype);
  if (!op.is(kSmallInMixed) && !op.is(kFloat32InMixed)) {
    wanted = widest(op, inputs);
  } else {
    bool has_double = false;
    for (const Tensor& input : inputs)
      has_double = has_double || floating_dtype(input) == DType::kDouble;
    if (has_double) {
      wanted = widest(op, inputs);
    } else if (op.is(kFloat32InMixed)) {
      wanted.assign(inputs.size(), DType::kFloat);
    }
  }
  for (size_t i = 0; i < cast.size(); ++i) {
    const DType own = floating_dtype(cast[i]);
    if (own == DType::kUndefined || wanted[i] == DType::kUndefined || own == wanted[i]) continue;
    cast[i] = cast[i].to(wanted[i], loc);
  }
  return cast;
}

}  // namespace detail
}  // namespace sardonyx::eager
