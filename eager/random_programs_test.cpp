// Random programs: what is computed at once, compiled, and exported and loaded again must agree at
// every step, or an error must name the line of the call at fault. SARDONYX_RANDOM_PROGRAMS asks
// for more of them, SARDONYX_RANDOM_SEED for others; a failure names the seed of its program, which
// alone is run by SARDONYX_RANDOM_PROGRAMS=1.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "eager/random_programs_for_test.h"
#include "eager/trace/compile.h"
#include "executor/session.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"

namespace sardonyx::eager::programs {
namespace {

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t limit) { return static_cast<int64_t>(engine_() % uint64_t(limit)); }
  bool one_in(int64_t count) { return below(count) == 0; }

 private:
  std::mt19937_64 engine_;
};

const std::vector<Op>& ops() {
  static const std::vector<Op> all = [] {
    std::vector<Op> joined;
    for (const auto& steps :
         {element_steps(), arrangement_steps(), reduction_steps(), module_steps(), control_steps()})
      joined.insert(joined.end(), steps.begin(), steps.end());
    return joined;
  }();
  return all;
}

struct Program {
  std::vector<Step> steps;

  Tensors run(const World& world, const Tensors& in) const {
    Tensors values = in;
    for (const Step& step : steps)
      values.push_back(ops()[step.op].run(world, step, values[step.a], values[step.b]));
    // All that no step reads: a graph leaves out what nobody wants, and its errors with it.
    std::vector<bool> is_read(values.size());
    for (const Step& step : steps)
      is_read[step.a] = is_read[step.b] = true;
    Tensors results;
    for (size_t i = in.size(); i < values.size(); ++i) {
      if (!is_read[i]) results.push_back(values[i]);
    }
    return results;
  }
  std::string text_of() const {
    std::string all;
    for (const Step& step : steps)
      all += text("  ", ops()[step.op].name, " of ", step.a, " and ", step.b, ", k ", step.k, "\n");
    return all;
  }
};

// Steps stand in the files eager/random_*.
bool names_line(const Error& error) {
  const std::string_view message = error.what();
  for (size_t at = message.find("random_"); at != message.npos;
       at = message.find("random_", at + 1)) {
    const size_t colon = message.find(':', at);
    const std::string_view file = message.substr(at, colon - at);
    if (file.ends_with("_test.cpp") || file.ends_with("_for_test.h")) return true;
  }
  return false;
}

bool is_tame(const Tensor& x) {
  const sardonyx::Tensor& value = x.data();
  if (value.count() == 0 || value.count() > 2000 || value.rank() > 4) return false;
  for (const double one : value.to_doubles()) {
    if (!(std::abs(one) < 50)) return false;
  }
  return true;
}

// The inputs of a call: x float [n, 4], classes int64 [n], y float [n, 4].
Tensors inputs_of(int64_t size, uint64_t seed) {
  const Generator own(seed);
  return {randn({size, 4}, {.generator = own}),
          randint(0, 3, {size}, {.dtype = DType::kInt64, .generator = own}),
          randn({size, 4}, {.generator = own})};
}

// Steps that work on the inputs at hand; what is refused on the way must name its line.
Program made(Dice& dice, World& world, bool may_jump) {
  Program program;
  Tensors values = inputs_of(4, 1);
  const int64_t wanted = 3 + dice.below(10);
  for (int tries = 0; tries < 60 && static_cast<int64_t>(program.steps.size()) < wanted; ++tries) {
    const auto count = static_cast<int64_t>(values.size());
    // Mostly the newest values.
    const auto pick = [&] {
      return static_cast<size_t>(
          dice.one_in(2) ? count - 1 - dice.below(std::min<int64_t>(count, 2)) : dice.below(count));
    };
    Step step{static_cast<size_t>(dice.below(static_cast<int64_t>(ops().size()))), pick(), pick(),
              dice.below(6)};
    const Op& op = ops()[step.op];
    if ((op.flags & kJumps) && !may_jump) continue;
    if (!(op.flags & kTwo)) step.b = step.a;
    try {
      const NoGrad no_grad;
      if (op.prepare) op.prepare(world, step, values[step.a]);
      const Tensor result = op.run(world, step, values[step.a], values[step.b]);
      if (!is_tame(result)) continue;
      values.push_back(result);
      program.steps.push_back(step);
    } catch (const Error& error) {
      EXPECT_TRUE(names_line(error)) << op.name << " of " << values[step.a].type() << " and "
                                     << values[step.b].type() << ": " << error.what();
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    }
  }
  return program;
}

// How far two results are apart, relative to the largest magnitude; infinite where types differ.
double distance(const sardonyx::Tensor& a, const sardonyx::Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return INFINITY;
  if (a == b) return 0;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double largest = 1e-2, apart = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return INFINITY;
    apart = std::max(apart, std::abs(x[i] - y[i]));
  }
  for (const double one : x)
    largest = std::isfinite(one) ? std::max(largest, std::abs(one)) : largest;
  return apart / largest;
}

