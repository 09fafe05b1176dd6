// The op table: everything sardonyx knows of an operator stands in one row.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attributes.h"
#include "ir/datum.h"
#include "ir/emitter/emitter.h"
#include "ir/type.h"

namespace sardonyx {

// The types that a parameter may have.
struct TypeSet {
  DTypeSet tensors;
  DTypeSet sequences;           // seq(tensor(...))
  DTypeSet optional_tensors;    // optional(tensor(...))
  DTypeSet optional_sequences;  // optional(seq(tensor(...)))
  std::string_view
      others;  // further types in Type::text()'s form, separated by ';': "map(int64, float);..."

  constexpr TypeSet() = default;
  constexpr TypeSet(DTypeSet of_tensors) : tensors(of_tensors) {}
  constexpr TypeSet(DType dtype) : tensors(dtype) {}
  constexpr TypeSet(DTypeSet of_tensors, DTypeSet of_sequences, DTypeSet of_optional_tensors = {},
                    DTypeSet of_optional_sequences = {}, std::string_view of_others = {})
      : tensors(of_tensors),
        sequences(of_sequences),
        optional_tensors(of_optional_tensors),
        optional_sequences(of_optional_sequences),
        others(of_others) {}
  // Whether a value of the type may be given.
  bool has(const Type& type) const;
  // The types as errors list them: "float or double; seq(tensor(float))".
  std::string text() const;
};

struct TypeConstraint {
  std::string_view name;  // "T"
  TypeSet types;
};

// Those of a row, which stay for good: nothing that a load or a run needs is destroyed at the end
// of the process, for other threads may load and run models until then.
class TypeConstraints {
 public:
  TypeConstraints() = default;
  TypeConstraints(std::initializer_list<TypeConstraint> constraints)
      : TypeConstraints(std::span(constraints.begin(), constraints.size())) {}
  explicit TypeConstraints(std::span<const TypeConstraint> constraints)
      : first_(new TypeConstraint[constraints.size()]), count_(constraints.size()) {
    std::copy(constraints.begin(), constraints.end(), first_);
  }
  const TypeConstraint* begin() const { return first_; }
  const TypeConstraint* end() const { return first_ + count_; }

 private:
  TypeConstraint* first_ = nullptr;
  size_t count_ = 0;
};

// A formal input or output, read from OpDef::signature.
struct Param {
  std::string name;
  std::string type;  // a constraint's name, or a dtype such as "int64"
  bool optional = false;
  bool variadic = false;
  bool homogeneous = true;  // of a variadic: all have one type
  size_t min_count = 1;     // of a variadic
};

// A row's parameters in order, and how many of them a call must and may give.
struct Signature {
  std::vector<Param> inputs, outputs;
  size_t min_inputs = 0, max_inputs = 0;  // max: SIZE_MAX for a variadic
  size_t min_outputs = 0, max_outputs = 0;
  const Param& input(size_t index) const;  // a variadic's param for all indices from its own on
  const Param& output(size_t index) const;
};

// The knowledge that type and shape inference has of one input.
struct InferInput {
  Type type;                         // kNone where omitted
  const Tensor* constant = nullptr;  // the value, where known
  const Dims* dims = nullptr;        // the elements of a small integer tensor, where known as dims
};
struct InferOutput {
  Type type;
  std::optional<Dims> dims;  // set where the output is a small integer tensor with known elements
};

// One call of a row's `infer`. All dims may be symbols at load; when a plan is made they are
// integers.
class InferContext {
 public:
  InferContext(const OpDef& op, const Attrs& attrs, std::span<const InferInput> inputs,
               size_t outputs, size_t formal_inputs, std::function<Dim()> fresh_symbol,
               bool types_subgraphs = false);

  // The row that is inferred.
  const OpDef& op() const { return op_; }
  // The node's attributes as the row's struct.
  template <typename S>
  const S& attrs() const {
    return attrs_.as<S>();
  }
  const Attrs& raw_attrs() const { return attrs_; }

