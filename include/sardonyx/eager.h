// What a program that writes, trains, traces and exports models includes: namespaces
// sardonyx::eager, and nn, optim and data within it.
#pragma once

#include "eager/autograd.h"
#include "eager/compile.h"
#include "eager/control_flow.h"
#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/data/readers.h"
#include "eager/export.h"
#include "eager/files/state_files.h"
#include "eager/functional.h"
#include "eager/graph_session.h"
#include "eager/nn.h"
#include "eager/nn/export.h"
#include "eager/onnx_module.h"
#include "eager/op.h"
#include "eager/optim/optimizer.h"
#include "eager/optim/scheduler.h"
#include "eager/progress.h"
#include "eager/tensor.h"
#include "eager/trace.h"

// `using namespace sardonyx::eager;` is enough to write models.
namespace sardonyx::eager {
using sardonyx::Dims;
using sardonyx::DType;
using sardonyx::Error;
using sardonyx::ErrorCode;
using sardonyx::Shape;
using sardonyx::to_text;
}  // namespace sardonyx::eager
