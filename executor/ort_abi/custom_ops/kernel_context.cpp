#include "executor/ort_abi/custom_ops/kernel_context.h"

#include <algorithm>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"
#include "ir/core/threading/parallel_for.h"

OrtKernelContext::OrtKernelContext(const sardonyx::ort_abi::CustomRow& of,
                                   const sardonyx::EvalCall& of_call)
    : row(of), call(of_call), outputs(of_call.outputs.size()) {
  for (size_t i = 0; i < call.inputs.size(); ++i)
    inputs.emplace_back(call.inputs[i]);
}

namespace sardonyx::ort_abi {

OrtStatus* Functions::KernelContext_GetInputCount(const OrtKernelContext* context, size_t* out) {
  return guarded([&] { require(out, "out") = require(context, "context").inputs.size(); });
}
OrtStatus* Functions::KernelContext_GetOutputCount(const OrtKernelContext* context, size_t* out) {
  return guarded([&] { require(out, "out") = require(context, "context").outputs.size(); });
}

// NULL for an input that the node omits, or has not.
OrtStatus* Functions::KernelContext_GetInput(const OrtKernelContext* context, size_t index,
                                             const OrtValue** out) {
  return guarded([&] {
    const OrtValue*& place = require_place(out, "out");
    const std::vector<OrtValue>& inputs = require(context, "context").inputs;
    if (index < inputs.size() && inputs[index].datum.defined()) place = &inputs[index];
  });
}

// The value is the context's; NULL for an output that the node has not.
OrtStatus* Functions::KernelContext_GetOutput(OrtKernelContext* context, size_t index,
                                              const int64_t* dim_values, size_t dim_count,
                                              OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    OrtKernelContext& at = require(context, "context");
    if (index >= at.outputs.size()) return;
    for (size_t i = 0; i < dim_count; ++i) {
      if ((&require(dim_values, "dim_values"))[i] < 0)
        refuse(ORT_FAIL, "output ", index, ": expected dims of at least 0, got ", dim_values[i]);
    }
    const Shape shape = checked_shape(dim_values, dim_count);
    if (!at.outputs[index]) {
      const DType dtype = at.row.info().output_types.at(index).dtype;
      const Tensor& made = at.call.tensor(index, dtype, shape);
      at.outputs[index] = std::make_unique<OrtValue>(Datum(made));
    } else if (at.outputs[index]->datum.tensor().shape() != shape) {
      refuse(ORT_INVALID_ARGUMENT, "output ", index, " was made with shape ",
             to_text(at.outputs[index]->datum.tensor().shape()), ", now asked for with ",
             to_text(shape));
    }
    place = at.outputs[index].get();
  });
}

OrtStatus* Functions::KernelContext_GetLogger(const OrtKernelContext* context,
                                              const OrtLogger** logger) {
  return guarded([&] {
    const OrtLogger*& place = require_place(logger, "logger");
    place = require(context, "context").row.info().logger;
  });
}

OrtStatus* Functions::KernelContext_GetAllocator(const OrtKernelContext* context,
                                                 const OrtMemoryInfo* mem_info,
                                                 OrtAllocator** out) {
  return guarded([&] {
    OrtAllocator*& place = require_place(out, "out");
    require(context, "context");
    if (require(mem_info, "mem_info").device_type != OrtMemoryInfoDeviceType_CPU)
      refuse(ORT_INVALID_ARGUMENT, "No requested allocator available");
    place = new_allocator(session_memory_info());
  });
}

// There are no streams of devices here.
OrtStatus* Functions::KernelContext_GetGPUComputeStream(const OrtKernelContext* context,
                                                        void** out) {
  return guarded([&] {
    require_place(out, "out");
    require(context, "context");
  });
}
OrtStatus* Functions::KernelContext_GetSyncStream(const OrtKernelContext* context,
                                                  OrtSyncStream** out) {
  return guarded([&] {
    require_place(out, "out");
    require(context, "context");
  });
}
OrtStatus* Functions::KernelContext_GetResource(const OrtKernelContext* context, int, int,
                                                void** resource) {
  return guarded([&] {
    require_place(resource, "resource");
    require(context, "context");
    refuse(ORT_INVALID_ARGUMENT, "Failed to fetch a stream hosting the requested resource");
  });
}

// NULL until KernelContext_GetOutput has told the shape.
OrtStatus* Functions::KernelContext_GetPreallocatedOutput(const OrtKernelContext* context,
                                                          size_t output_index, OrtValue** output) {
  return guarded([&] {
    OrtValue*& place = require_place(output, "output");
    const auto& outputs = require(context, "context").outputs;
    if (output_index >= outputs.size()) {
      refuse(ORT_INVALID_ARGUMENT, "output_index is out of range: expected less than ",
             outputs.size(), ", got ", output_index);
    }
    place = outputs[output_index].get();
  });
}

// Until the kernel returns.
OrtStatus* Functions::KernelContext_GetScratchBuffer(const OrtKernelContext* context,
                                                     const OrtMemoryInfo* mem_info,
                                                     size_t count_or_bytes, void** out) {
  return guarded([&] {
    void*& place = require_place(out, "out");
    auto& scratch = const_cast<OrtKernelContext&>(require(context, "context")).scratch;
    require(mem_info, "mem_info");
    if (count_or_bytes == 0) return;
    scratch.push_back(std::make_unique<std::byte[]>(count_or_bytes));
    place = scratch.back().get();
  });
}

// Each index once, on whichever threads have time.
OrtStatus* Functions::KernelContext_ParallelFor(const OrtKernelContext* context,
                                                void (*fn)(void*, size_t), size_t total,
                                                size_t num_batch, void* usr_data) {
  return guarded([&] {
    require(context, "context");
    require(fn, "fn");
    const int threads =
        num_batch > 0 ? static_cast<int>(std::min<size_t>(num_batch, kMaxThreads)) : kMaxThreads;
    parallel_for(static_cast<int64_t>(total), threads, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i)
        fn(usr_data, static_cast<size_t>(i));
    });
  });
}

}  // namespace sardonyx::ort_abi
