// Initializers in every form.
#include "onnx_io/import/decode_tensor.h"

#include <gmock/gmock.h>

#include <complex>
#include <fstream>

#include "onnx_io/test_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

using namespace test;
using onnx_import::TensorDecoder;
using onnx_schema::SparseTensorProto;
using onnx_schema::TensorProto;
using ::testing::AllOf;
using ::testing::HasSubstr;

TensorProto header(DType dtype, const Shape& shape) {
  TensorProto proto;
  proto.set_data_type(static_cast<int>(dtype));
  for (const int64_t dim : shape)
    proto.add_dims(dim);
  return proto;
}

Tensor decoded(TensorProto proto, const LoadLimits& limits = {}) {
  return TensorDecoder(limits, nullptr).tensor(proto);
}

std::string error_of(const TensorProto& proto, const LoadLimits& limits = {}) {
  try {
    decoded(proto, limits);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(DecodeTensor, TypedFields) {
  TensorProto proto = header(DType::kFloat, {2});
  proto.add_float_data(1);
  proto.add_float_data(-2);
  EXPECT_EQ(decoded(proto), Tensor::vector<float>({1, -2}));
  proto = header(DType::kInt8, {2});
  proto.add_int32_data(-3);
  proto.add_int32_data(127);
  EXPECT_EQ(decoded(proto), Tensor::vector<int8_t>({-3, 127}));
  proto = header(DType::kUInt16, {1});
  proto.add_int32_data(65535);
  EXPECT_EQ(decoded(proto), Tensor::vector<uint16_t>({65535}));
  proto = header(DType::kBool, {3});
  for (const int value : {0, 1, 7})
    proto.add_int32_data(value);
  EXPECT_EQ(decoded(proto).to_int64s(), (std::vector<int64_t>{0, 1, 1}));
  proto = header(DType::kFloat16, {1});
  proto.add_int32_data(0x3c00);
  EXPECT_EQ(decoded(proto).to_doubles(), (std::vector<double>{1}));
  proto = header(DType::kUInt32, {1});
  proto.add_uint64_data(4000000000);
  EXPECT_EQ(decoded(proto), Tensor::vector<uint32_t>({4000000000}));
  proto = header(DType::kComplex64, {1});
  proto.add_float_data(1);
  proto.add_float_data(2);
  EXPECT_EQ(decoded(proto), Tensor::vector<std::complex<float>>({{1, 2}}));
  proto = header(DType::kString, {});
  proto.add_string_data(std::string("a\0b", 3));
  EXPECT_EQ(decoded(proto), Tensor::scalar(std::string("a\0b", 3)));
  proto = header(DType::kInt4, {3});
  proto.add_int32_data(0xf1);
  proto.add_int32_data(0x02);
  EXPECT_EQ(decoded(proto).to_int64s(), (std::vector<int64_t>{1, -1, 2}));
}

TEST(DecodeTensor, RawData) {
  TensorProto proto = header(DType::kInt16, {2});
  proto.set_raw_data(std::string("\x01\x00\xff\xff", 4));
  EXPECT_EQ(decoded(proto), Tensor::vector<int16_t>({1, -1}));
  proto = header(DType::kBool, {2});
  proto.set_raw_data(std::string("\x02\x00", 2));
  EXPECT_EQ(decoded(proto).to_int64s(), (std::vector<int64_t>{1, 0}));
  const std::vector<float> many(5000, 1.5f);  // large enough to be taken over
  EXPECT_EQ(decoded(onnx_export::encode(Tensor::vector(many), "")), Tensor::vector(many));
  EXPECT_EQ(decoded(header(DType::kFloat, {0, 4})).shape(), (Shape{0, 4}));
}

TEST(DecodeTensor, EveryTypeSurvivesEncoding) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    SCOPED_TRACE(name_of(dtype));
    Tensor tensor = Tensor::zeros(dtype, {2, 3});
    if (dtype == DType::kString) tensor.mutable_values<std::string>()[4] = "text";
    EXPECT_EQ(decoded(onnx_export::encode(tensor, "x")), tensor);
  }
}

TEST(DecodeTensor, RefusesWrongAmounts) {
  TensorProto proto = header(DType::kFloat, {3});
  EXPECT_THAT(error_of(proto), AllOf(HasSubstr("0 elements"), HasSubstr("expected 3")));
  proto.set_raw_data("12345678");
  EXPECT_THAT(error_of(proto), AllOf(HasSubstr("8 bytes"), HasSubstr("expected 12")));
  proto.add_float_data(1);
  EXPECT_THAT(error_of(proto), HasSubstr("both"));
  proto = header(DType::kFloat, {1});
  proto.add_int64_data(1);
  EXPECT_THAT(error_of(proto), HasSubstr("int64_data"));
  proto = header(DType::kString, {1});
  proto.set_raw_data("x");
  EXPECT_THAT(error_of(proto), HasSubstr("string elements in raw_data, expected string_data"));
  proto = header(DType::kInt8, {1});
  proto.add_int32_data(300);
  EXPECT_THAT(error_of(proto), HasSubstr("300"));
}

