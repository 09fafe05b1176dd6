#include "ir/value_compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <vector>

#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<std::complex<double>> complex_elements(const Tensor& tensor) {
  std::vector<std::complex<double>> out;
  out.reserve(static_cast<size_t>(tensor.count()));
  if (tensor.dtype() == DType::kComplex64) {
    for (const std::complex<float> x : tensor.values<std::complex<float>>())
      out.emplace_back(x.real(), x.imag());
  } else {
    for (const std::complex<double> x : tensor.values<std::complex<double>>())
      out.push_back(x);
  }
  return out;
}

bool has_nan(double x) {
  return std::isnan(x);
}
bool has_nan(const std::complex<double>& x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

// 0 where both are the same in every respect that counts, infinite where one is no number.
template <typename T>
double distance(const T& got, const T& expected) {
  if (got == expected || (has_nan(got) && has_nan(expected))) return 0;
  const double apart = std::abs(got - expected);
  return std::isfinite(apart) ? apart : kInfinite;
}

template <typename T>
std::string number(const T& value) {
  std::ostringstream out;
  out.precision(9);
  out << value;
  return out.str();
}

template <typename T>
Comparison compare_numbers(const std::vector<T>& got, const std::vector<T>& expected,
                           const Shape& shape, const Tolerance& tolerance) {
  Comparison result;
  Deviation& deviation = result.deviation;
  deviation.elements = static_cast<int64_t>(got.size());
  for (const T& x : expected) {
    if (const double size = std::abs(x); std::isfinite(size))
      deviation.max_expected = std::max(deviation.max_expected, size);
  }
  const double base = tolerance.atol + tolerance.relative_to_max * deviation.max_expected;
  double total = 0;
  double worst_excess = 0;
  size_t worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (i % 65536 == 0) check_interrupted();
    const double apart = distance(got[i], expected[i]);
    if (apart == 0) continue;
    const double size = std::abs(expected[i]);
    total += apart;
    deviation.max_absolute = std::max(deviation.max_absolute, apart);
    if (size > 0 && std::isfinite(size))
      deviation.max_relative = std::max(deviation.max_relative, apart / size);
    const double allowed = std::isfinite(size) ? base + tolerance.rtol * size : 0;
    if (apart <= allowed) continue;
    ++deviation.mismatches;
    if (const double excess = apart - allowed; excess > worst_excess) {
      worst_excess = excess;
      worst = i;
    }
  }
  deviation.mean_absolute = got.empty() ? 0 : total / static_cast<double>(got.size());
  if (deviation.mismatches > 0) {
    result.reason =
        text(position_text(shape, static_cast<int64_t>(worst)), " is ", number(got[worst]),
             ", expected ", number(expected[worst]), " (", deviation.mismatches, " of ", got.size(),
             " elements differ, largest error ", number(deviation.max_absolute), ")");
  }
  return result;
}

std::string shown(const std::string& value) {
  constexpr size_t kLongest = 40;
  return "\"" + (value.size() > kLongest ? value.substr(0, kLongest) + "..." : value) + "\"";
}
std::string shown(int64_t value) {
  return std::to_string(value);
}

template <typename Got, typename Expected>
Comparison compare_equal(const Got& got, const Expected& expected, const Shape& shape) {
  Comparison result;
  Deviation& deviation = result.deviation;
  deviation.elements = static_cast<int64_t>(got.size());
  size_t first = 0;
  for (size_t i = got.size(); i-- > 0;) {
    if (got[i] == expected[i]) continue;
    ++deviation.mismatches;
    first = i;
  }
  if (deviation.mismatches > 0) {
    result.reason = text(position_text(shape, static_cast<int64_t>(first)), " is ",
                         shown(got[first]), ", expected ", shown(expected[first]), " (",
                         deviation.mismatches, " of ", got.size(), " elements differ)");
  }
  return result;
}

Comparison compare_tensors(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
  const Shape& shape = expected.shape();
  if (expected.dtype() == DType::kString)
    return compare_equal(got.values<std::string>(), expected.values<std::string>(), shape);
  if (is_complex(expected.dtype()))
    return compare_numbers(complex_elements(got), complex_elements(expected), shape, tolerance);
  if (is_floating(expected.dtype()))
    return compare_numbers(got.to_doubles(), expected.to_doubles(), shape, tolerance);
  return compare_equal(got.to_int64s(), expected.to_int64s(), shape);
}

Comparison differs(const auto&... parts) {
  return {.reason = text(parts...), .deviation = {}};
}

void merge(Deviation& total, const Deviation& part) {
  const auto elements = static_cast<double>(total.elements + part.elements);
  if (elements > 0) {
    total.mean_absolute = (total.mean_absolute * static_cast<double>(total.elements) +
                           part.mean_absolute * static_cast<double>(part.elements)) /
                          elements;
  }
  total.max_absolute = std::max(total.max_absolute, part.max_absolute);
  total.max_relative = std::max(total.max_relative, part.max_relative);
  total.max_expected = std::max(total.max_expected, part.max_expected);
  total.elements += part.elements;
  total.mismatches += part.mismatches;
}

std::string key_text(const Tensor& keys, size_t index) {
  return keys.dtype() == DType::kString ? shown(keys.values<std::string>()[index])
                                        : shown(keys.to_int64s()[index]);
}

// The places in order of the keys.
std::vector<size_t> sorted_places(const Tensor& keys) {
  std::vector<size_t> places(static_cast<size_t>(keys.count()));
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = i;
  if (keys.dtype() == DType::kString) {
    const auto names = keys.values<std::string>();
    std::ranges::sort(places, {}, [&](size_t i) { return std::string_view(names[i]); });
  } else {
    const std::vector<int64_t> numbers = keys.to_int64s();
    std::ranges::sort(places, {}, [&](size_t i) { return numbers[i]; });
  }
  return places;
}

