// Arrow's arrays as inputs and outputs of the C interface.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "executor/session.h"
#include "onnx_io/save.h"
#include "sardonyx/arrow.h"

namespace sardonyx::arrow {
namespace {

// An array and its schema as a producer would make them; counts releases.
struct Column {
  std::string format = {}, name = {};
  int64_t length = 0, offset = 0, null_count = 0;
  std::vector<std::vector<std::byte>> memory = {};  // of buffers; an empty one is NULL
  std::vector<Column> children = {};
  std::shared_ptr<Column> dictionary = {};

  // What the structs point at.
  std::vector<const void*> buffers = {};
  std::vector<ArrowArray> arrays = {};
  std::vector<ArrowSchema> schemas = {};
  std::vector<ArrowArray*> array_pointers = {};
  std::vector<ArrowSchema*> schema_pointers = {};
  ArrowArray dictionary_array{};
  ArrowSchema dictionary_schema{};
  int released = 0;

  void fill(ArrowArray& array, ArrowSchema& schema) {
    buffers.clear();
    for (const auto& bytes : memory)
      buffers.push_back(bytes.empty() ? nullptr : bytes.data());
    arrays.resize(children.size());
    schemas.resize(children.size());
    array_pointers.clear();
    schema_pointers.clear();
    for (size_t i = 0; i < children.size(); ++i) {
      children[i].fill(arrays[i], schemas[i]);
      array_pointers.push_back(&arrays[i]);
      schema_pointers.push_back(&schemas[i]);
    }
    array = {length,
             null_count,
             offset,
             static_cast<int64_t>(memory.size()),
             static_cast<int64_t>(children.size()),
             buffers.data(),
             array_pointers.data(),
             nullptr,
             [](ArrowArray* self) {
               ++static_cast<Column*>(self->private_data)->released;
               self->release = nullptr;
             },
             this};
    schema = {format.c_str(),   name.c_str(),
              nullptr,          ARROW_FLAG_NULLABLE,
              array.n_children, schema_pointers.data(),
              nullptr,          [](ArrowSchema* self) { self->release = nullptr; },
              nullptr};
    if (!dictionary) return;
    dictionary->fill(dictionary_array, dictionary_schema);
    array.dictionary = &dictionary_array;
    schema.dictionary = &dictionary_schema;
  }
};

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}
std::vector<std::byte> bytes_of(const std::string& text) {
  return bytes_of(std::vector<char>(text.begin(), text.end()));
}
// Least significant bit first.
std::vector<std::byte> bits_of(const std::vector<int>& values) {
  std::vector<std::byte> bits(values.size() / 8 + 1);
  for (size_t i = 0; i < values.size(); ++i)
    bits[i / 8] |= static_cast<std::byte>(values[i] << (i % 8));
  return bits;
}

template <typename T>
Column numbers(const std::string& format, const std::vector<T>& values,
               const std::string& name = "x") {
  return {.format = format,
          .name = name,
          .length = static_cast<int64_t>(values.size()),
          .memory = {{}, bytes_of(values)}};
}
Column with_nulls(Column column, const std::vector<int>& valid) {
  column.memory[0] = bits_of(valid);
  column.null_count = -1;  // not counted
  return column;
}
Column strings(const std::vector<int32_t>& offsets, const std::string& characters) {
  return {.format = "u",
          .name = "x",
          .length = static_cast<int64_t>(offsets.size()) - 1,
          .memory = {{}, bytes_of(offsets), bytes_of(characters)}};
}
Column fixed_lists(int64_t size, int64_t length, Column child) {
  return {.format = "+w:" + std::to_string(size),
          .name = "x",
          .length = length,
          .memory = {{}},
          .children = {std::move(child)}};
}
Column lists(const std::vector<int32_t>& offsets, Column child) {
  return {.format = "+l",
          .name = "x",
          .length = static_cast<int64_t>(offsets.size()) - 1,
          .memory = {{}, bytes_of(offsets)},
          .children = {std::move(child)}};
}
Column table(std::vector<Column> columns) {
  const int64_t length = columns.empty() ? 0 : columns[0].length;
  return {.format = "+s", .length = length, .memory = {{}}, .children = std::move(columns)};
}

using ValueHandle = std::unique_ptr<sx_value, decltype(&sx_value_destroy)>;

// "float[2]: 1 2"; what was refused is "error: ...".
std::string imported(Column& column, sx_arrow_nulls nulls = SX_ARROW_NULLS_REFUSED) {
  ArrowArray array;
  ArrowSchema schema;
  column.fill(array, schema);
  sx_arrow_options options{sizeof(sx_arrow_options), nulls, 0};
  sx_value* made = nullptr;
  const sx_status status = sx_value_import_arrow(&array, &schema, &options, &made);
  EXPECT_NE(schema.release, nullptr) << "the schema stays the caller's";
  if (status != SX_OK) {
    EXPECT_EQ(column.released, 0);
    EXPECT_NE(array.release, nullptr) << "what was refused stays the caller's";
    return text("error: ", sx_last_error());
  }
  EXPECT_EQ(array.release, nullptr);
  const ValueHandle value(made, &sx_value_destroy);
  std::string found = text(sx_value_type(made), ":");
  sx_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  EXPECT_EQ(sx_value_tensor(made, &tensor), SX_OK);
  const size_t count = sx_value_count(made);
  if (tensor.dtype == SX_STRING) {
    std::vector<const char*> all(count);
    EXPECT_EQ(sx_value_strings(made, all.data(), nullptr, count), SX_OK);
    for (const char* one : all)
      found += text(" '", one, "'");
    return found;
  }
  const Tensor numbers(static_cast<DType>(tensor.dtype), {static_cast<int64_t>(count)},
                       Buffer::borrow(const_cast<void*>(tensor.data), tensor.size, nullptr));
  if (tensor.dtype == SX_BOOL) {
    for (size_t i = 0; i < count; ++i)
      found += text(" ", static_cast<int>(static_cast<const uint8_t*>(tensor.data)[i]));
    return found;
  }
  for (const double one : numbers.to_doubles())
    found += std::isnan(one) ? " nan" : text(" ", one);
  return found;
}

TEST(Arrow, numbers_of_every_type) {
  const auto check = [](Column column, const char* expected) {
    EXPECT_EQ(imported(column), expected);
    EXPECT_EQ(column.released, 1);
  };
  check(numbers<int8_t>("c", {-1, 2}), "int8[2]: -1 2");
  check(numbers<uint8_t>("C", {255}), "uint8[1]: 255");
  check(numbers<int16_t>("s", {-300}), "int16[1]: -300");
  check(numbers<uint16_t>("S", {65535}), "uint16[1]: 65535");
  check(numbers<int32_t>("i", {-70000, 1}), "int32[2]: -70000 1");
  check(numbers<uint32_t>("I", {4000000000u}), "uint32[1]: 4e+09");
  check(numbers<int64_t>("l", {-5}), "int64[1]: -5");
  check(numbers<uint64_t>("L", {5}), "uint64[1]: 5");
  check(numbers<uint16_t>("e", {0x3c00, 0xc000}), "float16[2]: 1 -2");
  check(numbers<float>("f", {1.5f}), "float[1]: 1.5");
  check(numbers<double>("g", {0.25, 8}), "double[2]: 0.25 8");
  check(numbers<float>("f", {}), "float[0]:");
}

TEST(Arrow, bools_strings_and_dictionaries) {
  Column bools{.format = "b",
               .name = "x",
               .length = 9,
               .offset = 1,
               .memory = {{}, bits_of({0, 1, 0, 1, 1, 0, 0, 0, 1, 1})}};
  EXPECT_EQ(imported(bools), "bool[9]: 1 0 1 1 0 0 0 1 1");
  Column texts = strings({0, 2, 2, 5}, "abcde");
  EXPECT_EQ(imported(texts), "string[3]: 'ab' '' 'cde'");
  texts = strings({0, 2, 2, 5}, "abcde");
  texts.offset = 2;
  texts.length = 1;
  EXPECT_EQ(imported(texts), "string[1]: 'cde'");
  Column large{.format = "U",
               .name = "x",
               .length = 2,
               .memory = {{}, bytes_of(std::vector<int64_t>{0, 1, 3}), bytes_of("abc")}};
  EXPECT_EQ(imported(large), "string[2]: 'a' 'bc'");
  Column coded = numbers<uint8_t>("C", {1, 0, 1});
  coded.dictionary = std::make_shared<Column>(strings({0, 3, 5}, "redno"));
  EXPECT_EQ(imported(coded), "string[3]: 'no' 'red' 'no'");
  coded = numbers<int8_t>("c", {1, 7});
  coded.dictionary = std::make_shared<Column>(strings({0, 3, 5}, "redno"));
  EXPECT_NE(imported(coded).find("element 7 is needed"), std::string::npos);
  coded = numbers<int8_t>("c", {1, -7});
  coded.dictionary = std::make_shared<Column>(strings({0, 3, 5}, "redno"));
  EXPECT_NE(imported(coded).find("index -7"), std::string::npos);
}

TEST(Arrow, lists_are_further_dims) {
  Column fixed = fixed_lists(2, 3, numbers<float>("f", {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(imported(fixed), "float[3, 2]: 1 2 3 4 5 6");
  fixed = fixed_lists(2, 2, numbers<float>("f", {1, 2, 3, 4, 5, 6, 7}));
  fixed.offset = 1;
  fixed.children[0].offset = 1;
  fixed.children[0].length = 6;
  EXPECT_EQ(imported(fixed), "float[2, 2]: 4 5 6 7");
  Column uniform = lists({1, 3, 5}, numbers<int64_t>("l", {9, 1, 2, 3, 4, 9}));
  EXPECT_EQ(imported(uniform), "int64[2, 2]: 1 2 3 4");
  Column nested = fixed_lists(
      2, 2, lists({0, 3, 6, 9, 12}, numbers<int8_t>("c", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})));
  EXPECT_EQ(imported(nested), "int8[2, 2, 3]: 1 2 3 4 5 6 7 8 9 10 11 12");
  Column none = fixed_lists(0, 2, numbers<float>("f", {}));
  EXPECT_EQ(imported(none), "float[2, 0]:");
  Column ragged = lists({0, 2, 3}, numbers<float>("f", {1, 2, 3}));
  EXPECT_NE(imported(ragged).find("row 1 has 1 elements, an earlier one 2"), std::string::npos);
  Column short_child = fixed_lists(2, 3, numbers<float>("f", {1, 2, 3, 4, 5}));
  EXPECT_NE(imported(short_child).find("an array of 5 elements"), std::string::npos);
}

TEST(Arrow, nulls_by_policy) {
  const auto check = [](Column column, const char* zero, const char* nan) {
    Column refused = column, as_nan = column;
    EXPECT_NE(imported(refused).find("column 'x': row 1 is null"), std::string::npos)
        << imported(refused);
    EXPECT_EQ(imported(column, SX_ARROW_NULLS_ZERO), zero);
    const std::string found = imported(as_nan, SX_ARROW_NULLS_NAN);
    EXPECT_NE(found.find(nan), std::string::npos) << found;
  };
  check(with_nulls(numbers<float>("f", {1, 2, 3}), {1, 0, 1}), "float[3]: 1 0 3",
        "float[3]: 1 nan 3");
  check(with_nulls(numbers<uint16_t>("e", {0x3c00, 0, 0x3c00}), {1, 0, 1}), "float16[3]: 1 0 1",
        "float16[3]: 1 nan 1");
  check(with_nulls(numbers<int32_t>("i", {1, 2, 3}), {1, 0, 1}), "int32[3]: 1 0 3",
        "can't be NaN in a column of type int32");
  check(with_nulls(strings({0, 1, 2, 3}, "abc"), {1, 0, 1}), "string[3]: 'a' '' 'c'",
        "can't be NaN");
  check(with_nulls(fixed_lists(2, 3, numbers<float>("f", {1, 2, 3, 4, 5, 6})), {1, 0, 1}),
        "float[3, 2]: 1 2 0 0 5 6", "float[3, 2]: 1 2 nan nan 5 6");
  // The list of a null row is as long as it likes.
  check(with_nulls(lists({0, 2, 2, 4}, numbers<float>("f", {1, 2, 3, 4})), {1, 0, 1}),
        "float[3, 2]: 1 2 0 0 3 4", "float[3, 2]: 1 2 nan nan 3 4");
  check(lists({0, 2, 4}, with_nulls(numbers<float>("f", {1, 2, 3, 4}), {1, 1, 0, 1})),
        "float[2, 2]: 1 2 0 4", "float[2, 2]: 1 2 nan 4");
  Column all = with_nulls(numbers<float>("f", {1, 2}), {1, 1});
  EXPECT_EQ(imported(all), "float[2]: 1 2");
  Column nothing{.format = "n", .name = "x", .length = 2, .memory = {}};
  EXPECT_NE(imported(nothing).find("row 0 is null"), std::string::npos);
  EXPECT_EQ(imported(nothing, SX_ARROW_NULLS_NAN), "float[2]: nan nan");
}

TEST(Arrow, what_is_no_array_is_refused) {
  const auto refused = [](Column column, const char* mention) {
    const std::string found = imported(column);
    EXPECT_NE(found.find(mention), std::string::npos) << found;
  };
  refused(numbers<int32_t>("tdD", {1}), "Arrow's format 'tdD'");
  refused(numbers<int32_t>("vu", {1}), "cast the column");
  Column broken = numbers<float>("f", {1, 2});
  broken.memory.pop_back();
  refused(broken, "has 2 buffers, got 1");
  broken = numbers<float>("f", {1, 2});
  broken.memory[1].clear();
  refused(broken, "buffer 1 is NULL");
  broken = numbers<float>("f", {1, 2});
  broken.length = -1;
  refused(broken, "length -1");
  broken = numbers<float>("f", {1, 2});
  broken.offset = INT64_MAX;
  refused(broken, "is none");
  refused(strings({0, -1}, "abc"), "offsets 0 and -1");
  refused(fixed_lists(-1, 1, numbers<float>("f", {1})), "format +w:-1");
  Column childless = fixed_lists(1, 1, numbers<float>("f", {1}));
  childless.children.clear();
  refused(childless, "has 1 children, got 0");

  Column fine = numbers<float>("f", {1});
  ArrowArray array;
  ArrowSchema schema;
  fine.fill(array, schema);
  array.release = nullptr;
  sx_value* value = nullptr;
  EXPECT_EQ(sx_value_import_arrow(&array, &schema, nullptr, &value), SX_INVALID_ARGUMENT);
  EXPECT_EQ(sx_value_import_arrow(nullptr, &schema, nullptr, &value), SX_INVALID_ARGUMENT);
  EXPECT_EQ(sx_value_import_arrow(&array, &schema, nullptr, nullptr), SX_INVALID_ARGUMENT);
  fine.fill(array, schema);
  sx_arrow_options options{sizeof(sx_arrow_options), 7, 0};
  EXPECT_EQ(sx_value_import_arrow(&array, &schema, &options, &value), SX_INVALID_ARGUMENT);
}

TEST(Arrow, numbers_are_not_copied) {
  Column column = numbers<float>("f", {1, 2, 3});
  ArrowArray array;
  ArrowSchema schema;
  column.fill(array, schema);
  sx_value* value = nullptr;
  ASSERT_EQ(sx_value_import_arrow(&array, &schema, nullptr, &value), SX_OK);
  sx_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  ASSERT_EQ(sx_value_tensor(value, &tensor), SX_OK);
  EXPECT_EQ(tensor.data, column.buffers[1]);
  // And out again: the value may go first.
  ArrowArray out;
  ArrowSchema out_schema;
  ASSERT_EQ(sx_value_export_arrow(value, "x", &out, &out_schema), SX_OK);
  sx_value_destroy(value);
  EXPECT_EQ(column.released, 0);
  EXPECT_EQ(out.buffers[1], column.buffers[1]);
  EXPECT_STREQ(out_schema.format, "f");
  EXPECT_STREQ(out_schema.name, "x");
  EXPECT_EQ(out.length, 3);
  out.release(&out);
  out_schema.release(&out_schema);
  EXPECT_EQ(out.release, nullptr);
  EXPECT_EQ(column.released, 1);
}

// Out and in again, for every form.
TEST(Arrow, what_goes_out_comes_in_again) {
  const auto check = [](Column column) {
    Column first = column;
    const std::string expected = imported(first);
    ArrowArray array, out;
    ArrowSchema schema, out_schema;
    column.fill(array, schema);
    sx_value *value = nullptr, *again = nullptr;
    ASSERT_EQ(sx_value_import_arrow(&array, &schema, nullptr, &value), SX_OK) << sx_last_error();
    ASSERT_EQ(sx_value_export_arrow(value, nullptr, &out, &out_schema), SX_OK) << sx_last_error();
    ASSERT_EQ(sx_value_import_arrow(&out, &out_schema, nullptr, &again), SX_OK) << sx_last_error();
    out_schema.release(&out_schema);
    EXPECT_STREQ(sx_value_type(value), sx_value_type(again));
    sx_value_destroy(value);
    ArrowArray third;
    ArrowSchema third_schema;
    ASSERT_EQ(sx_value_export_arrow(again, nullptr, &third, &third_schema), SX_OK);
    sx_value_destroy(again);
    third.release(&third);
    third_schema.release(&third_schema);
    EXPECT_EQ(expected.find("error"), std::string::npos) << expected;
  };
  check(numbers<double>("g", {1, 2}));
  check(strings({0, 2, 2, 5}, "abcde"));
  check(fixed_lists(3, 2, lists({0, 1, 2, 3, 4, 5, 6}, numbers<int16_t>("s", {1, 2, 3, 4, 5, 6}))));
  check({.format = "b", .name = "x", .length = 3, .memory = {{}, bits_of({1, 0, 1})}});
  check(numbers<float>("f", {}));
}

// y = a + b, z = s; a [n], b [n, 1, 2].
struct Table {
  Table() {
    Model model;
    GraphEmitter e(*model.graph);
    const Dim n = Dim::symbol("n");
    const Val a =
        GraphEmitter::wrap(model.graph->add_input("a", Type::tensor(DType::kFloat, Dims{n, 1})));
    const Val b =
        GraphEmitter::wrap(model.graph->add_input("b", Type::tensor(DType::kFloat, Dims{n, 1, 2})));
    const Val s =
        GraphEmitter::wrap(model.graph->add_input("s", Type::tensor(DType::kString, Dims{n})));
    const Val flat = e.call("Flatten", {b});
    const auto name = [&](const Val& value, const char* given) {
      Value* made = GraphEmitter::unwrap(value);
      model.graph->rename(*made, given);
      model.graph->add_output(made);
    };
    name(e.call("Add", {a, flat}), "y");
    name(e.call("Identity", {s}), "z");
    const std::string bytes = model_bytes(model);
    EXPECT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), nullptr, &session), SX_OK)
        << sx_last_error();
    EXPECT_EQ(sx_binding_create(session, &binding), SX_OK);
  }
  ~Table() {
    sx_binding_destroy(binding);
    sx_session_destroy(session);
  }
  sx_status set(Column& columns, const sx_arrow_options* options = nullptr) {
    columns.fill(array, schema);
    return sx_binding_set_inputs_arrow(binding, &array, &schema, options);
  }
  sx_session* session = nullptr;
  sx_binding* binding = nullptr;
  ArrowArray array;
  ArrowSchema schema;
};

