# One static library per layer. Sources are found, not listed: a new file needs no edit here.

# Flags that every target of ours is compiled with.
add_library(sardonyx_flags INTERFACE)
target_compile_features(sardonyx_flags INTERFACE cxx_std_20)
target_include_directories(sardonyx_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(sardonyx_flags INTERFACE SARDONYX_VERSION="${PROJECT_VERSION}")
target_compile_options(sardonyx_flags INTERFACE
  -Wall -Wextra
  # Tables are written with designated initialisers; what they leave out is meant to be the default.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees overlaps in plain std::string concatenation (gcc bug 105651), and uninitialised
  # members in moves of std::variant and std::optional (gcc bug 105562).
  target_compile_options(sardonyx_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized
    # At -O2 it also sees writes past the end of vectors that grow (gcc bug 107852).
    $<$<CONFIG:Release>:-Wno-array-bounds> $<$<CONFIG:Release>:-Wno-stringop-overflow>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Most files are compiled before gcc would collect its garbage for the first time.
  target_compile_options(sardonyx_flags INTERFACE
    "SHELL:--param ggc-min-heapsize=500000" "SHELL:--param ggc-min-expand=60")
endif()
# Checks and op rows name their source file: as seen from the tree, wherever it was built, and also where a compiler
# cache hands the compiler a path relative to the build folder.
file(RELATIVE_PATH SARDONYX_SOURCE_FROM_BUILD ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
string(REGEX REPLACE "/$" "" SARDONYX_SOURCE_FROM_BUILD "${SARDONYX_SOURCE_FROM_BUILD}")
target_compile_options(sardonyx_flags INTERFACE
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${PROJECT_BINARY_DIR}/=
  -ffile-prefix-map=${SARDONYX_SOURCE_FROM_BUILD}/=)
if(SARDONYX_WERROR)
  target_compile_options(sardonyx_flags INTERFACE -Werror)
endif()
target_link_options(sardonyx_flags INTERFACE -Wl,--as-needed)
set(SARDONYX_SANITIZE_OPTIONS -fsanitize=${SARDONYX_SANITIZE})
if(SARDONYX_SANITIZE STREQUAL "thread")
  # Headers of protobuf and gRPC give classes other members where they see the sanitizer than the libraries have, which are
  # built without it. The standard library's and our own still see it.
  list(APPEND SARDONYX_SANITIZE_OPTIONS -U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1 -DSARDONYX_THREAD_SANITIZER=1)
endif()
if(SARDONYX_SANITIZE)
  target_compile_options(sardonyx_flags INTERFACE
    ${SARDONYX_SANITIZE_OPTIONS} -fno-sanitize-recover=all
    # Instrumentation hides initialisations from gcc's flow analysis.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(sardonyx_flags INTERFACE -fsanitize=${SARDONYX_SANITIZE})
endif()
if(SARDONYX_COVERAGE)
  target_link_options(sardonyx_flags INTERFACE --coverage)
endif()

# Everything that a user runs or links, without the tests.
add_custom_target(programs)
# What a user of models needs: onnx-run and the shared library, without eager, models and training.
add_custom_target(runtime)

function(sardonyx_target_defaults target)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE sardonyx_flags)
endfunction()

# The names of the layers in `names` that have sources by now, as targets.
function(sardonyx_existing result)
  set(targets "")
  foreach(name IN LISTS ARGN)
    if(TARGET sardonyx_${name})
      list(APPEND targets sardonyx_${name})
    endif()
  endforeach()
  set(${result} "${targets}" PARENT_SCOPE)
endfunction()

# Those of `sources` that SARDONYX_COVERAGE names are compiled as they are written and count their branches.
function(sardonyx_coverage sources)
  if(NOT SARDONYX_COVERAGE)
    return()
  endif()
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    if(path MATCHES "^(${SARDONYX_COVERAGE})$")
      sardonyx_source_property(COMPILE_OPTIONS "--coverage;-fprofile-update=atomic;-O0" ${path})
    endif()
  endforeach()
endfunction()

# Compiles folder/*.proto once, apart from our flags, and makes the headers visible to this layer alone.
function(sardonyx_proto name folder)
  file(GLOB protos CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.proto)
  if(NOT protos)
    return()
  endif()
  set(generated ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated})
  set(outputs "")
  foreach(proto IN LISTS protos)
    get_filename_component(stem ${proto} NAME_WLE)
    set(base ${generated}/${folder}/${stem}.pb)
    add_custom_command(
      OUTPUT ${base}.cc ${base}.h
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated} ${proto}
      DEPENDS ${proto}
      COMMENT "protoc ${folder}/${stem}.proto"
      VERBATIM)
    list(APPEND outputs ${base}.cc ${base}.h)
  endforeach()
  add_library(sardonyx_${name}_schema OBJECT ${outputs})
  set_target_properties(sardonyx_${name}_schema PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(sardonyx_${name}_schema PRIVATE cxx_std_20)
  target_compile_options(sardonyx_${name}_schema PRIVATE -w -ffile-prefix-map=${PROJECT_BINARY_DIR}/=)
  if(SARDONYX_SANITIZE)
    target_compile_options(sardonyx_${name}_schema PRIVATE ${SARDONYX_SANITIZE_OPTIONS})
  endif()
  target_include_directories(sardonyx_${name}_schema SYSTEM PRIVATE ${generated})
  target_link_libraries(sardonyx_${name}_schema PRIVATE protobuf::libprotobuf-lite)
  set(SARDONYX_SCHEMA_DIR_${name} ${generated} PARENT_SCOPE)
endfunction()

# sardonyx_layer(name folder [USES layers...] [LIBS third-party targets...] [PROTO] [FLAT] [OWN_OPTIONS header] [INTERNAL]
#                [EXCEPT sub-folders...])
# PROTO: the folder has a schema. FLAT: its sub-folders are layers of their own. EXCEPT: these are. OWN_OPTIONS: it is
# given compile options of its own, and precompiles this header. INTERNAL: only what links it has it built.
function(sardonyx_layer name folder)
  cmake_parse_arguments(layer "PROTO;FLAT;INTERNAL" "OWN_OPTIONS" "USES;LIBS;EXCEPT" ${ARGN})
  set(SARDONYX_LIBS_${name} "${layer_LIBS}" PARENT_SCOPE)
  if(layer_PROTO)
    sardonyx_proto(${name} ${folder})
    set(SARDONYX_SCHEMA_DIR_${name} "${SARDONYX_SCHEMA_DIR_${name}}" PARENT_SCOPE)
  endif()
  if(layer_FLAT)
    sardonyx_glob(sources GLOB ${folder})
  else()
    sardonyx_glob(sources GLOB_RECURSE ${folder})
  endif()
  foreach(inner IN LISTS layer_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${folder}/${inner}/")
  endforeach()
  if(NOT sources)
    return()
  endif()
  sardonyx_coverage("${sources}")
  set(target sardonyx_${name})
  add_library(${target} STATIC ${sources})
  sardonyx_target_defaults(${target})
  sardonyx_join_sources(${target} ${sources})
  set(own "")
  if(layer_OWN_OPTIONS)
    set(own OWN ${layer_OWN_OPTIONS})
  endif()
  sardonyx_use_precompiled(${target} ${own})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  sardonyx_existing(uses ${layer_USES})
  target_link_libraries(${target} PUBLIC ${uses} PRIVATE ${layer_LIBS})
  if(TARGET sardonyx_${name}_schema)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:sardonyx_${name}_schema>)
    target_include_directories(${target} SYSTEM PRIVATE ${SARDONYX_SCHEMA_DIR_${name}})
    add_dependencies(${target} sardonyx_${name}_schema)
  endif()
  if(NOT layer_INTERNAL)
    add_dependencies(programs ${target})
  endif()
endfunction()

# Adds to a layer what knows the digest of the sources of ir and of the providers.
function(sardonyx_source_digest name)
  set(folders "")
  foreach(folder IN ITEMS ir providers)
    list(APPEND folders ${PROJECT_SOURCE_DIR}/${folder}/*.h ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folders})
  set(output ${PROJECT_BINARY_DIR}/generated/source_digest.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/source_digest.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D OUTPUT=${output} -P ${script}
    DEPENDS ${sources} ${script}
    COMMENT "digest of the sources"
    VERBATIM)
  target_sources(sardonyx_${name} PRIVATE ${output})
  set_property(SOURCE ${output} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(sardonyx_program_defaults target)
  sardonyx_target_defaults(${target})
  target_compile_options(${target} PRIVATE ${SARDONYX_LIGHT_OPTIONS})
endfunction()

# sardonyx_tools(folder USES layers... RUNTIME programs... RUNTIME_USES layers... DEVELOPER programs...
#                LIBS third-party targets... EXCEPT programs...)
# Those in RUNTIME use RUNTIME_USES alone, and are built with the runtime (`./dev build runtime`). Those in DEVELOPER write
# sources of this tree: they are built with the tests and never installed.
# Each folder of tools/ is one program of that name in <build>/bin. All but its main.cpp forms a library,
# tool_<name>, which the tests link as well.
function(sardonyx_tools folder)
  cmake_parse_arguments(tool "" "" "USES;RUNTIME;RUNTIME_USES;DEVELOPER;LIBS;EXCEPT" ${ARGN})
  find_package(CLI11 REQUIRED CONFIG)
  find_package(nlohmann_json REQUIRED CONFIG)
  sardonyx_existing(all_uses ${tool_USES})
  sardonyx_existing(runtime_uses ${tool_RUNTIME_USES})
  file(GLOB folders LIST_DIRECTORIES true CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*)
  set(programs "")
  foreach(path IN LISTS folders)
    get_filename_component(name ${path} NAME)
    sardonyx_glob(sources GLOB_RECURSE ${folder}/${name})
    if(NOT EXISTS ${path}/main.cpp OR name IN_LIST tool_EXCEPT)
      continue()
    endif()
    list(REMOVE_ITEM sources ${path}/main.cpp)
    set(uses ${all_uses})
    if(name IN_LIST tool_RUNTIME)
      set(uses ${runtime_uses})
    endif()
    add_executable(${name} ${path}/main.cpp)
    sardonyx_program_defaults(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    if(sources)
      add_library(tool_${name} STATIC ${sources})
      sardonyx_program_defaults(tool_${name})
      sardonyx_join_sources(tool_${name} ${sources})
      target_link_libraries(tool_${name} PUBLIC ${uses} ${tool_LIBS})
      target_link_libraries(${name} PRIVATE tool_${name})
    endif()
    target_link_libraries(${name} PRIVATE ${uses} ${tool_LIBS})
    if(name IN_LIST tool_RUNTIME)
      add_dependencies(runtime ${name})
    endif()
    if(NOT name IN_LIST tool_DEVELOPER)
      add_dependencies(programs ${name})
      list(APPEND programs ${name})
    endif()
  endforeach()
  set(SARDONYX_PROGRAMS "${programs}" PARENT_SCOPE)
  set(SARDONYX_LIBS_tools "${tool_LIBS}" PARENT_SCOPE)
endfunction()

# sardonyx_program_folder(folder names libraries...): each file of the folder is one program of that name in
# <build>/bin/examples; `names` is set to theirs.
function(sardonyx_program_folder folder names)
  sardonyx_glob(sources GLOB ${folder})
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    sardonyx_program_defaults(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/examples)
    target_link_libraries(${name} PRIVATE ${ARGN})
    add_dependencies(programs ${name})
    list(APPEND made ${name})
  endforeach()
  set(${names} "${made}" PARENT_SCOPE)
endfunction()

# The examples, which tests run as they are.
function(sardonyx_examples folder)
  cmake_parse_arguments(example "" "" "USES" ${ARGN})
  sardonyx_existing(uses ${example_USES})
  sardonyx_program_folder(${folder} examples ${uses})
  set(SARDONYX_EXAMPLES "${examples}" PARENT_SCOPE)
endfunction()
