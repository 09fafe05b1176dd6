#include "models/training.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "eager/create.h"
#include "eager/dispatch/engine.h"
#include "eager/functional/functional.h"
#include "models/lenet.h"
#include "models/linear_regression.h"
#include "models/mlp.h"

namespace sardonyx::models {
namespace {

TEST(LinearRegression, FindsTheLine) {
  for (const Line& line : {fit_line(100), fit_line_compiled(100)}) {
    EXPECT_NEAR(line.slope, 2, 1e-4);
    EXPECT_NEAR(line.offset, 0, 1e-4);
  }
}

Labelled digits() {
  return read_digits(std::filesystem::path(SARDONYX_SOURCE_DIR) / "models/data/digits.csv.gz")
      .shuffled(0);
}

template <typename M>
Forward forward_of(const M& model) {
  return [model](const Tensor& x) { return model(x); };
}

eager::ProgressOptions silent() {
  static std::FILE* const nowhere = std::fopen("/dev/null", "w");
  return {.out = nowhere};
}

// Steps this small gain nothing from a second thread, and wait for it where the machine is busy.
class Training : public testing::Test {
 protected:
  Training() { eager::set_num_threads(1); }
};

TEST_F(Training, LeNetLearnsDigits) {
  const Labelled data = digits();
  ASSERT_EQ(data.size(), 1797);
  eager::manual_seed(1);
  const LeNet net(8);
  const TrainingResult result =
      train_classifier(net, forward_of(net), data.part(0, 1437), data.part(1437, 1797),
                       {.epochs = 50, .batch = 32, .lr = 3e-3, .progress = silent()});
  EXPECT_GE(result.accuracy, 0.97);
}

TEST_F(Training, EagerAndCompiledStepsLoseAlike) {
  const Labelled data = digits().part(0, 640);
  std::vector<std::vector<double>> losses;
  for (const bool is_compiled : {false, true}) {
    eager::manual_seed(1);
    const LeNet net(8);
    losses.push_back(
        train_classifier(net, forward_of(net), data, data.part(0, 64),
                         {.epochs = 2, .is_compiled = is_compiled, .progress = silent()})
            .losses);
  }
  ASSERT_EQ(losses[0].size(), losses[1].size());
  for (size_t i = 0; i < losses[0].size(); ++i)
    EXPECT_NEAR(losses[0][i], losses[1][i], 1e-4 * losses[0][i]) << "step " << i;
}

class Mnist : public Training {
 protected:
  void SetUp() override {
    const char* root = std::getenv("SARDONYX_TEST_DATA");
    if (!root || !*root) GTEST_SKIP() << "SARDONYX_TEST_DATA is not set";
    data_ = read_mnist_images(std::filesystem::path(root) / "data/mnist").shuffled(0);
  }
  Labelled data_;
};

TEST_F(Mnist, LeNetReaches975) {
  ASSERT_EQ(data_.size(), 10000);
  eager::manual_seed(1);
  const LeNet net;
  const TrainingResult result =
      train_classifier(net, forward_of(net), data_.part(0, 8000), data_.part(8000, 10000),
                       {.epochs = 10, .lr = 3e-3, .progress = silent()});
  EXPECT_GE(result.accuracy, 0.975);
}

TEST_F(Mnist, TheClassifierOf128TrainsEagerAndCompiled) {
  for (const bool is_compiled : {false, true}) {
    eager::manual_seed(1);
    const Mlp net({784, 128, 10});
    const TrainingResult result = train_classifier(
        net, forward_of(net), data_.part(0, 8000), data_.part(8000, 10000),
        {.epochs = 6, .lr = 3e-3, .is_compiled = is_compiled, .progress = silent()});
    EXPECT_GE(result.accuracy, 0.93);
  }
}

}  // namespace
}  // namespace sardonyx::models
