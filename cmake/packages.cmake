# Packages of what is installed, made by `./dev package` (cpack): one tarball that may be unpacked anywhere, and a Debian
# package of each component. They hold the same bytes whoever makes them of the same commit: SOURCE_DATE_EPOCH is the
# commit's time.

# What the packages hold besides the build's own targets: pages and completions from the program's tables, the licences of
# libraries that are linked into ours, and the bill of materials (cmake/bill_of_materials).
set(package_files ${PROJECT_BINARY_DIR}/package_files)
set(linked_archives "")
foreach(library IN LISTS shared_libs)
  if(library MATCHES "\\.a$")
    list(APPEND linked_archives ${library})
  endif()
endforeach()
if(SARDONYX_SOURCES)
  # Compiled from the sources of these packages, under the same notices.
  pkg_get_variable(re2_libraries re2 libdir)
  list(APPEND linked_archives ${re2_libraries}/libre2.so ${Protobuf_LITE_LIBRARY})
endif()
if(TARGET onnx-run)
  add_custom_command(
    OUTPUT ${package_files}/onnx-run.1.gz ${package_files}/onnx-run ${package_files}/_onnx-run ${package_files}/onnx-run.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${package_files}
    COMMAND onnx-run man-page > ${package_files}/onnx-run.1
    COMMAND gzip -9nf ${package_files}/onnx-run.1
    COMMAND onnx-run completion bash > ${package_files}/onnx-run
    COMMAND onnx-run completion zsh > ${package_files}/_onnx-run
    COMMAND onnx-run completion fish > ${package_files}/onnx-run.fish
    DEPENDS onnx-run
    COMMENT "manual page and completions of onnx-run"
    VERBATIM)
  add_custom_target(sardonyx_manual DEPENDS ${package_files}/onnx-run.1.gz)
  set(share ${CMAKE_INSTALL_DATAROOTDIR})
  install(FILES ${package_files}/onnx-run.1.gz DESTINATION ${share}/man/man1 COMPONENT tools OPTIONAL)
  install(FILES ${package_files}/onnx-run DESTINATION ${share}/bash-completion/completions COMPONENT tools OPTIONAL)
  install(FILES ${package_files}/_onnx-run DESTINATION ${share}/zsh/vendor-completions COMPONENT tools OPTIONAL)
  install(FILES ${package_files}/onnx-run.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT tools OPTIONAL)
endif()

# Headers whose code is compiled into ours.
set(compiled_headers "${ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl.hpp")
foreach(header IN ITEMS hwy/highway.h google/protobuf/message_lite.h CLI/CLI.hpp nlohmann/json.hpp pybind11/pybind11.h)
  string(MAKE_C_IDENTIFIER ${header} name)
  find_file(SARDONYX_HEADER_${name} ${header})
  mark_as_advanced(SARDONYX_HEADER_${name})
  if(SARDONYX_HEADER_${name})
    list(APPEND compiled_headers ${SARDONYX_HEADER_${name}})
  endif()
endforeach()
add_custom_command(
  OUTPUT ${package_files}/sardonyx.spdx.json
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/bill_of_materials --version ${PROJECT_VERSION}
          --out ${package_files} --archives ${linked_archives} --library $<TARGET_FILE:sardonyx_shared>
          --headers ${compiled_headers}
  DEPENDS sardonyx_shared ${PROJECT_SOURCE_DIR}/cmake/bill_of_materials
  COMMENT "bill of materials"
  VERBATIM)
add_custom_target(sardonyx_bill_of_materials DEPENDS ${package_files}/sardonyx.spdx.json)
install(FILES ${package_files}/sardonyx.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime OPTIONAL)
install(DIRECTORY ${package_files}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime OPTIONAL)

add_custom_target(packages_ready)
add_dependencies(packages_ready programs sardonyx_bill_of_materials)
foreach(target IN ITEMS server sardonyx_manual python duckdb_sardonyx_extension)
  if(TARGET ${target})
    add_dependencies(packages_ready ${target})
  endif()
endforeach()

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME sardonyx)
set(CPACK_PACKAGE_VENDOR sardonyx)
set(CPACK_PACKAGE_CONTACT "sardonyx developers <sardonyx@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "ONNX runtime, with an eager API to write, train and export models")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_SYSTEM_NAME linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES OFF)
set(CPACK_THREADS 0)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)

# sardonyx_debian_package(component name section depends description)
macro(sardonyx_debian_package component name section depends description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
endmacro()
set(runtime_package libsardonyx${SARDONYX_ABI})
sardonyx_debian_package(runtime ${runtime_package} libs "libdnnl2"
  "runs ONNX models: the library with the C interface")
# What the archives and the package configuration ask for.
sardonyx_debian_package(dev libsardonyx-dev libdevel
  "${runtime_package} (= ${PROJECT_VERSION}), libprotobuf-dev, libhwy-dev, libre2-dev, libutf8proc-dev, libxxhash-dev, zlib1g-dev"
  "headers and archives to build programs with sardonyx in C and C++")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS
  "libpng-dev, libjpeg-dev, libtiff-dev, libwebp-dev, libopenjp2-7-dev, nlohmann-json3-dev, libopenmpi-dev")
sardonyx_debian_package(tools sardonyx-tools utils "libdnnl2"
  "runs, checks, measures and inspects ONNX models from the command line")
sardonyx_debian_package(onnxruntime sardonyx-onnxruntime libs "libdnnl2"
  "ONNX Runtime's C interface over sardonyx, for programs that were made for it")
sardonyx_debian_package(python python3-sardonyx python
  "libdnnl2, python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}), python3-numpy"
  "runs ONNX models from Python")
file(WRITE ${PROJECT_BINARY_DIR}/debian_triggers/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian_triggers/triggers)
sardonyx_debian_package(server sardonyx-server net "libdnnl2"
  "serves ONNX models over the Open Inference Protocol")
sardonyx_debian_package(duckdb sardonyx-duckdb database "${runtime_package} (= ${PROJECT_VERSION}), libc6, libstdc++6"
  "runs ONNX models in DuckDB's queries")
set(CPACK_DEBIAN_DUCKDB_PACKAGE_SHLIBDEPS OFF)  # of its one library that is not the system's, the version is named above
set(CPACK_COMPONENTS_ALL runtime dev tools onnxruntime)
set(optional_components python server duckdb)
set(optional_targets python onnx-serve duckdb_sardonyx_extension)
foreach(component target IN ZIP_LISTS optional_components optional_targets)
  if(TARGET ${target})
    list(APPEND CPACK_COMPONENTS_ALL ${component})
  endif()
endforeach()
# Each package has the licence where Debian looks for it.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} RENAME copyright
    COMPONENT ${component})
endforeach()
include(CPack)