  // Formal inputs; captured values of subgraphs follow them, see captures().
  size_t input_count() const { return formal_; }
  // Whether the formal input is given.
  bool has(size_t input) const { return input < formal_ && !inputs_[input].type.is_none(); }
  const Type& type(size_t input) const { return inputs_[input].type; }
  DType dtype(size_t input) const { return inputs_[input].type.dtype; }
  // The dims of an input; nullptr where its rank is unknown.
  const Dims* shape(size_t input) const;
  // The value of an input if it is known; nullptr otherwise (also where omitted).
  const Tensor* constant(size_t input) const {
    return has(input) ? inputs_[input].constant : nullptr;
  }
  // The elements of a 1-D (or scalar) integer input, as far as they are known at all.
  std::optional<Dims> dims(size_t input) const;
  // The elements of a 1-D (or scalar) integer input where every one is a known integer.
  std::optional<std::vector<int64_t>> int64s(size_t input) const;
  std::span<const InferInput> captures() const { return inputs_.subspan(formal_); }
  std::span<const InferInput> all_inputs() const { return inputs_; }

  size_t output_count() const { return outputs_.size(); }
  // Output `output` has this type, or this element type and shape (nullopt: of unknown rank).
  void set(size_t output, Type type);
  void set(size_t output, DType dtype, std::optional<Dims> shape);
  // The elements of a small integer output.
  void set_dims(size_t output, Dims elements);
  const std::vector<InferOutput>& outputs() const { return outputs_; }

  // A dim that nothing is known of.
  Dim unknown() { return fresh_symbol_(); }
  const std::function<Dim()>& fresh_symbol() const { return fresh_symbol_; }
  // The node stands in a graph that is being typed: types are to be written into the subgraphs in
  // its attributes. Otherwise these are shared with other calls and must not be changed.
  bool types_subgraphs() const { return types_subgraphs_; }

  // Throws kInvalidModel with "OP: input NAME: MESSAGE" / "OP: MESSAGE" (the caller adds the node's
  // name).
  template <typename... Parts>
  [[noreturn]] void fail_input(size_t input, const Parts&... parts) const {
    fail_input_joined(input, {detail::TextPart(parts)...});
  }
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    fail_joined({detail::TextPart(parts)...});
  }
  // Fails with the message unless the condition holds.
  template <typename... Parts>
  void require(bool condition, const Parts&... parts) const {
    if (!condition) fail(parts...);
  }
  // Input `input` must have this rank, if its rank is known.
  void require_rank(size_t input, size_t rank) const;
  // `axis` in [-rank, rank), made non-negative.
  int64_t normalized_axis(int64_t axis, size_t rank, std::string_view what = "axis") const;
  // a and b must be equal: throws if both are known and differ; returns the better known of the
  // two.
  Dim merged(const Dim& a, const Dim& b, std::string_view what) const;
  std::string input_label(size_t input) const;  // "input W (float[32, 3, 3, 3])"

 private:
  using TextParts = std::initializer_list<detail::TextPart>;
  [[noreturn]] void fail_joined(TextParts parts) const;
  [[noreturn]] void fail_input_joined(size_t input, TextParts parts) const;
  const OpDef& op_;
  const Attrs& attrs_;
  std::span<const InferInput> inputs_;
  size_t formal_;
  std::vector<InferOutput> outputs_;
  std::function<Dim()> fresh_symbol_;
  bool types_subgraphs_;
};

// One call of a reference kernel whose outputs have known shapes. Values of packed types come
// unpacked, one byte an element. Omitted inputs and outputs have dtype kUndefined.
struct KernelCall {
  const OpDef& op;
  const Attrs& raw_attrs;
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  template <typename S>
  const S& attrs() const {
    return raw_attrs.as<S>();
  }
  bool has(size_t input) const { return input < inputs.size() && inputs[input]; }
  // Whether the output is asked for; others are not to be written.
  bool wants(size_t output) const { return output < outputs.size() && outputs[output]; }
};

// One call of an op whose outputs' shapes depend on data, or that are no tensors: ir/eval_call.h.
struct EvalCall;

