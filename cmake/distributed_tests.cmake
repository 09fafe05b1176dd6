# The tests of eager/distributed: one program, whose every rank runs the same tests, by mpirun with 1 to 4 ranks; and
# launches in which ranks are killed and stopped.

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/eager/distributed/*_test.cpp)
add_executable(distributed_tests ${sources})
sardonyx_target_defaults(distributed_tests)
set_target_properties(distributed_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_compile_options(distributed_tests PRIVATE ${SARDONYX_LIGHT_OPTIONS})
target_link_libraries(distributed_tests PRIVATE
  sardonyx_test_support sardonyx_distributed GTest::gmock GTest::gtest GTest::gtest_main)
# Ranks may be more than cores, and containers have root alone.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpi_version ERROR_QUIET)
set(mpi_options "")
if(mpi_version MATCHES "Open MPI|OpenRTE")
  set(mpi_options --oversubscribe --allow-run-as-root --bind-to none)
endif()
foreach(ranks RANGE 1 4)
  add_test(NAME distributed_tests_${ranks}_ranks
    COMMAND ${MPIEXEC_EXECUTABLE} ${mpi_options} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:distributed_tests>
            --gtest_brief=1
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(distributed_tests_${ranks}_ranks PROPERTIES
    TIMEOUT 300 PROCESSORS ${ranks} ENVIRONMENT "SARDONYX_NUM_THREADS=1")
endforeach()
if(TARGET train_on_ranks)
  add_dependencies(distributed_tests train_on_ranks)
  list(JOIN mpi_options " " mpi_option_text)
  add_test(NAME distributed_launches
    COMMAND ${PROJECT_SOURCE_DIR}/eager/distributed/launches ${PROJECT_BINARY_DIR}/bin faults)
  set_tests_properties(distributed_launches PROPERTIES
    TIMEOUT 300 PROCESSORS 3 ENVIRONMENT "MPIEXEC=${MPIEXEC_EXECUTABLE} ${mpi_option_text}")
endif()
