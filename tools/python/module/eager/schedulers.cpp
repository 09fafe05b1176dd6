// Schedules of learning rates, by torch.optim.lr_scheduler's names and arguments.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "eager/optim.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace optim = eager::optim;
using optim::Optimizer;
using optim::Scheduler;

template <typename S>
using SchedulerClass = py::class_<S, Scheduler, std::shared_ptr<S>>;

std::function<double(int64_t)> factor_from(const py::object& function) {
  return [held = shared_object(function)](int64_t step) {
    const LockedInterpreter locked;
    return (*held)(step).cast<double>();
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
    rates_ = (*self_)().attr("get_lr")().cast<std::vector<double>>();
    if (rates_.size() != lrs().size())
      throw py::type_error(text("get_lr(): expected ", lrs().size(),
                                " rates, one for each group, got ", rates_.size()));
    next_ = 0;
    Scheduler::set_step(step);
  }

 private:
  double lr_at(int64_t, double) const override { return rates_[next_++]; }

  SharedObject self_;  // a weak reference
  int64_t asked_step_ = 0;
  std::vector<double> rates_;
  mutable size_t next_ = 0;
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
  SchedulerClass<S>(m, name).def(
      py::init([](const Optimizer& optimizer, const py::object& lr_lambda) {
        return std::make_shared<S>(optimizer, factor_from(lr_lambda));
      }),
      py::arg("optimizer"), py::arg("lr_lambda"));
}

std::shared_ptr<optim::CyclicLR> cyclic(const Optimizer& optimizer, double base_lr, double max_lr,
                                        int64_t up, std::optional<int64_t> down,
                                        const std::string& mode, double gamma,
                                        const py::object& scale_fn, const std::string& scale_mode) {
  using Mode = optim::CyclicOptions::Mode;
  optim::CyclicOptions o{.base_lr = base_lr, .max_lr = max_lr, .step_size_up = up};
  o.step_size_down = down;
  o.gamma = gamma;
  o.scale_by_step = scale_mode == "iterations";
  if (mode == "triangular2")
    o.mode = Mode::kTriangular2;
  else if (mode == "exp_range")
    o.mode = Mode::kExpRange;
  else if (mode != "triangular")
    throw py::type_error("mode: expected triangular, triangular2 or exp_range, got " + mode);
  if (!scale_fn.is_none()) {
    o.scale = [held = shared_object(scale_fn)](double at) {
      const LockedInterpreter locked;
      return (*held)(at).cast<double>();
    };
  }
  return std::make_shared<optim::CyclicLR>(optimizer, o);
}

void bind_cycles(py::module_& m) {
  SchedulerClass<optim::CyclicLR>(m, "CyclicLR")
      .def(py::init(&cyclic), py::arg("optimizer"), py::arg("base_lr"), py::arg("max_lr"),
           py::arg("step_size_up") = 2000, py::arg("step_size_down") = py::none(),
           py::arg("mode") = "triangular", py::arg("gamma") = 1.0, py::arg("scale_fn") = py::none(),
           py::arg("scale_mode") = "cycle");
  SchedulerClass<optim::SWALR>(m, "SWALR")
      .def(py::init([](const Optimizer& optimizer, double swa_lr, int64_t epochs,
                       const std::string& strategy) {
             if (strategy != "cos" && strategy != "linear")
               throw py::type_error("anneal_strategy: expected cos or linear, got " + strategy);
             return std::make_shared<optim::SWALR>(optimizer, swa_lr, epochs, strategy == "linear");
           }),
           py::arg("optimizer"), py::arg("swa_lr"), py::arg("anneal_epochs") = 10,
           py::arg("anneal_strategy") = "cos");
}

void bind_joined(py::module_& m) {
  using Schedulers = std::vector<std::shared_ptr<Scheduler>>;
  SchedulerClass<optim::SequentialLR>(m, "SequentialLR")
      .def(py::init<const Optimizer&, Schedulers, std::vector<int64_t>>(), py::arg("optimizer"),
           py::arg("schedulers"), py::arg("milestones"));
  SchedulerClass<optim::ChainedScheduler>(m, "ChainedScheduler")
      .def(py::init<Schedulers>(), py::arg("schedulers"));
}

