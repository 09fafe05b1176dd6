#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "ir/core/dtype_convert.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/run_control.h"
#include "ir/eval_call.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

constexpr int64_t kMaxValues = 256;    // elements that inference carries along as dims
constexpr int64_t kDrawnPiece = 1024;  // elements computed at a time

// ---- Constant
// -------------------------------------------------------------------------------------------------

struct ConstantAttrs {
  std::optional<SparseTensor> sparse_value;
  std::optional<Tensor> value;
  std::optional<float> value_float;
  std::optional<std::vector<float>> value_floats;
  std::optional<int64_t> value_int;
  std::optional<std::vector<int64_t>> value_ints;
  std::optional<std::string> value_string;
  std::optional<std::vector<std::string>> value_strings;
  static auto fields() {
    return std::tuple{field("sparse_value", &ConstantAttrs::sparse_value),
                      field("value", &ConstantAttrs::value),
                      field("value_float", &ConstantAttrs::value_float),
                      field("value_floats", &ConstantAttrs::value_floats),
                      field("value_int", &ConstantAttrs::value_int),
                      field("value_ints", &ConstantAttrs::value_ints),
                      field("value_string", &ConstantAttrs::value_string),
                      field("value_strings", &ConstantAttrs::value_strings)};
  }
  int given() const {
    return (sparse_value ? 1 : 0) + (value ? 1 : 0) + (value_float ? 1 : 0) +
           (value_floats ? 1 : 0) + (value_int ? 1 : 0) + (value_ints ? 1 : 0) +
           (value_string ? 1 : 0) + (value_strings ? 1 : 0);
  }
};

// The value of a Constant's attributes, but for sparse ones.
Tensor dense_value(const ConstantAttrs& attrs) {
  if (attrs.value) return *attrs.value;
  if (attrs.value_float) return Tensor::scalar(*attrs.value_float);
  if (attrs.value_floats) return Tensor::vector(*attrs.value_floats);
  if (attrs.value_int) return Tensor::scalar(*attrs.value_int);
  if (attrs.value_ints) return Tensor::vector(*attrs.value_ints);
  if (attrs.value_string) return Tensor::scalar(*attrs.value_string);
  return Tensor::vector(*attrs.value_strings);
}

void infer_constant(InferContext& c) {
  const auto& attrs = c.attrs<ConstantAttrs>();
  c.require(attrs.given() == 1, "expected exactly one attribute that gives the value, got ",
            attrs.given());
  if (attrs.sparse_value) {
    const SparseTensor& sparse = *attrs.sparse_value;
    c.set(0, require_dtype(c, sparse.values.dtype(), "T", "sparse_value"), to_dims(sparse.shape));
    return;
  }
  const Tensor value = dense_value(attrs);
  c.set(0, require_dtype(c, value.dtype(), "T", "value"), to_dims(value.shape()));
  const bool fits_dims = is_integer(value.dtype()) && value.dtype() != DType::kUInt64;
  if (fits_dims && value.rank() <= 1 && value.count() <= kMaxValues) {
    c.set_dims(0, to_dims(value.to_int64s()));
  }
}

// Copies a stored tensor to where a kernel writes: packed types are unpacked on the way.
void copy_stored(const Tensor& from, const TensorView& to) {
  if (is_packed(from.dtype())) {
    for (int64_t i = 0; i < from.count(); ++i) {
      to.data<uint8_t>()[i] = get_packed(from.dtype(), from.raw(), i);
    }
  } else if (from.dtype() == DType::kString) {
    copy_elements(static_cast<const std::string*>(from.raw()), from.count(),
                  to.data<std::string>());
  } else if (from.bytes() > 0) {
    std::memcpy(to.raw, from.raw(), from.bytes());
  }
}

void constant(const KernelCall& call) {
  const auto& attrs = call.attrs<ConstantAttrs>();
  copy_stored(attrs.sparse_value ? attrs.sparse_value->to_dense() : dense_value(attrs),
              call.outputs[0]);
}

