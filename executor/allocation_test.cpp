// Repeated runs of the real models with bound outputs allocate nothing: neither those whose shapes
// depend on data, nor those with subgraphs, strings, sequences or maps.
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <set>
#include <string>

#include "executor/session.h"
#include "ir/core/sanitizers.h"
#include "onnx_io/tensor_file.h"
#include "tests/support/allocation_count.h"
#include "tests/support/test_data.h"

namespace {

std::atomic<size_t> g_own{0}, g_onednn{0};

// Where the code of oneDNN's library is.
struct Range {
  uintptr_t begin = 0, end = 0;
};

Range find_onednn() {
  Range found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        if (!std::strstr(info->dlpi_name, "libdnnl")) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
          const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          *static_cast<Range*>(to) = {begin, begin + part.p_memsz};
        }
        return 1;
      },
      &found);
  return found;
}

Range g_range;  // set before anything is counted

void count(uintptr_t caller) {
  ++(caller >= g_range.begin && caller < g_range.end ? g_onednn : g_own);
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  count(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  count(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  if (void* made = std::malloc(bytes ? bytes : 1)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete(void* data, size_t) noexcept {
  std::free(data);
}

namespace sardonyx {

AllocationCount::AllocationCount() {
  if (g_range.end == 0) g_range = find_onednn();
  own_ = g_own;
  onednn_ = g_onednn;
}
size_t AllocationCount::own() const {
  return g_own - own_;
}
size_t AllocationCount::onednn() const {
  return g_onednn - onednn_;
}

namespace {

namespace fs = std::filesystem;

std::vector<Datum> inputs_of(const Session& session, const fs::path& set) {
  std::vector<Datum> inputs;
  for (const ValueInfo& input : session.inputs()) {
    const std::string name = "input_" + std::to_string(inputs.size()) + ".pb";
    inputs.push_back(read_tensor_file(set / name, input.type).value);
  }
  return inputs;
}

// What the sixth run of a model makes, with bound outputs: until then all memory has found the
// place where it is needed.
size_t made_by_repeated_run(const Session& session, const fs::path& set) {
  const std::vector<Datum> inputs = inputs_of(session, set);
  std::vector<OutputSlot> outputs(session.outputs().size());
  for (int i = 0; i < 5; ++i)
    session.run_into(inputs, outputs);
  const AllocationCount count;
  session.run_into(inputs, outputs);
  return count.own();
}

// Calls visit(directory) for each model in `root`.
template <typename Visit>
void for_each_model(const fs::path& root, const Visit& visit) {
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "model.onnx")) visit(entry.path());
  }
}

TEST(Allocations, a_repeated_bound_run_of_a_real_model_makes_none) {
  const fs::path models = test_data("models");
  if (models.empty()) GTEST_SKIP() << "there are no models in SARDONYX_TEST_DATA";
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "watched blocks come from the heap";
  size_t counted = 0;
  for_each_model(models, [&](const fs::path& model) {
    const Session session(model / "model.onnx", {.intra_op_threads = 1});
    EXPECT_EQ(made_by_repeated_run(session, model / "test_data_set_0"), 0u) << model.filename();
    ++counted;
  });
  EXPECT_GE(counted, 50u);
}

// Ops with kernels that work in memory of their own, where no fast kernel takes the call
// (docs/limits.md), and a test of an optional that holds a sequence made by another step.
const std::set<std::string> kGaps = {"Col2Im",          "Einsum",   "ImageDecoder", "MaxUnpool",
                                     "MelWeightMatrix", "RoiAlign", "test_if_opt"};

TEST(Allocations, a_repeated_bound_run_of_an_official_node_test_makes_none) {
  const fs::path tests = test_data("conformance/node");
  if (tests.empty()) GTEST_SKIP() << "there are no node tests in SARDONYX_TEST_DATA";
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "watched blocks come from the heap";
  std::set<std::string> unmet = kGaps;
  size_t counted = 0;
  for_each_model(tests, [&](const fs::path& test) {
    const Session session(test / "model.onnx", {.intra_op_threads = 1});
    ++counted;
    if (made_by_repeated_run(session, test / "test_data_set_0") == 0) return;
    bool is_known = unmet.erase(test.filename()) > 0;
    for (const auto& node : session.model().graph->nodes()) {
      is_known |= kGaps.contains(full_name(*node->op));
      unmet.erase(full_name(*node->op));
    }
    EXPECT_TRUE(is_known) << test.filename();
  });
  EXPECT_GE(counted, 1000u);
  for (const std::string& op : unmet)
    ADD_FAILURE() << op << " has no gap any more: take it off the list";
}

}  // namespace
}  // namespace sardonyx
