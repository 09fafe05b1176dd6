// What is written to files, and weights that come from elsewhere.
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

const std::string kFloats = tensor_type(1, {"n", "3"});

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
bool is_there(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0;
}

// Digits of the date as '#'.
std::string without_digits(std::string text) {
  for (char& c : text) {
    if (c >= '0' && c <= '9') c = '#';
  }
  return text;
}

void profile() {
  OrtSessionOptions* with = options();
  const std::string prefix = lib.folder + "/profile";
  answer("profile", lib.api->EnableProfiling(with, prefix.c_str()));
  OrtSession* session = load("profiled", relu(), with);
  uint64_t start = 0;
  ANSWER(SessionGetProfilingStartTimeNs(session, &start));
  line("started", start > 0);
  run("profiled", session, {"x"}, {tensor<float>({1, 3}, {1, 2, 3})}, {"y"});
  char* name = nullptr;
  ANSWER(SessionEndProfiling(session, lib.allocator, &name));
  const std::string path = text_of(name);
  line("name", without_digits(path.substr(lib.folder.size())));
  const std::string text = content_of(path);
  line("begins", text.substr(0, 1));
  line("ends", text.substr(text.find_last_not_of("\n ")));
  for (const char* part : {"\"cat\"",
                           "\"pid\"",
                           "\"tid\"",
                           "\"dur\"",
                           "\"ts\"",
                           "\"ph\"",
                           "\"name\"",
                           "\"args\"",
                           "\"Session\"",
                           "\"Node\"",
                           "model_loading",
                           "session_initialization",
                           "model_run",
                           "SequentialExecutor::Execute",
                           "_kernel_time",
                           "\"op_name\"",
                           "\"provider\"",
                           "CPUExecutionProvider",
                           "\"node_index\"",
                           "\"input_type_shape\"",
                           "\"output_type_shape\"",
                           "\"output_size\"",
                           "\"parameter_size\"",
                           "\"activation_size\"",
                           "\"thread_scheduling_stats\"",
                           "the_node_kernel_time",
                           "\"Relu\""})
    line(std::string("has ") + part, text.find(part) != std::string::npos);
  ANSWER(SessionEndProfiling(session, lib.allocator, &name));
  line("name again", text_of(name).empty() ? "empty" : "some");
  OrtSession* other = load("not profiled", relu());
  name = nullptr;
  ANSWER(SessionEndProfiling(other, lib.allocator, &name));
  line("name of none", text_of(name));
  ANSWER(SessionGetProfilingStartTimeNs(other, &start));
  line("start of none", start);
}

void optimised() {
  OrtSessionOptions* with = options();
  const std::string path = lib.folder + "/optimised.onnx";
  answer("optimised", lib.api->SetOptimizedModelFilePath(with, path.c_str()));
  loads("optimised", relu(), with);
  line("written", is_there(path));
  OrtSession* again = nullptr;
  answer("again", lib.api->CreateSession(lib.env, path.c_str(), options(), &again));
  run("again", again, {"x"}, {tensor<float>({1, 3}, {-1, 2, 3})}, {"y"});
  OrtTypeInfo* info = nullptr;
  for (const GraphOptimizationLevel level : {ORT_DISABLE_ALL, ORT_ENABLE_BASIC}) {
    OrtSessionOptions* sized = options();
    (void)lib.api->SetOptimizedModelFilePath(sized, path.c_str());
    (void)lib.api->SetSessionGraphOptimizationLevel(sized, level);
    ANSWER(AddFreeDimensionOverrideByName(sized, "n", 2));
    loads("sized", relu(), sized);
    answer("sized again", lib.api->CreateSession(lib.env, path.c_str(), options(), &again));
    if (answer("  type", lib.api->SessionGetInputTypeInfo(again, 0, &info)))
      line("  type", described(info));
  }
  OrtSessionOptions* nowhere = options();
  (void)lib.api->SetOptimizedModelFilePath(nowhere, (lib.folder + "/no/such/folder.onnx").c_str());
  loads("to no folder", relu(), nowhere);
}

