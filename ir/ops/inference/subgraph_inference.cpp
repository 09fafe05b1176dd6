#include "ir/ops/inference/subgraph_inference.h"

#include <algorithm>

#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/sequence/sequence.h"

namespace sardonyx::ops {
namespace {

// Nested loops whose types need widening multiply the rounds; beyond this depth carried values
// start with unknown shapes, for which one round is enough.
constexpr int kMaxWidenedDepth = 4;
thread_local int depth_of_typing = 0;

struct DepthScope {
  DepthScope() { ++depth_of_typing; }
  ~DepthScope() { --depth_of_typing; }
};

// Captured values that are constant outside are so inside while types are inferred. They are not
// kept as constants of the subgraph, which would hold them twice.
class CapturedConstants {
 public:
  CapturedConstants(const Graph& body, std::span<const InferInput> captures) : body_(body) {
    for (size_t i = 0; i < captures.size(); ++i) {
      Value* inside = body.captures()[i];
      if (captures[i].constant && !inside->constant) {
        inside->constant = std::make_shared<const Tensor>(*captures[i].constant);
        set_.push_back(inside);
      }
    }
  }
  ~CapturedConstants() {
    for (Value* value : set_)
      value->constant.reset();
  }
  CapturedConstants(const CapturedConstants&) = delete;
  CapturedConstants& operator=(const CapturedConstants&) = delete;

 private:
  const Graph& body_;
  std::vector<Value*> set_;
};

// Inference completes types by what was known before. Here that would be the types of an earlier
// round, or types that used the enclosing graph's symbols as if they were the subgraph's own.
void clear_types(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (Value* output : node->outputs) {
      if (!output) continue;
      output->type = Type::none();
      output->dims.reset();
    }
    for (const GraphPtr& inner : subgraphs_of(*node))
      clear_types(*inner);
  }
}

Type map_dims(const Type& type, const std::function<Dim(const Dim&)>& map) {
  Type result = type;
  if (type.element) result.element = std::make_shared<const Type>(map_dims(*type.element, map));
  if (type.shape)
    std::transform(type.shape->begin(), type.shape->end(), result.shape->begin(), map);
  return result;
}

Type without_shape(const Type& type) {
  Type result = type;
  result.shape.reset();
  if (type.element) result.element = std::make_shared<const Type>(without_shape(*type.element));
  return result;
}

// Widens `carried` until a value of type `given` fits; true if that changed it. Dims in `free` take
// any size already.
bool widen(Type& carried, const Type& given, std::set<std::string>& free,
           const std::function<Dim()>& fresh) {
  bool changed = false;
  if (carried.element) {
    Type element = *carried.element;
    changed = widen(element, *given.element, free, fresh);
    if (changed) carried.element = std::make_shared<const Type>(std::move(element));
  }
  if (!carried.shape) return changed;
  if (!given.shape || given.rank() != carried.rank()) {
    carried.shape.reset();
    return true;
  }
  for (size_t i = 0; i < carried.rank(); ++i) {
    Dim& dim = (*carried.shape)[i];
    if (dim == (*given.shape)[i] || free.contains(dim.text())) continue;
    dim = fresh();
    free.insert(dim.text());
    changed = true;
  }
  return changed;
}

}  // namespace

BodyTyper::BodyTyper(InferContext& c, const GraphPtr& body, std::string_view what)
    : c_(c), body_(body), what_(what) {
  c.require(body != nullptr, what, " is missing");
  c.require(body->captures().size() == c.captures().size(), what, " captures ",
            body->captures().size(), " values, the node has ", c.captures().size());
  if (!c.types_subgraphs()) body_ = clone(*body);
}

void BodyTyper::require_counts(size_t inputs, size_t min_outputs) const {
  c_.require(body_->inputs().size() == inputs, what_, " has ", body_->inputs().size(),
             " inputs, expected ", inputs);
  c_.require(body_->outputs().size() >= min_outputs, what_, " has ", body_->outputs().size(),
             " outputs, expected at least ", min_outputs);
}

