// Runs: what is given, what is asked for, and what a node refuses.
#include <condition_variable>
#include <mutex>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

const std::string kFloats = tensor_type(1, {"n", "3"});

// y = x + w, z = x * w, where w has a default.
std::string two_outputs() {
  return model({{port("x", kFloats), port("w", tensor_type(1, {"3"}))},
                {port("y", kFloats), port("z", kFloats)},
                {{"Add", {"x", "w"}, {"y"}, {}, "adds"}, {"Mul", {"x", "w"}, {"z"}, {}, "scales"}},
                {initializer<float>("w", 1, {3}, {10, 20, 30})}});
}

void names_and_values(OrtSession* session) {
  OrtValue* x = tensor<float>({1, 3}, {1, 2, 3});
  OrtValue* w = tensor<float>({3}, {5, 6, 7});
  run("plain", session, {"x"}, {x}, {"y"});
  run("both", session, {"x"}, {x}, {"z", "y"});
  run("asked twice", session, {"x"}, {x}, {"y", "y"});
  run("default overridden", session, {"x", "w"}, {x, w}, {"y", "z"});
  run("default first", session, {"w", "x"}, {w, x}, {"y"});
  run("default alone", session, {"w"}, {w}, {"y"});
  run("given twice", session, {"x", "x"}, {x, tensor<float>({1, 3}, {7, 8, 9})}, {"y"});
  run("nothing given", session, {}, {}, {"y"});
  run("nothing asked", session, {"x"}, {x}, {});
  run("unknown input", session, {"x", "none"}, {x, x}, {"y"});
  run("unknown input alone", session, {"none"}, {x}, {"y"});
  run("unknown output", session, {"x"}, {x}, {"y", "none"});
  run("input as output", session, {"x"}, {x}, {"x"});
  run("output as input", session, {"x", "y"}, {x, x}, {"y"});
  run("empty names", session, {""}, {x}, {"y"});
  run("empty output name", session, {"x"}, {x}, {""});
  run("null value", session, {"x"}, {nullptr}, {"y"});
  run("upper case", session, {"X"}, {x}, {"y"});
}

void types_and_shapes(OrtSession* session) {
  run("double", session, {"x"}, {tensor<double>({1, 3}, {1, 2, 3})}, {"y"});
  run("int64", session, {"x"}, {tensor<int64_t>({1, 3}, {1, 2, 3})}, {"y"});
  run("strings", session, {"x"}, {strings({1, 3}, {"a", "b", "c"})}, {"y"});
  run("rank 1", session, {"x"}, {tensor<float>({3}, {1, 2, 3})}, {"y"});
  run("scalar", session, {"x"}, {tensor<float>({}, {1})}, {"y"});
  run("rank 3", session, {"x"}, {tensor<float>({1, 1, 3}, {1, 2, 3})}, {"y"});
  run("size", session, {"x"}, {tensor<float>({1, 4}, {1, 2, 3, 4})}, {"y"});
  run("no rows", session, {"x"}, {tensor<float>({0, 3}, {})}, {"y"});
  run("no columns", session, {"x"}, {tensor<float>({3, 0}, {})}, {"y"});
  run("default of another size", session, {"x", "w"},
      {tensor<float>({1, 3}, {1, 2, 3}), tensor<float>({1}, {5})}, {"y"});
  run("default of another type", session, {"x", "w"},
      {tensor<float>({1, 3}, {1, 2, 3}), tensor<double>({3}, {5, 6, 7})}, {"y"});
}

