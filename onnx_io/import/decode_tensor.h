// TensorProto and SparseTensorProto to tensors.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "ir/datum.h"
#include "onnx_io/import/external_files.h"
#include "onnx_io/import/leniency.h"
#include "onnx_io/import/model_reader.h"
#include "onnx_io/onnx.pb.h"
#include "onnx_io/tensor_file.h"

namespace sardonyx::onnx_import {

// Decodes the tensors of one file, each once. Large raw data is taken out of the messages, not
// copied.
class TensorDecoder {
 public:
  // `external`: null where no external data is allowed. `raw_data` stands for that of the messages.
  // Without `leniency` all that deviates is refused. Everything that is referred to must outlive
  // the decoder.
  TensorDecoder(const LoadLimits& limits, ExternalFiles* external, RawData raw_data = {},
                const Leniency* leniency = nullptr)
      : limits_(limits), external_(external), raw_data_(std::move(raw_data)), leniency_(leniency) {}

  // Throw kInvalidModel or kResourceExhausted; the caller adds what the tensor is.
  const Tensor& tensor(onnx_schema::TensorProto& proto);
  SparseTensor sparse(onnx_schema::SparseTensorProto& proto);
  // The tensor of a sparse message made dense, within the limit for that.
  Tensor dense(onnx_schema::SparseTensorProto& proto);

 private:
  Tensor decode(onnx_schema::TensorProto& proto);
  Tensor from_int32_data(const onnx_schema::TensorProto& proto, DType dtype, Shape shape);
  Tensor from_typed_field(onnx_schema::TensorProto& proto, DType dtype, Shape shape);
  Tensor decode_raw(onnx_schema::TensorProto& proto, DType dtype, Shape shape);
  // The fields that hold elements.
  std::vector<std::string_view> filled_fields(const onnx_schema::TensorProto& proto) const;
  void mend_indices(SparseTensor& sparse) const;
  Tensor decode_external(const onnx_schema::TensorProto& proto, DType dtype, Shape shape);
  Shape checked_shape(const google::protobuf::RepeatedField<int64_t>& dims, DType dtype);

  const LoadLimits& limits_;
  ExternalFiles* external_;
  RawData raw_data_;
  const Leniency* leniency_;
  uint64_t total_bytes_ = 0;
  std::unordered_map<const onnx_schema::TensorProto*, Tensor> decoded_;
};

// The element type of this number; throws kInvalidModel.
DType checked_dtype(int64_t number, std::string_view what);

}  // namespace sardonyx::onnx_import
