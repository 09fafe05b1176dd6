#include "providers/providers.h"

#include "ir/core/error.h"
#include "providers/cpu/provider.h"
#include "providers/onednn/provider.h"
#include "providers/source_digest.h"

namespace sardonyx {

std::span<const Provider* const> all_providers() {
  static const Provider* const kAll[] = {&onednn_provider(), &cpu_provider()};
  return kAll;
}

std::vector<const Provider*> providers_named(const std::vector<std::string>& names) {
  std::vector<const Provider*> found;
  for (const std::string& name : names) {
    if (name == "reference") continue;
    const size_t before = found.size();
    for (const Provider* provider : all_providers()) {
      if (provider->name == name) found.push_back(provider);
    }
    if (name == onednn_provider().name) load_onednn();
    if (found.size() > before) continue;
    std::string known;
    for (const Provider* provider : all_providers())
      known += std::string(provider->name) + ", ";
    fail(ErrorCode::kInvalidArgument, "provider ", name.empty() ? "\"\"" : name,
         ": there is none of this name; known are ", known, "reference");
  }
  return found;
}

namespace {

// Sessions of other providers pack weights, too.
std::string onednn_version_if_installed() {
  try {
    return onednn_version();
  } catch (const Error&) {
    return "no oneDNN";
  }
}

}  // namespace

std::string packing_version() {
  return text("sardonyx ", SARDONYX_VERSION, " of sources ", kSourceDigest, ", ",
              cpu_instructions(), ", ", onednn_version_if_installed());
}

bool computes_bfloat16() {
  return onednn_computes_bfloat16();
}

bool computes_bfloat16_by_tiles() {
  return onednn_uses_amx();
}

}  // namespace sardonyx
