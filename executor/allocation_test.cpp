// Repeated runs of the real models with bound outputs allocate nothing: neither those whose shapes
// depend on data, nor those with subgraphs, strings, sequences or maps.
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>

#include "executor/allocation_count.h"
#include "executor/session.h"
#include "ir/sanitizers.h"
#include "onnx_io/tensor_file.h"

namespace {

std::atomic<size_t> g_own{0}, g_onednn{0};

// Where the code of oneDNN's library lies.
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

// Models whose runs still make some, and by which ops.
const std::map<std::string, std::string_view> kGaps = {
    {"intent_text_tfidf", "ZipMap's sequence of maps"},
    {"lr_mnist_zipmap", "ZipMap's sequence of maps"},
    {"sklearn_knn_scan", "ZipMap's sequence of maps"},
    {"sklearn_rf_iris", "ZipMap's sequence of maps"},
    {"squeezenet_labels", "ZipMap's sequence of maps"},
    {"xfeat_vga", "SequenceInsert in a Loop"},
};

TEST(Allocations, a_repeated_bound_run_of_a_real_model_makes_none) {
  const char* data = std::getenv("SARDONYX_TEST_DATA");
  if (!data) GTEST_SKIP() << "SARDONYX_TEST_DATA is not set";
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "watched blocks come from the heap";
  size_t counted = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(data) / "models")) {
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    const Session session(entry.path() / "model.onnx", {.intra_op_threads = 1});
    const std::vector<Datum> inputs = inputs_of(session, entry.path() / "test_data_set_0");
    std::vector<Datum> outputs(session.outputs().size());
    for (int i = 0; i < 3; ++i)
      session.run_into(inputs, outputs);
    const AllocationCount count;
    session.run_into(inputs, outputs);
    const size_t made = count.own();
    const std::string name = entry.path().filename();
    if (kGaps.contains(name))
      EXPECT_GT(made, 0u) << name << " has no gap any more: take it off the list";
    else
      EXPECT_EQ(made, 0u) << name;
    ++counted;
  }
  EXPECT_GE(counted, 50u);
}

}  // namespace
}  // namespace sardonyx
