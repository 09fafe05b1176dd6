#include "eager/dispatch/dispatch.h"

#include <algorithm>
#include <array>
#include <bit>

#include "eager/autograd/anomaly.h"
#include "eager/autograd/tape.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/engine.h"
#include "eager/dispatch/profiler.h"
#include "eager/dispatch/substitutes.h"
#include "eager/trace/frame.h"
#include "eager/trace/inferred_call.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::eager {
namespace {

constexpr size_t kStackInputs = 8;  // without a heap allocation

bool is_tracked(std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) {
    if (input.defined() && input.impl()->tracked()) return true;
  }
  return false;
}

bool is_recorded_draw(TraceContext& frame, const OpDef& op) {
  return op.is(kRandom) && frame.root().records_draws;
}

bool has_gradient(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  const detail::TensorImpl& impl = *tensor.impl();
  if (impl.value.is_tensor()) return is_floating(impl.value.tensor().dtype());
  const Type type = tensor.type();
  return !type.is_tensor() || is_floating(type.dtype);
}

void record_in_graph(TraceContext& frame, const OpCall& call, std::span<Tensor> outputs) {
  Vals inputs;
  for (const Tensor& input : call.inputs) {
    inputs.push_back(input.defined() ? GraphEmitter::wrap(frame.value_of(input, call.loc)) : Val());
  }
  GraphEmitter emitter(frame.graph());
  const std::string& scope = ScopeName::current();
  const auto fresh = [&] {
    return frame.graph().fresh_name(scope.empty() ? std::string(call.op.name)
                                                  : text(scope, ".", call.op.name));
  };
  emitter.set_origin(call.name.empty() ? fresh() : std::string(call.name), scope,
                     text_of(call.loc));
  const Vals results = emitter.emit(call.op, inputs, call.attrs, outputs.size(), call.captures);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (results[i]) outputs[i] = frame.wrap(GraphEmitter::unwrap(results[i]));
  }
  const auto made = std::ranges::find_if(results, [](const Val& one) { return bool(one); });
  if (made == results.end()) return;
  if (const Node* node = GraphEmitter::unwrap(*made)->producer) note_inferred_sizes(frame, *node);
}

const Datum* datum_of(const Tensor& tensor, const OpCall& call) {
  if (!tensor.defined()) return nullptr;
  const detail::TensorImpl& impl = *tensor.impl();
  if (impl.symbol) {
    fail(ErrorCode::kInvalidArgument, full_name(call.op),
         ": a symbolic tensor is used outside of the trace that made it");
  }
  return &impl.value;
}

void run_now(const OpCall& call, std::span<Tensor> outputs) {
  const detail::ProfiledCall profiled(call.op.name, call.loc);
  std::array<const Datum*, kStackInputs> few;
  std::vector<const Datum*> many;
  const size_t formal = call.inputs.size() - call.captures;
  const Datum** inputs = few.data();
  if (formal > kStackInputs) {
    many.resize(formal);
    inputs = many.data();
  }
  for (size_t i = 0; i < formal; ++i)
    inputs[i] = datum_of(call.inputs[i], call);
  std::vector<Datum> captures;
  for (const Tensor& captured : call.inputs.subspan(formal))
    captures.push_back(*datum_of(captured, call));
  std::array<Datum, 2> two;
  std::vector<Datum> more;
  std::span<Datum> results = std::span(two).first(std::min<size_t>(outputs.size(), two.size()));
  if (outputs.size() > two.size()) {
    more.resize(outputs.size());
    results = more;
  }
  run_op(call.op, call.attrs, {inputs, formal}, captures, results, call.may_overwrite_first);
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = results[i].defined() ? Tensor(detail::make_impl(std::move(results[i]))) : Tensor();
  }
}

// A row that is known by its body: its parts are called one by one, so that their intermediate
// values serve the gradient.
void run_body(const OpCall& call, std::span<Tensor> outputs) {
  EagerEmitter emitter(call.loc);
  Vals inputs;
  for (const Tensor& input : call.inputs)
    inputs.push_back(detail::val_of(input));
  const Vals results = call.op.body(emitter, {call.op, call.attrs, inputs, outputs.size()});
  for (size_t i = 0; i < outputs.size() && i < results.size(); ++i)
    outputs[i] = results[i] ? detail::tensor_of(results[i]) : Tensor();
}

// Rules of ops speak of models; what breaks them here is what the program called.
Error blamed_on_call(const Error& error) {
  if (error.code() != ErrorCode::kInvalidModel) return error;
  return Error(ErrorCode::kInvalidArgument, error.what());
}

}  // namespace

void apply(const OpCall& call, std::span<Tensor> outputs) {
  if (detail::Substitutes::any()) {
    std::vector<Tensor> inputs;
    for (const Tensor& input : call.inputs)
      inputs.push_back(detail::Substitutes::of(input));
    const detail::Substitutes::Pause pause;
    return apply({call.op, call.attrs, inputs, call.captures, call.loc, call.name}, outputs);
  }
  if (const DType dtype = Autocast::current(); dtype != DType::kUndefined) {
    // The casts, and ops that this one is made of, run as they are.
    const detail::AutocastMode off(DType::kUndefined);
    const size_t formal = call.inputs.size() - call.captures;
    std::vector<Tensor> inputs =
        detail::autocast_inputs(call.op, call.inputs.first(formal), dtype, call.loc);
    inputs.insert(inputs.end(), call.inputs.begin() + static_cast<ptrdiff_t>(formal),
                  call.inputs.end());
    return apply({call.op, call.attrs, inputs, call.captures, call.loc, call.name}, outputs);
  }
  try {
    const bool tracked = detail::grad_enabled() && is_tracked(call.inputs);
    TraceContext* frame = TraceContext::active();
    if (frame && (frame->records(call.inputs) || is_recorded_draw(*frame, call.op))) {
      record_in_graph(*frame, call, outputs);
    } else if (tracked && call.op.body && !call.op.grad) {
      run_body(call, outputs);
      return;
    } else {
      run_now(call, outputs);
    }
    note_leaves(call.inputs);
    if (detects_anomalies()) check_for_nan(call.op, call.inputs, outputs);
    if (!tracked) return;
    for (const Tensor& output : outputs) {
      if (!has_gradient(output)) continue;
      detail::record(call.op, call.attrs, call.inputs, call.captures, outputs, nullptr, call.loc);
      return;
    }
  } catch (const Error& error) {
    const bool is_named = std::string_view(error.what()).find(call.op.name) != std::string::npos;
    const Error named = is_named ? error : error.with_context(full_name(call.op));
    throw placed(blamed_on_call(named), call.loc);
  }
}

