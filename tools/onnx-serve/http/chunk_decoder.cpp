#include "tools/onnx-serve/http/chunk_decoder.h"

#include "tools/onnx-serve/http/framing.h"

namespace sardonyx::serve {
namespace {

constexpr unsigned kMostDigits = 16;  // of 64 bits

int size_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What extensions and values of trailers consist of.
bool is_text(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
}

}  // namespace

ChunkDecoder::State ChunkDecoder::take_framing(std::string_view& in) {
  while (!in.empty() && state() == State::kFraming) {
    place_ = next(in.front());
    in.remove_prefix(1);
  }
  return state();
}

void ChunkDecoder::took_data(uint64_t bytes) {
  data_left_ -= bytes;
  if (data_left_ == 0) place_ = Place::kDataEnd1;
}

ChunkDecoder::State ChunkDecoder::state() const {
  switch (place_) {
    case Place::kData:
      return State::kData;
    case Place::kDone:
      return State::kDone;
    case Place::kWrong:
      return State::kWrong;
    case Place::kTooLong:
      return State::kTooLong;
    default:
      return State::kFraming;
  }
}

ChunkDecoder::Place ChunkDecoder::counted(Place place) {
  return ++counted_ > limit_ ? Place::kTooLong : place;
}

ChunkDecoder::Place ChunkDecoder::after_digit(char c) {
  if (digits_ == 0) return Place::kWrong;
  if (c == '\r') return Place::kSizeEnd;
  if (c == ';') return counted(Place::kExtension);
  return c == ' ' || c == '\t' ? counted(Place::kAfterSize) : Place::kWrong;
}

// Behind the line of a size.
ChunkDecoder::Place ChunkDecoder::chunk_begins() const {
  return data_left_ > 0 ? Place::kData : Place::kLine;
}

ChunkDecoder::Place ChunkDecoder::next(char c) {
  const auto line_feed = [c](Place then) { return c == '\n' ? then : Place::kWrong; };
  switch (place_) {
    case Place::kSize: {
      const int digit = size_digit(c);
      if (digit < 0) return after_digit(c);
      if (++digits_ > kMostDigits) return Place::kWrong;
      data_left_ = data_left_ << 4 | static_cast<uint64_t>(digit);
      return Place::kSize;
    }
    case Place::kAfterSize:
      return after_digit(c);
    case Place::kExtension:
      if (c == '\r') return Place::kSizeEnd;
      return is_text(c) ? counted(Place::kExtension) : Place::kWrong;
    case Place::kSizeEnd:
      return line_feed(chunk_begins());
    case Place::kDataEnd1:
      digits_ = 0;
      return c == '\r' ? Place::kDataEnd2 : Place::kWrong;
    case Place::kDataEnd2:
      return line_feed(Place::kSize);
    case Place::kLine:
      if (c == '\r') return Place::kEnd;
      return is_token_char(c) ? counted(Place::kName) : Place::kWrong;
    case Place::kName:
      if (c == ':') return counted(Place::kValue);
      return is_token_char(c) ? counted(Place::kName) : Place::kWrong;
    case Place::kValue:
      if (c == '\r') return counted(Place::kValueEnd);
      return is_text(c) ? counted(Place::kValue) : Place::kWrong;
    case Place::kValueEnd:
      return line_feed(Place::kLine);
    case Place::kEnd:
      return line_feed(Place::kDone);
    default:
      return place_;
  }
}

}  // namespace sardonyx::serve
