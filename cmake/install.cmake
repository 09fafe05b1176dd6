# What is installed:
#   libsardonyx.so         exports the C API alone (sx_*)                 sardonyx::c, sardonyx.pc
#   libsardonyx.a          everything up to the executor, for C++ and C   sardonyx::runtime, sardonyx-runtime.pc
#   libsardonyx_eager.a    the eager layer on top of it                   sardonyx::eager, sardonyx-eager.pc
#   libsardonyx_distributed.a  training over MPI, with -DSARDONYX_MPI=ON   sardonyx::distributed
#   libsardonyx_codecs.a   decoders of images, for those that read any    sardonyx::codecs, sardonyx-codecs.pc
#   include/sardonyx/      the headers that users include, and what these include (cmake/public_headers)
# Each file belongs to a component, of which packages are made (packages.cmake).

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

set(SARDONYX_ABI 0)

set(runtime_layers ir onnx_io provider_cpu provider_onednn providers executor batching)
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
list(REMOVE_ITEM runtime_libs ${SARDONYX_HEADER_ONLY})
# The static package leaves decoders of images to those who ask for them.
set(shared_objects ${runtime_objects} $<TARGET_OBJECTS:sardonyx_codecs>)
set(shared_needs ${runtime_libs} ${SARDONYX_LIBS_codecs})

include(cmake/shared_library.cmake)

