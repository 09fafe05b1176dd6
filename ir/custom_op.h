// Operators of a program's own: rows that join the op table while the program runs. The C interface
// (executor/c_api), the Python package, ONNX Runtime's custom operators (executor/ort_abi) and the
// eager layer all make their operators here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/eval_call.h"
#include "ir/op_def.h"

namespace sardonyx {

// An attribute that an operator takes. The kind of `value` is the attribute's.
struct CustomAttribute {
  std::string name;
  AttrValue value;  // the default, unless required or optional
  bool is_required = false;
  bool is_optional = false;  // there is no default: a call may have none
};

// The types that a name in a signature stands for: tensors, and where they are given sequences,
// optional tensors and optional sequences, of these element types.
struct CustomTypes {
  std::string name;
  DTypeSet tensors;
  DTypeSet sequences = {};
  DTypeSet optional_tensors = {};
  DTypeSet optional_sequences = {};
  std::string others = {};  // as TypeSet::others has them: "map(int64, float);..."
};

// An exception by which a function of the program ends the run altogether (an interrupt from the
// keyboard): it leaves the run as it is, where other exceptions become errors of the node.
struct Interruption {
  virtual ~Interruption() = default;
};

// A program's description of its operator. Functions may be called by many threads at once, and
// must not change what they share. An exception from them becomes an Error that names operator and
// node: an Error keeps its code, an Interruption passes, other exceptions are kInvalidArgument.
struct CustomOp {
  std::string domain;  // neither ONNX's own ("", "ai.onnx") nor "sardonyx"
  std::string name;
  int since = 1;  // the first version of the domain that has it
  // Inputs and outputs as OpDef has them: "(X: T, bias?: T) -> (Y: T)"; T is a type such as
  // "float", or one of `types`.
  std::string signature;
  std::vector<CustomTypes> types = {};
  std::vector<CustomAttribute> attributes = {};

  // Reads call.inputs and makes the outputs, of any shape: `call.tensor(0, dtype, shape)` is
  // output 0, whose elements are to be written. A required output must be made. Elements of less
  // than a byte are packed, the first in the lowest bits.
  std::function<void(const EvalCall& call)> compute = {};
  // Tells the outputs' types and shapes from those of the inputs. Outputs begin with an element
  // type, where the signature tells it, and a shape that nothing is known of; what is left at that
  // is known when it has been computed. What is told must come true. None: all is left at that.
  std::function<void(InferContext& context)> infer = {};
  // The gradient, as OpDef::grad. Where it is empty, a gradient that reaches the operator is an
  // error.
  std::function<Vals(Emitter& emitter, const GradCall& call)> gradient = {};

  // Whether equal inputs give equal outputs and a call has no side effects: with constant inputs it
  // may then be computed when the model is loaded, and two equal calls may be one.
  bool is_pure = true;
  // Bit k: `infer` needs the value of input k to know the outputs' shapes.
  uint32_t shape_inputs = 0;
};

// An error that a function of the program's decided on: its code is told as it is.
class ProgramError : public Error {
 public:
  explicit ProgramError(Error error) : Error(std::move(error)) {}
};

// An operator as a row, which is what graphs and calls refer to: it must outlive them.
class CustomOpRow : public OpDef {
 public:
  // Throws Error (kInvalidArgument) where the description is not well formed.
  explicit CustomOpRow(CustomOp op);
  ~CustomOpRow();
  CustomOpRow(const CustomOpRow&) = delete;
  CustomOpRow& operator=(const CustomOpRow&) = delete;

  const CustomOp& description() const { return op_; }
  // Whether the row is that of a custom operator.
  static bool is_row(const OpDef& op) { return op.evaluate == evaluate_custom; }

 private:
  static void infer_custom(InferContext& context);
  static void evaluate_custom(const EvalCall& call);
  static Vals differentiate_custom(Emitter& emitter, const GradCall& call);
  void set_attributes();
  void check() const;

  CustomOp op_;
  AttrSchema schema_;
};

// Adds an operator for the whole process: models that are loaded from now on may use it, op_named()
// and find_op() find it, and eager code calls it as any other. The row stays for good. From any
// thread. Throws kInvalidArgument where the description is not well formed, or where there is an
// operator of this name.
const OpDef& register_custom_op(CustomOp op);
// Removes the operator, so that nobody finds it any more; models that are loaded keep it. Returns
// false where there was none.
bool unregister_custom_op(std::string_view name, std::string_view domain);
// nullptr where there is none.
const OpDef* find_custom_op(std::string_view name, std::string_view domain);

// The attribute of a call (EvalCall, GradCall) or an InferContext: what was given, else the
// default; nullopt where there is neither. T is one of AttrKinds, and must be the attribute's kind.
template <typename T>
std::optional<T> custom_attribute(const Attrs& attrs, std::string_view name) {
  std::optional<AttrValue> value = attrs.get(name);
  if (!value) return std::nullopt;
  T* held = std::get_if<T>(&*value);
  if (!held)
    fail(ErrorCode::kInvalidArgument, "attribute ", name, " is of kind ", kind_name(*value),
         ", another one was asked for");
  return std::move(*held);
}
template <typename T, typename Call>
requires requires(const Call& call) {
  call.raw_attrs.schema();
}
std::optional<T> custom_attribute(const Call& call, std::string_view name) {
  return custom_attribute<T>(call.raw_attrs, name);
}
template <typename T>
std::optional<T> custom_attribute(const InferContext& context, std::string_view name) {
  return custom_attribute<T>(context.raw_attrs(), name);
}

// Whoever ends a row lets its signature go, which signature_of() has kept (ir/signature.cpp).
void forget_signature(const OpDef& op);

}  // namespace sardonyx