struct Tally {
  int agreed = 0, refused = 0, both_refused = 0;
  std::map<std::string, int> reasons;
};

// One program in its forms.
class Trial {
 public:
  Trial(uint64_t seed, Tally& tally) : seed_(seed), tally_(tally) {
    Dice dice(seed);
    // Rewriting passes change the last digits, so steps that jump are compared without them.
    level_ = dice.one_in(2) ? 2 : 0;
    trains_ = dice.one_in(2);
    accumulates_ = dice.one_in(3);
    generate(dice, eager_world_, program_);
    Dice again(seed);
    level_ = again.one_in(2) ? 2 : 0;
    trains_ = again.one_in(2);
    accumulates_ = again.one_in(3);
    Program same;
    generate(again, compiled_world_, same);
    for (int call = 0; call < 4; ++call) {
      Call& one = calls_.emplace_back();
      one.size = call == 0 ? 4 : 1 + dice.below(6);
      one.toggles_mode = dice.one_in(4);
      one.clears = !accumulates_ || dice.one_in(2);
    }
    opset_ =
        std::vector<std::optional<int64_t>>{{}, 13, 17, 21}[static_cast<size_t>(dice.below(4))];
  }

  void run() {
    SCOPED_TRACE(text("program of seed ", seed_, ", level ", level_, trains_ ? ", trained" : "",
                      ":\n", program_.text_of()));
    run_compiled();
    run_exported();
  }

 private:
  struct Call {
    int64_t size = 0;
    bool toggles_mode = false, clears = true;
  };

  void generate(Dice& dice, World& world, Program& program) const {
    const UseGenerator draws{Generator(seed_)};
    program = made(dice, world, level_ == 0);
  }

  // The function of one world, with the training step where there is one.
  TensorFunction function_of(World& world, optim::Optimizer* optimizer) {
    return [this, &world, optimizer](const Tensors& in) -> Tensors {
      Tensors results = program_.run(world, in);
      if (!trains_) return results;
      Tensor loss = full({}, 0);
      for (const Tensor& result : results)
        loss = loss + tanh(result.to(DType::kFloat)).mean();
      for (const Tensor& parameter : world.parameters())
        loss = loss + parameter.sum() * 0.01;
      loss.backward();
      if (optimizer) optimizer->step();
      results.push_back(loss.detach());
      return results;
    };
  }

  struct Outcome {
    Tensors results;
    std::string error;
    bool names_line = true;
  };
  static Outcome outcome_of(const std::function<Tensors()>& call) {
    const UseGenerator draws{Generator(5)};
    try {
      return {call(), "", true};
    } catch (const Error& error) {
      return {{}, error.what(), programs::names_line(error)};
    }
  }

  // Gradients and parameters beside the results.
  static void append_states(const World& world, Tensors& results) {
    for (const auto& [name, tensor] : world.state_dict())
      results.push_back(tensor);
    for (const Tensor& parameter : world.parameters()) {
      if (parameter.grad().defined()) results.push_back(parameter.grad());
    }
  }

  // False where one of them was refused: what follows would differ.
  bool agree(const Outcome& expected, const Outcome& got, const char* form) {
    EXPECT_TRUE(expected.names_line) << "eager: " << expected.error;
    EXPECT_TRUE(got.names_line) << form << ": " << got.error;
    if (!expected.error.empty()) {
      EXPECT_FALSE(got.error.empty()) << form << " computes what eager refuses: " << expected.error;
      ++tally_.both_refused;
      return false;
    }
    if (!got.error.empty()) {
      ++tally_.refused;
      ++tally_.reasons[text(form, ": ", got.error)];
      return false;
    }
    // A file may hold other forms of ops, which round differently.
    const double exact = std::string_view(form) == "exported" ? 1e-5 : 1e-6;
    EXPECT_EQ(got.results.size(), expected.results.size()) << form;
    if (got.results.size() != expected.results.size()) return false;
    for (size_t i = 0; i < got.results.size(); ++i) {
      const double apart = distance(expected.results[i].data(), got.results[i].data());
      EXPECT_LE(apart, level_ == 0 ? exact : 2e-4)
          << form << ", result " << i << ": expected " << expected.results[i].type() << ' '
          << expected.results[i] << ", got " << got.results[i].type() << ' ' << got.results[i];
      if (!(apart <= 2e-4)) return false;
    }
    ++tally_.agreed;
    return true;
  }