add_library(sardonyx_static STATIC ${runtime_objects})
set_target_properties(sardonyx_static PROPERTIES OUTPUT_NAME sardonyx LINKER_LANGUAGE CXX)
add_library(sardonyx_codecs_static STATIC $<TARGET_OBJECTS:sardonyx_codecs>)
# In a folder of its own, for the layer itself has the same file name in the build tree.
set_target_properties(sardonyx_codecs_static PROPERTIES
  OUTPUT_NAME sardonyx_codecs LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
add_dependencies(programs sardonyx_shared sardonyx_static sardonyx_codecs_static)
install(TARGETS sardonyx_shared
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS sardonyx_static sardonyx_codecs_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The headers as users get them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(public_headers ${PROJECT_SOURCE_DIR}/cmake/public_headers)
set(public_include ${PROJECT_BINARY_DIR}/include)
set(header_folders include/sardonyx ir onnx_io providers executor eager)
list(TRANSFORM header_folders PREPEND ${PROJECT_SOURCE_DIR}/)
list(TRANSFORM header_folders APPEND /*.h OUTPUT_VARIABLE header_patterns)
file(GLOB_RECURSE all_headers CONFIGURE_DEPENDS ${header_patterns} ${PROJECT_SOURCE_DIR}/include/*.hpp)
add_custom_command(
  OUTPUT ${public_include}/stamp
  COMMAND ${Python3_EXECUTABLE} ${public_headers} ${PROJECT_SOURCE_DIR} ${public_include}
  COMMAND ${CMAKE_COMMAND} -E touch ${public_include}/stamp
  DEPENDS ${all_headers} ${public_headers}
  COMMENT "public headers"
  VERBATIM)
add_custom_target(sardonyx_public_headers DEPENDS ${public_include}/stamp)
add_dependencies(programs sardonyx_public_headers)
add_dependencies(sardonyx_shared sardonyx_public_headers)
install(DIRECTORY ${public_include}/sardonyx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Names for projects that take sardonyx in by add_subdirectory, the same as in the installed package.
add_library(sardonyx::c ALIAS sardonyx_shared)
target_include_directories(sardonyx_shared INTERFACE $<BUILD_INTERFACE:${public_include}>)
# sardonyx_interface(name target): what is linked, and the public headers in place of the tree's.
function(sardonyx_interface name target)
  add_library(sardonyx_interface_${name} INTERFACE)
  target_link_libraries(sardonyx_interface_${name} INTERFACE "$<LINK_ONLY:${target}>")
  target_include_directories(sardonyx_interface_${name} INTERFACE ${public_include})
  target_compile_features(sardonyx_interface_${name} INTERFACE cxx_std_20)
  add_dependencies(sardonyx_interface_${name} sardonyx_public_headers)
  add_library(sardonyx::${name} ALIAS sardonyx_interface_${name})
endfunction()
sardonyx_interface(runtime sardonyx_batching)
sardonyx_interface(codecs sardonyx_codecs)
foreach(layer IN ITEMS eager distributed)
  if(TARGET sardonyx_${layer})
    sardonyx_interface(${layer} sardonyx_${layer})
    add_library(sardonyx_${layer}_static STATIC $<TARGET_OBJECTS:sardonyx_${layer}>)
    set_target_properties(sardonyx_${layer}_static PROPERTIES
      OUTPUT_NAME sardonyx_${layer} LINKER_LANGUAGE CXX
      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
    add_dependencies(programs sardonyx_${layer}_static)
    install(TARGETS sardonyx_${layer}_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  foreach(program IN LISTS SARDONYX_PROGRAMS)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools OPTIONAL)
  endforeach()
endif()

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sardonyx)
list(JOIN runtime_libs " " SARDONYX_RUNTIME_LIBS)
set(eager_libs ${SARDONYX_LIBS_eager})
list(REMOVE_ITEM eager_libs ${SARDONYX_HEADER_ONLY})
list(JOIN eager_libs " " SARDONYX_EAGER_LIBS)
set(codec_libs ${SARDONYX_LIBS_codecs})
list(JOIN codec_libs " " SARDONYX_CODECS_LIBS)
set(SARDONYX_CODEC_SETTINGS "")
foreach(format IN LISTS SARDONYX_CODEC_FORMATS)
  string(APPEND SARDONYX_CODEC_SETTINGS "  set(SARDONYX_CODEC_${format} ${SARDONYX_CODEC_${format}})\n")
endforeach()
configure_package_config_file(cmake/sardonyx-config.cmake.in ${PROJECT_BINARY_DIR}/sardonyx-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sardonyx-config.cmake ${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
  cmake/runtime_dependencies.cmake DESTINATION ${package_dir})

# The .pc files find their prefix from where they lie, so that an install tree may be moved.
set(SARDONYX_PC_ZLIB::ZLIB zlib)
set(SARDONYX_PC_JPEG::JPEG libjpeg)
set(SARDONYX_PC_PkgConfig::openjp2 libopenjp2)
set(SARDONYX_PC_PNG::PNG libpng)
set(SARDONYX_PC_TIFF::TIFF libtiff-4)
set(SARDONYX_PC_PkgConfig::webp libwebp)
set(SARDONYX_PC_hwy::hwy libhwy)
set(SARDONYX_PC_PkgConfig::re2 re2)
set(SARDONYX_PC_PkgConfig::utf8proc libutf8proc)
set(SARDONYX_PC_PkgConfig::xxhash libxxhash)
set(SARDONYX_PC_protobuf::libprotobuf-lite protobuf-lite)
set(SARDONYX_PC_FLAG_Threads::Threads -pthread)
# sardonyx_pc_names(modules flags libraries...): what a .pc file calls these libraries.
function(sardonyx_pc_names modules flags)
  set(found_modules "")
  set(found_flags "")
  foreach(library IN LISTS ARGN)
    if(SARDONYX_PC_${library})
      list(APPEND found_modules ${SARDONYX_PC_${library}})
    elseif(SARDONYX_PC_FLAG_${library})
      list(APPEND found_flags ${SARDONYX_PC_FLAG_${library}})
    elseif(library MATCHES "::")
      message(FATAL_ERROR "no pkg-config name for ${library}")
    else()
      list(APPEND found_flags -l${library})
    endif()
  endforeach()
  list(JOIN found_modules " " found_modules)
  list(JOIN found_flags " " found_flags)
  set(${modules} "${found_modules}" PARENT_SCOPE)
  set(${flags} "${found_flags}" PARENT_SCOPE)
endfunction()
sardonyx_pc_names(SARDONYX_PC_REQUIRES SARDONYX_PC_LIBS ${runtime_libs})
sardonyx_pc_names(SARDONYX_PC_CODECS_REQUIRES SARDONYX_PC_CODECS_LIBS ${codec_libs})
string(REGEX REPLACE "[^/]+" ".." SARDONYX_PC_UP "${CMAKE_INSTALL_LIBDIR}")
foreach(name IN ITEMS sardonyx sardonyx-runtime sardonyx-eager sardonyx-codecs)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
