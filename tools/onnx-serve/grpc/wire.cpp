#include "tools/onnx-serve/grpc/wire.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "executor/batching/serving_error.h"
#include "tools/onnx-serve/http/compression.h"

namespace sardonyx::serve {
namespace {

using google::protobuf::Message;
using serving::refuse;
using serving::Status;

class WireReader : public grpc::ProtoBufferReader {
 public:
  using grpc::ProtoBufferReader::ProtoBufferReader;
  bool is_compressed() { return reader()->buffer_in->data.raw.compression != GRPC_COMPRESS_NONE; }
};

[[noreturn]] void refuse_size(uint64_t most) {
  refuse(Status::kTooLarge, "the message is larger than ", most, " bytes");
}

[[noreturn]] void refuse_budget() {
  refuse(Status::kUnavailable, kBudgetIsUsedUp);
}

// Before it is whole in memory, and as soon as it is too much.
std::string decompressed_message(const grpc::ByteBuffer& bytes,
                                 const grpc::CallbackServerContext& call, uint64_t most,
                                 TakenBytes& taken) {
  using State = Decompressor::State;
  grpc::Slice packed;
  if (!bytes.DumpToSingleSlice(&packed).ok()) throw std::bad_alloc();
  const std::string_view view(reinterpret_cast<const char*>(packed.begin()), packed.size());
  Decompressor decompressor(view, most, /*padding=*/0, taken);
  for (;;) {
    switch (decompressor.step()) {
      case State::kGoesOn:
        if (call.IsCancelled()) refuse(Status::kCancelled, "the call has ended");
        break;
      case State::kDone:
        return decompressor.take_result();
      case State::kWrong:
        refuse(Status::kInvalidArgument, "the message is not what its grpc-encoding says");
      case State::kTooLarge:
        refuse_size(most);
      case State::kNoMemory:
        refuse_budget();
    }
  }
}

}  // namespace

void read_wire(grpc::ByteBuffer& bytes, const grpc::CallbackServerContext& call, uint64_t most,
               TakenBytes& taken, Message& to) {
  if (!bytes.Valid()) refuse(Status::kInvalidArgument, "the call has no message");
  bool is_message = false;
  if (WireReader reader(&bytes); reader.is_compressed()) {
    is_message = to.ParseFromString(decompressed_message(bytes, call, most, taken));
  } else {
    if (bytes.Length() > most) refuse_size(most);
    if (!taken.try_take(bytes.Length())) refuse_budget();
    is_message = to.ParseFromZeroCopyStream(&reader);
  }
  bytes.Clear();
  if (!is_message) {
    refuse(Status::kInvalidArgument, "expected a message ", to.GetTypeName(),
           ", got other bytes, or a string in it that is not UTF-8");
  }
}

void write_wire(const Message& from, grpc::ByteBuffer& to) {
  bool owns = false;
  const grpc::Status status = grpc::SerializationTraits<Message>::Serialize(from, &to, &owns);
  if (!status.ok()) refuse(Status::kInternal, "the answer: ", status.error_message());
}

void write_wire(Message& from, TakenBytes& taken, grpc::ByteBuffer& to) {
  if (!taken.try_take(from.ByteSizeLong())) refuse_budget();
  write_wire(static_cast<const Message&>(from), to);
  from.Clear();
}

}  // namespace sardonyx::serve
