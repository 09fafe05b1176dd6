# One GoogleTest program per top folder from its *_test.cpp files, `integration_tests` from tests/, and one
# `benchmarks` program from every *_bench.cpp.

enable_testing()
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)

# A program is run in shards: they fill the cores, and a crash hides only the results of its own shard.
# Results go to <build>/test-results as XML, from which `./dev test` counts.
set(SARDONYX_TEST_SHARDS 4)

# sardonyx_test_program(name SOURCES files... USES layers... LINK targets...)
function(sardonyx_test_program name)
  cmake_parse_arguments(test "" "" "SOURCES;USES;LINK" ${ARGN})
  if(NOT test_SOURCES)
    return()
  endif()
  add_executable(${name} ${test_SOURCES})
  sardonyx_target_defaults(${name})
  sardonyx_use_precompiled(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE
    SARDONYX_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SARDONYX_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
  target_compile_options(${name} PRIVATE ${SARDONYX_LIGHT_OPTIONS})
  sardonyx_existing(uses ${test_USES})
  foreach(layer IN LISTS test_USES)
    target_link_libraries(${name} PRIVATE ${SARDONYX_LIBS_${layer}})
    if(SARDONYX_SCHEMA_DIR_${layer})
      target_include_directories(${name} SYSTEM PRIVATE ${SARDONYX_SCHEMA_DIR_${layer}})
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE sardonyx_test_support ${uses} ${test_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  math(EXPR last "${SARDONYX_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}.${shard} COMMAND ${name} --gtest_brief=1
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}.${shard} PROPERTIES
      TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${SARDONYX_TEST_SHARDS};GTEST_SHARD_INDEX=${shard};\
GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test-results/${name}.${shard}.xml")
  endforeach()
endfunction()

# What the tests of several layers share; its sources know ir alone, its headers may know more.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
add_library(sardonyx_test_support STATIC ${sources})
sardonyx_target_defaults(sardonyx_test_support)
target_link_libraries(sardonyx_test_support PUBLIC sardonyx_ir)

# sardonyx_folder_tests(folder [EXCEPT sub-folders...] USES layers... LINK targets...): those of the sub-folders are in
# programs of their own.
function(sardonyx_folder_tests folder)
  cmake_parse_arguments(folder "" "" "EXCEPT;USES;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*_test.cpp)
  foreach(inner IN LISTS folder_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${folder}/${inner}/")
  endforeach()
  # Long tables of calls, each made once: not worth optimising.
  set(tables ${sources})
  list(FILTER tables INCLUDE REGEX "error_test\\.cpp$")
  list(TRANSFORM tables REPLACE "^${PROJECT_SOURCE_DIR}/" "")
  sardonyx_source_property(COMPILE_OPTIONS -O0 ${tables})
  sardonyx_test_program(${folder}_tests SOURCES ${sources} USES ${folder_USES} LINK ${folder_LINK})
  sardonyx_join_sources(${folder}_tests ${sources})
endfunction()

sardonyx_folder_tests(ir USES ir)
sardonyx_folder_tests(onnx_io USES onnx_io)
sardonyx_folder_tests(providers USES codecs providers provider_cpu provider_onednn ir)
sardonyx_folder_tests(executor EXCEPT batching serving USES executor ort_abi codecs)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/executor/batching/*_test.cpp ${PROJECT_SOURCE_DIR}/executor/serving/*_test.cpp)
sardonyx_test_program(serving_tests SOURCES ${sources} USES serving batching executor)
sardonyx_join_sources(serving_tests ${sources})
sardonyx_folder_tests(eager EXCEPT distributed USES eager executor)
sardonyx_folder_tests(models USES models eager executor)
if(SARDONYX_TOOLS AND TARGET models_tests)
  add_dependencies(models_tests ${SARDONYX_EXAMPLES})
endif()

# Tests of the programs link what the programs are made of, and may start the programs themselves.
set(tool_libraries "")
foreach(program IN LISTS SARDONYX_PROGRAMS)
  if(TARGET tool_${program})
    list(APPEND tool_libraries tool_${program})
  endif()
endforeach()
sardonyx_folder_tests(tools EXCEPT onnx-serve USES models eager executor tools LINK ${tool_libraries})

# Of the model server, where it is built; they start the program.
if(TARGET onnx-serve)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/onnx-serve/*_test.cpp)
  if(NOT grpc_FOUND)
    list(FILTER sources EXCLUDE REGEX "/onnx-serve/grpc/")
  endif()
  sardonyx_test_program(server_tests SOURCES ${sources} USES serving batching executor LINK tool_onnx-serve)
  if(TARGET server_tests)
    sardonyx_join_sources(server_tests ${sources})
    add_dependencies(server_tests onnx-serve)
  endif()
  # Clients in other languages, a browser, proxies and a short soak; with Debian's Python, whose packages they need.
  find_program(SARDONYX_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  set(missing 1)
  if(SARDONYX_SYSTEM_PYTHON AND grpc_FOUND)
    execute_process(COMMAND ${SARDONYX_SYSTEM_PYTHON} -c "import grpc, numpy, onnx"
      RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(missing EQUAL 0)
    foreach(name IN ITEMS clients_test page_test proxies_test random_clients soak)
      set(more "")
      if(name STREQUAL "soak" OR name STREQUAL "random_clients")
        set(more --seconds 20)
      endif()
      add_test(NAME server.${name}
        COMMAND ${SARDONYX_SYSTEM_PYTHON} ${PROJECT_SOURCE_DIR}/tests/serving/${name}.py --server $<TARGET_FILE:onnx-serve> ${more})
      set_tests_properties(server.${name} PROPERTIES TIMEOUT 1200)
    endforeach()
  else()
    message(STATUS "no python3-grpcio, -numpy and -onnx: the server is not driven from Python (./dev install-deps server-test)")
  endif()
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.cpp)
list(FILTER sources EXCLUDE REGEX "_(bench|fuzz)\\.cpp$")
list(FILTER sources EXCLUDE REGEX "/tests/(fuzz|faults|soak|package|support|ort_abi)/")
sardonyx_test_program(integration_tests SOURCES ${sources} USES models eager executor tools LINK tool_onnx-run)
list(FILTER sources INCLUDE REGEX "/tests/[^/]+/")  # those beside them use names of several layers
sardonyx_join_sources(integration_tests ${sources})

foreach(name IN ITEMS tools_tests integration_tests)
  if(TARGET ${name} AND SARDONYX_PROGRAMS)
    add_dependencies(${name} ${SARDONYX_PROGRAMS})
  endif()
endforeach()

set(sources "")
foreach(folder IN ITEMS ir onnx_io providers executor eager models tests)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*_bench.cpp)
  list(APPEND sources ${found})
endforeach()
if(sources)
  add_executable(benchmarks ${sources})
  sardonyx_target_defaults(benchmarks)
  set_target_properties(benchmarks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  sardonyx_existing(uses models eager ort_abi executor provider_cpu provider_onednn onnx_io ir)
  target_link_libraries(benchmarks PRIVATE ${uses} ${SARDONYX_LIBS_provider_cpu} ${CMAKE_DL_LIBS}
                                           benchmark::benchmark benchmark::benchmark_main)
endif()

# Faults on purpose: the program replaces operator new, and calls of these functions come to it first.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/faults/*.cpp)
sardonyx_test_program(fault_tests SOURCES ${sources} USES executor onnx_io)
foreach(name IN ITEMS aligned_alloc open openat fstat mmap fsync rename close pread write)
  target_link_options(fault_tests PRIVATE -Wl,--wrap=${name})
endforeach()

# `./dev soak`.
add_executable(soak ${PROJECT_SOURCE_DIR}/tests/soak/main.cpp)
# As in libsardonyx.so: Debian's shared library begins with an instruction that valgrind does not know on every CPU.
target_sources(soak PRIVATE ${PROJECT_SOURCE_DIR}/cmake/archives/highway.cpp)
sardonyx_target_defaults(soak)
set_target_properties(soak PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
target_link_libraries(soak PRIVATE sardonyx_executor Threads::Threads)
