# How source files are found, grouped and given options of their own.

# Sources of a layer are its .cpp files except tests, benchmarks and fuzz targets, which stand beside them.
# `mode` is GLOB_RECURSE, or GLOB for the folder itself without its sub-folders.
function(sardonyx_glob result mode folder)
  file(${mode} found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER found EXCLUDE REGEX "_(test|bench|fuzz)\\.cpp$")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# sardonyx_source_property(PROPERTY value files...): for files by name, relative to the project. Results may depend on
# such options, so a file that is not there (renamed, perhaps) is an error and not passed over; and headers that others
# have compiled with their options are not taken.
function(sardonyx_source_property property value)
  foreach(source IN LISTS ARGN)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${source})
      message(FATAL_ERROR "${property} is set for ${source}, which does not exist")
    endif()
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/${source} APPEND PROPERTY ${property} ${value})
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# Lets the compiler take several sources of `target` at a time: most of its work on one of our files is the same as on the
# next (standard headers, the graph's types, instances of their templates). A group has neighbours in the order of paths,
# so files of one family. It ends before a file whose name's digest says so: a new file disturbs no group but its own.
# Files that Highway compiles once for each set of instructions include themselves and stay alone; so do files with
# options of their own (by CMake). Sources that use a library whose headers take the compiler longer than their own text
# are grouped by that library.
option(SARDONYX_JOINED_SOURCES "compile several source files at a time" ON)
set(SARDONYX_GROUP_LEAST 10)  # files
set(SARDONYX_GROUP_MOST 24)
set(SARDONYX_COSTLY_LIBRARIES CLI nlohmann)  # folders of their headers
function(sardonyx_join_sources target)
  if(NOT SARDONYX_JOINED_SOURCES OR NOT TARGET ${target})
    return()
  endif()
  list(JOIN SARDONYX_COSTLY_LIBRARIES "|" costly_libraries)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} by_target REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(by_target)
      set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    set(library own)
    file(STRINGS ${source} costly REGEX "^#include <(${costly_libraries})/" LIMIT_COUNT 1)
    if(costly)
      string(REGEX REPLACE "^#include <([^/]*)/.*" "\\1" library "${costly}")
    endif()
    list(APPEND files_${library} ${source})
  endforeach()
  foreach(library IN ITEMS own ${SARDONYX_COSTLY_LIBRARIES})
    sardonyx_group_sources(${files_${library}})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class that holds what one file alone sees is in order there; gcc takes the file for a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# sardonyx_group_sources(files...): in the order of their paths; a group has the name of its first file.
function(sardonyx_group_sources)
  set(count 0)
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    string(MD5 digest ${name})
    string(SUBSTRING ${digest} 0 1 digest)
    if(count EQUAL 0 OR count EQUAL SARDONYX_GROUP_MOST OR (count GREATER_EQUAL SARDONYX_GROUP_LEAST AND digest MATCHES "[0-3]"))
      string(MAKE_C_IDENTIFIER ${name} group)
      set(count 0)
    endif()
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
    math(EXPR count "${count} + 1")
  endforeach()
endfunction()
