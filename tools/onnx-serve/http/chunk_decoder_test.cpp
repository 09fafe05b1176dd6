#include "tools/onnx-serve/http/chunk_decoder.h"

#include <gtest/gtest.h>

#include <string>

namespace sardonyx::serve {
namespace {

using ChunkState = ChunkDecoder::State;

struct Decoded {
  ChunkState state;
  std::string data;
  std::string rest;
};

// As if `piece` bytes came at a time.
Decoded decode(const std::string& bytes, size_t piece, size_t limit = 64) {
  ChunkDecoder decoder(limit);
  Decoded out{ChunkState::kFraming, "", ""};
  std::string there;
  for (size_t at = 0; at < bytes.size();) {
    there += bytes.substr(at, piece);
    at += piece;
    for (;;) {
      std::string_view in = there;
      out.state = decoder.take_framing(in);
      there = std::string(in);
      if (out.state != ChunkState::kData || there.empty()) break;
      const size_t taken = std::min<size_t>(there.size(), decoder.data_left());
      out.data += there.substr(0, taken);
      there.erase(0, taken);
      decoder.took_data(taken);
    }
    if (out.state == ChunkState::kDone) {
      out.rest = there + (at < bytes.size() ? bytes.substr(at) : "");
      break;
    }
  }
  return out;
}

TEST(ChunkDecoder, DataAreWhatIsBetweenTheFraming) {
  const std::string body =
      "3\r\nabc\r\n0000A ; name=\"a;b\"\r\n0123456789\r\n"
      "0;last\r\nOne: 1\r\nTwo:\r\n\r\nGET ";
  for (size_t piece = 1; piece <= body.size(); ++piece) {
    const Decoded out = decode(body, piece);
    EXPECT_EQ(out.state, ChunkState::kDone) << piece;
    EXPECT_EQ(out.data, "abc0123456789") << piece;
    EXPECT_EQ(out.rest, "GET ") << piece;
  }
}

TEST(ChunkDecoder, WhatHasAnotherFormIsWrong) {
  for (const char* body : {
           "\r\n",
           "g\r\n",
           "-1\r\n",
           "0x1\r\n",
           ";a\r\n",
           " 1\r\n",
           "1\n",
           "1 2\r\n",
           "1\rx",
           "00000000000000001\r\n",
           "1;a\nb",
           "1\r\nab",
           "1\r\na\n",
           "1\r\na\rx",
           "0\r\n: 1\r\n",
           "0\r\n folded\r\n",
           "0\r\nname : 1\r\n",
           "0\r\nname\r\n",
           "0\r\nname: a\nb",
           "0\r\n\rx",
       })
    EXPECT_EQ(decode(body, 1).state, ChunkState::kWrong) << body;
}

TEST(ChunkDecoder, ExtensionsAndTrailersAreBoundedTogether) {
  const std::string ten(10, 'x');
  const std::string extended = "1;" + ten + "\r\na\r\n";
  EXPECT_EQ(decode("0;" + ten + "\r\n\r\n", 1, 11).state, ChunkState::kDone);
  EXPECT_EQ(decode("0;" + ten + "\r\n\r\n", 1, 10).state, ChunkState::kTooLong);
  EXPECT_EQ(decode("0\r\n" + ten + ":\r\n\r\n", 1, 12).state, ChunkState::kDone);
  EXPECT_EQ(decode("0\r\n" + ten + ":\r\n\r\n", 1, 11).state, ChunkState::kTooLong);
  EXPECT_EQ(decode(extended + extended, 1, 21).state, ChunkState::kTooLong);
  EXPECT_EQ(decode("1" + std::string(30, ' ') + "\r\n", 1, 20).state, ChunkState::kTooLong);
}

}  // namespace
}  // namespace sardonyx::serve
