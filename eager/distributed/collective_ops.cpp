#include "eager/distributed/collective_ops.h"

#include <cstring>

#include "eager/autograd/autograd.h"
#include "eager/custom_op.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::distributed {
namespace {

constexpr const char* kDomain = "sardonyx.distributed";

void all_reduce_now(const EvalCall& call) {
  const sardonyx::Tensor& value = call.inputs[0].tensor();
  sardonyx::Tensor& reduced = call.tensor(0, value.dtype(), value.shape());
  if (value.bytes() > 0) std::memcpy(reduced.raw(), value.raw(), value.bytes());
  const ProcessGroup group = ProcessGroup::world();
  const auto op = static_cast<ReduceOp>(required_attribute<int64_t>(call, "op"));
  const auto reduction = static_cast<Reduction>(required_attribute<int64_t>(call, "reduction"));
  auto done = group.start_all_reduce(reduced, op, reduction);
  group.wait(done);
}

void all_gather_now(const EvalCall& call) {
  const sardonyx::Tensor& value = call.inputs[0].tensor();
  const ProcessGroup group = ProcessGroup::world();
  sardonyx::Tensor& all =
      call.tensor(0, value.dtype(), gathered_shape(value.shape(), group.size()));
  group.all_gather_memory(bytes_of(value), bytes_of(all));
}

void broadcast_now(const EvalCall& call) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const sardonyx::Tensor& value = call.inputs[i].tensor();
    const auto* begin = static_cast<const std::byte*>(value.raw());
    bytes.insert(bytes.end(), begin, begin + value.bytes());
  }
  const auto root = static_cast<int>(required_attribute<int64_t>(call, "root"));
  ProcessGroup::world().broadcast_memory(bytes, root);
  const std::byte* from = bytes.data();
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const sardonyx::Tensor& value = call.inputs[i].tensor();
    sardonyx::Tensor& copy = call.tensor(i, value.dtype(), value.shape());
    if (copy.bytes() > 0) std::memcpy(copy.raw(), from, copy.bytes());
    from += copy.bytes();
  }
}

void infer_same_types(InferContext& context) {
  for (size_t i = 0; i < context.output_count(); ++i)
    context.set(i, context.type(i));
}

}  // namespace

CollectivePlace collective_place(std::string_view call) {
  TraceContext* frame = TraceContext::active();
  if (!frame) return CollectivePlace::kNow;
  if (!frame->root().runs_here) return CollectivePlace::kLeftOut;
  if (frame->kind() == TraceContext::Kind::kSubgraph) {
    fail(ErrorCode::kUnsupported, call,
         ": in the body of cond, while_loop or scan, which ranks may run differently often; move "
         "it out of the body");
  }
  return CollectivePlace::kInGraph;
}

void refuse_in_compiled_step(std::string_view call) {
  TraceContext* frame = TraceContext::active();
  if (!frame || frame->root().kind() == TraceContext::Kind::kConstants) return;
  fail(ErrorCode::kUnsupported, call,
       ": a compiled step can't go on with what other ranks answer; call it before or after the "
       "step");
}

Tensor recorded_all_reduce(const Tensor& value, ReduceOp op, Reduction reduction) {
  [[maybe_unused]] static const OpDef& row = []() -> const OpDef& {
    CustomOp all_reduce = collective_op("AllReduce", "(value: T) -> (reduced: T)",
                                        kReducedFloats | DTypeSet{DType::kInt32, DType::kInt64});
    all_reduce.attributes = {required_int("op"), required_int("reduction")};
    all_reduce.compute = all_reduce_now;
    all_reduce.infer = infer_same_types;
    return register_custom_op(std::move(all_reduce));
  }();
  return recorded_call(
      1, "AllReduce", {value},
      {{"op", static_cast<int64_t>(op)}, {"reduction", static_cast<int64_t>(reduction)}})[0];
}

sardonyx::Shape gathered_shape(std::span<const int64_t> of_rank, int ranks) {
  sardonyx::Shape shape(of_rank.begin(), of_rank.end());
  shape[0] *= ranks;
  return shape;
}
std::span<const std::byte> bytes_of(const sardonyx::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()};
}
std::span<std::byte> bytes_of(sardonyx::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.raw()), tensor.bytes()};
}

Tensor recorded_all_gather(const Tensor& value, int ranks) {
  [[maybe_unused]] static const OpDef& row = []() -> const OpDef& {
    CustomOp all_gather = collective_op("AllGather", "(value: T) -> (gathered: T)",
                                        kAnyDType.without(DType::kString));
    all_gather.attributes = {required_int("ranks")};
    all_gather.compute = all_gather_now;
    all_gather.infer = [](InferContext& context) {
      Type type = context.type(0);
      if (type.shape && !type.shape->empty())
        (*type.shape)[0] = (*type.shape)[0] * required_attribute<int64_t>(context, "ranks");
      context.set(0, type);
    };
    return register_custom_op(std::move(all_gather));
  }();
  return recorded_call(1, "AllGather", {value}, {{"ranks", int64_t{ranks}}})[0];
}

std::vector<Tensor> recorded_broadcast(const std::vector<Tensor>& values, int root) {
  [[maybe_unused]] static const OpDef& row = []() -> const OpDef& {
    CustomOp broadcast = collective_op("Broadcast", "(values...: T*) -> (copies...: T*)",
                                       kAnyDType.without(DType::kString));
    broadcast.attributes = {required_int("root")};
    broadcast.compute = broadcast_now;
    broadcast.infer = infer_same_types;
    return register_custom_op(std::move(broadcast));
  }();
  return recorded_call(values.size(), "Broadcast", values, {{"root", int64_t{root}}});
}

CustomOp collective_op(std::string name, std::string signature, DTypeSet types) {
  return {.domain = kDomain,
          .name = std::move(name),
          .signature = std::move(signature),
          .types = {{.name = "T", .tensors = types}},
          .is_pure = false};
}

CustomAttribute required_int(const char* name) {
  return {.name = name, .value = int64_t{0}, .is_required = true};
}
CustomAttribute required_ints(const char* name) {
  return {.name = name, .value = std::vector<int64_t>(), .is_required = true};
}
CustomAttribute required_types() {
  return {.name = "types", .value = std::vector<Type>(), .is_required = true};
}

void infer_given_types(InferContext& context) {
  const auto types = required_attribute<std::vector<Type>>(context, "types");
  context.require(types.size() == context.output_count(), "attribute types: expected one for ",
                  "each of ", context.output_count(), " outputs, got ", types.size());
  for (size_t i = 0; i < types.size(); ++i)
    context.set(i, types[i]);
}

std::vector<Tensor> recorded_call(size_t outputs, std::string_view name,
                                  const std::vector<Tensor>& inputs, const AttrMap& attrs) {
  const NoGrad no_grad;
  return op::call_many(outputs, text(kDomain, "::", name), inputs, attrs);
}

}  // namespace sardonyx::eager::distributed
