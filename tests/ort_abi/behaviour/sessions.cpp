// Models that are loaded or not, and what is known of those that are.
#include <fstream>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

const std::string kFloats = tensor_type(1, {"n", "3"});

void wrong_models() {
  const std::string x = port("x", kFloats), y = port("y", kFloats);
  loads("unknown op", unary("Nonsense", kFloats, kFloats));
  loads("unknown domain", model({{x}, {y}, {{"Relu", {"x"}, {"y"}, {}, "r", "no.such"}}}));
  loads("unknown domain that is imported", model({{x},
                                                  {y},
                                                  {{"Thing", {"x"}, {"y"}, {}, "r", "no.such"}},
                                                  {},
                                                  8,
                                                  17,
                                                  {opset("no.such", 1)}}));
  loads("opset of the future", model({{x}, {y}, {{"Relu", {"x"}, {"y"}}}, {}, 8, 99}));
  loads("IR version of the future", model({{x}, {y}, {{"Relu", {"x"}, {"y"}}}, {}, 99, 17}));
  loads("IR version 0", model({{x}, {y}, {{"Relu", {"x"}, {"y"}}}, {}, 0, 17}));
  loads("no opset", model({{x}, {y}, {{"Relu", {"x"}, {"y"}}}, {}, 8, 0}));
  loads("unknown input", model({{x}, {y}, {{"Relu", {"z"}, {"y"}, {}, "r"}}}));
  loads("cycle", model({{x},
                        {y},
                        {{"Add", {"x", "b"}, {"a"}, {}, "p"},
                         {"Relu", {"a"}, {"b"}, {}, "q"},
                         {"Relu", {"b"}, {"y"}, {}, "r"}}}));
  loads("output that nothing makes", model({{x}, {y}, {{"Relu", {"x"}, {"z"}}}}));
  loads("no outputs", model({{x}, {}, {{"Relu", {"x"}, {"z"}}}}));
  loads("no nodes", model({{x}, {port("x", kFloats)}, {}}));
  loads("no inputs", model({{},
                            {port("y", tensor_type(1, {"2"}))},
                            {{"Identity", {"w"}, {"y"}}},
                            {initializer<float>("w", 1, {2}, {1, 2})}}));
  loads("a value made twice",
        model({{x}, {y}, {{"Relu", {"x"}, {"y"}, {}, "p"}, {"Abs", {"x"}, {"y"}, {}, "q"}}}));
  loads("an input twice", model({{x, x}, {y}, {{"Relu", {"x"}, {"y"}}}}));
  loads("an output twice", model({{x}, {y, y}, {{"Relu", {"x"}, {"y"}}}}));
  loads(
      "a node name twice",
      model({{x}, {y}, {{"Relu", {"x"}, {"z"}, {}, "same"}, {"Relu", {"z"}, {"y"}, {}, "same"}}}));
  loads("too few inputs", model({{x}, {y}, {{"Add", {"x"}, {"y"}, {}, "a"}}}));
  loads("too many inputs", model({{x}, {y}, {{"Relu", {"x", "x"}, {"y"}, {}, "a"}}}));
  loads("required attribute missing", model({{x}, {y}, {{"Concat", {"x"}, {"y"}, {}, "c"}}}));
  loads("unknown attribute",
        model({{x}, {y}, {{"Relu", {"x"}, {"y"}, {attribute("odd", 1)}, "c"}}}));
  loads("attribute of another type",
        model({{x},
               {y},
               {{"Concat", {"x"}, {"y"}, {attribute("axis", std::vector<int64_t>{1})}, "c"}}}));
  loads("output of another type", unary("Relu", kFloats, tensor_type(11, {"n", "3"})));
  loads("output of another rank", unary("Relu", kFloats, tensor_type(1, {"3"})));
  loads("output of another size", unary("Relu", kFloats, tensor_type(1, {"n", "4"})));
  loads("types that an op has not", unary("Relu", tensor_type(8, {"n"}), tensor_type(8, {"n"})));
  loads("types without a kernel", unary("Mod", tensor_type(1, {"n"}), tensor_type(1, {"n"})));
  loads("types that differ", model({{x, port("z", tensor_type(11, {"n", "3"}))},
                                    {y},
                                    {{"Add", {"x", "z"}, {"y"}, {}, "a"}}}));
  loads("shapes that differ", model({{x, port("z", tensor_type(1, {"n", "4"}))},
                                     {y},
                                     {{"Add", {"x", "z"}, {"y"}, {}, "a"}}}));
  loads("initializer too short",
        model({{x}, {y}, {{"Add", {"x", "w"}, {"y"}}}, {initializer<float>("w", 1, {3}, {1, 2})}}));
  loads(
      "initializer of no type",
      model(
          {{x}, {y}, {{"Add", {"x", "w"}, {"y"}}}, {initializer<float>("w", 0, {3}, {1, 2, 3})}}));
  loads(
      "external data that is not there",
      model(
          {{x}, {y}, {{"Add", {"x", "w"}, {"y"}}}, {external_initializer("w", {3}, "none.bin")}}));
  loads("external data elsewhere", model({{x},
                                          {y},
                                          {{"Add", {"x", "w"}, {"y"}}},
                                          {external_initializer("w", {3}, "../../etc/passwd")}}));
  loads("external data at an absolute path",
        model({{x},
               {y},
               {{"Add", {"x", "w"}, {"y"}}},
               {external_initializer("w", {3}, "/etc/passwd")}}));
  loads("input of no type", model({{Message().bytes(1, "x").text}, {y}, {{"Relu", {"x"}, {"y"}}}}));
  loads("output of no type",
        model({{x}, {Message().bytes(1, "y").text}, {{"Relu", {"x"}, {"y"}}}}));
}

