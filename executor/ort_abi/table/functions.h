// What is implemented: the members of OrtApi that stand here, each under the file that has it. The
// table (table.cpp) takes them from this class and fills the rest with what says that it is not
// implemented.
#pragma once

#include <type_traits>

#include "executor/ort_abi/table/ort_c_api.h"

namespace sardonyx::ort_abi {

// A static function with the type of the table's member of this name. None of them throws.
#define ORT_FUNCTION(name) static std::remove_pointer_t<decltype(OrtApi::name)> name

struct Functions {
  // status.cpp
  ORT_FUNCTION(CreateStatus);
  ORT_FUNCTION(GetErrorCode);
  ORT_FUNCTION(GetErrorMessage);
  ORT_FUNCTION(ReleaseStatus);

  // table.cpp
  ORT_FUNCTION(GetTrainingApi);
  ORT_FUNCTION(GetModelEditorApi);
  ORT_FUNCTION(GetCompileApi);
  ORT_FUNCTION(GetInteropApi);
  ORT_FUNCTION(GetEpApi);
  ORT_FUNCTION(GetExperimentalFunction);

  // env.cpp
  ORT_FUNCTION(CreateEnv);
  ORT_FUNCTION(CreateEnvWithCustomLogger);
  ORT_FUNCTION(CreateEnvWithGlobalThreadPools);
  ORT_FUNCTION(CreateEnvWithCustomLoggerAndGlobalThreadPools);
  ORT_FUNCTION(CreateEnvWithOptions);
  ORT_FUNCTION(ReleaseEnv);
  ORT_FUNCTION(EnableTelemetryEvents);
  ORT_FUNCTION(DisableTelemetryEvents);
  ORT_FUNCTION(SetLanguageProjection);
  ORT_FUNCTION(UpdateEnvWithCustomLogLevel);
  ORT_FUNCTION(GetAvailableProviders);
  ORT_FUNCTION(ReleaseAvailableProviders);
  ORT_FUNCTION(GetBuildInfoString);
  ORT_FUNCTION(SetPerSessionThreadPoolCallbacks);

  // threading.cpp
  ORT_FUNCTION(CreateThreadingOptions);
  ORT_FUNCTION(ReleaseThreadingOptions);
  ORT_FUNCTION(SetGlobalIntraOpNumThreads);
  ORT_FUNCTION(SetGlobalInterOpNumThreads);
  ORT_FUNCTION(SetGlobalSpinControl);
  ORT_FUNCTION(SetGlobalDenormalAsZero);
  ORT_FUNCTION(SetGlobalIntraOpThreadAffinity);
  ORT_FUNCTION(SetGlobalCustomCreateThreadFn);
  ORT_FUNCTION(SetGlobalCustomThreadCreationOptions);
  ORT_FUNCTION(SetGlobalCustomJoinThreadFn);

  // logging.cpp
  ORT_FUNCTION(Logger_LogMessage);
  ORT_FUNCTION(Logger_GetLoggingSeverityLevel);

  // session_options.cpp
  ORT_FUNCTION(CreateSessionOptions);
  ORT_FUNCTION(CloneSessionOptions);
  ORT_FUNCTION(ReleaseSessionOptions);
  ORT_FUNCTION(SetOptimizedModelFilePath);
  ORT_FUNCTION(SetSessionExecutionMode);
  ORT_FUNCTION(GetSessionExecutionMode);
  ORT_FUNCTION(EnableProfiling);
  ORT_FUNCTION(DisableProfiling);
  ORT_FUNCTION(EnableMemPattern);
  ORT_FUNCTION(DisableMemPattern);
  ORT_FUNCTION(GetMemPatternEnabled);
  ORT_FUNCTION(EnableCpuMemArena);
  ORT_FUNCTION(DisableCpuMemArena);
  ORT_FUNCTION(SetSessionLogId);
  ORT_FUNCTION(SetSessionLogVerbosityLevel);
  ORT_FUNCTION(SetSessionLogSeverityLevel);
  ORT_FUNCTION(SetSessionGraphOptimizationLevel);
  ORT_FUNCTION(SetIntraOpNumThreads);
  ORT_FUNCTION(SetInterOpNumThreads);
  ORT_FUNCTION(AddFreeDimensionOverride);
  ORT_FUNCTION(AddFreeDimensionOverrideByName);
  ORT_FUNCTION(DisablePerSessionThreads);
  ORT_FUNCTION(AddSessionConfigEntry);
  ORT_FUNCTION(HasSessionConfigEntry);
  ORT_FUNCTION(GetSessionConfigEntry);
  ORT_FUNCTION(GetSessionOptionsConfigEntries);
  ORT_FUNCTION(SetDeterministicCompute);
  ORT_FUNCTION(SetUserLoggingFunction);
  ORT_FUNCTION(SessionOptionsSetLoadCancellationFlag);
  ORT_FUNCTION(SessionOptionsSetCustomCreateThreadFn);
  ORT_FUNCTION(SessionOptionsSetCustomThreadCreationOptions);
  ORT_FUNCTION(SessionOptionsSetCustomJoinThreadFn);