void results_of_the_caller(OrtSession* session) {
  OrtValue* x = tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  OrtValue* fits = tensor<float>({2, 3}, {0, 0, 0, 0, 0, 0});
  run("in place", session, {"x"}, {x}, {"y"}, {fits});
  run("in place, one of two", session, {"x"}, {x}, {"z", "y"}, {nullptr, fits});
  run("the same place twice", session, {"x"}, {x}, {"y", "y"}, {fits, fits});
  run("over the input", session, {"x"}, {fits}, {"y"}, {fits});
  run("too many rows", session, {"x"}, {x}, {"y"}, {tensor<float>({3, 3}, std::vector<float>(9))});
  run("too few rows", session, {"x"}, {x}, {"y"}, {tensor<float>({1, 3}, {0, 0, 0})});
  run("other columns", session, {"x"}, {x}, {"y"}, {tensor<float>({2, 2}, {0, 0, 0, 0})});
  run("other rank", session, {"x"}, {x}, {"y"}, {tensor<float>({6}, std::vector<float>(6))});
  run("other type", session, {"x"}, {x}, {"y"}, {tensor<int64_t>({2, 3}, std::vector<int64_t>(6))});
  run("strings", session, {"x"}, {x}, {"y"}, {strings({2, 3}, {"", "", "", "", "", ""})});
}

// u is read by nothing: it may be left out, and is checked where it is there.
void unread_input() {
  OrtSession* session = load("unread input", model({{port("u", kFloats), port("x", kFloats)},
                                                    {port("y", kFloats)},
                                                    {{"Relu", {"x"}, {"y"}, {}, "relu"}}}));
  OrtValue* x = tensor<float>({1, 3}, {1, -2, 3});
  run("without it", session, {"x"}, {x}, {"y"});
  run("with it", session, {"x", "u"}, {x, x}, {"y"});
  run("without it again", session, {"x"}, {x}, {"y"});
  run("of another type", session, {"x", "u"}, {x, tensor<double>({1, 3}, {1, 2, 3})}, {"y"});
  run("alone", session, {"u"}, {x}, {"y"});
}

void termination(OrtSession* session) {
  OrtRunOptions* with = run_options();
  OrtValue* x = tensor<float>({1, 3}, {1, 2, 3});
  ANSWER(RunOptionsSetTerminate(with));
  run("terminated", session, {"x"}, {x}, {"y"}, {}, with);
  run("terminated still", session, {"x"}, {x}, {"y"}, {}, with);
  ANSWER(RunOptionsUnsetTerminate(with));
  run("again", session, {"x"}, {x}, {"y"}, {}, with);
  for (const char* key : {"memory.enable_memory_arena_shrinkage", "gpu_graph_id",
                          "disable_synchronize_execution_providers", "odd"}) {
    for (const char* value : {"cpu:0", "1", "nonsense"}) {
      OrtRunOptions* other = run_options();
      answer("entry", lib.api->AddRunConfigEntry(other, key, value));
      run(std::string(key) + "=" + value, session, {"x"}, {x}, {"y"}, {}, other);
    }
  }
}

struct Called {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_called = false;
  OrtValue** results = nullptr;
  size_t count = 0;
  OrtStatus* status = nullptr;
};

void asynchronous(const std::string& label, OrtSession* session, const char* input) {
  OrtValue* x = tensor<float>({1, 3}, {1, 2, 3});
  const char* output = "y";
  OrtValue* result = nullptr;
  Called called;
  const auto callback = [](void* data, OrtValue** results, size_t count, OrtStatus* status) {
    auto& seen = *static_cast<Called*>(data);
    const std::lock_guard lock(seen.mutex);
    seen.is_called = true;
    seen.results = results;
    seen.count = count;
    seen.status = status;
    seen.changed.notify_one();
  };
  if (!answer("async " + label, lib.api->RunAsync(session, nullptr, &input, &x, 1, &output, 1,
                                                  &result, callback, &called)))
    return;
  std::unique_lock lock(called.mutex);
  called.changed.wait(lock, [&] { return called.is_called; });
  answer("  called", called.status);
  line("  results", called.results ? "there" : "NULL");
  line("  count", called.count);
  if (called.results && called.count) line("  result", described(called.results[0]));
}

OrtSession* with_threads(int count) {
  OrtSessionOptions* with = options();
  (void)lib.api->SetIntraOpNumThreads(with, count);
  return load("threads", two_outputs(), with);
}

