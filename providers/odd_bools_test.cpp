// Every kernel that reads bools takes any byte but 0 for true: it gives what it gives for bytes of
// 1. Ops that only move elements pass the bytes on.
#include <gtest/gtest.h>

#include <set>

#include "ir/core/bools.h"
#include "ir/datum_tensors.h"
#include "ir/kernel.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"
#include "providers/providers.h"
#include "tests/support/odd_bools.h"

namespace sardonyx {
namespace {

constexpr Tolerance kExact{.rtol = 0, .atol = 0};

struct OddCall {
  const OpDef& op;
  Attrs attrs;
  std::vector<Datum> inputs, expected;
};

// Calls `visit` for each sample of each row that has bools among its inputs.
template <typename Visit>
void for_each_call_of_bools(const Visit& visit) {
  for (const OpDef* op : all_ops()) {
    if (!op->samples || op->is(kRandom)) continue;
    for (const Sample& sample : op->samples()) {
      for (const std::vector<Datum>& inputs : sample_inputs(*op, sample)) {
        if (!has_bools(inputs)) continue;
        OddCall call{*op, Attrs::parse(*op->attrs, sample.attrs), inputs, {}};
        try {
          call.expected = evaluate(*op, call.attrs, inputs, sample.outputs);
        } catch (const Error&) {  // types that do not fit each other
          continue;
        }
        visit(call);
      }
    }
  }
}

void expect_same(const std::vector<Datum>& got, const std::vector<Datum>& expected,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!expected[i].defined()) continue;
    EXPECT_TRUE(compare(with_normal_bools(got[i]), expected[i], kExact))
        << what << ", output " << i << ": "
        << compare(with_normal_bools(got[i]), expected[i], kExact).reason;
  }
}

TEST(OddBools, AreReadByReferencesAsTrue) {
  std::set<std::string> seen;
  for_each_call_of_bools([&](const OddCall& call) {
    expect_same(evaluate(call.op, call.attrs, with_odd_bools(call.inputs), call.expected.size()),
                call.expected, full_name(call.op));
    seen.insert(full_name(call.op));
  });
  for (const char* op : {"NonZero", "Compress", "Where", "Xor", "Equal", "Cast", "Unique", "Not"})
    EXPECT_TRUE(seen.contains(op)) << op;
}

std::vector<KernelTensor> described(const std::vector<Datum>& data) {
  std::vector<KernelTensor> tensors;
  for (const Datum& datum : data) {
    if (datum.defined())
      tensors.push_back({datum.tensor().dtype(), datum.tensor().shape(), nullptr, nullptr});
    else
      tensors.emplace_back();
  }
  return tensors;
}

std::vector<Datum> results_of(const Kernel& kernel, const std::vector<Datum>& inputs,
                              const std::vector<Datum>& expected) {
  std::vector<Datum> made;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (const Datum& input : inputs)
    sources.push_back(input.defined() ? input.tensor().raw() : nullptr);
  for (const Datum& output : expected) {
    if (output.defined())
      made.emplace_back(Tensor::allocate(output.tensor().dtype(), output.tensor().shape()));
    else
      made.emplace_back();
    targets.push_back(output.defined() ? made.back().tensor().raw() : nullptr);
  }
  const auto scratch = Buffer::allocate(kernel.scratch_bytes());
  kernel.run({sources.data(), targets.data(), scratch->data()});
  return made;
}

bool all_are_tensors(const std::vector<Datum>& data) {
  return std::ranges::all_of(data, [](const Datum& d) { return !d.defined() || d.is_tensor(); });
}

TEST(OddBools, AreReadByKernelsAsTrue) {
  std::set<std::string> seen;
  const auto providers = providers_named({"onednn", "cpu"});
  for_each_call_of_bools([&](const OddCall& call) {
    if (!all_are_tensors(call.inputs) || !all_are_tensors(call.expected)) return;
    const std::vector<KernelTensor> in = described(call.inputs), out = described(call.expected);
    for (const Provider* provider : providers) {
      for (const KernelEntry& entry : provider->kernels) {
        if (entry.op != full_name(call.op)) continue;
        const Prepared prepared = entry.prepare({call.op, call.attrs, in, out});
        if (!prepared.kernel) continue;
        expect_same(results_of(*prepared.kernel, with_odd_bools(call.inputs), call.expected),
                    results_of(*prepared.kernel, call.inputs, call.expected),
                    text(entry.op, ", kernel ", entry.name));
        seen.insert(std::string(entry.op));
      }
    }
  });
  for (const char* op : {"Where", "And", "Or", "Xor", "Not", "Equal", "Cast"})
    EXPECT_TRUE(seen.contains(op)) << op;
}

TEST(OddBools, AreCountedOnceForEachPlace) {
  const OpDef& non_zero = *find_op("NonZero");
  Tensor all = Tensor::allocate(DType::kBool, {4096});
  std::fill_n(static_cast<uint8_t*>(all.raw()), 4096, uint8_t{255});
  const std::vector<Datum> found =
      evaluate(non_zero, Attrs::parse(*non_zero.attrs, {}), {{all}}, 1);
  ASSERT_EQ(found[0].tensor().shape(), (Shape{1, 4096}));
  for (int64_t i = 0; i < 4096; ++i)
    ASSERT_EQ(found[0].tensor().values<int64_t>()[static_cast<size_t>(i)], i);
}

TEST(OddBools, AreFoundAtEveryPlace) {
  for (const size_t count : {0ul, 1ul, 63ul, 5000ul}) {
    std::vector<uint8_t> bytes(count, 1);
    EXPECT_TRUE(are_normal_bools(bytes.data(), count));
    for (size_t i = 0; i < count; i += count / 7 + 1) {
      bytes[i] = 2;
      EXPECT_FALSE(are_normal_bools(bytes.data(), count)) << i << " of " << count;
      bytes[i] = 1;
    }
  }
}

}  // namespace
}  // namespace sardonyx