// One call of a row's `body`, which gives its outputs in other ops.
struct BodyCall {
  const OpDef& op;
  const Attrs& raw_attrs;
  std::span<const Val> inputs;
  size_t output_count;
  template <typename S>
  const S& attrs() const {
    return raw_attrs.as<S>();
  }
  bool has(size_t input) const { return input < inputs.size() && inputs[input]; }
};

struct GradCall {
  const OpDef& op;
  const Attrs& raw_attrs;
  std::span<const Val> inputs;  // captures of subgraphs last
  std::span<const Val> outputs;
  std::span<const Val> d_outputs;   // empty where no gradient flows in
  const std::vector<bool>& needed;  // by input: whether anybody asks for its gradient
  size_t captures = 0;
  template <typename S>
  const S& attrs() const {
    return raw_attrs.as<S>();
  }
  bool has(size_t input) const { return input < inputs.size() && inputs[input]; }
  // Whether the gradient of the input is asked for.
  bool wants(size_t input) const { return input < needed.size() && needed[input]; }
  // Whether a gradient flows into the output.
  bool has_d(size_t output) const { return output < d_outputs.size() && d_outputs[output]; }
};

// Inputs and attributes to try a row with. Values are drawn from [low, high] with a fixed seed, or
// given.
struct SampleInput {
  Shape shape;
  double low = -2, high = 2;
  std::optional<Tensor> value;      // used as it is; its dtype binds the parameter's constraint
  DType dtype = DType::kUndefined;  // kUndefined: every type that the row allows is tried
  bool omitted = false;
};
struct Sample {
  std::vector<SampleInput> inputs;
  AttrMap attrs = {};
  size_t outputs = 1;
  DTypeSet only = kAnyDType;  // dtypes of the first input to try
};

// Facts that passes and planners ask for.
enum Fact : uint32_t {
  kElementwise = 1,  // output element i depends on elements i of the (broadcast) inputs alone
  kView = 2,         // output 0 holds input 0's elements in the same order
  kCommutative = 4,
  kRandom = 8,         // two calls differ: not to be folded or merged
  kPassesValues = 16,  // inference can carry `dims` through (Shape, Gather, Concat ... of integers)
  kProduct = 32,       // a convolution or matrix product of floats: computed in bfloat16 on request
  kBFloat16Between = 64,  // stays in bfloat16 between two such: rounds once, or only moves values
  kFloat32Kernels = 128,  // float16 and bfloat16 values may be computed by kernels for float32
  kFusable = 256,         // a step of sardonyx::FusedElementwise
  kActivation = 512,      // with kFusable: fused products may end with it
  kIgnoresConstants = 1024,  // its kernels do the same whatever row-major constants hold
  kReadsTable = 2048,    // its weights are a table of which a run reads a few rows, at any address
  kDequantizes = 4096,   // output 0 is what the quantised input 0 stands for
  kSmallInMixed = 8192,  // mixed precision computes it in float16 or bfloat16: a product
  kFloat32InMixed = 16384,  // mixed precision computes it in float32: it needs range or digits
};

// How an op takes part in providers' layouts of images.
enum class LayoutRole : uint8_t {
  kNone,     // takes and gives row-major elements
  kConv,     // a convolution: its kernels choose the layout
  kImage,    // pools and Resize: take images in any layout and give them in one
  kKeeps,    // gives the layout of its inputs, and is worth being handed one
  kFollows,  // gives the layout of its inputs, but does as well on row-major elements
  kPermutes  // may give another layout rather than move elements
};

// Whether a mask of inputs has the bit of `slot`; inputs beyond the first 32 have no bit.
inline bool has_bit(uint32_t mask, size_t slot) {
  return slot < 32 && (mask >> slot & 1u);
}