// Models in ONNX Runtime's own format, by their names and by what entries say.
void own_format() {
  const std::string path = lib.folder + "/own.ort", other = lib.folder + "/own.onnx";
  OrtSessionOptions* with = options();
  (void)lib.api->SetOptimizedModelFilePath(with, path.c_str());
  loads("written as .ort", relu(), with);
  line("identifier", content_of(path).substr(4, 4));
  OrtSessionOptions* named = options();
  (void)lib.api->SetOptimizedModelFilePath(named, other.c_str());
  ANSWER(AddSessionConfigEntry(named, "session.save_model_format", "ORT"));
  loads("written as its entry says", relu(), named);
  line("identifier", content_of(other).substr(4, 4));
  for (const std::string& from : {path, other}) {
    for (const char* format : {"", "ORT", "ONNX", "other"}) {
      OrtSessionOptions* as = options();
      if (*format) ANSWER(AddSessionConfigEntry(as, "session.load_model_format", format));
      OrtSession* session = nullptr;
      answer(std::string("own format, file, ") + format,
             lib.api->CreateSession(lib.env, from.c_str(), as, &session));
      if (session) run("own format", session, {"x"}, {tensor<float>({1, 3}, {-1, 2, 3})}, {"y"});
      loads(std::string("own format, bytes, ") + format, content_of(from), as);
      loads(std::string("ONNX, bytes, ") + format, relu(), as);
    }
  }
  const std::string whole = content_of(path);
  loads("own format, cut", whole.substr(0, whole.size() / 2));
  loads("own format, its beginning", whole.substr(0, 9));
}

std::string external_model() {
  return model({{port("x", kFloats)},
                {port("y", kFloats)},
                {{"Add", {"x", "w"}, {"y"}, {}, "a"}},
                {external_initializer("w", {3}, "w.bin")}});
}

void external_weights() {
  loads("external, of bytes", external_model());
  OrtSessionOptions* by_value = options();
  const char* name = "w";
  const OrtValue* w = tensor<float>({3}, {10, 20, 30});
  ANSWER(AddExternalInitializers(by_value, &name, &w, 1));
  ANSWER(AddExternalInitializers(by_value, &name, &w, 1));
  OrtValue* x = tensor<float>({1, 3}, {1, 2, 3});
  run("external, by value", load("external, by value", external_model(), by_value), {"x"}, {x},
      {"y"});
  OrtSessionOptions* wrong = options();
  const OrtValue* longer = tensor<float>({4}, {1, 2, 3, 4});
  ANSWER(AddExternalInitializers(wrong, &name, &longer, 1));
  loads("external, of another size", external_model(), wrong);
  OrtSessionOptions* typed = options();
  const OrtValue* doubles = tensor<double>({3}, {1, 2, 3});
  ANSWER(AddExternalInitializers(typed, &name, &doubles, 1));
  loads("external, of another type", external_model(), typed);
  OrtSessionOptions* in_memory = options();
  const char* file = "w.bin";
  float content[] = {1, 2, 3};
  char* memory = reinterpret_cast<char*>(content);
  size_t size = sizeof content;
  ANSWER(AddExternalInitializersFromFilesInMemory(in_memory, &file, &memory, &size, 1));
  run("external, from memory", load("external, from memory", external_model(), in_memory), {"x"},
      {x}, {"y"});
  OrtSessionOptions* short_memory = options();
  size = 8;
  ANSWER(AddExternalInitializersFromFilesInMemory(short_memory, &file, &memory, &size, 1));
  loads("external, from too little memory", external_model(), short_memory);
  std::ofstream(lib.folder + "/w.bin", std::ios::binary).write(memory, sizeof content);
  std::ofstream(lib.folder + "/external.onnx", std::ios::binary) << external_model();
  OrtSession* from_file = nullptr;
  answer("external, of a file",
         lib.api->CreateSession(lib.env, (lib.folder + "/external.onnx").c_str(), options(),
                                &from_file));
  run("external, of a file", from_file, {"x"}, {x}, {"y"});
  OrtSessionOptions* folder = options();
  ANSWER(AddSessionConfigEntry(folder, "session.model_external_initializers_file_folder_path",
                               lib.folder.c_str()));
  run("external, of a folder", load("external, of a folder", external_model(), folder), {"x"}, {x},
      {"y"});
}

