#include "eager/export/export_verify.h"

#include <algorithm>
#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/generator.h"
#include "executor/session.h"
#include "ir/core/dtype_convert.h"
#include "ir/core/random.h"

namespace sardonyx::eager {
namespace {

constexpr int64_t kTrialSizes[] = {0, 1, 7};

// The symbols of the inputs' dims, in order, with a size for each.
SizeOf sizes_for(const Graph& graph, int64_t size) {
  SizeOf sizes;
  int64_t further = 0;
  for (const Value* input : graph.inputs()) {
    for (const sardonyx::Dim& dim : *input->type.shape) {
      for (const std::string& symbol : dim.symbols()) {
        // Different symbols get different sizes, so that one taken for another shows.
        if (!sizes.contains(symbol)) sizes[symbol] = size < 2 ? size : size + further++;
      }
    }
  }
  return sizes;
}

// The sizes that the examples have.
SizeOf own_sizes(const Graph& graph, const std::vector<Tensor>& examples) {
  SizeOf sizes;
  for (size_t i = 0; i < examples.size(); ++i) {
    const Dims& dims = *graph.inputs()[i]->type.shape;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (!dims[axis].is_known())
        sizes.try_emplace(dims[axis].text(), examples[i].data().shape()[axis]);
    }
  }
  return sizes;
}

Shape shape_at(const Type& type, const SizeOf& sizes) {
  Shape shape;
  for (const sardonyx::Dim& dim : *type.shape) {
    const Dim known = dim.substitute([&](std::string_view symbol) -> std::optional<Dim> {
      return Dim(sizes.at(std::string(symbol)));
    });
    shape.push_back(known.value());
  }
  return shape;
}

// Floats between the example's least and greatest value; others are drawn among its elements, so
// that indices stay indices.
sardonyx::Tensor drawn_like(const sardonyx::Tensor& example, const Shape& shape, uint64_t seed) {
  sardonyx::Tensor made = sardonyx::Tensor::allocate(example.dtype(), shape);
  const RandomStream random(seed);
  if (example.dtype() == DType::kString || is_complex(example.dtype()) || example.count() == 0) {
    if (example.dtype() != DType::kString) return sardonyx::Tensor::zeros(example.dtype(), shape);
    return made;
  }
  std::vector<double> values;
  if (example.dtype() == DType::kBool) {
    for (int64_t i = 0; i < example.count(); ++i)
      values.push_back(static_cast<const uint8_t*>(example.raw())[i]);
  } else {
    values = example.to_doubles();
  }
  const auto [least, greatest] = std::ranges::minmax(values);
  for (int64_t i = 0; i < made.count(); ++i) {
    const double at = random.uniform(static_cast<uint64_t>(i));
    const double value = is_floating(example.dtype())
                             ? least + at * (greatest - least)
                             : values[static_cast<size_t>(at * static_cast<double>(values.size()))];
    if (is_packed(example.dtype()))
      set_packed(example.dtype(), made.raw(), i, static_cast<uint8_t>(static_cast<int>(value)));
    else
      store_numbers(example.dtype(), made.raw(), i, 1, &value);
  }
  return made;
}

// The largest difference relative to the largest magnitude; infinite where the kinds, shapes or
// positions of NaN differ.
double difference_of(const Datum& expected, const Datum& got) {
  if (!expected.is_tensor() || !got.is_tensor())
    return expected.type() == got.type() ? 0 : INFINITY;
  const sardonyx::Tensor& a = expected.tensor();
  const sardonyx::Tensor& b = got.tensor();
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return INFINITY;
  if (!is_floating(a.dtype()) || is_packed(a.dtype())) return a == b ? 0 : INFINITY;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double largest = 0, difference = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) {
      if (std::isfinite(x[i])) largest = std::max(largest, std::abs(x[i]));
      continue;
    }
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return INFINITY;
    largest = std::max(largest, std::abs(x[i]));
    difference = std::max(difference, std::abs(x[i] - y[i]));
  }
  return difference == 0 ? 0 : difference / std::max(largest, 1e-30);
}

std::string text_of(const SizeOf& sizes) {
  std::string out;
  for (const auto& [symbol, size] : sizes)
    out += text(out.empty() ? "" : ", ", symbol, "=", size);
  return out.empty() ? "the example's sizes" : out;
}

// What an output may differ by that has nothing to do with sizes.
std::string random_ops_text(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (node->op->is(kRandom))
      return text("; ", node->op->name, " of ", node->source,
                  " draws other numbers in each run: call eval(), or export with verify = false");
  }
  return "";
}

