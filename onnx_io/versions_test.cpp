// Every version of every op: the samples of its row, written as that version has them, read back
// and run, give what the row gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "ir/core/dtype_convert.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"
#include "onnx_io/export/downgrade.h"
#include "onnx_io/load.h"
#include "onnx_io/onnx.pb.h"
#include "onnx_io/op_versions.h"
#include "onnx_io/save.h"

namespace sardonyx {
namespace {

// Pairs that no sample reaches in this way, by reason; one that starts to pass must leave.
const std::map<std::string_view, std::vector<std::string_view>> kUnreached = {
    {"draws numbers: conformance compares its distribution",
     {"Bernoulli-15", "Bernoulli-22", "Multinomial-7", "Multinomial-22", "RandomNormal-1",
      "RandomNormal-22", "RandomNormalLike-1", "RandomNormalLike-22", "RandomUniform-1",
      "RandomUniform-22", "RandomUniformLike-1", "RandomUniformLike-22", "Dropout-1", "Dropout-6",
      "Dropout-7", "Dropout-10", "Dropout-12", "Dropout-13", "Dropout-22"}},
    {"takes sequences or maps, which samples do not describe: sequence_test and conformance do",
     {"ConcatFromSequence-11", "SequenceAt-11", "SequenceErase-11", "SequenceInsert-11",
      "SequenceLength-11", "SequenceMap-17", "ai.onnx.ml::CastMap-1",
      "ai.onnx.ml::DictVectorizer-1"}},
    {"takes optional values only, while samples give it tensors, which it takes since opset 18",
     {"OptionalGetElement-15", "OptionalHasElement-15"}},
    {"its form differs from the oldest that is written: upgrade tests write it by hand",
     {"Cast-1", "Reshape-1", "Tile-1", "Scan-8"}},
};
// Pairs that read what was written by a newer version in another way: defaults or the meaning of
// negative indices changed, or they are written out as bodies that round small floats at each step.
// They load and run; upgrade and downgrade tests hold their values.
constexpr std::string_view kOtherMeaning[] = {"Selu-1", "MeanVarianceNormalization-1", "OneHot-9",
                                              "GroupNormalization-18"};

std::string_view reason_unreached(std::string_view pair) {
  for (const auto& [reason, pairs] : kUnreached) {
    if (std::ranges::find(pairs, pair) != pairs.end()) return reason;
  }
  return "";
}

// A graph of one node. Inputs whose values decide shapes are constants, or all but the first where
// `all_constant`: many old forms have them as attributes.
Model one_node(const OpDef& op, const Attrs& attrs, const std::vector<Datum>& inputs,
               size_t outputs, bool all_constant, std::vector<Datum>& given) {
  Model model;
  Graph& graph = *model.graph;
  graph.name = "one";
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) {
      values.push_back(nullptr);
      continue;
    }
    const bool decides = i < 32 && (op.shape_inputs >> i & 1u);
    if (inputs[i].is_tensor() && (decides || (all_constant && i > 0))) {
      values.push_back(graph.add_constant(text("c", i), inputs[i].tensor()));
      continue;
    }
    values.push_back(graph.add_input(text("x", i), inputs[i].type()));
    given.push_back(inputs[i]);
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs; ++i)
    names.push_back(text("y", i));
  Node* node = graph.append(op, attrs, values, names);
  node->name = "node";
  infer_node(graph, *node);
  for (Value* output : node->outputs)
    graph.add_output(output);
  return model;
}

std::string difference(const std::vector<Datum>& expected, const std::vector<Datum>& got,
                       double tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Comparison found = compare(got[i], expected[i], {.rtol = tolerance, .atol = tolerance});
    if (!found) return text("output ", i, ": ", found.reason);
  }
  return "";
}

// The same inputs in float64 where they are float32 and the row takes both; the results as float32.
std::optional<std::vector<Datum>> run_in_double(const OpDef& op, const Attrs& attrs,
                                                const std::vector<Datum>& inputs, size_t outputs) {
  const auto cast = [](const Datum& datum, DType from, DType to) {
    if (!datum.is_tensor() || datum.tensor().dtype() != from) return datum;
    const Tensor& tensor = datum.tensor();
    Tensor made = Tensor::allocate(to, tensor.shape());
    convert_numbers(from, tensor.raw(), to, made.raw(), tensor.count());
    return Datum(made);
  };
  std::vector<Datum> wide, results;
  bool any = false;
  for (const Datum& input : inputs) {
    any |= input.is_tensor() && input.tensor().dtype() == DType::kFloat;
    wide.push_back(cast(input, DType::kFloat, DType::kDouble));
  }
  if (!any) return std::nullopt;
  try {
    for (const Datum& result : evaluate(op, attrs, wide, outputs))
      results.push_back(cast(result, DType::kDouble, DType::kFloat));
  } catch (const Error&) {
    return std::nullopt;  // the row has no float64
  }
  return results;
}

