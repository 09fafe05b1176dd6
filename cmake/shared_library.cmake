# libsardonyx.so: everything up to the executor, which exports the C API alone. Other libraries are linked into it from
# their archives and hidden, so that a program's own copies of them are never called by ours, nor ours by the program.
# Needs shared_objects and shared_needs (install.cmake).

set(SARDONYX_SOURCES "" CACHE PATH
  "folder with the unpacked sources of protobuf and re2, linked into libsardonyx.so instead of their shared libraries")
include(cmake/from_sources.cmake)

set(archive_stdio ${PROJECT_SOURCE_DIR}/cmake/archives/stdio.c)
set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)

# Can all of an archive be linked into a shared library? Many are compiled for programs alone.
function(sardonyx_check_archive result archive)
  if(DEFINED ${result})
    return()
  endif()
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} -shared -fPIC ${archive_stdio} -Wl,--whole-archive ${archive} -Wl,--no-whole-archive
            -Wl,--version-script=${exports} -o ${PROJECT_BINARY_DIR}/archive_check.so
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  file(REMOVE ${PROJECT_BINARY_DIR}/archive_check.so)
  if(status EQUAL 0)
    set(${result} TRUE CACHE INTERNAL "")
  else()
    set(${result} FALSE CACHE INTERNAL "")
  endif()
endfunction()

# sardonyx_archives(result target names...): the archives that stand for `target`, or `target` itself where one of them
# is missing or can't be used.
function(sardonyx_archives result target)
  set(archives "")
  foreach(name IN LISTS ARGN)
    find_library(SARDONYX_ARCHIVE_${name} NAMES lib${name}.a)
    mark_as_advanced(SARDONYX_ARCHIVE_${name})
    set(archive ${SARDONYX_ARCHIVE_${name}})
    if(archive)
      sardonyx_check_archive(SARDONYX_LINKS_${name} ${archive})
    endif()
    if(NOT archive OR NOT SARDONYX_LINKS_${name})
      message(STATUS "libsardonyx.so needs the shared library of ${target}: lib${name}.a is missing or for programs only")
      set(${result} ${target} PARENT_SCOPE)
      return()
    endif()
    list(APPEND archives ${archive})
  endforeach()
  set(${result} "${archives}" PARENT_SCOPE)
endfunction()

set(SARDONYX_ARCHIVES_ZLIB::ZLIB z)
set(SARDONYX_ARCHIVES_JPEG::JPEG jpeg)
set(SARDONYX_ARCHIVES_PkgConfig::openjp2 openjp2)
set(SARDONYX_ARCHIVES_PNG::PNG png16 z)
set(SARDONYX_ARCHIVES_TIFF::TIFF tiff webp zstd lzma deflate jbig jpeg z)
set(SARDONYX_ARCHIVES_PkgConfig::webp webp)
set(SARDONYX_ARCHIVES_PkgConfig::re2 re2)
set(SARDONYX_ARCHIVES_PkgConfig::utf8proc utf8proc)
set(SARDONYX_ARCHIVES_PkgConfig::xxhash xxhash)
set(SARDONYX_ARCHIVES_protobuf::libprotobuf-lite protobuf-lite)

set(shared_libs "")
foreach(library IN LISTS shared_needs)
  if(library STREQUAL "hwy::hwy")
    continue()  # what there is in its library we have ourselves: archives/highway.cpp
  elseif(SARDONYX_BUILT_${library})
    list(APPEND shared_libs ${SARDONYX_BUILT_${library}})
  elseif(SARDONYX_ARCHIVES_${library})
    sardonyx_archives(linked ${library} ${SARDONYX_ARCHIVES_${library}})
    list(APPEND shared_libs ${linked})
  else()
    list(APPEND shared_libs ${library})
  endif()
endforeach()

file(GLOB stand_ins CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/archives/*)
add_library(sardonyx_shared SHARED ${shared_objects} ${stand_ins})
add_dependencies(runtime sardonyx_shared)
set_target_properties(sardonyx_shared PROPERTIES
  OUTPUT_NAME sardonyx VERSION ${PROJECT_VERSION} SOVERSION ${SARDONYX_ABI}
  LINKER_LANGUAGE CXX LINK_DEPENDS ${exports})
target_link_libraries(sardonyx_shared PRIVATE sardonyx_flags ${shared_libs})
target_link_options(sardonyx_shared PRIVATE
  -Wl,--version-script=${exports} -Wl,--exclude-libs,ALL -Wl,--no-undefined -Wl,--gc-sections
  # Threads of the pool may still run, and destructors of thread-local variables are still to come, when a program
  # closes its last handle: the code stays, and is there when it is opened anew.
  -Wl,-z,nodelete)
if(NOT SARDONYX_SANITIZE)
  target_link_options(sardonyx_shared PRIVATE -static-libgcc $<$<CONFIG:Release>:-Wl,-s>)
endif()
