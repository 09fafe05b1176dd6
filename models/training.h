// Training a classifier, as the examples and the demonstration do it.
#pragma once

#include <filesystem>
#include <functional>

#include "eager/nn/module.h"
#include "eager/optim/optimizer.h"
#include "eager/progress.h"
#include "eager/trace/compile.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// Inputs [N, ...] and their classes, int64 [N].
struct Labelled {
  Tensor inputs, labels;
  // Samples [begin, end).
  Labelled part(int64_t begin, int64_t end) const;
  // The same in an order that the seed decides: files are often sorted by writer or class.
  Labelled shuffled(uint64_t seed) const;
  int64_t size() const { return labels.size(0).value(); }
};

// scikit-learn's digits: images [1797, 1, 8, 8] within [0, 1], from digits.csv.gz.
Labelled read_digits(const std::filesystem::path& csv);
// MNIST's test images and labels: [10000, 1, 28, 28] within [0, 1].
Labelled read_mnist_images(const std::filesystem::path& folder);

using Forward = std::function<Tensor(const Tensor& inputs)>;

struct TrainingOptions {
  int64_t epochs = 5;
  int64_t batch = 64;
  double lr = 1e-3;
  uint64_t seed = 0;        // of the batches' order
  bool is_compiled = true;  // the training step; else it runs op by op
  eager::ProgressOptions progress = {};
};

// One step: forward, cross entropy, backward and update; gives the loss. The gradients are cleared.
eager::TensorFunction training_step(const Forward& forward,
                                    const std::shared_ptr<eager::optim::Optimizer>& optimizer);

struct TrainingResult {
  std::vector<double> losses;  // of each step
  double accuracy = 0;         // on the test part, in evaluation mode
};
// Trains by AdamW (weight decay 0.1) with a cosine schedule on `train`, and measures on `test`
// after each epoch.
TrainingResult train_classifier(const nn::Module& module, const Forward& forward,
                                const Labelled& train, const Labelled& test,
                                const TrainingOptions& options);

// The share of `data` that `forward` puts into the right class.
double accuracy_of(const nn::Module& module, const Forward& forward, const Labelled& data);

}  // namespace sardonyx::models
