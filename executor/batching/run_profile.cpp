#include "executor/batching/run_profile.h"

#include <algorithm>

namespace sardonyx::serving {

void RunProfile::add(Nanoseconds took, std::span<const NodeTiming> steps) {
  const std::lock_guard lock(mutex_);
  ++runs_;
  seconds_ += std::chrono::duration<double>(took).count();
  for (const NodeTiming& timing : steps) {
    Step& step = steps_[{timing.name, timing.op, timing.implementation}];
    if (step.count == 0 || timing.seconds > step.slowest.seconds) step.slowest = timing;
    ++step.count;
    step.seconds += timing.seconds;
    step.bytes += timing.bytes;
  }
}

RunProfile::Sums RunProfile::sums() const {
  const std::lock_guard lock(mutex_);
  Sums sums{runs_, seconds_, {}};
  for (const auto& [key, step] : steps_)
    sums.steps.push_back(step);
  std::stable_sort(sums.steps.begin(), sums.steps.end(),
                   [](const Step& a, const Step& b) { return a.seconds > b.seconds; });
  return sums;
}

std::shared_ptr<RunProfile> RunProfiles::begin() {
  const auto profile = std::make_shared<RunProfile>();
  const std::lock_guard lock(mutex_);
  taken_.push_back(profile);
  is_on_ = true;
  return profile;
}

void RunProfiles::add(Nanoseconds took, std::span<const NodeTiming> steps) {
  std::vector<std::shared_ptr<RunProfile>> profiles;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(taken_, [](const auto& one) { return one.expired(); });
    for (const auto& one : taken_) {
      if (auto profile = one.lock()) profiles.push_back(std::move(profile));
    }
    is_on_ = !taken_.empty();
  }
  for (const auto& profile : profiles)
    profile->add(took, steps);
}

}  // namespace sardonyx::serving