void failing(const std::string& label, const ModelParts& parts, const Values& values) {
  OrtSession* session = load(label, model(parts));
  Names names;
  for (size_t i = 0; i < values.size(); ++i)
    names.push_back(i == 0 ? "a" : i == 1 ? "b" : "c");
  run(label, session, names, values, {"y"});
}

ModelParts binary(const std::string& op, int a, int b, int y, Strings attributes = {}) {
  return {{port("a", tensor_type(a, {}, false)), port("b", tensor_type(b, {}, false))},
          {port("y", tensor_type(y, {}, false))},
          {{op, {"a", "b"}, {"y"}, std::move(attributes), "the_node"}}};
}

// Bits of the results: NaNs compare with nothing.
void narrowed(const char* label, int to) {
  OrtSession* session = load(label, model({{port("x", tensor_type(1, {"n"}))},
                                           {port("y", tensor_type(to, {"n"}))},
                                           {{"Cast", {"x"}, {"y"}, {attribute("to", to)}}}}));
  const uint32_t bits[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0x7fa12345,
                           0x7f800000, 0x3f808000, 0x3f818000, 0x80000001, 0x7f7fffff, 0xc77ff000};
  std::vector<float> numbers(std::size(bits));
  std::memcpy(numbers.data(), bits, sizeof bits);
  const OrtValue* x = tensor<float>({static_cast<int64_t>(numbers.size())}, numbers);
  const char *in = "x", *out = "y";
  OrtValue* y = nullptr;
  if (!answer(label, lib.api->Run(session, nullptr, &in, &x, 1, &out, 1, &y))) return;
  const void* data = nullptr;
  if (!answer("bits", lib.api->GetTensorData(y, &data))) return;
  std::string text;
  char digits[8];
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::snprintf(digits, sizeof digits, " %04x", static_cast<const uint16_t*>(data)[i]);
    text += digits;
  }
  line(label, text);
}

// A sparse matrix times a dense one.
void sparse_product() {
  const std::string sparse = Message()
                                 .bytes(8, Message()
                                               .number(1, 1)
                                               .bytes(2, Message()
                                                             .bytes(1, Message().number(1, 2).text)
                                                             .bytes(1, Message().number(1, 3).text)
                                                             .text)
                                               .text)
                                 .text;
  OrtSession* session =
      load("sparse product",
           model({{port("a", sparse), port("b", tensor_type(1, {"3", "2"}))},
                  {port("y", tensor_type(1, {"2", "2"}))},
                  {{"SparseToDenseMatMul", {"a", "b"}, {"y"}, {}, "the_node", "com.microsoft"}},
                  {},
                  8,
                  17,
                  {opset("com.microsoft", 1)}}));
  OrtValue* b = tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const int64_t shape[] = {2, 3}, three = 3;
  int64_t pairs[] = {0, 1, 1, 0, 1, 2};
  float values[] = {2, 3, 4};
  OrtValue* a = nullptr;
  ANSWER(CreateSparseTensorWithValuesAsOrtValue(lib.cpu, values, shape, 2, &three, 1,
                                                ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &a));
  ANSWER(UseCooIndices(a, pairs, 6));
  run("sparse product", session, {"a", "b"}, {a, b}, {"y"});
  run("dense for sparse", session, {"a", "b"}, {tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), b},
      {"y"});
}

}  // namespace

void run_chapter() {
  OrtSession* session = load("two outputs", two_outputs());
  names_and_values(session);
  types_and_shapes(session);
  results_of_the_caller(session);
  unread_input();
  termination(session);
  asynchronous("one thread", with_threads(1), "x");
  asynchronous("two threads", with_threads(2), "x");
  asynchronous("failing", with_threads(2), "none");
  OrtSession* text =
      load("strings", unary("Identity", tensor_type(8, {"n"}), tensor_type(8, {"n"})));
  run("strings", text, {"x"}, {strings({3}, {"a", "", "long enough to be elsewhere"})}, {"y"});
  run("strings in place", text, {"x"}, {strings({2}, {"a", "b"})}, {"y"}, {strings({2}, {"", ""})});
  run("floats for strings", text, {"x"}, {tensor<float>({1}, {1})}, {"y"});
  narrowed("to bfloat16", 16);
  narrowed("to float16", 10);
  sparse_product();
}

