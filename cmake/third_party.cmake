# All libraries come from the distribution's packages (`./dev install-deps`).

set(SARDONYX_LOOK_UP REQUIRED)
include(cmake/runtime_dependencies.cmake)
find_package(nlohmann_json REQUIRED CONFIG)

# Of oneDNN the headers are needed here; its library is loaded at run time (providers/onednn/primitive/library.h). Its own package
# configuration would ask for OpenCL besides.
find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
mark_as_advanced(ONEDNN_INCLUDE_DIR)
add_library(oneDNN::headers INTERFACE IMPORTED)
target_include_directories(oneDNN::headers INTERFACE ${ONEDNN_INCLUDE_DIR})
set(SARDONYX_HEADER_ONLY oneDNN::headers nlohmann_json::nlohmann_json)

# Programs that link `target` have the whole of libprotobuf, in which all of libprotobuf-lite is: with both, one's
# destructors would run twice. First in the command line it defines every name, and the other is not needed.
function(sardonyx_whole_protobuf target)
  if(TARGET ${target})
    target_link_options(${target} INTERFACE
      "LINKER:--no-as-needed" $<TARGET_FILE:protobuf::libprotobuf> "LINKER:--as-needed")
  endif()
endfunction()
