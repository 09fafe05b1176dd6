// What `--json[=FILE]` asks for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sardonyx::tool {

struct JsonOutput {
  std::string target;  // "": not asked for; kNoValue: stdout; else a file

  bool wanted() const { return !target.empty(); }
  // Text meant for people then belongs on stderr.
  bool on_stdout() const;
  // Writes `report` with the schema's version, the command line and the machine put before it.
  void write(const nlohmann::ordered_json& report) const;
  // The same for an array of reports, one of each run: one alone as it is, several as `runs`.
  void write_runs(const nlohmann::ordered_json& reports) const;
};

// Keeps the command line for the reports.
void remember_command_line(int count, char** values);

}  // namespace sardonyx::tool
