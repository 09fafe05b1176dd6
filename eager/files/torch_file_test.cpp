// Files of torch.save: what is read of them, and that nothing else is done with them.
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>

#include "eager/create.h"
#include "eager/files/pickle.h"
#include "eager/files/state_files.h"
#include "eager/files/torch_object.h"
#include "eager/optim/optimizer.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "onnx_io/zip/zip_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using namespace std::string_literals;

// ---- as torch.save writes them ----

void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    out += i < sizeof value ? static_cast<char>(value >> (8 * i) & 0xff) : '\0';
}

std::string deflated(const std::string& data) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(data.size() + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

using Members = std::vector<std::pair<std::string, std::string>>;
std::string zip_of(const Members& members, bool deflate = false) {
  std::string out, directory;
  for (const auto& [name, data] : members) {
    const std::string packed = deflate ? deflated(data) : data;
    std::string shared;
    put(shared, 20, 2);
    put(shared, 0, 2);
    put(shared, deflate ? 8 : 0, 2);
    put(shared, 0x210000, 4);
    put(shared,
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())), 4);
    put(shared, packed.size(), 4);
    put(shared, data.size(), 4);
    put(shared, name.size(), 2);
    put(shared, 0, 2);
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    directory += shared;
    put(directory, 0, 10);
    put(directory, out.size(), 4);
    directory += name;
    put(out, 0x04034b50, 4);
    out += shared + name + packed;
  }
  const size_t begin = out.size();
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, directory.size(), 4);
  put(out, begin, 4);
  put(out, 0, 2);
  return out;
}

std::string text_of(const std::string& text) {
  std::string out = "X";
  put(out, text.size(), 4);
  return out + text;
}
std::string integer(int32_t value) {
  std::string out = "J";
  put(out, static_cast<uint32_t>(value), 4);
  return out;
}
std::string tuple(const std::vector<int32_t>& values) {
  std::string out = "(";
  for (const int32_t value : values)
    out += integer(value);
  return out + "t";
}
std::string tensor_of(const std::string& type, const std::string& key, int32_t count,
                      int32_t offset, const std::vector<int32_t>& shape,
                      const std::vector<int32_t>& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text_of("storage") + "ctorch\n" + type + "\n" +
         text_of(key) + text_of("cpu") + integer(count) + "tQ" + integer(offset) + tuple(shape) +
         tuple(strides) + "\x89" + "ccollections\nOrderedDict\n)RtR";
}
std::string pickle_of(const std::string& items) {
  return "\x80\x02" + std::string("ccollections\nOrderedDict\n)Rq") + '\0' + "(" + items + "u.";
}
std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}
std::string archive(const std::string& pickle, const std::string& data, bool deflate = false) {
  return zip_of({{"model/data.pkl", pickle},
                 {"model/byteorder", "little"},
                 {"model/data/0", data},
                 {"model/version", "3\n"}},
                deflate);
}

// ---- tests ----

class TorchFile : public testing::Test {
 protected:
  nn::StateDict read(const std::string& bytes) const {
    return load_torch(folder_.write("m.pt", bytes));
  }
  nn::StateDict read_pickled(const std::string& pickle, const std::string& data) const {
    return read(archive(pickle, data));
  }

  TemporaryFolder folder_;
};

