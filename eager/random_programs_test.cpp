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
#include <set>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "executor/session.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"

namespace sardonyx::eager::programs {
namespace {

using Tensors = std::vector<Tensor>;

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t limit) { return static_cast<int64_t>(engine_() % uint64_t(limit)); }
  bool one_in(int64_t count) { return below(count) == 0; }

 private:
  std::mt19937_64 engine_;
};

// What a program has besides its steps. Two of them made alike hold the same values.
struct World : nn::Layer<World> {
  std::vector<nn::Linear> linears;
  std::vector<nn::LayerNorm> layer_norms;
  std::vector<nn::BatchNorm1d> batch_norms;
  std::vector<nn::GRU> grus;
  std::vector<Tensor> parameters_of_steps;
  nn::Dropout dropout = add("dropout", nn::Dropout(0.25));

  std::string fresh(const char* base) { return text(base, count_++); }
  Tensor new_parameter(const Tensor& init) { return parameter(fresh("p"), init); }
  template <typename M>
  void keep(std::vector<M>& list, M module) {
    list.push_back(add(fresh("m"), module));
  }

 private:
  int count_ = 0;
};

struct Step {
  size_t op = 0;
  size_t a = 0, b = 0;  // operands, by number
  int64_t k = 0;        // an axis, a size or a choice
  size_t own = 0;       // which of the world's modules
};

// One kind of step. `prepare` makes what it needs of the world, from the operand at hand.
struct Op {
  const char* name;
  std::function<Tensor(const World&, const Step&, const Tensor& a, const Tensor& b)> run;
  bool jumps = false;  // a small difference may become a large one
  std::function<void(World&, Step&, const Tensor& a)> prepare = {};
};

int64_t axis_of(const Step& step, const Tensor& x) {
  return x.rank() == 0 ? 0 : step.k % static_cast<int64_t>(x.rank());
}
Tensor as_float(const Tensor& x) {
  return is_floating(x.dtype()) ? x : x.to(DType::kFloat);
}

