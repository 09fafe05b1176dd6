// table_check LIBRARY MODEL: calls every member of the table of LIBRARY, and of the tables beside
// it, with nothing, with nonsense, and with arguments of the right kinds: live handles, short
// texts, small numbers and memory for results. Each has to come back; what it answers with a status
// is counted. For runs under sanitizers as well (ASAN_OPTIONS=detect_leaks=0: what calls make is
// left there).
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <type_traits>

#include "executor/ort_abi/table/ort_c_api.h"

namespace {

const OrtApi* g_api = nullptr;
const char* g_model = nullptr;
const char* g_member = "";

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "%s: %s\n", g_member, what);
  std::exit(1);
}

void require_ok(OrtStatus* status) {
  if (status) stop(g_api->GetErrorMessage(status));
}

// What calls read and write, renewed before each.
alignas(64) char g_storage[4096];
void* g_places[64];
const char* g_texts[64];
const OrtValue* g_values[64];

// ---- live handles, a new one for each call

template <typename T>
T* made_by(OrtStatus* (*make)(T**)) {
  T* made = nullptr;
  require_ok(make(&made));
  return made;
}

OrtEnv* new_env() {
  OrtEnv* env = nullptr;
  require_ok(g_api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "check", &env));
  return env;
}

OrtAllocator* default_allocator() {
  return made_by(g_api->GetAllocatorWithDefaultOptions);
}

OrtSession* new_session() {
  OrtSession* session = nullptr;
  require_ok(
      g_api->CreateSession(new_env(), g_model, made_by(g_api->CreateSessionOptions), &session));
  return session;
}

OrtMemoryInfo* new_memory_info() {
  OrtMemoryInfo* info = nullptr;
  require_ok(g_api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &info));
  return info;
}

OrtValue* new_value() {
  const int64_t one = 1;
  OrtValue* value = nullptr;
  require_ok(g_api->CreateTensorAsOrtValue(default_allocator(), &one, 1,
                                           ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  return value;
}

OrtTypeInfo* new_type() {
  OrtTypeInfo* type = nullptr;
  require_ok(g_api->GetTypeInfo(new_value(), &type));
  return type;
}

OrtAllocator* new_allocator() {
  OrtAllocator* allocator = nullptr;
  require_ok(g_api->CreateAllocator(new_session(), new_memory_info(), &allocator));
  return allocator;
}

OrtIoBinding* new_binding() {
  OrtIoBinding* binding = nullptr;
  require_ok(g_api->CreateIoBinding(new_session(), &binding));
  return binding;
}

OrtModelMetadata* new_metadata() {
  OrtModelMetadata* metadata = nullptr;
  require_ok(g_api->SessionGetModelMetadata(new_session(), &metadata));
  return metadata;
}

OrtOpAttr* new_attribute() {
  const int64_t one = 1;
  OrtOpAttr* attribute = nullptr;
  require_ok(g_api->CreateOpAttr("x", &one, 1, ORT_OP_ATTR_INT, &attribute));
  return attribute;
}

OrtCustomOpDomain* new_domain() {
  OrtCustomOpDomain* domain = nullptr;
  require_ok(g_api->CreateCustomOpDomain("check", &domain));
  return domain;
}

OrtKeyValuePairs* new_pairs() {
  OrtKeyValuePairs* pairs = nullptr;
  g_api->CreateKeyValuePairs(&pairs);
  return pairs;
}

const OrtEpDevice* a_device() {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  require_ok(g_api->GetEpDevices(new_env(), &devices, &count));
  return count > 0 ? devices[0] : nullptr;
}

OrtValueInfo* new_value_info() {
  OrtValueInfo* info = nullptr;
  require_ok(g_api->GetModelEditorApi()->CreateValueInfo("x", new_type(), &info));
  return info;
}

OrtNode* new_node() {
  OrtNode* node = nullptr;
  require_ok(g_api->GetModelEditorApi()->CreateNode("Neg", "", "x", g_texts, 1, g_texts, 1, nullptr,
                                                    0, &node));
  return node;
}

OrtModel* new_model() {
  const int opset = 18;
  OrtModel* model = nullptr;
  require_ok(g_api->GetModelEditorApi()->CreateModel(g_texts, &opset, 1, &model));
  return model;
}

OrtModelCompilationOptions* new_compilation() {
  OrtModelCompilationOptions* options = nullptr;
  require_ok(g_api->GetCompileApi()->CreateModelCompilationOptionsFromSessionOptions(
      new_env(), made_by(g_api->CreateSessionOptions), &options));
  return options;
}

template <typename T>
T* live_handle() {
  if constexpr (std::is_same_v<T, OrtEnv>)
    return new_env();
  else if constexpr (std::is_same_v<T, OrtStatus>)
    return g_api->CreateStatus(ORT_FAIL, "x");
  else if constexpr (std::is_same_v<T, OrtSession>)
    return new_session();
  else if constexpr (std::is_same_v<T, OrtSessionOptions>)
    return made_by(g_api->CreateSessionOptions);
  else if constexpr (std::is_same_v<T, OrtRunOptions>)
    return made_by(g_api->CreateRunOptions);
  else if constexpr (std::is_same_v<T, OrtThreadingOptions>)
    return made_by(g_api->CreateThreadingOptions);
  else if constexpr (std::is_same_v<T, OrtTensorTypeAndShapeInfo>)
    return made_by(g_api->CreateTensorTypeAndShapeInfo);
  else if constexpr (std::is_same_v<T, OrtPrepackedWeightsContainer>)
    return made_by(g_api->CreatePrepackedWeightsContainer);
  else if constexpr (std::is_same_v<T, OrtMemoryInfo>)
    return new_memory_info();
  else if constexpr (std::is_same_v<T, OrtValue>)
    return new_value();
  else if constexpr (std::is_same_v<T, OrtTypeInfo>)
    return new_type();
  else if constexpr (std::is_same_v<T, OrtAllocator>)
    return new_allocator();
  else if constexpr (std::is_same_v<T, OrtIoBinding>)
    return new_binding();
  else if constexpr (std::is_same_v<T, OrtModelMetadata>)
    return new_metadata();
  else if constexpr (std::is_same_v<T, OrtOpAttr>)
    return new_attribute();
  else if constexpr (std::is_same_v<T, OrtCustomOpDomain>)
    return new_domain();
  else if constexpr (std::is_same_v<T, OrtKeyValuePairs>)
    return new_pairs();
  else if constexpr (std::is_same_v<T, OrtEpDevice>)
    return const_cast<OrtEpDevice*>(a_device());
  else if constexpr (std::is_same_v<T, OrtValueInfo>)
    return new_value_info();
  else if constexpr (std::is_same_v<T, OrtNode>)
    return new_node();
  else if constexpr (std::is_same_v<T, OrtGraph>)
    return made_by(g_api->GetModelEditorApi()->CreateGraph);
  else if constexpr (std::is_same_v<T, OrtModel>)
    return new_model();
  else if constexpr (std::is_same_v<T, OrtModelCompilationOptions>)
    return new_compilation();
  else
    return nullptr;  // made by other libraries, or within calls of operators
}

// ---- arguments

template <typename T>
constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_void_v<T>;

struct Nothing {
  template <typename T>
  static T made() {
    return T{};
  }
};

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
      return (T)g_places;  // whatever is const in it
    else if constexpr (kIsPlain<Pointee>)
      return reinterpret_cast<T>(g_storage);
    else
      return nullptr;
  }
};

