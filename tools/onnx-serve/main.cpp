// onnx-serve: serves ONNX models over the Open Inference Protocol.
#include "tools/onnx-serve/server.h"

int main(int count, char** values) {
  const sardonyx::serve::ParsedOptions parsed = sardonyx::serve::parse_options(count, values);
  return parsed.options ? sardonyx::serve::run_server(*parsed.options) : parsed.exit_code;
}
