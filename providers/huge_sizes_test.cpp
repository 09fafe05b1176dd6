// Kernels are prepared before anything has compared sizes with a limit on memory: whatever the
// sizes are, that takes neither memory nor time in proportion to them. A kernel that breaks this
// does not come back, or holds more than it may.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/op_def.h"
#include "providers/cpu/provider.h"
#include "providers/onednn/provider.h"

namespace sardonyx {
namespace {

constexpr size_t kMaxHeld = size_t{256} << 20;

struct Call {
  std::vector<InferInput> given;
  std::vector<KernelTensor> inputs, outputs;
};

bool is_open(const SampleInput& input) {
  return !input.omitted && !input.value;
}

// Does a tensor have so many elements that no plan gets as far as its kernel?
bool is_beyond_reach(const KernelTensor& tensor) {
  double count = 1;
  for (const int64_t dim : tensor.shape)
    count *= static_cast<double>(dim);
  return count > std::ldexp(1, 48);
}

// The sample with `size` made `huge` in input `only`, or in all; none where inference refuses it.
std::optional<Call> enlarged(const OpDef& op, const Attrs& attrs, const Sample& sample, DType dtype,
                             int64_t size, int64_t huge, std::optional<size_t> only) {
  Call call;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const SampleInput& input = sample.inputs[i];
    call.inputs.emplace_back();
    if (input.omitted) {
      call.given.push_back({Type::none()});
      continue;
    }
    KernelTensor& tensor = call.inputs.back();
    tensor.dtype = input.dtype == DType::kUndefined ? dtype : input.dtype;
    tensor.shape = input.shape;
    if (input.value) {
      tensor = {input.value->dtype(), input.value->shape(), nullptr, &*input.value};
    } else if (!only || *only == i) {
      std::ranges::replace(tensor.shape, size, huge);
    }
    call.given.push_back({Type::tensor(tensor.dtype, to_dims(tensor.shape)), tensor.constant});
  }
  try {
    const auto unknown = [] { return Dim::symbol("unknown"); };
    for (const InferOutput& output :
         infer(op, attrs, call.given, call.given.size(), sample.outputs, unknown)) {
      if (!output.type.is_tensor() || !output.type.known_shape()) return std::nullopt;
      call.outputs.push_back({output.type.dtype, *output.type.known_shape()});
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  if (std::ranges::any_of(call.inputs, is_beyond_reach) ||
      std::ranges::any_of(call.outputs, is_beyond_reach))
    return std::nullopt;
  return call;
}

// How many kernels were asked.
size_t check(const OpDef& op, const Attrs& attrs, const Call& call) {
  size_t asked = 0;
  for (const Provider* provider : {&cpu_provider(), &onednn_provider()}) {
    for (const KernelEntry& entry : provider->kernels) {
      if (entry.op != full_name(op)) continue;
      KernelRequest request{op, attrs, call.inputs, call.outputs};
      request.layouts = true;
      const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
      const Prepared prepared = entry.prepare(request);
      const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
      EXPECT_LT(after, before + kMaxHeld) << entry.op << " by " << entry.name;
      ++asked;
    }
  }
  return asked;
}

TEST(HugeSizes, CostNothingBeforeTheyAreChecked) {
  constexpr int64_t kHuge = int64_t{1} << 33;
  size_t asked = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->samples) continue;
    for (const Sample& sample : op->samples()) {
      SCOPED_TRACE(full_name(*op));
      const Attrs attrs = Attrs::parse(*op->attrs, sample.attrs);
      std::set<int64_t> sizes;
      for (const SampleInput& input : sample.inputs) {
        if (is_open(input)) sizes.insert(input.shape.begin(), input.shape.end());
      }
      for (const int64_t size : sizes) {
        std::vector<std::optional<size_t>> choices{std::nullopt};
        for (size_t i = 0; i < sample.inputs.size(); ++i)
          choices.emplace_back(i);
        for (const auto& only : choices) {
          for (const DType dtype : {DType::kFloat, DType::kUInt8, DType::kInt64}) {
            const auto call = enlarged(*op, attrs, sample, dtype, size, kHuge, only);
            if (call) asked += check(*op, attrs, *call);
          }
        }
      }
    }
  }
  EXPECT_GT(asked, 1000u);
}

}  // namespace
}  // namespace sardonyx
