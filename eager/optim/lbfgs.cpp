#include "eager/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/optim/line_search.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::optim {
namespace {

double inner_product(const Tensor& a, const Tensor& b) {
  return (a * b).sum().item<double>();
}
double greatest(const Tensor& a) {
  return abs(a).amax().item<double>();
}

}  // namespace

// Over all parameters as one vector.
struct LBFGS::Memory {
  struct CurvaturePair {
    Tensor change, move;  // of the gradient, and of the parameters
    double weight = 0;    // 1 / (change . move)
  };
  int64_t evaluations = 0, iterations = 0;
  std::deque<CurvaturePair> pairs;
  double scale = 1;  // of the estimate's diagonal
  Tensor direction, gradient;
  double distance = 0, loss = 0;

  // The estimate of the inverse Hessian times -gradient, by its two loops over the pairs.
  Tensor direction_for(const Tensor& now) const {
    Tensor d = -now;
    std::vector<double> parts(pairs.size());
    for (size_t i = pairs.size(); i-- > 0;) {
      parts[i] = inner_product(pairs[i].move, d) * pairs[i].weight;
      d = d - parts[i] * pairs[i].change;
    }
    d = d * scale;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const double part = inner_product(pairs[i].change, d) * pairs[i].weight;
      d = d + (parts[i] - part) * pairs[i].move;
    }
    return d;
  }

  // What the last move has shown.
  void learn(const Tensor& now, int64_t most) {
    constexpr double kMinCurvature = 1e-10;  // torch's
    const Tensor change = now - gradient, move = distance * direction;
    const double curvature = inner_product(change, move);
    if (!(curvature > kMinCurvature)) return;
    if (static_cast<int64_t>(pairs.size()) == most) pairs.pop_front();
    pairs.push_back({change, move, 1 / curvature});
    scale = curvature / inner_product(change, change);
  }
};

LBFGS::LBFGS(const std::vector<Tensor>& parameters, LbfgsOptions options)
    : Optimizer("LBFGS"), options_(options), memory_(std::make_shared<Memory>()) {
  require_within("max_iter", static_cast<double>(options.max_iter), 1, HUGE_VAL);
  require_within("history_size", static_cast<double>(options.history_size), 1, HUGE_VAL);
  require_within("tolerance_grad", options.tolerance_grad, 0, HUGE_VAL);
  require_within("tolerance_change", options.tolerance_change, 0, HUGE_VAL);
  if (options.max_eval)
    require_within("max_eval", static_cast<double>(*options.max_eval), 1, HUGE_VAL);
  add_group(parameters, options.lr);
  for (const Tensor& parameter : parameters) {
    if (parameter.dtype() == parameters[0].dtype() &&
        (parameter.dtype() == DType::kFloat || parameter.dtype() == DType::kDouble))
      continue;
    fail(ErrorCode::kInvalidArgument, "LBFGS: expected parameters of float32, or all of float64, ",
         "got ", parameter.type());
  }
}

// One step().
class LBFGS::Run {
 public:
  Run(const LBFGS& optimizer, const Closure& closure, const Loc& loc)
      : options_(optimizer.options_),
        memory_(*optimizer.memory_),
        parameters_(optimizer.parameters()),
        closure_(closure),
        loc_(loc),
        lr_(optimizer.lr()) {}

  Tensor all() {
    const NoGrad no_grad;
    const Tensor first = evaluate();
    const int64_t most = options_.max_eval.value_or(options_.max_iter * 5 / 4);
    for (int64_t i = 1; !is_flat() && i <= options_.max_iter; ++i) {
      if (!iterate(i == options_.max_iter) || evaluations_ >= most) break;
      if (greatest(memory_.direction) * std::abs(memory_.distance) <= options_.tolerance_change)
        break;
      if (std::abs(loss_ - memory_.loss) < options_.tolerance_change) break;
    }
    return first;
  }

 private:
  bool is_flat() const { return greatest(gradient_) <= options_.tolerance_grad; }

  // Runs the closure where the parameters are now.
  Tensor evaluate() {
    Tensor loss;
    {
      const EnableGrad enable_grad;
      loss = closure_();
    }
    if (!loss.defined() || !(loss.numel() == 1)) {
      fail(ErrorCode::kInvalidArgument, text_of(loc_),
           ": LBFGS: expected a closure that gives the loss, one number, got ",
           loss.defined() ? text(loss.type()) : "an undefined tensor");
    }
    loss_ = loss.item<double>();
    std::vector<Tensor> parts;
    for (const Tensor& parameter : parameters_) {
      const Tensor part = parameter.grad();
      parts.push_back((part.defined() ? part.detach() : zeros_like(parameter)).reshape({-1}));
    }
    gradient_ = cat(parts);
    ++evaluations_, ++memory_.evaluations;
    return loss;
  }

  std::vector<Tensor> values() const {
    std::vector<Tensor> found;
    for (const Tensor& parameter : parameters_)
      found.push_back(parameter.detach());
    return found;
  }

  // The parameters at a distance from `start` along the direction.
  void move_from(const std::vector<Tensor>& start, double distance) const {
    int64_t begin = 0;
    for (size_t i = 0; i < start.size(); ++i) {
      const int64_t count = start[i].numel().value();
      const Tensor part = memory_.direction.slice(0, {begin, begin + count});
      parameters_[i].assign(start[i] + distance * part.reshape(start[i].shape()), loc_);
      begin += count;
    }
  }

  LinePoint search(const std::vector<Tensor>& start, double distance, double slope) {
    const LinePoint here{0, loss_, slope, gradient_};
    const auto at = [&](double there) {
      move_from(start, there);
      evaluate();
      return LinePoint{there, loss_, inner_product(gradient_, memory_.direction), gradient_};
    };
    return strong_wolfe(at, here, distance, greatest(memory_.direction), options_.tolerance_change);
  }

