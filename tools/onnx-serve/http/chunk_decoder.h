// The chunked transfer coding (RFC 9112, 7.1): where the data are among sizes, extensions and
// trailers, which are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sardonyx::serve {

class ChunkDecoder {
 public:
  enum class State : uint8_t {
    kFraming,  // more of it is needed
    kData,     // data_left() bytes of data come next
    kDone,
    kWrong,
    kTooLong,  // extensions and trailers have more than `limit` bytes
  };

  explicit ChunkDecoder(size_t limit) : limit_(limit) {}

  // Takes framing off `in`, up to data, the end of the body or the end of `in`.
  State take_framing(std::string_view& in);
  uint64_t data_left() const { return data_left_; }
  // `bytes` of the data, at most data_left(), have been taken elsewhere.
  void took_data(uint64_t bytes);

 private:
  enum class Place : uint8_t {
    kSize,
    kAfterSize,  // white space before an extension
    kExtension,
    kSizeEnd,  // of each ...End, LF is to come
    kData,
    kDataEnd1,
    kDataEnd2,
    kLine,  // the beginning of a trailer, or of the last line
    kName,
    kValue,
    kValueEnd,
    kEnd,
    kDone,
    kWrong,
    kTooLong,
  };

  Place next(char c);
  Place after_digit(char c);
  Place chunk_begins() const;
  Place counted(Place place);
  State state() const;

  const size_t limit_;
  size_t counted_ = 0;
  uint64_t data_left_ = 0;
  unsigned digits_ = 0;
  Place place_ = Place::kSize;
};

}  // namespace sardonyx::serve
