#include "onnx_io/upgrade.h"
namespace sardonyx {
std::span<const UpgradeRule> upgrade_rules() {
  return {};
}
}  // namespace sardonyx
