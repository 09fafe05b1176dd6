// Stdout whose write errors are kept.
#pragma once

#include <array>
#include <iostream>
#include <streambuf>

namespace sardonyx::tool {

// std::cout's buffer while it lives. The one of the standard library forgets why a write failed;
// this one keeps the first error, so that what is lost in a pipe or on a full disk is told.
class StandardOutput : public std::streambuf {
 public:
  StandardOutput();
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Writes what is left, C's stdout included. Throws as AtomicFile does where anything was lost.
  void finish();

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  bool drain();
  void put(const char* text, size_t count);

  std::array<char, 1 << 14> buffer_;
  std::streambuf* before_;
  bool is_terminal_;
  int error_ = 0;
};

}  // namespace sardonyx::tool