  // load/initializers.cpp
  ORT_FUNCTION(AddInitializer);
  ORT_FUNCTION(AddExternalInitializers);
  ORT_FUNCTION(AddExternalInitializersFromFilesInMemory);

  // providers.cpp
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_V2);
  ORT_FUNCTION(SessionOptionsSetEpSelectionPolicy);
  ORT_FUNCTION(SessionOptionsSetEpSelectionPolicyDelegate);
  ORT_FUNCTION(SetEpDynamicOptions);
  ORT_FUNCTION(GetExecutionProviderApi);
  ORT_FUNCTION(EnableOrtCustomOps);

  // session.cpp
  ORT_FUNCTION(CreateSession);
  ORT_FUNCTION(CreateSessionFromArray);
  ORT_FUNCTION(CreateSessionWithPrepackedWeightsContainer);
  ORT_FUNCTION(CreateSessionFromArrayWithPrepackedWeightsContainer);
  ORT_FUNCTION(CreatePrepackedWeightsContainer);
  ORT_FUNCTION(ReleasePrepackedWeightsContainer);
  ORT_FUNCTION(ReleaseSession);
  ORT_FUNCTION(CreateAllocator);

  // session_info.cpp
  ORT_FUNCTION(SessionGetInputCount);
  ORT_FUNCTION(SessionGetOutputCount);
  ORT_FUNCTION(SessionGetOverridableInitializerCount);
  ORT_FUNCTION(SessionGetInputTypeInfo);
  ORT_FUNCTION(SessionGetOutputTypeInfo);
  ORT_FUNCTION(SessionGetOverridableInitializerTypeInfo);
  ORT_FUNCTION(SessionGetInputName);
  ORT_FUNCTION(SessionGetOutputName);
  ORT_FUNCTION(SessionGetOverridableInitializerName);
  ORT_FUNCTION(SessionGetMemoryInfoForInputs);
  ORT_FUNCTION(SessionGetMemoryInfoForOutputs);
  ORT_FUNCTION(SessionGetEpDeviceForInputs);
  ORT_FUNCTION(SessionGetEpDeviceForOutputs);

  // run.cpp
  ORT_FUNCTION(Run);
  ORT_FUNCTION(RunAsync);
  ORT_FUNCTION(RunWithBinding);

  // run_options.cpp
  ORT_FUNCTION(CreateRunOptions);
  ORT_FUNCTION(ReleaseRunOptions);
  ORT_FUNCTION(RunOptionsSetRunLogVerbosityLevel);
  ORT_FUNCTION(RunOptionsSetRunLogSeverityLevel);
  ORT_FUNCTION(RunOptionsSetRunTag);
  ORT_FUNCTION(RunOptionsGetRunLogVerbosityLevel);
  ORT_FUNCTION(RunOptionsGetRunLogSeverityLevel);
  ORT_FUNCTION(RunOptionsGetRunTag);
  ORT_FUNCTION(RunOptionsSetTerminate);
  ORT_FUNCTION(RunOptionsUnsetTerminate);
  ORT_FUNCTION(AddRunConfigEntry);
  ORT_FUNCTION(GetRunConfigEntry);
  ORT_FUNCTION(RunOptionsEnableProfiling);
  ORT_FUNCTION(RunOptionsDisableProfiling);

  // lora.cpp
  ORT_FUNCTION(CreateLoraAdapter);
  ORT_FUNCTION(CreateLoraAdapterFromArray);
  ORT_FUNCTION(ReleaseLoraAdapter);
  ORT_FUNCTION(RunOptionsAddActiveLoraAdapter);

