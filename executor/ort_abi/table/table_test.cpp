// Every member of the table can be called with nothing and with nonsense, and answers.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "executor/ort_abi/api_for_test.h"

namespace sardonyx::ort_abi {
namespace {

struct Member {
  const char* name;
  const void* function;
};

std::vector<Member> members() {
  std::vector<Member> all;
#define ORT_MEMBER(index, since, Return, name, parameters) \
  all.push_back({#name, reinterpret_cast<const void*>(api()->name)});
#include "executor/ort_abi/table/members.inc"
#undef ORT_MEMBER
  return all;
}

// Whatever a parameter may point to, cleared before each call.
alignas(64) char g_storage[4096];
void* g_pointers[64];

struct Nothing {
  template <typename T>
  static T made() {
    return T{};
  }
};

// Memory for results, short texts, small numbers, and no handle.
struct Nonsense {
  template <typename T>
  static T made() {
    using Pointee = std::remove_pointer_t<T>;
    if constexpr (std::is_same_v<T, const char*>)
      return "nonsense";
    else if constexpr (!std::is_pointer_v<T>)
      return static_cast<T>(1);
    else if constexpr (std::is_function_v<Pointee>)
      return nullptr;
    else if constexpr (std::is_pointer_v<Pointee>)
      return (T)g_pointers;  // whatever is const in it
    else if constexpr (std::is_arithmetic_v<Pointee> || std::is_enum_v<Pointee> ||
                       std::is_void_v<Pointee>)
      return reinterpret_cast<T>(g_storage);
    else
      return nullptr;
  }
};

struct Answer {
  bool has_status = false;
  OrtErrorCode code = ORT_OK;
  std::string message;
};

// What calls without a handle make is nobody's: it is kept here, where checkers of leaks see it.
void keep_what_was_made() {
  static auto& kept = *new std::vector<void*>;
  kept.insert(kept.end(), std::begin(g_pointers), std::end(g_pointers));
}

template <typename Arguments, typename Return, typename... Args>
Answer call_member(Return (*function)(Args...)) {
  std::memset(g_storage, 0, sizeof g_storage);
  std::memset(g_pointers, 0, sizeof g_pointers);
  if constexpr (std::is_same_v<Return, OrtStatus*>) {
    OrtStatus* status = function(Arguments::template made<Args>()...);
    keep_what_was_made();
    const Answer answer{true, api()->GetErrorCode(status), api()->GetErrorMessage(status)};
    api()->ReleaseStatus(status);
    return answer;
  } else {
    function(Arguments::template made<Args>()...);
    keep_what_was_made();
    return {};
  }
}

template <typename Arguments>
std::map<std::string, Answer> answers() {
  std::map<std::string, Answer> all;
#define ORT_MEMBER(index, since, Return, name, parameters)                     \
  if (std::string_view(#name) != "ReleaseAvailableProviders" ||                \
      std::is_same_v<Arguments, Nothing>) /* it would free what it is given */ \
    all[#name] = call_member<Arguments>(api()->name);
#include "executor/ort_abi/table/members.inc"
#undef ORT_MEMBER
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  all[#name] = call_member<Arguments>(table->name);
  {
    const OrtModelEditorApi* table = api()->GetModelEditorApi();
#include "executor/ort_abi/table/model_editor_members.inc"
  }
  {
    const OrtCompileApi* table = api()->GetCompileApi();
#include "executor/ort_abi/table/compile_members.inc"
  }
  {
    const OrtInteropApi* table = api()->GetInteropApi();
#include "executor/ort_abi/table/interop_members.inc"
  }
  {
    const OrtEpApi* table = api()->GetEpApi();
#include "executor/ort_abi/table/ep_members.inc"
  }
#undef ORT_SUB_MEMBER
  return all;
}

TEST(OrtApiTable, has_a_function_of_its_own_for_each_member) {
  std::set<const void*> functions;
  for (const Member& member : members()) {
    ASSERT_NE(member.function, nullptr) << member.name;
    EXPECT_TRUE(functions.insert(member.function).second) << member.name << " is another's";
  }
  EXPECT_EQ(functions.size(), size_t{ORT_API_MEMBERS});
}

TEST(OrtApiTable, members_that_are_called_with_nothing_refuse_or_do_nothing) {
  for (const auto& [name, answer] : answers<Nothing>()) {
    if (!answer.has_status || answer.code == ORT_OK) continue;
    // ORT_FAIL: of providers that are not built in.
    EXPECT_TRUE(answer.code == ORT_INVALID_ARGUMENT || answer.code == ORT_NOT_IMPLEMENTED ||
                answer.code == ORT_FAIL)
        << name << ": " << answer.code << " " << answer.message;
    EXPECT_FALSE(answer.message.empty()) << name;
  }
}

TEST(OrtApiTable, members_that_are_called_without_handles_refuse) {
  // These take none, or do nothing with it.
  const std::set<std::string> free = {"CreateStatus",
                                      "CreateEnv",
                                      "CreateEnvWithCustomLogger",
                                      "CreateEnvWithGlobalThreadPools",
                                      "CreateEnvWithCustomLoggerAndGlobalThreadPools",
                                      "CreateExternalInitializerInfo",
                                      "CreateCpuMemoryInfo",
                                      "CreateMemoryInfo_V2",
                                      "CreateSessionOptions",
                                      "CreateRunOptions",
                                      "CreateTensorTypeAndShapeInfo",
                                      "CreateThreadingOptions",
                                      "CreateArenaCfg",
                                      "CreatePrepackedWeightsContainer",
                                      "GetAllocatorWithDefaultOptions",
                                      "GetAvailableProviders",
                                      "GetEnvConfigEntries",
                                      "CreateOpAttr",
                                      "CreateCustomOpDomain",
                                      "CreateGraph",
                                      "CreateModel"};
  for (const auto& [name, answer] : answers<Nonsense>()) {
    if (!answer.has_status || free.contains(name)) continue;
    EXPECT_TRUE(answer.code == ORT_INVALID_ARGUMENT || answer.code == ORT_NOT_IMPLEMENTED ||
                answer.code == ORT_FAIL || answer.code == ORT_NO_SUCHFILE)
        << name << ": " << answer.code << " " << answer.message;
  }
}

TEST(OrtApiTable, what_is_not_implemented_says_so_by_name_and_clears_its_results) {
  OrtOpSchema* schema = reinterpret_cast<OrtOpSchema*>(1);
  OrtStatus* status = api()->GetEpApi()->GetOpSchema("Add", 14, "", &schema);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(api()->GetErrorCode(status), ORT_NOT_IMPLEMENTED);
  EXPECT_NE(std::string(api()->GetErrorMessage(status)).find("GetOpSchema"), std::string::npos);
  EXPECT_EQ(schema, nullptr);
  api()->ReleaseStatus(status);
}

std::set<std::string> members_of_ep_api() {
  return {
#define ORT_ABSENT(index, since, Return, name, parameters)
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) #name,
#include "executor/ort_abi/table/ep_members.inc"
#undef ORT_SUB_MEMBER
  };
}

TEST(OrtApiTable, the_documentation_lists_what_is_there_for_execution_providers) {
  std::ifstream file(SARDONYX_SOURCE_DIR "/docs/onnxruntime-drop-in.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = page.find("table_test.cpp. -->"),
               end = page.find("<!-- end of the list -->");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos);
  std::string list = page.substr(begin, end - begin);
  std::ranges::replace_if(
      list, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; }, ' ');
  std::istringstream words(list);
  std::set<std::string> listed{std::istream_iterator<std::string>(words), {}};
  listed.erase("table_test");
  listed.erase("cpp");
  EXPECT_EQ(listed, members_of_ep_api());
}

TEST(OrtApiTable, tables_beside_it_are_full) {
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  EXPECT_NE(reinterpret_cast<const void*>(table->name), nullptr) << #name;
  {
    const OrtModelEditorApi* table = api()->GetModelEditorApi();
#include "executor/ort_abi/table/model_editor_members.inc"
  }
  {
    const OrtCompileApi* table = api()->GetCompileApi();
#include "executor/ort_abi/table/compile_members.inc"
  }
  {
    const OrtInteropApi* table = api()->GetInteropApi();
#include "executor/ort_abi/table/interop_members.inc"
  }
  {
    const OrtEpApi* table = api()->GetEpApi();
#include "executor/ort_abi/table/ep_members.inc"
  }
#undef ORT_SUB_MEMBER
}

TEST(OrtApiTable, versions) {
  const OrtApiBase* base = OrtGetApiBase();
  for (uint32_t version = 1; version <= ORT_API_VERSION; ++version)
    EXPECT_EQ(base->GetApi(version), api());
  for (const uint32_t version : {0, ORT_API_VERSION + 1}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(base->GetApi(version), nullptr);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("[1, 30]"), std::string::npos);
  }
  EXPECT_EQ(std::string(base->GetVersionString()).substr(0, 5), "1.30.");
  EXPECT_EQ(std::string(api()->GetBuildInfoString()).find("ORT Build Info: "), 0u);
}

}  // namespace
}  // namespace sardonyx::ort_abi
