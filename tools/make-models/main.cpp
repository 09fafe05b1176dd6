// Exports the classic architectures with seeded weights as .onnx files.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "models/zoo.h"

int main(int argc, char** argv) {
  CLI::App app(
      "make-models: exports classic architectures with seeded weights as .onnx files, "
      "each verified at several batch sizes");
  std::filesystem::path folder = ".";
  uint64_t seed = 0;
  std::optional<int64_t> opset;
  std::vector<std::string> wanted;
  bool is_listing = false;
  app.add_option("--out", folder, "folder to write NAME.onnx to");
  app.add_option("--seed", seed, "of the weights");
  app.add_option("--opset", opset,
                 "of ai.onnx (default: 20, or the first later one that the network needs)");
  app.add_flag("--list", is_listing, "print the names of the models and export none");
  app.add_option("NAME", wanted, "which models (default: all)");
  CLI11_PARSE(app, argc, argv);
  if (is_listing) {
    for (const auto& entry : sardonyx::models::zoo())
      std::printf("%s\n", std::string(entry.name).c_str());
    return 0;
  }
  try {
    std::filesystem::create_directories(folder);
    for (const std::string& name : wanted) {
      const auto same = [&](const auto& entry) { return entry.name == name; };
      if (std::ranges::none_of(sardonyx::models::zoo(), same)) {
        std::string known;
        for (const auto& entry : sardonyx::models::zoo())
          known += " " + std::string(entry.name);
        std::fprintf(stderr, "make-models: there is no model %s; known are%s\n", name.c_str(),
                     known.c_str());
        return 2;
      }
    }
    for (const auto& entry : sardonyx::models::zoo()) {
      if (!wanted.empty() && std::ranges::find(wanted, entry.name) == wanted.end()) continue;
      const std::filesystem::path path = folder / (std::string(entry.name) + ".onnx");
      sardonyx::models::Network network = entry.build(seed);
      network.options.opset = opset;
      sardonyx::eager::export_onnx(network.run, network.examples, path, network.options);
      std::printf("%s: %s, %.1f MB\n", path.c_str(), std::string(entry.description).c_str(),
                  static_cast<double>(std::filesystem::file_size(path)) / 1e6);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make-models: %s\n", error.what());
    return 4;
  }
  return 0;
}
