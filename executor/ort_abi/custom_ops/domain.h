// Operators of the program's: what it registers, and those of a session.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/ort_abi/custom_ops/custom_row.h"
#include "executor/ort_abi/table/ort_c_api.h"
#include "onnx_io/custom_ops.h"

// The program's, which outlives the sessions that use it; so do the operators in it.
struct OrtCustomOpDomain {
  std::string domain;
  std::vector<const OrtCustomOp*> ops;
};

namespace sardonyx::ort_abi {

// The rows of one session's model.
class SessionCustomOps : public CustomOps {
 public:
  // `logger` and `config` must outlive it.
  SessionCustomOps(std::vector<const OrtCustomOpDomain*> domains, const OrtLogger& logger,
                   const OrtKeyValuePairs& config);

  bool knows(std::string_view domain, std::string_view op) const override;
  const OpDef& row(CustomCall call) override;

 private:
  // Those of the node's name, in the order in which the program added them.
  std::vector<const OrtCustomOp*> named_as(const CustomCall& call) const;
  const OrtCustomOp& chosen(const CustomCall& call) const;

  std::vector<const OrtCustomOpDomain*> domains_;
  const OrtLogger& logger_;
  const OrtKeyValuePairs& config_;
  std::vector<std::unique_ptr<CustomRow>> rows_;
};

}  // namespace sardonyx::ort_abi
