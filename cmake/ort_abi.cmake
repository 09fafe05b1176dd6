# libonnxruntime.so.1: ONNX Runtime's interface over our executor, for programs that were made for it
# (docs/onnxruntime-drop-in.md). Linked as libsardonyx.so is, from the same objects (shared_library.cmake); a folder of its
# own keeps it apart from a real one, in the build tree and where it is installed.

set(ort_exports ${PROJECT_SOURCE_DIR}/cmake/ort_exports.map)
add_library(sardonyx_onnxruntime SHARED ${shared_objects} $<TARGET_OBJECTS:sardonyx_ort_abi> ${stand_ins})
add_dependencies(runtime sardonyx_onnxruntime)
add_dependencies(programs sardonyx_onnxruntime)
set_target_properties(sardonyx_onnxruntime PROPERTIES
  OUTPUT_NAME onnxruntime VERSION 1.30.0 SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/onnxruntime
  LINKER_LANGUAGE CXX LINK_DEPENDS ${ort_exports})
target_link_libraries(sardonyx_onnxruntime PRIVATE sardonyx_flags ${shared_libs} ${CMAKE_DL_LIBS})
target_link_options(sardonyx_onnxruntime PRIVATE
  -Wl,--version-script=${ort_exports} -Wl,--exclude-libs,ALL -Wl,--no-undefined -Wl,--gc-sections
  # As libsardonyx.so: threads may still run when a program closes it.
  -Wl,-z,nodelete)
if(NOT SARDONYX_SANITIZE)
  target_link_options(sardonyx_onnxruntime PRIVATE -static-libgcc $<$<CONFIG:Release>:-Wl,-s>)
endif()
install(TARGETS sardonyx_onnxruntime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sardonyx/onnxruntime COMPONENT onnxruntime)
