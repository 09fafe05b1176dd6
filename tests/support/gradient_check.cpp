#include "tests/support/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ir/autodiff/autodiff.h"
#include "ir/core/dtype_convert.h"
#include "ir/graph.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

constexpr int64_t kFirstOrderElements = 32;  // of each input
constexpr int64_t kSecondOrderElements = 6;
constexpr double kLargest = 1e6;  // differences of larger numbers say nothing

// How finely a type lets differences be told.
struct Precision {
  double step;       // relative to elements above 1
  double tolerance;  // relative to gradients above 1
  double kink;       // differences to either side that are further apart are beside a kink
};
constexpr Precision kDoublePrecision{1e-5, 2e-5, 2e-2};
constexpr Precision kFloatPrecision{1e-2, 2e-2, 0.2};

bool carries_gradients(const Datum& datum) {
  return datum.is_tensor() && kFloats.has(datum.tensor().dtype());
}

// Inputs of the op first, then the weights of its outputs.
using Point = std::vector<Datum>;
using Function = std::function<double(const Point&)>;

double dot(const Datum& weights, const Datum& values) {
  if (!weights.defined() || !values.defined()) return 0;
  const std::vector<double> a = weights.tensor().to_doubles(), b = values.tensor().to_doubles();
  double sum = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

Datum random_like(const Datum& datum, uint64_t seed) {
  if (!carries_gradients(datum)) return {};
  return drawn_tensor(datum.tensor().dtype(), datum.tensor().shape(), -1, 1, seed);
}

// One call of a row, with everything that its gradients are taken of and by.
class Case {
 public:
  Case(const OpDef& op, const Sample& sample, std::vector<Datum> inputs,
       const std::set<size_t>& constants)
      : op_(op), attrs_(Attrs::parse(*op.attrs, sample.attrs)), inputs_(std::move(inputs)) {
    results_ = evaluate(op_, attrs_, inputs_, sample.outputs);
    for (size_t i = 0; i < results_.size(); ++i)
      weights_.push_back(random_like(results_[i], 100 + i));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const bool sizes = i < 32 && (op.shape_inputs >> i & 1u);
      if (!carries_gradients(inputs_[i]) || sizes || constants.contains(i)) continue;
      wanted_.push_back(i);
      directions_.push_back(random_like(inputs_[i], 200 + i));
    }
  }

  bool has_gradients() const { return !wanted_.empty() && has_weights(); }

  // Null where an input or output has too few digits, or elements whose neighbours say nothing.
  const Precision* precision() const {
    const Precision* found = &kDoublePrecision;
    for (const std::vector<Datum>* part : {&inputs_, &results_}) {
      for (const Datum& datum : *part) {
        if (!carries_gradients(datum)) continue;
        const DType dtype = datum.tensor().dtype();
        if (dtype != DType::kDouble && dtype != DType::kFloat) return nullptr;
        if (dtype == DType::kFloat) found = &kFloatPrecision;
        for (const double value : datum.tensor().to_doubles()) {
          if (!(std::fabs(value) <= kLargest)) return nullptr;
        }
      }
    }
    return found;
  }

  void check_types(GradientReport& report) const;
  void check_first_order(const Precision& precision, GradientReport& report) const;
  void check_second_order(const Precision& precision, GradientReport& report) const;
  void check_symbolic(const Precision& precision, GradientReport& report) const;

 private:
  bool has_weights() const {
    return std::ranges::any_of(weights_, [](const Datum& w) { return w.defined(); });
  }
  Point point() const {
    Point all = inputs_;
    all.insert(all.end(), weights_.begin(), weights_.end());
    return all;
  }
  // d(sum w*y) by each of `wanted_`, recorded; `vals` are a Point's, or weights are made by `weigh`
  // from the results.
  using Weigh = std::function<Val(size_t output, const Val& result)>;
  Vals emit_gradients(RecordingEmitter& e, const Vals& inputs, const Weigh& weigh) const;
  // The same at once.
  Vals gradients_at(RecordingEmitter& e, const Vals& point) const;
  double weighted_result(const Point& point) const;
  double weighted_gradient(const Point& point) const;
  void compare(const std::string& what, size_t input, const Val& gradient, const Function& function,
               const Precision& precision, int64_t elements, GradientReport& report,
               int64_t& compared) const;

  const OpDef& op_;
  const Attrs attrs_;
  const std::vector<Datum> inputs_;
  std::vector<Datum> results_, weights_;
  std::vector<size_t> wanted_;
  std::vector<Datum> directions_;  // one for each of `wanted_`
};