void BodyTyper::type(const std::vector<Type>& inputs) {
  SARDONYX_CHECK(inputs.size() == body_->inputs().size());
  clear_types(*body_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value& value = *body_->inputs()[i];
    const bool fits = value.type.is_none() || inputs[i].is_none() ||
                      value.type.dtype == DType::kUndefined || same_kind(value.type, inputs[i]);
    c_.require(fits, what_, ": input ", value.name, " is declared ", value.type, ", given ",
               inputs[i]);
    if (!inputs[i].is_none()) value.type = inputs[i];
    value.dims.reset();
  }
  const auto captures = c_.captures();
  for (size_t i = 0; i < captures.size(); ++i) {
    Value& value = *body_->captures()[i];
    value.type = to_inner(captures[i].type);
    value.dims.reset();
    if (!captures[i].dims) continue;
    value.dims.emplace();
    for (const Dim& dim : *captures[i].dims)
      value.dims->push_back(inner_dim(dim));
  }
  const CapturedConstants constants(*body_, captures);
  const DepthScope scope;
  infer_types(*body_);
}

std::vector<Type> BodyTyper::type_loop(std::vector<Type> inputs, size_t first, size_t count,
                                       size_t first_output) {
  std::set<std::string> free;
  const auto fresh = [&] { return body_->fresh_symbol(); };
  for (int round = depth_of_typing < kMaxWidenedDepth ? 0 : 3;; ++round) {
    if (round == 3) {  // nothing more general remains, so this round is the last
      for (size_t i = first; i < first + count; ++i)
        inputs[i] = without_shape(inputs[i]);
    }
    type(inputs);
    bool changed = false;
    for (size_t i = 0; i < count; ++i) {
      Type& carried = inputs[first + i];
      const Type& given = output(first_output + i);
      if (carried.is_none() || given.is_none()) continue;
      // An optional may go on as the value that it may hold.
      if (carried.is_optional() && same_kind(*carried.element, given)) continue;
      c_.require(same_kind(carried, given), what_, ": output ",
                 body_->outputs()[first_output + i]->name, " is of type ", given,
                 ", but goes on as ", carried);
      changed |= widen(carried, given, free, fresh);
    }
    if (!changed) break;
  }
  const auto begin = inputs.begin() + static_cast<ptrdiff_t>(first);
  return {begin, begin + static_cast<ptrdiff_t>(count)};
}

std::optional<Dims> BodyTyper::output_dims(size_t index) {
  const Value& value = *body_->outputs()[index];
  std::optional<Dims> dims = value.dims;
  if (!dims && value.constant && is_integer(value.constant->dtype()) &&
      value.constant->count() <= kMaxPropagatedElements) {
    dims = to_dims(value.constant->to_int64s());
  }
  if (!dims) return std::nullopt;
  for (Dim& dim : *dims) {
    for (const std::string& symbol : dim.symbols()) {
      if (!outer_symbols_.contains(symbol)) return std::nullopt;
    }
    dim = outer_dim(dim);
  }
  return dims;
}

Type BodyTyper::to_inner(const Type& type) {
  return map_dims(type, [&](const Dim& dim) { return inner_dim(dim); });
}

Type BodyTyper::to_outer(const Type& type) {
  return map_dims(type, [&](const Dim& dim) { return outer_dim(dim); });
}

// Symbols that a graph makes up start with '?': those of the enclosing graph get a mark.
Dim BodyTyper::inner_dim(const Dim& dim) {
  const Dim inner = dim.substitute([](std::string_view symbol) {
    return symbol.starts_with('?') ? std::optional(Dim::symbol(std::string(symbol) + "_"))
                                   : std::nullopt;
  });
  outer_symbols_.merge(inner.symbols());
  return inner;
}

Dim BodyTyper::outer_dim(const Dim& dim) {
  for (const std::string& symbol : dim.symbols()) {
    if (outer_symbols_.contains(symbol)) continue;
    // One of the subgraph's own: equal dims stay equal outside.
    const auto [at, is_new] = unknowns_.try_emplace(dim.text());
    if (is_new) at->second = c_.unknown();
    return at->second;
  }
  return dim.substitute([](std::string_view symbol) {
    return symbol.starts_with('?') ? std::optional(Dim::symbol(symbol.substr(0, symbol.size() - 1)))
                                   : std::nullopt;
  });
}

}  // namespace sardonyx::ops
