// SequenceAt, SequenceConstruct, SequenceEmpty, SequenceErase, SequenceInsert, SequenceLength,
// ConcatFromSequence, SplitToSequence.
#include "ir/ops/sequence.h"

#include <algorithm>

#include "ir/evaluation.h"
#include "ir/ops/carry.h"
#include "ir/ops/indices.h"
#include "ir/ops/infer.h"
#include "ir/ops/join.h"
#include "ir/ops/sequence_gradient.h"
#include "ir/ops/tables.h"
#include "ir/run_control.h"
#include "ir/strides.h"

namespace sardonyx::ops {
namespace {

constexpr TypeSet kSequences({}, kClassicTypes);

int64_t read_index(const Datum& datum) {
  const Tensor& tensor = datum.tensor();
  if (tensor.count() != 1) {
    fail(ErrorCode::kInvalidArgument, "position: expected one element, got ", tensor.count());
  }
  return indices_of(tensor.view())[0];
}

// A position in [-size, size), made non-negative; one more where something is put in.
size_t read_position(const Datum& datum, size_t size, bool insert) {
  const int64_t position = read_index(datum);
  const auto count = static_cast<int64_t>(size);
  if (position < -count || position >= count + (insert ? 1 : 0)) {
    fail(ErrorCode::kInvalidArgument, "position ", position, " is out of range for a sequence of ",
         count, ", expected ", -count, " to ", count - (insert ? 0 : 1));
  }
  return static_cast<size_t>(position < 0 ? position + count : position);
}

const Type& element_type(const InferContext& c, size_t input) {
  return *c.type(input).element;
}

// ---- SequenceEmpty, SequenceConstruct

DType empty_dtype(const SequenceEmptyAttrs& attrs) {
  return attrs.dtype.value_or(DType::kFloat);
}

void infer_sequence_empty(InferContext& c) {
  const DType dtype = empty_dtype(c.attrs<SequenceEmptyAttrs>());
  c.require(kClassicTypes.has(dtype), "dtype: sequences do not hold elements of type ", dtype);
  c.set(0, Type::sequence(Type::tensor(dtype)));
}

std::vector<Datum> run_sequence_empty(const EvalCall& call) {
  return {Sequence{Type::tensor(empty_dtype(call.attrs<SequenceEmptyAttrs>())), {}}};
}

void infer_sequence_construct(InferContext& c) {
  Type element = c.type(0);
  for (size_t i = 1; i < c.input_count(); ++i)
    element = *joined(element, c.type(i), c.fresh_symbol());
  c.set(0, Type::sequence(std::move(element)));
}

// Run-time sequences say no more of their elements than the dtype: items may differ in shape.
std::vector<Datum> run_sequence_construct(const EvalCall& call) {
  return {Sequence{Type::tensor(call.inputs[0].tensor().dtype()),
                   {call.inputs.begin(), call.inputs.end()}}};
}

// ---- SequenceAt, SequenceErase, SequenceInsert, SequenceLength

void infer_sequence_at(InferContext& c) {
  require_single(c, 1);
  c.set(0, element_type(c, 0));
}

std::vector<Datum> run_sequence_at(const EvalCall& call) {
  const auto& items = call.inputs[0].sequence().items;
  return {items[read_position(call.inputs[1], items.size(), false)]};
}

void infer_sequence_erase(InferContext& c) {
  require_single(c, 1);
  c.set(0, c.type(0));
}

std::vector<Datum> run_sequence_erase(const EvalCall& call) {
  Sequence sequence = call.inputs[0].sequence();
  const size_t size = sequence.items.size();
  if (!call.has(1) && size == 0) {
    fail(ErrorCode::kInvalidArgument, "the sequence is empty: there is nothing to erase");
  }
  const size_t at = call.has(1) ? read_position(call.inputs[1], size, false) : size - 1;
  sequence.items.erase(sequence.items.begin() + static_cast<ptrdiff_t>(at));
  return {std::move(sequence)};
}

void infer_sequence_insert(InferContext& c) {
  require_single(c, 2);
  const Type& element = element_type(c, 0);
  const auto result = joined(element, c.type(1), c.fresh_symbol());
  if (!result) c.fail_input(1, "the sequence holds ", element);
  c.set(0, Type::sequence(*result));
}

std::vector<Datum> run_sequence_insert(const EvalCall& call) {
  Sequence sequence = call.inputs[0].sequence();
  const size_t size = sequence.items.size();
  const size_t at = call.has(2) ? read_position(call.inputs[2], size, true) : size;
  sequence.items.insert(sequence.items.begin() + static_cast<ptrdiff_t>(at), call.inputs[1]);
  return {std::move(sequence)};
}

void infer_sequence_length(InferContext& c) {
  c.set(0, DType::kInt64, Dims{});
}

std::vector<Datum> run_sequence_length(const EvalCall& call) {
  return {Tensor::scalar(static_cast<int64_t>(call.inputs[0].sequence().items.size()))};
}

// ---- ConcatFromSequence

void infer_concat_from_sequence(InferContext& c) {
  const auto& attrs = c.attrs<ConcatFromSequenceAttrs>();
  const Type& element = element_type(c, 0);
  if (!element.shape) return c.set(0, element.dtype, std::nullopt);
  Dims result = *element.shape;
  if (attrs.new_axis) {
    const int64_t axis = c.normalized_axis(attrs.axis, result.size() + 1);
    result.insert(result.begin() + axis, c.unknown());
  } else {
    result[static_cast<size_t>(c.normalized_axis(attrs.axis, result.size()))] = c.unknown();
  }
  c.set(0, element.dtype, std::move(result));
}

// The items as views, with a dim of 1 at `axis` if that is to be new.
std::vector<Shape> part_shapes(const Sequence& sequence, const ConcatFromSequenceAttrs& attrs) {
  std::vector<Shape> shapes;
  for (const Datum& item : sequence.items) {
    Shape shape = item.tensor().shape();
    const auto limit = static_cast<int64_t>(shape.size()) + (attrs.new_axis ? 1 : 0);
    if (attrs.axis < -limit || attrs.axis >= limit) {
      fail(ErrorCode::kInvalidArgument, "axis ", attrs.axis, " is out of range for rank ", limit);
    }
    const size_t axis = axis_of(attrs.axis, static_cast<size_t>(limit));
    if (attrs.new_axis) shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), 1);
    Shape expected = shapes.empty() ? shape : shapes[0];
    if (expected.size() == shape.size()) expected[axis] = shape[axis];
    if (expected != shape) {
      fail(ErrorCode::kInvalidArgument, "items of shapes ", to_text(shapes[0]), " and ",
           to_text(shape), " do not concatenate along axis ", axis);
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<Datum> run_concat_from_sequence(const EvalCall& call) {
  const auto& attrs = call.attrs<ConcatFromSequenceAttrs>();
  const Sequence& sequence = call.inputs[0].sequence();
  if (sequence.items.empty()) {
    fail(ErrorCode::kInvalidArgument, "the sequence is empty: there is nothing to concatenate");
  }
  const std::vector<Shape> shapes = part_shapes(sequence, attrs);
  Shape whole = shapes[0];
  const size_t axis = axis_of(attrs.axis, whole.size());
  std::vector<TensorView> parts;
  whole[axis] = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Tensor& item = sequence.items[i].tensor();
    parts.push_back({item.dtype(), shapes[i], item.raw()});
    if (__builtin_add_overflow(whole[axis], shapes[i][axis], &whole[axis])) {
      fail(ErrorCode::kResourceExhausted, "the size of axis ", axis, " overflows");
    }
  }
  Tensor output = Tensor::allocate(parts[0].dtype, std::move(whole));
  concat_along(parts, axis, output.view());
  return {std::move(output)};
}

// ---- SplitToSequence

void infer_split_to_sequence(InferContext& c) {
  require_vector(c, 1, /*or_scalar=*/true);
  const auto& attrs = c.attrs<SplitToSequenceAttrs>();
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, Type::sequence(Type::tensor(c.dtype(0))));
  const int64_t axis = c.normalized_axis(attrs.axis, dims->size());
  Dims element = *dims;
  if (!c.has(1)) {
    element[static_cast<size_t>(axis)] = 1;
    if (!attrs.keepdims) element.erase(element.begin() + axis);
  } else {
    element[static_cast<size_t>(axis)] = c.unknown();
    const auto sizes = c.int64s(1);
    if (sizes && !sizes->empty() && rank_of(c, 1) == 1u &&
        std::count(sizes->begin(), sizes->end(), (*sizes)[0]) == std::ssize(*sizes)) {
      element[static_cast<size_t>(axis)] = (*sizes)[0];
    }
  }
  c.set(0, Type::sequence(Type::tensor(c.dtype(0), std::move(element))));
}

// Items cost memory even where they have no elements.
constexpr int64_t kMostItems = int64_t{1} << 24;

void check_item_count(int64_t count) {
  if (count > kMostItems) {
    fail(ErrorCode::kResourceExhausted, "a sequence of ", count, " items is longer than ",
         kMostItems);
  }
}

// The sizes of the parts of an axis of `size` elements.
std::vector<int64_t> part_sizes(const EvalCall& call, int64_t size) {
  if (!call.has(1)) {
    check_item_count(size);
    return std::vector<int64_t>(static_cast<size_t>(size), 1);
  }
  const Tensor& split = call.inputs[1].tensor();
  std::vector<int64_t> sizes = indices_of(split.view()).to_vector();
  if (split.rank() == 0) {
    const int64_t part = sizes[0];
    if (part <= 0) fail(ErrorCode::kInvalidArgument, "split: expected at least 1, got ", part);
    check_item_count(size / part);
    sizes.assign(static_cast<size_t>(size / part), part);
    if (size % part != 0) sizes.push_back(size % part);
    return sizes;
  }
  int64_t rest = size;
  for (const int64_t part : sizes) {
    if (part < 0 || part > rest) {
      fail(ErrorCode::kInvalidArgument, "split: a part of ", part, " elements, expected 0 to ",
           rest, ", what is left of the axis's ", size);
    }
    rest -= part;
  }
  if (rest != 0) {
    fail(ErrorCode::kInvalidArgument, "split: the sizes leave ", rest, " of ", size, " elements");
  }
  return sizes;
}

std::vector<Datum> run_split_to_sequence(const EvalCall& call) {
  const auto& attrs = call.attrs<SplitToSequenceAttrs>();
  const Tensor& input = call.inputs[0].tensor();
  const size_t axis = axis_of(attrs.axis, input.rank());
  const bool drop_axis = !call.has(1) && !attrs.keepdims;
  Sequence sequence{Type::tensor(input.dtype()), {}};
  int64_t begin = 0;
  for (const int64_t size : part_sizes(call, input.shape()[axis])) {
    check_interrupted();
    Shape shape = input.shape();
    shape[axis] = size;
    Tensor part = Tensor::allocate(input.dtype(), shape);
    copy_part(input.view(), axis, begin, part.view());
    if (drop_axis) {
      shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
      part = part.reshaped(std::move(shape));
    }
    sequence.items.emplace_back(std::move(part));
    begin += size;
  }
  return {std::move(sequence)};
}

// ---- Samples and rows

std::vector<Sample> no_samples() {
  return {};  // samples hold tensors only
}
std::vector<Sample> sequence_construct_samples() {
  return {{{{.shape = {2, 3}}, {.shape = {2}}}}};
}
std::vector<Sample> sequence_empty_samples() {
  return {{{}, {{"dtype", int64_t{7}}}}};
}
std::vector<Sample> split_to_sequence_samples() {
  return {{{{.shape = {3, 4}}}, {{"keepdims", int64_t{0}}}},
          {{{.shape = {5}}, {.value = Tensor::scalar<int64_t>(2)}}}};
}

const OpDef kOps[] = {
    {.name = "SequenceAt",
     .since = 11,
     .signature = "(input_sequence: S, position: I) -> (tensor: T)",
     .types = {{"S", kSequences}, {"I", kIndexTypes}, {"T", kClassicTypes}},
     .infer = infer_sequence_at,
     .evaluate = evaluate_with<evaluate_anew<run_sequence_at>>,
     .grad = sequence_at_grad,
     .samples = no_samples},
    {.name = "SequenceConstruct",
     .since = 11,
     .signature = "(inputs...: T) -> (output_sequence: S)",
     .types = {{"T", kClassicTypes}, {"S", kSequences}},
     .infer = infer_sequence_construct,
     .evaluate = evaluate_with<evaluate_anew<run_sequence_construct>>,
     .grad = sequence_construct_grad,
     .samples = sequence_construct_samples},
    {.name = "SequenceEmpty",
     .since = 11,
     .signature = "() -> (output: S)",
     .types = {{"S", kSequences}},
     .attrs = attr_schema<SequenceEmptyAttrs>(),
     .infer = infer_sequence_empty,
     .evaluate = evaluate_with<evaluate_anew<run_sequence_empty>>,
     .samples = sequence_empty_samples},
    {.name = "SequenceErase",
     .since = 11,
     .signature = "(input_sequence: S, position?: I) -> (output_sequence: S)",
     .types = {{"S", kSequences}, {"I", kIndexTypes}},
     .infer = infer_sequence_erase,
     .evaluate = evaluate_with<evaluate_anew<run_sequence_erase>>,
     .grad = sequence_erase_grad,
     .samples = no_samples},
    {.name = "SequenceInsert",
     .since = 11,
     .signature = "(input_sequence: S, tensor: T, position?: I) -> (output_sequence: S)",
     .types = {{"S", kSequences}, {"T", kClassicTypes}, {"I", kIndexTypes}},
     .infer = infer_sequence_insert,
     .evaluate = evaluate_with<evaluate_anew<run_sequence_insert>>,
     .grad = sequence_insert_grad,
     .samples = no_samples},
    {.name = "SequenceLength",
     .since = 11,
     .signature = "(input_sequence: S) -> (length: I)",
     .types = {{"S", kSequences}, {"I", DType::kInt64}},
     .infer = infer_sequence_length,
     .evaluate = evaluate_with<evaluate_anew<run_sequence_length>>,
     .samples = no_samples},
    {.name = "ConcatFromSequence",
     .since = 11,
     .signature = "(input_sequence: S) -> (concat_result: T)",
     .types = {{"S", kSequences}, {"T", kClassicTypes}},
     .attrs = attr_schema<ConcatFromSequenceAttrs>(),
     .infer = infer_concat_from_sequence,
     .evaluate = evaluate_with<evaluate_anew<run_concat_from_sequence>>,
     .grad = concat_from_sequence_grad,
     .samples = no_samples},
    {.name = "SplitToSequence",
     .since = 24,
     .signature = "(input: T, split?: I) -> (output_sequence: S)",
     .types = {{"T", kClassicTypes | DType::kBFloat16},
               {"I", kIndexTypes},
               {"S", {{}, kClassicTypes | DType::kBFloat16}}},
     .attrs = attr_schema<SplitToSequenceAttrs>(),
     .infer = infer_split_to_sequence,
     .evaluate = evaluate_with<evaluate_anew<run_split_to_sequence>>,
     .grad = split_to_sequence_grad,
     .samples = split_to_sequence_samples},
};

}  // namespace

std::optional<Type> joined(const Type& a, const Type& b, const std::function<Dim()>& unknown) {
  if (!same_kind(a, b)) return std::nullopt;
  Type result = a;
  if (a.element) {
    auto element = joined(*a.element, *b.element, unknown);
    if (!element) return std::nullopt;
    result.element = std::make_shared<const Type>(std::move(*element));
  }
  if (!a.shape || !b.shape || a.rank() != b.rank()) {
    result.shape.reset();
    return result;
  }
  for (size_t i = 0; i < a.rank(); ++i) {
    if (!((*a.shape)[i] == (*b.shape)[i])) (*result.shape)[i] = unknown();
  }
  return result;
}

std::span<const OpDef> sequence_ops() {
  return kOps;
}

}  // namespace sardonyx::ops