Vals wrapped(const Point& point) {
  Vals vals;
  for (const Datum& datum : point)
    vals.push_back(ReferenceEmitter::wrap(datum));
  return vals;
}

Vals Case::emit_gradients(RecordingEmitter& e, const Vals& inputs, const Weigh& weigh) const {
  const Vals results = e.emit(op_, inputs, attrs_, results_.size());
  Vals ys, d_ys, xs;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!weights_[i].defined()) continue;
    ys.push_back(results[i]);
    d_ys.push_back(weigh(i, results[i]));
  }
  for (const size_t input : wanted_)
    xs.push_back(inputs[input]);
  return e.gradients(ys, d_ys, xs);
}

Vals Case::gradients_at(RecordingEmitter& e, const Vals& point) const {
  const size_t inputs = inputs_.size();
  const Vals formal(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(inputs));
  return emit_gradients(e, formal, [&](size_t i, const Val&) { return point[inputs + i]; });
}

double Case::weighted_result(const Point& point) const {
  const size_t inputs = inputs_.size();
  const std::vector<Datum> results =
      evaluate(op_, attrs_, std::span(point).first(inputs), results_.size());
  double sum = 0;
  for (size_t i = 0; i < results.size(); ++i)
    sum += dot(point[inputs + i], results[i]);
  return sum;
}

double Case::weighted_gradient(const Point& point) const {
  ReferenceEmitter reference;
  RecordingEmitter e(reference);
  const Vals gradients = gradients_at(e, wrapped(point));
  double sum = 0;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) sum += dot(directions_[i], ReferenceEmitter::unwrap(gradients[i]));
  }
  return sum;
}

// The point with one element of one tensor moved; `by` becomes the step that was really made.
Point moved(const Point& point, size_t input, int64_t element, double& by) {
  Tensor tensor = point[input].tensor().clone();
  double before, after;
  load_numbers(tensor.dtype(), tensor.raw(), element, 1, 1, &before);
  const double wanted = before + by;
  store_numbers(tensor.dtype(), tensor.raw(), element, 1, &wanted);
  load_numbers(tensor.dtype(), tensor.raw(), element, 1, 1, &after);
  by = after - before;
  Point result = point;
  result[input] = tensor;
  return result;
}

void Case::compare(const std::string& what, size_t input, const Val& gradient,
                   const Function& function, const Precision& precision, int64_t elements,
                   GradientReport& report, int64_t& compared) const {
  const Point here = point();
  const Tensor& x = here[input].tensor();
  const std::vector<double> at = x.to_doubles();
  const std::vector<double> found = gradient
                                        ? ReferenceEmitter::unwrap(gradient).tensor().to_doubles()
                                        : std::vector<double>(at.size());
  const double middle = function(here);
  const int64_t stride = std::max<int64_t>(1, x.count() / elements);
  for (int64_t i = 0; i < x.count(); i += stride) {
    const size_t index = static_cast<size_t>(i);
    double up = precision.step * std::max(1.0, std::fabs(at[index]));
    double down = -up;
    const double above = function(moved(here, input, i, up));
    const double below = function(moved(here, input, i, down));
    const double right = (above - middle) / up, left = (below - middle) / down;
    const double numeric = (above - below) / (up - down);
    const double scale = std::max({1.0, std::fabs(left), std::fabs(right)});
    if (!(std::fabs(right - left) <= precision.kink * scale)) continue;
    ++compared;
    if (std::fabs(numeric - found[index]) <= precision.tolerance * scale) continue;
    report.problems.push_back(text(what, ", element ", i, " (", at[index], "): the rule gives ",
                                   found[index], ", differences ", numeric));
  }
}

void Case::check_types(GradientReport& report) const {
  ReferenceEmitter reference;
  RecordingEmitter e(reference);
  const Vals gradients = gradients_at(e, wrapped(point()));
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    const Type type = e.type(gradients[i]), wanted = inputs_[wanted_[i]].type();
    if (type == wanted) continue;
    report.problems.push_back(
        text("the gradient of input ", wanted_[i], " is ", type, ", the input ", wanted));
  }
}

void Case::check_first_order(const Precision& precision, GradientReport& report) const {
  ReferenceEmitter reference;
  RecordingEmitter e(reference);
  const Vals gradients = gradients_at(e, wrapped(point()));
  const Function function = [&](const Point& at) { return weighted_result(at); };
  for (size_t i = 0; i < wanted_.size(); ++i) {
    compare(text("input ", wanted_[i]), wanted_[i], gradients[i], function, precision,
            kFirstOrderElements, report, report.first);
  }
}

