// An adapter whose bytes are written here: one parameter "w", float[2].
#include <array>
#include <cstring>

#include "executor/ort_abi/api_for_test.h"
#include "executor/ort_abi/lora.h"

namespace sardonyx::ort_abi {
namespace {

class Bytes {
 public:
  template <typename T>
  void put(size_t at, T value) {
    if (content.size() < at + sizeof value) content.resize(at + sizeof value);
    std::memcpy(content.data() + at, &value, sizeof value);
  }
  // A table's vtable of four fields, and where it refers to it.
  void table(size_t vtable, size_t at) {
    const uint16_t layout[] = {12, 20, 4, 8, 12, 16};
    for (size_t i = 0; i < 6; ++i)
      put(vtable + 2 * i, layout[i]);
    put<int32_t>(at, static_cast<int32_t>(at - vtable));
  }
  void refer(size_t from, size_t to) { put<uint32_t>(from, static_cast<uint32_t>(to - from)); }

  std::string content;
};

std::string adapter_bytes(const std::string& name, float first, float second) {
  Bytes file;
  file.refer(0, 20);
  file.put(4, std::array<char, 4>{'T', 'O', 'R', 'T'});
  file.table(8, 20);
  file.put<int32_t>(24, 1);  // format, adapter and model version
  file.put<int32_t>(28, 5);
  file.put<int32_t>(32, 7);
  file.refer(36, 40);
  file.put<uint32_t>(40, 1);  // parameters
  file.refer(44, 60);
  file.table(48, 60);
  file.refer(64, 80);
  file.refer(68, 92);
  file.put<int32_t>(72, 1);  // float
  file.refer(76, 108);
  file.put<uint32_t>(80, static_cast<uint32_t>(name.size()));
  for (size_t i = 0; i < name.size(); ++i)
    file.put<char>(84 + i, name[i]);
  file.put<char>(84 + name.size(), '\0');
  file.put<uint32_t>(92, 1);  // dims
  file.put<int64_t>(96, 2);
  file.put<uint32_t>(108, 8);
  file.put<float>(112, first);
  file.put<float>(116, second);
  return file.content;
}

class OrtLoraTest : public OrtApiTest {
 protected:
  OrtLoraAdapter* adapter(const std::string& bytes) {
    OrtLoraAdapter* made = nullptr;
    ok(api->CreateLoraAdapterFromArray(bytes.data(), bytes.size(), nullptr, &made));
    return made ? own(made, api->ReleaseLoraAdapter) : nullptr;
  }
};

TEST_P(OrtLoraTest, an_active_adapter_gives_its_parameters_to_runs) {
  const std::string bytes = adapter_bytes("w", 1, 2);
  OrtLoraAdapter* active = adapter(bytes);
  ASSERT_NE(active, nullptr);
  OrtRunOptions* with = nullptr;
  ok(api->CreateRunOptions(&with));
  own(with, api->ReleaseRunOptions);
  ok(api->RunOptionsAddActiveLoraAdapter(with, active));
  OrtSession* loaded = session(model_with_default());
  const OrtValue* x = tensor<float>({1, 1}, {2});
  std::vector<OrtValue*> y(1);
  ok(run(loaded, {"x"}, {x}, {"y"}, y, with));
  ASSERT_NE(y[0], nullptr);
  EXPECT_EQ(elements_of<float>(own(y[0], api->ReleaseValue)), (std::vector<float>{2, 3}));
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"x"}, {x}, "y")), (std::vector<float>{11, 21}));
}

TEST_P(OrtLoraTest, what_is_no_adapter_is_refused) {
  OrtLoraAdapter* made = nullptr;
  const std::string junk = "this is no adapter, whatever else it is";
  OrtStatus* status = api->CreateLoraAdapterFromArray(junk.data(), junk.size(), nullptr, &made);
  ASSERT_NE(status, nullptr);
  api->ReleaseStatus(status);
  status = api->CreateLoraAdapter("there is no such file", nullptr, &made);
  ASSERT_NE(status, nullptr);
  api->ReleaseStatus(status);
}

TEST_P(OrtLoraTest, written_adapters_are_read) {
  OrtLoraAdapter made{5, 7, {}};
  made.parameters["w"] = Tensor::of<float>({1, 2}, {2});
  const std::vector<std::byte> file = write_lora_adapter(made);
  OrtLoraAdapter* active = adapter({reinterpret_cast<const char*>(file.data()), file.size()});
  ASSERT_NE(active, nullptr);
  OrtRunOptions* with = nullptr;
  ok(api->CreateRunOptions(&with));
  own(with, api->ReleaseRunOptions);
  ok(api->RunOptionsAddActiveLoraAdapter(with, active));
  std::vector<OrtValue*> y(1);
  ok(run(session(model_with_default()), {"x"}, {tensor<float>({1, 1}, {2})}, {"y"}, y, with));
  EXPECT_EQ(elements_of<float>(own(y[0], api->ReleaseValue)), (std::vector<float>{2, 3}));
}

// Of names of any length and elements of any size, none among them.
TEST(OrtLora, adapters_are_written_as_they_are_read) {
  OrtLoraAdapter made{5, 7, {}};
  made.parameters[""] = Tensor::of<int8_t>({1, 2, 3}, {3});
  made.parameters["longer name"] = Tensor::of<int64_t>({-1, 1}, {2, 1});
  made.parameters["none"] = Tensor::allocate(DType::kFloat, {2, 0});
  made.parameters["scalar"] = Tensor::of<double>({0.5}, {});
  const OrtLoraAdapter read = read_lora_adapter(write_lora_adapter(made));
  EXPECT_EQ(read.adapter_version, 5);
  EXPECT_EQ(read.model_version, 7);
  ASSERT_EQ(read.parameters.size(), made.parameters.size());
  for (const auto& [name, tensor] : made.parameters) {
    const Tensor& again = read.parameters.at(name);
    EXPECT_EQ(again.dtype(), tensor.dtype()) << name;
    ASSERT_EQ(again.shape(), tensor.shape()) << name;
    EXPECT_EQ(std::memcmp(again.raw(), tensor.raw(), tensor.bytes()), 0) << name;
  }
  EXPECT_TRUE(read_lora_adapter(write_lora_adapter({})).parameters.empty());
}

// Every prefix, and every byte changed: refused or read, and nothing beyond the end is.
TEST(OrtLora, corrupt_adapters_are_read_within_their_bounds) {
  const std::string whole = adapter_bytes("w", 1, 2);
  const auto try_to_read = [](const std::string& bytes) {
    OrtLoraAdapter* made = nullptr;
    const std::vector<char> exact(bytes.begin(), bytes.end());  // its end is the block's
    OrtStatus* status =
        api()->CreateLoraAdapterFromArray(exact.data(), exact.size(), nullptr, &made);
    api()->ReleaseLoraAdapter(made);
    api()->ReleaseStatus(status);
    return status == nullptr;
  };
  EXPECT_TRUE(try_to_read(whole));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(try_to_read(whole.substr(0, size))) << size;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char change : {'\x01', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      try_to_read(changed);
    }
  }
}

ORT_API_TESTS(OrtLoraTest);

}  // namespace
}  // namespace sardonyx::ort_abi
