#include "ir/ops/inference/infer_body.h"

namespace sardonyx::ops {
namespace {

// The inferred facts of one value while types are propagated through a body.
struct KnownValue {
  Type type;
  std::optional<Tensor> constant;
  std::optional<Dims> dims;
};

class TypeEmitter : public Emitter {
 public:
  explicit TypeEmitter(const std::function<Dim()>& fresh_symbol) : fresh_symbol_(fresh_symbol) {}

  Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs, size_t outputs,
            size_t captures) override {
    std::vector<InferInput> seen;
    for (const Val& input : inputs) {
      const KnownValue* known = input ? input.as<KnownValue>() : nullptr;
      if (known) {
        seen.push_back({known->type, known->constant ? &*known->constant : nullptr,
                        known->dims ? &*known->dims : nullptr});
      } else {
        seen.emplace_back();
      }
    }
    Vals vals;
    for (InferOutput& output :
         infer(op, attrs, seen, seen.size() - captures, outputs, fresh_symbol_)) {
      vals.push_back(wrap({std::move(output.type), std::nullopt, std::move(output.dims)}));
    }
    return vals;
  }
  Val constant(Tensor value) override {
    Type type = Type::tensor(value.dtype(), to_dims(value.shape()));
    return wrap({std::move(type), std::move(value), std::nullopt});
  }
  Type type(const Val& val) const override { return val.as<KnownValue>()->type; }
  std::optional<Tensor> constant_value(const Val& val) const override {
    return val.as<KnownValue>()->constant;
  }
  std::optional<Dims> dims_value(const Val& val) const override {
    const KnownValue& known = *val.as<KnownValue>();
    if (known.dims || !known.constant) return known.dims;
    const Tensor& value = *known.constant;
    if (!is_integer(value.dtype()) || value.rank() > 1) return std::nullopt;
    return to_dims(value.to_int64s());
  }

  static Val wrap(KnownValue known) { return Val(std::make_shared<KnownValue>(std::move(known))); }

 private:
  const std::function<Dim()>& fresh_symbol_;
};

// The dtype that a type name of the signature stands for in this call.
DType declared_dtype(const InferContext& c, const std::string& name) {
  const Signature& signature = signature_of(c.op());
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (c.has(i) && signature.input(i).type == name) return c.dtype(i);
  }
  const DType named = dtype_named(name);
  return named == DType::kUndefined ? DType::kFloat : named;
}

bool has_unknown_shape(const InferContext& c) {
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (c.has(i) && !c.type(i).known_shape()) return true;
  }
  return false;
}

}  // namespace

void infer_by_body(InferContext& c) {
  TypeEmitter emitter(c.fresh_symbol());
  Vals inputs;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) {
      inputs.emplace_back();
      continue;
    }
    const Tensor* constant = c.constant(i);
    const InferInput& input = c.all_inputs()[i];
    inputs.push_back(
        TypeEmitter::wrap({input.type, constant ? std::optional(*constant) : std::nullopt,
                           input.dims ? std::optional(*input.dims) : std::nullopt}));
  }
  try {
    const Vals outputs = c.op().body(emitter, {c.op(), c.raw_attrs(), inputs, c.output_count()});
    for (size_t i = 0; i < std::min(outputs.size(), c.output_count()); ++i) {
      if (!outputs[i]) continue;
      c.set(i, emitter.type(outputs[i]));
      if (const std::optional<Dims> dims = emitter.dims_value(outputs[i])) c.set_dims(i, *dims);
    }
  } catch (const Error& error) {
    const bool may_come = error.code() == ErrorCode::kUnsupported && has_unknown_shape(c);
    if (!may_come) throw error.with_context(full_name(c.op()));
    for (size_t i = 0; i < c.output_count(); ++i)
      c.set(i, declared_dtype(c, signature_of(c.op()).output(i).type), std::nullopt);
  }
}

}  // namespace sardonyx::ops
