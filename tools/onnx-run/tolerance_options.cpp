#include "tools/onnx-run/tolerance_options.h"

#include <CLI/CLI.hpp>

namespace sardonyx::tool {

void add_tolerance_options(CLI::App& command, Tolerance& tolerance) {
  const std::string rule = "|got - expected| <= atol + rtol*|expected| + relative_to_max*max";
  command.add_option("--rtol", tolerance.rtol, "part of " + rule)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--atol", tolerance.atol, "part of the same rule")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--relative-to-max", tolerance.relative_to_max, "part of the same rule")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace sardonyx::tool