void file(const std::string& name, const std::string& bytes) {
  std::ofstream(lib.folder + "/" + name, std::ios::binary) << bytes;
}

void load_file(const std::string& name) {
  OrtSession* made = nullptr;
  answer("file " + name,
         lib.api->CreateSession(lib.env, (lib.folder + name).c_str(), options(), &made));
  lib.api->ReleaseSession(made);
}

void files() {
  file("good.onnx", relu());
  file("empty.onnx", "");
  file("junk.onnx", "this is not a model at all");
  file("flat.ort", std::string("\x20\0\0\0ORTM", 8) + std::string(64, '\0'));
  file("none.ort", relu());
  for (const char* name : {"/good.onnx", "/empty.onnx", "/junk.onnx", "/flat.ort", "/none.ort",
                           "/missing.onnx", "/no/folder.onnx", "", "/"})
    load_file(name);
  OrtSession* made = nullptr;
  ANSWER(CreateSession(lib.env, "", options(), &made));
  ANSWER(CreateSessionFromArray(lib.env, "", 0, options(), &made));
  ANSWER(CreateSessionFromArray(lib.env, "junkjunkjunkjunk", 16, options(), &made));
  const std::string cut = relu().substr(0, relu().size() - 9);
  ANSWER(CreateSessionFromArray(lib.env, cut.data(), cut.size(), options(), &made));
  line("session after failure", made ? "there" : "NULL");
}

void ports_of(const std::string& label, const std::string& bytes) {
  OrtSession* session = load(label, bytes);
  if (!session) return;
  struct Side {
    const char* name;
    decltype(lib.api->SessionGetInputCount) count;
    decltype(lib.api->SessionGetInputName) name_of;
    decltype(lib.api->SessionGetInputTypeInfo) type_of;
  };
  const Side sides[] = {
      {"input", lib.api->SessionGetInputCount, lib.api->SessionGetInputName,
       lib.api->SessionGetInputTypeInfo},
      {"output", lib.api->SessionGetOutputCount, lib.api->SessionGetOutputName,
       lib.api->SessionGetOutputTypeInfo},
      {"overridable", lib.api->SessionGetOverridableInitializerCount,
       lib.api->SessionGetOverridableInitializerName,
       lib.api->SessionGetOverridableInitializerTypeInfo},
  };
  for (const Side& side : sides) {
    size_t count = 99;
    answer(label + " " + side.name + "s", side.count(session, &count));
    line("  count", count);
    for (size_t i = 0; i <= count; ++i) {
      char* name = nullptr;
      OrtTypeInfo* type = nullptr;
      if (answer("  name", side.name_of(session, i, lib.allocator, &name)))
        line("  name", text_of(name));
      if (answer("  type", side.type_of(session, i, &type))) line("  type", described(type));
      lib.api->ReleaseTypeInfo(type);
    }
  }
}

