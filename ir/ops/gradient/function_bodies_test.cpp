// A row that has both means the same by its reference and by its body.
#include "ir/ops/gradient/function_bodies.h"

#include <gtest/gtest.h>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"

namespace sardonyx {
namespace {

Tolerance tolerance_for(DType dtype) {
  if (dtype == DType::kDouble) return {.rtol = 1e-6, .atol = 1e-6};  // float32 inside, where asked
  if (dtype == DType::kFloat) return {.rtol = 1e-5, .atol = 1e-5};
  return {.rtol = 3e-2, .atol = 3e-2};  // each op of the body rounds
}

std::vector<Datum> by_body(const OpDef& op, const Attrs& attrs, const std::vector<Datum>& inputs,
                           size_t outputs) {
  ReferenceEmitter emitter;
  Vals vals;
  for (const Datum& input : inputs)
    vals.push_back(ReferenceEmitter::wrap(input));
  std::vector<Datum> results;
  for (const Val& val : op.body(emitter, {op, attrs, vals, outputs}))
    results.push_back(ReferenceEmitter::unwrap(val));
  return results;
}

TEST(WrittenOut, BodiesMeanWhatReferencesDo) {
  size_t compared = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->reference || !op->body) continue;
    for (const Sample& sample : op->samples()) {
      const Attrs attrs = Attrs::parse(*op->attrs, sample.attrs);
      for (const std::vector<Datum>& inputs : sample_inputs(*op, sample)) {
        const std::vector<Datum> expected = evaluate(*op, attrs, inputs, sample.outputs);
        const std::vector<Datum> got = by_body(*op, attrs, inputs, sample.outputs);
        for (size_t i = 0; i < expected.size(); ++i) {
          const Comparison found =
              compare(got[i], expected[i], tolerance_for(inputs[0].tensor().dtype()));
          EXPECT_TRUE(found) << full_name(*op) << ", output " << i << ": " << found.reason;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 20u);
}

}  // namespace
}  // namespace sardonyx
