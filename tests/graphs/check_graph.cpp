#include "tests/graphs/check_graph.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "executor/session.h"
#include "onnx_io/save.h"
#include "tests/api/api_case.h"
#include "tools/onnx-run/ort/ort_bridge.h"

namespace sardonyx::graph_test {
namespace {

using api_test::deep_copy;
using api_test::same_bits;

// Outputs, or why there are none.
struct Outcome {
  std::vector<Datum> outputs;
  std::optional<Error> error;
};

template <typename Run>
Outcome outcome_of(const Run& run) {
  try {
    return {run(), {}};
  } catch (const Error& error) {
    return {{}, error};
  }
}

std::string text_of(const Outcome& outcome) {
  return outcome.error ? text("refused: ", outcome.error->what()) : "gave results";
}

bool is_empty(const std::vector<Datum>& inputs) {
  return std::ranges::any_of(
      inputs, [](const Datum& datum) { return datum.is_tensor() && datum.tensor().count() == 0; });
}

// Empty where `got` is as good as `expected`.
std::string difference(const GraphCase& graph, const Datum& got, const Datum& expected,
                       double mean_off) {
  const Comparison same = compare(got, expected, graph.tolerance);
  if (same || graph.most_off == 0) return same.reason;
  if (const Comparison kinds = compare_types(got, expected); !kinds) return kinds.reason;
  std::vector<double> a = got.tensor().to_doubles(), b = expected.tensor().to_doubles();
  double most = 0, sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double off = a[i] == b[i] ? 0 : std::abs(a[i] - b[i]);
    most = std::max(most, off);
    sum += off;
  }
  const double mean = sum / static_cast<double>(std::max<size_t>(1, a.size()));
  constexpr size_t kFew = 64;  // elements, among which a few are many
  if (most <= graph.most_off && (mean <= mean_off || a.size() < kFew)) return "";
  return text(same.reason, "; off by ", most, " at most (", graph.most_off, " allowed), by ", mean,
              " on average (", mean_off, ")");
}

class GraphCheck {
 public:
  explicit GraphCheck(const GraphCase& graph)
      : graph_(graph), bytes_(model_bytes(graph.model, {.opset = graph.opset})) {}

  Checked take() { return std::move(checked_); }
  const std::string& bytes() const { return bytes_; }

  Session session(int level, int threads) const {
    SessionOptions options;
    options.optimization_level = level;
    options.intra_op_threads = threads;
    options.log_level = LogLevel::kOff;
    return Session(std::as_bytes(std::span(bytes_)), options);
  }