std::vector<Sample> constant_samples() {
  const SparseTensor sparse{
      Tensor::vector<float>({1.5f, -2}), Tensor::vector<int64_t>({1, 5}), {2, 3}};
  return {
      {.attrs = {{"value", Tensor::of<int32_t>({1, 2, 3, 4}, {2, 2})}}},
      {.attrs = {{"value", Tensor::of<double>({}, {0, 3})}}},
      {.attrs = {{"value", Tensor::zeros(DType::kInt4, {3})}}},
      {.attrs = {{"sparse_value", sparse}}},
      {.attrs = {{"value_float", 1.5f}}},
      {.attrs = {{"value_floats", std::vector<float>{1, 2}}}},
      {.attrs = {{"value_int", int64_t{-7}}}},
      {.attrs = {{"value_ints", std::vector<int64_t>{1, -2, 3}}}},
      {.attrs = {{"value_string", std::string("text")}}},
      {.attrs = {{"value_strings", std::vector<std::string>{"a", ""}}}},
  };
}

// ---- SparseConstant
// ------------------------------------------------------------------------------------------

struct SparseConstantAttrs {
  std::optional<SparseTensor> value;
  static auto fields() { return std::tuple{field("value", &SparseConstantAttrs::value)}; }
};

void infer_sparse_constant(InferContext& c) {
  const std::optional<SparseTensor>& value = c.attrs<SparseConstantAttrs>().value;
  c.require(value.has_value(), "attribute value: expected a sparse tensor, got none");
  Type type =
      Type::tensor(require_dtype(c, value->values.dtype(), "T", "value"), to_dims(value->shape));
  type.kind = Type::Kind::kSparseTensor;
  c.set(0, std::move(type));
}

void sparse_constant(const EvalCall& call) {
  call.outputs[0] = Datum(*call.attrs<SparseConstantAttrs>().value);
}

// Outputs of samples are dense tensors.
std::vector<Sample> no_sparse_samples() {
  return {};
}

// ---- ConstantOfShape
// ------------------------------------------------------------------------------------------

struct ConstantOfShapeAttrs {
  std::optional<Tensor> value;
  static auto fields() { return std::tuple{field("value", &ConstantOfShapeAttrs::value)}; }
};

void infer_constant_of_shape(InferContext& c) {
  const std::optional<Tensor>& value = c.attrs<ConstantOfShapeAttrs>().value;
  DType dtype = DType::kFloat;
  if (value) {
    dtype = require_dtype(c, value->dtype(), "T2", "value");
    c.require(value->count() == 1, "value: expected one element, got ", value->count());
  }
  require_vector(c, 0);
  std::optional<Dims> shape = c.dims(0);
  if (shape) {
    for (const Dim& dim : *shape) {
      if (dim.is_known() && dim.value() < 0)
        c.fail_input(0, "negative dimension in ", to_text(*shape));
    }
  } else if (const auto rank = c.shape(0) ? (*c.shape(0))[0].try_value() : std::nullopt) {
    c.require(*rank <= kMaxPropagatedElements, "a shape of ", *rank, " dims is not sensible");
    shape = unknown_dims(c, static_cast<size_t>(*rank));
  }
  c.set(0, dtype, shape);
  const bool is_short = shape && shape->size() <= 1 && element_count(*shape).is_known() &&
                        element_count(*shape).value() <= kMaxValues;
  if (is_short && value && is_integer(dtype) && dtype != DType::kUInt64) {
    c.set_dims(0, Dims(static_cast<size_t>(element_count(*shape).value()), value->to_int64s()[0]));
  }
}

