# Libraries that libsardonyx.so is linked with from their sources: the distribution's archives of these are compiled for
# programs alone. SARDONYX_SOURCES is a folder with the unpacked source packages, which `./dev package` asks the
# distribution for. Each becomes a target that sardonyx_shared takes instead of the shared library; what else links the
# library, as all of our programs do, goes on with the distribution's.

# sardonyx_source_folder(result name): the one unpacked source package of that name.
function(sardonyx_source_folder result name)
  file(GLOB folders LIST_DIRECTORIES true ${SARDONYX_SOURCES}/${name}-*)
  list(FILTER folders EXCLUDE REGEX "\\.(dsc|xz|gz|bz2|asc)$")
  list(LENGTH folders count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "SARDONYX_SOURCES: expected one folder ${name}-VERSION in ${SARDONYX_SOURCES}, got ${count}")
  endif()
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

# sardonyx_from_sources(target includes sources...): an archive whose names stay in the library that takes it.
function(sardonyx_from_sources target includes)
  add_library(${target} STATIC ${ARGN})
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF)
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_compile_options(${target} PRIVATE -w -ffile-prefix-map=${SARDONYX_SOURCES}/= -ffunction-sections -fdata-sections)
  if(SARDONYX_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${SARDONYX_SANITIZE})
  endif()
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${includes})
endfunction()

if(SARDONYX_SOURCES)
  # Our schema is compiled with the distribution's headers.
  sardonyx_source_folder(protobuf protobuf)
  if(NOT protobuf MATCHES "-${Protobuf_VERSION}$")
    message(FATAL_ERROR "SARDONYX_SOURCES: expected protobuf-${Protobuf_VERSION} as installed, got ${protobuf}")
  endif()
  set(protobuf_SOURCE_DIR ${protobuf})
  file(STRINGS ${protobuf}/cmake/libprotobuf-lite.cmake protobuf_lines REGEX "/src/google/protobuf/.*\\.cc$")
  list(TRANSFORM protobuf_lines STRIP)
  string(CONFIGURE "${protobuf_lines}" protobuf_sources)
  sardonyx_from_sources(sardonyx_protobuf_lite ${protobuf}/src ${protobuf_sources})
  target_compile_definitions(sardonyx_protobuf_lite PRIVATE HAVE_PTHREAD)
  set(SARDONYX_BUILT_protobuf::libprotobuf-lite sardonyx_protobuf_lite)

  sardonyx_source_folder(re2 re2)
  file(GLOB re2_sources ${re2}/re2/*.cc)
  if(NOT EXISTS ${re2}/re2/unicode_groups.cc)
    message(FATAL_ERROR "SARDONYX_SOURCES: re2 has no tables: make REBUILD_TABLES=1 re2/perl_groups.cc "
      "re2/unicode_casefold.cc re2/unicode_groups.cc in ${re2}")
  endif()
  sardonyx_from_sources(sardonyx_re2 ${re2} ${re2_sources} ${re2}/util/rune.cc ${re2}/util/strutil.cc)
  set(SARDONYX_BUILT_PkgConfig::re2 sardonyx_re2)
endif()
