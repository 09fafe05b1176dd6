#include "tools/onnx-serve/http/target.h"

#include <gtest/gtest.h>

namespace sardonyx::serve {
namespace {

using Parts = std::vector<std::string>;

TEST(Target, PathsAreDecodedByPart) {
  EXPECT_EQ(path_parts("/"), Parts());
  EXPECT_EQ(path_parts("//v2/models//m/"), Parts({"v2", "models", "m"}));
  EXPECT_EQ(path_parts("/v2/%6d%2Fn?x=/y"), Parts({"v2", "m/n"}));
  EXPECT_EQ(path_parts("http://host:8000/v2/health/live"), Parts({"v2", "health", "live"}));
  EXPECT_EQ(path_parts("http://host"), Parts());
  EXPECT_EQ(path_parts("http://host?v2"), Parts());
  for (const char* broken : {"/%", "/%6", "/%6x", "/a%zz/b"})
    EXPECT_FALSE(path_parts(broken)) << broken;
}

TEST(Target, ValuesOfTheQuery) {
  EXPECT_EQ(query_value("/p?seconds=2", "seconds"), "2");
  EXPECT_EQ(query_value("/p?a=1&seconds=%32&seconds=3#seconds=4", "seconds"), "2");
  EXPECT_EQ(query_value("/p?seconds", "seconds"), "");
  EXPECT_EQ(query_value("/p?xseconds=2", "seconds"), std::nullopt);
  EXPECT_EQ(query_value("/seconds=2", "seconds"), std::nullopt);
  EXPECT_EQ(query_value("/p?seconds=%3", "seconds"), std::nullopt);
}

}  // namespace
}  // namespace sardonyx::serve
