#include "tools/onnx-run/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "onnx_io/file_write.h"

namespace sardonyx::tool {

StandardOutput::StandardOutput()
    : before_(std::cout.rdbuf(this)), is_terminal_(isatty(STDOUT_FILENO) == 1) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

StandardOutput::~StandardOutput() {
  drain();
  std::cout.rdbuf(before_);
}

void StandardOutput::put(const char* text, size_t count) {
  while (count > 0 && error_ == 0) {
    const ssize_t written = ::write(STDOUT_FILENO, text, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      error_ = errno;
      return;
    }
    text += written;
    count -= static_cast<size_t>(written);
  }
}

bool StandardOutput::drain() {
  put(pbase(), static_cast<size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return error_ == 0;
}

StandardOutput::int_type StandardOutput::overflow(int_type c) {
  if (!drain()) return traits_type::eof();
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

std::streamsize StandardOutput::xsputn(const char* text, std::streamsize count) {
  if (count > epptr() - pptr() && !drain()) return 0;
  if (count > epptr() - pptr()) {
    put(text, static_cast<size_t>(count));
  } else {
    traits_type::copy(pptr(), text, static_cast<size_t>(count));
    pbump(static_cast<int>(count));
    // People see whole lines at once.
    if (is_terminal_ && traits_type::find(text, static_cast<size_t>(count), '\n')) drain();
  }
  return error_ == 0 ? count : 0;
}

int StandardOutput::sync() {
  return drain() ? 0 : -1;
}

void StandardOutput::finish() {
  drain();
  errno = 0;
  const bool is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (error_ == 0 && is_lost) error_ = errno != 0 ? errno : EIO;
  if (error_ != 0) fail_to_write("stdout", "can't be written", error_);
}

}  // namespace sardonyx::tool
