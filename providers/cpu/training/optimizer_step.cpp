// Updates of parameters in one pass over memory (ir/ops/training/optimizer.h).
#include "ir/ops/training/optimizer.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/training/optimizer_params.h"

namespace sardonyx::cpu {
namespace {

constexpr size_t kRate = 2;

inline float root(float x) {
  return __builtin_sqrtf(x);
}
inline double root(double x) {
  return __builtin_sqrt(x);
}

// The base of the four update kernels: one parallel loop over elements, and the two scalars.
class StepKernel : public Kernel {
 public:
  explicit StepKernel(const KernelRequest& request)
      : threads_(request.threads), rate_is_double_(request.inputs[kRate].dtype == DType::kDouble) {
    grid_.length = element_count(request.inputs[0].shape);
  }

 protected:
  double rate(const KernelArgs& args) const {
    return rate_is_double_ ? *static_cast<const double*>(args.inputs[kRate])
                           : static_cast<double>(*static_cast<const float*>(args.inputs[kRate]));
  }
  StepInputs step_inputs(bool has_last_state) const {
    return {kRate, rate_is_double_, has_last_state};
  }
  static int64_t count_before(const KernelArgs& args) {
    return *static_cast<const int64_t*>(args.inputs[3]);
  }
  template <typename Piece>
  void for_each_piece(const Piece& piece) const {
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      piece(begin, begin + count);
    });
  }

 private:
  BroadcastLoop grid_;
  int threads_;
  bool rate_is_double_;
};

template <typename T>
const T* input(const KernelArgs& args, size_t index) {
  return static_cast<const T*>(args.inputs[index]);
}
template <typename T>
T* output(const KernelArgs& args, size_t index) {
  return static_cast<T*>(args.outputs[index]);
}

template <typename T>
class SgdKernel : public StepKernel {
 public:
  explicit SgdKernel(const KernelRequest& request)
      : StepKernel(request),
        attrs_(request.attrs<ops::SgdStepAttrs>()),
        has_velocity_(request.has(4)) {}

  void run(const KernelArgs& args) const override {
    if constexpr (std::is_same_v<T, float>) {
      const SgdUpdate update = sgd_update(attrs_, this->step_inputs(has_velocity_), args);
      const float* const g = input<float>(args, 1);
      return this->for_each_piece([&](int64_t begin, int64_t end) {
        sgd_row(update, g + begin, static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      });
    }
    const auto sign = static_cast<T>(attrs_.maximize ? -1 : 1);
    const auto decay = static_cast<T>(ops::number_of(attrs_.weight_decay));
    const auto rate = static_cast<T>(this->rate(args));
    const T *const x = input<T>(args, 0), *const g = input<T>(args, 1);
    T* const out = output<T>(args, 0);
    if (!has_velocity_) {
      return for_each_piece([=](int64_t begin, int64_t end) {
#pragma omp simd
        for (int64_t i = begin; i < end; ++i)
          out[i] = x[i] - rate * (sign * g[i] + decay * x[i]);
      });
    }
    const int64_t count = count_before(args);
    const auto momentum = static_cast<T>(ops::number_of(attrs_.momentum));
    const auto taken = static_cast<T>(count == 0 ? 1 : 1 - ops::number_of(attrs_.dampening));
    const bool nesterov = attrs_.nesterov;
    const T* const v = input<T>(args, 4);
    T* const v_out = output<T>(args, 2);
    for_each_piece([=](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        const T gradient = sign * g[i] + decay * x[i];
        const T velocity = momentum * v[i] + taken * gradient;
        out[i] = x[i] - rate * (nesterov ? gradient + momentum * velocity : velocity);
        v_out[i] = velocity;
      }
    });
    *output<int64_t>(args, 1) = count + 1;
  }
  bool may_alias(size_t output, size_t input) const override {
    return (output == 0 && input == 0) || (output == 2 && input == 4);
  }

 private:
  ops::SgdStepAttrs attrs_;
  bool has_velocity_;
};