  // profiling.cpp
  ORT_FUNCTION(SessionEndProfiling);
  ORT_FUNCTION(SessionGetProfilingStartTimeNs);

  // io_binding.cpp
  ORT_FUNCTION(CreateIoBinding);
  ORT_FUNCTION(ReleaseIoBinding);
  ORT_FUNCTION(BindInput);
  ORT_FUNCTION(BindOutput);
  ORT_FUNCTION(BindOutputToDevice);
  ORT_FUNCTION(GetBoundOutputNames);
  ORT_FUNCTION(GetBoundOutputValues);
  ORT_FUNCTION(ClearBoundInputs);
  ORT_FUNCTION(ClearBoundOutputs);
  ORT_FUNCTION(SynchronizeBoundInputs);
  ORT_FUNCTION(SynchronizeBoundOutputs);

  // metadata.cpp
  ORT_FUNCTION(SessionGetModelMetadata);
  ORT_FUNCTION(ReleaseModelMetadata);
  ORT_FUNCTION(ModelMetadataGetProducerName);
  ORT_FUNCTION(ModelMetadataGetGraphName);
  ORT_FUNCTION(ModelMetadataGetDomain);
  ORT_FUNCTION(ModelMetadataGetDescription);
  ORT_FUNCTION(ModelMetadataGetGraphDescription);
  ORT_FUNCTION(ModelMetadataGetVersion);
  ORT_FUNCTION(ModelMetadataLookupCustomMetadataMap);
  ORT_FUNCTION(ModelMetadataGetCustomMetadataMapKeys);

  // type_info.cpp
  ORT_FUNCTION(CastTypeInfoToTensorInfo);
  ORT_FUNCTION(CastTypeInfoToMapTypeInfo);
  ORT_FUNCTION(CastTypeInfoToSequenceTypeInfo);
  ORT_FUNCTION(CastTypeInfoToOptionalTypeInfo);
  ORT_FUNCTION(GetOnnxTypeFromTypeInfo);
  ORT_FUNCTION(GetDenotationFromTypeInfo);
  ORT_FUNCTION(GetMapKeyType);
  ORT_FUNCTION(GetMapValueType);
  ORT_FUNCTION(GetSequenceElementType);
  ORT_FUNCTION(GetOptionalContainedTypeInfo);
  ORT_FUNCTION(ReleaseTypeInfo);
  ORT_FUNCTION(ReleaseMapTypeInfo);
  ORT_FUNCTION(ReleaseSequenceTypeInfo);

  // tensor_info.cpp
  ORT_FUNCTION(CreateTensorTypeAndShapeInfo);
  ORT_FUNCTION(ReleaseTensorTypeAndShapeInfo);
  ORT_FUNCTION(SetTensorElementType);
  ORT_FUNCTION(SetDimensions);
  ORT_FUNCTION(SetSymbolicDimensions);
  ORT_FUNCTION(GetTensorElementType);
  ORT_FUNCTION(GetDimensionsCount);
  ORT_FUNCTION(GetDimensions);
  ORT_FUNCTION(GetSymbolicDimensions);
  ORT_FUNCTION(GetTensorShapeElementCount);
  ORT_FUNCTION(TensorTypeAndShape_HasShape);

  // tensor.cpp
  ORT_FUNCTION(CreateTensorAsOrtValue);
  ORT_FUNCTION(CreateTensorWithDataAsOrtValue);
  ORT_FUNCTION(CreateTensorWithDataAndDeleterAsOrtValue);
  ORT_FUNCTION(GetTensorMutableData);
  ORT_FUNCTION(GetTensorData);
  ORT_FUNCTION(GetTensorSizeInBytes);
  ORT_FUNCTION(TensorAt);
  ORT_FUNCTION(GetTensorElementTypeAndShapeDataReference);
  ORT_FUNCTION(CopyTensors);

  // value.cpp
  ORT_FUNCTION(IsTensor);
  ORT_FUNCTION(IsSparseTensor);
  ORT_FUNCTION(HasValue);
  ORT_FUNCTION(GetValueType);
  ORT_FUNCTION(GetTypeInfo);
  ORT_FUNCTION(GetTensorTypeAndShape);
  ORT_FUNCTION(GetTensorMemoryInfo);
  ORT_FUNCTION(ReleaseValue);

