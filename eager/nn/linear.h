// Linear, embeddings and what changes shapes alone.
#pragma once

#include "eager/generator.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

struct LinearOptions {
  bool bias = true;
};
// x [..., in] to [..., out]. weight [out, in], bias [out]; both U(-1/sqrt(in), 1/sqrt(in)).
class Linear : public Layer<Linear> {
 public:
  Linear(int64_t in, int64_t out, LinearOptions options = {}, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;
  Tensor weight, bias;
};

// y[n][k] = a[n]^T weight[k] b[n] + bias[k]; a [..., in1], b [..., in2].
class Bilinear : public Layer<Bilinear> {
 public:
  Bilinear(int64_t in1, int64_t in2, int64_t out, LinearOptions options = {},
           Loc loc = Loc::current());
  Tensor forward(const Tensor& a, const Tensor& b) const;
  Tensor weight, bias;
};

// Bilinear as a function of a weight [out, in1, in2] at hand, and a bias [out] or none.
Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias = {},
                Loc loc = Loc::current());

struct EmbeddingOptions {
  std::optional<int64_t> padding_idx = {};  // this row starts as zeros and is not trained
};
// Rows of weight [count, size] (N(0, 1)) for integer indices of any shape; those out of range are
// an error.
class Embedding : public Layer<Embedding> {
 public:
  Embedding(int64_t count, int64_t size, EmbeddingOptions options = {}, Loc loc = Loc::current());
  // With these rows, trained or not.
  static Embedding from_pretrained(const Tensor& weight, bool freeze = true,
                                   EmbeddingOptions options = {}, Loc loc = Loc::current());
  Tensor forward(const Tensor& indices) const;
  Tensor weight;

 private:
  Embedding(Tensor rows, EmbeddingOptions options, Loc loc);
  std::optional<int64_t> padding_;
};

// embedding() as a function of a weight at hand.
Tensor embedding(const Tensor& indices, const Tensor& weight, Loc loc = Loc::current());

struct EmbeddingBagOptions {
  std::string mode = "mean";  // sum, mean, max
};
// Rows of weight [count, size], summed up by bags: of indices [N, L] each row is one, of indices
// [n] each part that begins at one of `offsets` [N] (ascending, the first is 0). Empty bags are
// zeros. `per_sample_weights`, of the indices' shape, are factors of rows, in mode sum alone.
Tensor embedding_bag(const Tensor& indices, const Tensor& weight, const Tensor& offsets = {},
                     const EmbeddingBagOptions& options = {}, const Tensor& per_sample_weights = {},
                     Loc loc = Loc::current());
// embedding_bag() as a layer; weight N(0, 1).
class EmbeddingBag : public Layer<EmbeddingBag> {
 public:
  EmbeddingBag(int64_t count, int64_t size, EmbeddingBagOptions options = {},
               Loc loc = Loc::current());
  Tensor forward(const Tensor& indices, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {}) const;
  Tensor weight;

 private:
  EmbeddingBagOptions options_;
};

// Zeroes elements with probability p and scales the others by 1/(1-p) in training mode; else the
// identity.
class Dropout : public Layer<Dropout> {
 public:
  explicit Dropout(double p = 0.5, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  double p_;
};
// Whole channels of x [N, C, ...] at a time (torch's Dropout1d, 2d and 3d).
class DropoutChannels : public Layer<DropoutChannels> {
 public:
  explicit DropoutChannels(double p = 0.5, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  double p_;
};

using Dropout1d = DropoutChannels;
using Dropout2d = DropoutChannels;
using Dropout3d = DropoutChannels;
// Dropout to SELU's least value, which keeps mean and variance (Klambauer et al., "Self-normalizing
// neural networks", 2017).
class AlphaDropout : public Layer<AlphaDropout> {
 public:
  explicit AlphaDropout(double p = 0.5, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  double p_;
};

// x itself, for a place that a layer may be taken from.
class Identity : public Layer<Identity> {
 public:
  Tensor forward(const Tensor& x) const { return x; }
};

// Axes `first` to `last` as one; by default all but the batch.
class Flatten : public Layer<Flatten> {
 public:
  explicit Flatten(int64_t first = 1, int64_t last = -1) : first_(first), last_(last) {}
  Tensor forward(const Tensor& x) const { return x.flatten(first_, last_, caller()); }

 private:
  int64_t first_, last_;
};
// One dim as several; one of them may be -1.
class Unflatten : public Layer<Unflatten> {
 public:
  Unflatten(int64_t axis, std::vector<int64_t> sizes) : axis_(axis), sizes_(std::move(sizes)) {}
  Tensor forward(const Tensor& x) const;

 private:
  int64_t axis_;
  std::vector<int64_t> sizes_;
};

Tensor alpha_dropout(const Tensor& x, double p = 0.5, bool training = true,
                     Loc loc = Loc::current());
// Dropout as a function; the identity unless `training`.
Tensor dropout(const Tensor& x, double p = 0.5, bool training = true, Loc loc = Loc::current());
// The same by a generator of its own; kInvalidArgument in a trace (see CreateOptions).
Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator,
               Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
