// Normalizations of float32 whose statistics are those of contiguous elements:
// InstanceNormalization, GroupNormalization, MeanVarianceNormalization and LpNormalization; and
// BatchNormalization, whose statistics are given.
#include <algorithm>
#include <cmath>
#include <functional>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/normalization/batch_group_norm.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/channel_stats_kernel.h"
#include "providers/cpu/reduction/reduce_kernel.h"

namespace sardonyx::cpu {
namespace {

// Rows [rows, length] one after the other, shared out among threads.
template <typename RunRow>
void for_rows(int64_t rows, int64_t length, int threads, const RunRow& run_row) {
  const auto wanted =
      static_cast<int>(std::min<int64_t>(threads, rows * length / kElementsPerThread + 1));
  for_each_task(rows, wanted, length, run_row);
}

void scale_row(const float* in, float factor, float* out, size_t count) {
  binary_row(Binary::kMul, in, true, &factor, false, out, count);
}

// out = in - mean; gives the mean of the squares of that.
float center_row(const float* in, float* out, size_t count) {
  const float mean = reduce_row(ReduceOp::kMean, in, count);
  binary_row(Binary::kSub, in, true, &mean, false, out, count);
  return reduce_row(ReduceOp::kSumSquare, out, count) / static_cast<float>(count);
}

// A group is `members` channels of `size` elements each; there are `groups` in a batch entry.
class GroupNormKernel : public Kernel {
 public:
  GroupNormKernel(const KernelRequest& request, int64_t groups, float epsilon)
      : groups_(groups), epsilon_(epsilon), threads_(request.threads) {
    const Shape& x = request.inputs[0].shape;
    batch_ = x[0];
    members_ = x[1] / groups;
    size_ = element_count(x) / (x[0] * x[1]);
  }

  void run(const KernelArgs& args) const override {
    const auto* scales = static_cast<const float*>(args.inputs[1]);
    const auto* biases = static_cast<const float*>(args.inputs[2]);
    const int64_t length = members_ * size_;
    for_rows(batch_ * groups_, length, threads_, [&](int64_t group) {
      float* out = static_cast<float*>(args.outputs[0]) + group * length;
      const float variance = center_row(static_cast<const float*>(args.inputs[0]) + group * length,
                                        out, static_cast<size_t>(length));
      const float inverse = 1 / std::sqrt(variance + epsilon_);
      for (int64_t member = 0; member < members_; ++member, out += size_) {
        const int64_t channel = group % groups_ * members_ + member;
        const auto count = static_cast<size_t>(size_);
        scale_row(out, inverse * scales[channel], out, count);
        binary_row(Binary::kAdd, out, true, biases + channel, false, out, count);
      }
    });
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  int64_t batch_, groups_, members_, size_;
  float epsilon_;
  int threads_;
};

Prepared prepare_group(const KernelRequest& request, int64_t groups, float epsilon) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  if (element_count(request.inputs[0].shape) == 0) return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<GroupNormKernel>(request, groups, epsilon),
                          "group_norm");
}

Prepared prepare_instance(const KernelRequest& request) {
  return prepare_group(request, request.inputs[0].shape[1],
                       request.attrs<ops::InstanceNormalizationAttrs>().epsilon);
}

Prepared prepare_groups(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GroupNormalizationAttrs>();
  if (attrs.stash_type == DType::kDouble) return Prepared::refuse("double is asked for");
  return prepare_group(request, attrs.num_groups, attrs.epsilon);
}

// BatchNormalization with given moments: each channel is scaled and moved.
class BatchNormKernel : public Kernel {
 public:
  explicit BatchNormKernel(const KernelRequest& request)
      : epsilon_(request.attrs<ops::BatchNormalizationAttrs>().epsilon), threads_(request.threads) {
    const Shape& x = request.inputs[0].shape;
    channels_ = x.size() > 1 ? x[1] : 1;
    rows_ = x[0] * channels_;
    size_ = element_count(x) / rows_;
  }

  void run(const KernelArgs& args) const override {
    const auto input = [&](size_t i, int64_t channel) {
      return static_cast<const float*>(args.inputs[i])[channel];
    };
    for_rows(rows_, size_, threads_, [&](int64_t row) {
      const int64_t channel = row % channels_;
      const float factor = input(1, channel) / std::sqrt(input(4, channel) + epsilon_);
      const float mean = input(3, channel), bias = input(2, channel);
      const float* in = static_cast<const float*>(args.inputs[0]) + row * size_;
      float* out = static_cast<float*>(args.outputs[0]) + row * size_;
      map_affine(in, size_, all_lanes(mean), all_lanes(factor), all_lanes(bias), out);
    });
  }
  bool may_alias(size_t output, size_t input) const override { return output == 0 && input == 0; }

