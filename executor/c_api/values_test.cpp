// Values of every kind go through the C interface as they are, and what can't be one is refused.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "executor/session.h"
#include "onnx_io/save.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

using ValueHandle = std::unique_ptr<sx_value, decltype(&sx_value_destroy)>;

ValueHandle taken(sx_value* value) {
  return {value, &sx_value_destroy};
}

ValueHandle floats(const std::vector<float>& elements) {
  const auto count = static_cast<int64_t>(elements.size());
  sx_value* value = nullptr;
  EXPECT_EQ(
      sx_value_create_tensor(SX_FLOAT, &count, 1, elements.data(), elements.size() * 4, &value),
      SX_OK)
      << sx_last_error();
  return taken(value);
}

ValueHandle int64s(const std::vector<int64_t>& elements) {
  const auto count = static_cast<int64_t>(elements.size());
  sx_value* value = nullptr;
  EXPECT_EQ(
      sx_value_create_tensor(SX_INT64, &count, 1, elements.data(), elements.size() * 8, &value),
      SX_OK)
      << sx_last_error();
  return taken(value);
}

ValueHandle strings(const std::vector<const char*>& elements) {
  const auto count = static_cast<int64_t>(elements.size());
  sx_value* value = nullptr;
  EXPECT_EQ(sx_value_create_strings(&count, 1, elements.data(), nullptr, &value), SX_OK);
  return taken(value);
}

std::vector<float> elements_of(const sx_value* value) {
  sx_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  EXPECT_EQ(sx_value_tensor(value, &tensor), SX_OK) << sx_last_error();
  EXPECT_EQ(tensor.dtype, SX_FLOAT);
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + tensor.size / 4};
}

void expect_refused(sx_status status, const char* mention, sx_status wanted = SX_INVALID_ARGUMENT) {
  EXPECT_EQ(status, wanted) << mention;
  EXPECT_NE(std::string(sx_last_error()).find(mention), std::string::npos)
      << "expected \"" << mention << "\" in \"" << sx_last_error() << '"';
}

// A session that gives back its one input, of type `type`.
struct Echo {
  explicit Echo(const Type& type, const char* op = "Identity") {
    Model model;
    GraphEmitter e(*model.graph);
    const Val x = GraphEmitter::wrap(model.graph->add_input("x", type));
    model.graph->add_output(GraphEmitter::unwrap(e.call(op, {x})));
    const std::string bytes = model_bytes(model);
    EXPECT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), nullptr, &session), SX_OK)
        << sx_last_error();
    EXPECT_EQ(sx_binding_create(session, &binding), SX_OK);
  }
  ~Echo() {
    sx_binding_destroy(binding);
    sx_session_destroy(session);
  }
  sx_status run(const sx_value* input) {
    const sx_status status = sx_binding_set_input_value(binding, 0, input);
    return status == SX_OK ? sx_binding_run(binding, nullptr) : status;
  }
  ValueHandle output() {
    sx_value* value = nullptr;
    EXPECT_EQ(sx_binding_output_value(binding, 0, &value), SX_OK) << sx_last_error();
    return taken(value);
  }
  sx_session* session = nullptr;
  sx_binding* binding = nullptr;
};

TEST(CValues, tensors_are_copied_borrowed_and_shared) {
  std::vector<float> memory = {1, 2, 3};
  const int64_t count = 3;
  int released = 0;
  const auto release = [](void* user) { ++*static_cast<int*>(user); };
  sx_value* borrowed = nullptr;
  ASSERT_EQ(
      sx_value_borrow_tensor(SX_FLOAT, &count, 1, memory.data(), 12, release, &released, &borrowed),
      SX_OK);
  sx_value* shared = nullptr;
  ASSERT_EQ(sx_value_share(borrowed, &shared), SX_OK);
  const ValueHandle copy = floats(memory);
  memory[0] = 5;
  EXPECT_EQ(elements_of(copy.get()), (std::vector<float>{1, 2, 3}));
  sx_value_destroy(borrowed);
  EXPECT_EQ(elements_of(shared), (std::vector<float>{5, 2, 3}));
  EXPECT_STREQ(sx_value_type(shared), "float[3]");
  EXPECT_EQ(sx_value_kind(shared), SX_TENSOR);
  EXPECT_EQ(sx_value_count(shared), 3u);
  EXPECT_EQ(released, 0);
  sx_value_destroy(shared);
  EXPECT_EQ(released, 1);
  expect_refused(
      sx_value_borrow_tensor(SX_FLOAT, &count, 1, memory.data(), 5, release, &released, &borrowed),
      "takes 12 bytes, got 5");
  EXPECT_EQ(released, 1) << "what was refused stays the caller's";
}

