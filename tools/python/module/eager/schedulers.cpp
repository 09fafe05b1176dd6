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

template <typename S>
void of_function(py::module_& m, const char* name) {
  SchedulerClass<S>(m, name).def(
      py::init([](const Optimizer& optimizer, const py::object& lr_lambda) {
        return std::make_shared<S>(optimizer, factor_from(lr_lambda));
      }),
      py::arg("optimizer"), py::arg("lr_lambda"));
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
  py::class_<Scheduler, std::shared_ptr<Scheduler>>(m, "LRScheduler")
      .def("step", &Scheduler::step)
      .def("get_last_lr", &Scheduler::lrs)
      .def_property_readonly("last_epoch", &Scheduler::steps)
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
  bind_joined(m);
  bind_plateau(m);
}

}  // namespace sardonyx::python::eager_layer