// One call of a row's `part_offsets` or `join_offsets`; all shapes are known.
struct OffsetsCall {
  const Attrs& raw_attrs;
  const Shape& whole;
  std::span<const Shape> parts;
  std::span<const Tensor* const> constants = {};  // by input; null where omitted or not known
  bool knows_constants = true;                    // of all inputs but the first that are given
  template <typename S>
  const S& attrs() const {
    return raw_attrs.as<S>();
  }
};
// The index at which each part begins among the row-major elements of the whole; nullopt where a
// part is scattered over the whole.
using Offsets = std::optional<std::vector<int64_t>>;

struct OpDef {
  std::string_view name;
  std::string_view doc = "";     // what it computes, with shapes: one sentence
  std::string_view domain = "";  // "" is ai.onnx
  int since = 1;                 // the newest version of the op in its domain
  // "(X: T, W: T, B?: T) -> (Y: T)". `?`: optional. "ins...: T": variadic, at least one; "ins...0:
  // T" at least none; "T*" lets each have a type of its own.
  std::string_view signature;
  TypeConstraints types = {};
  const AttrSchema* attrs = attr_schema<NoAttrs>();
  void (*infer)(InferContext&) = nullptr;
  // The implementation that defines the op: one of these; a body beside a reference serves opsets
  // that lack the op.
  void (*reference)(const KernelCall&) = nullptr;     // outputs' shapes are known from infer
  void (*evaluate)(const EvalCall&) = nullptr;        // they are not, or they are no tensors
  Vals (*body)(Emitter&, const BodyCall&) = nullptr;  // in other ops
  // Gradients of the inputs, by input; an empty Val (or a shorter list) is a gradient of zero. Of
  // kElementwise rows each may have the broadcast shape: differentiate() sums it to the input's.
  // Written in ops, so that it can be traced, exported and differentiated again. A row with neither
  // `grad` nor `body` cannot be differentiated, which is an error where a gradient reaches it.
  Vals (*grad)(Emitter&, const GradCall&) = nullptr;
  uint32_t facts = 0;
  // Bit k: infer needs the *value* of input k to know the outputs' shapes.
  uint32_t shape_inputs = 0;
  // Bit k: input k holds the weights of a product, or the table of a Gather. A constant there may
  // be out of memory while kernels are prepared: these look at weights through KernelRequest::packs
  // alone, or where the run finds them, and at a table in the run.
  uint32_t weight_inputs = 0;
  LayoutRole layout = LayoutRole::kNone;
  Offsets (*part_offsets)(const OffsetsCall&) = nullptr;  // of the outputs in input 0
  Offsets (*join_offsets)(const OffsetsCall&) = nullptr;  // of the inputs in output 0
  std::vector<Sample> (*samples)() = nullptr;
  // The source that has the row, from the top of the tree: where to read on.
  std::string_view file = __builtin_FILE();

  // Whether the row states the fact.
  bool is(Fact fact) const { return facts & fact; }
  // The row with these facts as well.
  OpDef with(uint32_t more) const {
    OpDef row = *this;
    row.facts |= more;
    return row;
  }
  // The row with this `doc`.
  OpDef documented(std::string_view sentence) const {
    OpDef row = *this;
    row.doc = sentence;
    return row;
  }
};

// The signature of an op, read once.
const Signature& signature_of(const OpDef& op);

// All rows; stable addresses.
std::span<const OpDef* const> all_ops();
// nullptr where there is none.
const OpDef* find_op(std::string_view name, std::string_view domain = "");
// Throws kUnsupported where there is none. `qualified` may be "domain::Name".
const OpDef& op_named(std::string_view qualified);
// "ai.onnx" and "" are one domain.
std::string_view canonical_domain(std::string_view domain);
std::string full_name(const OpDef& op);  // "Conv", "com.microsoft::FusedConv"

// Checks counts and types of the inputs against the signature, runs the row's infer and checks what
// it set. Throws kInvalidModel "Conv: input W: ...".
std::vector<InferOutput> infer(const OpDef& op, const Attrs& attrs,
                               std::span<const InferInput> inputs, size_t formal_inputs,
                               size_t outputs, const std::function<Dim()>& fresh_symbol,
                               bool types_subgraphs = false);

}  // namespace sardonyx
