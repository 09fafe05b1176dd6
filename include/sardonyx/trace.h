// Functions as graphs, for programs that look at what was recorded: eager code itself needs
// compile() and export_onnx() alone, which sardonyx/eager.h has.
#pragma once

#include "eager/trace/trace.h"
