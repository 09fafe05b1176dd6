#include "ir/ops/normalization/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"
#include "ir/ops/reference/arg_extreme.h"

namespace sardonyx::ops {
namespace {

void infer_softmax(InferContext& c) {
  if (const auto rank = rank_of(c, 0)) c.normalized_axis(c.attrs<SoftmaxAttrs>().axis, *rank);
  same_as_first(c);
}

// A line may be all that there is: it looks at the clock, too.
template <typename Body>
void for_each_index(size_t count, const Body& body) {
  if (count <= static_cast<size_t>(kElementsInPiece)) {
    for (size_t i = 0; i < count; ++i)
      body(i);
    return;
  }
  in_pieces(static_cast<int64_t>(count), [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      body(i);
  });
}

// Hands each line along the axis to `change(line, results)` as doubles and writes what it leaves in
// `results`, which may be the line itself.
template <typename Change>
void for_each_line(const KernelCall& call, Change change) {
  const TensorView& in = call.inputs[0];
  const AxisSplit split = split_at(in.shape, axis_of(call.attrs<SoftmaxAttrs>().axis, in.rank()));
  std::pmr::vector<double> line(scratch());
  resize_in_pieces(line, static_cast<size_t>(split.size));
  int64_t since_look = kElementsInPiece;
  dispatch_floats(in.dtype, [&]<typename T>() {
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        if ((since_look += split.size) > kElementsInPiece) {
          check_interrupted();
          since_look = 0;
        }
        const int64_t start = outer * split.size * split.inner + inner;
        const T* from = in.data<T>() + start;
        T* to = call.outputs[0].data<T>() + start;
        if constexpr (std::is_same_v<T, double>) {
          if (split.inner == 1) {
            change(std::span<const double>(from, line.size()), to);
            continue;
          }
        }
        for_each_index(line.size(),
                       [&](size_t i) { line[i] = from[static_cast<int64_t>(i) * split.inner]; });
        change(std::span<const double>(line), line.data());
        for_each_index(line.size(), [&](size_t i) {
          to[static_cast<int64_t>(i) * split.inner] = narrowed<T>(line[i]);
        });
      }
    }
  });
}

// A few at a time, each of which waits for the one before. NaNs may get lost.
double greatest_of(std::span<const double> line) {
  constexpr size_t kAtOnce = 8;
  double most[kAtOnce];
  std::fill_n(most, kAtOnce, line[0]);
  size_t i = 0;
  for (; i + kAtOnce <= line.size(); i += kAtOnce) {
    for (size_t k = 0; k < kAtOnce; ++k)
      most[k] = most[k] < line[i + k] ? line[i + k] : most[k];
  }
  for (; i < line.size(); ++i)
    most[0] = most[0] < line[i] ? line[i] : most[0];
  return *std::max_element(most, most + kAtOnce);
}

void run_softmax(const KernelCall& call) {
  for_each_line(call, [](std::span<const double> line, double* results) {
    if (line.empty()) return;
    const double greatest = greatest_of(line);
    double sum = 0;
    for_each_index(line.size(),
                   [&](size_t i) { sum += results[i] = std::exp(line[i] - greatest); });
    for_each_index(line.size(), [&](size_t i) { results[i] /= sum; });
  });
}

void run_log_softmax(const KernelCall& call) {
  for_each_line(call, [](std::span<const double> line, double* results) {
    if (line.empty()) return;
    const double greatest = greatest_of(line);
    double sum = 0;
    for_each_index(line.size(), [&](size_t i) { sum += std::exp(line[i] - greatest); });
    const double log_sum = std::log(sum);
    for_each_index(line.size(), [&](size_t i) { results[i] = line[i] - greatest - log_sum; });
  });
}

// Where the first of the greatest elements of each column of [size, columns] is.
template <typename T>
void find_winners(const T* rows, int64_t size, std::span<int64_t> winners) {
  const auto columns = static_cast<int64_t>(winners.size());
  if (columns == 1) {
    winners[0] = find_extreme<true>(rows, size, 1, false);
    return;
  }
  std::iota(winners.begin(), winners.end(), int64_t{0});
  for (int64_t i = columns; i < size * columns;) {
    for (int64_t& winner : winners) {
      const auto held = +rows[winner], x = +rows[i];
      if (x > held || (x != x && held == held)) winner = i;
      ++i;
    }
  }
}

// Writes 1 at the first of the greatest elements, else 0; a NaN counts as the greatest.
void run_hardmax(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  const AxisSplit split = split_at(x.shape, axis_of(call.attrs<SoftmaxAttrs>().axis, x.rank()));
  if (x.count() == 0) return;
  dispatch_floats(x.dtype, [&]<typename T>() {
    T* out = call.outputs[0].data<T>();
    std::pmr::vector<int64_t> winners(static_cast<size_t>(split.inner), scratch());
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      check_interrupted();
      const int64_t begin = outer * split.size * split.inner;
      find_winners(x.data<T>() + begin, split.size, std::span(winners));
      std::memset(static_cast<void*>(out + begin), 0,
                  static_cast<size_t>(split.size * split.inner) * sizeof(T));
      for (const int64_t winner : winners)
        out[begin + winner] = T(1.0f);
    }
  });
}