Column named(Column column, const char* name) {
  column.name = name;
  return column;
}

TEST(Arrow, record_batches_in_and_out) {
  Column columns =
      table({named(fixed_lists(2, 3, numbers<float>("f", {1, 2, 3, 4, 5, 6})), "b"),
             named(strings({0, 1, 2, 3}, "pqr"), "s"), numbers<float>("f", {10, 20, 30}, "a")});
  {
    Table model;
    ASSERT_EQ(model.set(columns), SX_OK) << sx_last_error();
    EXPECT_EQ(model.array.release, nullptr);
    ASSERT_EQ(sx_binding_run(model.binding, nullptr), SX_OK) << sx_last_error();
    ArrowArray out;
    ArrowSchema out_schema;
    ASSERT_EQ(sx_binding_outputs_arrow(model.binding, &out, &out_schema), SX_OK) << sx_last_error();
    EXPECT_STREQ(out_schema.format, "+s");
    ASSERT_EQ(out.n_children, 2);
    EXPECT_EQ(out.length, 3);
    EXPECT_STREQ(out_schema.children[0]->name, "y");
    EXPECT_STREQ(out_schema.children[0]->format, "+w:2");
    // A consumer may move a child.
    ArrowArray y = *out.children[0];
    out.children[0]->release = nullptr;
    const auto* elements = static_cast<const float*>(y.children[0]->buffers[1]);
    EXPECT_EQ(std::vector<float>(elements, elements + 6),
              (std::vector<float>{11, 12, 23, 24, 35, 36}));
    const ArrowArray& z = *out.children[1];
    EXPECT_STREQ(out_schema.children[1]->format, "u");
    EXPECT_EQ(std::string(static_cast<const char*>(z.buffers[2]), 3), "pqr");
    out.release(&out);
    out_schema.release(&out_schema);
    EXPECT_EQ(elements[0], 11);
    y.release(&y);
    EXPECT_EQ(columns.released, 0);
  }
  EXPECT_EQ(columns.released, 1);
}

