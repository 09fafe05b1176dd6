// Schedules of learning rates, by torch.optim.lr_scheduler's names and arguments.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <span>

#include "eager/optim.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/attributes.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace optim = eager::optim;
using optim::Optimizer;
using optim::Scheduler;

template <typename S>
using SchedulerClass = py::class_<S, Scheduler, std::shared_ptr<S>>;

// Class `name` whose constructor takes what `make(arguments)` does, which gives the schedule.
template <typename S, typename Make>
auto schedule(py::module_& m, const char* name, const Make& make) {
  const std::string signature = signature_text(name, make);
  return SchedulerClass<S>(m, name, signature.c_str())
      .def(py::init([name, make](const py::args& args, const py::kwargs& kwargs) {
        CallArguments a(name, args, kwargs);
        return make(a);
      }));
}

std::function<double(int64_t)> factor_from(const py::object& function) {
  return [held = shared_object(function)](int64_t step) {
    const LockedInterpreter locked;
    return call_python(*held, step).cast<double>();
  };
}

// A schedule that Python derives from LRScheduler: get_lr() gives the rates of the step last_epoch.
class PythonScheduler : public Scheduler {
 public:
  PythonScheduler(const Optimizer& optimizer, SharedObject self)
      : Scheduler(optimizer), self_(std::move(self)) {}
  int64_t asked_step() const { return asked_step_; }
  void set_step(int64_t step) override {
    const LockedInterpreter locked;
    asked_step_ = step;
    rates_ = call_python((*self_)().attr("get_lr")).cast<std::vector<double>>();
    if (rates_.size() != lrs().size())
      throw py::type_error(text("get_lr(): expected ", lrs().size(),
                                " rates, one for each group, got ", rates_.size()));
    Scheduler::set_step(step);
  }

 private:
  double lr_at(int64_t, double) const override { return rates_[0]; }
  double group_lr_at(int64_t, double, size_t group) const override { return rates_[group]; }

  SharedObject self_;  // a weak reference
  int64_t asked_step_ = 0;
  std::vector<double> rates_;
};

int64_t last_epoch(const Scheduler& self) {
  const auto* own = dynamic_cast<const PythonScheduler*>(&self);
  return own ? own->asked_step() : self.steps();
}

// As torch's, a schedule sets the rates of its first step when it is made.
void construct_scheduler(py::detail::value_and_holder& self, const py::object& optimizer,
                         int64_t last_epoch) {
  const auto object = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(self.inst));
  auto* const made =
      new PythonScheduler(optimizer.cast<const Optimizer&>(), shared_object(py::weakref(object)));
  self.value_ptr() = made;
  object.attr("optimizer") = optimizer;
  object.attr("base_lrs") = made->lrs();
  made->set_step(last_epoch + 1);
}

template <typename S>
void of_function(py::module_& m, const char* name) {
  schedule<S>(m, name, [](CallArguments& a) {
    const auto* optimizer = a.need<const Optimizer*>("optimizer");
    const auto function = a.need<py::object>("lr_lambda");
    a.finish();
    return std::make_shared<S>(*optimizer, factor_from(function));
  });
}

// One of `words`, which the error names.
size_t word_place(const char* name, const std::string& given, std::span<const char* const> words) {
  const auto at = std::ranges::find(words, given);
  if (at != words.end()) return static_cast<size_t>(at - words.begin());
  std::string all;
  for (const std::string word : words)
    all += (all.empty() ? "'" : ", '") + word + "'";
  throw py::type_error(text(name, ": expected one of ", all, ", got '", given, "'"));
}
constexpr const char* kCyclicModes[] = {"triangular", "triangular2", "exp_range"};
constexpr const char* kAnneals[] = {"cos", "linear"};
constexpr const char* kAims[] = {"min", "max"};
constexpr const char* kThresholds[] = {"rel", "abs"};
constexpr const char* kScales[] = {"cycle", "iterations"};

// One number, or one for each group.
using Numbers = std::vector<double>;

template <typename Options>
void take_momentum(CallArguments& a, Options& o) {
  Numbers base{o.base_momentum.at(0)}, max{o.max_momentum.at(0)};
  a.take("cycle_momentum", o.cycle_momentum);
  a.take("base_momentum", base).take("max_momentum", max);
  o.base_momentum = base, o.max_momentum = max;
}

