#include "tools/onnx-run/json_output.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "onnx_io/file_write.h"
#include "tools/onnx-run/arguments.h"
#include "tools/onnx-run/machine.h"

namespace sardonyx::tool {
namespace {

constexpr int kSchemaVersion = 1;

std::vector<std::string>& command_line() {
  static std::vector<std::string> line;
  return line;
}

}  // namespace

void remember_command_line(int count, char** values) {
  command_line().assign(values, values + count);
}

bool JsonOutput::on_stdout() const {
  return target == kNoValue;
}

void JsonOutput::write(const nlohmann::ordered_json& report) const {
  nlohmann::ordered_json all = {{"schema", kSchemaVersion},
                                {"program", "onnx-run " SARDONYX_VERSION},
                                {"command", command_line()},
                                {"cpu", cpu_name()},
                                {"cores", usable_cores()}};
  all.update(report);
  // Names in models need not be UTF-8; what is not is replaced rather than fatal.
  const std::string written = all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  if (on_stdout()) {
    std::cout << written << std::endl;
    return;
  }
  write_atomically(target, written + '\n');
}

void JsonOutput::write_runs(const nlohmann::ordered_json& reports) const {
  write(reports.size() == 1 ? reports.front() : nlohmann::ordered_json{{"runs", reports}});
}

}  // namespace sardonyx::tool