TEST_F(TorchFile, StateDict) {
  const std::string data = floats({0, 1, 2, 3, 4, 5});
  const std::string parameter = "ctorch._utils\n_rebuild_parameter\n(" +
                                tensor_of("FloatStorage", "0", 6, 0, {6}, {1}) + "\x88" +
                                "ccollections\nOrderedDict\n)RtR";
  const std::string pickle = pickle_of(
      text_of("fc.weight") + tensor_of("FloatStorage", "0", 6, 0, {2, 3}, {3, 1}) +
      text_of("turned") + tensor_of("FloatStorage", "0", 6, 1, {2, 2}, {1, 3}) +
      text_of("parameter") + parameter + text_of("epoch") + integer(3) + text_of("inner") + "}" +
      text_of("list") + "](" + tensor_of("FloatStorage", "0", 6, 5, {}, {}) + "es");
  for (const bool deflate : {false, true}) {
    const nn::StateDict state = read(archive(pickle, data, deflate));
    EXPECT_EQ(state.size(), 4u);
    EXPECT_EQ(state.at("fc.weight").shape(), (Dims{2, 3}));
    EXPECT_EQ(state.at("turned").to_vector<float>(), (std::vector<float>{1, 4, 2, 5}));
    EXPECT_EQ(state.at("parameter").to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(state.at("inner.list.0").item<float>(), 5);
  }
}

std::string rest_of_call() {
  return "ccollections\nOrderedDict\n)RtR";
}
// A tensor of two floats whose storage is told of by `identity`.
std::string tensor_on(const std::string& identity) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + identity + "Q" + integer(0) + tuple({2}) +
         tuple({1}) + "\x89" + rest_of_call();
}
std::string storage(const std::string& first, const std::string& type, int32_t count = 2) {
  return "(" + text_of(first) + "ctorch\n" + type + "\n" + text_of("0") + text_of("cpu") +
         integer(count) + "t";
}
std::string wide_integer(int64_t value) {
  std::string out = "\x8a\x08";
  put(out, static_cast<uint64_t>(value), 8);
  return out;
}

TEST_F(TorchFile, RefusedTensors) {
  const std::string data = floats({0, 1});
  const std::string good = tensor_of("FloatStorage", "0", 2, 0, {2}, {1});
  EXPECT_EQ(read_pickled(pickle_of(text_of("w") + good), data).size(), 1u);
  const std::string parameter = "ctorch._utils\n_rebuild_parameter\n(";
  const std::string of_tensor = "ctorch._utils\n_rebuild_tensor_v2\n(";
  const std::string on_storage = of_tensor + storage("storage", "FloatStorage") + "Q";
  const std::vector<int32_t> ones(65, 1);
  const std::pair<std::string, const char*> tensors[] = {
      {of_tensor + "tR", "'w' is no tensor as torch writes it"},
      {of_tensor + "NtR", "'w' is no tensor as torch writes it"},
      {tensor_on("](" + text_of("storage") + "ctorch\nFloatStorage\n" + text_of("0") +
                 text_of("cpu") + integer(2) + "e"),
       "'w' is no tensor as torch writes it"},
      {tensor_on(storage("stored", "FloatStorage")), "'w' is no tensor as torch writes it"},
      {"ctorch\nFloatStorage\n" + good.substr(of_tensor.size() - 1),
       "'w' is no tensor as torch writes it"},
      {on_storage + integer(0) + "tR", "'w' is no tensor as torch writes it"},
      {parameter + parameter + good + "tRtR", "'w' is a parameter of a parameter"},
      {tensor_on(storage("storage", "Size")), "'w' has elements of type torch Size"},
      {tensor_on(storage("storage", "FloatStorage", -1)), "'w' has a storage of negative size"},
      {tensor_of("FloatStorage", "0", 3, 0, {3}, {1}),
       "'w' says that its storage has 3 elements, but it has 8 bytes"},
      {tensor_of("FloatStorage", "1", 2, 0, {2}, {1}), "it has no 'model/data/1'"},
      {good + text_of("v") + tensor_of("IntStorage", "0", 2, 0, {2}, {1}),
       "'v' shares memory of another type"},
      {tensor_of("FloatStorage", "0", 2, 0, ones, ones), "'w' has an impossible rank"},
      {tensor_of("FloatStorage", "0", 2, 0, {-1}, {1}), "'w' has an impossible shape or stride"},
      {on_storage + integer(0) + "(Nt" + tuple({1}) + "\x89" + rest_of_call(),
       "'w' has an impossible shape or stride"},
      {tensor_of("FloatStorage", "0", 2, 0, {2}, {1, 1}), "'w' has an impossible shape or stride"},
      {tensor_of("FloatStorage", "0", 2, -1, {1}, {1}), "'w' has an impossible shape or stride"},
      {tensor_of("FloatStorage", "0", 2, 0, {1 << 20, 1 << 20}, {0, 0}),
       "'w' has shape [1048576, 1048576] on a storage of 2 elements, more than can be repeated; "
       "save a contiguous copy"},
      {tensor_of("FloatStorage", "0", 2, 0, {1 << 27, 1}, {0, 0}) + text_of("v") +
           tensor_of("FloatStorage", "0", 2, 0, {1 << 28}, {0}),
       "'v' has shape [268435456] on a storage of 2 elements, more than can be repeated"},
      {tensor_of("FloatStorage", "0", 2, 0, {3}, {1}), "'w' reaches out of its storage"},
      {tensor_of("FloatStorage", "0", 2, 1, {2}, {1}), "'w' reaches out of its storage"},
      {tensor_of("FloatStorage", "0", 2, 0, {2}, {2}), "'w' reaches out of its storage"},
      {on_storage + wide_integer(INT64_MAX) + tuple({2}) + tuple({1}) + "\x89" + rest_of_call(),
       "'w' reaches out of its storage"},
      {tensor_of("BoolStorage", "0", 8, 0, {8}, {1}), "'w' has a bool of value 128"},
  };
  for (const auto& [tensor, mention] : tensors) {
    SCOPED_TRACE(mention);
    expect_refusal(ErrorCode::kInvalidArgument, mention,
                   [&] { read_pickled(pickle_of(text_of("w") + tensor), data); });
  }
}