// Tensors of the same types; numbers as text have as many digits as their type.
bool are_comparable(const std::vector<Datum>& a, const std::vector<Datum>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!compare_types(a[i], b[i])) return false;
    if (a[i].is_tensor() && a[i].tensor().dtype() == DType::kString) return false;
  }
  return true;
}

// The file's bytes with ai.onnx's (or the op's own domain's) opset set to `opset`: the forms of
// opsets before the oldest that is written differ from it by nothing, or the case does not load.
std::string with_opset(const std::string& bytes, std::string_view domain, int64_t opset) {
  onnx_schema::ModelProto proto;
  proto.ParseFromString(bytes);
  for (auto& import : *proto.mutable_opset_import()) {
    if (canonical_domain(import.domain()) == domain) import.set_version(opset);
  }
  return proto.SerializeAsString();
}

enum class Outcome { kPassed, kNotExpressible, kFailed };

struct Case {
  const OpDef& op;
  const Attrs& attrs;
  const std::vector<Datum>& inputs;
  size_t outputs;
  bool has_other_meaning;
};

Outcome run_at(const Case& test, int64_t opset, std::string& why) {
  const bool is_main = test.op.domain.empty();
  for (const bool all_constant : {false, true}) {
    std::vector<Datum> given;
    std::string bytes;
    try {
      const Model model =
          one_node(test.op, test.attrs, test.inputs, test.outputs, all_constant, given);
      SaveOptions save;
      if (is_main) save.opset = std::max<int64_t>(opset, onnx_export::kOldestSavedOpset);
      bytes = model_bytes(model, save);
      if (!is_main || opset < onnx_export::kOldestSavedOpset)
        bytes = with_opset(bytes, test.op.domain, opset);
    } catch (const Error& error) {
      why = error.what();
      continue;
    }
    Model loaded;
    try {
      LoadOptions strict;  // types that the file declares tell whether this form means the same
      strict.strict = true;
      loaded = load_model(std::as_bytes(std::span(bytes)), strict);
    } catch (const Error& error) {
      why = error.what();
      continue;
    }
    try {
      const std::vector<Datum> expected = evaluate(test.op, test.attrs, test.inputs, test.outputs);
      const std::vector<Datum> got = evaluate(*loaded.graph, given);
      if (test.has_other_meaning) return Outcome::kPassed;
      why = difference(expected, got, 1e-6);
      const auto exact = run_in_double(test.op, test.attrs, test.inputs, test.outputs);
      if (why.empty() && exact && are_comparable(*exact, got)) {
        why = difference(*exact, got, 1e-4);
        if (!why.empty()) why += " (expected: computed in float64)";
      }
      if (why.empty()) return Outcome::kPassed;
    } catch (const Error& error) {
      why = error.what();
    }
    return Outcome::kFailed;
  }
  return Outcome::kNotExpressible;
}

// An opset at which this version is the op's meaning.
int64_t opset_of(const OpVersions& versions, size_t index) {
  const int first = versions.since[index];
  const int64_t last = index + 1 < versions.since.size() ? versions.since[index + 1] - 1 : first;
  return std::clamp<int64_t>(onnx_export::kOldestSavedOpset, first, std::max<int64_t>(first, last));
}

// Whether some sample of the row passed; `why` says why none did.
bool passes(const OpDef& op, const OpVersions& versions, size_t index, std::string& why) {
  const std::string pair = text(full_name(op), "-", versions.since[index]);
  const bool other = std::ranges::find(kOtherMeaning, pair) != std::end(kOtherMeaning);
  bool passed = false;
  why = "no samples";
  if (!op.samples || op.is(kRandom)) return false;
  for (const Sample& sample : op.samples()) {
    const Attrs attrs = Attrs::parse(*op.attrs, sample.attrs);
    for (const std::vector<Datum>& inputs : sample_inputs(op, sample)) {
      std::string reason;
      const Outcome outcome =
          run_at({op, attrs, inputs, sample.outputs, other}, opset_of(versions, index), reason);
      EXPECT_NE(outcome, Outcome::kFailed) << pair << ": " << reason;
      passed |= outcome == Outcome::kPassed;
      if (outcome == Outcome::kNotExpressible) why = reason;
    }
  }
  return passed;
}