  // containers.cpp
  ORT_FUNCTION(GetValue);
  ORT_FUNCTION(GetValueCount);
  ORT_FUNCTION(CreateValue);

  // strings.cpp
  ORT_FUNCTION(FillStringTensor);
  ORT_FUNCTION(FillStringTensorElement);
  ORT_FUNCTION(GetStringTensorDataLength);
  ORT_FUNCTION(GetStringTensorContent);
  ORT_FUNCTION(GetStringTensorElementLength);
  ORT_FUNCTION(GetStringTensorElement);
  ORT_FUNCTION(GetResizedStringTensorElementBuffer);

  // memory_info.cpp
  ORT_FUNCTION(CreateMemoryInfo);
  ORT_FUNCTION(CreateMemoryInfo_V2);
  ORT_FUNCTION(CreateCpuMemoryInfo);
  ORT_FUNCTION(ReleaseMemoryInfo);
  ORT_FUNCTION(CompareMemoryInfo);
  ORT_FUNCTION(MemoryInfoGetName);
  ORT_FUNCTION(MemoryInfoGetId);
  ORT_FUNCTION(MemoryInfoGetMemType);
  ORT_FUNCTION(MemoryInfoGetType);
  ORT_FUNCTION(MemoryInfoGetDeviceType);
  ORT_FUNCTION(MemoryInfoGetDeviceMemType);
  ORT_FUNCTION(MemoryInfoGetVendorId);

  // allocator.cpp
  ORT_FUNCTION(AllocatorAlloc);
  ORT_FUNCTION(AllocatorFree);
  ORT_FUNCTION(AllocatorGetInfo);
  ORT_FUNCTION(AllocatorGetStats);
  ORT_FUNCTION(GetAllocatorWithDefaultOptions);
  ORT_FUNCTION(ReleaseAllocator);

  // shared_allocators.cpp
  ORT_FUNCTION(CreateAndRegisterAllocator);
  ORT_FUNCTION(CreateAndRegisterAllocatorV2);
  ORT_FUNCTION(RegisterAllocator);
  ORT_FUNCTION(UnregisterAllocator);
  ORT_FUNCTION(CreateSharedAllocator);
  ORT_FUNCTION(GetSharedAllocator);
  ORT_FUNCTION(ReleaseSharedAllocator);
  ORT_FUNCTION(CreateArenaCfg);
  ORT_FUNCTION(CreateArenaCfgV2);
  ORT_FUNCTION(ReleaseArenaCfg);

  // key_values.cpp
  ORT_FUNCTION(CreateKeyValuePairs);
  ORT_FUNCTION(AddKeyValuePair);
  ORT_FUNCTION(GetKeyValue);
  ORT_FUNCTION(GetKeyValuePairs);
  ORT_FUNCTION(RemoveKeyValuePair);
  ORT_FUNCTION(ReleaseKeyValuePairs);

  // devices.cpp
  ORT_FUNCTION(GetEpDevices);
  ORT_FUNCTION(GetNumHardwareDevices);
  ORT_FUNCTION(GetHardwareDevices);
  ORT_FUNCTION(HardwareDevice_Type);
  ORT_FUNCTION(HardwareDevice_VendorId);
  ORT_FUNCTION(HardwareDevice_Vendor);
  ORT_FUNCTION(HardwareDevice_DeviceId);
  ORT_FUNCTION(HardwareDevice_Metadata);
  ORT_FUNCTION(EpDevice_EpName);
  ORT_FUNCTION(EpDevice_EpVendor);
  ORT_FUNCTION(EpDevice_EpMetadata);
  ORT_FUNCTION(EpDevice_EpOptions);
  ORT_FUNCTION(EpDevice_Device);
  ORT_FUNCTION(EpDevice_MemoryInfo);

  // custom_ops/domain.cpp
  ORT_FUNCTION(CreateCustomOpDomain);
  ORT_FUNCTION(ReleaseCustomOpDomain);
  ORT_FUNCTION(CustomOpDomain_Add);
  ORT_FUNCTION(AddCustomOpDomain);

  // custom_ops/register_library.cpp
  ORT_FUNCTION(RegisterCustomOpsLibrary);
  ORT_FUNCTION(RegisterCustomOpsLibrary_V2);
  ORT_FUNCTION(RegisterCustomOpsUsingFunction);

