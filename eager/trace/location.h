// Where a call stands in the user's program; written into messages, traces and exported files.
#pragma once

#include <cstdint>

namespace sardonyx::eager {

// What std::source_location is, for compilers that still lack it (clang before 15).
class Loc {
 public:
  static constexpr Loc current(const char* file = __builtin_FILE(),
                               uint32_t line = __builtin_LINE()) {
    return Loc(file, line);
  }
  constexpr Loc() = default;
  constexpr const char* file_name() const { return file_; }
  constexpr uint32_t line() const { return line_; }  // from 1; 0 where nothing is known

 private:
  constexpr Loc(const char* file, uint32_t line) : file_(file), line_(line) {}
  const char* file_ = "";
  uint32_t line_ = 0;
};

}  // namespace sardonyx::eager
