// Images that are transposed before they become sequences, and after they have been such.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val convolved(Builder& b, const Shape& x, int64_t channels) {
  Shape window(x.size(), 1);
  window[0] = channels;
  window[1] = x[1];
  return b.call("Conv", {b.input(x), b.constant(window)});
}

Val transposed(Builder& b, const Val& x, const Ints& perm) {
  return b.call("Transpose", {x}, {{"perm", perm}});
}

const std::vector<Apply> kPass{transpose_before_reshape, transpose_behind_reshape};

TEST(TurnImages, BeforeTheyAreCut) {
  const std::vector<std::string> as_it_was{"Conv", "Reshape", "Transpose"};
  const auto cut = [](const Shape& x, int64_t channels, const Ints& shape, const Ints& perm) {
    return [=](Builder& b) {
      const Val cut = b.call("Reshape", {convolved(b, x, channels), b.ints(shape)});
      b.output(transposed(b, cut, perm));
    };
  };
  const std::vector<std::string> all_done{"Conv", "Transpose", "Reshape"};
  const Case cases[] = {
      {"a sequence", cut({2, 3, 4, 5}, 6, {2, 6, -1}, {0, 2, 1}), kPass, all_done, 1},
      {"a volume", cut({2, 3, 4, 5, 2}, 6, {0, 6, -1}, {0, 2, 1}), kPass, all_done, 1},
      {"anchors last", cut({2, 3, 4, 5}, 6, {2, 2, 3, 4, 5}, {0, 3, 4, 1, 2}), kPass, all_done, 1},
      {"anchors first",
       cut({2, 3, 4, 5}, 6, {2, 2, 3, 4, 5}, {0, 1, 3, 4, 2}),
       kPass,
       {"Conv", "Transpose", "Reshape", "Transpose"},
       1},
      {"pixels stay last", cut({2, 3, 4, 5}, 6, {2, 2, 3, 4, 5}, {0, 2, 1, 3, 4}), kPass, as_it_was,
       0},
      {"channels and pixels are mixed", cut({2, 3, 4, 5}, 6, {2, 4, 30}, {0, 2, 1}), kPass,
       as_it_was, 0},
      {"the batch is cut", cut({2, 3, 4, 5}, 6, {1, 12, 20}, {0, 2, 1}), kPass, as_it_was, 0},
      {"a row of pixels", cut({2, 3, 20}, 6, {2, 6, 4, 5}, {0, 2, 3, 1}), kPass, as_it_was, 0},
      {"the batch moves", cut({2, 3, 4, 5}, 6, {2, 6, 20}, {1, 2, 0}), kPass, as_it_was, 0},
      {"no convolution",
       [](Builder& b) {
         const Val cut = b.call("Reshape", {b.input({2, 6, 4, 5}), b.ints({2, 6, 20})});
         b.output(transposed(b, cut, {0, 2, 1}));
       },
       kPass,
       {"Reshape", "Transpose"},
       0},
      {"another reader",
       [](Builder& b) {
         const Val cut = b.call("Reshape", {convolved(b, {2, 3, 4, 5}, 6), b.ints({2, 6, 20})});
         b.output(transposed(b, cut, {0, 2, 1}));
         b.output(b.call("Relu", {cut}));
       },
       kPass,
       {"Conv", "Reshape", "Transpose", "Relu"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(TurnImages, AfterTheyAreMade) {
  const auto made = [](const Shape& x, const Ints& perm, const Ints& shape, Shape window) {
    return [=](Builder& b) {
      const Val image = b.call("Reshape", {transposed(b, b.input(x), perm), b.ints(shape)});
      b.output(b.call("Conv", {image, b.constant(window)}));
    };
  };
  const std::vector<std::string> swapped{"Reshape", "Transpose", "Conv"};
  const std::vector<std::string> as_it_was{"Transpose", "Reshape", "Conv"};
  const Shape window{3, 6, 1, 1};
  const Case cases[] = {
      {"a sequence", made({2, 20, 6}, {0, 2, 1}, {2, 6, 4, 5}, window), kPass, swapped, 1},
      {"groups of features", made({2, 20, 2, 3}, {0, 2, 3, 1}, {2, -1, 4, 5}, window), kPass,
       swapped, 1},
      {"features were first", made({2, 6, 20}, {0, 2, 1}, {2, 6, 4, 5}, window), kPass, as_it_was,
       0},
      {"features change places", made({2, 20, 2, 3}, {0, 3, 2, 1}, {2, 6, 4, 5}, window), kPass,
       as_it_was, 0},
      {"no image is read",
       [](Builder& b) {
         const Val image = b.call(
             "Reshape", {transposed(b, b.input({2, 20, 6}), {0, 2, 1}), b.ints({2, 6, 4, 5})});
         b.output(b.call("Relu", {image}));
       },
       kPass,
       {"Transpose", "Reshape", "Relu"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
