// TypeProto to types.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/type.h"
#include "onnx_io/import/leniency.h"
#include "onnx_io/onnx.pb.h"
#include "onnx_io/tensor_file.h"

namespace sardonyx::onnx_import {

// Reads the types of one file; a dim_param is one symbol wherever it stands.
class TypeDecoder {
 public:
  TypeDecoder(const LoadLimits& limits, const Leniency& leniency, std::function<Dim()> fresh_symbol)
      : limits_(limits), leniency_(leniency), fresh_symbol_(std::move(fresh_symbol)) {}

  // Throws kInvalidModel where the type is incomplete; `what` names the value it is of.
  Type type(const onnx_schema::TypeProto& proto, std::string_view what);

 private:
  std::optional<Dims> dims(const onnx_schema::TensorShapeProto& proto, std::string_view what);
  Dim named_dim(const std::string& param, std::string_view what);

  const LoadLimits& limits_;
  const Leniency& leniency_;
  std::function<Dim()> fresh_symbol_;
  std::unordered_map<std::string, Dim> unknown_names_;
};

}  // namespace sardonyx::onnx_import