  void among_ourselves() {
    const Session fast = session(2, 1), two = session(2, 2), plain = session(0, 1);
    std::vector<OutputSlot> kept(fast.outputs().size());
    for (run_ = 0; run_ < graph_.inputs.size(); ++run_) {
      const std::vector<Datum>& inputs = graph_.inputs[run_];
      std::vector<Datum> before;
      for (const Datum& input : inputs)
        before.push_back(deep_copy(input));
      const auto by = [&](const Session& runner) {
        return outcome_of([&] { return runner.run(std::span<const Datum>(inputs)); });
      };
      const Outcome expected = by(fast);
      results_.push_back(expected);
      expect_same("the second run", by(fast), expected);
      expect_same("two threads", by(two), expected);
      expect_same("a kept binding", outcome_of([&] {
                    fast.run_into(inputs, kept);
                    std::vector<Datum> shown;
                    for (const OutputSlot& slot : kept)
                      shown.push_back(slot.value());
                    return shown;
                  }),
                  expected);
      if (run_ > 0) expect_same("a fresh session", by(session(2, 1)), expected);
      const Outcome unchanged = by(plain);
      // Of empty inputs passes know sizes that a step by itself cannot have.
      if (!unchanged.error || expected.error || !is_empty(inputs))
        expect_close("-O0", unchanged, expected, graph_.mean_off);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!same_bits(inputs[i], before[i])) report("an input", "was written to");
      }
    }
  }

  // Weights that are inputs as well: nothing changes until some are given, nor when none is again.
  void with_defaults() {
    const Model model = with_constants_as_inputs();
    const size_t first = graph_.model.graph->inputs().size();
    const std::string bytes = model_bytes(model, {.opset = graph_.opset});
    SessionOptions options;
    options.intra_op_threads = 1;
    options.log_level = LogLevel::kOff;
    const Session session(std::as_bytes(std::span(bytes)), options);
    std::vector<OutputSlot> kept(session.outputs().size());
    for (run_ = 0; run_ < graph_.inputs.size(); ++run_) {
      const auto by = [&](const std::vector<Datum>& inputs) {
        return outcome_of([&] {
          session.run_into(inputs, kept);
          std::vector<Datum> shown;
          for (const OutputSlot& slot : kept)
            shown.push_back(slot.value());
          return shown;
        });
      };
      const std::vector<Datum>& inputs = graph_.inputs[run_];
      expect_same("weights that are inputs", by(inputs), results_[run_]);
      std::vector<Datum> given = inputs;
      for (size_t i = first; i < model.graph->inputs().size(); ++i) {
        const bool is_given = (i + run_) % 3 == 0;
        given.push_back(is_given ? Datum(*model.graph->inputs()[i]->default_value) : Datum());
      }
      const Outcome ours = by(given);
      // What is not known ahead is refused later, or not at all; and a loop that never turns stacks
      // nothing, of dims that are 0 where they are not known ahead.
      const bool is_alike = ours.error.has_value() == results_[run_].error.has_value();
      if (is_alike && graph_.differs.empty() && !is_empty(inputs))
        expect_close("weights that are given", ours, results_[run_], graph_.mean_off);
      expect_same("weights that are inputs, again", by(inputs), results_[run_]);
    }
  }

  void with_other(const std::filesystem::path& library, const std::filesystem::path& file) {
    std::ofstream(file, std::ios::binary) << bytes_;
    const tool::OtherSession other(library, file, {.threads = 1, .exact_int8 = true});
    const auto& values = graph_.model.graph->inputs();
    for (run_ = 0; run_ < graph_.inputs.size(); ++run_) {
      const Outcome& ours = results_[run_];
      if (is_empty(graph_.inputs[run_]) || ours.error) continue;
      NamedData feeds;
      for (size_t i = 0; i < values.size(); ++i)
        feeds.emplace(values[i]->name, graph_.inputs[run_][i]);
      const Outcome theirs = outcome_of([&] { return other.run(feeds); });
      if (theirs.error) {
        checked_.refused = theirs.error->what();
        continue;
      }
      ++checked_.runs;
      expect_close("ONNX Runtime", theirs, ours, kOthersRound * graph_.mean_off);
    }
  }

  // The same in a process of its own.
  void with_other_apart(const std::filesystem::path& library, const std::filesystem::path& file) {
    int ends[2];
    if (pipe(ends) != 0) fail(ErrorCode::kInternal, "pipe: ", std::strerror(errno));
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      checked_ = {};
      try {
        with_other(library, file);
      } catch (const std::exception& error) {  // it takes no such model
        checked_.refused = error.what();
      }
      write_to(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    read_from(ends[0]);
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || WIFSIGNALED(status))
      checked_.refused = text("it died of signal ", child < 0 ? 0 : WTERMSIG(status));
  }

 private:
  // Another runtime rounds to bytes at other places, where it joins nodes.
  static constexpr double kOthersRound = 3;

  Model with_constants_as_inputs() const {
    Model model = graph_.model;
    model.graph = clone(*graph_.model.graph);
    Graph& graph = *model.graph;
    std::vector<Value*> constants;
    for (const auto& node : graph.nodes()) {
      for (Value* input : node->inputs) {
        if (input && input->constant && std::ranges::find(constants, input) == constants.end())
          constants.push_back(input);
      }
    }
    for (Value* constant : constants) {
      Value* input = graph.add_input("", constant->type);
      input->default_value = constant->constant;
      graph.replace_uses(*constant, *input);
      graph.erase_value(*constant);
    }
    return model;
  }

  // Findings, each ended by a zero, and what else there is to tell.
  void write_to(int end) const {
    std::string all = std::to_string(checked_.runs) + '\0' + checked_.refused + '\0';
    for (const std::string& finding : checked_.findings)
      all += finding + '\0';
    for (size_t at = 0; at < all.size();) {
      const ssize_t written = write(end, all.data() + at, all.size() - at);
      if (written <= 0) return;
      at += static_cast<size_t>(written);
    }
  }

  void read_from(int end) {
    std::string all, part;
    char buffer[4096];
    for (ssize_t got; (got = read(end, buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<size_t>(got));
    std::istringstream parts(all);
    for (size_t i = 0; std::getline(parts, part, '\0'); ++i) {
      if (i == 0)
        checked_.runs = std::stoul(part);
      else if (i == 1)
        checked_.refused = part;
      else
        checked_.findings.push_back(part);
    }
  }

  void report(const std::string& what, const std::string& how) {
    checked_.findings.push_back(text("run ", run_, ": ", what, ": ", how));
  }

  bool both_there(const char* what, const Outcome& got, const Outcome& expected) {
    if (got.error.has_value() != expected.error.has_value())
      report(what, text_of(got) + ", and the first run " + text_of(expected));
    return !got.error && !expected.error;
  }

  void expect_same(const char* what, const Outcome& got, const Outcome& expected) {
    if (!both_there(what, got, expected)) return;
    for (size_t i = 0; i < got.outputs.size(); ++i) {
      if (same_bits(got.outputs[i], expected.outputs[i])) continue;
      report(what, text("output ", i, ": other bits: ",
                        compare(got.outputs[i], expected.outputs[i], {0, 0, 0}).reason));
    }
  }

  void expect_close(const char* what, const Outcome& other, const Outcome& ours, double mean_off) {
    if (!both_there(what, other, ours)) return;
    for (size_t i = 0; i < ours.outputs.size(); ++i) {
      const std::string reason = difference(graph_, ours.outputs[i], other.outputs[i], mean_off);
      if (!reason.empty()) report(what, text("output ", i, ": ", reason));
    }
  }

  const GraphCase& graph_;
  std::string bytes_;
  std::vector<Outcome> results_;  // of -O2 on one thread, by run
  size_t run_ = 0;
  Checked checked_;
};

}  // namespace

Checked check_graph(const GraphCase& graph, const std::filesystem::path& other,
                    const std::filesystem::path& file) {
  GraphCheck check(graph);
  check.among_ourselves();
  check.with_defaults();
  if (!other.empty() && graph.differs.empty()) check.with_other_apart(other, file);
  return check.take();
}

}  // namespace sardonyx::graph_test
