// Functions of float32 that fewer models use, in row-major order.
#include <optional>

#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/special_functions.h"
#include "providers/cpu/elementwise/special_functions_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class FunctionKernel : public Kernel {
 public:
  FunctionKernel(Function function, FunctionParams params, int64_t count, int threads)
      : function_(function), params_(params), threads_(threads) {
    grid_.length = count;
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      function_row(function_, params_, in + begin, out + begin, static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  Function function_;
  FunctionParams params_;
  BroadcastLoop grid_;
  int threads_;
};

float float_attribute(const KernelRequest& request, std::string_view name) {
  return std::get<float>(request.raw_attrs.get(name).value());
}

template <Function function>
Prepared prepare_function(const KernelRequest& request) {
  return prepare_function(request, function, {});
}

template <Function function>
Prepared prepare_function_alpha(const KernelRequest& request) {
  return prepare_function(request, function, {float_attribute(request, "alpha"), 0});
}

Prepared prepare_selu(const KernelRequest& request) {
  const float gamma = float_attribute(request, "gamma");
  return prepare_function(request, Function::kSelu,
                          {gamma, gamma * float_attribute(request, "alpha")});
}

Prepared prepare_shrink(const KernelRequest& request) {
  return prepare_function(request, Function::kShrink,
                          {float_attribute(request, "lambd"), float_attribute(request, "bias")});
}

constexpr KernelEntry kFunctionEntries[] = {
    {"Acos", "special_functions", prepare_function<Function::kAcos>},
    {"Acosh", "special_functions", prepare_function<Function::kAcosh>},
    {"Asin", "special_functions", prepare_function<Function::kAsin>},
    {"Asinh", "special_functions", prepare_function<Function::kAsinh>},
    {"Atan", "special_functions", prepare_function<Function::kAtan>},
    {"Atanh", "special_functions", prepare_function<Function::kAtanh>},
    {"Celu", "special_functions", prepare_function_alpha<Function::kCelu>},
    {"Cosh", "special_functions", prepare_function<Function::kCosh>},
    {"Selu", "special_functions", prepare_selu},
    {"Shrink", "special_functions", prepare_shrink},
    {"Sign", "special_functions", prepare_function<Function::kSign>},
    {"Sinh", "special_functions", prepare_function<Function::kSinh>},
    {"Softsign", "special_functions", prepare_function<Function::kSoftsign>},
    {"Tan", "special_functions", prepare_function<Function::kTan>},
    {"ThresholdedRelu", "special_functions", prepare_function_alpha<Function::kThresholdedRelu>},
};

}  // namespace

Prepared prepare_function(const KernelRequest& request, Function function, FunctionParams params) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  return Prepared::accept(
      std::make_unique<FunctionKernel>(function, params, element_count(request.inputs[0].shape),
                                       request.threads),
      "simd");
}

std::span<const KernelEntry> special_functions_kernels() {
  return kFunctionEntries;
}

}  // namespace sardonyx::cpu
