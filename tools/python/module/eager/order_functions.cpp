// Reductions, order and counts, as functions and as methods of tensors. Where torch gives values
// and their indices, so do these, as a named tuple.
#include "eager/functional/functional.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

using eager::Axes;
using Pair = std::pair<Tensor, Tensor>;
using OverAxes = Tensor (*)(const Tensor&, const Axes&, bool, Loc);

const RowOptions kValuesAndIndices{.fields = {"values", "indices"}};

template <typename Run>
py::object computed(const Run& run) {
  const auto result = [&] {
    const UnlockedInterpreter released;
    return run();
  }();
  return python_from(result);
}

int64_t axis_from(const py::handle& dim, const char* function) {
  if (py::isinstance<py::int_>(dim) || py::hasattr(dim, "__index__")) return dim.cast<int64_t>();
  throw py::type_error(text(function, "(): dim: expected int, got ", std::string(py::repr(dim))));
}

// sum(x, dtype=torch.float64) converts first.
template <OverAxes function>
Tensor converted(const Tensor& x, const Axes& axes, bool keepdim, const std::optional<DType>& dtype,
                 Loc loc) {
  return function(dtype ? x.to(*dtype, loc) : x, axes, keepdim, loc);
}
using AlongAxis = Tensor (*)(const Tensor&, int64_t, Loc);
template <AlongAxis function>
Tensor running(const Tensor& x, int64_t dim, const std::optional<DType>& dtype, Loc loc) {
  return function(dtype ? x.to(*dtype, loc) : x, dim, loc);
}

void bind_sums(RowDefiner& define) {
  define("sum(input, dim=None, keepdim=False, *, dtype=None)", &converted<eager::sum>);
  define("mean(input, dim=None, keepdim=False, *, dtype=None)", &converted<eager::mean>);
  define("prod(input, dim=None, keepdim=False, *, dtype=None)", &converted<eager::prod>);
  define("nansum(input, dim=None, keepdim=False, *, dtype=None)", &converted<eager::nansum>);
  define("nanmean(input, dim=None, keepdim=False, *, dtype=None)", &converted<eager::nanmean>);
  define("amax(input, dim=None, keepdim=False)", eager::amax);
  define("amin(input, dim=None, keepdim=False)", eager::amin);
  define("all(input, dim=None, keepdim=False)", eager::all);
  define("any(input, dim=None, keepdim=False)", eager::any);
  define("logsumexp(input, dim=None, keepdim=False)", eager::logsumexp);
  define("count_nonzero(input, dim=None)", eager::count_nonzero);
  define("argmax(input, dim=None, keepdim=False)",
         [](const Tensor& x, const std::optional<int64_t>& dim, bool keepdim, Loc loc) {
           return eager::argmax(x, dim, keepdim, loc);
         });
  define("argmin(input, dim=None, keepdim=False)",
         [](const Tensor& x, const std::optional<int64_t>& dim, bool keepdim, Loc loc) {
           return eager::argmin(x, dim, keepdim, loc);
         });
  define("cumsum(input, dim=-1, *, dtype=None)", &running<eager::cumsum>);
  define("cumprod(input, dim=-1, *, dtype=None)", &running<eager::cumprod>);
  define("logcumsumexp(input, dim=-1)", eager::logcumsumexp);
  define("cummax(input, dim=-1)", eager::cummax, kValuesAndIndices);
  define("cummin(input, dim=-1)", eager::cummin, kValuesAndIndices);
}

// Of all elements; with an axis values and indices.
using OfAll = Tensor (*)(const Tensor&, Loc);
using OfAxis = Pair (*)(const Tensor&, int64_t, bool, Loc);
using OfTwo = Tensor (*)(const Tensor&, const Tensor&, Loc);

template <OfAll of_all, OfAxis of_axis>
py::object whole_or_along(const Tensor& x, const py::object& dim, bool keepdim, Loc loc) {
  if (dim.is_none()) return computed([&] { return of_all(x, loc); });
  const int64_t axis = axis_from(dim, "max, min or median");
  return computed([&] { return of_axis(x, axis, keepdim, loc); });
}
// max(x), max(x, dim), max(x, other).
template <OfAll of_all, OfAxis of_axis, OfTwo of_two>
py::object extreme(const Tensor& x, const py::object& dim, bool keepdim, Loc loc) {
  if (!py::isinstance<Tensor>(dim)) return whole_or_along<of_all, of_axis>(x, dim, keepdim, loc);
  const Tensor other = dim.cast<Tensor>();
  return computed([&] { return of_two(x, other, loc); });
}