void bind_plateau(py::module_& m) {
  py::class_<optim::ReduceLROnPlateau>(m, "ReduceLROnPlateau",
                                       "Lowers the rate when a metric stops getting better.")
      .def(py::init([](const Optimizer& optimizer, const std::string& mode, double factor,
                       int64_t patience, double threshold, const std::string& threshold_mode,
                       int64_t cooldown, double min_lr, double eps) {
             if (mode != "min" && mode != "max")
               throw py::type_error("mode: expected min or max, got " + mode);
             return optim::ReduceLROnPlateau(
                 optimizer, {mode == "max", factor, patience, threshold, threshold_mode == "abs",
                             cooldown, min_lr, eps});
           }),
           py::arg("optimizer"), py::arg("mode") = "min", py::arg("factor") = 0.1,
           py::arg("patience") = 10, py::arg("threshold") = 1e-4, py::arg("threshold_mode") = "rel",
           py::arg("cooldown") = 0, py::arg("min_lr") = 0.0, py::arg("eps") = 1e-8)
      .def("step", &optim::ReduceLROnPlateau::step, py::arg("metrics"))
      .def_property_readonly("best", &optim::ReduceLROnPlateau::best)
      .def("state_dict", &optim::ReduceLROnPlateau::state_dict)
      .def("load_state_dict", &optim::ReduceLROnPlateau::load_state_dict, py::arg("state_dict"));
}

void bind_one_cycle(py::module_& m) {
  SchedulerClass<optim::OneCycleLR>(m, "OneCycleLR")
      .def(py::init([](const Optimizer& optimizer, double max_lr, int64_t total_steps,
                       double pct_start, const std::string& anneal, double div_factor,
                       double final_div_factor, bool three_phase) {
             if (anneal != "cos" && anneal != "linear")
               throw py::type_error("anneal_strategy: expected cos or linear, got " + anneal);
             return std::make_shared<optim::OneCycleLR>(
                 optimizer,
                 optim::OneCycleOptions{max_lr, total_steps, pct_start, anneal == "linear",
                                        div_factor, final_div_factor, three_phase});
           }),
           py::arg("optimizer"), py::arg("max_lr"), py::arg("total_steps"),
           py::arg("pct_start") = 0.3, py::arg("anneal_strategy") = "cos",
           py::arg("div_factor") = 25.0, py::arg("final_div_factor") = 1e4,
           py::arg("three_phase") = false);
}

}  // namespace

void bind_schedulers(py::module_& m) {
  py::class_<Scheduler, std::shared_ptr<Scheduler>>(
      m, "LRScheduler", py::dynamic_attr(),
      "What schedules derive from: LRScheduler(optimizer), get_lr() gives the rates by group.")
      .def("__init__", &construct_scheduler, py::detail::is_new_style_constructor(),
           py::arg("optimizer"), py::arg("last_epoch") = -1)
      .def("step", &Scheduler::step)
      .def("get_last_lr", &Scheduler::lrs)
      .def_property_readonly("last_epoch", &last_epoch)
      .def("state_dict", &Scheduler::state_dict)
      .def("load_state_dict", &Scheduler::load_state_dict, py::arg("state_dict"));
  SchedulerClass<optim::StepLR>(m, "StepLR")
      .def(py::init<const Optimizer&, int64_t, double>(), py::arg("optimizer"),
           py::arg("step_size"), py::arg("gamma") = 0.1);
  SchedulerClass<optim::MultiStepLR>(m, "MultiStepLR")
      .def(py::init<const Optimizer&, std::vector<int64_t>, double>(), py::arg("optimizer"),
           py::arg("milestones"), py::arg("gamma") = 0.1);
  SchedulerClass<optim::ExponentialLR>(m, "ExponentialLR")
      .def(py::init<const Optimizer&, double>(), py::arg("optimizer"), py::arg("gamma"));
  SchedulerClass<optim::CosineAnnealingLR>(m, "CosineAnnealingLR")
      .def(py::init<const Optimizer&, int64_t, double>(), py::arg("optimizer"), py::arg("T_max"),
           py::arg("eta_min") = 0.0);
  SchedulerClass<optim::CosineAnnealingWarmRestarts>(m, "CosineAnnealingWarmRestarts")
      .def(py::init<const Optimizer&, int64_t, int64_t, double>(), py::arg("optimizer"),
           py::arg("T_0"), py::arg("T_mult") = 1, py::arg("eta_min") = 0.0);
  SchedulerClass<optim::LinearLR>(m, "LinearLR")
      .def(py::init<const Optimizer&, double, double, int64_t>(), py::arg("optimizer"),
           py::arg("start_factor") = 1.0 / 3, py::arg("end_factor") = 1.0,
           py::arg("total_iters") = 5);
  SchedulerClass<optim::ConstantLR>(m, "ConstantLR")
      .def(py::init<const Optimizer&, double, int64_t>(), py::arg("optimizer"),
           py::arg("factor") = 1.0 / 3, py::arg("total_iters") = 5);
  SchedulerClass<optim::PolynomialLR>(m, "PolynomialLR")
      .def(py::init<const Optimizer&, int64_t, double>(), py::arg("optimizer"),
           py::arg("total_iters") = 5, py::arg("power") = 1.0);
  of_function<optim::LambdaLR>(m, "LambdaLR");
  of_function<optim::MultiplicativeLR>(m, "MultiplicativeLR");
  bind_one_cycle(m);
  bind_cycles(m);
  bind_joined(m);
  bind_plateau(m);
}

}  // namespace sardonyx::python::eager_layer