template <typename T>
class AdamKernel : public StepKernel {
 public:
  explicit AdamKernel(const KernelRequest& request)
      : StepKernel(request),
        attrs_(request.attrs<ops::AdamStepAttrs>()),
        has_greatest_(request.has(6)) {}

  void run(const KernelArgs& args) const override {
    if constexpr (std::is_same_v<T, float>) {
      const AdamUpdate update = adam_update(attrs_, this->step_inputs(has_greatest_), args);
      const float* const g = input<float>(args, 1);
      return this->for_each_piece([&](int64_t begin, int64_t end) {
        adam_row(update, g + begin, static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      });
    }
    const int64_t count = count_before(args) + 1;
    const double rate = this->rate(args), all_decay = ops::number_of(attrs_.weight_decay);
    const double beta1 = ops::number_of(attrs_.beta1), beta2 = ops::number_of(attrs_.beta2);
    const auto power = static_cast<double>(count);
    const auto size = static_cast<T>(rate / (1 - std::pow(beta1, power)));
    const auto scale = static_cast<T>(std::sqrt(1 - std::pow(beta2, power)));
    const auto epsilon = static_cast<T>(ops::number_of(attrs_.epsilon));
    const auto sign = static_cast<T>(attrs_.maximize ? -1 : 1);
    const auto decay = static_cast<T>(attrs_.decoupled ? 0 : all_decay);
    const auto kept = static_cast<T>(attrs_.decoupled ? 1 - rate * all_decay : 1);
    const auto mean_share = static_cast<T>(1 - beta1), square_share = static_cast<T>(1 - beta2);
    const auto square_kept = static_cast<T>(beta2);
    const T *const x = input<T>(args, 0), *const g = input<T>(args, 1);
    const T *const m = input<T>(args, 4), *const v = input<T>(args, 5);
    T *const out = output<T>(args, 0), *const m_out = output<T>(args, 2);
    T* const v_out = output<T>(args, 3);
    const T* const w = has_greatest_ ? input<T>(args, 6) : nullptr;
    T* const w_out = has_greatest_ ? output<T>(args, 4) : nullptr;
    for_each_piece([=](int64_t begin, int64_t end) {
      if (w_out) {
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) {
          const T gradient = sign * g[i] + decay * x[i];
          const T mean = m[i] + mean_share * (gradient - m[i]);
          const T square = square_kept * v[i] + square_share * (gradient * gradient);
          const T greatest = std::max(w[i], square);
          out[i] = kept * x[i] - size * (mean / (root(greatest) / scale + epsilon));
          m_out[i] = mean, v_out[i] = square, w_out[i] = greatest;
        }
        return;
      }
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        const T gradient = sign * g[i] + decay * x[i];
        const T mean = m[i] + mean_share * (gradient - m[i]);
        const T square = square_kept * v[i] + square_share * (gradient * gradient);
        out[i] = kept * x[i] - size * (mean / (root(square) / scale + epsilon));
        m_out[i] = mean, v_out[i] = square;
      }
    });
    *output<int64_t>(args, 1) = count;
  }
  bool may_alias(size_t output, size_t input) const override {
    return output != 1 && (output == 0 ? input == 0 : input == output + 2);
  }

 private:
  ops::AdamStepAttrs attrs_;
  bool has_greatest_;
};

template <typename T>
class RmspropKernel : public StepKernel {
 public:
  explicit RmspropKernel(const KernelRequest& request)
      : StepKernel(request),
        attrs_(request.attrs<ops::RmspropStepAttrs>()),
        has_velocity_(request.has(4)),
        has_mean_(request.has(5)) {}

