// The interface through which op bodies, gradients, upgrades and rewrites write ops. One emitter
// runs them at once (ReferenceEmitter in ir/reference_evaluator.h), another records them in a graph
// (GraphEmitter in ir/graph.h).
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/attributes.h"
#include "ir/type.h"

namespace sardonyx {

struct OpDef;

// A handle that only its emitter understands; empty for an omitted optional input.
class Val {
 public:
  Val() = default;
  explicit Val(std::shared_ptr<void> held) : held_(std::move(held)) {}
  explicit operator bool() const { return held_ != nullptr; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(held_.get());
  }
  bool operator==(const Val&) const = default;

 private:
  std::shared_ptr<void> held_;
};
using Vals = std::vector<Val>;

class Emitter {
 public:
  virtual ~Emitter() = default;

  // Writes one op with `outputs` outputs; checks and infers types first, so it throws on misuse.
  // The last `captures` of the inputs are values that its subgraphs use (Graph::captures).
  virtual Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs,
                    size_t outputs, size_t captures = 0) = 0;
  virtual Val constant(Tensor value) = 0;
  virtual Type type(const Val& val) const = 0;
  // The value where it is known before the run.
  virtual std::optional<Tensor> constant_value(const Val& val) const = 0;
  // The elements of a small integer tensor as far as they are known: dims, perhaps symbolic.
  virtual std::optional<Dims> dims_value(const Val& val) const = 0;

  // One op by name: `e.call("Mul", {a, b})`, `e.call("ReduceSum", {x, axes}, {{"keepdims",
  // int64_t{0}}})`. ai.onnx's op unless `op` is written "domain::Name".
  Val call(std::string_view op, std::initializer_list<Val> inputs, const AttrMap& attrs = {});
  Vals call_many(std::string_view op, std::span<const Val> inputs, const AttrMap& attrs,
                 size_t outputs);

  // Constants of the dtype that `like` has.
  Val scalar_like(const Val& like, double value);
  Val scalar(DType dtype, double value);
  Val int64s(const std::vector<int64_t>& values);  // 1-D
};

}  // namespace sardonyx
