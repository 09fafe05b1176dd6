// Reads a model file piece by piece: the elements of large initializers go straight to where they
// stay, so that no second copy of the weights exists at any time.
#pragma once

#include <memory>
#include <unordered_map>

#include "ir/core/tensor.h"
#include "onnx_io/file_access.h"
#include "onnx_io/load.h"
#include "onnx_io/onnx.pb.h"

namespace sardonyx::onnx_import {

// The raw data that was taken out of the initializers of the main graph, by tensor.
using RawData = std::unordered_map<const onnx_schema::TensorProto*, std::shared_ptr<Buffer>>;

// Throws kInvalidModel where the file is no protobuf of ONNX. Fills `proto`, whose address must not
// change afterwards. Large elements come in evictable buffers, which keep the file open; with
// `reads_late` those that only ever are the weights of a product are still to be read.
RawData read_model(const std::shared_ptr<const OpenFile>& file, const LoadOptions& options,
                   bool reads_late, onnx_schema::ModelProto& proto);

}  // namespace sardonyx::onnx_import
