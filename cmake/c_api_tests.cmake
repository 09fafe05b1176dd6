# The C interface, from C, against the shared library alone. The model is made by our own program.
if(TARGET sardonyx_shared AND TARGET make-models)
  add_executable(c_api_test ${PROJECT_SOURCE_DIR}/tests/c_api/c_api_test.c)
  set_target_properties(c_api_test PROPERTIES
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_compile_options(c_api_test PRIVATE -Wall -Wextra -pedantic -Werror)
  target_link_libraries(c_api_test PRIVATE sardonyx_shared m)
  set(models ${PROJECT_BINARY_DIR}/c_api)
  add_test(NAME c_api.model COMMAND make-models --out ${models} lenet)
  set_tests_properties(c_api.model PROPERTIES FIXTURES_SETUP c_api_model)
  add_test(NAME c_api COMMAND c_api_test ${models}/lenet.onnx)
  set_tests_properties(c_api PROPERTIES FIXTURES_REQUIRED c_api_model TIMEOUT 300)
  add_test(NAME c_api.exports
    COMMAND ${PROJECT_SOURCE_DIR}/tests/c_api/check_exports $<TARGET_FILE:sardonyx_shared>)
endif()