void constant_of_shape(const KernelCall& call) {
  const std::optional<Tensor>& value = call.attrs<ConstantOfShapeAttrs>().value;
  const TensorView& out = call.outputs[0];
  if (!value) {
    std::fill_n(out.data<float>(), out.count(), 0.0f);
    return;
  }
  if (is_packed(value->dtype())) {
    std::fill_n(out.data<uint8_t>(), out.count(), get_packed(value->dtype(), value->raw(), 0));
    return;
  }
  dispatch_width(out.dtype, [&]<typename T>() {
    fill_elements(out.data<T>(), out.count(), *static_cast<const T*>(value->raw()));
  });
}

std::vector<Sample> constant_of_shape_samples() {
  const SampleInput shape{.value = Tensor::vector<int64_t>({2, 3})};
  const SampleInput scalar{.value = Tensor::of<int64_t>({}, {0})};
  const SampleInput empty{.value = Tensor::vector<int64_t>({2, 0, 3})};
  return {{.inputs = {shape}},
          {.inputs = {scalar}},
          {.inputs = {empty}},
          {.inputs = {shape}, .attrs = {{"value", Tensor::vector<int64_t>({-3})}}},
          {.inputs = {scalar}, .attrs = {{"value", Tensor::vector<bool>({true})}}},
          {.inputs = {shape}, .attrs = {{"value", Tensor::vector<Float16>({Float16(1.5f)})}}}};
}

// ---- Range
// ----------------------------------------------------------------------------------------------------

struct RangeAttrs {
  DType stash_type = DType::kFloat;
  static auto fields() { return std::tuple{field("stash_type", &RangeAttrs::stash_type)}; }
};

// ceil((limit - start) / delta), at least 0.
int64_t range_length(InferContext& c, double start, double limit, double delta) {
  const double length = std::ceil((limit - start) / delta);
  c.require(!std::isnan(length) && length < 0x1p62, "from ", start, " to ", limit, " by ", delta,
            " makes a range that is too large");
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

int64_t range_length(InferContext& c, int64_t start, int64_t limit, int64_t delta) {
  const __int128 way = static_cast<__int128>(limit) - start;
  if ((way > 0) != (delta > 0) || way == 0) return 0;
  const __int128 length = (way + delta + (delta > 0 ? -1 : 1)) / delta;
  c.require(length < __int128{1} << 62, "from ", start, " to ", limit, " by ", delta,
            " is too long a range");
  return static_cast<int64_t>(length);
}

// The one element of input `input`; nullopt where it is not known.
std::optional<Dim> scalar_dim(const InferContext& c, size_t input) {
  const std::optional<Dims> dims = c.dims(input);
  return dims && dims->size() == 1 ? std::optional((*dims)[0]) : std::nullopt;
}

// The length of a range whose step is known.
Dim length_of(InferContext& c, const Dim& start, const Dim& limit, int64_t delta) {
  if (start.is_known() && limit.is_known()) {
    return range_length(c, start.value(), limit.value(), delta);
  }
  return max(delta > 0 ? ceil_div(limit - start, delta) : ceil_div(start - limit, Dim(0) - delta),
             Dim(0));
}

void infer_integer_range(InferContext& c) {
  const std::optional<Dim> start = scalar_dim(c, 0), limit = scalar_dim(c, 1),
                           delta = scalar_dim(c, 2);
  if (delta && *delta == 0) c.fail_input(2, "must not be 0");
  c.set(0, c.dtype(0), Dims{c.unknown()});
  if (!start || !limit || !delta || !delta->is_known()) return;
  try {
    const Dim length = length_of(c, *start, *limit, delta->value());
    c.set(0, c.dtype(0), Dims{length});
    if (!length.is_known() || length.value() > kMaxValues) return;
    Dims values;
    for (int64_t i = 0; i < length.value(); ++i)
      values.push_back(*start + *delta * i);
    c.set_dims(0, std::move(values));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted) throw;  // beyond int64: nothing is carried
  }
}

