// What the tests of leniency share: a file that deviates from ONNX in a way that leaves its meaning
// clear is loaded, with a warning of a name, and strict loading refuses it.
#pragma once

#include <gmock/gmock.h>

#include <functional>

#include "onnx_io/test_model.h"

namespace sardonyx::test {

inline std::vector<std::string> warnings_of(const ModelBuilder& model) {
  std::vector<std::string> names;
  LoadOptions options;
  options.on_warning = [&](const LoadWarning& warning) { names.push_back(warning.name); };
  verify(*model.load(options).graph);
  return names;
}

// y = relu(x), x of float[n, 3].
inline ModelBuilder relu() {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{"n", 3}});
  model.graph().node("Relu", {"x"}, {"y"});
  return model;
}

// y = relu(x), x of these dims.
inline ModelBuilder relu_of_dims(const std::vector<DimSpec>& dims) {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, dims);
  model.graph().node("Relu", {"x"}, {"y"});
  model.graph().output("y");
  return model;
}

inline ModelBuilder with_op(const std::string& op, const Names& inputs, const AttrMap& attrs,
                            const std::vector<DimSpec>& dims, int64_t opset = kNewestOpset) {
  ModelBuilder model(opset);
  model.graph().input("x", DType::kFloat, dims);
  model.graph().node(op, inputs, {"y"}, attrs);
  model.graph().output("y");
  return model;
}

struct DeviatingModel {
  const char* what;
  std::function<ModelBuilder()> model;
  std::string warning;
  std::vector<Datum> inputs;
  std::vector<double> wanted;  // the elements of the first output
};

inline void expect_lenience(const std::vector<DeviatingModel>& models) {
  LoadOptions strict;
  strict.strict = true;
  for (const DeviatingModel& deviating : models) {
    SCOPED_TRACE(deviating.what);
    const ModelBuilder model = deviating.model();
    const std::vector<std::string> names = warnings_of(model);
    EXPECT_FALSE(names.empty());
    for (const std::string& name : names)
      EXPECT_EQ(name, deviating.warning);
    const std::vector<double> got = run(model, deviating.inputs)[0].tensor().to_doubles();
    EXPECT_THAT(got, testing::Pointwise(testing::DoubleNear(1e-5), deviating.wanted));
    EXPECT_THAT(load_error(model, strict),
                testing::HasSubstr("(" + deviating.warning + ", refused"));
  }
}

}  // namespace sardonyx::test
