// The server as a whole, from its start to its end.
#pragma once

#include "tools/onnx-serve/serve_options.h"

namespace sardonyx::serve {

// Loads the models, serves until SIGTERM or SIGINT, and finishes what it has begun. Gives the exit
// status: 0; 2: what is asked for makes no sense; 3: a model can't be loaded; 4: it can't listen.
// To be called while the process has one thread.
int run_server(const ServeOptions& options);

}  // namespace sardonyx::serve