TEST(DecodeTensor, RefusesBadShapesAndTypes) {
  EXPECT_THAT(error_of(header(DType::kFloat, {-3})), HasSubstr("negative"));
  EXPECT_THAT(error_of(header(DType::kFloat, {int64_t{1} << 62})), HasSubstr("float"));
  EXPECT_THAT(error_of(header(DType::kFloat, {3, 6148914691236517206})), HasSubstr("overflow"));
  EXPECT_THAT(error_of(header(DType::kFloat, Shape(65, 1))), HasSubstr("65 dims"));
  EXPECT_THAT(error_of(header(DType::kUndefined, {1})), HasSubstr("UNDEFINED"));
  TensorProto unknown = header(DType::kFloat, {1});
  unknown.set_data_type(999);
  EXPECT_THAT(error_of(unknown), HasSubstr("999"));
  LoadLimits limits;
  limits.tensor_bytes = 8;
  EXPECT_THAT(error_of(header(DType::kFloat, {3}), limits), HasSubstr("limit of 8"));
}

SparseTensorProto sparse(const Tensor& values, const Tensor& indices, const Shape& shape) {
  SparseTensorProto proto;
  *proto.mutable_values() = onnx_export::encode(values, "s");
  *proto.mutable_indices() = onnx_export::encode(indices, "");
  for (const int64_t dim : shape)
    proto.add_dims(dim);
  return proto;
}

TEST(DecodeSparse, LinearAndCoordinateIndices) {
  const Tensor values = Tensor::vector<float>({5, 7});
  const Tensor dense = Tensor::of<float>({0, 5, 0, 7}, {2, 2});
  SparseTensorProto linear = sparse(values, Tensor::vector<int64_t>({1, 3}), {2, 2});
  EXPECT_EQ(TensorDecoder({}, nullptr).dense(linear), dense);
  SparseTensorProto pairs = sparse(values, Tensor::of<int64_t>({0, 1, 1, 1}, {2, 2}), {2, 2});
  EXPECT_EQ(TensorDecoder({}, nullptr).dense(pairs), dense);
}

TEST(DecodeSparse, RefusesWhatDoesNotFit) {
  const Tensor values = Tensor::vector<float>({5});
  const LoadLimits limits;
  const auto refuses = [&](SparseTensorProto proto) {
    EXPECT_THROW(TensorDecoder(limits, nullptr).dense(proto), Error);
  };
  refuses(sparse(values, Tensor::vector<int64_t>({4}), {2, 2}));
  refuses(sparse(values, Tensor::vector<int64_t>({-1}), {2, 2}));
  refuses(sparse(values, Tensor::vector<int64_t>({0, 1}), {2, 2}));
  refuses(sparse(values, Tensor::vector<int32_t>({0}), {2, 2}));
  const Tensor two = Tensor::vector<float>({5, 7});
  refuses(sparse(two, Tensor::vector<int64_t>({3, 1}), {2, 2}));
  refuses(sparse(two, Tensor::vector<int64_t>({1, 1}), {2, 2}));
  refuses(sparse(two, Tensor::of<int64_t>({1, 0, 0, 1}, {2, 2}), {2, 2}));
  refuses(sparse(values, Tensor::vector<int64_t>({0}), {int64_t{1} << 20, int64_t{1} << 20}));
  refuses(SparseTensorProto());
}

TEST(DecodeTensor, RefusesSegmentsAndTotals) {
  TensorProto segment = header(DType::kFloat, {1});
  segment.mutable_segment();
  EXPECT_THAT(error_of(segment), HasSubstr("only a segment"));
  LoadLimits limits;
  limits.total_bytes = 6;
  TensorDecoder decoder(limits, nullptr);
  TensorProto first = onnx_export::encode(Tensor::vector<float>({1}), "");
  TensorProto second = first;
  decoder.tensor(first);
  expect_refusal(ErrorCode::kResourceExhausted, "together take more than the limit of 6 bytes",
                 [&] { decoder.tensor(second); });
  for (const int value : {-129, 256}) {
    TensorProto proto = header(DType::kUInt8, {1});
    proto.add_int32_data(value);
    EXPECT_THAT(error_of(proto), HasSubstr("does not fit the element type")) << value;
  }
}