void infer_range(InferContext& c) {
  const DType stash = c.attrs<RangeAttrs>().stash_type;
  c.require(stash == DType::kFloat || stash == DType::kDouble,
            "stash_type: expected float or double, got ", stash);
  for (size_t input = 0; input < 3; ++input)
    require_single(c, input);
  if (is_integer(c.dtype(0))) return infer_integer_range(c);
  double values[3];
  for (size_t input = 0; input < 3; ++input) {
    const Tensor* value = c.constant(input);
    if (!value || value->count() != 1) return c.set(0, c.dtype(0), Dims{c.unknown()});
    values[input] = value->to_doubles()[0];
  }
  if (values[2] == 0) c.fail_input(2, "must not be 0");
  c.set(0, c.dtype(0), Dims{range_length(c, values[0], values[1], values[2])});
}

// start + i * delta, each element by itself. C is the type of the sums.
template <typename C>
void fill_range(const KernelCall& call) {
  C start, delta, piece[kDrawnPiece];
  load_numbers(call.inputs[0].dtype, call.inputs[0].raw, 0, 1, 1, &start);
  load_numbers(call.inputs[2].dtype, call.inputs[2].raw, 0, 1, 1, &delta);
  const TensorView& out = call.outputs[0];
  for (int64_t begin = 0; begin < out.count(); begin += kDrawnPiece) {
    check_interrupted();
    const int64_t length = std::min(kDrawnPiece, out.count() - begin);
    for (int64_t i = 0; i < length; ++i)
      piece[i] = start + static_cast<C>(begin + i) * delta;
    store_numbers(out.dtype, out.raw, begin, length, piece);
  }
}

// Integers wrap, so that their bits are those of unsigned ones.
template <typename T>
void write_range(const KernelCall& call) {
  constexpr int64_t kAtOnce = 32;  // each of which follows from the one so far before it
  const T start = *call.inputs[0].data<T>(), delta = *call.inputs[2].data<T>();
  T* out = call.outputs[0].data<T>();
  const int64_t count = call.outputs[0].count();
  for (int64_t i = 0; i < std::min(count, kAtOnce); ++i)
    out[i] = static_cast<T>(start + static_cast<T>(i) * delta);
  const auto step = static_cast<T>(kAtOnce * delta);
  for (int64_t begin = kAtOnce; begin < count; begin += kAtOnce) {
    const T* before = out + begin - kAtOnce;
    const int64_t length = std::min(kAtOnce, count - begin);
    for (int64_t i = 0; i < length; ++i)
      out[begin + i] = static_cast<T>(before[i] + step);
  }
}

void range(const KernelCall& call) {
  const DType dtype = call.outputs[0].dtype;
  const bool is_half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  if (is_half && call.attrs<RangeAttrs>().stash_type == DType::kFloat) {
    fill_range<float>(call);
  } else if (is_floating(dtype)) {
    fill_range<double>(call);
  } else if (bits_of(dtype) == 64) {
    write_range<uint64_t>(call);
  } else if (bits_of(dtype) == 32) {
    write_range<uint32_t>(call);
  } else {
    write_range<uint16_t>(call);
  }
}

template <typename T>
Sample range_sample(T start, T limit, T delta) {
  return {.inputs = {{.value = Tensor::scalar(start)},
                     {.value = Tensor::scalar(limit)},
                     {.value = Tensor::scalar(delta)}},
          .only = dtype_of<T>()};
}

std::vector<Sample> range_samples() {
  return {range_sample<int64_t>(3, 9, 3),          range_sample<int32_t>(10, 4, -2),
          range_sample<int16_t>(5, 5, 1),          range_sample<int64_t>(5, 1, 1),
          range_sample<float>(1, 2, 0.1f),         range_sample<double>(0, -1, -0.3),
          range_sample<Float16>(1.0f, 5.0f, 2.0f), range_sample<BFloat16>(1.0f, 5.0f, 0.5f)};
}

// ---- EyeLike
// --------------------------------------------------------------------------------------------------

struct EyeLikeAttrs {
  std::optional<DType> dtype;
  int64_t k = 0;
  static auto fields() {
    return std::tuple{field("dtype", &EyeLikeAttrs::dtype), field("k", &EyeLikeAttrs::k)};
  }
};

