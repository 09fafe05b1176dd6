#include "eager/files/state_files.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <fstream>

#include "eager/create.h"
#include "eager/functional.h"
#include "ir/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

class StateFiles : public testing::Test {
 protected:
  StateFiles()
      : folder_(std::filesystem::temp_directory_path() /
                ("sardonyx_files_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~StateFiles() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path at(const std::string& name) const { return folder_ / name; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
    return at(name);
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

nn::StateDict sample_state() {
  return {{"fc.weight", tensor({{1.f, -2.f}, {3.f, 4.5f}})},
          {"fc.half", tensor({0.5f, 2.f}).to(DType::kBFloat16)},
          {"steps", Tensor::scalar<int64_t>(7)},
          {"mask", Tensor::of<bool>({true, false, true}, {3})},
          {"none", zeros({0, 4})},
          {"wide", tensor({1e300, -1.0})}};
}

void expect_equal(const nn::StateDict& a, const nn::StateDict& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    ASSERT_TRUE(b.contains(name)) << name;
    EXPECT_TRUE(tensor.data() == b.at(name).data()) << name;
  }
}

template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(StateFiles, SafetensorsComeBack) {
  save_safetensors(sample_state(), at("a.safetensors"), {{"made by", "a \"test\""}});
  Metadata metadata;
  expect_equal(sample_state(), load_safetensors(at("a.safetensors"), &metadata));
  EXPECT_EQ(metadata.at("made by"), "a \"test\"");
  save(sample_state(), at("b.safetensors"));
  save(sample_state(), at("c.safetensors"));
  EXPECT_EQ(read(at("b.safetensors")), read(at("c.safetensors")));
  expect_equal(sample_state(), load(at("b.safetensors")));
  save({}, at("d.safetensors"));
  EXPECT_TRUE(load(at("d.safetensors")).empty());
}

TEST_F(StateFiles, NpzComesBackWidened) {
  save(sample_state(), at("a.npz"));
  nn::StateDict expected = sample_state();
  expected["fc.half"] = expected["fc.half"].to(DType::kFloat);
  expect_equal(expected, load(at("a.npz")));
  EXPECT_THROW(save({}, at("a.pt")), Error);
  EXPECT_THROW(save({}, at("a.txt")), Error);
  EXPECT_THROW(load(at("a.txt")), Error);
}

std::string with_header(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

TEST_F(StateFiles, BrokenSafetensorsAreRefused) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(load_safetensors(write("s", with_header(good, "12345678"))).size(), 1u);
  const std::string whole = with_header(good, "12345678");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(load_safetensors(write("s", whole.substr(0, length))), Error) << length;
  const char* headers[] = {
      R"([])",
      R"({"a":[]})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} x)",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})",
      R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","data_offsets":[0,8]}})",
      R"({"a":{"shape":[2],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[2]}})",
      R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"b":{}}})",
      R"({"a":{"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]}})",
      R"({"__metadata__":{"a":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      R"({})",
  };
  for (const char* header : headers)
    EXPECT_THROW(load_safetensors(write("s", with_header(header, "12345678"))), Error) << header;
  EXPECT_THROW(load_safetensors(write("s", with_header(std::string(1 << 20, '['), ""))), Error);
}

// --- torch's files, written as torch.save writes them ---

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

TEST_F(StateFiles, TorchStateDict) {
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
    const nn::StateDict state = load(write("m.pt", archive(pickle, data, deflate)));
    EXPECT_EQ(state.size(), 4u);
    EXPECT_EQ(state.at("fc.weight").shape(), (Dims{2, 3}));
    EXPECT_EQ(state.at("turned").to_vector<float>(), (std::vector<float>{1, 4, 2, 5}));
    EXPECT_EQ(state.at("parameter").to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(state.at("inner.list.0").item<float>(), 5);
  }
}

TEST_F(StateFiles, TorchFilesExecuteNothing) {
  const std::string data = floats({0, 1});
  const auto attempt = [&](const std::string& pickle) {
    return message_of([&] { load_torch(write("m.pt", archive(pickle, data))); });
  };
  const std::string system = attempt(
      "\x80\x02"
      "cos\nsystem\n(" +
      text_of("true") + "tR.");
  EXPECT_NE(system.find("'os system'"), system.npos) << system;
  EXPECT_NE(attempt("\x80\x04" + text_of("builtins") + text_of("eval") + "\x93.").find("eval"),
            std::string::npos);
  for (const std::string& reach :
       {tensor_of("FloatStorage", "0", 2, 1, {2}, {1}),
        tensor_of("FloatStorage", "0", 2, 0, {2}, {2}),
        tensor_of("FloatStorage", "0", 2, -1, {1}, {1}),
        tensor_of("FloatStorage", "0", 3, 0, {3}, {1}),
        tensor_of("FloatStorage", "1", 2, 0, {2}, {1}),
        tensor_of("FloatStorage", "0", 2, 0, {9, 9}, {0, 0}),
        tensor_of("FloatStorage", "0", 2, 0, {2}, {1, 1}),
        tensor_of("OddStorage", "0", 2, 0, {2}, {1}), tensor_of("BoolStorage", "0", 8, 0, {8}, {1}),
        tensor_of("FloatStorage", "0", 2, 0, {-1}, {1}),
        tensor_of("FloatStorage", "0", 2, 0, {2, 1, 2}, {0x7fffffff, 0x7fffffff, 0x7fffffff})}) {
    EXPECT_NE(attempt(pickle_of(text_of("w") + reach)), "");
  }
  // A list that holds itself, lists in lists without end, and what ends early.
  EXPECT_NE(attempt("\x80\x02]q\1h\1a."), "");
  const std::string deep(200000, ']');
  EXPECT_NE(attempt("\x80\x02" + deep + std::string(199999, 'a') + "."), "");
  const std::string good = pickle_of(text_of("w") + tensor_of("FloatStorage", "0", 2, 0, {2}, {1}));
  EXPECT_EQ(attempt(good), "");
  for (size_t length = 0; length < good.size(); length += 3)
    EXPECT_NE(attempt(good.substr(0, length)), "") << length;
  // Any byte may be broken: it is refused or read as something else, and never more.
  const std::string values{'\0', '\x7f', 't', '(', '\xff'};
  for (size_t place = 0; place < good.size(); ++place) {
    std::string broken = good;
    broken[place] = values[place % values.size()];
    attempt(broken);
  }
  EXPECT_NE(message_of([&] { load_torch(write("m.pt", "no zip")); }), "");
  EXPECT_NE(message_of([&] { load_torch(write("m.pt", zip_of({{"a", "b"}}))); }), "");
}

}  // namespace
}  // namespace sardonyx::eager