TEST(CValues, strings_come_all_at_once) {
  const char* elements[] = {"a\0b", "", "c"};
  const size_t sizes[] = {3, 0, 1};
  const int64_t dims[] = {3, 1};
  sx_value* made = nullptr;
  ASSERT_EQ(sx_value_create_strings(dims, 2, elements, sizes, &made), SX_OK);
  Echo echo(Type::tensor(DType::kString, Dims{Dim::symbol("n"), 1}));
  ASSERT_EQ(echo.run(made), SX_OK) << sx_last_error();
  const char* begins[3];
  size_t lengths[3];
  ASSERT_EQ(sx_binding_output_strings(echo.binding, 0, begins, lengths, 3), SX_OK);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(std::string(begins[i], lengths[i]), std::string(elements[i], sizes[i]));
  EXPECT_EQ(begins[0][3], '\0');
  EXPECT_EQ(sx_value_strings(made, nullptr, lengths, 3), SX_OK);
  expect_refused(sx_value_strings(made, begins, lengths, 2), "there are 3 strings, got 2");
  sx_value_destroy(made);
}

TEST(CValues, sequences_maps_and_optionals_go_in_and_out) {
  const ValueHandle a = floats({1, 2}), b = floats({3}), keys = int64s({7, -1});
  const sx_value* items[] = {a.get(), b.get()};
  sx_value* made = nullptr;
  ASSERT_EQ(sx_value_create_sequence(items, 2, nullptr, &made), SX_OK) << sx_last_error();
  const ValueHandle sequence = taken(made);
  Echo sequences(Type::sequence(Type::tensor(DType::kFloat)));
  ASSERT_EQ(sequences.run(sequence.get()), SX_OK) << sx_last_error();
  const ValueHandle out = sequences.output();
  EXPECT_EQ(sx_value_kind(out.get()), SX_SEQUENCE);
  ASSERT_EQ(sx_value_count(out.get()), 2u);
  ASSERT_EQ(sx_value_item(out.get(), 1, &made), SX_OK);
  EXPECT_EQ(elements_of(taken(made).get()), std::vector<float>{3});
  expect_refused(sx_value_item(out.get(), 2, &made), "there are 2 items, got 2");

  ASSERT_EQ(sx_value_create_sequence(nullptr, 0, "float[n, 2]", &made), SX_OK) << sx_last_error();
  ASSERT_EQ(sequences.run(taken(made).get()), SX_OK) << sx_last_error();
  EXPECT_EQ(sx_value_count(sequences.output().get()), 0u);

  const ValueHandle values = floats({0.5f, 0.25f});
  ASSERT_EQ(sx_value_create_map(keys.get(), values.get(), &made), SX_OK) << sx_last_error();
  const ValueHandle map = taken(made);
  EXPECT_EQ(sx_value_kind(map.get()), SX_MAP);
  EXPECT_EQ(sx_value_count(map.get()), 2u);
  sx_value *keys_out = nullptr, *values_out = nullptr;
  ASSERT_EQ(sx_value_map(map.get(), &keys_out, &values_out), SX_OK);
  EXPECT_EQ(elements_of(taken(values_out).get()), (std::vector<float>{0.5f, 0.25f}));
  sx_value_destroy(keys_out);

  ASSERT_EQ(sx_value_create_optional(a.get(), nullptr, &made), SX_OK);
  const ValueHandle full = taken(made);
  ASSERT_EQ(sx_value_create_optional(nullptr, "float", &made), SX_OK);
  const ValueHandle empty = taken(made);
  Echo optionals(Type::optional(Type::tensor(DType::kFloat)));
  ASSERT_EQ(optionals.run(full.get()), SX_OK) << sx_last_error();
  EXPECT_EQ(sx_value_count(optionals.output().get()), 1u);
  ASSERT_EQ(optionals.run(empty.get()), SX_OK) << sx_last_error();
  EXPECT_EQ(sx_value_count(optionals.output().get()), 0u);
}

