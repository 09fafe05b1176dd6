# sardonyx_distributed: eager/distributed over the MPI that CMake finds (Open MPI or MPICH).

find_package(MPI REQUIRED COMPONENTS C)
sardonyx_layer(distributed eager/distributed OWN_OPTIONS standard.h USES eager LIBS MPI::MPI_C Threads::Threads)
# MPI's C++ bindings were removed from its standard; the headers of some still bring them.
target_compile_definitions(sardonyx_distributed PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Sums of gradients are to be vectors.
  target_compile_options(sardonyx_distributed PRIVATE -O3)
endif()

# Programs that mpirun starts.
function(sardonyx_distributed_programs folder)
  find_package(CLI11 REQUIRED CONFIG)
  sardonyx_program_folder(${folder} programs sardonyx_models sardonyx_distributed CLI11::CLI11)
endfunction()