void Case::check_second_order(const Precision& precision, GradientReport& report) const {
  ReferenceEmitter reference;
  RecordingEmitter e(reference);
  const Vals here = wrapped(point());
  const Vals gradients = gradients_at(e, here);
  Vals ys, d_ys, xs;
  std::vector<size_t> places;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    ys.push_back(gradients[i]);
    d_ys.push_back(ReferenceEmitter::wrap(directions_[i]));
  }
  for (size_t i = 0; i < here.size(); ++i) {
    const bool is_weight = i >= inputs_.size();
    if (!here[i] || (!is_weight && std::ranges::find(wanted_, i) == wanted_.end())) continue;
    xs.push_back(here[i]);
    places.push_back(i);
  }
  const Vals second = e.gradients(ys, d_ys, xs);
  const Function function = [&](const Point& at) { return weighted_gradient(at); };
  for (size_t i = 0; i < places.size(); ++i) {
    const bool is_weight = places[i] >= inputs_.size();
    const std::string name = is_weight ? text("second order, weight ", places[i] - inputs_.size())
                                       : text("second order, input ", places[i]);
    compare(name, places[i], second[i], function, precision, kSecondOrderElements, report,
            report.second);
  }
}

// The type with a symbol of its own for every dim.
Type made_symbolic(Type type, const std::string& name) {
  if (!type.is_tensor() || !type.shape) return type;
  for (size_t k = 0; k < type.rank(); ++k)
    (*type.shape)[k] = Dim::symbol(name + "_" + std::to_string(k));
  return type;
}

void Case::check_symbolic(const Precision& precision, GradientReport& report) const {
  Graph graph;
  GraphEmitter nodes(graph);
  RecordingEmitter e(nodes);
  Vals inputs;
  std::vector<Datum> given;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Val& val = inputs.emplace_back();
    if (!inputs_[i].defined()) continue;
    if (i < 32 && (op_.shape_inputs >> i & 1u) && inputs_[i].is_tensor()) {
      val = e.constant(inputs_[i].tensor());
      continue;
    }
    const std::string name = "x" + std::to_string(i);
    val = GraphEmitter::wrap(graph.add_input(name, made_symbolic(inputs_[i].type(), name)));
    given.push_back(inputs_[i]);
  }
  const Vals gradients = emit_gradients(e, inputs, [&](size_t i, const Val& result) {
    given.push_back(weights_[i]);
    return GraphEmitter::wrap(graph.add_input("w" + std::to_string(i), nodes.type(result)));
  });
  for (const Val& gradient : gradients) {
    if (gradient) graph.add_output(GraphEmitter::unwrap(gradient));
  }
  const std::vector<Datum> found = evaluate(graph, given);

  ReferenceEmitter reference;
  RecordingEmitter direct_emitter(reference);
  const Vals direct = gradients_at(direct_emitter, wrapped(point()));
  for (size_t i = 0, next = 0; i < wanted_.size(); ++i) {
    const size_t count = static_cast<size_t>(inputs_[wanted_[i]].tensor().count());
    const auto numbers = [&](const Datum& datum) { return datum.tensor().to_doubles(); };
    const std::vector<double> a =
        direct[i] ? numbers(ReferenceEmitter::unwrap(direct[i])) : std::vector<double>(count);
    const std::vector<double> b =
        gradients[i] ? numbers(found[next++]) : std::vector<double>(count);
    bool same = a.size() == b.size();
    for (size_t k = 0; same && k < a.size(); ++k)
      same = std::fabs(a[k] - b[k]) <= 0.1 * precision.tolerance * std::max(1.0, std::fabs(a[k]));
    if (same) continue;
    report.problems.push_back(
        text("input ", wanted_[i], ": the gradient for sizes known at run time differs"));
  }
}

}  // namespace

GradientReport check_gradients(const OpDef& op, const Sample& sample,
                               const std::set<size_t>& constants) {
  GradientReport report;
  const Case* best = nullptr;
  std::vector<std::unique_ptr<Case>> cases;
  try {
    for (std::vector<Datum>& inputs : sample_inputs(op, sample)) {
      if (std::ranges::none_of(inputs, carries_gradients)) continue;
      const auto& made =
          cases.emplace_back(std::make_unique<Case>(op, sample, std::move(inputs), constants));
      if (!made->has_gradients()) continue;
      made->check_types(report);
      const Precision* precision = made->precision();
      if (precision && (!best || precision->step < best->precision()->step)) best = made.get();
    }
    if (best && report.problems.empty()) {
      best->check_first_order(*best->precision(), report);
      best->check_second_order(*best->precision(), report);
      best->check_symbolic(*best->precision(), report);
    }
  } catch (const Error& error) {
    report.problems.push_back(error.what());
  }
  return report;
}

}  // namespace sardonyx
