# What is installed:
#   libsardonyx.so         exports the C API alone (sx_*)                        sardonyx::c, sardonyx.pc
#   libsardonyx.a          everything up to the executor, for C++ and C          sardonyx::runtime
#   libsardonyx_eager.a    the eager layer on top of it                          sardonyx::eager
#   include/sardonyx/      the headers that users include
#   include/sardonyx/layers/   what these forward to

set(SARDONYX_ABI 0)

set(runtime_layers ir onnx_io provider_cpu provider_onednn providers executor)
sardonyx_existing(runtime_targets ${runtime_layers})
set(runtime_libs "")
set(runtime_objects "")
foreach(layer IN LISTS runtime_layers)
  list(APPEND runtime_libs ${SARDONYX_LIBS_${layer}})
  if(TARGET sardonyx_${layer})
    list(APPEND runtime_objects $<TARGET_OBJECTS:sardonyx_${layer}>)
  endif()
  if(TARGET sardonyx_${layer}_schema)
    list(APPEND runtime_objects $<TARGET_OBJECTS:sardonyx_${layer}_schema>)
  endif()
endforeach()
list(REMOVE_DUPLICATES runtime_libs)
list(REMOVE_ITEM runtime_libs oneDNN::headers)

# The executor is linked whole: nothing refers to the functions of the C API from inside.
file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
add_library(sardonyx_shared SHARED ${PROJECT_BINARY_DIR}/empty.cpp)
target_link_libraries(sardonyx_shared PRIVATE
  sardonyx_flags "$<LINK_LIBRARY:WHOLE_ARCHIVE,sardonyx_executor>")
set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_options(sardonyx_shared PRIVATE -Wl,--version-script=${exports} -Wl,--no-undefined)
set_target_properties(sardonyx_shared PROPERTIES
  OUTPUT_NAME sardonyx VERSION ${PROJECT_VERSION} SOVERSION ${SARDONYX_ABI} LINK_DEPENDS ${exports})

add_library(sardonyx_static STATIC ${runtime_objects})
set_target_properties(sardonyx_static PROPERTIES OUTPUT_NAME sardonyx LINKER_LANGUAGE CXX)
add_dependencies(programs sardonyx_shared sardonyx_static)
install(TARGETS sardonyx_shared sardonyx_static
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Names for projects that take sardonyx in by add_subdirectory, the same as in the installed package.
add_library(sardonyx::c ALIAS sardonyx_shared)
add_library(sardonyx::runtime ALIAS sardonyx_executor)
target_include_directories(sardonyx_shared INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
if(TARGET sardonyx_eager)
  add_library(sardonyx::eager ALIAS sardonyx_eager)
  add_library(sardonyx_eager_static STATIC $<TARGET_OBJECTS:sardonyx_eager>)
  # In a folder of its own, for the layer itself has the same file name in the build tree.
  set_target_properties(sardonyx_eager_static PROPERTIES
    OUTPUT_NAME sardonyx_eager LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
  add_dependencies(programs sardonyx_eager_static)
  install(TARGETS sardonyx_eager_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/sardonyx)
install(DIRECTORY include/sardonyx/ DESTINATION ${headers} OPTIONAL FILES_MATCHING PATTERN "*.h")
foreach(layer IN ITEMS ir onnx_io providers executor eager)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${layer})
    install(DIRECTORY ${layer} DESTINATION ${headers}/layers FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  foreach(program IN LISTS SARDONYX_PROGRAMS)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
  endforeach()
endif()

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sardonyx)
list(JOIN runtime_libs " " SARDONYX_RUNTIME_LIBS)
set(eager_libs ${SARDONYX_LIBS_eager})
list(JOIN eager_libs " " SARDONYX_EAGER_LIBS)
configure_package_config_file(cmake/sardonyx-config.cmake.in ${PROJECT_BINARY_DIR}/sardonyx-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sardonyx-config.cmake ${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
  cmake/third_party.cmake DESTINATION ${package_dir})

# The .pc file finds its prefix from where it lies, so that an install tree may be moved.
string(REGEX REPLACE "[^/]+" ".." SARDONYX_PC_UP "${CMAKE_INSTALL_LIBDIR}")
configure_file(cmake/sardonyx.pc.in ${PROJECT_BINARY_DIR}/sardonyx.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sardonyx.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
