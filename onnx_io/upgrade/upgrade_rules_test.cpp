// Every version of every operator either reads the same in the newest form or has an upgrade rule.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "onnx_io/op_versions.h"
#include "onnx_io/upgrade/upgrade.h"
#include "tests/support/test_data.h"

namespace sardonyx {
namespace {

using Json = nlohmann::json;
using OpName = std::pair<std::string, std::string>;

// Versions whose meaning changed while the signature says nothing of it.
constexpr std::tuple<const char*, int> kMeaningChanged[] = {
    {"Dropout", 10}, {"GroupNormalization", 21}, {"OneHot", 11}, {"RoiAlign", 16}, {"Softmax", 13},
};

bool has_rule(const std::string& domain, const std::string& op, int version, int newest) {
  for (const UpgradeRule& rule : upgrade_rules()) {
    if (rule.domain == domain && rule.op == op && version < rule.below && rule.below <= newest)
      return true;
  }
  return false;
}

std::map<OpName, std::vector<Json>> read_spec() {
  std::ifstream file(test_data("spec/onnx_ops.json"));
  std::map<OpName, std::vector<Json>> ops;
  if (!file) return ops;
  for (Json& op : Json::parse(file)) {
    const OpName name{op["domain"], op["name"]};
    ops[name].push_back(std::move(op));
  }
  for (auto& [name, versions] : ops) {
    std::sort(versions.begin(), versions.end(),
              [](const Json& a, const Json& b) { return a["since"] < b["since"]; });
  }
  return ops;
}

Json attributes_of(const Json& op) {
  return op.contains("attributes") ? op["attributes"] : Json::object();
}

// Why a call of the form `old` can't be read as one of the form `current`; "" where it can.
std::string difference(const Json& old, const Json& current) {
  if (old["max_input"] > current["max_input"]) return "takes more inputs";
  if (old["min_input"] < current["min_input"]) return "takes fewer inputs";
  if (old["max_output"] > current["max_output"]) return "has more outputs";
  const Json before = attributes_of(old), after = attributes_of(current);
  for (const auto& [name, attribute] : before.items()) {
    if (!after.contains(name)) return "attribute " + name + " is gone";
    if (after[name]["type"] != attribute["type"]) return "attribute " + name + " changed its kind";
    const Json default_before = attribute.value("default", Json()),
               default_after = after[name].value("default", Json());
    const bool was_required = attribute.value("required", false);
    if (default_before != default_after && !was_required)
      return "attribute " + name + " changed its default";
  }
  for (const auto& [name, attribute] : after.items()) {
    if (attribute.value("required", false) &&
        !(before.contains(name) && before[name].value("required", false))) {
      return "attribute " + name + " is required now";
    }
  }
  return "";
}

TEST(UpgradeRules, CoverEveryVersionThatDiffers) {
  const auto ops = read_spec();
  if (ops.empty()) GTEST_SKIP() << "SARDONYX_TEST_DATA is not set";
  for (const auto& [name, versions] : ops) {
    // Removed operators are read as what they were last.
    std::vector<Json> alive;
    for (const Json& version : versions) {
      if (!version.value("deprecated", false)) alive.push_back(version);
    }
    // Constant nodes become constants while loading, whatever their version.
    if (name.second == "Constant" || alive.empty()) continue;
    const int newest = versions.back()["since"];
    for (const Json& version : alive) {
      const std::string why = difference(version, alive.back());
      if (why.empty()) continue;
      EXPECT_TRUE(has_rule(name.first, name.second, version["since"], newest))
          << name.first << "::" << name.second << " of version " << version["since"] << " " << why;
    }
  }
}

TEST(UpgradeRules, CoverChangesOfMeaning) {
  for (const auto& [op, below] : kMeaningChanged)
    EXPECT_TRUE(has_rule("", op, below - 1, below)) << op;
}

TEST(UpgradeRules, RiseAndNameOperatorsThatExist) {
  std::map<std::pair<std::string_view, std::string_view>, int> last;
  for (const UpgradeRule& rule : upgrade_rules()) {
    EXPECT_TRUE(versions_of(rule.domain, rule.op)) << rule.op;
    int& below = last[{rule.domain, rule.op}];
    EXPECT_LT(below, rule.below) << rule.op;
    below = rule.below;
  }
}

TEST(OpVersions, AgreeWithTheSpecification) {
  const auto ops = read_spec();
  if (ops.empty()) GTEST_SKIP() << "SARDONYX_TEST_DATA is not set";
  for (const auto& [name, specified] : ops) {
    const std::optional<OpVersions> known = versions_of(name.first, name.second);
    ASSERT_TRUE(known) << name.second;
    for (const Json& version : specified) {
      const bool found =
          std::count(known->since.begin(), known->since.end(), version["since"].get<int>()) == 1;
      EXPECT_TRUE(found) << name.second << " " << version["since"];
    }
  }
}

TEST(OpVersions, TheNewestNotAfterTheOpsetCounts) {
  const std::optional<OpVersions> upsample = versions_of("", "Upsample");
  ASSERT_TRUE(upsample);
  EXPECT_EQ(version_in(*upsample, 8).since, 7);
  EXPECT_TRUE(version_in(*upsample, 13).removed);
  EXPECT_EQ(version_in(*versions_of("", "Trilu"), 13).since, 0);
  EXPECT_FALSE(versions_of("", "NoSuchOperator"));
}

}  // namespace
}  // namespace sardonyx
