// Where in the model's modules a call stands; written into messages, traces and exported files.
#pragma once

#include <cstddef>
#include <string>

namespace sardonyx::eager {

// A path of module names ("encoder.layer3") for what runs until the scope ends.
class ScopeName {
 public:
  explicit ScopeName(const std::string& name);
  ~ScopeName();
  ScopeName(const ScopeName&) = delete;
  ScopeName& operator=(const ScopeName&) = delete;
  static const std::string& current();

 private:
  size_t previous_size_;
};

}  // namespace sardonyx::eager