struct Plausible {
  template <typename T>
  static T made() {
    using Pointee = std::remove_pointer_t<T>;
    using Handle = std::remove_const_t<Pointee>;
    if constexpr (std::is_same_v<T, const char*>)
      return "x";
    else if constexpr (!std::is_pointer_v<T>)
      return static_cast<T>(1);
    else if constexpr (std::is_function_v<Pointee>)
      return nullptr;
    else if constexpr (std::is_same_v<T, const char* const*> || std::is_same_v<T, const char**>)
      return (T)g_texts;
    else if constexpr (std::is_same_v<T, const OrtValue* const*>)
      return g_values;
    else if constexpr (std::is_pointer_v<Pointee>)
      return (T)g_places;
    else if constexpr (kIsPlain<Pointee>)
      return (T)g_storage;
    else
      return live_handle<Handle>();
  }
};

// ---- calls

struct Counts {
  int calls = 0;
  std::map<int, int> by_code;
};

template <typename Arguments, typename Return, typename... Args>
void call_member(Return (*function)(Args...), Counts& counts) {
  std::memset(g_storage, 0, sizeof g_storage);
  std::memset(g_places, 0, sizeof g_places);
  for (const char*& text : g_texts)
    text = "x";
  ++counts.calls;
  if constexpr (std::is_same_v<Return, OrtStatus*>) {
    OrtStatus* status = function(Arguments::template made<Args>()...);
    if (!status) {
      ++counts.by_code[0];
      return;
    }
    const int code = g_api->GetErrorCode(status);
    // CreateStatus makes one of whatever it is given.
    const bool is_complete = code > 0 && g_api->GetErrorMessage(status)[0] != '\0';
    if (!is_complete && std::strcmp(g_member, "CreateStatus") != 0)
      stop("a status without a code or a message");
    ++counts.by_code[code];
    g_api->ReleaseStatus(status);
  } else {
    function(Arguments::template made<Args>()...);
  }
}

// These free memory of the caller's, which no argument here is.
bool is_left_out(const char* name) {
  static const std::set<std::string> names{"AllocatorFree", "ReleaseAvailableProviders"};
  return names.contains(name);
}

template <typename Arguments>
void call_all(const char* what) {
  Counts counts;
#define ORT_SUB_MEMBER(index, since, Return, name, parameters)   \
  g_member = #name;                                              \
  if (std::is_same_v<Arguments, Nothing> || !is_left_out(#name)) \
    call_member<Arguments>(table->name, counts);
#define ORT_MEMBER ORT_SUB_MEMBER
  {
    const OrtApi* table = g_api;
#include "executor/ort_abi/table/members.inc"
  }
  {
    const OrtModelEditorApi* table = g_api->GetModelEditorApi();
#include "executor/ort_abi/table/model_editor_members.inc"
  }
  {
    const OrtCompileApi* table = g_api->GetCompileApi();
#include "executor/ort_abi/table/compile_members.inc"
  }
  {
    const OrtInteropApi* table = g_api->GetInteropApi();
#include "executor/ort_abi/table/interop_members.inc"
  }
  {
    const OrtEpApi* table = g_api->GetEpApi();
#include "executor/ort_abi/table/ep_members.inc"
  }
#undef ORT_MEMBER
#undef ORT_SUB_MEMBER
  std::printf("%s: %d calls", what, counts.calls);
  for (const auto& [code, count] : counts.by_code)
    std::printf(", code %d: %d", code, count);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) stop("usage: table_check LIBRARY MODEL");
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) stop(dlerror());
  const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  if (!base) stop(dlerror());
  g_api = base()->GetApi(ORT_API_VERSION);
  g_model = argv[2];
  if (!g_api) stop("the library is of another version");
  for (const OrtValue*& value : g_values)
    value = new_value();
  call_all<Nothing>("nothing");
  call_all<Nonsense>("nonsense");
  call_all<Plausible>("plausible");
  return 0;
}
