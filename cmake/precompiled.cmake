# Headers that most sources include, compiled once and not for each source. What gcc has compiled keeps its options, and
# hands them on to functions behind a pragma that changes the target: only sources with the very same options may share
# it. So a target with options of its own has headers of its own, and a source with such options has none. What is taken is
# read whole, a second for 100 MB: programs, which are few files each, read their headers' text faster.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(precompiled_default ${SARDONYX_JOINED_SOURCES})
else()
  set(precompiled_default OFF)
endif()
option(SARDONYX_PRECOMPILED_HEADERS "compile common headers once" ${precompiled_default})
# Tests ask more of the compiler's time than of the machine's; and of reading arguments and writing tables half of the
# compiler's work would be optimising what runs once.
set(SARDONYX_LIGHT_OPTIONS $<$<CONFIG:Release>:-O1>)
set(SARDONYX_PRECOMPILED_FOLDER ${PROJECT_SOURCE_DIR}/cmake/precompiled)

# Some libraries ask for -pthread, and headers that were compiled without it are not taken with it.
function(sardonyx_precompile target header)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-pthread>)
  target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${SARDONYX_PRECOMPILED_FOLDER}/${header}>)
endfunction()

if(SARDONYX_PRECOMPILED_HEADERS)
  add_library(sardonyx_precompiled OBJECT EXCLUDE_FROM_ALL ${SARDONYX_PRECOMPILED_FOLDER}/main.cpp)
  sardonyx_target_defaults(sardonyx_precompiled)
  sardonyx_precompile(sardonyx_precompiled standard.h)
  if(SARDONYX_TESTS)
    find_package(GTest REQUIRED)
    add_executable(sardonyx_precompiled_tests EXCLUDE_FROM_ALL ${SARDONYX_PRECOMPILED_FOLDER}/main.cpp)
    sardonyx_target_defaults(sardonyx_precompiled_tests)
    target_compile_options(sardonyx_precompiled_tests PRIVATE ${SARDONYX_LIGHT_OPTIONS})
    target_link_libraries(sardonyx_precompiled_tests PRIVATE GTest::gmock GTest::gtest)
    sardonyx_precompile(sardonyx_precompiled_tests tests.h)
  endif()
endif()

# sardonyx_use_precompiled(target [OWN header]): libraries of the default options, test programs, and with OWN others.
function(sardonyx_use_precompiled target)
  if(NOT SARDONYX_PRECOMPILED_HEADERS)
    return()
  endif()
  cmake_parse_arguments(use "" "OWN" "" ${ARGN})
  if(use_OWN)
    sardonyx_precompile(${target} ${use_OWN})
    return()
  endif()
  set(headers sardonyx_precompiled)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set(headers sardonyx_precompiled_tests)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-pthread>)
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()
