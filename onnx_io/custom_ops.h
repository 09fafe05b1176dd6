// Operators that a program brings along for the models that it loads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx {

// A node of a model, as its row is looked for.
struct CustomCall {
  std::string domain, op;
  std::string node;     // as the file names it, maybe not at all
  int64_t version = 1;  // of the domain, as the model imports it
  AttrMap attrs;
  std::vector<Type> inputs;  // kNone: omitted
  std::vector<std::string> input_names, output_names;
  std::vector<Type> outputs;                     // as the file declares them; kNone: not at all
  std::vector<std::optional<Tensor>> constants;  // by input, where known
};

class CustomOps {
 public:
  virtual ~CustomOps() = default;
  virtual bool knows(std::string_view domain, std::string_view op) const = 0;
  // The row of this node alone, which takes all of its attributes but graphs, which the row holds
  // itself. It must outlive all graphs and sessions that are made of the model.
  virtual const OpDef& row(CustomCall call) = 0;
};

// While it is there, models that this thread loads may have the operators of `ops`, which come
// before those of ONNX.
class CustomOpScope {
 public:
  explicit CustomOpScope(CustomOps* ops);
  ~CustomOpScope();
  CustomOpScope(const CustomOpScope&) = delete;
  CustomOpScope& operator=(const CustomOpScope&) = delete;

 private:
  CustomOps* outer_;
};

// Null where the thread has none that know the operator.
CustomOps* custom_ops_with(std::string_view domain, std::string_view op);

}  // namespace sardonyx
