// Every system call of saving and loading fails once, and saves are killed: the old file or the new
// one is there, and errors are errors.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "executor/session.h"
#include "ir/op_samples.h"
#include "onnx_io/load.h"
#include "onnx_io/npz.h"
#include "onnx_io/save.h"
#include "tests/faults/faults.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;
using test::CallFault;
using test::SystemCallFault;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "sardonyx_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  size_t count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

// y = x * w; `seed` tells models apart.
Model model_of(uint64_t seed) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim(64), Dim(64)})));
  const Val y = e.call("Mul", {x, e.constant(drawn_tensor(DType::kFloat, {64, 64}, 0, 1, seed))});
  model.graph->add_output(GraphEmitter::unwrap(y));
  return model;
}

const SaveOptions kInside{};
const SaveOptions kOutside{.external_data = ExternalDataOptions{}};

// Everything about the model in one string; throws where it can't be loaded.
std::string content(const fs::path& path) {
  return model_bytes(load_model(path));
}

class Saves : public testing::TestWithParam<const SaveOptions*> {};

TEST_P(Saves, leave_the_old_or_the_new_model_where_any_call_fails) {
  const Folder folder;
  const fs::path path = folder / "model.onnx";
  const Model before = model_of(1), after = model_of(2);
  size_t calls = 0;
  {
    save_model(before, path, *GetParam());
    const SystemCallFault none(SIZE_MAX, CallFault::kError);
    save_model(after, path, *GetParam());
    calls = none.seen();
  }
  ASSERT_GT(calls, 3u);
  const size_t files = folder.count();
  for (const int error : {EIO, ENOSPC}) {
    for (size_t at = 0; at < calls; ++at) {
      save_model(before, path, *GetParam());
      bool failed = false;
      try {
        const SystemCallFault fault(at, CallFault::kError, error);
        save_model(after, path, *GetParam());
      } catch (const Error& caught) {
        failed = true;
        EXPECT_TRUE(caught.code() == ErrorCode::kInvalidArgument ||
                    caught.code() == ErrorCode::kResourceExhausted)
            << caught.what();
      }
      EXPECT_EQ(content(path), model_bytes(failed ? before : after)) << "call " << at;
      save_model(after, path, *GetParam());
      EXPECT_EQ(folder.count(), files) << "after call " << at << " failed and a save that did not";
    }
  }
}

TEST_P(Saves, go_on_after_interruptions_and_short_writes) {
  const Folder folder;
  const fs::path path = folder / "model.onnx";
  const Model model = model_of(3);
  for (const CallFault kind : {CallFault::kInterrupted, CallFault::kShort}) {
    for (size_t at = 0; at < 40; ++at) {
      const SystemCallFault fault(at, kind);
      save_model(model, path, *GetParam());
    }
    EXPECT_EQ(content(path), model_bytes(model));
  }
}

TEST_P(Saves, give_a_model_or_an_error_where_a_read_fails) {
  const Folder folder;
  const fs::path path = folder / "model.onnx";
  const Model model = model_of(4);
  save_model(model, path, *GetParam());
  const std::string expected = content(path);
  for (const bool maps : {true, false}) {
    for (const CallFault kind : {CallFault::kError, CallFault::kInterrupted, CallFault::kShort}) {
      for (size_t at = 0; at < 40; ++at) {
        try {
          const SystemCallFault fault(at, kind, EIO);
          const Model loaded = load_model(path, {.map_external_data = maps});
          EXPECT_EQ(model_bytes(loaded), expected);
        } catch (const Error& error) {
          EXPECT_EQ(kind, CallFault::kError) << error.what();
        }
      }
    }
  }
}

// Runs `work` in a process of its own; `end` may kill it.
void in_process(const std::function<void()>& work, const std::function<void(pid_t)>& end) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    _exit(0);
  }
  end(child);
  int status = 0;
  waitpid(child, &status, 0);
}

TEST_P(Saves, leave_the_old_or_the_new_model_where_they_are_killed) {
  const char* wanted = std::getenv("SARDONYX_KILLED_SAVES");
  const int rounds = wanted ? std::atoi(wanted) : 60;
  const Folder folder;
  const fs::path path = folder / "model.onnx";
  const Model models[] = {model_of(5), model_of(6)};
  const std::string expected[] = {model_bytes(models[0]), model_bytes(models[1])};
  save_model(models[0], path, *GetParam());
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    // Half of them at a system call, half at any time.
    const bool at_call = round % 2 == 0;
    const size_t call = static_cast<size_t>(round / 2) % 24;
    const auto save = [&] {
      const SystemCallFault fault(at_call ? call : SIZE_MAX, CallFault::kKill);
      for (int i = 1;; ++i)
        save_model(models[i % 2], path, *GetParam());
    };
    in_process(save, [&](pid_t child) {
      if (at_call) return;
      std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 8000));
      kill(child, SIGKILL);
    });
    const std::string found = content(path);
    EXPECT_TRUE(found == expected[0] || found == expected[1]) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Saves, testing::Values(&kInside, &kOutside), [](const auto& info) {
  return info.param->external_data ? "external_data" : "one_file";
});

TEST(Archives, are_old_or_new_where_any_call_fails) {
  const Folder folder;
  const fs::path path = folder / "a.npz";
  const auto write = [&](uint64_t seed) {
    NpzWriter writer(path);
    writer.add("a", drawn_tensor(DType::kFloat, {100}, 0, 1, seed));
    writer.close();
  };
  for (size_t at = 0; at < 20; ++at) {
    write(1);
    bool failed = false;
    try {
      const SystemCallFault fault(at, CallFault::kError, ENOSPC);
      write(2);
    } catch (const Error&) {
      failed = true;
    }
    EXPECT_TRUE(NpzReader(path).read("a") ==
                drawn_tensor(DType::kFloat, {100}, 0, 1, failed ? 1 : 2))
        << "call " << at;
    EXPECT_EQ(folder.count(), 1u);
  }
}

// y = x w, whose weights are packed.
Model product_model() {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim(64), Dim(64)})));
  const Tensor w = drawn_tensor(DType::kFloat, {64, 64}, 0, 1, 4);
  model.graph->add_output(GraphEmitter::unwrap(e.call("MatMul", {x, e.constant(w)})));
  return model;
}

TEST(PlanCaches, change_no_result_where_any_call_fails) {
  const Folder folder;
  const fs::path cache = folder / "packs";
  const Model model = product_model();
  const Tensor x = drawn_tensor(DType::kFloat, {64, 64}, 0, 1, 5);
  const auto run = [&](SessionOptions options) {
    options.log_level = LogLevel::kOff;
    return Session(Model(model), options).run({{"x", x}})[0].tensor();
  };
  const Tensor wanted = run({});
  for (const bool is_there : {false, true}) {
    for (size_t at = 0; at < 20; ++at) {
      fs::remove(cache);
      if (is_there) run({.plan_cache = cache});
      {
        const SystemCallFault fault(at, CallFault::kError, ENOSPC);
        EXPECT_EQ(run({.plan_cache = cache}), wanted) << "call " << at;
      }
      EXPECT_LE(folder.count(), 1u) << "after call " << at;
      EXPECT_EQ(run({.plan_cache = cache}), wanted) << "after call " << at;
    }
  }
}

}  // namespace
}  // namespace sardonyx