py::object aminmax(const Tensor& x, const std::optional<int64_t>& dim, bool keepdim, Loc loc) {
  const Axes axes = dim ? Axes(*dim) : Axes();
  return computed([&] { return Pair(x.amin(axes, keepdim, loc), x.amax(axes, keepdim, loc)); });
}

// q may be several, which come first among the axes of the result.
using QuantileOf = Tensor (*)(const Tensor&, double, std::optional<int64_t>, bool, Loc);
template <QuantileOf of_one>
py::object quantile(const Tensor& x, const py::object& q, const std::optional<int64_t>& dim,
                    bool keepdim, Loc loc) {
  const Tensor all = tensor_from(q, "quantile(): q").to(DType::kDouble, loc);
  const std::vector<double> shares = all.reshape({-1}, loc).to_vector<double>();
  const bool is_scalar = all.rank() == 0;
  return computed([&] {
    std::vector<Tensor> found;
    for (const double share : shares)
      found.push_back(of_one(x, share, dim, keepdim, loc));
    return is_scalar ? found[0] : eager::stack(found, 0, loc);
  });
}

py::object histogram(const Tensor& x, const py::object& bins, const py::object& range,
                     const Tensor& weight, bool density, Loc loc) {
  eager::HistogramOptions options{.range = {}, .weight = weight, .density = density};
  if (!range.is_none()) options.range = range.cast<std::pair<double, double>>();
  const bool has_edges = py::isinstance<Tensor>(bins);
  const Tensor edges = has_edges ? bins.cast<Tensor>() : Tensor();
  const int64_t count = has_edges ? 0 : bins.cast<int64_t>();
  const eager::Histogram found = [&] {
    const UnlockedInterpreter released;
    return has_edges ? eager::histogram(x, edges, options, loc)
                     : eager::histogram(x, count, options, loc);
  }();
  return py::make_tuple(found.counts, found.edges);
}

void bind_extremes(RowDefiner& define) {
  define("max(input, dim|other=None, keepdim=False)", &extreme<eager::max, eager::max, eager::max>,
         kValuesAndIndices);
  define("min(input, dim|other=None, keepdim=False)", &extreme<eager::min, eager::min, eager::min>,
         kValuesAndIndices);
  define("median(input, dim=None, keepdim=False)", &whole_or_along<eager::median, eager::median>,
         kValuesAndIndices);
  define("nanmedian(input, dim=None, keepdim=False)",
         &whole_or_along<eager::nanmedian, eager::nanmedian>, kValuesAndIndices);
  define("mode(input, dim=-1, keepdim=False)", eager::mode, kValuesAndIndices);
  define("aminmax(input, *, dim=None, keepdim=False)", &aminmax, {.fields = {"min", "max"}});
  define("quantile(input, q, dim=None, keepdim=False)", &quantile<eager::quantile>);
  define("nanquantile(input, q, dim=None, keepdim=False)", &quantile<eager::nanquantile>);
  define("kthvalue(input, k, dim=-1, keepdim=False)", eager::kthvalue, kValuesAndIndices);
  define(
      "topk(input, k, dim=-1, largest=True, sorted=True)",
      [](const Tensor& x, int64_t k, int64_t dim, bool largest, bool, Loc loc) {
        return eager::topk(x, k, dim, largest, loc);
      },
      kValuesAndIndices);
  define(
      "sort(input, dim=-1, descending=False, stable=True)",
      [](const Tensor& x, int64_t dim, bool descending, bool, Loc loc) {
        return eager::sort(x, dim, descending, loc);
      },
      kValuesAndIndices);
  define("argsort(input, dim=-1, descending=False, stable=True)",
         [](const Tensor& x, int64_t dim, bool descending, bool, Loc loc) {
           return eager::argsort(x, dim, descending, loc);
         });
}

// The divisor is n - correction; `unbiased` says 1 or 0. var(x, False) is unbiased=False.
struct SpreadArguments {
  Axes axes;
  int64_t correction = 1;
};
SpreadArguments spread_from(const py::object& dim, const std::optional<bool>& unbiased,
                            const std::optional<int64_t>& correction) {
  if (unbiased && correction)
    throw py::type_error("var, std: expected unbiased or correction, got both");
  SpreadArguments taken;
  if (py::isinstance<py::bool_>(dim))
    taken.correction = dim.cast<bool>();
  else
    taken.axes = int64s_from(dim);
  if (unbiased) taken.correction = *unbiased;
  if (correction) taken.correction = *correction;
  return taken;
}

