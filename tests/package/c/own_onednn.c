/* own_onednn MODEL: a program with a oneDNN of its own, of another version. Its functions are seen
 * by all libraries of the process, and none of them is to be called by sardonyx. */
#include <stdlib.h>

#include "run_model.h"

static void complain(const char* name) {
  fprintf(stderr, "sardonyx called the program's %s\n", name);
  abort();
}

#define OWN(name)    \
  void name(void);   \
  void name(void) {  \
    complain(#name); \
  }
OWN(dnnl_engine_create)
OWN(dnnl_stream_create)
OWN(dnnl_primitive_create)
OWN(dnnl_primitive_execute)
OWN(dnnl_primitive_desc_query)
OWN(dnnl_primitive_desc_iterator_create)
OWN(dnnl_memory_create)
OWN(dnnl_memory_desc_init_by_tag)
OWN(dnnl_memory_desc_init_by_strides)
OWN(dnnl_memory_desc_equal)
OWN(dnnl_post_ops_create)
OWN(dnnl_primitive_attr_create)
OWN(dnnl_version)

int main(int argc, char** argv) {
  return argc < 2 ? 2 : run_model(argv[1], NULL);
}
