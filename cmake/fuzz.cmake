# One program per *_fuzz.cpp, <build>/fuzz/<name>. With SARDONYX_FUZZ (a clang build) libFuzzer drives them;
# elsewhere a driver of ours does, which knows the same options but nothing of coverage.
# Seeds of target NAME lie in tests/fuzz/NAME/.

file(GLOB_RECURSE sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/ir/*_fuzz.cpp ${PROJECT_SOURCE_DIR}/onnx_io/*_fuzz.cpp
  ${PROJECT_SOURCE_DIR}/providers/*_fuzz.cpp ${PROJECT_SOURCE_DIR}/executor/*_fuzz.cpp
  ${PROJECT_SOURCE_DIR}/tests/api/*_fuzz.cpp)
add_custom_target(fuzzers)
if(NOT SARDONYX_FUZZ)
  add_library(fuzz_driver OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/driver.cpp)
  sardonyx_target_defaults(fuzz_driver)
endif()
# What the targets of tests/ share with the tests.
file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/api/*.cpp)
list(FILTER support EXCLUDE REGEX "_(fuzz|test)\\.cpp$")
add_library(fuzz_support STATIC EXCLUDE_FROM_ALL ${support})
sardonyx_target_defaults(fuzz_support)
sardonyx_join_sources(fuzz_support ${support})
target_link_libraries(fuzz_support PUBLIC sardonyx_executor)
foreach(source IN LISTS sources)
  get_filename_component(stem ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${stem})
  add_executable(fuzz_${name} ${source})
  sardonyx_target_defaults(fuzz_${name})
  set_target_properties(fuzz_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_include_directories(fuzz_${name} SYSTEM PRIVATE ${SARDONYX_SCHEMA_DIR_onnx_io})
  target_link_libraries(fuzz_${name} PRIVATE sardonyx_executor sardonyx_codecs protobuf::libprotobuf-lite)
  if(source MATCHES "/tests/api/")
    target_link_libraries(fuzz_${name} PRIVATE fuzz_support)
  endif()
  if(SARDONYX_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(fuzz_${name} PRIVATE fuzz_driver)
  endif()
  add_dependencies(fuzzers fuzz_${name})
endforeach()
if(TARGET integration_tests)
  add_dependencies(integration_tests fuzzers)  # which run them for a moment
endif()
