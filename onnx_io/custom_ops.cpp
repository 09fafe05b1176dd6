#include "onnx_io/custom_ops.h"

namespace sardonyx {
namespace {

thread_local CustomOps* t_custom_ops = nullptr;

}  // namespace

CustomOpScope::CustomOpScope(CustomOps* ops) : outer_(t_custom_ops) {
  t_custom_ops = ops;
}

CustomOpScope::~CustomOpScope() {
  t_custom_ops = outer_;
}

CustomOps* custom_ops_with(std::string_view domain, std::string_view op) {
  return t_custom_ops && t_custom_ops->knows(domain, op) ? t_custom_ops : nullptr;
}

}  // namespace sardonyx