void infer_eye_like(InferContext& c) {
  c.require_rank(0, 2);
  const DType dtype = c.attrs<EyeLikeAttrs>().dtype.value_or(c.dtype(0));
  std::optional<Dims> shape = shape_of(c, 0);
  if (!shape) shape = unknown_dims(c, 2);
  c.set(0, require_dtype(c, dtype, "T2", "dtype"), std::move(shape));
}

void eye_like(const KernelCall& call) {
  const int64_t k = call.attrs<EyeLikeAttrs>().k;
  const TensorView& out = call.outputs[0];
  const int64_t rows = out.shape[0], columns = out.shape[1];
  if (const size_t bytes = bytes_for(out.dtype, out.count())) std::memset(out.raw, 0, bytes);
  if (k <= -rows || k >= columns) return;
  const float one = 1;
  for (int64_t row = std::max<int64_t>(0, -k); row < std::min(rows, columns - k); ++row) {
    store_numbers(out.dtype, out.raw, row * columns + row + k, 1, &one);
  }
}

std::vector<Sample> eye_like_samples() {
  std::vector<Sample> samples;
  for (const int64_t k : {0, 1, -2, 9}) {
    samples.push_back({.inputs = {{.shape = {3, 5}}}, .attrs = {{"k", k}}});
  }
  samples.push_back({.inputs = {{.shape = {4, 2}}}, .attrs = {{"dtype", int64_t{11}}}});
  samples.push_back({.inputs = {{.shape = {0, 2}}}});
  return samples;
}

// ---- windows
// --------------------------------------------------------------------------------------------------

struct WindowAttrs {
  DType output_datatype = DType::kFloat;
  int64_t periodic = 1;
  static auto fields() {
    return std::tuple{field("output_datatype", &WindowAttrs::output_datatype),
                      field("periodic", &WindowAttrs::periodic)};
  }
};

void infer_window(InferContext& c) {
  require_single(c, 0);
  const DType dtype =
      require_dtype(c, c.attrs<WindowAttrs>().output_datatype, "T2", "output_datatype");
  const std::optional<Dim> size = scalar_dim(c, 0);
  if (size && size->is_known() && size->value() < 0) c.fail_input(0, "must not be negative");
  c.set(0, dtype, Dims{size ? *size : c.unknown()});
}

// c0 - c1 cos(2 pi n / N) + c2 cos(4 pi n / N), N being the size, or one less for a symmetric
// window.
void cosine_window(const KernelCall& call, double c0, double c1, double c2) {
  const TensorView& out = call.outputs[0];
  const int64_t size = out.count();
  const int64_t period = call.attrs<WindowAttrs>().periodic ? size : size - 1;
  double piece[kDrawnPiece];
  for (int64_t begin = 0; begin < size; begin += kDrawnPiece) {
    check_interrupted();
    const int64_t length = std::min(kDrawnPiece, size - begin);
    double angles[kDrawnPiece];
    for (int64_t i = 0; i < length; ++i) {
      const double phase = 2 * std::numbers::pi * static_cast<double>(begin + i);
      angles[i] = period > 0 ? phase / static_cast<double>(period) : std::numbers::pi;
    }
    for (int64_t i = 0; i < length; ++i)
      piece[i] = c0 - c1 * std::cos(angles[i]);  // with the last term 1 for a single point
    for (int64_t i = 0; i < length && c2 != 0; ++i)
      piece[i] += c2 * std::cos(2 * angles[i]);
    store_numbers(out.dtype, out.raw, begin, length, piece);
  }
}

std::vector<Sample> window_samples() {
  std::vector<Sample> samples;
  for (const int64_t periodic : {0, 1}) {
    for (const int64_t size : {10, 1, 0}) {
      samples.push_back(
          {.inputs = {{.value = Tensor::scalar(size)}}, .attrs = {{"periodic", periodic}}});
    }
  }
  samples.push_back({.inputs = {{.value = Tensor::scalar<int32_t>(7)}},
                     .attrs = {{"output_datatype", int64_t{11}}}});
  return samples;
}

