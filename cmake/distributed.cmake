# sardonyx_distributed: eager/distributed over the MPI that CMake finds (Open MPI or MPICH).

find_package(MPI REQUIRED COMPONENTS C)
sardonyx_layer(distributed eager/distributed USES eager LIBS MPI::MPI_C Threads::Threads)
# MPI's C++ bindings were removed from its standard; the headers of some still bring them.
target_compile_definitions(sardonyx_distributed PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Sums of gradients are to be vectors.
  target_compile_options(sardonyx_distributed PRIVATE -O3)
endif()

# sardonyx_distributed_programs(folder): each file of the folder is one program of that name in <build>/bin/examples, which
# mpirun starts.
function(sardonyx_distributed_programs folder)
  find_package(CLI11 REQUIRED CONFIG)
  sardonyx_glob(sources GLOB ${folder})
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    sardonyx_target_defaults(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/examples)
    target_link_libraries(${name} PRIVATE sardonyx_models sardonyx_distributed CLI11::CLI11)
    add_dependencies(programs ${name})
  endforeach()
endfunction()
