#include "models/lenet.h"

namespace sardonyx::models {
namespace {

bool is_small(int64_t size) {
  return size < 16;
}

int64_t flat_size(int64_t size) {
  return is_small(size) ? 32 * (size / 4) * (size / 4)
                        : 16 * ((size / 2 - 4) / 2) * ((size / 2 - 4) / 2);
}

}  // namespace

LeNet::LeNet(int64_t size, int64_t classes)
    : conv1(add("conv1", is_small(size) ? nn::Conv2d(1, 16, 3, {.padding = 1})
                                        : nn::Conv2d(1, 6, 5, {.padding = 2}))),
      conv2(add("conv2",
                is_small(size) ? nn::Conv2d(16, 32, 3, {.padding = 1}) : nn::Conv2d(6, 16, 5))),
      fc1(add("fc1", nn::Linear(flat_size(size), 120))),
      fc2(add("fc2", nn::Linear(120, 84))),
      fc3(add("fc3", nn::Linear(84, classes))) {}

Tensor LeNet::forward(const Tensor& x) const {
  Tensor y = nn::max_pool2d(relu(conv1(x)), 2);
  y = nn::max_pool2d(relu(conv2(y)), 2);
  y = relu(fc1(y.flatten(1)));
  return fc3(relu(fc2(y)));
}

}  // namespace sardonyx::models
