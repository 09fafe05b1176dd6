#include "models/training.h"

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/data/readers.h"
#include "eager/functional/functional.h"
#include "eager/nn/loss/losses.h"
#include "eager/optim/scheduler.h"

namespace sardonyx::models {
namespace {

constexpr int64_t kTestBatch = 250;

}  // namespace

Labelled Labelled::part(int64_t begin, int64_t end) const {
  const eager::Slice range{begin, end};
  return {inputs.slice(0, range), labels.slice(0, range)};
}

Labelled Labelled::shuffled(uint64_t seed) const {
  eager::manual_seed(seed);
  const Tensor order = eager::randperm(size());
  return {eager::index_select(inputs, 0, order), eager::index_select(labels, 0, order)};
}

Labelled read_digits(const std::filesystem::path& csv) {
  const eager::data::CsvTable table = eager::data::read_csv(csv);
  constexpr int64_t kPixels = 64;
  if (!(table.values.size(1) == kPixels + 1)) {
    fail(ErrorCode::kInvalidArgument, csv.string(),
         ": expected 64 pixels and a label in each row, ", "got ", table.values.size(1),
         " columns");
  }
  const Dim count = table.values.size(0);
  return {(table.columns(0, kPixels) / 16.0).reshape({count, 1, 8, 8}),
          table.columns(kPixels).reshape({count}).to(DType::kInt64)};
}

Labelled read_mnist_images(const std::filesystem::path& folder) {
  const auto at = [&](const std::string& name) {
    const std::filesystem::path plain = folder / name;
    return std::filesystem::exists(plain) ? plain : folder / (name + ".gz");
  };
  const Tensor images = eager::data::read_idx(at("t10k-images-idx3-ubyte"));
  const Tensor labels = eager::data::read_idx(at("t10k-labels-idx1-ubyte"));
  return {(images.to(DType::kFloat) / 255.0).unsqueeze(1), labels.to(DType::kInt64)};
}

eager::TensorFunction training_step(const Forward& forward,
                                    const std::shared_ptr<eager::optim::Optimizer>& optimizer) {
  return [forward, optimizer](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor loss = nn::cross_entropy(forward(in[0]), in[1]);
    optimizer->zero_grad();
    loss.backward();
    optimizer->step();
    optimizer->zero_grad();
    return {loss.detach()};
  };
}

double accuracy_of(const nn::Module& module, const Forward& forward, const Labelled& data) {
  const eager::NoGrad guard;
  const bool was_training = module.is_training();
  module.eval();
  int64_t right = 0;
  for (int64_t begin = 0; begin < data.size(); begin += kTestBatch) {
    const Labelled batch = data.part(begin, std::min(begin + kTestBatch, data.size()));
    const Tensor best = forward(batch.inputs).argmax(1);
    right += (best == batch.labels).to(DType::kInt64).sum().item<int64_t>();
  }
  module.train(was_training);
  return static_cast<double>(right) / static_cast<double>(std::max<int64_t>(data.size(), 1));
}

TrainingResult train_classifier(const nn::Module& module, const Forward& forward,
                                const Labelled& train, const Labelled& test,
                                const TrainingOptions& options) {
  const auto optimizer = std::make_shared<eager::optim::AdamW>(
      module.parameters(), eager::optim::AdamWOptions{.lr = options.lr, .weight_decay = 0.1});
  const eager::TensorFunction step = training_step(forward, optimizer);
  const eager::Compiled compiled = eager::compile(step);
  eager::data::DataLoader loader(
      eager::data::TensorDataset({train.inputs, train.labels}),
      {.batch_size = options.batch, .shuffle = true, .seed = options.seed, .drop_last = true});
  eager::optim::CosineAnnealingLR schedule(*optimizer, options.epochs * loader.size());
  eager::ProgressOptions shown = options.progress;
  shown.epochs = options.epochs;
  eager::Progress progress(shown);
  TrainingResult result;
  module.train();
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    progress.begin_epoch(loader.size());
    for (const eager::data::Sample& batch : loader) {
      const std::vector<Tensor> loss = options.is_compiled ? compiled(batch) : step(batch);
      result.losses.push_back(loss[0].item<double>());
      progress.step(
          {.loss = result.losses.back(), .lr = optimizer->lr(), .samples = options.batch});
      schedule.step();
    }
    result.accuracy = accuracy_of(module, forward, test);
    progress.end_epoch({{"accuracy", result.accuracy}});
  }
  return result;
}

}  // namespace sardonyx::models
