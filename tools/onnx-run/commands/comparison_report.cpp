#include "tools/onnx-run/commands/comparison_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace sardonyx::tool {

std::vector<ValueComparison> compare_all(std::span<const ValueInfo> names,
                                         std::span<const Datum> got,
                                         std::span<const Datum> expected,
                                         const Tolerance& tolerance) {
  std::vector<ValueComparison> all;
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    const std::string name = i < names.size() ? names[i].name : std::to_string(i);
    all.push_back({name, compare(got[i], expected[i], tolerance)});
  }
  if (got.size() != expected.size()) {
    Comparison counts;
    counts.reason = text(got.size(), " outputs, expected ", expected.size());
    all.push_back({"(all)", counts});
  }
  return all;
}

bool all_agree(std::span<const ValueComparison> comparisons) {
  return std::ranges::all_of(
      comparisons, [](const ValueComparison& one) { return static_cast<bool>(one.comparison); });
}

void print_comparison(std::ostream& out, std::vector<ValueComparison> comparisons) {
  std::ranges::stable_sort(comparisons, std::greater(), [](const ValueComparison& one) {
    return one.comparison.deviation.max_absolute;
  });
  for (const auto& [name, comparison] : comparisons) {
    const Deviation& deviation = comparison.deviation;
    out << (comparison ? "same      " : "DIFFERENT ") << name << ": largest error "
        << deviation.max_absolute << " (of values up to " << deviation.max_expected
        << "), mean error " << deviation.mean_absolute;
    if (!comparison) out << "; " << comparison.reason;
    out << '\n';
  }
}

nlohmann::ordered_json json_of(std::span<const ValueComparison> comparisons) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, comparison] : comparisons) {
    const Deviation& deviation = comparison.deviation;
    list.push_back({{"name", name},
                    {"agrees", static_cast<bool>(comparison)},
                    {"reason", comparison.reason},
                    {"max_absolute", deviation.max_absolute},
                    {"mean_absolute", deviation.mean_absolute},
                    {"max_relative", deviation.max_relative},
                    {"max_expected", deviation.max_expected},
                    {"mismatches", deviation.mismatches},
                    {"elements", deviation.elements}});
  }
  return list;
}

}  // namespace sardonyx::tool
