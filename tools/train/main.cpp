// Trains the small examples and exports what they learnt.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "eager/create.h"
#include "eager/export/export.h"
#include "models/lenet.h"
#include "models/linear_regression.h"
#include "models/mlp.h"
#include "models/training.h"

namespace {

namespace eager = sardonyx::eager;
namespace models = sardonyx::models;

struct TrainOptions {
  std::filesystem::path data, out;
  models::TrainingOptions training;
  bool is_eager = false;
  std::string net = "lenet";
};

// Trains, reports, exports with a dynamic batch.
template <typename M>
int run(const M& model, const models::Labelled& train, const models::Labelled& test,
        TrainOptions options) {
  options.training.is_compiled = !options.is_eager;
  const models::Forward forward = [&](const eager::Tensor& x) { return model(x); };
  const models::TrainingResult result =
      models::train_classifier(model, forward, train, test, options.training);
  std::printf("accuracy on %lld images that training did not see: %.2f %%\n",
              static_cast<long long>(test.size()), 100 * result.accuracy);
  if (options.out.empty()) return 0;
  model.eval();
  const auto report = eager::export_onnx(
      [&](const std::vector<eager::Tensor>& in) -> std::vector<eager::Tensor> {
        return {model(in[0])};
      },
      {test.part(0, 2).inputs}, options.out,
      {.input_names = {"image"},
       .output_names = {"logits"},
       .dynamic_axes = {{"image", {{0, "batch"}}}},
       .names = model.named_parameters()});
  std::printf("%s: %s", options.out.c_str(), report.text().c_str());
  return 0;
}

int train_images(const TrainOptions& options, const models::Labelled& all, int64_t count,
                 int64_t size) {
  const models::Labelled data = all.shuffled(0);  // one split, whatever the seed of the training
  eager::manual_seed(options.training.seed);
  const models::Labelled train = data.part(0, count), test = data.part(count, data.size());
  if (options.net == "mlp") return run(models::Mlp({size * size, 128, 10}), train, test, options);
  return run(models::LeNet(size), train, test, options);
}

void add_options(CLI::App& command, TrainOptions& options) {
  command.add_option("--out", options.out, "write the trained model to this .onnx file");
  command.add_option("--epochs", options.training.epochs, "passes over the data");
  command.add_option("--batch", options.training.batch, "samples a step");
  command.add_option("--lr", options.training.lr, "learning rate at the start");
  command.add_option("--seed", options.training.seed, "of weights and order");
  command.add_option("--net", options.net, "lenet (default) or mlp")
      ->check(CLI::IsMember({"lenet", "mlp"}));
  command.add_flag("--eager", options.is_eager, "run steps op by op instead of compiled");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("train: small examples of training, and of exporting the result");
  app.require_subcommand(1);
  TrainOptions options;
  CLI::App& linear = *app.add_subcommand("linear", "linear regression: y = 2x");
  CLI::App& digits = *app.add_subcommand("digits", "digits of 8x8 pixels");
  CLI::App& mnist = *app.add_subcommand("mnist", "digits of 28x28 pixels");
  digits.add_option("--data", options.data, "digits.csv or digits.csv.gz")->required();
  mnist.add_option("--data", options.data, "folder with t10k-images-idx3-ubyte and its labels")
      ->required();
  add_options(digits, options);
  add_options(mnist, options);
  options.training.lr = 3e-3;
  options.training.epochs = 50;
  options.training.batch = 32;
  CLI11_PARSE(app, argc, argv);
  try {
    if (linear) {
      const models::Line line = models::fit_line(200);
      std::printf("y = %.4f x + %.4f\n", line.slope, line.offset);
      return 0;
    }
    constexpr int64_t kDigits = 1437, kMnist = 8000;  // four fifths, the rest is for testing
    if (digits) return train_images(options, models::read_digits(options.data), kDigits, 8);
    return train_images(options, models::read_mnist_images(options.data), kMnist, 28);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return 4;
  }
}