TEST(CValues, maps_are_vectorized) {
  Model model;
  GraphEmitter e(*model.graph);
  const Type map_type = Type::map(DType::kString, Type::tensor(DType::kFloat, Dims{}));
  const Val x = GraphEmitter::wrap(model.graph->add_input("x", map_type));
  const std::vector<std::string> words = {"left", "right", "up"};
  model.graph->add_output(GraphEmitter::unwrap(
      e.call("ai.onnx.ml::DictVectorizer", {x}, {{"string_vocabulary", words}})));
  const std::string bytes = model_bytes(model);
  sx_session* session = nullptr;
  ASSERT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), nullptr, &session), SX_OK)
      << sx_last_error();
  const ValueHandle keys = strings({"up", "left"}), values = floats({4, 2});
  sx_value* map = nullptr;
  ASSERT_EQ(sx_value_create_map(keys.get(), values.get(), &map), SX_OK);
  sx_binding* binding = nullptr;
  ASSERT_EQ(sx_binding_create(session, &binding), SX_OK);
  ASSERT_EQ(sx_binding_set_input_value(binding, 0, map), SX_OK);
  sx_value_destroy(map);  // the binding holds it
  ASSERT_EQ(sx_binding_run(binding, nullptr), SX_OK) << sx_last_error();
  sx_value* out = nullptr;
  ASSERT_EQ(sx_binding_output_value(binding, 0, &out), SX_OK);
  sx_binding_destroy(binding);
  sx_session_destroy(session);
  EXPECT_EQ(elements_of(taken(out).get()), (std::vector<float>{2, 0, 4})) << "outlives the session";
}

TEST(CValues, sparse_tensors_have_parts) {
  const ValueHandle values = floats({5, 6}), linear = int64s({1, 3});
  const int64_t dims[] = {2, 2}, table_dims[] = {2, 2};
  const int64_t places[] = {0, 1, 1, 1};
  sx_value* made = nullptr;
  ASSERT_EQ(sx_value_create_sparse(values.get(), linear.get(), dims, 2, &made), SX_OK);
  const ValueHandle sparse = taken(made);
  EXPECT_STREQ(sx_value_type(sparse.get()), "sparse(float[2, 2])");
  EXPECT_EQ(sx_value_kind(sparse.get()), SX_SPARSE_TENSOR);
  sx_value *values_out = nullptr, *indices_out = nullptr;
  const int64_t* dims_out = nullptr;
  size_t rank = 0;
  ASSERT_EQ(sx_value_sparse(sparse.get(), &values_out, &indices_out, &dims_out, &rank), SX_OK);
  EXPECT_EQ(rank, 2u);
  EXPECT_EQ(dims_out[1], 2);
  EXPECT_EQ(elements_of(taken(values_out).get()), (std::vector<float>{5, 6}));
  sx_value_destroy(indices_out);
  ASSERT_EQ(sx_value_create_tensor(SX_INT64, table_dims, 2, places, sizeof places, &made), SX_OK);
  const ValueHandle table = taken(made);
  ASSERT_EQ(sx_value_create_sparse(values.get(), table.get(), dims, 2, &made), SX_OK)
      << sx_last_error();
  sx_value_destroy(made);
  const ValueHandle outside = int64s({1, 4}), descending = int64s({3, 1}),
                    three = int64s({0, 1, 2});
  expect_refused(sx_value_create_sparse(values.get(), outside.get(), dims, 2, &made),
                 "is outside of 4");
  expect_refused(sx_value_create_sparse(values.get(), descending.get(), dims, 2, &made),
                 "does not come after");
  expect_refused(sx_value_create_sparse(values.get(), three.get(), dims, 2, &made),
                 "expected int64[2] or int64[2, 2], got int64[3]");
}

TEST(CValues, what_can_be_no_value_is_refused) {
  const ValueHandle a = floats({1, 2}), keys = int64s({7, 7}), two = int64s({1, 2});
  const sx_value* mixed[] = {a.get(), keys.get()};
  sx_value* made = nullptr;
  expect_refused(sx_value_create_sequence(mixed, 2, nullptr, &made),
                 "expected float[*], got int64");
  EXPECT_EQ(made, nullptr);
  expect_refused(sx_value_create_sequence(mixed, 1, "int64", &made),
                 "expected int64[*], got float");
  expect_refused(sx_value_create_sequence(nullptr, 0, nullptr, &made), "element_type: expected");
  for (const char* type :
       {"", "flot", "seq(float", "map(float)", "float[2", "float]", "seq()", "map(int64, float) x"})
    expect_refused(sx_value_create_optional(nullptr, type, &made), "element_type: expected a type");
  std::string deep(1000, 'x');
  for (size_t i = 0; i + 4 <= deep.size(); i += 4)
    deep.replace(i, 4, "seq(");
  expect_refused(sx_value_create_optional(nullptr, deep.c_str(), &made), "element_type");
  expect_refused(sx_value_create_map(keys.get(), a.get(), &made), "keys: 7 comes twice");
  expect_refused(sx_value_create_map(a.get(), a.get(), &made), "expected integers or strings");
  const ValueHandle one = floats({1});
  expect_refused(sx_value_create_map(two.get(), one.get(), &made), "expected 2, one for each key");
  expect_refused(sx_value_create_map(nullptr, a.get(), &made), "keys: expected a pointer");
  expect_refused(sx_value_item(a.get(), 0, &made), "expected a sequence or optional, got float[2]");
  expect_refused(sx_value_map(a.get(), &made, &made), "");
  expect_refused(sx_value_strings(a.get(), nullptr, nullptr, 2), "elements are float");
  EXPECT_EQ(sx_value_kind(nullptr), 0);
  EXPECT_EQ(sx_value_count(nullptr), 0u);
  EXPECT_STREQ(sx_value_type(nullptr), "");
  sx_value_destroy(nullptr);
}