TEST(DecodeSparse, SaysWhatDoesNotFit) {
  const Tensor two = Tensor::vector<float>({5, 7});
  const auto indices = [](std::vector<int64_t> values) { return Tensor::vector(values); };
  const std::pair<SparseTensorProto, const char*> faults[] = {
      {SparseTensorProto(), "lacks its values or its indices"},
      {sparse(Tensor::of<float>({5, 7}, {1, 2}), indices({0, 1}), {4}), "expected one dim"},
      {sparse(two, indices({0}), {4}), "expected int64[2] or int64[2, 1]"},
      {sparse(two, Tensor::vector<int32_t>({0, 1}), {4}), "are int32[2], expected int64[2]"},
      {sparse(two, indices({3, 1}), {4}), "not in ascending order at entry 1"},
      {sparse(two, Tensor::of<int64_t>({1, 1, 1, 0}, {2, 2}), {2, 2}), "not in ascending order"},
      {sparse(two, indices({1, 4}), {4}), "index 4 is outside its 4 elements"},
      {sparse(two, indices({-1, 1}), {4}), "index -1 is outside its 4 elements"},
      {sparse(two, Tensor::of<int64_t>({0, 0, 0, 2}, {2, 2}), {2, 2}), "index 2 is outside dim 1"},
      {sparse(two, Tensor::of<int64_t>({-1, 0, 0, 1}, {2, 2}), {2, 2}), "index -1 is outside dim"},
  };
  for (auto [proto, mention] : faults) {
    expect_refusal(ErrorCode::kInvalidModel, mention,
                   [&, &proto = proto] { TensorDecoder({}, nullptr).dense(proto); });
  }
  LoadLimits limits;
  limits.expanded_bytes = 15;
  SparseTensorProto large = sparse(two, indices({0, 1}), {4});
  expect_refusal(ErrorCode::kResourceExhausted, "takes 16 bytes when dense",
                 [&] { TensorDecoder(limits, nullptr).dense(large); });
}

// ---- external data ----

struct ExternalModel {
  TemporaryFolder folder;
  ModelBuilder builder;
  TensorProto* tensor = nullptr;