void run_failure_chapter() {
  failing(
      "shapes that don't broadcast", binary("Add", 1, 1, 1),
      {tensor<float>({2, 3}, std::vector<float>(6)), tensor<float>({4}, std::vector<float>(4))});
  failing(
      "matrix sizes", binary("MatMul", 1, 1, 1),
      {tensor<float>({2, 3}, std::vector<float>(6)), tensor<float>({4, 2}, std::vector<float>(8))});
  failing("index", binary("Gather", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1}, {7})});
  failing("elements", binary("GatherElements", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1}, {-4})});
  failing("gather nd", binary("GatherND", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1, 1}, {3})});
  failing("reshape", binary("Reshape", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({2}, {2, 2})});
  failing("reshape by two unknown", binary("Reshape", 1, 7, 1),
          {tensor<float>({4}, {1, 2, 3, 4}), tensor<int64_t>({2}, {-1, -1})});
  failing("reshape by -2", binary("Reshape", 1, 7, 1),
          {tensor<float>({4}, {1, 2, 3, 4}), tensor<int64_t>({1}, {-2})});
  failing("expand", binary("Expand", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1}, {2})});
  failing("tile", binary("Tile", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({2}, {2, 2})});
  failing("squeeze", binary("Squeeze", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1}, {0})});
  failing("unsqueeze", binary("Unsqueeze", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1}, {5})});
  failing("split", binary("Split", 1, 7, 1),
          {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1}, {2})});
  failing("concat", binary("Concat", 1, 1, 1, {attribute("axis", 0)}),
          {tensor<float>({1, 2}, {1, 2}), tensor<float>({1, 3}, {1, 2, 3})});
  failing("concat ranks", binary("Concat", 1, 1, 1, {attribute("axis", 0)}),
          {tensor<float>({2}, {1, 2}), tensor<float>({1, 3}, {1, 2, 3})});
  failing("division by zero", binary("Div", 6, 6, 6),
          {tensor<int32_t>({1}, {1}), tensor<int32_t>({1}, {2})});
  failing("convolution channels", binary("Conv", 1, 1, 1),
          {tensor<float>({1, 3, 4, 4}, std::vector<float>(48)),
           tensor<float>({1, 2, 3, 3}, std::vector<float>(18))});
  failing("convolution rank", binary("Conv", 1, 1, 1),
          {tensor<float>({3, 4}, std::vector<float>(12)),
           tensor<float>({1, 2, 3, 3}, std::vector<float>(18))});
  failing("sequence index",
          {{port("a", sequence_type(tensor_type(1, {"n"}))), port("b", tensor_type(7, {}))},
           {port("y", tensor_type(1, {}, false))},
           {{"SequenceAt", {"a", "b"}, {"y"}, {}, "the_node"}}},
          {[] {
             OrtValue* item = tensor<float>({1}, {1});
             OrtValue* made = nullptr;
             answer("sequence", lib.api->CreateValue(&item, 1, ONNX_TYPE_SEQUENCE, &made));
             return made;
           }(),
           tensor<int64_t>({}, {3})});
  failing("one hot of a bad depth",
          {{port("a", tensor_type(7, {"n"})), port("b", tensor_type(7, {})),
            port("c", tensor_type(1, {"2"}))},
           {port("y", tensor_type(1, {}, false))},
           {{"OneHot", {"a", "b", "c"}, {"y"}, {}, "the_node"}}},
          {tensor<int64_t>({1}, {0}), tensor<int64_t>({}, {-1}), tensor<float>({2}, {0, 1})});
  failing(
      "transposition of another rank",
      {{port("a", tensor_type(1, {}, false))},
       {port("y", tensor_type(1, {}, false))},
       {{"Transpose", {"a"}, {"y"}, {attribute("perm", std::vector<int64_t>{1, 0})}, "the_node"}}},
      {tensor<float>({2, 2, 2}, std::vector<float>(8))});
}

}  // namespace behaviour