  // custom_ops/kernel_info.cpp
  ORT_FUNCTION(KernelInfoGetAttribute_float);
  ORT_FUNCTION(KernelInfoGetAttribute_int64);
  ORT_FUNCTION(KernelInfoGetAttribute_string);
  ORT_FUNCTION(KernelInfoGetAttributeArray_float);
  ORT_FUNCTION(KernelInfoGetAttributeArray_int64);
  ORT_FUNCTION(KernelInfoGetAttributeArray_string);
  ORT_FUNCTION(KernelInfoGetAttribute_tensor);
  ORT_FUNCTION(CopyKernelInfo);
  ORT_FUNCTION(ReleaseKernelInfo);
  ORT_FUNCTION(KernelInfo_GetInputCount);
  ORT_FUNCTION(KernelInfo_GetOutputCount);
  ORT_FUNCTION(KernelInfo_GetInputName);
  ORT_FUNCTION(KernelInfo_GetOutputName);
  ORT_FUNCTION(KernelInfo_GetInputTypeInfo);
  ORT_FUNCTION(KernelInfo_GetOutputTypeInfo);
  ORT_FUNCTION(KernelInfo_GetNodeName);
  ORT_FUNCTION(KernelInfo_GetOperatorDomain);
  ORT_FUNCTION(KernelInfo_GetOperatorType);
  ORT_FUNCTION(KernelInfo_GetOperatorSinceVersion);
  ORT_FUNCTION(KernelInfo_GetConfigEntries);
  ORT_FUNCTION(KernelInfo_GetLogger);
  ORT_FUNCTION(KernelInfoGetConstantInput_tensor);
  ORT_FUNCTION(KernelInfoGetAllocator);

  // custom_ops/kernel_context.cpp
  ORT_FUNCTION(KernelContext_GetInputCount);
  ORT_FUNCTION(KernelContext_GetOutputCount);
  ORT_FUNCTION(KernelContext_GetInput);
  ORT_FUNCTION(KernelContext_GetOutput);
  ORT_FUNCTION(KernelContext_GetLogger);
  ORT_FUNCTION(KernelContext_GetAllocator);
  ORT_FUNCTION(KernelContext_GetScratchBuffer);
  ORT_FUNCTION(KernelContext_ParallelFor);

  // custom_ops/shape_inference.cpp
  ORT_FUNCTION(ShapeInferContext_GetInputCount);
  ORT_FUNCTION(ShapeInferContext_GetInputTypeShape);
  ORT_FUNCTION(ShapeInferContext_GetAttribute);
  ORT_FUNCTION(ShapeInferContext_SetOutputTypeShape);

  // custom_ops/op_attr.cpp
  ORT_FUNCTION(CreateOpAttr);
  ORT_FUNCTION(ReleaseOpAttr);
  ORT_FUNCTION(ReadOpAttr);
  ORT_FUNCTION(OpAttr_GetType);
  ORT_FUNCTION(OpAttr_GetName);
  ORT_FUNCTION(OpAttr_GetTensorAttributeAsOrtValue);

  // model_editor/graph.cpp
  ORT_FUNCTION(GetValueInfoName);
  ORT_FUNCTION(GetValueInfoTypeInfo);
  ORT_FUNCTION(ReleaseValueInfo);
  ORT_FUNCTION(ReleaseNode);
  ORT_FUNCTION(ReleaseGraph);
  ORT_FUNCTION(ReleaseModel);