TEST(EveryVersion, OfEveryOpLoadsAndRuns) {
  size_t reached = 0;
  for (const OpHistory& history : op_histories()) {
    const OpDef* op = find_op(history.name, history.domain);
    if (!op) continue;  // removed ops are replaced by others on load: upgrade's own tests
    const OpVersions versions = *versions_of(history.domain, history.name);
    for (size_t v = 0; v < versions.since.size(); ++v) {
      if (versions.removed[v]) continue;
      const std::string pair = text(full_name(*op), "-", versions.since[v]);
      const std::string_view excuse = reason_unreached(pair);
      std::string why;
      if (passes(*op, versions, v, why)) {
        ++reached;
        EXPECT_EQ(excuse, "") << pair << " passes by now: take it out of the table";
      } else {
        EXPECT_NE(excuse, "") << pair << ": " << why;
      }
    }
  }
  EXPECT_GT(reached, 590u);
}

using Json = nlohmann::json;

// "tensor(float)" etc. of the specification, as Type::text() writes them.
bool allows(const Json& version, const std::string& constraint, const Type& type) {
  std::string wanted;
  if (type.is_tensor()) wanted = text("tensor(", type.dtype, ")");
  if (type.is_sequence() && type.element->is_tensor())
    wanted = text("seq(tensor(", type.element->dtype, "))");
  if (wanted.empty()) return true;
  if (!version["types"].contains(constraint)) return constraint == wanted;
  const Json& types = version["types"][constraint];
  return std::find(types.begin(), types.end(), wanted) != types.end();
}

// What the specification of that version says against the call; "" where it says nothing.
std::string objection(const Json& version, const onnx_export::WrittenCall& call) {
  for (const auto& [name, value] : call.attrs) {
    if (!version.contains("attributes") || !version["attributes"].contains(name))
      return "has no attribute " + name;
  }
  std::map<std::string, Type> bound;
  const auto check = [&](const Json& params, const std::vector<const Value*>& values) {
    for (size_t i = 0; i < params.size() || i < values.size(); ++i) {
      if (i >= params.size() && params.empty()) return text("takes no value ", i);
      const Json& param = params[std::min(i, params.size() - 1)];
      const std::string kind = param.value("kind", "single"), type = param["type"];
      if (i >= params.size() && kind != "variadic" && i < values.size() && values[i])
        return text("takes no value ", i);
      if (i >= values.size() || !values[i]) {
        if (kind == "single" && i < params.size()) return text("needs value ", i);
        continue;
      }
      if (!allows(version, type, values[i]->type))
        return text("value ", i, " is ", values[i]->type);
      if (!param.value("homogeneous", true)) continue;
      const auto [first, is_new] = bound.try_emplace(type, values[i]->type);
      if (!is_new && !same_kind(first->second, values[i]->type)) return text(type, " is two types");
    }
    return std::string();
  };
  if (std::string why = check(version["inputs"], call.inputs); !why.empty()) return "input: " + why;
  std::vector<const Value*> outputs = call.outputs;
  if (std::string why = check(version["outputs"], outputs); !why.empty()) return "output: " + why;
  return "";
}

// The samples of every row as every opset writes them: whatever is not refused fits what the
// specification says of that version.
TEST(EveryVersion, OfWhatIsWrittenFitsTheSpecification) {
  const char* data = std::getenv("SARDONYX_TEST_DATA");
  if (!data || !*data) GTEST_SKIP() << "SARDONYX_TEST_DATA is not set";
  std::ifstream file(std::string(data) + "/spec/onnx_ops.json");
  std::map<std::pair<std::string, int>, Json> spec;
  for (const Json& op : Json::parse(file)) {
    if (op["domain"] == "") spec[{op["name"], op["since"]}] = op;
  }
  size_t written = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->domain.empty() || !op->samples) continue;
    for (const Sample& sample : op->samples()) {
      const Attrs attrs = Attrs::parse(*op->attrs, sample.attrs);
      for (const std::vector<Datum>& inputs : sample_inputs(*op, sample)) {
        std::vector<Datum> given;
        SCOPED_TRACE(op->name);
        const Model model = one_node(*op, attrs, inputs, sample.outputs, true, given);
        const OpVersions versions = *versions_of("", op->name);
        for (size_t v = 0; v < versions.since.size(); ++v) {
          const int64_t opset = opset_of(versions, v);
          if (opset < onnx_export::kOldestSavedOpset || opset >= kNewestOpset) continue;
          onnx_export::WrittenCall call = onnx_export::newest_call(*model.graph->nodes().front());
          if (!onnx_export::downgrade(call, opset).empty()) continue;
          const int since = version_in(*versions_of("", call.op), opset).since;
          if (!spec.contains({call.op, since})) continue;  // ThresholdedRelu-1 alone
          EXPECT_EQ(objection(spec.at({call.op, since}), call), "") << call.op << '-' << since;
          ++written;
        }
      }
    }
  }
  EXPECT_GT(written, 1000u);
}

}  // namespace
}  // namespace sardonyx