std::shared_ptr<optim::CyclicLR> cyclic(CallArguments& a) {
  using Mode = optim::CyclicOptions::Mode;
  const auto* optimizer = a.need<const Optimizer*>("optimizer");
  optim::CyclicOptions o{};
  o.base_lr = a.need<Numbers>("base_lr");
  o.max_lr = a.need<Numbers>("max_lr");
  std::string mode = "triangular", scale_mode = "cycle";
  py::object scale_fn = py::none();
  a.take("step_size_up", o.step_size_up).take("step_size_down", o.step_size_down);
  a.take("mode", mode).take("gamma", o.gamma).take("scale_fn", scale_fn);
  a.take("scale_mode", scale_mode);
  take_momentum(a, o);
  a.finish();
  constexpr Mode kModes[] = {Mode::kTriangular, Mode::kTriangular2, Mode::kExpRange};
  o.mode = kModes[word_place("mode", mode, kCyclicModes)];
  o.scale_by_step = word_place("scale_mode", scale_mode, kScales) == 1;
  if (!scale_fn.is_none()) {
    o.scale = [held = shared_object(scale_fn)](double at) {
      const LockedInterpreter locked;
      return call_python(*held, at).cast<double>();
    };
  }
  return std::make_shared<optim::CyclicLR>(*optimizer, o);
}

std::shared_ptr<optim::SWALR> averaging(CallArguments& a) {
  const auto* optimizer = a.need<const Optimizer*>("optimizer");
  const auto swa_lr = a.need<double>("swa_lr");
  int64_t epochs = 10;
  std::string strategy = "cos";
  a.take("anneal_epochs", epochs).take("anneal_strategy", strategy).finish();
  const bool is_linear = word_place("anneal_strategy", strategy, kAnneals) == 1;
  return std::make_shared<optim::SWALR>(*optimizer, swa_lr, epochs, is_linear);
}

using Schedulers = std::vector<std::shared_ptr<Scheduler>>;

Schedulers schedulers_from(const py::object& given) {
  Schedulers all;
  for (const py::handle& one : given) {
    if (!py::isinstance<Scheduler>(one))
      throw py::type_error("schedulers: expected LRSchedulers, got " + std::string(py::repr(one)));
    all.push_back(one.cast<std::shared_ptr<Scheduler>>());
  }
  return all;
}

void bind_joined(py::module_& m) {
  schedule<optim::SequentialLR>(m, "SequentialLR", [](CallArguments& a) {
    const auto* optimizer = a.need<const Optimizer*>("optimizer");
    const auto schedulers = a.need<py::object>("schedulers");
    const auto milestones = a.need<std::vector<int64_t>>("milestones");
    a.finish();
    return std::make_shared<optim::SequentialLR>(*optimizer, schedulers_from(schedulers),
                                                 milestones);
  });
  schedule<optim::ChainedScheduler>(m, "ChainedScheduler", [](CallArguments& a) {
    const auto schedulers = a.need<py::object>("schedulers");
    a.finish();
    return std::make_shared<optim::ChainedScheduler>(schedulers_from(schedulers));
  });
}

optim::ReduceLROnPlateau plateau(CallArguments& a) {
  const auto* optimizer = a.need<const Optimizer*>("optimizer");
  std::string mode = "min", threshold_mode = "rel";
  optim::PlateauOptions o;
  a.take("mode", mode).take("factor", o.factor).take("patience", o.patience);
  a.take("threshold", o.threshold).take("threshold_mode", threshold_mode);
  a.take("cooldown", o.cooldown).take("min_lr", o.min_lr).take("eps", o.eps).finish();
  o.maximize = word_place("mode", mode, kAims) == 1;
  o.absolute = word_place("threshold_mode", threshold_mode, kThresholds) == 1;
  return optim::ReduceLROnPlateau(*optimizer, o);
}

void bind_plateau(py::module_& m) {
  const std::string doc = signature_text("ReduceLROnPlateau", plateau) +
                          "\n\nLowers the rate when a metric stops getting better.";
  py::class_<optim::ReduceLROnPlateau>(m, "ReduceLROnPlateau", doc.c_str())
      .def(py::init([](const py::args& args, const py::kwargs& kwargs) {
        CallArguments a("ReduceLROnPlateau", args, kwargs);
        return plateau(a);
      }))
      .def("step", &optim::ReduceLROnPlateau::step, py::arg("metrics"))
      .def_property_readonly("best", &optim::ReduceLROnPlateau::best)
      .def("state_dict", &optim::ReduceLROnPlateau::state_dict)
      .def("load_state_dict", &optim::ReduceLROnPlateau::load_state_dict, py::arg("state_dict"));
}

