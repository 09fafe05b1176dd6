#include "onnx_io/tensor_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "ir/value_compare.h"
#include "onnx_io/test_model.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

class TensorFile : public ::testing::Test {
 protected:
  NamedDatum round_trip(const Datum& value, const std::optional<Type>& type = std::nullopt) {
    write_tensor_file(path(), "name", value);
    return read_tensor_file(path(), type);
  }
  std::filesystem::path path() const { return folder_.path() / "input_0.pb"; }
  void write(const std::string& bytes) { std::ofstream(path(), std::ios::binary) << bytes; }

 private:
  TemporaryFolder folder_;
};

const Tensor kOne = Tensor::vector<float>({1, 2}), kTwo = Tensor::vector<float>({3});

TEST_F(TensorFile, Tensors) {
  const NamedDatum read = round_trip(kOne);
  EXPECT_EQ(read.name, "name");
  EXPECT_EQ(read.value.tensor(), kOne);
  const Tensor strings = Tensor::vector<std::string>({"a", ""});
  EXPECT_EQ(round_trip(strings).value.tensor(), strings);
}

TEST_F(TensorFile, Sequences) {
  const Type type = Type::sequence(Type::tensor(DType::kFloat));
  const NamedDatum read = round_trip(Sequence{Type::tensor(DType::kFloat), {kOne, kTwo}}, type);
  ASSERT_EQ(read.value.sequence().items.size(), 2u);
  EXPECT_EQ(read.value.sequence().items[1].tensor(), kTwo);
  const NamedDatum empty = round_trip(Sequence{Type::tensor(DType::kFloat), {}}, type);
  EXPECT_TRUE(empty.value.sequence().items.empty());
  EXPECT_EQ(empty.value.sequence().element.dtype, DType::kFloat);
}

TEST_F(TensorFile, Optionals) {
  const Type type = Type::optional(Type::tensor(DType::kFloat));
  const Type element = Type::tensor(DType::kFloat);
  const NamedDatum some = round_trip(OptionalDatum{element, {kOne}}, type);
  EXPECT_EQ(some.value.optional().value()->tensor(), kOne);
  EXPECT_EQ(round_trip(OptionalDatum{element, {}}, type).value.optional().value(), nullptr);
}

TEST_F(TensorFile, Maps) {
  const Type type = Type::map(DType::kString, Type::tensor(DType::kFloat));
  const NamedDatum read = round_trip(Map{Tensor::vector<std::string>({"a", "b"}), kOne}, type);
  EXPECT_EQ(read.value.map().keys, Tensor::vector<std::string>({"a", "b"}));
  EXPECT_EQ(read.value.map().values, kOne);
}

// Everything in everything else.
TEST_F(TensorFile, ValuesInValues) {
  const Type floats = Type::tensor(DType::kFloat);
  const Tensor keys = Tensor::vector<int64_t>({5, 7});
  const SparseTensor sparse{kOne, Tensor::vector<int64_t>({0, 3}), {4}};
  const Map map{keys, kOne};
  const Sequence sequence{floats, {kOne, kTwo}};
  const OptionalDatum optional{floats, {kTwo}};
  for (const Datum& item :
       {Datum(kOne), Datum(sparse), Datum(sequence), Datum(map), Datum(optional)}) {
    SCOPED_TRACE(item.type());
    const Type type = item.type();
    const Datum in_sequence = Sequence{type, {item, item}},
                in_optional = OptionalDatum{type, {item}};
    for (const Datum& whole : {in_sequence, in_optional}) {
      const Datum read = round_trip(whole, whole.type()).value;
      EXPECT_EQ(compare(read, whole, {}).reason, "");
      EXPECT_TRUE(read.has_kind(whole.type())) << read.type();
    }
  }
  EXPECT_EQ(compare(round_trip(sparse, Datum(sparse).type()).value, sparse, {}).reason, "");
  const Map empty{Tensor::vector<int64_t>({}), Tensor::vector<float>({})};
  EXPECT_EQ(round_trip(empty, Type::map(DType::kInt64, floats)).value.map().keys.count(), 0);
  const Map words{keys, Tensor::vector<std::string>({"a", "b"})};
  EXPECT_EQ(round_trip(words, Datum(words).type()).value.map().values, words.values);
}

TEST_F(TensorFile, RefusesWhatIsNoTensor) {
  EXPECT_THROW(read_tensor_file(path()), Error);
  write("no tensor");
  EXPECT_THROW(read_tensor_file(path()), Error);
  onnx_schema::TensorProto external;
  external.set_data_type(1);
  external.add_dims(1);
  external.set_data_location(onnx_schema::TensorProto::EXTERNAL);
  auto& entry = *external.add_external_data();
  entry.set_key("location");
  entry.set_value("input_0.pb");
  write(onnx_export::serialized(external));
  EXPECT_THROW(read_tensor_file(path()), Error);
}

}  // namespace
}  // namespace sardonyx
