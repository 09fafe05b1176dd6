# Of oneDNN the headers are needed here; its library is loaded at run time (providers/onednn/library.h). Its own package
# configuration would ask for OpenCL besides.

find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
mark_as_advanced(ONEDNN_INCLUDE_DIR)
add_library(oneDNN::headers INTERFACE IMPORTED)
target_include_directories(oneDNN::headers INTERFACE ${ONEDNN_INCLUDE_DIR})