OpDef window(std::string_view name, void (*reference)(const KernelCall&)) {
  return {.name = name,
          .since = 17,
          .signature = "(size: T1) -> (output: T2)",
          .types = {{"T1", DTypeSet{DType::kInt32, DType::kInt64}}, {"T2", kNumbers}},
          .attrs = attr_schema<WindowAttrs>(),
          .infer = infer_window,
          .reference = reference,
          .shape_inputs = 1,
          .samples = window_samples};
}

}  // namespace

std::span<const OpDef> generator_ops() {
  static const OpDef rows[] = {
      {.name = "Constant",
       .doc = "The value that is given by one of the attributes; a rank-0 tensor or a list for the "
              "others than `value`.",
       .since = 25,
       .signature = "() -> (output: T)",
       .types = {{"T", kAnyDType}},
       .attrs = attr_schema<ConstantAttrs>(),
       .infer = infer_constant,
       .reference = constant,
       .facts = kPassesValues,
       .samples = constant_samples},
      {.name = "SparseConstant",
       .doc = "The sparse tensor `value`, which stays one: a sparse initializer that is an output "
              "of its graph.",
       .domain = "sardonyx",
       .signature = "() -> (output: T)",
       .types = {{"T", kAnyDType}},
       .attrs = attr_schema<SparseConstantAttrs>(),
       .infer = infer_sparse_constant,
       .evaluate = sparse_constant,
       .samples = no_sparse_samples},
      {.name = "ConstantOfShape",
       .doc = "A tensor of the shape that the input lists, filled with `value` (default: float 0).",
       .since = 25,
       .signature = "(input: T1) -> (output: T2)",
       .types = {{"T1", DType::kInt64}, {"T2", kAnyDType.without(kComplexes | DType::kString)}},
       .attrs = attr_schema<ConstantOfShapeAttrs>(),
       .infer = infer_constant_of_shape,
       .reference = constant_of_shape,
       .facts = kPassesValues,
       .shape_inputs = 1,
       .samples = constant_of_shape_samples},
      {.name = "Range",
       .doc = "start, start + delta, ... up to and without limit: rank 1, from three scalars of "
              "one type; delta must not be 0.",
       .since = 27,
       .signature = "(start: T, limit: T, delta: T) -> (output: T)",
       .types = {{"T", kFloats | DTypeSet{DType::kInt16, DType::kInt32, DType::kInt64}}},
       .attrs = attr_schema<RangeAttrs>(),
       .infer = infer_range,
       .reference = range,
       .facts = kPassesValues,
       .shape_inputs = 0b111,
       .samples = range_samples},
      {.name = "EyeLike",
       .doc = "Ones on the k-th diagonal and zeros elsewhere, in the shape of the input, which is "
              "a matrix.",
       .since = 22,
       .signature = "(input: T1) -> (output: T2)",
       .types = {{"T1", kNumbers | DType::kBool}, {"T2", kNumbers | DType::kBool}},
       .attrs = attr_schema<EyeLikeAttrs>(),
       .infer = infer_eye_like,
       .reference = eye_like,
       .samples = eye_like_samples},
      window("BlackmanWindow", [](const KernelCall& call) { cosine_window(call, 0.42, 0.5, 0.08); })
          .documented("A Blackman window of the length that the scalar `size` says: rank 1."),
      window("HammingWindow",
             [](const KernelCall& call) { cosine_window(call, 25.0 / 46, 21.0 / 46, 0); })
          .documented("A Hamming window of the length that the scalar `size` says: rank 1."),
      window("HannWindow", [](const KernelCall& call) { cosine_window(call, 0.5, 0.5, 0); })
          .documented("A Hann window of the length that the scalar `size` says: rank 1."),
  };
  return rows;
}

}  // namespace sardonyx::ops