Term sum_along(int64_t axis, const Term& x) {
  return {x.e, x.e->call("ReduceSum", {x, x.e->int64s({axis})})};
}

Vals softmax_gradient(Emitter& e, const GradCall& c) {
  return {apply("sardonyx::SoftmaxGrad", d_output(e, c, 0), output(e, c, 0),
                {{"axis", c.attrs<SoftmaxAttrs>().axis}})};
}

void infer_softmax_grad(InferContext& c) {
  const Dims *d_y = c.shape(0), *y = c.shape(1);
  if (d_y && y) {
    c.require(d_y->size() == y->size(), "expected dY and Y of one rank, got ", d_y->size(), " and ",
              y->size());
    for (size_t axis = 0; axis < y->size(); ++axis)
      c.merged((*d_y)[axis], (*y)[axis], "dims of dY and Y");
  }
  if (y) c.normalized_axis(c.attrs<SoftmaxAttrs>().axis, y->size());
  c.set(0, c.type(1));
}

Vals softmax_grad_body(Emitter& e, const BodyCall& c) {
  const Term d{&e, c.inputs[0]}, y{&e, c.inputs[1]};
  return {y * (d - sum_along(c.attrs<SoftmaxAttrs>().axis, d * y))};
}

Vals log_softmax_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  return {d - apply("Exp", output(e, c, 0)) * sum_along(c.attrs<SoftmaxAttrs>().axis, d)};
}

std::vector<Sample> softmax_samples() {
  return {
      {.inputs = {{.shape = {2, 5}}}},
      {.inputs = {{.shape = {2, 3, 4}}}, .attrs = {{"axis", int64_t{0}}}},
      {.inputs = {{.shape = {2, 3, 4}}}, .attrs = {{"axis", int64_t{-2}}}},
      {.inputs = {{.shape = {3, 6}, .low = -60000, .high = 60000}}},
      {.inputs = {{.shape = {2, 0}}}},
      {.inputs = {{.shape = {0, 3}}}},
  };
}

std::vector<Sample> softmax_grad_samples() {
  return {
      {.inputs = {{.shape = {2, 5}}, {.shape = {2, 5}}}},
      {.inputs = {{.shape = {2, 3, 4}}, {.shape = {2, 3, 4}}}, .attrs = {{"axis", int64_t{1}}}},
      {.inputs = {{.shape = {3, 70}}, {.shape = {3, 70}}}},
      {.inputs = {{.shape = {2, 0}}, {.shape = {2, 0}}}},
      {.inputs = {{.shape = {0, 3}}, {.shape = {0, 3}}}},
  };
}

OpDef softmax_grad_row() {
  return {.name = "SoftmaxGrad",
          .doc = "The gradient of Softmax's input, by that of its output and the output itself.",
          .domain = "sardonyx",
          .since = 1,
          .signature = "(dY: T, Y: T) -> (dX: T)",
          .types = {{"T", kFloats}},
          .attrs = attr_schema<SoftmaxAttrs>(),
          .infer = infer_softmax_grad,
          .body = softmax_grad_body,
          .facts = kFloat32Kernels,
          .samples = softmax_grad_samples};
}

OpDef softmax_row(std::string_view name, void (*reference)(const KernelCall&),
                  Vals (*grad)(Emitter&, const GradCall&)) {
  return {.name = name,
          .since = 13,
          .signature = "(input: T) -> (output: T)",
          .types = {{"T", kFloats}},
          .attrs = attr_schema<SoftmaxAttrs>(),
          .infer = infer_softmax,
          .reference = reference,
          .grad = grad,
          .samples = softmax_samples};
}

}  // namespace

std::span<const OpDef> softmax_ops() {
  static const OpDef kOps[] = {
      softmax_row("Softmax", run_softmax, softmax_gradient)
          .documented("exp(input) divided by its sum along `axis`, without overflow.")
          .with(kFloat32InMixed | kFloat32Kernels),
      softmax_row("LogSoftmax", run_log_softmax, log_softmax_gradient)
          .documented("The logarithm of Softmax along `axis`, without overflow.")
          .with(kFloat32InMixed | kFloat32Kernels),
      softmax_row("Hardmax", run_hardmax, zero_gradient)
          .documented("1 for the first largest element along `axis`, else 0."),
      softmax_grad_row(),
  };
  return kOps;
}

}  // namespace sardonyx::ops
