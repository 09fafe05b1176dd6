#include "executor/c_api/profile.h"

#include "executor/c_api/structs.h"

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_profile_create(sx_profile** profile) {
  return guarded([&] { make_at(profile, "profile"); });
}

void sx_profile_clear(sx_profile* profile) {
  if (profile) profile->steps.clear();
}

size_t sx_profile_step_count(const sx_profile* profile) {
  return profile ? profile->steps.size() : 0;
}

sx_status sx_profile_step(const sx_profile* profile, size_t index, sx_step* step) {
  return guarded([&] {
    const std::vector<NodeTiming>& steps = require(profile, "profile").steps;
    check_index(index, steps, "steps");
    const NodeTiming& timing = steps[index];
    fill_struct(step,
                {.struct_size = 0,
                 .node = timing.name.c_str(),
                 .op = timing.op.c_str(),
                 .implementation = timing.implementation.c_str(),
                 .scope = timing.scope.c_str(),
                 .source = timing.source.c_str(),
                 .types = timing.types.c_str(),
                 .seconds = timing.seconds,
                 .bytes = timing.bytes},
                "step");
  });
}

void sx_profile_destroy(sx_profile* profile) {
  delete profile;
}

}  // extern "C"