  // absent_providers.cpp
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_CUDA);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_CUDA_V2);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_TensorRT);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_TensorRT_V2);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_OpenVINO);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_OpenVINO_V2);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_MIGraphX);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_VitisAI);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_ROCM);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_CANN);
  ORT_FUNCTION(SessionOptionsAppendExecutionProvider_Dnnl);
  ORT_FUNCTION(CreateCUDAProviderOptions);
  ORT_FUNCTION(UpdateCUDAProviderOptions);
  ORT_FUNCTION(GetCUDAProviderOptionsAsString);
  ORT_FUNCTION(ReleaseCUDAProviderOptions);
  ORT_FUNCTION(CreateTensorRTProviderOptions);
  ORT_FUNCTION(UpdateTensorRTProviderOptions);
  ORT_FUNCTION(GetTensorRTProviderOptionsAsString);
  ORT_FUNCTION(ReleaseTensorRTProviderOptions);
  ORT_FUNCTION(CreateCANNProviderOptions);
  ORT_FUNCTION(UpdateCANNProviderOptions);
  ORT_FUNCTION(GetCANNProviderOptionsAsString);
  ORT_FUNCTION(ReleaseCANNProviderOptions);
  ORT_FUNCTION(CreateDnnlProviderOptions);
  ORT_FUNCTION(UpdateDnnlProviderOptions);
  ORT_FUNCTION(GetDnnlProviderOptionsAsString);
  ORT_FUNCTION(ReleaseDnnlProviderOptions);
  ORT_FUNCTION(CreateROCMProviderOptions);
  ORT_FUNCTION(UpdateROCMProviderOptions);
  ORT_FUNCTION(GetROCMProviderOptionsAsString);
  ORT_FUNCTION(ReleaseROCMProviderOptions);
  ORT_FUNCTION(UpdateCUDAProviderOptionsWithValue);
  ORT_FUNCTION(GetCUDAProviderOptionsByName);
  ORT_FUNCTION(UpdateTensorRTProviderOptionsWithValue);
  ORT_FUNCTION(GetTensorRTProviderOptionsByName);
  ORT_FUNCTION(SetCurrentGpuDeviceId);
  ORT_FUNCTION(GetCurrentGpuDeviceId);
  ORT_FUNCTION(RegisterExecutionProviderLibrary);
  ORT_FUNCTION(UnregisterExecutionProviderLibrary);

  // values/sparse.cpp
  ORT_FUNCTION(CreateSparseTensorAsOrtValue);
  ORT_FUNCTION(CreateSparseTensorWithValuesAsOrtValue);
  ORT_FUNCTION(FillSparseTensorCoo);
  ORT_FUNCTION(FillSparseTensorCsr);
  ORT_FUNCTION(FillSparseTensorBlockSparse);
  ORT_FUNCTION(UseCooIndices);
  ORT_FUNCTION(UseCsrIndices);
  ORT_FUNCTION(UseBlockSparseIndices);
  ORT_FUNCTION(GetSparseTensorFormat);
  ORT_FUNCTION(GetSparseTensorValuesTypeAndShape);
  ORT_FUNCTION(GetSparseTensorValues);
  ORT_FUNCTION(GetSparseTensorIndicesTypeShape);
  ORT_FUNCTION(GetSparseTensorIndices);
  ORT_FUNCTION(CreateOpaqueValue);
  ORT_FUNCTION(GetOpaqueValue);

  // model_editor/inspect_graph.cpp, model_editor/inspect_node.cpp
  ORT_FUNCTION(ValueInfo_GetValueProducer);
  ORT_FUNCTION(ValueInfo_GetValueNumConsumers);
  ORT_FUNCTION(ValueInfo_GetValueConsumers);
  ORT_FUNCTION(ValueInfo_GetInitializerValue);
  ORT_FUNCTION(ValueInfo_GetExternalInitializerInfo);
  ORT_FUNCTION(ValueInfo_IsRequiredGraphInput);
  ORT_FUNCTION(ValueInfo_IsOptionalGraphInput);
  ORT_FUNCTION(ValueInfo_IsGraphOutput);
  ORT_FUNCTION(ValueInfo_IsConstantInitializer);
  ORT_FUNCTION(ValueInfo_IsFromOuterScope);
  ORT_FUNCTION(Graph_GetName);
  ORT_FUNCTION(Graph_GetModelPath);
  ORT_FUNCTION(Graph_GetOnnxIRVersion);
  ORT_FUNCTION(Graph_GetNumOperatorSets);
  ORT_FUNCTION(Graph_GetOperatorSets);
  ORT_FUNCTION(Graph_GetNumInputs);
  ORT_FUNCTION(Graph_GetInputs);
  ORT_FUNCTION(Graph_GetNumOutputs);
  ORT_FUNCTION(Graph_GetOutputs);
  ORT_FUNCTION(Graph_GetNumInitializers);
  ORT_FUNCTION(Graph_GetInitializers);
  ORT_FUNCTION(Graph_GetNumNodes);
  ORT_FUNCTION(Graph_GetNodes);
  ORT_FUNCTION(Graph_GetParentNode);
  ORT_FUNCTION(Graph_GetModelMetadata);
  ORT_FUNCTION(Node_GetId);
  ORT_FUNCTION(Node_GetName);
  ORT_FUNCTION(Node_GetOperatorType);
  ORT_FUNCTION(Node_GetDomain);
  ORT_FUNCTION(Node_GetSinceVersion);
  ORT_FUNCTION(Node_GetNumInputs);
  ORT_FUNCTION(Node_GetInputs);
  ORT_FUNCTION(Node_GetNumOutputs);
  ORT_FUNCTION(Node_GetOutputs);
  ORT_FUNCTION(Node_GetNumImplicitInputs);
  ORT_FUNCTION(Node_GetImplicitInputs);
  ORT_FUNCTION(Node_GetNumAttributes);
  ORT_FUNCTION(Node_GetAttributes);
  ORT_FUNCTION(Node_GetAttributeByName);
  ORT_FUNCTION(Node_GetNumSubgraphs);
  ORT_FUNCTION(Node_GetSubgraphs);
  ORT_FUNCTION(Node_GetGraph);
  ORT_FUNCTION(Node_GetEpName);
  ORT_FUNCTION(CreateExternalInitializerInfo);
  ORT_FUNCTION(ReleaseExternalInitializerInfo);
  ORT_FUNCTION(ExternalInitializerInfo_GetFilePath);
  ORT_FUNCTION(ExternalInitializerInfo_GetFileOffset);
  ORT_FUNCTION(ExternalInitializerInfo_GetByteSize);
};