Tensor apply(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, const Loc& loc) {
  Tensor result;
  apply({op, attrs, inputs, 0, loc}, std::span(&result, 1));
  return result;
}

Tensor apply(const OpDef& op, std::initializer_list<Tensor> inputs, const Loc& loc) {
  // Defaults of each row, parsed once.
  thread_local std::unordered_map<const OpDef*, Attrs> defaults;
  auto at = defaults.find(&op);
  if (at == defaults.end()) at = defaults.emplace(&op, Attrs::parse(*op.attrs, {})).first;
  return apply(op, std::span(inputs.begin(), inputs.size()), at->second, loc);
}

Tensor apply(const OpDef& op, std::initializer_list<Tensor> inputs, const AttrMap& attrs,
             const Loc& loc) {
  return apply(op, std::span(inputs.begin(), inputs.size()), Attrs::parse(*op.attrs, attrs), loc);
}

std::vector<Tensor> apply_many(const OpDef& op, std::span<const Tensor> inputs,
                               const AttrMap& attrs, size_t outputs, const Loc& loc) {
  std::vector<Tensor> results(outputs);
  const Attrs parsed = Attrs::parse(*op.attrs, attrs);
  apply({op, parsed, inputs, 0, loc}, results);
  return results;
}

void require_defined(const Tensor& x, std::string_view function, std::string_view argument,
                     const Loc& loc) {
  if (x.defined()) return;
  fail_at(loc, function, ": ", argument, " is an undefined tensor",
          "; so is a gradient before backward(), and an argument or result that was left out");
}

Vals EagerEmitter::emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs,
                        size_t outputs, size_t captures) {
  std::vector<Tensor> in, out(outputs);
  for (const Val& input : inputs)
    in.push_back(input ? detail::tensor_of(input) : Tensor());
  apply({op, attrs, in, captures, loc_}, out);
  Vals vals;
  for (const Tensor& tensor : out)
    vals.push_back(detail::val_of(tensor));
  return vals;
}

Val EagerEmitter::constant(sardonyx::Tensor value) {
  return detail::val_of(literal(std::move(value)));
}

Type EagerEmitter::type(const Val& val) const {
  return detail::tensor_of(val).type();
}

std::optional<sardonyx::Tensor> EagerEmitter::constant_value(const Val& val) const {
  const detail::TensorImpl& impl = detail::impl_of(val);
  if (impl.symbol)
    return impl.symbol->constant ? std::optional(*impl.symbol->constant) : std::nullopt;
  const TraceContext* frame = TraceContext::active();
  // In a trace, a tensor of the program is a state that may change from run to run.
  if (frame && frame->kind() != TraceContext::Kind::kConstants && !impl.is_literal)
    return std::nullopt;
  return impl.value.is_tensor() ? std::optional(impl.value.tensor()) : std::nullopt;
}

std::optional<Dims> EagerEmitter::dims_value(const Val& val) const {
  const detail::TensorImpl& impl = detail::impl_of(val);
  if (impl.symbol && impl.symbol->dims) return impl.symbol->dims;
  const std::optional<sardonyx::Tensor> value = constant_value(val);
  if (!value || !is_integer(value->dtype()) || value->rank() > 1) return std::nullopt;
  return to_dims(value->to_int64s());
}

Tensor literal(sardonyx::Tensor value) {
  Tensor made(detail::make_impl(std::move(value)));
  made.impl()->is_literal = true;
  return made;
}

sardonyx::Tensor filled(DType dtype, const Shape& shape, const Number& number) {
  if (std::bit_cast<uint64_t>(number.number) == 0)  // -0 is not made of zeros
    return sardonyx::Tensor::zeros(dtype, shape);
  sardonyx::Tensor made = sardonyx::Tensor::allocate(dtype, shape);
  // A double may not hold them.
  if (is_integer(dtype) && bits_of(dtype) == 64 && !number.is_fraction) {
    std::fill_n(static_cast<int64_t*>(made.raw()), made.count(), number.integer);
    return made;
  }
  std::array<double, 256> piece;
  const auto most = static_cast<int64_t>(piece.size());
  std::fill_n(piece.begin(), std::min(most, made.count()), number.number);
  for (int64_t at = 0; at < made.count(); at += most)
    store_numbers(dtype, made.raw(), at, std::min(most, made.count() - at), piece.data());
  return made;
}

Tensor literal(const Number& number, DType dtype) {
  return literal(filled(dtype, {}, number));
}

Tensor int64s(const std::vector<int64_t>& values) {
  return literal(sardonyx::Tensor::vector(values));
}

}  // namespace sardonyx::eager
