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
set(SARDONYX_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
set(SARDONYX_PROGRAM_OPTIONS $<$<CONFIG:Release>:-O1>)
set(SARDONYX_PRECOMPILED_FOLDER ${PROJECT_SOURCE_DIR}/cmake/precompiled)

# Some libraries ask for -pthread, and headers that were compiled without it are not taken with it.
function(sardonyx_precompile target header)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-pthread>)
  target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${SARDONYX_PRECOMPILED_FOLDER}/${header}>)
endfunction()

# sardonyx_precompile_shared(target header OPTIONS options... LINK third-party targets...): `target` compiles the header for
# those that reuse it.
macro(sardonyx_precompile_shared target header)
  cmake_parse_arguments(shared "" "" "OPTIONS;LINK" ${ARGN})
  sardonyx_target_defaults(${target})
  target_compile_options(${target} PRIVATE ${shared_OPTIONS})
  target_link_libraries(${target} PRIVATE ${shared_LINK})
  sardonyx_precompile(${target} ${header})
endmacro()

if(SARDONYX_PRECOMPILED_HEADERS)
  set(main ${SARDONYX_PRECOMPILED_FOLDER}/main.cpp)
  add_library(sardonyx_precompiled OBJECT EXCLUDE_FROM_ALL ${main})
  sardonyx_precompile_shared(sardonyx_precompiled standard.h)
  if(SARDONYX_TESTS)
    find_package(GTest REQUIRED)
    add_executable(sardonyx_precompiled_tests EXCLUDE_FROM_ALL ${main})
    sardonyx_precompile_shared(sardonyx_precompiled_tests tests.h
      OPTIONS ${SARDONYX_TEST_OPTIONS} LINK GTest::gmock GTest::gtest)
  endif()
endif()

# sardonyx_use_precompiled(target [OWN header | TESTS]): libraries of the default options, libraries of others, and tests.
function(sardonyx_use_precompiled target)
  if(NOT SARDONYX_PRECOMPILED_HEADERS)
    return()
  endif()
  cmake_parse_arguments(use "TESTS" "OWN" "" ${ARGN})
  if(use_OWN)
    sardonyx_precompile(${target} ${use_OWN})
    return()
  endif()
  set(headers sardonyx_precompiled)
  if(use_TESTS)
    set(headers sardonyx_precompiled_tests)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-pthread>)
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()