void initializers_of_the_program() {
  const std::string bytes = model({{port("x", kFloats)},
                                   {port("y", kFloats)},
                                   {{"Add", {"x", "w"}, {"y"}, {}, "a"}},
                                   {initializer<float>("w", 1, {3}, {10, 20, 30})}});
  OrtValue* x = tensor<float>({1, 3}, {1, 2, 3});
  static float memory[] = {1, 1, 1};
  const int64_t three = 3;
  OrtValue* own = nullptr;
  ANSWER(CreateTensorWithDataAsOrtValue(lib.cpu, memory, sizeof memory, &three, 1,
                                        ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &own));
  OrtSessionOptions* with = options();
  ANSWER(AddInitializer(with, "", own));
  ANSWER(AddInitializer(with, "w", own));
  ANSWER(AddInitializer(with, "w", own));
  ANSWER(AddInitializer(with, "unused", own));
  run("own initializer", load("own initializer", bytes, with), {"x"}, {x}, {"y"});
  OrtSessionOptions* copied = options();
  ANSWER(AddInitializer(copied, "w", tensor<float>({3}, {1, 1, 1})));
  loads("initializer of the library's memory", bytes, copied);
  OrtSessionOptions* sized = options();
  const int64_t one = 1;
  OrtValue* small = nullptr;
  ANSWER(CreateTensorWithDataAsOrtValue(lib.cpu, memory, 4, &one, 1,
                                        ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &small));
  ANSWER(AddInitializer(sized, "w", small));
  loads("initializer of another size", bytes, sized);
  OrtPrepackedWeightsContainer* container = nullptr;
  ANSWER(CreatePrepackedWeightsContainer(&container));
  OrtSession* session = nullptr;
  ANSWER(CreateSessionFromArrayWithPrepackedWeightsContainer(lib.env, bytes.data(), bytes.size(),
                                                             options(), container, &session));
  run("prepacked", session, {"x"}, {x}, {"y"});
}

void dims() {
  OrtSessionOptions* with = options();
  ANSWER(AddFreeDimensionOverrideByName(with, "n", 2));
  ANSWER(AddFreeDimensionOverrideByName(with, "unknown", 2));
  OrtSession* session = load("dim", relu(), with);
  OrtTypeInfo* type = nullptr;
  ANSWER(SessionGetInputTypeInfo(session, 0, &type));
  line("type", described(type));
  run("dim fits", session, {"x"}, {tensor<float>({2, 3}, std::vector<float>(6))}, {"y"});
  run("dim does not", session, {"x"}, {tensor<float>({1, 3}, {1, 2, 3})}, {"y"});
}

std::string denoted(const Message& size, const std::string& denotation) {
  return Message().bytes(1, Message(size).bytes(3, denotation).text).text;
}

// What x is when sizes are given for what its dims are denoted as.
void denoted_dims() {
  const std::string shape = denoted(Message().bytes(2, "n"), "DATA_BATCH") +
                            denoted(Message(), "DATA_CHANNEL") +
                            denoted(Message().number(1, 3), "DATA_FEATURE") +
                            denoted(Message().bytes(2, "w"), "DATA_BATCH");
  const std::string type = Message().bytes(1, Message().number(1, 1).bytes(2, shape).text).text;
  const std::string bytes = unary("Relu", type, tensor_type(1, {"n", "c", "3", "w"}));
  struct Given {
    const char* label;
    std::vector<std::pair<const char*, int64_t>> denotations, names;
  };
  const Given all[] = {
      {"batch", {{"DATA_BATCH", 2}}, {}},
      {"channel", {{"DATA_CHANNEL", 4}}, {}},
      {"both", {{"DATA_BATCH", 2}, {"DATA_CHANNEL", 4}}, {}},
      {"what is there", {{"DATA_FEATURE", 3}}, {}},
      {"another than is there", {{"DATA_FEATURE", 5}}, {}},
      {"what no dim is", {{"DATA_TIME", 2}, {"", 2}}, {}},
      {"other case", {{"data_batch", 2}}, {}},
      {"by name, too", {{"DATA_BATCH", 2}}, {{"n", 2}}},
      {"by name, otherwise", {{"DATA_BATCH", 2}}, {{"n", 7}}},
      {"negative", {{"DATA_BATCH", -1}}, {}},
      {"none", {{"DATA_BATCH", 0}}, {}},
  };
  for (const Given& given : all) {
    OrtSessionOptions* with = options();
    for (const auto& [name, size] : given.denotations)
      answer(name, lib.api->AddFreeDimensionOverride(with, name, size));
    for (const auto& [name, size] : given.names)
      answer(name, lib.api->AddFreeDimensionOverrideByName(with, name, size));
    OrtSession* session = load(given.label, bytes, with);
    if (!session) continue;
    OrtTypeInfo* input = nullptr;
    ANSWER(SessionGetInputTypeInfo(session, 0, &input));
    line(std::string("x with ") + given.label, described(input));
  }
}

void adapters() {
  OrtLoraAdapter* adapter = nullptr;
  ANSWER(CreateLoraAdapter((lib.folder + "/none").c_str(), nullptr, &adapter));
  ANSWER(CreateLoraAdapterFromArray("junkjunkjunkjunk", 16, nullptr, &adapter));
  ANSWER(CreateLoraAdapterFromArray("", 0, nullptr, &adapter));
}

}  // namespace

void file_chapter() {
  profile();
  optimised();
  own_format();
}

void weights_chapter() {
  external_weights();
  initializers_of_the_program();
  dims();
  denoted_dims();
  adapters();
}

}  // namespace behaviour
