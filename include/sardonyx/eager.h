// What a program that writes, trains, traces and exports models includes: namespaces
// sardonyx::eager, and nn, optim and data within it.
#pragma once

#include "eager/autograd/autograd.h"
#include "eager/autograd/gradcheck.h"
#include "eager/autograd/jacobian.h"
#include "eager/create.h"
#include "eager/custom_op.h"
#include "eager/data/augmentations.h"
#include "eager/data/distributed_sampler.h"
#include "eager/data/iterable.h"
#include "eager/data/joined.h"
#include "eager/data/loader.h"
#include "eager/data/readers.h"
#include "eager/data/samplers.h"
#include "eager/data/transforms.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/profiler.h"
#include "eager/export/export.h"
#include "eager/export/onnx_module.h"
#include "eager/files/state_files.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/functional/special.h"
#include "eager/generator.h"
#include "eager/nn.h"
#include "eager/nn/export.h"
#include "eager/op.h"
#include "eager/optim.h"
#include "eager/progress.h"
#include "eager/size_arithmetic.h"
#include "eager/tensor.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/graph_session.h"

// `using namespace sardonyx::eager;` is enough to write models.
namespace sardonyx::eager {
using sardonyx::Dims;
using sardonyx::DType;
using sardonyx::Error;
using sardonyx::ErrorCode;
using sardonyx::Shape;
using sardonyx::to_text;
}  // namespace sardonyx::eager