void metadata_of(const std::string& label, const std::string& bytes) {
  OrtSession* session = load(label, bytes);
  OrtModelMetadata* metadata = nullptr;
  if (!session || !answer(label, lib.api->SessionGetModelMetadata(session, &metadata))) return;
  char* text = nullptr;
  const auto told = [&](const char* what, OrtStatus* status) {
    if (answer(std::string("  ") + what, status)) line(std::string("  ") + what, text_of(text));
    text = nullptr;
  };
  told("producer", lib.api->ModelMetadataGetProducerName(metadata, lib.allocator, &text));
  told("graph", lib.api->ModelMetadataGetGraphName(metadata, lib.allocator, &text));
  told("domain", lib.api->ModelMetadataGetDomain(metadata, lib.allocator, &text));
  told("description", lib.api->ModelMetadataGetDescription(metadata, lib.allocator, &text));
  told("graph description",
       lib.api->ModelMetadataGetGraphDescription(metadata, lib.allocator, &text));
  for (const char* key : {"key", "other", "none", ""})
    told(key, lib.api->ModelMetadataLookupCustomMetadataMap(metadata, lib.allocator, key, &text));
  int64_t version = -1;
  answer("  version", lib.api->ModelMetadataGetVersion(metadata, &version));
  line("  version", version);
  char** keys = nullptr;
  int64_t count = -1;
  answer("  keys",
         lib.api->ModelMetadataGetCustomMetadataMapKeys(metadata, lib.allocator, &keys, &count));
  line("  keys", count);
  line("  array", keys ? "there" : "NULL");
}

std::string entry(const std::string& key, const std::string& value) {
  return Message().bytes(1, key).bytes(2, value).text;
}

}  // namespace

void load_chapter() {
  wrong_models();
  files();
}

void info_chapter() {
  ports_of("relu", relu());
  ports_of("no shape", unary("Relu", tensor_type(1, {}, false), tensor_type(1, {}, false)));
  ports_of("scalar", unary("Relu", tensor_type(1, {}), tensor_type(1, {})));
  ports_of("odd dims", unary("Relu", tensor_type(1, {"?", "0", "a b", "7"}),
                             tensor_type(1, {"?", "0", "other", "7"})));
  ports_of("dims called None", unary("Relu", tensor_type(1, {"None", "None", "2"}),
                                     tensor_type(1, {"None", "None", "2"})));
  ports_of("output shape that is inferred", model({{port("x", tensor_type(1, {"2", "n"}))},
                                                   {port("y", tensor_type(1, {}, false))},
                                                   {{"Transpose", {"x"}, {"y"}}}}));
  ports_of("default", model({{port("x", kFloats), port("w", tensor_type(1, {"3"}))},
                             {port("y", kFloats)},
                             {{"Add", {"x", "w"}, {"y"}}},
                             {initializer<float>("w", 1, {3}, {1, 2, 3})}}));
  ports_of("default of an old IR", model({{port("x", kFloats), port("w", tensor_type(1, {"3"}))},
                                          {port("y", kFloats)},
                                          {{"Add", {"x", "w"}, {"y"}}},
                                          {initializer<float>("w", 1, {3}, {1, 2, 3})},
                                          3,
                                          8}));
  const std::string sequence = sequence_type(tensor_type(1, {"n"}));
  ports_of("sequence", model({{port("s", sequence)},
                              {port("n", tensor_type(7, {}))},
                              {{"SequenceLength", {"s"}, {"n"}}}}));
  ports_of("strings", unary("Identity", tensor_type(8, {"n"}), tensor_type(8, {"n"})));
  ports_of("optional", model({{port("o", optional_type(tensor_type(1, {"n"})))},
                              {port("b", tensor_type(9, {}))},
                              {{"OptionalHasElement", {"o"}, {"b"}}},
                              {},
                              8,
                              18}));
  ports_of("sequence of maps",
           model({{port("x", kFloats)},
                  {port("z", sequence_type(map_type(7, tensor_type(1, {}))))},
                  {{"ZipMap",
                    {"x"},
                    {"z"},
                    {attribute("classlabels_int64s", std::vector<int64_t>{4, 5, 6})},
                    "z",
                    "ai.onnx.ml"}},
                  {},
                  8,
                  17,
                  {opset("ai.onnx.ml", 1)}}));
  metadata_of("no metadata", relu());
  metadata_of(
      "metadata",
      model({{port("x", kFloats)},
             {port("y", kFloats)},
             {{"Relu", {"x"}, {"y"}}},
             {},
             8,
             17,
             {},
             {entry("key", "value"), entry("other", ""), entry("key", "again")}}) +
          Message().bytes(2, "maker").bytes(4, "a.domain").number(5, 42).bytes(6, "words").text);
}

}  // namespace behaviour
