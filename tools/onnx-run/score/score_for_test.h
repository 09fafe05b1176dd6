// Runs of `onnx-run score` as a user starts them, in a folder of each test's own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "onnx_io/npy.h"
#include "onnx_io/npz.h"
#include "onnx_io/save.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::tool {

namespace fs = std::filesystem;

struct Ended {
  int code = -1;  // below 0: by a signal
  std::string text;
  long peak_kilobytes = 0;
};

inline Type float_rows(const std::string& symbol, int64_t width) {
  return Type::tensor(DType::kFloat, Dims{Dim::symbol(symbol), Dim(width)});
}

// y = OP(x, ...) with inputs [n, width], or [rows, width].
inline void save_elementwise(const fs::path& path, const std::string& op,
                             const std::vector<std::string>& inputs, int64_t width,
                             int64_t rows = 0) {
  Model model;
  std::vector<Value*> values;
  for (const std::string& input : inputs) {
    const Type type = rows > 0 ? Type::tensor(DType::kFloat, Dims{Dim(rows), Dim(width)})
                               : float_rows("n", width);
    values.push_back(model.graph->add_input(input, type));
  }
  const OpDef& row = op_named(op);
  Node* node = model.graph->append(row, Attrs::parse(*row.attrs, {}), values, {"y"});
  model.graph->add_output(node->outputs[0]);
  infer_types(*model.graph);
  save_model(model, path);
}

inline Tensor counting_rows(int64_t rows, int64_t width, float first = 0) {
  std::vector<float> values(static_cast<size_t>(rows * width));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = first + static_cast<float>(i);
  return Tensor::of<float>(values, {rows, width});
}

class ScoreTest : public testing::Test {
 protected:
  // Starts the program in the test's folder; its output goes to a file.
  pid_t start(std::vector<std::string> arguments,
              const std::map<std::string, std::string>& environment = {}) const {
    arguments.insert(arguments.begin(), {SARDONYX_BIN_DIR "/onnx-run", "score"});
    const pid_t child = fork();
    if (child != 0) return child;
    if (chdir(folder_.path().c_str()) != 0) _exit(99);
    const int out =
        open(("out." + std::to_string(getpid())).c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(out, 1);
    dup2(out, 2);
    for (const char* name : {"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "OMPI_COMM_WORLD_RANK",
                             "PMI_RANK", "SLURM_STEP_NUM_TASKS"})
      unsetenv(name);
    setenv("SARDONYX_NUM_THREADS", "1", 1);
    for (const auto& [name, value] : environment)
      setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> values;
    for (std::string& argument : arguments)
      values.push_back(argument.data());
    values.push_back(nullptr);
    execv(values[0], values.data());
    _exit(99);
  }
  Ended wait_for(pid_t child) const {
    Ended ended;
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    ended.peak_kilobytes = usage.ru_maxrss;
    std::ifstream out(folder_ / ("out." + std::to_string(child)));
    ended.text.assign(std::istreambuf_iterator<char>(out), {});
    fs::remove(folder_ / ("out." + std::to_string(child)));
    return ended;
  }
  Ended run(const std::vector<std::string>& arguments,
            const std::map<std::string, std::string>& environment = {}) const {
    return wait_for(start(arguments, environment));
  }
  // Of all files in a folder, by name.
  std::map<std::string, std::string> contents(const std::string& name) const {
    std::map<std::string, std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / name)) {
      std::ifstream in(entry.path(), std::ios::binary);
      found[entry.path().filename().string()].assign(std::istreambuf_iterator<char>(in), {});
    }
    return found;
  }
  // The rows of an output in all parts.
  std::vector<float> joined(const std::string& name, const std::string& output) const {
    std::vector<float> all;
    for (const auto& [file, bytes] : contents(name)) {
      if (!file.ends_with(".npz")) continue;
      const Tensor part = NpzReader(folder_ / (name + "/" + file)).read(output);
      const auto values = part.values<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  nlohmann::json manifest(const std::string& name) const {
    return nlohmann::json::parse(contents(name)["manifest.json"]);
  }

  TemporaryFolder folder_;
};

}  // namespace sardonyx::tool
