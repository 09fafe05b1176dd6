// The model-local functions of a file.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "onnx_io/import/leniency.h"
#include "onnx_io/onnx.pb.h"
#include "onnx_io/tensor_file.h"

namespace sardonyx::onnx_import {

// Imported versions by domain; "ai.onnx" stands as "".
using Opsets = std::map<std::string, int64_t, std::less<>>;
using OpsetList = google::protobuf::RepeatedPtrField<onnx_schema::OperatorSetIdProto>;
// Throws kInvalidModel where a domain is imported twice with different versions or a version is not
// positive, and kUnsupported where it is newer than what is known.
Opsets read_opsets(const OpsetList& imports, const std::string& what, const Leniency& leniency);

class FunctionTable {
 public:
  // Indexes the model's functions. Of several of one name the last one counts, as in ONNX Runtime.
  FunctionTable(onnx_schema::ModelProto& model, const Leniency& leniency);
  // The function that a node calls; null where it calls none.
  onnx_schema::FunctionProto* called_by(const onnx_schema::NodeProto& node) const;
  // Throws kInvalidModel where a function reaches itself, and kResourceExhausted where the graph
  // has more nodes than the limit once all functions are expanded, or functions call each other too
  // deeply.
  void check_expansion(const onnx_schema::GraphProto& graph, const LoadLimits& limits) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, onnx_schema::FunctionProto*> functions_;
};

// "function pkg::Name".
std::string label_of(const onnx_schema::FunctionProto& function);

}  // namespace sardonyx::onnx_import
