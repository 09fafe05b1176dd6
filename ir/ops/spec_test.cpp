// Compares the op table with the ONNX specification, as $SARDONYX_TEST_DATA/spec/onnx_ops.json
// tells it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ir/op_def.h"
#include "tests/support/test_data.h"

namespace sardonyx {
namespace {

using Json = nlohmann::json;

// The newest version of each op, by full name.
const std::map<std::string, Json>& specification() {
  static const std::map<std::string, Json> newest = [] {
    std::map<std::string, Json> found;
    std::ifstream file(test_data("spec/onnx_ops.json"));
    if (!file) return found;
    for (const Json& op : Json::parse(file)) {
      const std::string domain = op["domain"], name = op["name"];
      Json& known = found[domain.empty() ? name : domain + "::" + name];
      if (known.is_null() || known["since"] < op["since"]) known = op;
    }
    return found;
  }();
  return newest;
}

// "tensor(float)" for ours "float"; other types are written alike but for blanks.
std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::string in_tensor(DType dtype) {
  return "tensor(" + std::string(name_of(dtype)) + ")";
}

std::set<std::string> expanded(const TypeSet& types) {
  std::set<std::string> names;
  for (int code = 1; code < kDTypeCount; ++code) {
    const auto dtype = static_cast<DType>(code);
    const std::string tensor = in_tensor(dtype);
    if (types.tensors.has(dtype)) names.insert(tensor);
    if (types.sequences.has(dtype)) names.insert("seq(" + tensor + ")");
    if (types.optional_tensors.has(dtype)) names.insert("optional(" + tensor + ")");
    if (types.optional_sequences.has(dtype)) names.insert("optional(seq(" + tensor + "))");
  }
  std::string_view rest = types.others;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(';'), rest.size());
    if (end > 0) names.insert(without_blanks(std::string(rest.substr(0, end))));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

// Inside maps and nested types the specification wraps element types in tensor(); Type::text() does
// not.
std::set<std::string> as_we_write(const Json& types) {
  std::set<std::string> names;
  for (const std::string name : types) {
    std::string plain = without_blanks(name);
    if (plain.find("map(") != std::string::npos) {
      for (size_t at; (at = plain.find("tensor(")) != std::string::npos;) {
        plain.erase(plain.find(')', at), 1);
        plain.erase(at, 7);
      }
    }
    names.insert(plain);
  }
  return names;
}

std::set<std::string> allowed_types(const OpDef& op, const std::string& type) {
  for (const TypeConstraint& constraint : op.types) {
    if (constraint.name == type) return expanded(constraint.types);
  }
  return {in_tensor(dtype_named(type))};
}

std::set<std::string> allowed_types(const Json& spec, const std::string& type) {
  if (spec.contains("types") && spec["types"].contains(type))
    return as_we_write(spec["types"][type]);
  return {type};
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : " ") + name;
  return text;
}

void compare_params(const OpDef& op, const std::vector<Param>& ours, const Json& theirs,
                    const Json& spec) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    const Json& param = theirs[i];
    const std::string kind = param.value("kind", "single");
    SCOPED_TRACE(ours[i].name);
    EXPECT_EQ(ours[i].name, param["name"]);
    EXPECT_EQ(ours[i].optional, kind == "optional");
    EXPECT_EQ(ours[i].variadic, kind == "variadic");
    if (kind == "variadic") {
      EXPECT_EQ(ours[i].homogeneous, param.value("homogeneous", true));
      EXPECT_EQ(ours[i].min_count, param.value("min", size_t{1}));
    }
    EXPECT_EQ(joined(allowed_types(op, ours[i].type)), joined(allowed_types(spec, param["type"])));
    // Params of one constraint have one type in both.
    for (size_t k = 0; k < i; ++k) {
      EXPECT_EQ(ours[i].type == ours[k].type, param["type"] == theirs[k]["type"]) << ours[k].name;
    }
  }
}

// An attribute's default as JSON, to compare with the specification's.
Json as_json(const AttrValue& value) {
  const auto convert = [](const auto& held) -> Json {
    using T = std::remove_cvref_t<decltype(held)>;
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
                  std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<int64_t>> ||
                  std::is_same_v<T, std::vector<float>> ||
                  std::is_same_v<T, std::vector<std::string>>) {
      return held;
    } else {
      return nullptr;
    }
  };
  return std::visit(convert, value);
}

bool same_default(const Json& ours, const Json& theirs) {
  if (!ours.is_number() || !theirs.is_number()) return ours == theirs;
  return static_cast<float>(ours.get<double>()) == static_cast<float>(theirs.get<double>());
}

// Vectors cannot be told from absent ones where they are not std::optional: an empty one has no
// default.
bool is_empty_list(const Json& value) {
  return value.is_array() && value.empty();
}