 private:
  int64_t channels_, rows_, size_;
  float epsilon_;
  int threads_;
};

Prepared prepare_batch(const KernelRequest& request) {
  if (request.attrs<ops::BatchNormalizationAttrs>().training_mode || request.wants(1))
    return Prepared::refuse("moments are taken by the reference");
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  if (element_count(request.inputs[0].shape) == 0) return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<BatchNormKernel>(request), "batch_norm");
}

// Rows that are normalized alike.
using Row = void (*)(const float* in, float* out, size_t length);

class RowKernel : public Kernel {
 public:
  RowKernel(Row row, int64_t rows, int64_t length, int threads)
      : row_(row), rows_(rows), length_(length), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    for_rows(rows_, length_, threads_, [&](int64_t row) {
      row_(static_cast<const float*>(args.inputs[0]) + row * length_,
           static_cast<float*>(args.outputs[0]) + row * length_, static_cast<size_t>(length_));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  Row row_;
  int64_t rows_, length_;
  int threads_;
};

void mean_variance_row(const float* in, float* out, size_t length) {
  const float variance = center_row(in, out, length);
  scale_row(out, 1 / (std::sqrt(variance) + 1e-9f), out, length);
}

// Rows of zeros stay zeros.
template <ReduceOp norm>
void lp_row(const float* in, float* out, size_t length) {
  const float size = reduce_row(norm, in, length);
  if (size == 0)
    std::fill_n(out, length, 0.0f);
  else
    binary_row(Binary::kDiv, in, true, &size, false, out, length);
}

// The elements of dims [axis, rank).
int64_t length_from(const Shape& shape, size_t axis) {
  int64_t length = 1;
  for (size_t dim = axis; dim < shape.size(); ++dim)
    length *= shape[dim];
  return length;
}

Prepared accept_rows(const KernelRequest& request, Row row, int64_t length) {
  const int64_t count = element_count(request.inputs[0].shape);
  if (count == 0) return Prepared::refuse("there are no elements");
  if (!all_of(request.inputs, DType::kFloat) || request.outputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  return Prepared::accept(std::make_unique<RowKernel>(row, count / length, length, request.threads),
                          "group_norm");
}

Prepared prepare_lp(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LpNormalizationAttrs>();
  const Shape& x = request.inputs[0].shape;
  const size_t axis = axis_of(attrs.axis, x.size());
  if (length_from(x, axis + 1) != 1) return Prepared::refuse("elements of a norm are not adjacent");
  return accept_rows(request, attrs.p == 1 ? lp_row<ReduceOp::kL1> : lp_row<ReduceOp::kL2>,
                     length_from(x, axis));
}

// Where the axes, but for dims of 1, are the last ones.
Prepared prepare_mean_variance(const KernelRequest& request) {
  const Shape& x = request.inputs[0].shape;
  std::vector<bool> reduced(x.size(), false);
  for (const int64_t axis : request.attrs<ops::MeanVarianceNormalizationAttrs>().axes)
    reduced[axis_of(axis, x.size())] = true;
  int64_t length = 1;
  bool is_past = false;
  for (size_t dim = x.size(); dim-- > 0;) {
    if (x[dim] == 1) continue;
    if (!reduced[dim]) is_past = true;
    if (reduced[dim] && is_past) return Prepared::refuse("elements of a mean are not adjacent");
    if (reduced[dim]) length *= x[dim];
  }
  return accept_rows(request, mean_variance_row, length);
}

constexpr KernelEntry kGroupNormalizationEntries[] = {
    {"BatchNormalization", "batch_norm", prepare_batch},
    {"InstanceNormalization", "group_norm", prepare_instance},
    {"GroupNormalization", "group_norm", prepare_groups},
    {"MeanVarianceNormalization", "group_norm", prepare_mean_variance},
    {"LpNormalization", "group_norm", prepare_lp},
};

}  // namespace

std::span<const KernelEntry> group_norm_kernels() {
  return kGroupNormalizationEntries;
}

}  // namespace sardonyx::cpu
