// An extension for tests: are the functions where tools/duckdb/duckdb_api.h has them?
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "tools/duckdb/duckdb_api.h"

namespace sardonyx::duckdb {
namespace {

struct Listed {
  size_t place;
  const char* name;
};
#define SARDONYX_DUCKDB_LISTED(place, result, name, arguments) {place, #name},
constexpr Listed kListed[] = {SARDONYX_DUCKDB_FUNCTIONS(SARDONYX_DUCKDB_LISTED)};
#undef SARDONYX_DUCKDB_LISTED

std::string problems(const void* table) {
  const char* path = std::getenv("SARDONYX_DUCKDB");
  void* library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!library) return "SARDONYX_DUCKDB is not the library that loads this";
  const auto* places = static_cast<void* const*>(table);
  std::string found;
  for (const auto& [place, name] : kListed) {
    const std::string whole = std::string("duckdb_") + name;
    void* wanted = dlsym(library, whole.c_str());
    if (!wanted || places[place] != wanted)
      found += " " + whole + " is not at place " + std::to_string(place) + ";";
  }
  return found;
}

}  // namespace
}  // namespace sardonyx::duckdb

extern "C" __attribute__((visibility("default"))) bool api_check_init_c_api(
    void* info, sardonyx::duckdb::ExtensionAccess* access) {
  using namespace sardonyx::duckdb;
  const void* table = access->get_api(info, kApiVersion);
  if (!table) return false;
  const std::string found = problems(table);
  if (!found.empty()) access->set_error(info, ("api_check:" + found).c_str());
  return found.empty();
}
