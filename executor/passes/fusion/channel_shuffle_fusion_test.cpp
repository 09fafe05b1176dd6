// Shuffles of channels.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val shuffled(Builder& b, const Val& x, const Ints& wide, const Ints& perm, const Ints& back) {
  const Val cut = b.call("Reshape", {x, b.ints(wide)});
  return b.call("Reshape", {b.call("Transpose", {cut}, {{"perm", perm}}), b.ints(back)});
}

TEST(RecognizeChannelShuffle, DealsOutGroups) {
  const Ints perm{0, 2, 1, 3, 4};
  const std::vector<std::string> written_out{"Reshape", "Transpose", "Reshape"};
  const Case cases[] = {
      {"two groups",
       [=](Builder& b) {
         b.output(shuffled(b, b.input({2, 6, 3, 5}), {2, 2, 3, 3, 5}, perm, {2, -1, 3, 5}));
       },
       {recognize_channel_shuffle},
       {"ChannelShuffle"},
       1},
      {"a row of pixels",
       [=](Builder& b) {
         b.output(shuffled(b, b.input({2, 12, 7}), {0, 4, -1, 7}, {0, 2, 1, 3}, {0, 12, -1}));
       },
       {recognize_channel_shuffle},
       {"ChannelShuffle"},
       1},
      {"other dims are exchanged",
       [=](Builder& b) {
         b.output(
             shuffled(b, b.input({2, 6, 3, 3}), {2, 2, 3, 3, 3}, {0, 1, 2, 4, 3}, {2, 6, 3, 3}));
       },
       {recognize_channel_shuffle},
       written_out,
       0},
      {"pixels are cut",
       [=](Builder& b) {
         b.output(shuffled(b, b.input({1, 4, 6, 2}), {1, 4, 2, 3, 2}, perm, {1, 4, 6, 2}));
       },
       {recognize_channel_shuffle},
       written_out,
       0},
      {"another shape comes out",
       [=](Builder& b) {
         b.output(shuffled(b, b.input({2, 6, 3, 5}), {2, 2, 3, 3, 5}, perm, {2, 6, 5, 3}));
       },
       {recognize_channel_shuffle},
       written_out,
       0},
      {"another reader",
       [=](Builder& b) {
         const Val cut = b.call("Reshape", {b.input({2, 6, 3, 5}), b.ints({2, 2, 3, 3, 5})});
         b.output(b.call("Reshape",
                         {b.call("Transpose", {cut}, {{"perm", perm}}), b.ints({2, 6, 3, 5})}));
         b.output(b.call("Relu", {cut}));
       },
       {recognize_channel_shuffle},
       {"Reshape", "Transpose", "Reshape", "Relu"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