// C++ that compared open sizes while the function was traced.
std::string comparisons_text(const std::vector<SizeFact>& comparisons, const std::string& symbol) {
  std::string out;
  for (const SizeFact& fact : comparisons) {
    const auto in = [&](const sardonyx::Dim& dim) { return dim.symbols().contains(symbol); };
    if (symbol.empty() || in(fact.left) || in(fact.right)) out += "\n  " + fact.text();
  }
  return out.empty() ? out : "; while it was traced, C++ compared open sizes:" + out;
}

ExportCheck check_at(const ExportTrial& trial, const Session& session, const SizeOf& sizes) {
  const auto& [fn, examples, model, comparisons, options] = trial;
  const Graph& graph = *model.graph;
  ExportCheck check;
  check.sizes = sizes;
  std::vector<Tensor> inputs;
  std::vector<Datum> given;
  for (size_t i = 0; i < examples.size(); ++i) {
    const Shape shape = shape_at(graph.inputs()[i]->type, sizes);
    inputs.emplace_back(drawn_like(examples[i].data(), shape, i + 1));
    given.push_back(inputs.back().datum());
  }
  std::vector<Tensor> expected;
  try {
    const NoGrad guard;
    expected = fn(inputs);
  } catch (const Error& error) {
    check.skipped = error.what();
    return check;
  }
  std::vector<Datum> got;
  try {
    got = session.run(given);
  } catch (const Error& error) {
    fail(ErrorCode::kInternal, "the exported file does not run at ", text_of(sizes),
         ", where the function does: ", error.what(), comparisons_text(comparisons, ""));
  }
  if (expected.size() != got.size()) {
    fail(ErrorCode::kInvalidArgument, "the function gives ", expected.size(), " results at ",
         text_of(sizes), " and gave ", got.size(), " when it was traced",
         comparisons_text(comparisons, ""));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = difference_of(expected[i].datum(), got[i]);
    check.difference = std::max(check.difference, difference);
    if (difference <= options.tolerance) continue;
    fail(comparisons.empty() ? ErrorCode::kInternal : ErrorCode::kInvalidArgument, "output ",
         session.outputs()[i].name, " of the exported file differs from the function at ",
         text_of(sizes), ": expected ", expected[i].type(), ", got ", got[i].type(),
         ", largest relative difference ", difference, " (tolerance ", options.tolerance, ")",
         random_ops_text(graph), comparisons_text(comparisons, ""));
  }
  return check;
}

// Whether the file was compared at a size of this symbol that is not the example's own.
bool is_compared(const std::vector<ExportCheck>& checks, const std::string& symbol, int64_t own) {
  return std::ranges::any_of(checks, [&](const ExportCheck& check) {
    const int64_t size = check.sizes.at(symbol);
    return check.skipped.empty() && size >= 1 && size != own;
  });
}

std::string axis_text(const Graph& graph, const std::string& symbol) {
  for (const Value* input : graph.inputs()) {
    for (size_t axis = 0; axis < input->type.rank(); ++axis) {
      if ((*input->type.shape)[axis].text() == symbol)
        return text("axis ", axis, " (", symbol, ") of input ", input->name);
    }
  }
  return symbol;
}

// Functions that take few sizes are tried at some around the example's; one that takes its own only
// has fixed the axis.
void check_open(const ExportTrial& trial, const Session& session, const std::string& symbol,
                const SizeOf& own, std::vector<ExportCheck>& checks) {
  const int64_t size = own.at(symbol);
  for (const int64_t other : {2 * size, size + 1, kTrialSizes[1], kTrialSizes[2], size - 1}) {
    if (is_compared(checks, symbol, size)) return;
    SizeOf sizes = own;
    sizes[symbol] = other;
    if (other >= 1 && other != size) checks.push_back(check_at(trial, session, sizes));
  }
  if (is_compared(checks, symbol, size)) return;
  fail(ErrorCode::kInvalidArgument, axis_text(*trial.model.graph, symbol),
       " is to stay open, but the function takes no other size than ", size, ": ",
       checks.back().skipped, comparisons_text(trial.comparisons, symbol));
}

}  // namespace

std::vector<ExportCheck> verify_export(const ExportTrial& trial,
                                       const std::filesystem::path& path) {
  // The program's own random numbers stay where they are.
  const UseGenerator generator{Generator(0)};
  const Session session(path, SessionOptions{});
  const Graph& graph = *trial.model.graph;
  const SizeOf own = own_sizes(graph, trial.examples);
  std::vector<ExportCheck> checks{check_at(trial, session, own)};
  for (const int64_t size : kTrialSizes) {
    if (!own.empty()) checks.push_back(check_at(trial, session, sizes_for(graph, size)));
  }
  for (const auto& [symbol, size] : own)
    check_open(trial, session, symbol, own, checks);
  return checks;
}

}  // namespace sardonyx::eager