  ExternalModel() {
    builder.graph().output("w");
    tensor = builder.proto.mutable_graph()->add_initializer();
    *tensor = header(DType::kFloat, {2});
    tensor->set_name("w");
    tensor->set_data_location(TensorProto::EXTERNAL);
    std::filesystem::create_directories(folder.path() / "model" / "sub");
    write("model/w.bin", Tensor::vector<float>({0, 1, 2, 3}));
    write("outside.bin", Tensor::vector<float>({8, 9}));
  }
  void write(const std::string& name, const Tensor& content) const {
    std::ofstream(folder.path() / name, std::ios::binary)
        .write(static_cast<const char*>(content.raw()),
               static_cast<std::streamsize>(content.bytes()));
  }
  void entry(const std::string& key, const std::string& value) const {
    auto& added = *tensor->add_external_data();
    added.set_key(key);
    added.set_value(value);
  }
  Tensor load(const LoadOptions& options = {}) const {
    const std::filesystem::path path = folder.path() / "model" / "model.onnx";
    std::ofstream(path, std::ios::binary) << builder.bytes();
    return *load_model(path, options).graph->outputs()[0]->constant;
  }
  std::string error(const std::string& location, const std::string& offset = "0",
                    const std::string& length = "8") const {
    tensor->clear_external_data();
    entry("location", location);
    entry("offset", offset);
    entry("length", length);
    try {
      load();
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST(ExternalData, IsMappedOrRead) {
  const ExternalModel model;
  model.entry("location", "w.bin");
  EXPECT_EQ(model.load(), Tensor::vector<float>({0, 1}));
  model.entry("offset", "8");
  EXPECT_EQ(model.load(), Tensor::vector<float>({2, 3}));
  LoadOptions copies;
  copies.map_external_data = false;
  EXPECT_EQ(model.load(copies), Tensor::vector<float>({2, 3}));
}

TEST(ExternalData, HasKnownKeysAlone) {
  const ExternalModel model;
  model.entry("location", "w.bin");
  model.entry("checksum", "of something");
  model.entry("prepacked_0", "by another runtime");
  EXPECT_EQ(model.load(), Tensor::vector<float>({0, 1}));
  model.entry("compression", "zip");
  try {
    model.load();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has the unknown key \"compression\""));
  }
}

// The length of the tensor is taken, with a warning.
TEST(ExternalData, MayHaveALengthOfZero) {
  const ExternalModel model;
  EXPECT_EQ(model.error("w.bin", "8", "0"), "");
  std::vector<std::string> warnings;
  LoadOptions options;
  options.on_warning = [&](const LoadWarning& warning) { warnings.push_back(warning.name); };
  EXPECT_EQ(model.load(options), Tensor::vector<float>({2, 3}));
  EXPECT_EQ(warnings, (std::vector<std::string>{"external-length"}));
  EXPECT_THAT(model.error("w.bin", "12", "0"), HasSubstr("is past the end"));
  options.strict = true;
  EXPECT_THROW(model.load(options), Error);
}

TEST(ExternalData, StaysBeneathTheModelsFolder) {
  const ExternalModel model;
  const auto link = [&](const std::string& target, const std::string& name) {
    std::filesystem::create_symlink(target, model.folder.path() / "model" / name);
  };
  EXPECT_EQ(model.error("sub/../w.bin"), "");
  EXPECT_EQ(model.error("./w.bin"), "");
  for (const char* location : {"../outside.bin", "sub/../../outside.bin", "./.././outside.bin"}) {
    EXPECT_THAT(model.error(location), HasSubstr("leaves")) << location;
  }
  EXPECT_THAT(model.error((model.folder.path() / "outside.bin").string()), HasSubstr("absolute"));
  EXPECT_THAT(model.error("sub"), HasSubstr("directory"));
  EXPECT_THAT(model.error("missing.bin"), HasSubstr("can't be opened: No such file"));
  EXPECT_THAT(model.error(""), HasSubstr("external_data has no location, expected a file's path"));
  link("w.bin", "inside");
  EXPECT_EQ(model.error("inside"), "");
  link("../outside.bin", "outside");
  EXPECT_THAT(model.error("outside"), HasSubstr("leaves"));
  link((model.folder.path() / "outside.bin").string(), "absolute");
  EXPECT_THAT(model.error("absolute"), HasSubstr("outside"));
  link("..", "parent");
  EXPECT_THAT(model.error("parent/outside.bin"), HasSubstr("leaves"));
  link("loop", "loop");
  EXPECT_THAT(model.error("loop"), HasSubstr("loop"));
}

TEST(ExternalData, AllowedRootWidensTheFolder) {
  const ExternalModel model;
  model.entry("location", "../outside.bin");
  LoadOptions options;
  options.allowed_root = model.folder.path();
  EXPECT_EQ(model.load(options), Tensor::vector<float>({8, 9}));
  options.allowed_root = model.folder.path() / "model" / "sub";
  expect_refusal(ErrorCode::kInvalidArgument, "does not hold the model's folder",
                 [&] { model.load(options); });
}

TEST(ExternalData, NumbersAreChecked) {
  const ExternalModel model;
  EXPECT_THAT(model.error("w.bin", "-4"), HasSubstr("offset"));
  EXPECT_THAT(model.error("w.bin", "12abc"), HasSubstr("12abc"));
  EXPECT_THAT(model.error("w.bin", "12", "8"), HasSubstr("past the end"));
  EXPECT_THAT(model.error("w.bin", "18446744073709551615"), HasSubstr("past the end"));
  EXPECT_THAT(model.error("w.bin", "0", "4"), HasSubstr("expected 8"));
  EXPECT_THAT(model.error("w.bin", "0", "4611686018427387904"), HasSubstr("expected 8"));
  EXPECT_EQ(model.error("w.bin", "2"), "");  // not aligned: copied
}

TEST(ExternalData, IsAllThereIs) {
  const ExternalModel model;
  model.tensor->add_float_data(1);
  EXPECT_THAT(model.error("w.bin"), HasSubstr("is external and holds data as well"));
  model.tensor->clear_float_data();
  model.tensor->set_data_type(TensorProto::STRING);
  EXPECT_THAT(model.error("w.bin"), HasSubstr("string tensors can't be external"));
  model.tensor->set_data_type(TensorProto::FLOAT);
  EXPECT_THAT(model.error("w\xff"), HasSubstr("UTF-8"));
  EXPECT_THAT(model.error(std::string("w\0b", 3)), HasSubstr("NUL byte"));
}

TEST(ExternalData, NeedsAFolder) {
  const ExternalModel model;
  model.entry("location", "w.bin");
  EXPECT_THAT(load_error(model.builder), HasSubstr("allowed_root"));
  LoadOptions options;
  options.allowed_root = model.folder.path() / "model";
  EXPECT_THAT(load_error(model.builder, options), "");
}

}  // namespace
}  // namespace sardonyx
