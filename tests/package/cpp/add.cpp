#include <sardonyx/eager.h>

int main() {
  using namespace sardonyx::eager;
  const Tensor sum = ones({2, 2}) + ones({2, 2});
  return sum.shape() == Dims{2, 2} ? 0 : 1;
}
