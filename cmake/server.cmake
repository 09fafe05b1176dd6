# onnx-serve, the model server. AUTO builds it where its packages are there (`./dev install-deps server`); nothing of it
# is linked into the libraries.

set(SARDONYX_SERVER AUTO CACHE STRING "build onnx-serve: AUTO, ON or OFF")
set_property(CACHE SARDONYX_SERVER PROPERTY STRINGS AUTO ON OFF)
if(SARDONYX_SERVER STREQUAL "OFF")
  return()
endif()

set(server_look_up QUIET)
if(SARDONYX_SERVER STREQUAL "ON")
  set(server_look_up REQUIRED)
endif()
find_package(Boost 1.81 CONFIG ${server_look_up})
find_package(OpenSSL ${server_look_up})
find_package(simdjson CONFIG ${server_look_up})
find_package(PkgConfig REQUIRED)
pkg_check_modules(prometheus IMPORTED_TARGET ${server_look_up} prometheus-cpp-core)
if(NOT (Boost_FOUND AND OpenSSL_FOUND AND simdjson_FOUND AND prometheus_FOUND))
  message(STATUS "onnx-serve is not built: ./dev install-deps server installs what it needs")
  return()
endif()

# gRPC is a front of its own, which is left out where its packages are missing.
pkg_check_modules(grpc IMPORTED_TARGET QUIET grpc++)
find_library(GRPC_REFLECTION grpc++_reflection)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
mark_as_advanced(GRPC_REFLECTION GRPC_CPP_PLUGIN)

sardonyx_glob(sources GLOB_RECURSE tools/onnx-serve)
set(main ${PROJECT_SOURCE_DIR}/tools/onnx-serve/main.cpp)
list(REMOVE_ITEM sources ${main})
if(NOT grpc_FOUND OR NOT GRPC_REFLECTION OR NOT GRPC_CPP_PLUGIN)
  message(STATUS "onnx-serve is built without gRPC")
  list(FILTER sources EXCLUDE REGEX "/onnx-serve/grpc/")
  set(grpc_FOUND FALSE)
endif()
add_library(tool_onnx-serve STATIC ${sources})
sardonyx_target_defaults(tool_onnx-serve)
sardonyx_join_sources(tool_onnx-serve ${sources})
sardonyx_use_precompiled(tool_onnx-serve)
target_include_directories(tool_onnx-serve SYSTEM PRIVATE ${SARDONYX_SCHEMA_DIR_serving})
# Everything of Boost is headers; what asks for its compiled parts, or links them by itself, is a mistake.
target_compile_definitions(tool_onnx-serve PUBLIC BOOST_ALL_NO_LIB BOOST_ERROR_CODE_HEADER_ONLY)
target_link_libraries(tool_onnx-serve PUBLIC
  sardonyx_serving sardonyx_batching sardonyx_executor Boost::headers OpenSSL::SSL OpenSSL::Crypto simdjson::simdjson PkgConfig::prometheus
  ZLIB::ZLIB CLI11::CLI11 nlohmann_json::nlohmann_json Threads::Threads)
add_executable(onnx-serve ${main})
sardonyx_target_defaults(onnx-serve)
if(SARDONYX_SANITIZE STREQUAL "thread")
  # Asio's fences, which the sanitizer does not know, stand between threads that a mutex orders as well.
  target_compile_options(tool_onnx-serve PUBLIC -Wno-tsan)
endif()
set_target_properties(onnx-serve PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
target_link_libraries(onnx-serve PRIVATE tool_onnx-serve)
# On its own: gRPC's and protobuf's headers take a sixth of a build that others need not wait for.
add_custom_target(server DEPENDS onnx-serve)
install(TARGETS onnx-serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server OPTIONAL)

if(grpc_FOUND)
  set(base tools/onnx-serve/grpc/inference_service)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  set(outputs ${generated}/${base}.pb.cc ${generated}/${base}.pb.h
              ${generated}/${base}.grpc.pb.cc ${generated}/${base}.grpc.pb.h)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated} --grpc_out=${generated}
            --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${PROJECT_SOURCE_DIR}/${base}.proto
    DEPENDS ${PROJECT_SOURCE_DIR}/${base}.proto ${PROJECT_SOURCE_DIR}/executor/serving/model_config.proto
    COMMENT "protoc ${base}.proto"
    VERBATIM)
  add_library(sardonyx_grpc_schema OBJECT ${outputs})
  set_target_properties(sardonyx_grpc_schema PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(sardonyx_grpc_schema PRIVATE cxx_std_20)
  target_compile_options(sardonyx_grpc_schema PRIVATE -w)
  if(SARDONYX_SANITIZE)
    target_compile_options(sardonyx_grpc_schema PRIVATE ${SARDONYX_SANITIZE_OPTIONS})
  endif()
  target_include_directories(sardonyx_grpc_schema SYSTEM PRIVATE ${generated})
  target_link_libraries(sardonyx_grpc_schema PRIVATE protobuf::libprotobuf PkgConfig::grpc)
  add_dependencies(sardonyx_grpc_schema sardonyx_serving_schema)
  target_sources(tool_onnx-serve PRIVATE $<TARGET_OBJECTS:sardonyx_grpc_schema>)
  add_dependencies(tool_onnx-serve sardonyx_grpc_schema)
  target_compile_definitions(tool_onnx-serve PUBLIC SARDONYX_GRPC)
  target_link_libraries(tool_onnx-serve PUBLIC PkgConfig::grpc ${GRPC_REFLECTION})
endif()