  void run_compiled() {
    World &a = eager_world_, &b = compiled_world_;
    std::unique_ptr<optim::SGD> of_a, of_b;
    if (trains_ && !accumulates_ && !a.parameters().empty()) {
      of_a = std::make_unique<optim::SGD>(a.parameters(), optim::SgdOptions{.lr = 0.05});
      of_b = std::make_unique<optim::SGD>(b.parameters(), optim::SgdOptions{.lr = 0.05});
    }
    const TensorFunction plain = function_of(a, of_a.get());
    const Compiled compiled =
        compile(function_of(b, of_b.get()), {.optimization_level = level_, .threads = 1});
    for (const Call& call : calls_) {
      if (call.toggles_mode) {
        a.train(!a.is_training());
        b.train(!b.is_training());
      }
      if (call.clears) {
        a.zero_grad();
        b.zero_grad();
      }
      const Tensors in = inputs_of(call.size, seed_ + static_cast<uint64_t>(call.size));
      Outcome expected = outcome_of([&] { return plain(in); });
      Outcome got = outcome_of([&] { return compiled(in); });
      if (expected.error.empty() && got.error.empty()) {
        append_states(a, expected.results);
        append_states(b, got.results);
      }
      if (!agree(expected, got, "compiled")) return;
    }
  }

  void run_exported() {
    const nn::EvalMode mode(eager_world_);
    const NoGrad no_grad;
    trains_ = false;
    const TensorFunction plain = function_of(eager_world_, nullptr);
    ExportOptions options;
    options.input_names = {"x", "classes", "y"};
    options.dynamic_axes = {{"x", {{0, "n"}}}, {"classes", {{0, "n"}}}, {"y", {{0, "n"}}}};
    options.opset = opset_;
    std::optional<Session> session;
    std::vector<std::string> comparisons;
    const Outcome made = outcome_of([&] {
      const Model model = traced_model(plain, inputs_of(4, 1), options);
      const std::string bytes = model_bytes(model, {.opset = options.opset});
      session.emplace(load_model(std::as_bytes(std::span(bytes))),
                      SessionOptions{.optimization_level = level_});
      return Tensors();
    });
    if (!session) {
      EXPECT_TRUE(made.names_line) << "exported: " << made.error;
      ++tally_.refused;
      ++tally_.reasons["exported: " + made.error];
      return;
    }
    for (const int64_t size : {4, 2, 5}) {
      // What C++ compares is answered by the example: other sizes may differ.
      if (size != 4 && compares_sizes()) continue;
      const Tensors in = inputs_of(size, seed_);
      const Outcome expected = outcome_of([&] { return plain(in); });
      Outcome got = outcome_of([&] {
        std::vector<Datum> data;
        for (size_t i = 0; i < session->inputs().size(); ++i)
          data.push_back(in[i].datum());
        Tensors results;
        for (const Datum& datum : session->run(std::span<const Datum>(data)))
          results.emplace_back(datum.tensor());
        return results;
      });
      if (!expected.error.empty() && got.error.empty()) continue;  // a check of eager code alone
      got.names_line = true;                                       // a file's errors name its nodes
      if (!agree(expected, got, "exported")) return;
    }
  }
  bool compares_sizes() const {
    return std::ranges::any_of(program_.steps, [](const Step& step) {
      const std::string_view name = ops()[step.op].name;
      return name == "branch on size" || name == "chunk";
    });
  }

  uint64_t seed_;
  Tally& tally_;
  int level_ = 0;
  bool trains_ = false, accumulates_ = false;
  Program program_;
  World eager_world_, compiled_world_;
  std::vector<Call> calls_;
  std::optional<int64_t> opset_;
};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given && *given ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(RandomPrograms, AgreeInAllForms) {
  constexpr uint64_t kPrograms = 300, kMaxFailures = 5;
  const uint64_t count = number_from("SARDONYX_RANDOM_PROGRAMS", kPrograms);
  const uint64_t first = number_from("SARDONYX_RANDOM_SEED", 1);
  Tally tally;
  uint64_t failures = 0;
  for (uint64_t seed = first;
       seed < first + count && failures < number_from("SARDONYX_RANDOM_FAILURES", kMaxFailures);
       ++seed) {
    const int before =
        ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    Trial(seed, tally).run();
    failures +=
        ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() >
        before;
  }
  RecordProperty("agreed", tally.agreed);
  RecordProperty("refused", tally.refused);
  // Most must run: a test of refusals alone proves little.
  EXPECT_GT(tally.agreed, 4 * (tally.refused + tally.both_refused));
  if (std::getenv("SARDONYX_RANDOM_PROGRAMS")) {
    std::cout << tally.agreed << " agreed, " << tally.both_refused << " refused by both, "
              << tally.refused << " refused:\n";
    for (const auto& [reason, times] : tally.reasons)
      std::cout << times << " x " << reason << '\n';
  }
}

}  // namespace
}  // namespace sardonyx::eager::programs
