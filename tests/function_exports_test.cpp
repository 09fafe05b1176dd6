// Every function of the eager layer as a file of every opset: either the file is written, and what
// runtimes compute from it is the eager result, or the export is refused with the op that the opset
// lacks. Arguments that are left out are named. ONNX Runtime reads the files too where
// SARDONYX_ONNXRUNTIME names its library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "eager/autograd/autograd.h"
#include "eager/export/export.h"
#include "executor/session.h"
#include "ir/graph.h"
#include "ir/value_compare.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"
#include "tests/function_exports/table.h"
#include "tests/support/temporary_folder.h"
#include "tools/onnx-run/ort/ort_bridge.h"

namespace sardonyx::eager::exports {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int64_t kOpsets[] = {9, 11, 13, 14, 15, 17, 18, 20, 21};

// One function: its results at once, and the model that exports of all opsets are written from.
class Export {
 public:
  explicit Export(const Function& function) : function_(function) {
    ExportOptions options;
    for (size_t i = 0; i < function.inputs.size(); ++i)
      options.input_names.push_back(text("x", i));
    const NoGrad no_grad;
    for (const Tensor& result : function.run(function.inputs))
      expected_.push_back(result.datum());
    model_ = traced_model(function.run, function.inputs, options);
  }

  void check_at(int64_t opset) const {
    std::string bytes, refusal;
    try {
      bytes = model_bytes(model_, {.opset = opset, .external_data = {}});
    } catch (const Error& error) {
      refusal = error.what();
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    }
    if (opset < function_.needs.since) return expect_refused(refusal, opset);
    ASSERT_EQ(refusal, "");
    check_here(bytes);
    check_in_onnxruntime(bytes);
  }

 private:
  void expect_refused(const std::string& refusal, int64_t opset) const {
    ASSERT_NE(refusal, "") << "is written, the table says that it can't be";
    EXPECT_THAT(refusal, HasSubstr(text("opset ", opset, " can't express")));
    EXPECT_THAT(refusal, HasSubstr(function_.needs.lacking));
    EXPECT_THAT(refusal, HasSubstr("_exports.cpp:")) << "names the caller's line";
    if (function_.needs.since != kNoOpset) {
      EXPECT_THAT(refusal, HasSubstr(text("save in opset ", function_.needs.since, " or later")));
    }
  }

  NamedData fed(std::span<const std::string> names) const {
    NamedData feeds;
    for (const std::string& name : names)
      feeds.emplace(name, function_.inputs.at(std::stoul(name.substr(1))).datum());
    return feeds;
  }
  void check_here(const std::string& bytes) const {
    const Session session(load_model(std::as_bytes(std::span(bytes))),
                          SessionOptions{.intra_op_threads = 1});
    std::vector<std::string> names;
    for (const ValueInfo& input : session.inputs())
      names.push_back(input.name);
    expect_results(session.run(fed(names)), "sardonyx");
  }
  void check_in_onnxruntime(const std::string& bytes) const {
    const char* library = std::getenv("SARDONYX_ONNXRUNTIME");
    if (!library || !*library) return;
    const TemporaryFolder folder;
    try {
      const tool::OtherSession session(library, folder.write("model.onnx", bytes), {.threads = 1});
      expect_results(session.run(fed(session.input_names())), "ONNX Runtime");
    } catch (const Error& error) {
      EXPECT_TRUE(function_.needs.may_lack_kernel) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("Could not find an implementation"));
    }
  }
  void expect_results(const std::vector<Datum>& got, const char* runtime) const {
    ASSERT_EQ(got.size(), expected_.size()) << runtime;
    for (size_t i = 0; i < got.size(); ++i) {
      const Tolerance tolerance{.rtol = 1e-4, .atol = 1e-6, .relative_to_max = 1e-5};
      const Comparison difference = function_.needs.is_random
                                        ? compare_types(got[i], expected_[i])
                                        : compare(got[i], expected_[i], tolerance);
      EXPECT_TRUE(difference) << runtime << ", result " << i << ": " << difference.reason;
    }
  }

  const Function& function_;
  std::vector<Datum> expected_;
  Model model_;
};

// An input that is left out is one that may be, or the error says which, and whose call it was.
void check_undefined(const Function& function) {
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    Tensors inputs = function.inputs;
    inputs[i] = Tensor();
    try {
      function.run(inputs);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  AnyOf(HasSubstr("is an undefined tensor"), HasSubstr("was left out")));
      if (function.needs.is_called_by_struct) continue;
      EXPECT_THAT(error.what(), HasSubstr("_exports.cpp:")) << "names the caller's line";
    }
  }
}

void check_all(const std::vector<Function>& functions) {
  for (const Function& function : functions) {
    SCOPED_TRACE(function.name);
    check_undefined(function);
    try {
      const Export one(function);
      for (const int64_t opset : kOpsets) {
        SCOPED_TRACE(text("opset ", opset));
        one.check_at(opset);
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(FunctionExports, Elementwise) {
  check_all(elementwise_functions());
}
TEST(FunctionExports, Reductions) {
  check_all(reductions());
}
TEST(FunctionExports, Arrangements) {
  check_all(arrangements());
}
TEST(FunctionExports, Selections) {
  check_all(selections());
}
TEST(FunctionExports, ProductsAndTransforms) {
  check_all(products_and_transforms());
}
TEST(FunctionExports, Layers) {
  check_all(layers());
}
TEST(FunctionExports, RecurrentLayers) {
  check_all(recurrent_layers());
}
TEST(FunctionExports, Resamplings) {
  check_all(resamplings());
}
TEST(FunctionExports, Losses) {
  check_all(losses());
}
TEST(FunctionExports, ControlFlow) {
  check_all(control_flow());
}

}  // namespace
}  // namespace sardonyx::eager::exports
