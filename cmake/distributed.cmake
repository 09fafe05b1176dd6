# sardonyx_distributed: eager/distributed over the MPI that CMake finds (Open MPI or MPICH).

find_package(MPI REQUIRED COMPONENTS C)
sardonyx_layer(distributed eager/distributed USES eager LIBS MPI::MPI_C Threads::Threads)
# MPI's C++ bindings were removed from its standard; the headers of some still bring them.
target_compile_definitions(sardonyx_distributed PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
