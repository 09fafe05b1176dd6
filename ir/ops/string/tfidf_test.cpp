#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// Tokens 1, 2, 3 and the pairs (1, 2) and (2, 1), whose columns are in another order.
AttrMap pool(const std::string& mode, const Ints& columns) {
  return {{"max_gram_length", int64_t{2}},
          {"max_skip_count", int64_t{0}},
          {"min_gram_length", int64_t{1}},
          {"mode", mode},
          {"ngram_counts", Ints{0, 3}},
          {"ngram_indexes", columns},
          {"pool_int64s", Ints{1, 2, 3, 1, 2, 2, 1}}};
}

std::vector<double> columns_of(const AttrMap& attrs, const Ints& tokens) {
  return run_op("TfIdfVectorizer", {Tensor::vector(tokens)}, attrs)[0].tensor().to_doubles();
}

TEST(TfIdfVectorizer, WeighsByThePlaceInThePool) {
  using Row = std::vector<double>;
  const Ints tokens{1, 2, 1, 3, 2, 2};
  const auto weighed = [&](const std::string& mode, const Ints& columns) {
    AttrMap attrs = pool(mode, columns);
    attrs["weights"] = Floats{1, 2, 3, 4, 5};
    return columns_of(attrs, tokens);
  };
  const Ints backwards{4, 3, 2, 1, 0}, with_gaps{0, 1, 2, 7, 4}, shared{0, 0, 2, 3, 3};
  EXPECT_EQ(weighed("TF", backwards), (Row{1, 1, 1, 3, 2}));
  EXPECT_EQ(weighed("IDF", backwards), (Row{5, 4, 3, 2, 1}));
  EXPECT_EQ(weighed("TFIDF", backwards), (Row{5, 4, 3, 6, 2}));
  EXPECT_EQ(weighed("TFIDF", with_gaps), (Row{2, 6, 3, 0, 5, 0, 0, 4}));
  // N-grams of one column: each occurrence has its own weight, and for IDF the last one's stays.
  EXPECT_EQ(weighed("TFIDF", shared), (Row{8, 0, 3, 9}));
  EXPECT_EQ(weighed("IDF", shared), (Row{2, 0, 3, 5}));
  EXPECT_EQ(columns_of(pool("TFIDF", backwards), tokens), (Row{1, 1, 1, 3, 2}));
}

TEST(TfIdfVectorizer, WantsAWeightForEachNgram) {
  for (const Floats& weights : {Floats{1, 2, 3, 4}, Floats{1, 2, 3, 4, 5, 6}}) {
    AttrMap attrs = pool("IDF", {0, 1, 2, 3, 4});
    attrs["weights"] = weights;
    EXPECT_NE(error_of("TfIdfVectorizer", {Tensor::vector<int64_t>({1})}, attrs)
                  .find("weights: expected 5 elements, one for each n-gram of the pool"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sardonyx
