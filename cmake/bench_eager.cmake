# tools/bench-eager: eager functions beside libtorch's. For development; nothing else sees libtorch.
find_path(SARDONYX_TORCH_INCLUDE torch/torch.h PATH_SUFFIXES torch/csrc/api/include REQUIRED)
find_path(SARDONYX_ATEN_INCLUDE ATen/ATen.h REQUIRED)
find_library(SARDONYX_TORCH_LIBRARY torch REQUIRED)
find_library(SARDONYX_TORCH_CPU_LIBRARY torch_cpu REQUIRED)
find_library(SARDONYX_C10_LIBRARY c10 REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/bench-eager/*.cpp)
add_executable(bench-eager ${sources})
sardonyx_target_defaults(bench-eager)
set_target_properties(bench-eager PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
target_include_directories(bench-eager SYSTEM PRIVATE ${SARDONYX_TORCH_INCLUDE} ${SARDONYX_ATEN_INCLUDE})
target_link_libraries(bench-eager PRIVATE sardonyx_eager CLI11::CLI11
  ${SARDONYX_TORCH_LIBRARY} ${SARDONYX_TORCH_CPU_LIBRARY} ${SARDONYX_C10_LIBRARY})
