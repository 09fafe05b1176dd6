// Every sample of every row: it runs, and what inference says beforehand, with sizes known or not,
// holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

// Types of the inputs with a symbol for every dim, and what the symbols stand for.
struct Symbolic {
  std::vector<InferInput> inputs;
  std::map<std::string, int64_t, std::less<>> sizes;
  int fresh = 0;
};

Symbolic made_symbolic(const OpDef& op, const std::vector<Datum>& inputs) {
  Symbolic symbolic;
  for (size_t i = 0; i < inputs.size(); ++i) {
    InferInput& seen = symbolic.inputs.emplace_back();
    if (!inputs[i].defined()) continue;
    seen.type = inputs[i].type();
    if (!inputs[i].is_tensor()) continue;
    if (i < 32 && op.shape_inputs >> i & 1u) {
      seen.constant = &inputs[i].tensor();
      continue;
    }
    Dims dims;
    for (size_t k = 0; k < inputs[i].tensor().rank(); ++k) {
      const std::string name = "s" + std::to_string(i) + "_" + std::to_string(k);
      symbolic.sizes[name] = inputs[i].tensor().shape()[k];
      dims.push_back(Dim::symbol(name));
    }
    seen.type.shape = dims;
  }
  return symbolic;
}

// Does the inferred type hold for the value? Symbols are replaced by their sizes; fresh ones may be
// anything.
void expect_holds(const InferOutput& inferred, const Datum& value, const Symbolic& symbolic) {
  if (!value.defined()) return;
  const Type actual = value.type();
  EXPECT_TRUE(same_kind(inferred.type, actual)) << inferred.type << " but is " << actual;
  const auto lookup = [&](std::string_view name) -> std::optional<Dim> {
    const auto at = symbolic.sizes.find(name);
    return at == symbolic.sizes.end() ? std::nullopt : std::optional(Dim(at->second));
  };
  if (actual.is_tensor() && inferred.type.has_rank()) {
    ASSERT_EQ(inferred.type.rank(), actual.rank()) << inferred.type << " but is " << actual;
    for (size_t k = 0; k < actual.rank(); ++k) {
      const Dim dim = (*inferred.type.shape)[k].substitute(lookup);
      EXPECT_TRUE(!dim.is_known() || dim == (*actual.shape)[k])
          << inferred.type << " but is " << actual;
    }
  }
  if (!inferred.dims) return;
  const std::vector<int64_t> elements = value.tensor().to_int64s();
  ASSERT_EQ(inferred.dims->size(), elements.size());
  for (size_t k = 0; k < elements.size(); ++k) {
    const Dim element = (*inferred.dims)[k].substitute(lookup);
    EXPECT_TRUE(!element.is_known() || element == elements[k])
        << to_text(*inferred.dims) << " has " << elements[k] << " at " << k;
  }
}

// Rows that ask for more of their types than constraints can say, so that some choices of types are
// refused.
struct RelatedTypes {
  std::string_view op, reason;
};
constexpr RelatedTypes kRelatedTypes[] = {
    {"com.microsoft::FusedGemm", "the activation takes fewer types than Gemm"},
    {"com.microsoft::GroupQueryAttention", "a cache that is not quantized has the query's type"},
};

bool may_refuse(const OpDef& op, const Error& error) {
  const auto is_it = [&](const RelatedTypes& row) { return row.op == full_name(op); };
  return error.code() == ErrorCode::kInvalidModel &&
         std::any_of(std::begin(kRelatedTypes), std::end(kRelatedTypes), is_it);
}

void check(const OpDef& op, const Sample& sample, const std::vector<Datum>& inputs) {
  std::string given;
  for (const Datum& input : inputs)
    given += (input.defined() ? input.type().text() : "none") + " ";
  SCOPED_TRACE(given);
  try {
    const Attrs attrs = Attrs::parse(*op.attrs, sample.attrs);
    const std::vector<Datum> outputs = evaluate(op, attrs, inputs, sample.outputs);
    ASSERT_EQ(outputs.size(), sample.outputs);
    Symbolic symbolic = made_symbolic(op, inputs);
    const auto fresh = [&] { return Dim::symbol("?" + std::to_string(symbolic.fresh++)); };
    const auto inferred = infer(op, attrs, symbolic.inputs, inputs.size(), sample.outputs, fresh);
    for (size_t i = 0; i < outputs.size(); ++i) {
      SCOPED_TRACE("output " + std::to_string(i));
      expect_holds(inferred[i], outputs[i], symbolic);
    }
  } catch (const Error& error) {
    if (!may_refuse(op, error)) ADD_FAILURE() << error.what();
  }
}

TEST(Samples, run_as_inferred) {
  for (const OpDef* op : all_ops()) {
    if (!op->samples) continue;
    SCOPED_TRACE(full_name(*op));
    const std::vector<Sample> samples = op->samples();
    for (size_t i = 0; i < samples.size(); ++i) {
      SCOPED_TRACE("sample " + std::to_string(i));
      for (const std::vector<Datum>& inputs : sample_inputs(*op, samples[i])) {
        check(*op, samples[i], inputs);
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx
