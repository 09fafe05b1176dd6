// Messages as they come and go: bytes, which the library has neither decompressed nor parsed.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "tools/onnx-serve/http/body_storage.h"

namespace sardonyx::serve {

// Parses a message of at most `most` bytes, compressed or not, whose bytes are freed and taken from
// the budget as what they become. Throws ServingError kInvalidArgument where they are no such
// message, kTooLarge, kUnavailable where the budget is used up, or kCancelled where the call is
// before all is decompressed.
void read_wire(grpc::ByteBuffer& bytes, const grpc::CallbackServerContext& call, uint64_t most,
               TakenBytes& taken, google::protobuf::Message& to);

// Serializes a message and empties it: it is not held twice for longer than that takes. Throws
// ServingError kUnavailable where the budget is used up.
void write_wire(google::protobuf::Message& from, TakenBytes& taken, grpc::ByteBuffer& to);

// The same of a small message, which is not counted.
void write_wire(const google::protobuf::Message& from, grpc::ByteBuffer& to);

}  // namespace sardonyx::serve