  void run(const KernelArgs& args) const override {
    const double alpha = ops::number_of(attrs_.alpha);
    const auto kept = static_cast<T>(alpha), share = static_cast<T>(1 - alpha);
    const auto epsilon = static_cast<T>(ops::number_of(attrs_.epsilon));
    const auto sign = static_cast<T>(attrs_.maximize ? -1 : 1);
    const auto decay = static_cast<T>(ops::number_of(attrs_.weight_decay));
    const auto momentum = static_cast<T>(ops::number_of(attrs_.momentum));
    const auto rate = static_cast<T>(this->rate(args));
    const T *const x = input<T>(args, 0), *const g = input<T>(args, 1);
    const T* const v = input<T>(args, 3);
    const T* const b = has_velocity_ ? input<T>(args, 4) : nullptr;
    const T* const m = has_mean_ ? input<T>(args, 5) : nullptr;
    T *const out = output<T>(args, 0), *const v_out = output<T>(args, 1);
    T* const b_out = has_velocity_ ? output<T>(args, 2) : nullptr;
    T* const m_out = has_mean_ ? output<T>(args, 3) : nullptr;
    for_each_piece([=](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        const T gradient = sign * g[i] + decay * x[i];
        const T square = kept * v[i] + share * (gradient * gradient);
        T spread = square;
        if (m_out) {
          const T mean = m[i] + share * (gradient - m[i]);
          spread -= mean * mean;
          m_out[i] = mean;
        }
        T step = gradient / (root(spread) + epsilon);
        if (b_out) {
          step += momentum * b[i];
          b_out[i] = step;
        }
        out[i] = x[i] - rate * step;
        v_out[i] = square;
      }
    });
  }
  bool may_alias(size_t output, size_t input) const override {
    return output == 0 ? input == 0 : input == output + 2;
  }

 private:
  ops::RmspropStepAttrs attrs_;
  bool has_velocity_, has_mean_;
};

template <typename T>
class AdagradKernel : public StepKernel {
 public:
  explicit AdagradKernel(const KernelRequest& request)
      : StepKernel(request), attrs_(request.attrs<ops::AdagradStepAttrs>()) {}

  void run(const KernelArgs& args) const override {
    const int64_t count = count_before(args);
    const double slowed = 1 + static_cast<double>(count) * ops::number_of(attrs_.rate_decay);
    const auto rate = static_cast<T>(this->rate(args) / slowed);
    const auto epsilon = static_cast<T>(ops::number_of(attrs_.epsilon));
    const auto sign = static_cast<T>(attrs_.maximize ? -1 : 1);
    const auto decay = static_cast<T>(ops::number_of(attrs_.weight_decay));
    const T *const x = input<T>(args, 0), *const g = input<T>(args, 1);
    const T* const v = input<T>(args, 4);
    T *const out = output<T>(args, 0), *const v_out = output<T>(args, 2);
    for_each_piece([=](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        const T gradient = sign * g[i] + decay * x[i];
        const T sum = v[i] + gradient * gradient;
        out[i] = x[i] - rate * (gradient / (root(sum) + epsilon));
        v_out[i] = sum;
      }
    });
    *output<int64_t>(args, 1) = count + 1;
  }
  bool may_alias(size_t output, size_t input) const override {
    return (output == 0 && input == 0) || (output == 2 && input == 4);
  }

 private:
  ops::AdagradStepAttrs attrs_;
};

template <template <typename> typename Step>
Prepared prepare_step(const KernelRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const KernelTensor& tensor = request.inputs[i];
    if (!tensor || i == kRate || tensor.dtype == DType::kInt64) continue;
    if (tensor.shape != request.inputs[0].shape)
      return Prepared::refuse("states must have the parameter's shape");
  }
  if (request.inputs[0].dtype == DType::kFloat)
    return Prepared::accept(std::make_unique<Step<float>>(request), "one pass");
  if (request.inputs[0].dtype == DType::kDouble)
    return Prepared::accept(std::make_unique<Step<double>>(request), "one pass");
  return Prepared::refuse("only float and double are updated here");
}

constexpr KernelEntry kOptimizerEntries[] = {
    {"sardonyx::SgdStep", "optimizer_step", prepare_step<SgdKernel>},
    {"sardonyx::AdamStep", "optimizer_step", prepare_step<AdamKernel>},
    {"sardonyx::RmspropStep", "optimizer_step", prepare_step<RmspropKernel>},
    {"sardonyx::AdagradStep", "optimizer_step", prepare_step<AdagradKernel>},
};

}  // namespace

std::span<const KernelEntry> optimizer_step_kernels() {
  return kOptimizerEntries;
}

}  // namespace sardonyx::cpu