  // Moves once; whether to go on.
  bool iterate(bool is_last) {
    const bool is_first = ++memory_.iterations == 1;
    if (!is_first) memory_.learn(gradient_, options_.history_size);
    memory_.direction = memory_.direction_for(gradient_);
    memory_.gradient = gradient_;
    memory_.loss = loss_;
    const double length = is_first ? abs(gradient_).sum().item<double>() : 0;
    memory_.distance = (length > 1 ? 1 / length : 1) * lr_;
    const double slope = inner_product(gradient_, memory_.direction);
    if (slope > -options_.tolerance_change) return false;
    const std::vector<Tensor> start = values();
    if (options_.strong_wolfe) {
      const LinePoint found = search(start, memory_.distance, slope);
      memory_.distance = found.distance;
      loss_ = found.value;
      gradient_ = found.gradient;
      move_from(start, found.distance);
      return true;
    }
    move_from(start, memory_.distance);
    if (!is_last) evaluate();
    return !is_last;
  }

  const LbfgsOptions& options_;
  Memory& memory_;
  std::vector<Tensor> parameters_;
  const Closure& closure_;
  Loc loc_;
  double lr_;
  double loss_ = 0;
  Tensor gradient_;
  int64_t evaluations_ = 0;
};

Tensor LBFGS::step_all(const Closure* closure, const Loc& loc) {
  if (!closure || TraceContext::active()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         closure ? ": LBFGS reads the loss in C++, so its step can't be traced"
                 : ": LBFGS calls the function many times: step([&] { optimizer.zero_grad(); ...; "
                   "loss.backward(); return loss; })");
  }
  return Run(*this, *closure, loc).all();
}

nn::StateDict LBFGS::state_dict() const {
  nn::StateDict state = Optimizer::state_dict();
  const Memory& m = *memory_;
  state["state.0.func_evals"] = Tensor::scalar(m.evaluations);
  state["state.0.n_iter"] = Tensor::scalar(m.iterations);
  if (!m.direction.defined()) return state;
  state["state.0.d"] = m.direction;
  state["state.0.prev_flat_grad"] = m.gradient;
  state["state.0.t"] = Tensor::scalar(m.distance);
  state["state.0.prev_loss"] = Tensor::scalar(m.loss);
  state["state.0.H_diag"] = Tensor::scalar(m.scale);
  std::vector<Tensor> changes, moves;
  std::vector<double> weights;
  for (const Memory::CurvaturePair& pair : m.pairs) {
    changes.push_back(pair.change);
    moves.push_back(pair.move);
    weights.push_back(pair.weight);
  }
  if (weights.empty()) return state;
  state["state.0.old_dirs"] = stack(changes);
  state["state.0.old_stps"] = stack(moves);
  state["state.0.ro"] = tensor(weights);
  return state;
}

namespace {

// Entries of a state of one parameter list, checked.
class LbfgsEntries {
 public:
  LbfgsEntries(const nn::StateDict& state, const Tensor& like) : state_(state), like_(like) {}
  const Tensor& at(const std::string& name) const {
    const auto found = state_.find("state.0." + name);
    if (found == state_.end() || !found->second.defined())
      fail(ErrorCode::kInvalidArgument, "load_state_dict of LBFGS: missing state.0.", name);
    return found->second;
  }
  bool has(const std::string& name) const { return state_.contains("state.0." + name); }
  double number(const std::string& name) const {
    const Tensor& found = at(name);
    if (found.numel() == 1) return found.item<double>();
    refuse(name, "one number");
  }
  // Rows of the length of all parameters; `rows` < 0: a vector.
  const Tensor& vectors(const std::string& name, int64_t rows = -1) const {
    const Tensor& found = at(name);
    Dims wanted = like_.shape();
    if (rows >= 0) wanted.insert(wanted.begin(), rows);
    if (found.dtype() == like_.dtype() && found.shape() == wanted) return found;
    refuse(name, text(like_.dtype(), to_text(wanted)));
  }

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& wanted) const {
    fail(ErrorCode::kInvalidArgument, "load_state_dict of LBFGS: state.0.", name, ": expected ",
         wanted, ", got ", at(name).type());
  }
  const nn::StateDict& state_;
  const Tensor& like_;
};

}  // namespace

void LBFGS::load_state_dict(const nn::StateDict& state) {
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters())
    flat.push_back(parameter.detach().reshape({-1}));
  const Tensor all = cat(flat);
  const LbfgsEntries entries(state, all);
  Memory read;
  read.evaluations = static_cast<int64_t>(entries.number("func_evals"));
  read.iterations = static_cast<int64_t>(entries.number("n_iter"));
  if (read.iterations > 0) {
    read.direction = entries.vectors("d");
    read.gradient = entries.vectors("prev_flat_grad");
    read.distance = entries.number("t");
    read.loss = entries.number("prev_loss");
    read.scale = entries.number("H_diag");
  }
  if (entries.has("ro")) {
    const std::vector<double> weights = entries.at("ro").to(DType::kDouble).to_vector<double>();
    const auto count = static_cast<int64_t>(weights.size());
    const Tensor &changes = entries.vectors("old_dirs", count),
                 &moves = entries.vectors("old_stps", count);
    for (int64_t i = std::max<int64_t>(0, count - options_.history_size); i < count; ++i)
      read.pairs.push_back({changes[i], moves[i], weights[static_cast<size_t>(i)]});
  }
  nn::StateDict rest;
  for (const auto& [name, tensor] : state) {
    if (!name.starts_with("state.")) rest[name] = tensor;
  }
  Optimizer::load_state_dict(rest);
  *memory_ = std::move(read);
}

}  // namespace sardonyx::eager::optim
