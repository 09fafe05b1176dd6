// Bodies in gzip and deflate (zlib's format).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tools/onnx-serve/http/body_storage.h"
#include "tools/onnx-serve/http/message.h"

namespace sardonyx::serve {

bool is_known_encoding(std::string_view encoding);

// Undoes either encoding, deflate with or without zlib's header, in steps: what a few bytes become
// may take seconds, in which others wait and the client may leave.
class Decompressor {
 public:
  enum class State : uint8_t {
    kGoesOn,
    kDone,
    kWrong,     // it is in neither encoding, or cut short
    kTooLarge,  // it has more than `limit` bytes
    kNoMemory,  // the budget is used up
  };
  // `body` and `taken` outlive it. Behind the result there are `padding` bytes of memory.
  Decompressor(std::string_view body, uint64_t limit, size_t padding, TakenBytes& taken);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Takes some milliseconds.
  State step();
  // Once it is done.
  std::string take_result() { return std::move(out_); }

 private:
  struct Inflater;
  State inflate_piece();
  void begin(int window_bits);

  const std::string_view body_;
  std::string_view rest_;  // of it
  const uint64_t limit_;
  const size_t padding_;
  TakenBytes& taken_;
  std::unique_ptr<Inflater> inflater_;
  bool has_header_ = true;  // of zlib or gzip
  std::string out_;
};

// Compresses an answer of some size as the request's Accept-Encoding allows.
void compress_answer(const HttpRequest& request, HttpAnswer& answer);

}  // namespace sardonyx::serve