#undef ORT_FUNCTION

#define ORT_FUNCTION(name) static std::remove_pointer_t<decltype(OrtModelEditorApi::name)> name

struct ModelEditorFunctions {
  // model_editor/graph.cpp
  ORT_FUNCTION(CreateTensorTypeInfo);
  ORT_FUNCTION(CreateSparseTensorTypeInfo);
  ORT_FUNCTION(CreateMapTypeInfo);
  ORT_FUNCTION(CreateSequenceTypeInfo);
  ORT_FUNCTION(CreateOptionalTypeInfo);
  ORT_FUNCTION(CreateValueInfo);
  ORT_FUNCTION(CreateNode);
  ORT_FUNCTION(CreateGraph);
  ORT_FUNCTION(SetGraphInputs);
  ORT_FUNCTION(SetGraphOutputs);
  ORT_FUNCTION(AddInitializerToGraph);
  ORT_FUNCTION(AddNodeToGraph);
  ORT_FUNCTION(CreateModel);
  ORT_FUNCTION(AddGraphToModel);

  // model_editor/editor_session.cpp
  ORT_FUNCTION(CreateSessionFromModel);
  ORT_FUNCTION(CreateModelEditorSession);
  ORT_FUNCTION(CreateModelEditorSessionFromArray);
  ORT_FUNCTION(SessionGetOpsetForDomain);
  ORT_FUNCTION(ApplyModelToModelEditorSession);
  ORT_FUNCTION(FinalizeModelEditorSession);
};

#undef ORT_FUNCTION

#define ORT_FUNCTION(name) static std::remove_pointer_t<decltype(OrtCompileApi::name)> name

struct CompileFunctions {
  // model_editor/compile.cpp
  ORT_FUNCTION(ReleaseModelCompilationOptions);
  ORT_FUNCTION(CreateModelCompilationOptionsFromSessionOptions);
  ORT_FUNCTION(ModelCompilationOptions_SetInputModelPath);
  ORT_FUNCTION(ModelCompilationOptions_SetInputModelFromBuffer);
  ORT_FUNCTION(ModelCompilationOptions_SetInputModel);
  ORT_FUNCTION(ModelCompilationOptions_SetOutputModelPath);
  ORT_FUNCTION(ModelCompilationOptions_SetOutputModelExternalInitializersFile);
  ORT_FUNCTION(ModelCompilationOptions_SetOutputModelBuffer);
  ORT_FUNCTION(ModelCompilationOptions_SetOutputModelWriteFunc);
  ORT_FUNCTION(ModelCompilationOptions_SetEpContextEmbedMode);
  ORT_FUNCTION(ModelCompilationOptions_SetEpContextBinaryInformation);
  ORT_FUNCTION(ModelCompilationOptions_SetFlags);
  ORT_FUNCTION(ModelCompilationOptions_SetGraphOptimizationLevel);
  ORT_FUNCTION(CompileModel);
};

#undef ORT_FUNCTION

// The table itself.
const OrtApi* api();

}  // namespace sardonyx::ort_abi
