// Tensors taken apart, moved and joined, as functions and as methods of tensors.
#include "eager/functional/functional.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"
#include "tools/python/module/eager/integers.h"

namespace sardonyx::python::eager_layer {
namespace {

using eager::Axes;
using Tensors = std::vector<Tensor>;

void bind_joining(RowDefiner& define) {
  for (const char* name : {"cat", "concat", "concatenate"})
    define.function(text(name, "(tensors, dim=0)").c_str(), eager::cat);
  define.function("stack(tensors, dim=0)", eager::stack);
  using OfSeveral = Tensor (*)(const Tensors&, Loc);
  for (const auto& [name, function] : {FunctionRow<OfSeveral>{"hstack", eager::hstack},
                                       {"vstack", eager::vstack},
                                       {"dstack", eager::dstack},
                                       {"column_stack", eager::column_stack}}) {
    define.function(text(name, "(tensors)").c_str(), function);
  }
  define.function("block_diag(*tensors)", eager::block_diag);
  define.function("cartesian_prod(*tensors)", eager::cartesian_prod);
  define.function("broadcast_tensors(*tensors)", eager::broadcast_tensors);
  define.function("meshgrid(*tensors, indexing='ij')", eager::meshgrid);
}

// Axes of other sizes than 1 stay, as in torch.
Tensor squeezed(const Tensor& x, const Axes& axes, Loc loc) {
  Axes wanted;
  for (const int64_t axis : axes) {
    const eager::Dim size = x.size(axis, loc);
    if (!size.is_known() || size.value() == 1) wanted.push_back(axis);
  }
  return wanted.empty() && !axes.empty() ? x : x.squeeze(wanted, loc);
}

// A count, or the counts of each element.
Tensor interleaved(const Tensor& x, const py::object& repeats, const std::optional<int64_t>& dim,
                   Loc loc) {
  if (py::isinstance<Tensor>(repeats))
    return eager::repeat_interleave(x, repeats.cast<Tensor>(), dim, loc);
  return eager::repeat_interleave(x, repeats.cast<int64_t>(), dim, loc);
}

void bind_moves(RowDefiner& define) {
  constexpr const char* kRest = "One size may be -1: what is left.";
  for (const char* name : {"reshape", "view"}) {
    define(text(name, "(input, *shape)").c_str(),
           [](const Tensor& x, const Dims& shape, Loc loc) { return x.reshape(shape, loc); },
           {kRest});
  }
  for (const char* name : {"expand", "broadcast_to"}) {
    define(text(name, "(input, *size)").c_str(),
           [](const Tensor& x, const Dims& shape, Loc loc) { return x.expand(shape, loc); });
  }
  define("permute(input, *dims)", eager::permute);
  define("flip(input, *dims)", eager::flip);
  define("repeat(input, *repeats)", eager::repeat);
  define("tile(input, *dims)",
         [](const Tensor& x, const Dims& counts, Loc loc) { return eager::tile(x, counts, loc); });
  define("repeat_interleave(input, repeats, dim=None)", &interleaved);
  define("flatten(input, start_dim=0, end_dim=-1)", eager::flatten);
  define("ravel(input)", [](const Tensor& x, Loc loc) { return x.reshape({-1}, loc); });
  define("unflatten(input, dim, sizes)", eager::unflatten);
  define("squeeze(input, dim=None)", &squeezed);
  define("unsqueeze(input, dim)", eager::unsqueeze);
  for (const char* name : {"transpose", "swapaxes", "swapdims"})
    define(text(name, "(input, dim0|axis0, dim1|axis1)").c_str(), eager::transpose);
  for (const char* name : {"movedim", "moveaxis"})
    define(text(name, "(input, source, destination)").c_str(), eager::movedim);
  define("roll(input, shifts, dims=None)", eager::roll);
  define("rot90(input, k=1, dims=(0, 1))",
         [](const Tensor& x, int64_t times, const Axes& plane, Loc loc) {
           if (plane.size() != 2) throw py::type_error("rot90(): dims: expected two axes");
           return eager::rot90(x, times, plane[0], plane[1], loc);
         });
  define("t(input)", [](const Tensor& x, Loc loc) { return x.rank() < 2 ? x : x.t(loc); });
  define("tril(input, diagonal=0)", eager::tril);
  define("triu(input, diagonal=0)", eager::triu);
  define("diag(input, diagonal=0)", eager::diag);
  define("diag_embed(input, offset=0)", eager::diag_embed);
  define("diagonal(input, offset=0, dim1=0, dim2=1)", eager::diagonal);
  define("clone(input)", eager::clone);
}

// A size, or the sizes of all parts.
Tensors split(const Tensor& x, const py::object& size, int64_t dim, Loc loc) {
  if (is_python_integer(size)) return eager::split(x, size.cast<int64_t>(), dim, loc);
  return eager::split(x, dims_from(size), dim, loc);
}
// A count of parts, or the places where they begin.
Tensors tensor_split(const Tensor& x, const py::object& parts, int64_t dim, Loc loc) {
  if (is_python_integer(parts)) return eager::tensor_split(x, parts.cast<int64_t>(), dim, loc);
  Tensors found;
  std::optional<eager::Dim> begin;
  for (const int64_t end : int64s_from(parts)) {
    found.push_back(x.slice(dim, {begin, eager::Dim(end)}, loc));
    begin = eager::Dim(end);
  }
  found.push_back(x.slice(dim, {begin, std::nullopt}, loc));
  return found;
}

void bind_parts(RowDefiner& define) {
  define("split(input, split_size|split_size_or_sections, dim=0)", &split);
  define("tensor_split(input, indices_or_sections|sections|indices, dim=0)", &tensor_split);
  define("chunk(input, chunks, dim=0)", eager::chunk);
  define("unbind(input, dim=0)", eager::unbind);
  using InEqualParts = Tensors (*)(const Tensor&, int64_t, Loc);
  for (const auto& [name, function] : {FunctionRow<InEqualParts>{"hsplit", eager::hsplit},
                                       {"vsplit", eager::vsplit},
                                       {"dsplit", eager::dsplit}}) {
    define(text(name, "(input, sections)").c_str(), function);
  }
  define("narrow(input, dim, start, length)", eager::narrow);
  define("select(input, dim, index)", eager::select);
  define("take(input, index)", eager::take);
  define("take_along_dim(input, indices, dim)", eager::take_along_dim);
  define("index_select(input, dim, index)", eager::index_select);
  define("gather(input, dim, index)", eager::gather);
  define("masked_select(input, mask)", eager::masked_select);
  define.function("one_hot(input, num_classes, dtype='int64')",
                  [](const Tensor& x, int64_t classes, DType dtype, Loc loc) {
                    return eager::one_hot(x, classes, dtype, loc);
                  });
}

// A tensor or a number; `reduce` as torch has it here.
Tensor scattered(const Tensor& x, int64_t dim, const Tensor& index, const eager::Operand& source,
                 const std::optional<std::string>& reduce, Loc loc) {
  if (reduce && *reduce != "add" && *reduce != "multiply")
    throw py::type_error("scatter(): reduce: expected None, 'add' or 'multiply', got '" + *reduce +
                         "'");
  const std::string_view reduction = !reduce ? "none" : *reduce == "add" ? "add" : "mul";
  if (source.tensor) return eager::scatter(x, dim, index, *source.tensor, reduction, loc);
  const eager::Number& number = source;
  const Tensor filled = eager::full(index.shape(loc), number, {.dtype = x.dtype()}, loc);
  return eager::scatter(x, dim, index, filled, reduction, loc);
}

void bind_writes(RowDefiner& define) {
  define("scatter(input, dim, index, src|value, *, reduce=None)", &scattered);
  define("scatter_add(input, dim, index, src)", eager::scatter_add);
  define("scatter_reduce(input, dim, index, src, reduce, *, include_self=True)",
         eager::scatter_reduce);
  define("index_add(input, dim, index, source, alpha=1)", eager::index_add);
  define("index_copy(input, dim, index, source)", eager::index_copy);
  define("index_fill(input, dim, index, value)", eager::index_fill);
  define("masked_fill(input, mask, value)", eager::masked_fill);
  define("masked_scatter(input, mask, source)", eager::masked_scatter);
  define("select_scatter(input, src, dim, index)", eager::select_scatter);
  define(
      "slice_scatter(input, src, dim=0, start=None, end=None, step=1)",
      [](const Tensor& x, const Tensor& source, int64_t dim, const std::optional<eager::Dim>& start,
         const std::optional<eager::Dim>& end, int64_t step, Loc loc) {
        return eager::slice_scatter(x, source, dim, {start, end, step}, loc);
      });
  define("diagonal_scatter(input, src, offset=0, dim1=0, dim2=1)", eager::diagonal_scatter);
}

// An element type, a tensor of it, or a device, which is the CPU.
Tensor converted_to(const Tensor& x, const py::object& wanted, const py::object& options, Loc loc) {
  std::optional<DType> dtype;
  const auto take = [&](const py::handle& one) {
    if (py::isinstance<Tensor>(one))
      dtype = one.cast<Tensor>().dtype();
    else if (!is_device(one))
      dtype = dtype_from(one);
  };
  if (py::isinstance<py::tuple>(wanted)) {
    for (const py::handle& one : wanted) {
      if (!py::isinstance<py::bool_>(one)) take(one);
    }
  } else {
    take(wanted);
  }
  for (const auto& [key, value] : py::dict(options)) {
    const auto name = key.cast<std::string>();
    if (name == "dtype" && !value.is_none())
      dtype = dtype_from(value);
    else if (name == "device" && !value.is_none())
      check_device(value);
    else if (name != "copy" && name != "non_blocking" && name != "dtype" && name != "device")
      throw py::type_error("to() has no argument " + name + "; there are dtype and device");
  }
  if (!dtype) return x;
  const UnlockedInterpreter released;
  return x.to(*dtype, loc);
}

template <DType dtype>
Tensor cast_to(const Tensor& x, Loc loc) {
  return x.to(dtype, loc);
}

void bind_types(RowDefiner& define) {
  define.method("to(self, *dtype, **options)", &converted_to);
  define.method("float(self)", &cast_to<DType::kFloat>);
  define.method("double(self)", &cast_to<DType::kDouble>);
  define.method("half(self)", &cast_to<DType::kFloat16>);
  define.method("bfloat16(self)", &cast_to<DType::kBFloat16>);
  define.method("long(self)", &cast_to<DType::kInt64>);
  define.method("int(self)", &cast_to<DType::kInt32>);
  define.method("short(self)", &cast_to<DType::kInt16>);
  define.method("char(self)", &cast_to<DType::kInt8>);
  define.method("byte(self)", &cast_to<DType::kUInt8>);
  define.method("bool(self)", &cast_to<DType::kBool>);
  define.method("contiguous(self)", [](const Tensor& x) { return x; });
  using LikeOther = Tensor (*)(const Tensor&, const Tensor&, Loc);
  constexpr LikeOther kReshaped = [](const Tensor& x, const Tensor& other, Loc loc) {
    return x.reshape_as(other, loc);
  };
  define.method("view_as(self, other)", kReshaped);
  define.method("reshape_as(self, other)", kReshaped);
  define.method("expand_as(self, other)", [](const Tensor& x, const Tensor& other, Loc loc) {
    return x.expand_as(other, loc);
  });
  define.method("type_as(self, other)", [](const Tensor& x, const Tensor& other, Loc loc) {
    return x.type_as(other, loc);
  });
}

void bind_axes_properties(TensorClass& tensor) {
  tensor.def_property_readonly(
      "T",
      [](const Tensor& x) {
        Axes axes;
        for (int64_t axis = x.dim() - 1; axis >= 0; --axis)
          axes.push_back(axis);
        return x.permute(axes, python_line());
      },
      "The axes in reversed order.");
  tensor.def_property_readonly(
      "mT", [](const Tensor& x) { return x.mT(python_line()); }, "The last two axes swapped.");
}

}  // namespace

void bind_shape_functions(py::module_& module, TensorClass& tensor) {
  RowDefiner define(module, &tensor);
  bind_joining(define);
  bind_moves(define);
  bind_parts(define);
  bind_writes(define);
  bind_types(define);
  bind_axes_properties(tensor);
}

}  // namespace sardonyx::python::eager_layer