// Rows [1, 3) of three: offsets of a struct hold for its columns.
TEST(Arrow, parts_of_record_batches) {
  Table model;
  Column columns =
      table({named(fixed_lists(2, 3, numbers<float>("f", {1, 2, 3, 4, 5, 6})), "b"),
             named(strings({0, 1, 2, 3}, "pqr"), "s"), numbers<float>("f", {10, 20, 30}, "a")});
  columns.offset = 1;
  columns.length = 2;
  ASSERT_EQ(model.set(columns), SX_OK) << sx_last_error();
  ASSERT_EQ(sx_binding_run(model.binding, nullptr), SX_OK) << sx_last_error();
  sx_tensor y{};
  y.struct_size = sizeof y;
  ASSERT_EQ(sx_binding_output(model.binding, 0, &y), SX_OK);
  const auto* elements = static_cast<const float*>(y.data);
  EXPECT_EQ(std::vector<float>(elements, elements + 4), (std::vector<float>{23, 24, 35, 36}));
}

TEST(Arrow, record_batches_that_do_not_fit) {
  Table model;
  const auto refused = [&](Column columns, const char* mention) {
    EXPECT_EQ(model.set(columns), SX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sx_last_error()).find(mention), std::string::npos) << sx_last_error();
    EXPECT_EQ(columns.released, 0);
  };
  refused(table({numbers<float>("f", {1}, "w")}),
          "column 'w' is no input of the model, which has a, b, s");
  refused(numbers<float>("f", {1}, "a"), "expected a struct");
  refused(table({numbers<float>("f", {1}, "a"), numbers<float>("f", {1}, "a")}),
          "two columns are named 'a'");
  Column rows = table({numbers<float>("f", {1, 2}, "a")});
  rows.memory[0] = bits_of({1, 0});
  rows.null_count = 1;
  refused(rows, "row 1 is null");
  Column longer = table({numbers<float>("f", {1, 2}, "a")});
  longer.length = 3;
  refused(longer, "an array of 2 elements");
  ArrowArray out;
  ArrowSchema out_schema;
  EXPECT_EQ(sx_binding_outputs_arrow(model.binding, &out, &out_schema), SX_INVALID_ARGUMENT);
  EXPECT_EQ(out.release, nullptr);
}

TEST(Arrow, types_that_arrow_lacks_are_refused) {
  const int64_t count = 2;
  const uint16_t elements[2] = {};
  sx_value* value = nullptr;
  ASSERT_EQ(sx_value_create_tensor(SX_BFLOAT16, &count, 1, elements, 4, &value), SX_OK);
  ArrowArray array;
  ArrowSchema schema;
  EXPECT_EQ(sx_value_export_arrow(value, "x", &array, &schema), SX_UNSUPPORTED);
  EXPECT_NE(std::string(sx_last_error()).find("bfloat16[2]"), std::string::npos) << sx_last_error();
  EXPECT_EQ(array.release, nullptr);
  sx_value_destroy(value);
}

}  // namespace
}  // namespace sardonyx::arrow
