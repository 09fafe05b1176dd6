// Convolutions over the phases of an image.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val every_second(Builder& b, const Val& x, int64_t axis, int64_t start) {
  return b.call("Slice", {x, b.ints({start}), b.ints({1 << 20}), b.ints({axis}), b.ints({2})});
}

// The phases as YOLOX has them: rows first, then columns.
Val phases(Builder& b, const Val& x) {
  const Val even = every_second(b, x, 2, 0), odd = every_second(b, x, 2, 1);
  return b.call("Concat",
                {every_second(b, even, 3, 0), every_second(b, odd, 3, 0),
                 every_second(b, even, 3, 1), every_second(b, odd, 3, 1)},
                {{"axis", int64_t{1}}});
}

const std::vector<std::string> kCut = {"Slice", "Slice", "Slice", "Slice",
                                       "Slice", "Slice", "Concat"};

std::vector<std::string> after_cut(std::string op) {
  std::vector<std::string> ops = kCut;
  ops.push_back(std::move(op));
  return ops;
}

TEST(SpaceToDepthIntoConv, SpreadsTheWindow) {
  const AttrMap padded{{"pads", Ints{1, 1, 1, 1}}};
  const Case cases[] = {
      {"slices",
       [=](Builder& b) {
         const Val x = phases(b, b.input({2, 3, 8, 10}));
         b.output(b.call("Conv", {x, b.constant({4, 12, 3, 3}), b.constant({4})}, padded));
       },
       {space_to_depth_into_conv},
       after_cut("Conv"),
       1},
      {"uneven pads and steps",
       [](Builder& b) {
         const Val x = phases(b, b.input({1, 2, 12, 8}));
         b.output(b.call("Conv", {x, b.constant({3, 8, 2, 3})},
                         {{"pads", Ints{0, 1, 2, 0}}, {"strides", Ints{1, 2}}}));
       },
       {space_to_depth_into_conv},
       after_cut("Conv"),
       1},
      {"SpaceToDepth",
       [=](Builder& b) {
         const Val x = b.call("SpaceToDepth", {b.input({1, 2, 9, 6})}, {{"blocksize", int64_t{3}}});
         b.output(b.call("Conv", {x, b.constant({4, 18, 3, 3})}, padded));
       },
       {space_to_depth_into_conv},
       {"SpaceToDepth", "Conv"},
       1},
      {"a phase that is there twice",
       [=](Builder& b) {
         const Val x = b.input({1, 2, 8, 8});
         const Val even = every_second(b, x, 2, 0);
         const Val joined = b.call("Concat", {even, even}, {{"axis", int64_t{1}}});
         b.output(b.call("Conv", {joined, b.constant({4, 4, 3, 3})}, padded));
       },
       {space_to_depth_into_conv},
       {"Slice", "Concat", "Conv"},
       0},
      {"phases of unequal size",
       [=](Builder& b) {
         const Val x = b.input({1, 2, 9, 8});
         const Val odd = b.call("Slice", {x, b.ints({1}), b.ints({8}), b.ints({2}), b.ints({2})});
         const Val even = b.call("Slice", {x, b.ints({0}), b.ints({8}), b.ints({2}), b.ints({2})});
         const Val joined = b.call("Concat", {even, odd}, {{"axis", int64_t{1}}});
         b.output(b.call("Conv", {joined, b.constant({4, 4, 3, 3})}, padded));
       },
       {space_to_depth_into_conv},
       {"Slice", "Slice", "Concat", "Conv"},
       0},
      {"groups",
       [=](Builder& b) {
         const Val x = phases(b, b.input({1, 2, 8, 8}));
         b.output(b.call("Conv", {x, b.constant({4, 4, 3, 3})}, {{"group", int64_t{2}}}));
       },
       {space_to_depth_into_conv},
       after_cut("Conv"),
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
