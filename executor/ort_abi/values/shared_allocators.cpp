// Registration of allocators with an environment. Sessions with session.use_env_allocators take all
// their memory from there, others from pools of their own.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "executor/ort_abi/env.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"

struct OrtArenaCfg {
  size_t max_memory = 0;  // 0: no limit
  int extend_strategy = -1;
};

namespace sardonyx::ort_abi {
namespace {

void register_allocator(OrtEnv& env, const OrtEnv::SharedAllocator& shared) {
  const std::lock_guard lock(env.mutex);
  for (OrtEnv::SharedAllocator& known : env.allocators) {
    if (!(known.info == shared.info)) continue;
    known = shared;
    return;
  }
  env.allocators.push_back(shared);
}

OrtStatus* register_own(OrtEnv* env, const OrtMemoryInfo* mem_info, const OrtArenaCfg* arena_cfg) {
  return guarded([&] {
    OrtEnv& to = require(env, "env");
    const OrtMemoryInfo& info = require(mem_info, "mem_info");
    if (info.device_type != OrtMemoryInfoDeviceType_CPU)
      refuse(ORT_INVALID_ARGUMENT, "There is no allocator for memory of ", info.name);
    OrtAllocator* made = new_arena(info, arena_cfg ? arena_cfg->max_memory : 0);
    register_allocator(to, {info, {made, Functions::ReleaseAllocator}});
  });
}

OrtStatus* refuse_device(const void* env, const void* device) {
  return guarded([&] {
    require(static_cast<const char*>(env), "env");
    require(static_cast<const char*>(device), "ep_device");
    refuse(ORT_INVALID_ARGUMENT, "Invalid memory type for OrtEpDevice.");
  });
}

}  // namespace

OrtStatus* Functions::CreateAndRegisterAllocator(OrtEnv* env, const OrtMemoryInfo* mem_info,
                                                 const OrtArenaCfg* arena_cfg) {
  return register_own(env, mem_info, arena_cfg);
}

OrtStatus* Functions::CreateAndRegisterAllocatorV2(OrtEnv* env, const char* provider_type,
                                                   const OrtMemoryInfo* mem_info,
                                                   const OrtArenaCfg* arena_cfg, const char* const*,
                                                   const char* const*, size_t) {
  OrtStatus* refused = guarded([&] {
    const char* provider = &require(provider_type, "provider_type");
    if (std::strcmp(provider, "CPUExecutionProvider") != 0) {
      refuse(ORT_INVALID_ARGUMENT, provider,
             " is not implemented in CreateAndRegisterAllocatorV2()");
    }
  });
  return refused ? refused : register_own(env, mem_info, arena_cfg);
}

OrtStatus* Functions::RegisterAllocator(OrtEnv* env, OrtAllocator* allocator) {
  return guarded([&] {
    OrtEnv& to = require(env, "env");
    const OrtAllocator& given = require(allocator, "allocator");
    const OrtMemoryInfo* info = require(given.Info, "Info")(&given);
    require(given.Alloc, "Alloc");
    require(given.Free, "Free");
    const auto keep = [](OrtAllocator*) {};
    register_allocator(to, {require(info, "memory info"), {allocator, keep}});
  });
}

OrtStatus* Functions::UnregisterAllocator(OrtEnv* env, const OrtMemoryInfo* mem_info) {
  return guarded([&] {
    OrtEnv& from = require(env, "env");
    const OrtMemoryInfo& info = require(mem_info, "mem_info");
    const std::lock_guard lock(from.mutex);
    const auto at = std::ranges::find(from.allocators, info, &OrtEnv::SharedAllocator::info);
    if (at == from.allocators.end()) {
      refuse(ORT_INVALID_ARGUMENT, "No allocator for this device has been registered for sharing.");
    }
    from.allocators.erase(at);
  });
}

// The CPU has none to be made beside the default one.
OrtStatus* Functions::CreateSharedAllocator(OrtEnv* env, const OrtEpDevice* ep_device,
                                            OrtDeviceMemoryType, OrtAllocatorType,
                                            const OrtKeyValuePairs*, OrtAllocator** allocator) {
  if (allocator) *allocator = nullptr;
  return refuse_device(env, ep_device);
}

OrtStatus* Functions::ReleaseSharedAllocator(OrtEnv* env, const OrtEpDevice* ep_device,
                                             OrtDeviceMemoryType) {
  return refuse_device(env, ep_device);
}

OrtStatus* Functions::GetSharedAllocator(OrtEnv* env, const OrtMemoryInfo* mem_info,
                                         OrtAllocator** allocator) {
  return guarded([&] {
    OrtAllocator*& place = require_place(allocator, "allocator");
    OrtEnv& from = require(env, "env");
    const OrtMemoryInfo& info = require(mem_info, "mem_info");
    const std::lock_guard lock(from.mutex);
    const auto at = std::ranges::find(from.allocators, info, &OrtEnv::SharedAllocator::info);
    if (at != from.allocators.end())
      place = at->allocator.get();
    else if (info.device_type == OrtMemoryInfoDeviceType_CPU)
      place = default_allocator();
  });
}

OrtStatus* Functions::CreateArenaCfg(size_t max_mem, int arena_extend_strategy,
                                     int initial_chunk_size_bytes, int max_dead_bytes_per_chunk,
                                     OrtArenaCfg** out) {
  return guarded([&] {
    OrtArenaCfg*& place = require_place(out, "out");
    const bool is_valid = arena_extend_strategy >= -1 && arena_extend_strategy <= 1 &&
                          initial_chunk_size_bytes >= -1 && max_dead_bytes_per_chunk >= -1;
    if (!is_valid) refuse(ORT_INVALID_ARGUMENT, "Invalid configuration value was provided.");
    place = new OrtArenaCfg{max_mem, arena_extend_strategy};
  });
}

OrtStatus* Functions::CreateArenaCfgV2(const char* const* arena_config_keys,
                                       const size_t* arena_config_values, size_t num_keys,
                                       OrtArenaCfg** out) {
  return guarded([&] {
    static constexpr const char* kKeys[] = {"max_mem",
                                            "arena_extend_strategy",
                                            "initial_chunk_size_bytes",
                                            "max_dead_bytes_per_chunk",
                                            "initial_growth_chunk_size_bytes",
                                            "max_power_of_two_extend_bytes"};
    OrtArenaCfg*& place = require_place(out, "out");
    OrtArenaCfg made;
    if (num_keys > 0) require(arena_config_keys, "arena_config_keys");
    if (num_keys > 0) require(arena_config_values, "arena_config_values");
    for (size_t i = 0; i < num_keys; ++i) {
      const char* key = &require(arena_config_keys[i], "arena_config_keys");
      const size_t value = arena_config_values[i];
      const auto is_it = [key](const char* known) { return std::strcmp(key, known) == 0; };
      if (std::ranges::none_of(kKeys, is_it))
        refuse(ORT_INVALID_ARGUMENT, "Invalid key found: ", key);
      if (is_it("max_mem")) made.max_memory = value;
      if (is_it("arena_extend_strategy")) made.extend_strategy = static_cast<int>(value);
    }
    place = new OrtArenaCfg(made);
  });
}

void Functions::ReleaseArenaCfg(OrtArenaCfg* input) {
  delete input;
}

}  // namespace sardonyx::ort_abi