// "INT", "FLOATS" ... of alternative `kind` of AttrValue.
std::string kind_named(size_t kind) {
  static constexpr std::string_view kNames[] = {
      "INT",  "FLOAT",  "STRING",  "TENSOR",  "SPARSE_TENSOR",  "GRAPH",  "TYPE_PROTO",
      "INTS", "FLOATS", "STRINGS", "TENSORS", "SPARSE_TENSORS", "GRAPHS", "TYPE_PROTOS"};
  return std::string(kNames[kind]);
}

void compare_attributes(const OpDef& op, const Json& spec) {
  const Json theirs = spec.value("attributes", Json::object());
  for (const AttrField& ours : op.attrs->fields) {
    SCOPED_TRACE("attribute " + ours.name);
    ASSERT_TRUE(theirs.contains(ours.name)) << "is not in the specification";
    const Json& attribute = theirs[ours.name];
    EXPECT_EQ(kind_named(ours.kind), attribute["type"]);
    EXPECT_EQ(ours.required, attribute.value("required", false));
    const Json default_value = ours.default_value ? as_json(*ours.default_value) : Json();
    if (!attribute.contains("default")) {
      EXPECT_TRUE(ours.required || default_value.is_null() || is_empty_list(default_value))
          << "has the default " << default_value << ", which the specification does not give";
    } else {
      EXPECT_TRUE(same_default(default_value, attribute["default"]))
          << default_value << " instead of " << attribute["default"];
    }
  }
  for (const auto& [name, attribute] : theirs.items()) {
    EXPECT_TRUE(op.attrs->find(name)) << "attribute " << name << " is missing";
  }
}

bool is_specified(const OpDef& op) {
  return op.domain.empty() || op.domain.starts_with("ai.onnx");
}

TEST(Specification, rows_agree_with_it) {
  if (specification().empty()) GTEST_SKIP() << "SARDONYX_TEST_DATA is not set";
  for (const OpDef* op : all_ops()) {
    if (!is_specified(*op)) continue;
    SCOPED_TRACE(full_name(*op));
    const auto at = specification().find(full_name(*op));
    if (at == specification().end()) {
      ADD_FAILURE() << "is not in the specification";
      continue;
    }
    const Json& spec = at->second;
    EXPECT_EQ(op->since, spec["since"]);
    const Signature& signature = signature_of(*op);
    compare_params(*op, signature.inputs, spec["inputs"], spec);
    compare_params(*op, signature.outputs, spec["outputs"], spec);
    EXPECT_EQ(signature.min_inputs, spec["min_input"]);
    EXPECT_EQ(signature.min_outputs, spec["min_output"]);
    compare_attributes(*op, spec);
  }
}

// Samples are of tensors; a row with maps or sequences alone has none.
bool takes_tensors(const OpDef& op) {
  const std::vector<Param>& inputs = signature_of(op).inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](const Param& param) {
    for (const TypeConstraint& constraint : op.types) {
      if (constraint.name == param.type) return !constraint.types.tensors.empty();
    }
    return true;
  });
}

TEST(Specification, rows_are_complete) {
  for (const OpDef* op : all_ops()) {
    SCOPED_TRACE(full_name(*op));
    EXPECT_TRUE(op->infer);
    EXPECT_FALSE(op->reference && op->evaluate) << "expected one of reference and evaluate";
    EXPECT_TRUE(op->reference || op->evaluate || op->body) << "has no meaning";
    EXPECT_TRUE(op->samples || !takes_tensors(*op)) << "has no samples";
  }
}

// Ops of the specification that have no row, each with the reason.
struct Gap {
  std::string_view op, reason;
};
constexpr std::array<Gap, 1> kKnownGaps{{
    {"ai.onnx.preview.training::Gradient", "replaced at load by the gradients that it asks for"},
}};

TEST(Specification, every_op_has_a_row) {
  if (specification().empty()) GTEST_SKIP() << "SARDONYX_TEST_DATA is not set";
  std::string missing;
  for (const auto& [key, spec] : specification()) {
    const std::string& name = key;
    if (spec.value("deprecated", false)) continue;
    const auto is_it = [&](const Gap& gap) { return gap.op == name; };
    const bool is_gap = std::any_of(kKnownGaps.begin(), kKnownGaps.end(), is_it);
    const bool has_row = find_op(std::string(spec["name"]), std::string(spec["domain"]));
    EXPECT_FALSE(has_row && is_gap) << name << " has a row and is listed as a gap";
    if (!has_row && !is_gap) missing += (missing.empty() ? "" : " ") + name;
  }
  EXPECT_EQ(missing, "");
}

}  // namespace
}  // namespace sardonyx
