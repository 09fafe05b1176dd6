// Normalisations. Parameters are called weight (ones) and bias (zeros), as in torch.
#pragma once

#include <functional>
#include <optional>

#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

// What the layers that normalise by channel share: parameters, and running statistics.
template <typename Self>
class ChannelNorm : public Layer<Self> {
 public:
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  using Layer<Self>::Layer;
  void make_state(int64_t channels, bool affine, bool tracks_statistics);

  // Weight and bias, or what stands for them. Throws where they are not the registered ones.
  const Tensor& scale() const;
  const Tensor& shift() const;

  Tensor ones_, zeros_;
};

// eps: added to the variance; momentum: the share of the batch in the running statistics; affine:
// weight and bias are trained, else there are none.
struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // none: the running statistics are the mean of all batches
  bool affine = true;
  bool track_running_stats = true;
};
// x [N, C, spatial...], over all axes but the channels'. In training mode by the batch's
// statistics, which move the running ones (its variance by n - 1 elements); else by the running
// ones, or by the batch's where none are tracked.
class BatchNorm : public ChannelNorm<BatchNorm> {
 public:
  Tensor forward(const Tensor& x) const;

 protected:
  BatchNorm(std::string type_name, size_t low_rank, size_t high_rank, int64_t channels,
            const BatchNormOptions& options, Loc loc);

 private:
  Tensor by_batch(const Tensor& x) const;
  void move_statistics(const Tensor& elements, const Tensor& mean, const Tensor& variance) const;

  size_t low_rank_, high_rank_;
  BatchNormOptions options_;
};
// What takes the place of a batch norm's own computing in training mode, for statistics of more
// than the batch at hand: the normalised x, and the statistics that the running ones move towards.
struct BatchNormResult {
  Tensor y;
  Tensor mean, variance;  // [C]; the variance divided by the number of elements
  Tensor elements;        // of each channel; rank 0
};
using BatchComputation = std::function<BatchNormResult(const Tensor& x, const Tensor& weight,
                                                       const Tensor& bias, double eps)>;
// Whether a module is a BatchNorm, and whether it computes as it was told.
bool is_batch_norm(const Module& module);
bool has_batch_computation(const Module& module);
// An empty function: the layer's own computing again. Throws kInvalidArgument unless the module is
// a BatchNorm.
void set_batch_computation(const Module& module, BatchComputation computation);

// x [N, C] or [N, C, L].
class BatchNorm1d : public BatchNorm {
 public:
  explicit BatchNorm1d(int64_t channels, BatchNormOptions options = {}, Loc loc = Loc::current())
      : BatchNorm("BatchNorm1d", 2, 3, channels, options, loc) {}
};
// x [N, C, H, W].
class BatchNorm2d : public BatchNorm {
 public:
  explicit BatchNorm2d(int64_t channels, BatchNormOptions options = {}, Loc loc = Loc::current())
      : BatchNorm("BatchNorm2d", 4, 4, channels, options, loc) {}
};
// x [N, C, D, H, W].
class BatchNorm3d : public BatchNorm {
 public:
  explicit BatchNorm3d(int64_t channels, BatchNormOptions options = {}, Loc loc = Loc::current())
      : BatchNorm("BatchNorm3d", 5, 5, channels, options, loc) {}
};

// As BatchNormOptions.
struct InstanceNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;
};
// x [N, C, spatial...], each channel of each sample by itself. With tracked statistics these are
// the ones used in evaluation mode.
class InstanceNorm : public ChannelNorm<InstanceNorm> {
 public:
  // Throws kInvalidArgument where the number of channels is not positive.
  explicit InstanceNorm(int64_t channels, InstanceNormOptions options = {},
                        Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  InstanceNormOptions options_;
};
// torch's names; one class serves all ranks.
using InstanceNorm1d = InstanceNorm;
using InstanceNorm2d = InstanceNorm;
using InstanceNorm3d = InstanceNorm;

// elementwise_affine: weight of normalized_shape; bias: one as well.
struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
};
// Over the last axes, which have the sizes `normalized_shape`.
class LayerNorm : public Layer<LayerNorm> {
 public:
  explicit LayerNorm(std::vector<int64_t> normalized_shape, LayerNormOptions options = {},
                     Loc loc = Loc::current());
  explicit LayerNorm(int64_t size, LayerNormOptions options = {}, Loc loc = Loc::current())
      : LayerNorm(std::vector<int64_t>{size}, options, loc) {}
  Tensor forward(const Tensor& x) const;
  Tensor weight, bias;

 private:
  std::shared_ptr<const Attrs> attrs_;
  std::vector<int64_t> shape_;
  Tensor ones_;
};

// affine: weight and bias [channels].
struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
};
// x [N, C, ...] by `groups` groups of channels.
class GroupNorm : public Layer<GroupNorm> {
 public:
  GroupNorm(int64_t groups, int64_t channels, GroupNormOptions options = {},
            Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;
  Tensor weight, bias;

 private:
  std::shared_ptr<const Attrs> attrs_;
  Tensor ones_, zeros_;
};

struct RMSNormOptions {
  std::optional<double> eps = {};  // the type's smallest step above 1
  bool elementwise_affine = true;
};
// x / sqrt(mean of x^2 over the last axes + eps), times weight.
class RMSNorm : public Layer<RMSNorm> {
 public:
  explicit RMSNorm(std::vector<int64_t> normalized_shape, RMSNormOptions options = {},
                   Loc loc = Loc::current());
  explicit RMSNorm(int64_t size, RMSNormOptions options = {}, Loc loc = Loc::current())
      : RMSNorm(std::vector<int64_t>{size}, options, loc) {}
  Tensor forward(const Tensor& x) const;
  Tensor weight;

 private:
  std::vector<int64_t> shape_;
  std::optional<double> eps_;
  Tensor ones_;
};

struct LocalResponseNormOptions {
  double alpha = 1e-4, beta = 0.75, k = 1;
};
// x [N, C, ...] over (k + alpha * the mean square of `size` channels around each)^beta.
class LocalResponseNorm : public Layer<LocalResponseNorm> {
 public:
  explicit LocalResponseNorm(int64_t size, LocalResponseNormOptions options = {})
      : size_(size), options_(options) {}
  Tensor forward(const Tensor& x) const;

 private:
  int64_t size_;
  LocalResponseNormOptions options_;
};
Tensor local_response_norm(const Tensor& x, int64_t size, LocalResponseNormOptions options = {},
                           Loc loc = Loc::current());

// As functions of weights at hand; undefined ones are ones (weights) and zeros (biases).
Tensor layer_norm(const Tensor& x, const std::vector<int64_t>& normalized_shape,
                  const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5,
                  Loc loc = Loc::current());
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5, Loc loc = Loc::current());
Tensor instance_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                     double eps = 1e-5, Loc loc = Loc::current());
Tensor rms_norm(const Tensor& x, const std::vector<int64_t>& normalized_shape,
                const Tensor& weight = {}, std::optional<double> eps = {},
                Loc loc = Loc::current());
// By statistics at hand, as in evaluation mode; BatchNorm is what trains.
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                  const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5,
                  Loc loc = Loc::current());
// x / max(||x||_p, eps) along an axis.
struct NormalizeOptions {
  double p = 2;
  int64_t axis = 1;
  double eps = 1e-12;
};
Tensor normalize(const Tensor& x, NormalizeOptions options = {}, Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
