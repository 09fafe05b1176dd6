#include "ir/ops/contrib/contrib_body.h"

#include <limits>

namespace sardonyx::ops {

Dims dims_of(Emitter& e, const Val& x, std::string_view name) {
  const Type type = e.type(x);
  if (!type.has_rank()) {
    fail(ErrorCode::kUnsupported, "input ", name, ": its rank must be known before the run");
  }
  return *type.shape;
}

size_t input_rank(Emitter& e, const Val& x, std::string_view name) {
  return dims_of(e, x, name).size();
}

Val dim_of(Emitter& e, const Val& x, int64_t axis) {
  const Type type = e.type(x);
  if (type.has_rank()) {
    // Bodies ask for dims that inference has seen; the list is not read beyond its end for one that
    // does not.
    if (type.rank() <= static_cast<size_t>(axis))
      fail(ErrorCode::kInvalidModel, "expected a tensor of rank ", axis + 1, " or more, got ",
           type);
    const Dim& dim = (*type.shape)[static_cast<size_t>(axis)];
    if (dim.is_known()) return e.int64s({dim.value()});
  }
  return e.call("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

Val as_scalar(Emitter& e, const Val& x) {
  return e.call("Squeeze", {x, e.int64s({0})});
}

Val count_up(Emitter& e, const Val& end) {
  return e.call("Range",
                {e.scalar(DType::kInt64, 0), as_scalar(e, end), e.scalar(DType::kInt64, 1)});
}

Val slice(Emitter& e, const Val& x, const Val& begin, const Val& end, int64_t axis) {
  return e.call("Slice", {x, begin, end, e.int64s({axis})});
}

Val reshape(Emitter& e, const Val& x, const std::vector<int64_t>& shape) {
  return e.call("Reshape", {x, e.int64s(shape)});
}

Val transpose(Emitter& e, const Val& x, const std::vector<int64_t>& permutation) {
  return e.call("Transpose", {x}, {{"perm", permutation}});
}

Val unsqueeze(Emitter& e, const Val& x, const std::vector<int64_t>& axes) {
  return e.call("Unsqueeze", {x, e.int64s(axes)});
}

Val cast_to(Emitter& e, const Val& x, DType to) {
  if (e.type(x).dtype == to) return x;
  return e.call("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

Val activate(Emitter& e, const Val& x, const std::string& name, const std::vector<float>& params) {
  struct KnownActivation {
    std::string_view name;
    std::vector<std::string> params;
  };
  static const KnownActivation kKnown[] = {{"Relu", {}},
                                           {"Sigmoid", {}},
                                           {"Tanh", {}},
                                           {"Softplus", {}},
                                           {"Softsign", {}},
                                           {"LeakyRelu", {"alpha"}},
                                           {"Elu", {"alpha"}},
                                           {"ThresholdedRelu", {"alpha"}},
                                           {"HardSigmoid", {"alpha", "beta"}},
                                           {"Selu", {"alpha", "gamma"}},
                                           {"Clip", {"min", "max"}}};
  if (name.empty()) return x;
  for (const KnownActivation& known : kKnown) {
    if (known.name != name) continue;
    if (params.size() > known.params.size()) {
      fail(ErrorCode::kInvalidModel, "activation ", name, ": expected at most ",
           known.params.size(), " parameters, got ", params.size());
    }
    if (name == "Clip") {
      return e.call("Clip", {x, params.empty() ? Val() : e.scalar_like(x, params[0]),
                             params.size() < 2 ? Val() : e.scalar_like(x, params[1])});
    }
    AttrMap attrs;
    for (size_t i = 0; i < params.size(); ++i)
      attrs[known.params[i]] = params[i];
    return e.call(name, {x}, attrs);
  }
  fail(ErrorCode::kInvalidModel, "activation '", name, "' is not known");
}

}  // namespace sardonyx::ops
