#include "tools/python/module/sparse.h"

#include <pybind11/stl.h>

#include "executor/ort_abi/values/sparse_formats.h"
#include "executor/ort_abi/values/value.h"
#include "tools/python/module/arrays.h"

namespace sardonyx::python {

namespace {

// One class for each format, with the indices that it has.
template <OrtSparseFormat kFormat>
struct IndicesView {
  ort_abi::SparseParts parts;
};
using CooView = IndicesView<ORT_SPARSE_COO>;
using CsrView = IndicesView<ORT_SPARSE_CSRC>;
using BlockView = IndicesView<ORT_SPARSE_BLOCK_SPARSE>;

// Runs give coordinates.
ort_abi::SparseParts parts_of(const PySparseTensor& self) {
  if (self.value.sparse) return *self.value.sparse;
  const SparseTensor& sparse = self.value.datum.sparse();
  return {ORT_SPARSE_COO, sparse.values, sparse.indices, {}};
}

const char* format_name(OrtSparseFormat format) {
  switch (format) {
    case ORT_SPARSE_COO:
      return "ORT_SPARSE_COO";
    case ORT_SPARSE_CSRC:
      return "ORT_SPARSE_CSRC";
    case ORT_SPARSE_BLOCK_SPARSE:
      return "ORT_SPARSE_BLOCK_SPARSE";
    default:
      return "ORT_SPARSE_UNDEFINED";
  }
}

template <OrtSparseFormat kFormat>
IndicesView<kFormat> view_of(const PySparseTensor& self) {
  ort_abi::SparseParts parts = parts_of(self);
  if (parts.format != kFormat)
    fail(ErrorCode::kInvalidArgument, "the sparse tensor is in the format ",
         format_name(parts.format), ", not in ", format_name(kFormat));
  return {std::move(parts)};
}

py::object readonly_array(const Tensor& tensor) {
  py::object array = array_from_tensor(tensor);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

Tensor indices_from(const py::object& array, const char* name, DType dtype) {
  Tensor indices = tensor_from_array(array, name);
  if (indices.dtype() != dtype)
    fail(ErrorCode::kInvalidArgument, name, ": expected elements of ", dtype, ", got ",
         indices.dtype());
  return indices;
}

PySparseTensor made(const std::vector<int64_t>& dense_shape, ort_abi::SparseParts parts) {
  const Shape dense = ort_abi::checked_shape(dense_shape.data(), dense_shape.size());
  const Tensor& values = parts.values;
  if (values.rank() != 1 && parts.format != ORT_SPARSE_BLOCK_SPARSE)
    fail(ErrorCode::kInvalidArgument, "values: expected one axis, got ", values.rank());
  if (parts.format == ORT_SPARSE_COO) {
    const Shape& shape = parts.first.shape();
    const bool is_fitting = shape == Shape{values.count()} || shape == Shape{values.count(), 2};
    if (!is_fitting)
      fail(ErrorCode::kInvalidArgument, "coo_indices: expected shape ",
           to_text(Shape{values.count()}), " or ", to_text(Shape{values.count(), 2}), ", got ",
           to_text(shape));
  }
  ort_abi::check_sparse_parts(parts, dense);
  Datum datum = ort_abi::coordinates_of(parts, dense);
  return {{std::move(datum), std::make_shared<const ort_abi::SparseParts>(std::move(parts))}};
}

PySparseTensor from_coo(const std::vector<int64_t>& dense_shape, const py::object& values,
                        const py::object& indices, const py::object&) {
  return made(dense_shape, {ORT_SPARSE_COO,
                            tensor_from_array(values, "values"),
                            indices_from(indices, "coo_indices", DType::kInt64),
                            {}});
}

PySparseTensor from_csr(const std::vector<int64_t>& dense_shape, const py::object& values,
                        const py::object& inner, const py::object& outer, const py::object&) {
  return made(dense_shape, {ORT_SPARSE_CSRC, tensor_from_array(values, "values"),
                            indices_from(inner, "inner_indices", DType::kInt64),
                            indices_from(outer, "outer_indices", DType::kInt64)});
}

PySparseTensor from_blocks(const std::vector<int64_t>& dense_shape, const py::object& values,
                           const py::object& indices, const py::object&) {
  return made(dense_shape, {ORT_SPARSE_BLOCK_SPARSE,
                            tensor_from_array(values, "values"),
                            indices_from(indices, "block_indices", DType::kInt32),
                            {}});
}

void bind_views(py::module_& module) {
  py::enum_<OrtSparseFormat>(module, "OrtSparseFormat", "How indices of a SparseTensor are kept.")
      .value("ORT_SPARSE_UNDEFINED", ORT_SPARSE_UNDEFINED)
      .value("ORT_SPARSE_COO", ORT_SPARSE_COO)
      .value("ORT_SPARSE_CSRC", ORT_SPARSE_CSRC)
      .value("ORT_SPARSE_BLOCK_SPARSE", ORT_SPARSE_BLOCK_SPARSE);
  py::class_<CooView>(module, "SparseCooView", "Coordinates of a sparse tensor's elements.")
      .def("indices", [](const CooView& self) { return readonly_array(self.parts.first); });
  py::class_<CsrView>(module, "SparseCsrView", "Indices of a sparse matrix by rows.")
      .def("inner", [](const CsrView& self) { return readonly_array(self.parts.first); })
      .def("outer", [](const CsrView& self) { return readonly_array(self.parts.second); });
  py::class_<BlockView>(module, "SparseBlockSparseView", "Indices of a sparse tensor's blocks.")
      .def("indices", [](const BlockView& self) { return readonly_array(self.parts.first); });
}

}  // namespace

void bind_sparse(py::module_& module) {
  bind_views(module);
  py::class_<PySparseTensor>(module, "SparseTensor", "The elements of a tensor that are not 0.")
      .def(py::init<const PySparseTensor&>())
      .def_static("sparse_coo_from_numpy", &from_coo, py::arg("dense_shape"), py::arg("values"),
                  py::arg("coo_indices"), py::arg("ort_device") = py::none(),
                  "Of int64 indices: one for each value into the flattened tensor, or a row and a "
                  "column for each.")
      .def_static("sparse_csr_from_numpy", &from_csr, py::arg("dense_shape"), py::arg("values"),
                  py::arg("inner_indices"), py::arg("outer_indices"),
                  py::arg("ort_device") = py::none(),
                  "Of a matrix: the column of each value, and where each row begins and ends.")
      .def_static("blocksparse_from_numpy", &from_blocks, py::arg("dense_shape"), py::arg("values"),
                  py::arg("block_indices"), py::arg("ort_device") = py::none(),
                  "Of blocks of values, with int32 indices.")
      .def(
          "values",
          [](const PySparseTensor& self) { return readonly_array(parts_of(self).values); },
          "The elements, which can't be written.")
      .def("as_coo_view", &view_of<ORT_SPARSE_COO>)
      .def("as_csrc_view", &view_of<ORT_SPARSE_CSRC>)
      .def("as_blocksparse_view", &view_of<ORT_SPARSE_BLOCK_SPARSE>)
      .def("get_coo_data", &view_of<ORT_SPARSE_COO>)
      .def("get_csrc_data", &view_of<ORT_SPARSE_CSRC>)
      .def("get_blocksparse_data", &view_of<ORT_SPARSE_BLOCK_SPARSE>)
      .def("format", [](const PySparseTensor& self) { return parts_of(self).format; })
      .def("dense_shape",
           [](const PySparseTensor& self) { return self.value.datum.sparse().shape; })
      .def("shape", [](const PySparseTensor& self) { return self.value.datum.sparse().shape; })
      .def("data_type",
           [](const PySparseTensor& self) { return type_text(self.value.datum.type()); })
      .def("device_name", [](const PySparseTensor&) { return "cpu"; })
      .def("to_cuda",
           [](const PySparseTensor&, const py::object&) -> PySparseTensor {
             fail(ErrorCode::kUnsupported, "to_cuda: there is the CPU alone");
           })
      .def("_get_c_tensor", [](const py::object& self) { return self; });
}

}  // namespace sardonyx::python