const std::vector<Op>& ops() {
  using W = const World&;
  using S = const Step&;
  using T = const Tensor&;
  static const std::vector<Op> all = {
      // elementwise
      {"relu", [](W, S, T a, T) { return relu(a); }},
      {"tanh", [](W, S, T a, T) { return tanh(a); }},
      {"sigmoid", [](W, S, T a, T) { return sigmoid(a); }},
      {"gelu", [](W, S s, T a, T) { return gelu(a, s.k % 2 ? "tanh" : "none"); }},
      {"leaky_relu", [](W, S, T a, T) { return leaky_relu(a, 0.1); }},
      {"neg", [](W, S, T a, T) { return -a; }},
      {"abs", [](W, S, T a, T) { return abs(a); }},
      {"square", [](W, S, T a, T) { return square(a); }},
      {"exp", [](W, S, T a, T) { return exp(-abs(a)); }},
      {"log", [](W, S, T a, T) { return log(abs(a) + 1); }},
      {"sqrt", [](W, S, T a, T) { return sqrt(abs(a) + 0.5); }},
      {"reciprocal", [](W, S, T a, T) { return 1 / (abs(a) + 1); }},
      {"floor", [](W, S, T a, T) { return floor(a); }, true},
      {"sign", [](W, S, T a, T) { return sign(a); }, true},
      {"clamp", [](W, S s, T a, T) { return clamp(a, -1, static_cast<double>(s.k % 3)); }},
      {"add", [](W, S, T a, T b) { return a + b; }},
      {"sub", [](W, S, T a, T b) { return a - b; }},
      {"mul", [](W, S, T a, T b) { return a * b; }},
      {"div", [](W, S, T a, T b) { return a / (abs(b) + 1); }},
      {"maximum", [](W, S, T a, T b) { return maximum(a, b); }},
      {"minimum", [](W, S, T a, T b) { return minimum(a, 0.25) + b; }},
      {"number", [](W, S s, T a, T) { return a * 0.5 + static_cast<double>(s.k); }},
      {"integer", [](W, S s, T a, T) { return s.k - a * int64_t{2}; }},
      {"remainder", [](W, S, T a, T) { return remainder(a, 3); }, true},
      {"compare", [](W, S, T a, T b) { return a > b; }, true},
      {"equal", [](W, S, T a, T b) { return a == b; }, true},
      {"logic", [](W, S, T a, T b) { return !(a > 0) && (b <= 0 || a != b); }, true},
      {"where", [](W, S, T a, T b) { return where(a > 0, a, b); }, true},
      {"rank0", [](W, S, T a, T b) { return a * b.to(DType::kDouble).sum() * 0.01; }},
      // types
      {"to", [](W, S s, T a, T) {
         constexpr DType kTypes[] = {DType::kFloat, DType::kDouble, DType::kInt64, DType::kInt32,
                                     DType::kBool};
         return a.to(kTypes[s.k % 5]);
       }, true},
      {"float", [](W, S, T a, T) { return a.to(DType::kFloat); }},
      // shapes
      {"reshape", [](W, S, T a, T) { return a.reshape({a.size(0), -1}); }},
      {"flatten", [](W, S, T a, T) { return a.flatten(); }},
      {"unsqueeze", [](W, S s, T a, T) { return a.unsqueeze(axis_of(s, a)); }},
      {"squeeze", [](W, S s, T a, T) { return a.squeeze({axis_of(s, a)}); }},
      {"transpose", [](W, S s, T a, T) { return a.transpose(0, axis_of(s, a)); }},
      {"slice", [](W, S s, T a, T) {
         return a.slice(axis_of(s, a), {s.k % 2, {}, s.k % 3 + 1});
       }},
      {"reverse", [](W, S s, T a, T) { return a.slice(axis_of(s, a), {{}, {}, -1}); }},
      {"select", [](W, S s, T a, T) { return a.select(axis_of(s, a), -1); }},
      {"index", [](W, S, T a, T) { return a.index({Ellipsis{}, NewAxis{}, 0}); }},
      {"mask", [](W, S, T a, T) { return a.index({a > 0}).sum(); }, true},
      {"index_put", [](W, S, T a, T) { return a.index_put({0}, a[-1]); }},
      {"cat", [](W, S s, T a, T b) { return cat({a, b}, axis_of(s, a)); }},
      {"stack", [](W, S s, T a, T b) { return stack({a, b, a}, axis_of(s, a)); }},
      {"chunk", [](W, S s, T a, T) { return chunk(a, 2, axis_of(s, a))[0]; }},
      {"split", [](W, S, T a, T) { return split(a, {1, a.size(0) - 1})[1]; }},
      {"pad", [](W, S s, T a, T) { return pad(a, {1, s.k % 2}); }},
      {"tile", [](W, S, T a, T) { return tile(a, Dims(a.rank(), 2)); }},
      {"expand", [](W, S, T a, T) {
         Dims shape = a.shape();
         shape.insert(shape.begin(), 2);
         return a.expand(shape);
       }},
      {"size", [](W, S, T a, T) { return a + dim_tensor(a.size(0)).to(DType::kFloat); }},
      {"branch on size", [](W, S s, T a, T) {
         return a.size(0) == s.k ? a * 2 : a.size(0) > 3 ? a + 1 : a;
       }},
      // reductions
      {"sum", [](W, S s, T a, T) { return a.sum({axis_of(s, a)}, s.k % 2 == 0); }},
      {"mean", [](W, S s, T a, T) { return a.mean({axis_of(s, a)}, s.k % 2 == 0); }},
      {"amax", [](W, S s, T a, T) { return a.amax({axis_of(s, a)}, true); }},
      {"sum of all", [](W, S, T a, T) { return a.sum(); }},
      {"argmax", [](W, S s, T a, T) { return a.argmax(axis_of(s, a)); }, true},
      {"var", [](W, S s, T a, T) { return var(a, {axis_of(s, a)}, true, 0); }},
      {"logsumexp", [](W, S s, T a, T) { return logsumexp(a, {axis_of(s, a)}); }},
      {"cumsum", [](W, S s, T a, T) { return cumsum(a, axis_of(s, a)); }},
      {"softmax", [](W, S s, T a, T) { return softmax(a, axis_of(s, a)); }},
      {"log_softmax", [](W, S s, T a, T) { return log_softmax(a, axis_of(s, a)); }},
      {"topk", [](W, S s, T a, T) { return topk(a, 1 + s.k % 2, axis_of(s, a)).first; }, true},
      {"sort", [](W, S s, T a, T) { return sort(a, axis_of(s, a)).first; }},
      // picking
      {"index_select", [](W, S s, T a, T) {
         return index_select(a, axis_of(s, a), tensor<int64_t>({0, -1, 0}));
       }},
      {"gather", [](W, S s, T a, T) {
         return gather(a, axis_of(s, a), (a > 0).to(DType::kInt64) - 1);
       }, true},
      {"one_hot", [](W, S, T a, T) { return one_hot((a > 0).to(DType::kInt64), 3); }, true},
      {"tril", [](W, S s, T a, T) { return tril(a, s.k % 3 - 1); }},
      // products
      {"matmul", [](W, S, T a, T b) { return matmul(a, b.t()); }},
      {"einsum", [](W, S s, T a, T b) {
         constexpr const char* kEquations[] = {"ij,kj->ik", "ij,ij->j", "ij,ik->jk", "...i,...i->..."};
         return einsum(kEquations[s.k % 4], {a, b});
       }},
      // modules
      {"Linear", [](W w, S s, T a, T) { return w.linears[s.own](a); }, false,
       [](World& w, Step& s, T a) {
         s.own = w.linears.size();
         w.keep(w.linears, nn::Linear(a.size(-1).value(), 3, {.bias = s.k % 2 == 0}));
       }},
      {"LayerNorm", [](W w, S s, T a, T) { return w.layer_norms[s.own](a); }, false,
       [](World& w, Step& s, T a) {
         s.own = w.layer_norms.size();
         w.keep(w.layer_norms, nn::LayerNorm(a.size(-1).value()));
       }},
      {"BatchNorm1d", [](W w, S s, T a, T) { return w.batch_norms[s.own](a); }, false,
       [](World& w, Step& s, T a) {
         s.own = w.batch_norms.size();
         w.keep(w.batch_norms, nn::BatchNorm1d(a.size(1).value()));
       }},
      {"GRU", [](W w, S s, T a, T) { return w.grus[s.own](a.unsqueeze(1)).output; }, false,
       [](World& w, Step& s, T a) {
         s.own = w.grus.size();
         w.keep(w.grus, nn::GRU(a.size(-1).value(), 2));
       }},
      {"Dropout", [](W w, S, T a, T) { return w.dropout(a); }},
      {"parameter", [](W w, S s, T a, T) { return a * w.parameters_of_steps[s.own]; }, false,
       [](World& w, Step& s, T a) {
         s.own = w.parameters_of_steps.size();
         w.parameters_of_steps.push_back(w.new_parameter(randn({a.size(-1)}) * 0.5));
       }},
      {"detach", [](W, S, T a, T b) { return a.detach() + b; }},
      // control flow
      {"cond", [](W, S, T a, T) {
         return cond(
             as_float(a).sum() > 0, [&] { return as_float(a) * 2; },
             [&] { return as_float(a) - 1; });
       }, true},
      {"cond on mode", [](W w, S, T a, T) { return w.is_training() ? a * 2 : a; }},
      {"while_loop", [](W, S s, T a, T) {
         return while_loop([&](const Tensors& state) { return state[1] < s.k % 4; },
                           [](const Tensors& state) -> Tensors {
                             return {tanh(state[0]) * 1.5, state[1] + 1};
                           },
                           {as_float(a), zeros({}, {.dtype = DType::kInt64})})[0];
       }},
      {"while_loop on values", [](W, S, T a, T) {
         return while_loop([](const Tensors& state) { return abs(state[0]).sum() > 4; },
                           [](const Tensors& state) -> Tensors { return {state[0] * 0.5}; },
                           {as_float(a)})[0];
       }, true},
      {"scan", [](W, S, T a, T) {
         const Tensor x = as_float(a);
         return scan(
                    [](const Tensors& state, const Tensors& slices) -> ScanResult {
                      const Tensor next = state[0] * 0.5 + slices[0];
                      return {{next}, {next * 2}};
                    },
                    {x[0] * 0}, {x})
             .outputs[0];
       }},
  };
  return all;
}

bool takes_two(const Op& op) {
  static const std::set<std::string_view> names{
      "add",   "sub",   "mul",   "div", "maximum", "minimum", "compare", "equal",
      "logic", "where", "rank0", "cat", "stack",   "matmul",  "einsum",  "detach"};
  return names.contains(op.name);
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

bool names_line(const Error& error) {
  return std::string_view(error.what()).find("random_programs_test.cpp:") != std::string::npos;
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
    if (op.jumps && !may_jump) continue;
    if (!takes_two(op)) step.b = step.a;
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
  double largest = 1e-3, apart = 0;
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
    EXPECT_EQ(got.results.size(), expected.results.size()) << form;
    if (got.results.size() != expected.results.size()) return false;
    for (size_t i = 0; i < got.results.size(); ++i) {
      const double apart = distance(expected.results[i].data(), got.results[i].data());
      EXPECT_LE(apart, level_ == 0 ? 1e-6 : 2e-4)
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
