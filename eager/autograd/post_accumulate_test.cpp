#include "eager/autograd/post_accumulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"

namespace sardonyx::eager {
namespace {

Tensor leaf_of(float value) {
  Tensor leaf = Tensor::scalar(value);
  leaf.set_requires_grad();
  return leaf;
}

// y = c * (b * (a * x)): the walk meets c first and a last.
struct Chain {
  Tensor a = leaf_of(2), b = leaf_of(3), c = leaf_of(5);
  Tensor product() const { return c * relu(b * relu(a * Tensor::scalar(7.0f))); }
};

TEST(PostAccumulateTest, CalledWhileTheWalkGoesOn) {
  const Chain chain;
  std::vector<std::string> calls;
  // A hook of the value between them tells where the walk is.
  const Tensor inner = relu(chain.a * Tensor::scalar(7.0f));
  inner.register_hook([&](const Tensor&) {
    calls.push_back("inner");
    return Tensor();
  });
  register_post_accumulate_hook(chain.c, [&](const Tensor& leaf) {
    calls.push_back("c");
    EXPECT_EQ(leaf.grad().item<float>(), 42);
  });
  register_post_accumulate_hook(chain.a, [&](const Tensor& leaf) {
    calls.push_back("a");
    EXPECT_EQ(leaf.grad().item<float>(), 105);
    call_after_backward([&] { calls.push_back("end"); });
  });
  (chain.c * relu(chain.b * inner)).backward();
  EXPECT_THAT(calls, testing::ElementsAre("c", "inner", "a", "end"));
  EXPECT_EQ(chain.b.grad().item<float>(), 70);
}

// A leaf that is used twice is complete after its first use, and adds to what was there.
TEST(PostAccumulateTest, CompleteAndAccumulated) {
  const Chain chain;
  std::vector<float> seen;
  register_post_accumulate_hook(
      chain.a, [&](const Tensor& leaf) { seen.push_back(leaf.grad().item<float>()); });
  const auto twice = [&] { return chain.product() + chain.a * chain.a; };
  twice().backward();
  twice().backward();
  EXPECT_EQ(seen, (std::vector<float>{109, 218}));
}

TEST(PostAccumulateTest, HooksOfTheLeafComeFirst) {
  const Chain chain;
  float seen = 0;
  chain.a.register_hook([](const Tensor& gradient) { return gradient * Tensor::scalar(10.0f); });
  register_post_accumulate_hook(chain.a,
                                [&](const Tensor& leaf) { seen = leaf.grad().item<float>(); });
  chain.product().backward();
  EXPECT_EQ(seen, 1050);
}

TEST(PostAccumulateTest, TheGradientsAreThoseWithoutHooks) {
  const Chain plain, hooked;
  int calls = 0;
  for (const Tensor& leaf : {hooked.a, hooked.b, hooked.c})
    register_post_accumulate_hook(leaf, [&](const Tensor&) { ++calls; });
  plain.product().backward();
  hooked.product().backward({}, false, true);  // create_graph
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(plain.a.grad().item<float>(), hooked.a.grad().item<float>());
  EXPECT_EQ(plain.b.grad().item<float>(), hooked.b.grad().item<float>());
  EXPECT_EQ(plain.c.grad().item<float>(), hooked.c.grad().item<float>());
}

TEST(PostAccumulateTest, NotByGradAndNotOnceRemoved) {
  const Chain chain;
  int calls = 0;
  const size_t number = register_post_accumulate_hook(chain.a, [&](const Tensor&) { ++calls; });
  grad({chain.product()}, {chain.a});
  EXPECT_EQ(calls, 0);
  remove_post_accumulate_hook(chain.a, number);
  chain.product().backward();
  EXPECT_EQ(calls, 0);
}

TEST(PostAccumulateTest, TheRootItself) {
  const Tensor leaf = leaf_of(4);
  int calls = 0;
  register_post_accumulate_hook(leaf, [&](const Tensor&) { ++calls; });
  leaf.backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(leaf.grad().item<float>(), 1);
}

TEST(PostAccumulateTest, Misuse) {
  EXPECT_THROW(register_post_accumulate_hook(Tensor(), [](const Tensor&) {}), Error);
  EXPECT_THROW(register_post_accumulate_hook(Tensor::scalar(1.0f), [](const Tensor&) {}), Error);
  const Chain chain;
  EXPECT_THROW(register_post_accumulate_hook(chain.product(), [](const Tensor&) {}), Error);
  EXPECT_THROW(call_after_backward([] {}), Error);
}

// What an error leaves behind is not called at the end of the next backward().
TEST(PostAccumulateTest, AnErrorDropsTheCallbacks) {
  const Chain chain;
  int ends = 0;
  const size_t number = register_post_accumulate_hook(chain.c, [&](const Tensor&) {
    call_after_backward([&] { ++ends; });
    fail(ErrorCode::kInvalidArgument, "on purpose");
  });
  EXPECT_THROW(chain.product().backward(), Error);
  remove_post_accumulate_hook(chain.c, number);
  chain.product().backward();
  EXPECT_EQ(ends, 0);
}

}  // namespace
}  // namespace sardonyx::eager