template <typename Result>
using Spread = Result (*)(const Tensor&, const Axes&, bool, int64_t, Loc);
template <typename Result, Spread<Result> function>
py::object spread(const Tensor& x, const py::object& dim, const std::optional<bool>& unbiased,
                  bool keepdim, const std::optional<int64_t>& correction, Loc loc) {
  const SpreadArguments taken = spread_from(dim, unbiased, correction);
  return computed([&] { return function(x, taken.axes, keepdim, taken.correction, loc); });
}

py::object norm(const Tensor& x, const py::object& p, const Axes& dim, bool keepdim, Loc loc) {
  const bool is_word = py::isinstance<py::str>(p);
  if (is_word && p.cast<std::string>() != "fro" && p.cast<std::string>() != "inf")
    throw py::type_error("norm(): p: expected a number, 'fro' or 'inf', got " +
                         std::string(py::repr(p)));
  const double power = is_word && p.cast<std::string>() == "fro" ? 2 : double(py::float_(p));
  return computed([&] { return eager::norm(x, power, dim, keepdim, loc); });
}

void bind_spreads(RowDefiner& define) {
  define("var(input, dim=None, unbiased=None, keepdim=False, *, correction=None)",
         &spread<Tensor, eager::var>);
  define("std(input, dim=None, unbiased=None, keepdim=False, *, correction=None)",
         &spread<Tensor, eager::std>);
  define("var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None)",
         &spread<Pair, eager::var_mean>);
  define("std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None)",
         &spread<Pair, eager::std_mean>);
  define("norm(input, p=2.0, dim=None, keepdim=False)", &norm);
  define("cov(input, *, correction=1)", eager::cov);
  define("diff(input, n=1, dim=-1)", eager::diff);
}

// The values alone, or with what else is asked for.
py::object distinct(const eager::UniqueResult& found, bool inverse, bool counts) {
  py::list all;
  all.append(found.values);
  if (inverse) all.append(found.inverse);
  if (counts) all.append(found.counts);
  return all.size() == 1 ? py::object(all[0]) : py::tuple(all);
}

// Places as rows, or one tensor of them for each axis.
py::object nonzero(const Tensor& x, bool as_tuple, Loc loc) {
  if (!as_tuple) return computed([&] { return eager::nonzero(x, loc); });
  return python_from_tensors(eager::where(x, loc));
}

void bind_counts(RowDefiner& define) {
  define("nonzero(input, *, as_tuple=False)", &nonzero);
  define("unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None)",
         [](const py::object& x, bool, bool inverse, bool counts, const std::optional<int64_t>& dim,
            Loc loc) {
           return distinct(eager::unique(tensor_from(x, "unique"), dim, loc), inverse, counts);
         });
  define("unique_consecutive(input, return_inverse=False, return_counts=False)",
         [](const py::object& x, bool inverse, bool counts, Loc loc) {
           return distinct(eager::unique_consecutive(tensor_from(x, "unique_consecutive"), loc),
                           inverse, counts);
         });
  define("bincount(input, weights=None, minlength=0)", eager::bincount);
  define("histogram(input, bins=100, *, range=None, weight=None, density=False)", &histogram,
         {"Counts and edges of equal bins, or of edges at hand.", {"hist", "bin_edges"}});
  define("histc(input, bins=100, min=0.0, max=0.0)", eager::histc);
  define("bucketize(input, boundaries, *, right=False)", eager::bucketize);
  define.function("searchsorted(sorted_sequence, input|values, *, right=False)",
                  [](const Tensor& boundaries, const Tensor& x, bool right, Loc loc) {
                    return eager::bucketize(x, boundaries, right, loc);
                  });
  define("isin(elements|input, test_elements)", eager::isin);
}

template <typename Spacing>
using Integral = Tensor (*)(const Tensor&, Spacing, int64_t, Loc);
template <Integral<const Tensor&> at_places, Integral<double> at_steps>
Tensor integral(const Tensor& y, const Tensor& x, double dx, int64_t dim, Loc loc) {
  return x.defined() ? at_places(y, x, dim, loc) : at_steps(y, dx, dim, loc);
}

void bind_integrals(RowDefiner& define) {
  for (const char* name : {"trapezoid", "trapz"})
    define.function(text(name, "(y, x=None, *, dx=1.0, dim=-1)").c_str(),
                    &integral<eager::trapezoid, eager::trapezoid>);
  define.function("cumulative_trapezoid(y, x=None, *, dx=1.0, dim=-1)",
                  &integral<eager::cumulative_trapezoid, eager::cumulative_trapezoid>);
}

}  // namespace

void bind_order_functions(py::module_& module, TensorClass& tensor) {
  RowDefiner define(module, &tensor);
  bind_sums(define);
  bind_extremes(define);
  bind_spreads(define);
  bind_counts(define);
  bind_integrals(define);
}

}  // namespace sardonyx::python::eager_layer
