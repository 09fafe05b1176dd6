// Convolutions that are computed in one pass.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val depthwise(Builder& b, const Val& x, int64_t channels) {
  return b.call("Conv", {x, b.constant({channels, 1, 3, 3}), b.constant({channels})},
                {{"group", channels}, {"pads", Ints{1, 1, 1, 1}}});
}

bool remove_dead(Graph& graph, Node&) {
  return remove_dead_nodes(graph) > 0;
}

const std::vector<Apply> kSiblingPasses = {merge_sibling_convs, merge_depthwise_convs, remove_dead};

TEST(MergeConvs, SiblingsOfFewChannels) {
  const Case cases[] = {
      {"heads of a detector",
       [](Builder& b) {
         const Val x = b.input({2, 8, 5, 6});
         for (const int64_t channels : {1, 4, 10})
           b.output(depthwise(b, b.call("Conv", {x, b.constant({channels, 8, 1, 1})}), channels));
       },
       kSiblingPasses,
       {"Conv", "Conv", "Split"},
       3},
      {"some with a bias, windows of 3",
       [](Builder& b) {
         const Val x = b.input({1, 2, 5, 6});
         b.output(b.call("Conv", {x, b.constant({3, 2, 3, 3}), b.constant({3})}));
         b.output(b.call("Conv", {x, b.constant({2, 2, 3, 3})}));
       },
       kSiblingPasses,
       {"Conv", "Split"},
       2},
      {"no block is saved",
       [](Builder& b) {
         const Val x = b.input({1, 2, 5, 6});
         b.output(b.call("Conv", {x, b.constant({16, 2, 1, 1})}));
         b.output(b.call("Conv", {x, b.constant({3, 2, 1, 1})}));
       },
       kSiblingPasses,
       {"Conv", "Conv"},
       0},
      {"other windows",
       [](Builder& b) {
         const Val x = b.input({1, 2, 5, 6});
         b.output(b.call("Conv", {x, b.constant({3, 2, 1, 1})}));
         b.output(b.call("Conv", {x, b.constant({3, 2, 3, 3})}));
       },
       kSiblingPasses,
       {"Conv", "Conv"},
       0},
      {"a part that is read elsewhere",
       [](Builder& b) {
         const Val x = b.input({1, 2, 5, 6});
         for (const int64_t channels : {2, 3}) {
           const Val y = b.call("Conv", {x, b.constant({channels, 2, 1, 1})});
           b.output(depthwise(b, y, channels));
           if (channels == 3) b.output(y);
         }
       },
       kSiblingPasses,
       {"Conv", "Split", "Conv", "Conv"},
       2},
      {"a dense one among depthwise ones",
       [](Builder& b) {
         const Val x = b.input({1, 2, 5, 6});
         b.output(depthwise(b, b.call("Conv", {x, b.constant({2, 2, 1, 1})}), 2));
         const Val y = b.call("Conv", {x, b.constant({3, 2, 1, 1})});
         b.output(b.call("Conv", {y, b.constant({3, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}));
       },
       kSiblingPasses,
       {"Conv", "Split", "Conv", "Conv"},
       2},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
