#include "tools/onnx-run/test_case.h"

#include <algorithm>
#include <cmath>

#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/feeds.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

bool is_case(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "model.onnx", ignored);
}

void find_below(const fs::path& folder, const fs::path& top, std::vector<TestCase>& found) {
  if (is_case(folder)) {
    const fs::path below = folder.lexically_relative(top);
    const std::string name = below == "." ? folder.filename().string() : below.string();
    found.push_back({.folder = folder, .name = name, .judgement = {}});
    return;
  }
  std::vector<fs::path> children;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) children.push_back(entry.path());
  }
  std::ranges::sort(children);
  for (const fs::path& child : children)
    find_below(child, top, found);
}

struct SampleMoments {
  double mean = 0, deviation = 0;
};

SampleMoments moments_of(const std::vector<double>& values) {
  SampleMoments moments;
  const auto count = static_cast<double>(values.size());
  for (const double value : values)
    moments.mean += value / count;
  for (const double value : values)
    moments.deviation += (value - moments.mean) * (value - moments.mean) / count;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

std::string compare_set(const fs::path& set, const Runner& runner, const Judgement& judgement) {
  const std::vector<Datum> inputs = read_by_position(set, "input_", runner.inputs());
  const std::vector<Datum> expected = read_by_position(set, "output_", runner.outputs());
  NamedData feeds;
  for (size_t i = 0; i < inputs.size(); ++i)
    feeds.emplace(runner.inputs()[i].name, inputs[i]);
  const std::vector<Datum> got = runner.run(feeds, {});
  if (got.size() != expected.size())
    return text(got.size(), " outputs, expected ", expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string reason = judgement.random
                                   ? implausible_draw(got[i], expected[i])
                                   : compare(got[i], expected[i], judgement.tolerance).reason;
    if (!reason.empty()) return text("output ", i, " '", runner.outputs()[i].name, "': ", reason);
  }
  return "";
}

}  // namespace

std::vector<TestCase> find_cases(const std::vector<fs::path>& paths) {
  std::vector<TestCase> found;
  for (const fs::path& given : paths) {
    std::error_code ignored;
    if (!fs::is_directory(given, ignored)) fail_usage("'", given.string(), "' is no folder");
    fs::path path = fs::absolute(given).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    const size_t before = found.size();
    find_below(path, path, found);
    if (found.size() == before)
      fail_usage("'", given.string(), "' has no case in it (a folder with model.onnx)");
  }
  return found;
}

std::string_view name_of(CaseResult::Status status) {
  constexpr std::string_view kNames[] = {"passed", "failed", "skipped"};
  return kNames[static_cast<size_t>(status)];
}

CaseResult run_case(const TestCase& test_case, const LoadRunner& load) {
  using Status = CaseResult::Status;
  try {
    const std::vector<fs::path> sets = data_sets_in(test_case.folder);
    if (sets.empty()) return {Status::kSkipped, "no test_data_set_K in the folder"};
    const std::unique_ptr<Runner> runner = load(test_case.folder / "model.onnx");
    for (const fs::path& set : sets) {
      const std::string reason = compare_set(set, *runner, test_case.judgement);
      if (reason.empty()) continue;
      return {Status::kFailed, sets.size() > 1 ? set.filename().string() + ": " + reason : reason};
    }
    return {Status::kPassed, ""};
  } catch (const LoadError& error) {
    return {Status::kFailed, text(name_of(error.error().code()), " at load: ", error.what())};
  } catch (const Error& error) {
    return {Status::kFailed, text(name_of(error.code()), ": ", error.what())};
  } catch (const std::exception& error) {
    return {Status::kFailed, error.what()};
  }
}

std::string implausible_draw(const Datum& got, const Datum& expected) {
  if (Comparison types = compare_types(got, expected); !types) return types.reason;
  if (!got.is_tensor() || got.tensor().count() == 0) return "";
  const DType dtype = got.tensor().dtype();
  if (dtype == DType::kString || is_complex(dtype)) return "";
  const SampleMoments ours = moments_of(got.tensor().to_doubles());
  const SampleMoments theirs = moments_of(expected.tensor().to_doubles());
  // Both are means of `count` draws; six standard errors are next to never left by chance. Few
  // draws may all be the same, so their own deviation is not trusted alone.
  const auto count = static_cast<double>(got.tensor().count());
  const double spread = std::max({ours.deviation, theirs.deviation, std::abs(theirs.mean)});
  const double allowed = 6 * spread * std::sqrt(2 / count);
  if (!(std::abs(ours.mean - theirs.mean) <= allowed))
    return text("mean ", ours.mean, " of ", count, " draws, expected about ", theirs.mean);
  return "";
}

}  // namespace sardonyx::tool
