// oneDNN's library, loaded when it is first needed, and its C++ API on top of that. Nothing of ours
// is linked with it: a program that embeds sardonyx may hold another oneDNN, which must never be
// called from here, and models run without oneDNN (providers "cpu") where it is not installed.
//
// The wrappers of dnnl.hpp call the C API by bare names, which the compiler looks for in the
// wrappers' own namespace first. There each is a call through the table of what was loaded. One
// that is called but not listed is an undefined symbol when we are linked.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <string>

// clang-format off
#define SARDONYX_ONEDNN_FUNCTIONS(X)                                              \
  X(dnnl_batch_normalization_forward_desc_init)           \
  X(dnnl_binary_desc_init)                                \
  X(dnnl_data_type_size)                                  \
  X(dnnl_dilated_convolution_backward_data_desc_init)     \
  X(dnnl_dilated_convolution_backward_weights_desc_init)  \
  X(dnnl_dilated_convolution_forward_desc_init)           \
  X(dnnl_dilated_deconvolution_forward_desc_init)         \
  X(dnnl_eltwise_forward_desc_init)                       \
  X(dnnl_engine_create)                                   \
  X(dnnl_engine_destroy)                                  \
  X(dnnl_get_effective_cpu_isa)                           \
  X(dnnl_get_primitive_cache_capacity)                    \
  X(dnnl_inner_product_forward_desc_init)                 \
  X(dnnl_layer_normalization_forward_desc_init)           \
  X(dnnl_lrn_forward_desc_init)                           \
  X(dnnl_matmul_desc_init)                                \
  X(dnnl_memory_create)                                   \
  X(dnnl_memory_desc_equal)                               \
  X(dnnl_memory_desc_get_size)                            \
  X(dnnl_memory_desc_init_by_strides)                     \
  X(dnnl_memory_desc_init_by_tag)                         \
  X(dnnl_memory_desc_init_submemory)                      \
  X(dnnl_memory_desc_permute_axes)                        \
  X(dnnl_memory_desc_reshape)                             \
  X(dnnl_memory_destroy)                                  \
  X(dnnl_memory_get_engine)                               \
  X(dnnl_memory_get_memory_desc)                          \
  X(dnnl_memory_set_data_handle)                          \
  X(dnnl_pooling_forward_desc_init)                       \
  X(dnnl_pooling_v2_forward_desc_init)                    \
  X(dnnl_post_ops_append_binary)                          \
  X(dnnl_post_ops_append_eltwise)                         \
  X(dnnl_post_ops_append_sum)                             \
  X(dnnl_post_ops_create)                                 \
  X(dnnl_post_ops_destroy)                                \
  X(dnnl_primitive_attr_create)                           \
  X(dnnl_primitive_attr_destroy)                          \
  X(dnnl_primitive_attr_set_output_scales)                \
  X(dnnl_primitive_attr_set_post_ops)                     \
  X(dnnl_primitive_attr_set_scratchpad_mode)              \
  X(dnnl_primitive_attr_set_zero_points)                  \
  X(dnnl_primitive_create)                                \
  X(dnnl_primitive_desc_destroy)                          \
  X(dnnl_primitive_desc_iterator_create)                  \
  X(dnnl_primitive_desc_iterator_destroy)                 \
  X(dnnl_primitive_desc_iterator_fetch)                   \
  X(dnnl_primitive_desc_iterator_next)                    \
  X(dnnl_primitive_desc_query)                            \
  X(dnnl_primitive_desc_query_md)                         \
  X(dnnl_primitive_destroy)                               \
  X(dnnl_primitive_execute)                               \
  X(dnnl_reorder_primitive_desc_create)                   \
  X(dnnl_resampling_forward_desc_init)                    \
  X(dnnl_set_primitive_cache_capacity)                    \
  X(dnnl_sgemm)                                           \
  X(dnnl_stream_create)                                   \
  X(dnnl_stream_destroy)                                  \
  X(dnnl_version)
// clang-format on

namespace sardonyx::onednn {

struct Library {
#define SARDONYX_MEMBER(function) decltype(&::function) function;
  SARDONYX_ONEDNN_FUNCTIONS(SARDONYX_MEMBER)
#undef SARDONYX_MEMBER
  // Functions of the OpenMP runtime that the library uses; null where it was built for another
  // threading runtime.
  void (*omp_set_num_threads)(int);
  int (*omp_get_max_threads)();
};

// Loads the library at the first call. Throws kUnsupported where there is none or it is too old;
// the next call tries again.
const Library& library();

// Sets the OpenMP threads of primitives that the calling thread makes or runs. The program's own
// OpenMP code on this thread sees the setting too, so restore it when the primitive has run.
void set_onednn_threads(int threads);
int onednn_threads();

}  // namespace sardonyx::onednn

namespace sardonyx_dnnl {
#define SARDONYX_FORWARD(function)                        \
  inline constexpr auto function = [](auto... args) {     \
    return sardonyx::onednn::library().function(args...); \
  };
SARDONYX_ONEDNN_FUNCTIONS(SARDONYX_FORWARD)
#undef SARDONYX_FORWARD
}  // namespace sardonyx_dnnl

// The classes go by a name of ours: in a program that links us statically the inline functions of
// another oneDNN's dnnl.hpp have the names that these would have.
#define dnnl sardonyx_dnnl
#include <oneapi/dnnl/dnnl.hpp>
#undef dnnl

namespace sardonyx {
namespace dnnl = ::sardonyx_dnnl;
}
