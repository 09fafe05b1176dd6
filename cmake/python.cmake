# The Python package `sardonyx` (tools/python) in <build>/python, with SARDONYX_PYTHON_PACKAGE.

find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
find_package(pybind11 REQUIRED CONFIG)

set(package ${PROJECT_BINARY_DIR}/python/sardonyx)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/python/module/*.cpp)
Python3_add_library(python_module MODULE WITH_SOABI ${sources})
sardonyx_target_defaults(python_module)
sardonyx_join_sources(python_module ${sources})
sardonyx_use_precompiled(python_module)
set_target_properties(python_module PROPERTIES OUTPUT_NAME _sardonyx LIBRARY_OUTPUT_DIRECTORY ${package})
sardonyx_existing(uses ort_abi eager executor onnx_io codecs ir)
target_link_libraries(python_module PRIVATE ${uses} pybind11::pybind11 Python3::NumPy)
# What it is made of stays its own beside other modules of the process.
target_link_options(python_module PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections $<$<CONFIG:Release>:-Wl,-s>)

# The modules in Python beside it, copied as they change.
file(GLOB_RECURSE modules CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tools/python/sardonyx
  ${PROJECT_SOURCE_DIR}/tools/python/sardonyx/*.py ${PROJECT_SOURCE_DIR}/tools/python/sardonyx/*.pyi
  ${PROJECT_SOURCE_DIR}/tools/python/sardonyx/py.typed)
set(copies "")
foreach(module IN LISTS modules)
  add_custom_command(
    OUTPUT ${package}/${module}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/tools/python/sardonyx/${module} ${package}/${module}
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/python/sardonyx/${module}
    COMMENT "python/sardonyx/${module}"
    VERBATIM)
  list(APPEND copies ${package}/${module})
endforeach()
add_custom_target(python ALL DEPENDS ${copies})
add_dependencies(python python_module)

install(DIRECTORY ${package} DESTINATION ${CMAKE_INSTALL_LIBDIR}/python3/dist-packages COMPONENT python
  PATTERN __pycache__ EXCLUDE)

if(SARDONYX_TESTS)
  enable_testing()
  add_test(NAME python COMMAND ${Python3_EXECUTABLE} -m unittest discover -s ${PROJECT_SOURCE_DIR}/tools/python/tests
           WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(python PROPERTIES TIMEOUT 1200
    ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python;SARDONYX_BIN_DIR=${PROJECT_BINARY_DIR}/bin;PYTHONDONTWRITEBYTECODE=1")
endif()