TEST(CValues, an_output_that_was_handed_out_outlives_later_runs) {
  Echo negated(Type::tensor(DType::kFloat, Dims{Dim::symbol("n")}), "Neg");
  const ValueHandle first = floats({1, 2}), second = floats({3, 4});
  ASSERT_EQ(negated.run(first.get()), SX_OK);
  const ValueHandle left = negated.output();
  std::vector<float> bound(2);
  const int64_t two = 2;
  ASSERT_EQ(negated.run(second.get()), SX_OK);
  EXPECT_EQ(elements_of(left.get()), (std::vector<float>{-1, -2}));
  ASSERT_EQ(sx_binding_set_output(negated.binding, 0, SX_FLOAT, &two, 1, bound.data(), 8), SX_OK);
  ASSERT_EQ(negated.run(first.get()), SX_OK);
  const ValueHandle copied = negated.output();
  ASSERT_EQ(negated.run(second.get()), SX_OK);
  EXPECT_EQ(bound, (std::vector<float>{-3, -4}));
  EXPECT_EQ(elements_of(copied.get()), (std::vector<float>{-1, -2}));
}

TEST(CValues, an_output_that_is_an_input_is_not_in_memory_of_the_caller) {
  for (const char* op : {"Identity", "Flatten"}) {
    SCOPED_TRACE(op);
    Echo same(Type::tensor(DType::kFloat, Dims{2}), op);
    std::vector<float> lent{1, 2};
    const int64_t two = 2;
    ASSERT_EQ(sx_binding_set_input(same.binding, 0, SX_FLOAT, &two, 1, lent.data(), 8), SX_OK);
    ASSERT_EQ(sx_binding_run(same.binding, nullptr), SX_OK) << sx_last_error();
    const ValueHandle output = same.output();
    sx_value_info info{.struct_size = sizeof info};
    ASSERT_EQ(sx_session_output(same.session, 0, &info), SX_OK);
    const char* name = info.name;
    sx_value* fetched = nullptr;
    ASSERT_EQ(sx_binding_fetch(same.binding, &name, 1, nullptr, &fetched), SX_OK)
        << sx_last_error();
    const ValueHandle again = taken(fetched);
    lent = {5, 6};
    EXPECT_EQ(elements_of(output.get()), (std::vector<float>{1, 2}));
    EXPECT_EQ(elements_of(again.get()), (std::vector<float>{1, 2}));
  }
}

TEST(CValues, an_output_that_is_a_value_shares_it) {
  Echo same(Type::tensor(DType::kFloat, Dims{2}), "Identity");
  const ValueHandle given = floats({1, 2});
  ASSERT_EQ(same.run(given.get()), SX_OK);
  const ValueHandle output = same.output();
  sx_tensor in{.struct_size = sizeof in}, out{.struct_size = sizeof out};
  ASSERT_EQ(sx_value_tensor(given.get(), &in), SX_OK);
  ASSERT_EQ(sx_value_tensor(output.get(), &out), SX_OK);
  EXPECT_EQ(in.data, out.data);
}

TEST(CValues, counts_beyond_all_memory_are_refused) {
  const int64_t two = 2;
  const char* strings[] = {"a", "b"};
  const size_t lengths[] = {1, SIZE_MAX};
  sx_value* made = nullptr;
  expect_refused(sx_value_create_strings(&two, 1, strings, lengths, &made),
                 "lengths: element 1: expected at most");
  Echo same(Type::tensor(DType::kFloat, Dims{2}), "Identity");
  const size_t index = 0;
  expect_refused(sx_binding_choose_outputs(same.binding, &index, SIZE_MAX),
                 "count: expected at most");
}

}  // namespace
}  // namespace sardonyx
