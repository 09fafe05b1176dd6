// Random graphs of exporters' motifs: each must give the same by whatever way it is run, and what
// ONNX Runtime gives, where SARDONYX_ONNXRUNTIME names its library.
//
// SARDONYX_GRAPHS=N runs N graphs instead of a few; SARDONYX_GRAPHS_SEED=S begins at seed S instead
// of a fixed one, as `./dev fuzz graphs` does. A graph that fails is named by its family and seed,
// and the same seed with SARDONYX_GRAPHS=1 runs it alone; its file is written to
// SARDONYX_GRAPHS_FOLDER (findings/ in the build folder).
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "onnx_io/save.h"
#include "tests/graphs/check_graph.h"
#include "tests/graphs/families.h"
#include "tests/support/temporary_folder.h"
#include "tools/onnx-run/ort/ort_bridge.h"

namespace sardonyx::graph_test {
namespace {

namespace fs = std::filesystem;

struct Family {
  const char* name;
  void (*build)(GraphBuilder& builder);
};
constexpr Family kFamilies[] = {
    {"vision", build_vision},       {"transformer", build_transformer},
    {"recurrent", build_recurrent}, {"quantized", build_quantized},
    {"classical", build_classical}, {"control", build_control},
    {"experts", build_experts},
};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

fs::path path_from(const char* variable, fs::path otherwise) {
  const char* text = std::getenv(variable);
  return text ? fs::path(text) : otherwise;
}

// Loaded once with a model of one node, so that each process that runs another one finds it there.
fs::path other_library() {
  struct Loaded {
    fs::path path = path_from("SARDONYX_ONNXRUNTIME", {});
    std::optional<tool::OtherSession> session;
    Loaded() {
      if (path.empty()) return;
      const TemporaryFolder folder;
      GraphBuilder builder(0);
      builder.output(builder.call("Relu", {builder.floats("x", {1})}));
      save_model(builder.made.model, folder.path() / "relu.onnx");
      session.emplace(path, folder.path() / "relu.onnx", tool::OtherOptions{.threads = 1});
    }
  };
  static const Loaded loaded;
  return loaded.path;
}

std::string saved_finding(const std::string& name, const fs::path& model) {
  const fs::path folder =
      path_from("SARDONYX_GRAPHS_FOLDER", fs::path(SARDONYX_BIN_DIR).parent_path() / "findings");
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path file = folder / (name + ".onnx");
  fs::copy_file(model, file, fs::copy_options::overwrite_existing, error);
  return error ? text(file.string(), ": ", error.message()) : file.string();
}

GraphCase built(const Family& family, uint64_t seed) {
  GraphBuilder builder(seed);
  family.build(builder);
  return builder.finish(4);
}

class RandomGraphs : public testing::TestWithParam<Family> {
 protected:
  void check(uint64_t seed) {
    const std::string name = text(GetParam().name, "-", seed);
    std::string motifs;
    try {
      const GraphCase graph = built(GetParam(), seed);
      motifs = graph.motifs;
      const fs::path file = folder_.path() / (name + ".onnx");
      std::ofstream(file, std::ios::binary) << model_bytes(graph.model, {.opset = graph.opset});
      const Checked checked = check_graph(graph, other_library(), file);
      compared_ += checked.runs;
      refused_ += !checked.refused.empty();
      if (!checked.refused.empty() && std::getenv("SARDONYX_GRAPHS_VERBOSE"))
        std::fprintf(stderr, "%s: %s\n", name.c_str(), checked.refused.c_str());
      if (!checked.findings.empty()) {
        std::string all;
        for (const std::string& finding : checked.findings)
          all += "\n  " + finding;
        ADD_FAILURE() << name << " (" << motifs << "), saved as " << saved_finding(name, file)
                      << all;
      }
      fs::remove(file);
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << " (" << motifs << "): " << error.what();
    }
  }

  size_t compared_ = 0, refused_ = 0;

 private:
  TemporaryFolder folder_;
};

TEST_P(RandomGraphs, give_the_same_by_all_ways) {
  constexpr uint64_t kFew = 180;
  const uint64_t all = number_from("SARDONYX_GRAPHS", kFew);
  const uint64_t count = (all + std::size(kFamilies) - 1) / std::size(kFamilies);
  const uint64_t seed = number_from("SARDONYX_GRAPHS_SEED", 1);
  constexpr int kEnough = 20;
  int failed = 0;
  for (uint64_t i = 0; i < count && failed < kEnough; ++i) {
    const auto parts = [] {
      return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    };
    const int before = parts();
    check(seed + i);
    failed += parts() > before;
  }
  RecordProperty("compared", std::to_string(compared_));
  std::printf(
      "%s: %llu graphs from seed %llu; %zu runs compared with ONNX Runtime, which took %zu "
      "graphs not\n",
      GetParam().name, static_cast<unsigned long long>(count),
      static_cast<unsigned long long>(seed), compared_, refused_);
}

INSTANTIATE_TEST_SUITE_P(Families, RandomGraphs, testing::ValuesIn(kFamilies),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sardonyx::graph_test
