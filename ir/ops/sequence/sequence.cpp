// SequenceAt, SequenceConstruct, SequenceEmpty, SequenceErase, SequenceInsert, SequenceLength,
// ConcatFromSequence, SplitToSequence.
#include "ir/ops/sequence/sequence.h"

#include <algorithm>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/eval_call.h"
#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/indices.h"
#include "ir/ops/sequence/sequence_gradient.h"

namespace sardonyx::ops {
namespace {

constexpr TypeSet kSequences({}, kClassicTypes);

int64_t read_index(const Datum& datum) {
  const Tensor& tensor = datum.tensor();
  SARDONYX_CHECK(tensor.count() == 1);
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

void run_sequence_empty(const EvalCall& call) {
  call.sequence(0, Type::tensor(empty_dtype(call.attrs<SequenceEmptyAttrs>())), 0);
}

void infer_sequence_construct(InferContext& c) {
  Type element = c.type(0);
  for (size_t i = 1; i < c.input_count(); ++i)
    element = *joined(element, c.type(i), c.fresh_symbol());
  c.set(0, Type::sequence(std::move(element)));
}

// Run-time sequences say no more of their elements than the dtype: items may differ in shape.
void run_sequence_construct(const EvalCall& call) {
  const Type element = Type::tensor(call.inputs[0].tensor().dtype());
  Sequence& sequence = call.sequence(0, element, call.inputs.size());
  for (size_t i = 0; i < call.inputs.size(); ++i)
    sequence.items[i] = call.inputs[i];
}

// ---- SequenceAt, SequenceErase, SequenceInsert, SequenceLength

void infer_sequence_at(InferContext& c) {
  require_single(c, 1);
  c.set(0, element_type(c, 0));
}

void run_sequence_at(const EvalCall& call) {
  const auto& items = call.inputs[0].sequence().items;
  call.outputs[0] = items[read_position(call.inputs[1], items.size(), false)];
}

void infer_sequence_erase(InferContext& c) {
  require_single(c, 1);
  c.set(0, c.type(0));
}

void run_sequence_erase(const EvalCall& call) {
  const Sequence& from = call.inputs[0].sequence();
  const size_t size = from.items.size();
  if (!call.has(1) && size == 0) {
    fail(ErrorCode::kInvalidArgument, "the sequence is empty: there is nothing to erase");
  }
  const size_t at = call.has(1) ? read_position(call.inputs[1], size, false) : size - 1;
  Sequence& sequence = call.sequence(0, from.element, size - 1);
  const auto erased = from.items.begin() + static_cast<ptrdiff_t>(at);
  std::copy(erased + 1, from.items.end(),
            std::copy(from.items.begin(), erased, sequence.items.begin()));
}

void infer_sequence_insert(InferContext& c) {
  require_single(c, 2);
  const Type& element = element_type(c, 0);
  const auto result = joined(element, c.type(1), c.fresh_symbol());
  if (!result) c.fail_input(1, "the sequence holds ", element);
  c.set(0, Type::sequence(*result));
}

void run_sequence_insert(const EvalCall& call) {
  const Sequence& from = call.inputs[0].sequence();
  const size_t size = from.items.size();
  const size_t at = call.has(2) ? read_position(call.inputs[2], size, true) : size;
  Sequence& sequence = call.sequence(0, from.element, size + 1);
  const auto behind = from.items.begin() + static_cast<ptrdiff_t>(at);
  const auto inserted = std::copy(from.items.begin(), behind, sequence.items.begin());
  *inserted = call.inputs[1];
  std::copy(behind, from.items.end(), inserted + 1);
}

void infer_sequence_length(InferContext& c) {
  c.set(0, DType::kInt64, Dims{});
}

void run_sequence_length(const EvalCall& call) {
  call.set_scalar(call.outputs[0], static_cast<int64_t>(call.inputs[0].sequence().items.size()));
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

// The shape of an item, with a dim of 1 at the axis if that is to be new.
DimValues part_shape(const Tensor& item, const ConcatFromSequenceAttrs& attrs) {
  DimValues shape(item.shape().begin(), item.shape().end());
  const auto limit = static_cast<int64_t>(shape.size()) + (attrs.new_axis ? 1 : 0);
  if (attrs.axis < -limit || attrs.axis >= limit) {
    fail(ErrorCode::kInvalidArgument, "axis ", attrs.axis, " is out of range for rank ", limit);
  }
  if (!attrs.new_axis) return shape;
  shape.push_back(1);
  std::rotate(shape.begin() + axis_of(attrs.axis, shape.size()), shape.end() - 1, shape.end());
  return shape;
}

void check_part(const DimValues& first, const DimValues& part, size_t axis) {
  DimValues expected = first;
  if (expected.size() == part.size()) expected[axis] = part[axis];
  if (expected == part) return;
  fail(ErrorCode::kInvalidArgument, "items of shapes ", to_text(Shape(first.begin(), first.end())),
       " and ", to_text(Shape(part.begin(), part.end())), " do not concatenate along axis ", axis);
}

void run_concat_from_sequence(const EvalCall& call) {
  const auto& attrs = call.attrs<ConcatFromSequenceAttrs>();
  const std::vector<Datum>& items = call.inputs[0].sequence().items;
  if (items.empty()) {
    fail(ErrorCode::kInvalidArgument, "the sequence is empty: there is nothing to concatenate");
  }
  std::pmr::vector<DimValues> shapes(scratch());
  std::pmr::vector<TensorView> parts(scratch());
  shapes.reserve(items.size());  // the views point into it
  parts.reserve(items.size());
  DimValues whole = part_shape(items[0].tensor(), attrs);
  const size_t axis = axis_of(attrs.axis, whole.size());
  whole[axis] = 0;
  for (const Datum& datum : items) {
    const Tensor& item = datum.tensor();
    shapes.push_back(part_shape(item, attrs));
    check_part(shapes[0], shapes.back(), axis);
    if (__builtin_add_overflow(whole[axis], shapes.back()[axis], &whole[axis])) {
      fail(ErrorCode::kResourceExhausted, "the size of axis ", axis, " overflows");
    }
    parts.push_back({item.dtype(), shapes.back(), item.raw()});
  }
  concat_along(parts, axis, call.tensor(0, parts[0].dtype, whole).view());
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
constexpr int64_t kMaxItems = int64_t{1} << 24;

void check_item_count(int64_t count) {
  if (count > kMaxItems) {
    fail(ErrorCode::kResourceExhausted, "a sequence of ", count, " items is longer than ",
         kMaxItems);
  }
}

// The sizes of the parts of an axis of `size` elements.
std::pmr::vector<int64_t> part_sizes(const EvalCall& call, int64_t size) {
  std::pmr::vector<int64_t> sizes(scratch());
  if (!call.has(1)) {
    check_item_count(size);
    sizes.assign(static_cast<size_t>(size), 1);
    return sizes;
  }
  const Tensor& split = call.inputs[1].tensor();
  const IndexView given = indices_of(split.view());
  if (split.rank() == 0) {
    const int64_t part = given[0];
    if (part <= 0) fail(ErrorCode::kInvalidArgument, "split: expected at least 1, got ", part);
    check_item_count(size / part);
    sizes.assign(static_cast<size_t>(size / part), part);
    if (size % part != 0) sizes.push_back(size % part);
    return sizes;
  }
  sizes.reserve(given.size());
  int64_t rest = size;
  for (size_t i = 0; i < given.size(); ++i) {
    const int64_t part = sizes.emplace_back(given[i]);
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

void run_split_to_sequence(const EvalCall& call) {
  const auto& attrs = call.attrs<SplitToSequenceAttrs>();
  const Tensor& input = call.inputs[0].tensor();
  const size_t axis = axis_of(attrs.axis, input.rank());
  const bool drop_axis = !call.has(1) && !attrs.keepdims;
  const std::pmr::vector<int64_t> sizes = part_sizes(call, input.shape()[axis]);
  Sequence& sequence = call.sequence(0, Type::tensor(input.dtype()), sizes.size());
  DimValues shape(input.shape().begin(), input.shape().end());
  DimValues dropped = shape;
  std::copy(dropped.begin() + axis + 1, dropped.end(), dropped.begin() + axis);
  dropped.resize(dropped.size() - 1);
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    check_interrupted();
    shape[axis] = sizes[i];
    const Tensor& part =
        renewed_tensor(sequence.items[i], input.dtype(), drop_axis ? dropped : shape, call.buffers);
    copy_part(input.view(), axis, begin, {part.dtype(), shape, part.raw()});
    begin += sizes[i];
  }
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

const OpDef kSequenceOps[] = {
    {.name = "SequenceAt",
     .doc = "The tensor at a position of a sequence; negative counts from the end.",
     .since = 11,
     .signature = "(input_sequence: S, position: I) -> (tensor: T)",
     .types = {{"S", kSequences}, {"I", kIndexTypes}, {"T", kClassicTypes}},
     .infer = infer_sequence_at,
     .evaluate = run_sequence_at,
     .grad = sequence_at_grad,
     .samples = no_samples},
    {.name = "SequenceConstruct",
     .doc = "A sequence of these tensors, which have one type.",
     .since = 11,
     .signature = "(inputs...: T) -> (output_sequence: S)",
     .types = {{"T", kClassicTypes}, {"S", kSequences}},
     .infer = infer_sequence_construct,
     .evaluate = run_sequence_construct,
     .grad = sequence_construct_grad,
     .samples = sequence_construct_samples},
    {.name = "SequenceEmpty",
     .doc = "A sequence of no tensors of the type dtype.",
     .since = 11,
     .signature = "() -> (output: S)",
     .types = {{"S", kSequences}},
     .attrs = attr_schema<SequenceEmptyAttrs>(),
     .infer = infer_sequence_empty,
     .evaluate = run_sequence_empty,
     .samples = sequence_empty_samples},
    {.name = "SequenceErase",
     .doc = "The sequence without the tensor at the position, by default the last.",
     .since = 11,
     .signature = "(input_sequence: S, position?: I) -> (output_sequence: S)",
     .types = {{"S", kSequences}, {"I", kIndexTypes}},
     .infer = infer_sequence_erase,
     .evaluate = run_sequence_erase,
     .grad = sequence_erase_grad,
     .samples = no_samples},
    {.name = "SequenceInsert",
     .doc = "The sequence with the tensor before the position, by default at the end.",
     .since = 11,
     .signature = "(input_sequence: S, tensor: T, position?: I) -> (output_sequence: S)",
     .types = {{"S", kSequences}, {"T", kClassicTypes}, {"I", kIndexTypes}},
     .infer = infer_sequence_insert,
     .evaluate = run_sequence_insert,
     .grad = sequence_insert_grad,
     .samples = no_samples},
    {.name = "SequenceLength",
     .doc = "The number of tensors in the sequence: int64, rank 0.",
     .since = 11,
     .signature = "(input_sequence: S) -> (length: I)",
     .types = {{"S", kSequences}, {"I", DType::kInt64}},
     .infer = infer_sequence_length,
     .evaluate = run_sequence_length,
     .samples = no_samples},
    {.name = "ConcatFromSequence",
     .doc = "The tensors of a sequence joined along `axis`, an own one where new_axis = 1.",
     .since = 11,
     .signature = "(input_sequence: S) -> (concat_result: T)",
     .types = {{"S", kSequences}, {"T", kClassicTypes}},
     .attrs = attr_schema<ConcatFromSequenceAttrs>(),
     .infer = infer_concat_from_sequence,
     .evaluate = run_concat_from_sequence,
     .grad = concat_from_sequence_grad,
     .samples = no_samples},
    {.name = "SplitToSequence",
     .doc = "Parts along `axis` as a sequence: of one length, of lengths that are listed, or "
            "single slices.",
     .since = 24,
     .signature = "(input: T, split?: I) -> (output_sequence: S)",
     .types = {{"T", kClassicTypes | DType::kBFloat16},
               {"I", kIndexTypes},
               {"S", {{}, kClassicTypes | DType::kBFloat16}}},
     .attrs = attr_schema<SplitToSequenceAttrs>(),
     .infer = infer_split_to_sequence,
     .evaluate = run_split_to_sequence,
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
  return kSequenceOps;
}

}  // namespace sardonyx::ops
