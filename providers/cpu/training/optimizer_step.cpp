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

// The base of the four update kernels: one parallel loop over elements, and the scalars. The
// momentum, where a row has one, follows the last state.
class StepKernel : public Kernel {
 protected:
  StepKernel(const KernelRequest& request, size_t last_state)
      : inputs_{kRate, request.inputs[kRate].dtype == DType::kDouble, request.has(last_state),
                request.has(last_state + 1) ? last_state + 1 : 0},
        threads_(request.threads) {
    grid_.length = element_count(request.inputs[0].shape);
  }
  double rate(const KernelArgs& args) const { return inputs_.rate_of(args); }
  int64_t count_before(const KernelArgs& args) const { return inputs_.count_of(args); }
  size_t elements() const { return static_cast<size_t>(grid_.length); }
  template <typename Piece>
  void for_each_piece(const Piece& piece) const {
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      piece(begin, begin + count);
    });
  }

  StepInputs inputs_;

 private:
  BroadcastLoop grid_;
  int threads_;
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
  static constexpr size_t kLastState = 4;
  explicit SgdKernel(const KernelRequest& request)
      : StepKernel(request, kLastState), attrs_(request.attrs<ops::SgdStepAttrs>()) {}

  void run(const KernelArgs& args) const override {
    if constexpr (std::is_same_v<T, float>) {
      const SgdUpdate update = sgd_update(attrs_, this->inputs_, args, this->elements());
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
    const auto plain = [=, this] {
      for_each_piece([=](int64_t begin, int64_t end) {
#pragma omp simd
        for (int64_t i = begin; i < end; ++i)
          out[i] = x[i] - rate * (sign * g[i] + decay * x[i]);
      });
    };
    if (!inputs_.has_last_state) return plain();
    const int64_t count = count_before(args);
    const auto momentum = static_cast<T>(inputs_.momentum_of(args, attrs_.momentum));
    if (inputs_.momentum > 0 && momentum == 0) {
      *output<int64_t>(args, 1) = count;
      keep_state(args.inputs[kLastState], args.outputs[2], elements() * sizeof(T));
      return plain();
    }
    const auto taken = static_cast<T>(count == 0 ? 1 : 1 - ops::number_of(attrs_.dampening));
    const bool nesterov = attrs_.nesterov;
    const T* const v = input<T>(args, kLastState);
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
};

template <typename T>
class AdamKernel : public StepKernel {
 public:
  static constexpr size_t kLastState = 6;
  explicit AdamKernel(const KernelRequest& request)
      : StepKernel(request, kLastState), attrs_(request.attrs<ops::AdamStepAttrs>()) {}

  void run(const KernelArgs& args) const override {
    if constexpr (std::is_same_v<T, float>) {
      const AdamUpdate update = adam_update(attrs_, this->inputs_, args, this->elements());
      const float* const g = input<float>(args, 1);
      return this->for_each_piece([&](int64_t begin, int64_t end) {
        adam_row(update, g + begin, static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      });
    }
    const int64_t count = count_before(args) + 1;
    const double rate = this->rate(args), all_decay = ops::number_of(attrs_.weight_decay);
    const double beta1 = inputs_.momentum_of(args, attrs_.beta1),
                 beta2 = ops::number_of(attrs_.beta2);
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
    const T* const w = inputs_.has_last_state ? input<T>(args, kLastState) : nullptr;
    T* const w_out = inputs_.has_last_state ? output<T>(args, 4) : nullptr;
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
};

template <typename T>
class RmspropKernel : public StepKernel {
 public:
  static constexpr size_t kVelocity = 4, kLastState = 5;
  explicit RmspropKernel(const KernelRequest& request)
      : StepKernel(request, kLastState),
        attrs_(request.attrs<ops::RmspropStepAttrs>()),
        has_velocity_(request.has(kVelocity)) {}

  void run(const KernelArgs& args) const override {
    const double alpha = ops::number_of(attrs_.alpha);
    const auto kept = static_cast<T>(alpha), share = static_cast<T>(1 - alpha);
    const auto epsilon = static_cast<T>(ops::number_of(attrs_.epsilon));
    const auto sign = static_cast<T>(attrs_.maximize ? -1 : 1);
    const auto decay = static_cast<T>(ops::number_of(attrs_.weight_decay));
    const double exact_momentum = inputs_.momentum_of(args, attrs_.momentum);
    const auto momentum = static_cast<T>(exact_momentum);
    const bool rests = inputs_.momentum > 0 && exact_momentum == 0;
    if (has_velocity_ && rests)
      keep_state(args.inputs[kVelocity], args.outputs[2], elements() * sizeof(T));
    const auto rate = static_cast<T>(this->rate(args));
    const T *const x = input<T>(args, 0), *const g = input<T>(args, 1);
    const T* const v = input<T>(args, 3);
    const bool moves = has_velocity_ && !rests;
    const T* const b = moves ? input<T>(args, kVelocity) : nullptr;
    const T* const m = inputs_.has_last_state ? input<T>(args, kLastState) : nullptr;
    T *const out = output<T>(args, 0), *const v_out = output<T>(args, 1);
    T* const b_out = moves ? output<T>(args, 2) : nullptr;
    T* const m_out = inputs_.has_last_state ? output<T>(args, 3) : nullptr;
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
  bool has_velocity_;
};

template <typename T>
class AdagradKernel : public StepKernel {
 public:
  static constexpr size_t kLastState = 4;
  explicit AdagradKernel(const KernelRequest& request)
      : StepKernel(request, kLastState), attrs_(request.attrs<ops::AdagradStepAttrs>()) {}

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
    const bool is_number = i == kRate || i == Step<float>::kLastState + 1;
    if (!tensor || is_number || tensor.dtype == DType::kInt64) continue;
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
