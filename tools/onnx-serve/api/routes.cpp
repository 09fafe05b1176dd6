#include "tools/onnx-serve/api/routes.h"

#include <algorithm>
#include <iterator>

namespace sardonyx::serve {
namespace {

using Path = std::vector<std::string>;

template <size_t count>
bool is_any(std::string_view name, const std::string_view (&of)[count]) {
  return std::find(std::begin(of), std::end(of), name) != std::end(of);
}

// models[/M[/versions/V][/CALL]]
std::string_view methods_of_model(const Path& path) {
  if (path.size() <= 3) return "GET, HEAD";  // all, one, or the statistics of all
  const bool has_version = path.size() >= 5 && path[3] == "versions";
  const size_t at = has_version ? 5 : 3;
  if (path.size() == at) return "GET, HEAD";
  if (path.size() == 5 && path[3] == "trace" && path[4] == "setting") return "GET, HEAD, POST";
  if (path.size() > at + 1) return "";
  if (path[at] == "infer") return "POST";
  return is_any(path[at], {"ready", "stats", "config", "profile"}) ? "GET, HEAD" : "";
}

std::string_view methods_of_memory(const Path& path) {
  const bool has_region = path.size() == 5 && path[2] == "region";
  if (path.size() != 3 && !has_region) return "";
  if (path.back() == "status") return "GET, HEAD";
  if (path.back() == "unregister") return "POST";
  return has_region && path.back() == "register" ? "POST" : "";
}

std::string_view methods_of_repository(const Path& path) {
  if (path.size() == 3 && path[2] == "index") return "GET, HEAD, POST";
  const bool is_call =
      path.size() == 5 && path[2] == "models" && is_any(path[4], {"load", "unload"});
  return is_call ? "POST" : "";
}

}  // namespace

std::string_view methods_of(const Path& path) {
  if (path.empty()) return "GET, HEAD";
  if (path.size() == 1) return is_any(path[0], {"v2", "metrics"}) ? "GET, HEAD" : "";
  if (path[0] != "v2") return "";
  if (path[1] == "models") return methods_of_model(path);
  if (path[1] == "repository") return methods_of_repository(path);
  if (path[1] == "systemsharedmemory" || path[1] == "cudasharedmemory")
    return methods_of_memory(path);
  if (path[1] == "health")
    return path.size() == 3 && is_any(path[2], {"live", "ready"}) ? "GET, HEAD" : "";
  if (path[1] == "logging") return path.size() == 2 ? "GET, HEAD, POST" : "";
  return path.size() == 3 && path[1] == "trace" && path[2] == "setting" ? "GET, HEAD, POST" : "";
}

}  // namespace sardonyx::serve