std::shared_ptr<optim::OneCycleLR> one_cycle(CallArguments& a) {
  const auto* optimizer = a.need<const Optimizer*>("optimizer");
  optim::OneCycleOptions o{};
  o.max_lr = a.need<Numbers>("max_lr");
  std::optional<int64_t> total, epochs, steps_per_epoch;
  std::string anneal = "cos";
  a.take("total_steps", total).take("epochs", epochs).take("steps_per_epoch", steps_per_epoch);
  a.take("pct_start", o.pct_start).take("anneal_strategy", anneal);
  take_momentum(a, o);
  a.take("div_factor", o.div_factor).take("final_div_factor", o.final_div_factor);
  a.take("three_phase", o.three_phase);
  a.finish();
  if (!total && !(epochs && steps_per_epoch))
    throw py::type_error("OneCycleLR(): expected total_steps, or epochs and steps_per_epoch");
  o.total_steps = total ? *total : *epochs * *steps_per_epoch;
  o.linear = word_place("anneal_strategy", anneal, kAnneals) == 1;
  return std::make_shared<optim::OneCycleLR>(*optimizer, o);
}

// Of an optimiser and two numbers, of which the first may have to be given.
template <typename S, typename First, typename Second>
void of_two(py::module_& m, const char* name, const char* first, std::optional<First> fallback,
            const char* second, Second other) {
  schedule<S>(m, name, [=](CallArguments& a) {
    const auto* optimizer = a.need<const Optimizer*>("optimizer");
    First one = fallback.value_or(First());
    Second two = other;
    if (fallback)
      a.take(first, one);
    else
      one = a.need<First>(first);
    a.take(second, two).finish();
    return std::make_shared<S>(*optimizer, one, two);
  });
}

void bind_steps(py::module_& m) {
  using Milestones = std::vector<int64_t>;
  const std::optional<int64_t> none;
  of_two<optim::StepLR>(m, "StepLR", "step_size", none, "gamma", 0.1);
  of_two<optim::MultiStepLR>(m, "MultiStepLR", "milestones", std::optional<Milestones>(), "gamma",
                             0.1);
  of_two<optim::CosineAnnealingLR>(m, "CosineAnnealingLR", "T_max", none, "eta_min", 0.0);
  of_two<optim::ConstantLR>(m, "ConstantLR", "factor", std::optional(1.0 / 3), "total_iters",
                            int64_t{5});
  of_two<optim::PolynomialLR>(m, "PolynomialLR", "total_iters", std::optional(int64_t{5}), "power",
                              1.0);
  schedule<optim::ExponentialLR>(m, "ExponentialLR", [](CallArguments& a) {
    const auto* optimizer = a.need<const Optimizer*>("optimizer");
    const auto gamma = a.need<double>("gamma");
    a.finish();
    return std::make_shared<optim::ExponentialLR>(*optimizer, gamma);
  });
  schedule<optim::CosineAnnealingWarmRestarts>(
      m, "CosineAnnealingWarmRestarts", [](CallArguments& a) {
        const auto* optimizer = a.need<const Optimizer*>("optimizer");
        const auto first = a.need<int64_t>("T_0");
        int64_t factor = 1;
        double least = 0;
        a.take("T_mult", factor).take("eta_min", least).finish();
        return std::make_shared<optim::CosineAnnealingWarmRestarts>(*optimizer, first, factor,
                                                                    least);
      });
  schedule<optim::LinearLR>(m, "LinearLR", [](CallArguments& a) {
    const auto* optimizer = a.need<const Optimizer*>("optimizer");
    double start = 1.0 / 3, end = 1;
    int64_t steps = 5;
    a.take("start_factor", start).take("end_factor", end).take("total_iters", steps).finish();
    return std::make_shared<optim::LinearLR>(*optimizer, start, end, steps);
  });
}

}  // namespace

void bind_schedulers(py::module_& m) {
  py::class_<Scheduler, std::shared_ptr<Scheduler>>(
      m, "LRScheduler", py::dynamic_attr(), attributes_are_collected(),
      "What schedules derive from: LRScheduler(optimizer), get_lr() gives the rates by group.")
      .def("__init__", &construct_scheduler, py::detail::is_new_style_constructor(),
           py::arg("optimizer"), py::arg("last_epoch") = -1)
      .def("step", &Scheduler::step)
      .def("get_last_lr", &Scheduler::lrs)
      .def_property_readonly("last_epoch", &last_epoch)
      .def("state_dict", &Scheduler::state_dict)
      .def("load_state_dict", &Scheduler::load_state_dict, py::arg("state_dict"));
  bind_steps(m);
  of_function<optim::LambdaLR>(m, "LambdaLR");
  of_function<optim::MultiplicativeLR>(m, "MultiplicativeLR");
  schedule<optim::OneCycleLR>(m, "OneCycleLR", one_cycle);
  schedule<optim::CyclicLR>(m, "CyclicLR", cyclic);
  schedule<optim::SWALR>(m, "SWALR", averaging);
  bind_joined(m);
  bind_plateau(m);
}

}  // namespace sardonyx::python::eager_layer
