#include "eager/files/state_files.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn/linear.h"
#include "eager/optim/optimizer.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "onnx_io/npz.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

class StateFiles : public testing::Test {
 protected:
  std::filesystem::path at(const std::string& name) const { return folder_ / name; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    return folder_.write(name, bytes);
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(StateFiles, OfModulesAndOptimisers) {
  const nn::Linear net(3, 2);
  optim::Adam optimizer(net.parameters());
  net(randn({4, 3})).sum().backward();
  optimizer.step();
  save(net, at("net.safetensors"));
  save(optimizer, at("optimizer.safetensors"));
  nn::Linear other(3, 2);
  optim::Adam follower(other.parameters());
  load(other, at("net.safetensors"));
  load(follower, at("optimizer.safetensors"));
  EXPECT_EQ((other.weight - net.weight).abs().max().item<float>(), 0);
  const nn::StateDict wanted = optimizer.state_dict(), got = follower.state_dict();
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [name, value] : wanted)
    EXPECT_TRUE(equal(got.at(name), value)) << name;
}

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
}

TEST_F(StateFiles, WhatCannotBeSaved) {
  expect_refusals({
      {"a.txt: expected a name in .safetensors, .npz, .pt, .pth, .bin, .ckpt or .tar",
       [&] { save({}, at("a.txt")); }},
      {"a.txt: expected a name in .safetensors, .npz, .pt, .pth, .bin, .ckpt or .tar",
       [&] { load(at("a.txt")); }},
      {"a name or metadata is not UTF-8",
       [&] {
         save({{"\xff", ones({1})}}, at("a.safetensors"));
       }},
      {"the name 'w' stands in it twice",
       [&] {
         NpzWriter writer(at("twice.npz"));
         writer.add("w", sardonyx::Tensor::scalar(1.f));
         writer.add("w", sardonyx::Tensor::scalar(2.f));
         writer.close();
         load(at("twice.npz"));
       }},
  });
  const auto unsupported = ErrorCode::kUnsupported;
  const Tensor words = Tensor::of<std::string>({"a"}, {1});
  expect_refusal(unsupported, "'words' (string) cannot stand in a safetensors file", [&] {
    save({{"words", words}}, at("a.safetensors"));
  });
  expect_refusal(unsupported, "'__metadata__' (float) cannot stand in a safetensors file", [&] {
    save({{"__metadata__", ones({1})}}, at("a.safetensors"));
  });
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
  const auto load_bytes = [&](const std::string& bytes) {
    return [this, bytes] { load_safetensors(write("s", bytes)); };
  };
  const std::string half = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
                    late = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                    vast = R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],)"
                           R"("data_offsets":[0,8]}})",
                    truth = R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})";
  expect_refusals({
      {"no safetensors file: it has 7 bytes", load_bytes(whole.substr(0, 7))},
      {"no safetensors file: its header claims 54 bytes", load_bytes(whole.substr(0, 61))},
      {"s: no safetensors file: 'a' of shape [4294967296, 4294967296]: ",
       load_bytes(with_header(vast, "12345678"))},
      {"no safetensors file: its header has no object", load_bytes(with_header("[]", ""))},
      {"'a' claims bytes 8 to 16 of 8, after byte 0", load_bytes(with_header(late, "12345678"))},
      {"'a' of shape [2] takes 8 bytes, not 4", load_bytes(with_header(half, "1234"))},
      {"its tensors take 8 bytes of 9", load_bytes(whole + "9")},
      {"'a' has a bool of value 49", load_bytes(with_header(truth, "1"))},
  });
}

}  // namespace
}  // namespace sardonyx::eager
