// One op with hostile values: the reference ends well, and each provider's kernel gives what the
// reference gives.
#include <algorithm>
#include <cmath>

#include "ir/kernel.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"
#include "providers/providers.h"
#include "tests/support/fuzz_ops.h"

namespace {

using namespace sardonyx;

KernelTensor described(const Datum& datum) {
  if (!datum.defined()) return {};
  return {datum.tensor().dtype(), datum.tensor().shape(), nullptr, nullptr};
}

std::vector<Datum> run_kernel(const Kernel& kernel, const std::vector<Datum>& inputs,
                              const std::vector<Datum>& expected) {
  std::vector<Datum> made;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (const Datum& input : inputs)
    sources.push_back(input.defined() ? input.tensor().raw() : nullptr);
  for (const Datum& output : expected) {
    made.emplace_back(Tensor::allocate(output.tensor().dtype(), output.tensor().shape()));
    targets.push_back(made.back().tensor().raw());
  }
  const auto scratch = Buffer::allocate(kernel.scratch_bytes());
  kernel.run({sources.data(), targets.data(), scratch->data()});
  return made;
}

// Sums of hostile values depend on their order, so only finite values of moderate size are
// compared.
bool is_moderate(const std::vector<Datum>& data) {
  for (const Datum& datum : data) {
    if (!datum.defined() || is_integer(datum.tensor().dtype())) continue;
    if (datum.tensor().dtype() != DType::kFloat) return false;
    for (const float value : datum.tensor().values<float>()) {
      if (!(std::abs(value) < 1e3f) || (value != 0 && std::abs(value) < 1e-3f)) return false;
    }
  }
  return true;
}

bool all_tensors(const std::vector<Datum>& data) {
  for (const Datum& datum : data) {
    if (datum.defined() && !datum.is_tensor()) return false;
  }
  return true;
}

// Whether all elements differ by at most 1. Quantised means may: a tie can be rounded one way from
// an exact sum and the other way from a float one.
bool are_one_apart(const Datum& got, const Datum& expected) {
  const std::vector<double> a = got.tensor().to_doubles(), b = expected.tensor().to_doubles();
  return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) <= 1; });
}

// Whether a scale is 0: results are then NaN or infinite before rounding, and no rule says which
// integer they become.
bool has_zero_scale(const OpDef& op, const std::vector<Datum>& inputs) {
  return op.name.starts_with("QLinear") && std::ranges::any_of(inputs, [](const Datum& input) {
           return input.defined() && input.tensor().dtype() == DType::kFloat &&
                  std::ranges::count(input.tensor().values<float>(), 0.0f) > 0;
         });
}

// A line for each input, for messages.
std::string inputs_text(const std::vector<Datum>& inputs) {
  std::string lines;
  for (const Datum& input : inputs)
    lines += input.is_tensor()
                 ? text("\n  ", input.tensor().dtype(), to_text(input.tensor().shape()))
                 : "\n  -";
  return lines;
}

void check_kernel(const KernelEntry& entry, const OpDef& op, const Attrs& attrs,
                  const std::vector<Datum>& inputs, const std::vector<Datum>& expected) {
  std::vector<KernelTensor> in, out;
  for (const Datum& input : inputs)
    in.push_back(described(input));
  for (const Datum& output : expected)
    out.push_back(described(output));
  const Prepared prepared = entry.prepare({op, attrs, in, out});
  if (!prepared.kernel) return;
  const std::vector<Datum> got = run_kernel(*prepared.kernel, inputs, expected);
  if (!is_moderate(inputs) || !is_moderate(expected) || has_zero_scale(op, inputs)) return;
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison same =
        compare(got[i], expected[i], {.rtol = 1e-3, .atol = 1e-4, .relative_to_max = 1e-4});
    if (!same && !(op.name.starts_with("QLinear") && are_one_apart(got[i], expected[i])))
      fuzz::finding(text(entry.op, ", kernel ", entry.name, ", output ", i, ": ", same.reason,
                         inputs_text(inputs)));
  }
}

}  // namespace

// The first two bytes choose the row, the rest its sample and what is changed.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const OpDef& op = *all_ops()[choices.below(all_ops().size())];
  fuzz::OpCall call;
  std::vector<Datum> expected;
  Attrs attrs;
  const bool ran = fuzz::ends_well([&] {
    call = fuzz::any_call(choices, op);
    if (!call.op) return;
    attrs = Attrs::parse(*op.attrs, call.attrs);
    expected = evaluate(op, attrs, call.inputs, call.outputs);
  });
  if (!ran || !call.op || op.is(kRandom) || !all_tensors(call.inputs) || !all_tensors(expected))
    return 0;
  for (const Provider* provider : providers_named({"onednn", "cpu"})) {
    for (const KernelEntry& entry : provider->kernels) {
      if (entry.op == full_name(op))
        fuzz::ends_well([&] { check_kernel(entry, op, attrs, call.inputs, expected); });
    }
  }
  return 0;
}
