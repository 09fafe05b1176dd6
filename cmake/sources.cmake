# How source files are found, grouped and given options of their own.

# Sources of a layer are its .cpp files except tests, benchmarks and fuzz targets, which stand beside them.
# `mode` is GLOB_RECURSE, or GLOB for the folder itself without its sub-folders.
function(sardonyx_glob result mode folder)
  file(${mode} found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER found EXCLUDE REGEX "_(test|bench|fuzz)\\.cpp$")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# sardonyx_source_property(PROPERTY value files...): for files by name. Results may depend on such options, so a file
# that is not there (renamed, perhaps) is an error and not passed over.
function(sardonyx_source_property property value)
  foreach(source IN LISTS ARGN)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${source})
      message(FATAL_ERROR "${property} is set for ${source}, which does not exist")
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY ${property} ${value})
  endforeach()
endfunction()

# Lets the compiler take several sources of `target` at a time: half of its work on one of our files is the same as on the
# next (standard headers, the graph's types, instances of their templates). A group has files of one folder, chosen by a
# digest of the name, so that a new file disturbs no group but its own. Files that Highway compiles once for each set of
# instructions include themselves and stay alone; so do files with options of their own (by CMake).
# Sources that use a library whose headers take the compiler longer than their own text are grouped by that library, in
# larger groups.
option(SARDONYX_JOINED_SOURCES "compile several source files at a time" ON)
set(SARDONYX_GROUP_SIZE 6)  # files, on average
set(SARDONYX_COSTLY_LIBRARIES "CLI|nlohmann")  # folders of their headers
set(SARDONYX_COSTLY_GROUP_SIZE 12)
function(sardonyx_join_sources target)
  if(NOT SARDONYX_JOINED_SOURCES OR NOT TARGET ${target})
    return()
  endif()
  set(folders "")
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} by_target REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(by_target)
      set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    file(STRINGS ${source} costly REGEX "^#include <(${SARDONYX_COSTLY_LIBRARIES})/" LIMIT_COUNT 1)
    if(costly)
      string(REGEX REPLACE "^#include <([^/]*)/.*" "\\1" folder "${costly}")
    else()
      get_filename_component(folder ${source} DIRECTORY)
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    endif()
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(APPEND folders ${folder})
    list(APPEND files_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH files_${folder} count)
    set(average ${SARDONYX_GROUP_SIZE})
    if(folder MATCHES "^(${SARDONYX_COSTLY_LIBRARIES})$")
      set(average ${SARDONYX_COSTLY_GROUP_SIZE})
    endif()
    math(EXPR groups "(${count} + ${average} - 1) / ${average}")
    set(size 1)  # a power of two: as the folder grows, groups are split rather than shuffled
    while(size LESS groups)
      math(EXPR size "${size} * 2")
    endwhile()
    foreach(source IN LISTS files_${folder})
      get_filename_component(name ${source} NAME)
      string(MD5 digest ${name})
      string(SUBSTRING ${digest} 0 4 digest)
      math(EXPR group "0x${digest} % ${size}")
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder}_${group})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class that holds what one file alone sees is in order there; gcc takes the file for a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