// x.expand(...) has strides of 0.
TEST_F(TorchFile, RepeatedElements) {
  const std::string pickle =
      pickle_of(text_of("rows") + tensor_of("FloatStorage", "0", 2, 0, {3, 2}, {0, 1}) +
                text_of("columns") + tensor_of("FloatStorage", "0", 2, 0, {2, 3}, {1, 0}));
  const nn::StateDict state = read_pickled(pickle, floats({1, 2}));
  EXPECT_EQ(state.at("rows").to_vector<float>(), (std::vector<float>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(state.at("columns").to_vector<float>(), (std::vector<float>{1, 1, 1, 2, 2, 2}));
}

// As torch wrote before 1.6: pickles of a magic number, a version and facts, then the value's, the
// keys of the storages, and these.
std::string legacy(const std::string& pickle, const std::string& keys, const std::string& storages,
                   bool little = true, int32_t version = 1001) {
  const std::string magic("\x80\2\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);
  const std::string facts =
      "\x80\2}(" + text_of("little_endian") + (little ? "\x88" : "\x89") + "u.";
  return magic + "\x80\2" + integer(version) + "." + facts + pickle + keys + storages;
}
std::string keys_of(const std::vector<std::string>& keys) {
  std::string out = "\x80\2](";
  for (const std::string& key : keys)
    out += text_of(key);
  return out + "e.";
}
std::string counted(int64_t count, const std::string& data) {
  std::string out;
  put(out, static_cast<uint64_t>(count), 8);
  return out + data;
}

TEST_F(TorchFile, BeforeZip) {
  const std::string pickle =
      pickle_of(text_of("w") + tensor_of("FloatStorage", "77", 2, 0, {2, 1}, {1, 1}) +
                text_of("n") + tensor_of("IntStorage", "5", 1, 0, {}, {}));
  const std::string three = counted(1, integer(3).substr(1));
  const std::string both = three + counted(2, floats({0.5f, 2}));
  const std::string whole = legacy(pickle, keys_of({"5", "77"}), both);
  const nn::StateDict state = read(whole);
  EXPECT_EQ(state.size(), 2u);
  EXPECT_EQ(state.at("w").shape(), (Dims{2, 1}));
  EXPECT_EQ(state.at("w").to_vector<float>(), (std::vector<float>{0.5f, 2}));
  EXPECT_EQ(state.at("n").item<int32_t>(), 3);
  const std::string view = "(" + text_of("storage") + "ctorch\nFloatStorage\n" + text_of("77") +
                           text_of("cpu") + integer(2) + "(" + text_of("78") + integer(0) +
                           integer(2) + "tt";
  expect_refusals({
      {"its version is unknown", [&] { read(legacy(pickle, keys_of({}), "", true, 1000)); }},
      {"its numbers are not little-endian",
       [&] {
         read(legacy(pickle, keys_of({"5", "77"}), both, false));
       }},
      {"the storage '6' is used by no tensor, or missing",
       [&] {
         read(legacy(pickle, keys_of({"6", "77"}), both));
       }},
      {"the storage '77' is used by no tensor, or missing",
       [&] {
         read(legacy(pickle, keys_of({"5", "77"}), three));
       }},
      {"the storage '77' reaches out of the file",
       [&] {
         read(legacy(pickle, keys_of({"5", "77"}), three + counted(3, floats({1, 2}))));
       }},
      {"the storage '77' reaches out of the file",
       [&] {
         read(legacy(pickle, keys_of({"5", "77"}), three + counted(-1, floats({1, 2}))));
       }},
      {"it has no storage '77'", [&] { read(legacy(pickle, keys_of({"5"}), three)); }},
      {"it has views of storages, as torch wrote them before 0.4",
       [&] { read(legacy(pickle_of(text_of("w") + tensor_on(view)), keys_of({"77"}), both)); }},
  });
  // What ends early is refused, wherever it ends.
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(read(whole.substr(0, length)), Error) << length;
}

// torch.save(torch.optim.Adam(...).state_dict()), the parameters in another order than their
// numbers, one of them without a gradient so far.
TEST_F(TorchFile, StateOfAnOptimiser) {
  const auto vector = [](int32_t offset) {
    return tensor_of("FloatStorage", "0", 5, offset, {2}, {1});
  };
  const std::string real = "G\x3f\xe0\0\0\0\0\0\0"s;  // 0.5
  const auto pickled = [&](const std::string& step) {
    return pickle_of(text_of("optimizer") + "}(" + text_of("state") + "}(" + integer(1) + "}(" +
                     text_of("step") + step + text_of("exp_avg") + vector(0) +
                     text_of("exp_avg_sq") + vector(2) + "uu" + text_of("param_groups") + "](}(" +
                     text_of("lr") + real + text_of("betas") + tuple({1, 2}) + text_of("foreach") +
                     "N" + text_of("params") + "](" + integer(1) + integer(0) + "eue" + "u");
  };
  const Tensor a = ones({2}).set_requires_grad(), b = ones({3}).set_requires_grad();
  for (const std::string& step : {integer(7), tensor_of("FloatStorage", "0", 5, 4, {}, {})}) {
    const auto path = folder_.write("o.pt", archive(pickled(step), floats({1, 2, 3, 4, 7})));
    optim::Adam optimizer({a, b});
    optimizer.load_state_dict(load_torch_optimizer(path, optimizer, "optimizer"));
    const nn::StateDict state = optimizer.state_dict();
    EXPECT_EQ(optimizer.lr(), 0.5);
    EXPECT_EQ(optimizer.momentum(), 1);
    EXPECT_EQ(state.at("state.0.step").item<int64_t>(), 7);
    EXPECT_EQ(state.at("state.0.exp_avg").to_vector<float>(), (std::vector<float>{1, 2}));
    EXPECT_EQ(state.at("state.0.exp_avg_sq").to_vector<float>(), (std::vector<float>{3, 4}));
    EXPECT_EQ(state.at("state.1.step").item<int64_t>(), 0);
    optim::Adam turned({b, a}), amsgrad({a, b}, {.amsgrad = true});
    optim::Adam third({a, b, ones({1}).set_requires_grad()});
    expect_refusals({
        {"o.pt: expected the state of a torch optimiser (state, param_groups)",
         [&] { load_torch_optimizer(path, optimizer); }},
        {"optimizer.state.1.exp_avg: expected float[3], got float[2]",
         [&] { load_torch_optimizer(path, turned, "optimizer"); }},
        {"expected 'optimizer.state.1.max_exp_avg_sq' in the state of a torch optimiser",
         [&] { load_torch_optimizer(path, amsgrad, "optimizer"); }},
        {"the torch optimiser has 2 parameters, this one has more",
         [&] { load_torch_optimizer(path, third, "optimizer"); }},
    });
  }
}

TEST_F(TorchFile, IsWrittenAsTorchWrites) {
  const Tensor w = arange(6).to(DType::kFloat).reshape({2, 3});
  nn::StateDict state{{"w", w}, {"tied", w}, {"empty", zeros({0, 2})}, {"number", full({}, 2.5)}};
  for (const DType dtype :
       {DType::kDouble, DType::kFloat16, DType::kBFloat16, DType::kInt64, DType::kInt32,
        DType::kInt16, DType::kInt8, DType::kUInt8, DType::kBool})
    state[text("of ", dtype)] = (arange(3) > 0).to(dtype);
  const auto path = folder_ / "out.pt";
  save(state, path);
  const nn::StateDict read = load(path);
  ASSERT_EQ(read.size(), state.size());
  for (const auto& [name, tensor] : state) {
    EXPECT_EQ(read.at(name).type(), tensor.type()) << name;
    EXPECT_TRUE(read.at(name).data() == tensor.data()) << name;
  }
  const ZipReader zip(path, "a file of torch.save");
  EXPECT_TRUE(zip.has("out/version"));
  EXPECT_TRUE(zip.has("out/data/0"));
  // Tied weights are one storage.
  EXPECT_FALSE(zip.has(text("out/data/", state.size() - 1)));
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const size_t at = bytes.find(floats({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(at % 64, 0u);
  expect_refusal(ErrorCode::kUnsupported,
                 "'w' has elements of type uint16, which torch.save has no storage for", [&] {
                   save({{"w", w.to(DType::kUInt16)}}, folder_ / "u.pt");
                 });
  EXPECT_FALSE(std::filesystem::exists(folder_ / "u.pt"));
}

TEST_F(TorchFile, CheckpointsComeBack) {
  using List = TorchObject::List;
  using Dict = TorchObject::Dict;
  const Tensor w = arange(6).to(DType::kFloat).reshape({2, 3});
  const TorchObject state{Dict{.keys = {{"w"s}}, .values = {{w}}, .is_ordered = true}};
  const TorchObject whole{Dict{
      .keys = {{"model"s}, {"epoch"s}, {int64_t{7}}, {"history"s}, {"best"s}, {"none"s}, {"on"s}},
      .values = {state,
                 {int64_t{3}},
                 {"seven"s},
                 {List{.items = {{0.5}, {-1e300}, {int64_t{1} << 40}}}},
                 {List{.items = {{int64_t{2}}, {"x"s}}, .is_tuple = true}},
                 {},
                 {true}}}};
  const auto path = folder_ / "checkpoint.pth.tar";
  save_torch_object(whole, path);
  const auto found = std::get<Dict>(load_torch_object(path).value);
  ASSERT_EQ(found.keys.size(), 7u);
  EXPECT_EQ(std::get<std::string>(found.keys[0].value), "model");
  const auto& model = std::get<Dict>(found.values[0].value);
  EXPECT_TRUE(std::get<Tensor>(model.values.at(0).value).data() == w.data());
  EXPECT_EQ(std::get<int64_t>(found.values[1].value), 3);
  EXPECT_EQ(std::get<int64_t>(found.keys[2].value), 7);
  EXPECT_EQ(std::get<std::string>(found.values[2].value), "seven");
  const auto& history = std::get<List>(found.values[3].value);
  EXPECT_FALSE(history.is_tuple);
  EXPECT_EQ(std::get<double>(history.items.at(1).value), -1e300);
  EXPECT_EQ(std::get<int64_t>(history.items.at(2).value), int64_t{1} << 40);
  EXPECT_TRUE(std::get<List>(found.values[4].value).is_tuple);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(found.values[5].value));
  EXPECT_TRUE(std::get<bool>(found.values[6].value));
  // The names of the tensors alone.
  const nn::StateDict tensors = load(path);
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_TRUE(tensors.at("model.w").data() == w.data());
  expect_refusal(ErrorCode::kUnsupported, "'model.w' has elements of type uint16", [&] {
    const TorchObject wide{Dict{.keys = {{"w"s}}, .values = {{w.to(DType::kUInt16)}}}};
    save_torch_object({Dict{.keys = {{"model"s}}, .values = {wide}}}, path);
  });
}

TEST_F(TorchFile, RefusedFiles) {
  const std::string data = floats({0, 1});
  const std::string good = tensor_of("FloatStorage", "0", 2, 0, {2}, {1});
  const std::string pickle = pickle_of(text_of("w") + good);
  const auto with_order = [&](const std::string& order) {
    return zip_of({{"m/data.pkl", pickle}, {"m/byteorder", order}, {"m/data/0", data}});
  };
  // Values that hold each other by what was stored under 0 and under 1.
  const auto thousand_of = [](const std::string& value, int thousands = 1) {
    std::string list = "](";
    for (int i = 0; i < 1000 * thousands; ++i)
      list += value;
    return list + "e";
  };
  EXPECT_EQ(read(with_order("little")).size(), 1u);
  expect_refusals({
      {"m.pt: not a file of torch.save", [&] { read("no zip"); }},
      {"it has no data.pkl",
       [&] {
         read(zip_of({{"a", "b"}}));
       }},
      {"its numbers are not little-endian", [&] { read(with_order("big")); }},
      {"its byteorder is none", [&] { read(with_order(std::string(17, ' '))); }},
      {"its pickle is too large",
       [&] { read(archive(std::string((size_t{64} << 20) + 1, ']'), data, true)); }},
      {"its values are nested too deep",
       [&] { read_pickled("\x80\2" + std::string(70, ']') + std::string(69, 'a') + ".", data); }},
      // A list that holds itself.
      {"its values are nested too deep", [&] { read_pickled("\x80\2]q\1h\1a.", data); }},
      {"it holds too many values",
       [&] {
         read_pickled("\x80\2" + thousand_of("N") + "q\0"s + thousand_of("h\0"s) + "q\1" +
                          thousand_of("h\1") + ".",
                      data);
       }},
      {"it holds too many tensors",
       [&] {
         read_pickled(
             "\x80\2" + good + "q\0"s + thousand_of("h\0"s) + "q\1" + thousand_of("h\1") + ".",
             data);
       }},
      {"the name 'a.0' stands in it twice",
       [&] {
         read_pickled(pickle_of(text_of("a.0") + good + text_of("a") + "]" + good + "a"), data);
       }},
  });
}

TEST_F(TorchFile, ExecutesNothing) {
  const std::string data = floats({0, 1});
  const std::string of_system = "cos\nsystem\n(" + text_of("true") + "tR.";
  expect_refusals({
      {"'os system', which is no part of a state_dict",
       [&] { read_pickled("\x80\2" + of_system, data); }},
      {"'builtins eval', which is no part of a state_dict",
       [&] { read_pickled("\x80\4" + text_of("builtins") + text_of("eval") + "\x93.", data); }},
  });
  // What ends early is refused. Any byte may be broken: it is refused or read as something else,
  // and never more.
  const std::string good = pickle_of(text_of("w") + tensor_of("FloatStorage", "0", 2, 0, {2}, {1}));
  const auto is_read = [&](const std::string& pickle) {
    try {
      read_pickled(pickle, data);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(is_read(good));
  for (size_t length = 0; length < good.size(); length += 3)
    EXPECT_FALSE(is_read(good.substr(0, length))) << length;
  const std::string values{'\0', '\x7f', 't', '(', '\xff'};
  for (size_t place = 0; place < good.size(); ++place) {
    std::string broken = good;
    broken[place] = values[place % values.size()];
    is_read(broken);
  }
}

// ---- pickles ----

Pickle pickle_in(const std::string& bytes) {
  return read_pickle(std::as_bytes(std::span(bytes)), "p");
}

TEST(Pickles, Numbers) {
  const std::pair<std::string, int64_t> integers[] = {
      {"J\xfe\xff\xff\xff", -2},
      {"K\xff", 255},
      {"M\1\2", 513},
      {"\x8a\0"s, 0},
      {"\x8a\1\xff", -1},
      {"\x8a\2\xff\0"s, 255},
      {"\x8b\1\0\0\0\x80"s, -128},
      {wide_integer(INT64_MIN), INT64_MIN},
  };
  for (const auto& [bytes, value] : integers) {
    const Pickle made = pickle_in("\x80\2" + bytes + ".");
    EXPECT_EQ(made.at(made.root).kind, Pickle::Kind::kInteger) << value;
    EXPECT_EQ(made.at(made.root).integer, value);
  }
  const Pickle real = pickle_in("\x80\2G\x3f\xf8\0\0\0\0\0\0."s);
  EXPECT_EQ(real.at(real.root).real, 1.5);
}

TEST(Pickles, ContainersAndWhatIsRecalled) {
  const std::string stores[] = {"q\5", "r\5\0\0\0"s, "\x94"};
  const std::string recalls[] = {"h\5", "j\5\0\0\0"s, "h\0"s};
  for (size_t i = 0; i < 3; ++i) {
    // A frame; a text that is stored; a tuple of it, a list of it and a dict with it, with
    // attributes that are passed over.
    const std::string& again = recalls[i];
    const Pickle made = pickle_in("\x80\4\x95\0\0\0\0\0\0\0\0\x8c\1w"s + stores[i] + "](" + again +
                                  "e}" + again + again + "s}b\x87.");
    const Pickle::PickleNode& all = made.at(made.root);
    ASSERT_EQ(all.items.size(), 3u);
    const uint32_t stored = all.items[0];
    EXPECT_EQ(made.at(stored).text, "w");
    EXPECT_EQ(made.at(all.items[1]).items, (std::vector{stored}));
    EXPECT_EQ(made.at(all.items[2]).items, (std::vector{stored, stored}));
  }
}

TEST(Pickles, WhatIsRefused) {
  const std::pair<std::string, const char*> pickles[] = {
      {"", "p: the pickle ends early (byte 0)"},
      {"\x80\2X\5\0\0\0ab"s, "the pickle ends early (byte 7)"},
      {"\x80\2ctorch", "the pickle ends early (byte 3)"},
      {"\x80\2Z", "opcode 90 has no place in a state_dict"},
      {"\x80\1", "protocol 1"},
      {"\x80\6", "protocol 6"},
      {"\x80\2.", "a value is missing (byte 3)"},
      {"\x80\2N(.", "a value is missing (byte 5)"},
      {"\x80\2q\0"s, "a value is missing (byte 4)"},
      {"\x80\2h\0"s, "it recalls what it did not store"},
      {"\x80\2t", "a mark is missing"},
      {"\x80\2\x8a\x09", "an integer of 9 bytes"},
      {"\x80\2}Na", "expected a list"},
      {"\x80\2Na", "expected a list"},
      {"\x80\2](Na", "expected a list"},
      {"\x80\2]Nb", "expected a dict that attributes are set on"},
      {"\x80\2}(Nu", "a dict's value is missing"},
      {"\x80\2(NNu", "expected a dict"},
      {"\x80\2](NNu", "expected a dict"},
      {"\x80\4NN\x93", "expected a global's name"},
      {"\x80\2N)R", "expected a call of a known object"},
      {"\x80\2ccollections\nOrderedDict\nNR", "expected a call of a known object"},
      {"\x80\2ccollections\nOrderedDict\nN\x85R", "an OrderedDict with arguments"},
      {std::string(2'000'000, ']'), "it has too many values"},
  };
  for (const auto& [bytes, mention] : pickles) {
    SCOPED_TRACE(mention);
    expect_refusal(ErrorCode::kInvalidArgument, mention, [&] { pickle_in(bytes); });
  }
}

}  // namespace
}  // namespace sardonyx::eager