// The values of a map as a tensor in the order of `places`.
std::vector<double> in_order(const Tensor& values, const std::vector<size_t>& places) {
  const std::vector<double> all = values.to_doubles();
  std::vector<double> ordered;
  for (const size_t place : places)
    ordered.push_back(all[place]);
  return ordered;
}
std::vector<std::string> strings_in_order(const Tensor& values, const std::vector<size_t>& places) {
  std::vector<std::string> ordered;
  for (const size_t place : places)
    ordered.push_back(values.values<std::string>()[place]);
  return ordered;
}

Comparison compare_maps(const Map& got, const Map& expected, const Tolerance& tolerance) {
  if (got.keys.dtype() != expected.keys.dtype() || got.values.dtype() != expected.values.dtype()) {
    return differs("map(", got.keys.dtype(), ", ", got.values.dtype(), "), expected map(",
                   expected.keys.dtype(), ", ", expected.values.dtype(), ")");
  }
  if (got.keys.count() != expected.keys.count())
    return differs("map of ", got.keys.count(), " entries, expected ", expected.keys.count());
  const std::vector<size_t> got_places = sorted_places(got.keys);
  const std::vector<size_t> places = sorted_places(expected.keys);
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string ours = key_text(got.keys, got_places[i]);
    const std::string theirs = key_text(expected.keys, places[i]);
    if (ours != theirs) return differs("map has key ", ours, " where ", theirs, " was expected");
  }
  if (expected.values.dtype() == DType::kString) {
    return compare_equal(strings_in_order(got.values, got_places),
                         strings_in_order(expected.values, places), expected.values.shape());
  }
  const bool exact = !is_floating(expected.values.dtype());
  return compare_numbers(in_order(got.values, got_places), in_order(expected.values, places),
                         expected.values.shape(), exact ? Tolerance{0, 0, 0} : tolerance);
}

using Compare = Comparison (*)(const Datum&, const Datum&, const Tolerance&);

Comparison compare_sequences(const Sequence& got, const Sequence& expected,
                             const Tolerance& tolerance, Compare compare_items) {
  if (got.items.size() != expected.items.size())
    return differs("sequence of ", got.items.size(), " items, expected ", expected.items.size());
  Comparison result;
  for (size_t i = 0; i < got.items.size(); ++i) {
    const Comparison item = compare_items(got.items[i], expected.items[i], tolerance);
    merge(result.deviation, item.deviation);
    if (!item && result.reason.empty()) result.reason = text("item ", i, ": ", item.reason);
  }
  return result;
}

std::string kind_of(const Datum& datum) {
  return datum.defined() ? datum.type().text() : "nothing";
}

// Compares two values of any kind by their structure; the leaves are left to `leaf`.
Comparison walk(const Datum& got, const Datum& expected, const Tolerance& tolerance, Compare self,
                Comparison (*leaf)(const Tensor&, const Tensor&, const Tolerance&),
                Comparison (*map_leaf)(const Map&, const Map&, const Tolerance&)) {
  // An optional that holds something is what it holds: files often leave the wrapper out.
  if (expected.is_optional() && expected.optional().value())
    return self(got, *expected.optional().value(), tolerance);
  if (got.is_optional() && got.optional().value())
    return self(*got.optional().value(), expected, tolerance);
  const bool got_nothing = !got.defined() || got.is_optional();
  const bool expected_nothing = !expected.defined() || expected.is_optional();
  if (got_nothing && expected_nothing) return {};
  if (got_nothing != expected_nothing)
    return differs("got ", got_nothing ? "an empty optional" : kind_of(got), ", expected ",
                   expected_nothing ? "an empty optional" : kind_of(expected));
  if (expected.is_sparse()) return self(got, Datum(expected.sparse().to_dense()), tolerance);
  if (got.is_sparse()) return self(Datum(got.sparse().to_dense()), expected, tolerance);
  if (got.is_tensor() && expected.is_tensor()) {
    const Tensor& ours = got.tensor();
    const Tensor& theirs = expected.tensor();
    if (ours.dtype() != theirs.dtype())
      return differs("element type ", ours.dtype(), ", expected ", theirs.dtype());
    if (ours.shape() != theirs.shape())
      return differs("shape ", to_text(ours.shape()), ", expected ", to_text(theirs.shape()));
    return leaf(ours, theirs, tolerance);
  }
  if (got.is_sequence() && expected.is_sequence())
    return compare_sequences(got.sequence(), expected.sequence(), tolerance, self);
  if (got.is_map() && expected.is_map()) return map_leaf(got.map(), expected.map(), tolerance);
  return differs("got ", kind_of(got), ", expected ", kind_of(expected));
}

Comparison compare_kinds(const Datum& got, const Datum& expected, const Tolerance& tolerance) {
  return walk(
      got, expected, tolerance, compare_kinds,
      [](const Tensor&, const Tensor&, const Tolerance&) { return Comparison(); },
      [](const Map&, const Map&, const Tolerance&) { return Comparison(); });
}

}  // namespace

std::string position_text(std::span<const int64_t> shape, int64_t index) {
  if (shape.empty()) return "the element";
  Shape place(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return "element " + to_text(place);
}

Comparison compare(const Datum& got, const Datum& expected, const Tolerance& tolerance) {
  return walk(got, expected, tolerance, compare, compare_tensors, compare_maps);
}

Comparison compare_types(const Datum& got, const Datum& expected) {
  return compare_kinds(got, expected, {});
}

}  // namespace sardonyx
