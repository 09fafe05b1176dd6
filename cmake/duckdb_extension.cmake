# sardonyx.duckdb_extension: the runtime as functions of DuckDB (tools/duckdb), on libsardonyx.so beside it. Built against
# nothing of DuckDB's: its interface is a table of functions that LOAD hands over.

set(duckdb_platform linux_amd64)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(duckdb_platform linux_arm64)
endif()

# sardonyx_duckdb_extension(name version sources...): <build>/duckdb/NAME.duckdb_extension
function(sardonyx_duckdb_extension name version)
  add_library(duckdb_${name} MODULE ${ARGN})
  sardonyx_target_defaults(duckdb_${name})
  target_link_options(duckdb_${name} PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL)
  set(output ${PROJECT_BINARY_DIR}/duckdb/${name}.duckdb_extension)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/duckdb
    COMMAND ${PROJECT_SOURCE_DIR}/tools/duckdb/append_footer $<TARGET_FILE:duckdb_${name}> ${output} ${duckdb_platform}
            ${version}
    DEPENDS duckdb_${name} ${PROJECT_SOURCE_DIR}/tools/duckdb/append_footer VERBATIM)
  add_custom_target(duckdb_${name}_extension ALL DEPENDS ${output})
endfunction()

set(duckdb ${PROJECT_SOURCE_DIR}/tools/duckdb)
sardonyx_duckdb_extension(sardonyx v${PROJECT_VERSION} ${duckdb}/extension.cpp ${duckdb}/model.cpp ${duckdb}/vectors.cpp
  ${PROJECT_SOURCE_DIR}/ir/core/small_float.cpp)
target_link_libraries(duckdb_sardonyx PRIVATE sardonyx_shared)
# libsardonyx.so is in the folder above, or beside it.
set_target_properties(duckdb_sardonyx PROPERTIES
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..;$ORIGIN")
install(FILES ${PROJECT_BINARY_DIR}/duckdb/sardonyx.duckdb_extension
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/sardonyx COMPONENT duckdb OPTIONAL)
if(SARDONYX_TESTS)
  # Compares the places in the table with the library's own functions.
  sardonyx_duckdb_extension(api_check v1 ${duckdb}/api_check.cpp)
  target_link_libraries(duckdb_api_check PRIVATE ${CMAKE_DL_LIBS})
  # Queries, where SARDONYX_DUCKDB names DuckDB's library.
  find_program(SARDONYX_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  if(SARDONYX_SYSTEM_PYTHON)
    add_test(NAME duckdb.extension
      COMMAND ${SARDONYX_SYSTEM_PYTHON} ${PROJECT_SOURCE_DIR}/tests/duckdb/extension_test.py
              ${PROJECT_BINARY_DIR}/duckdb/sardonyx.duckdb_extension)
    set_tests_properties(duckdb.extension PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
  endif()
endif()
