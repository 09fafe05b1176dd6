// Collective calls as ops of a graph: what a compiled step makes of them. All of them are in the
// domain "sardonyx.distributed", reach the ranks of the process that runs the graph, and run in the
// order in which they were recorded, which is the same on all ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eager/distributed/process_group.h"
#include "ir/custom_op.h"

namespace sardonyx::eager::distributed {

// Where a collective call of this thread belongs.
enum class CollectivePlace {
  kNow,
  kInGraph,  // of a compiled step
  kLeftOut,  // in a graph that is for a file: it computes what a rank computes alone
};
// Throws kUnsupported in the body of a branch or a loop, which ranks may run differently often.
CollectivePlace collective_place(std::string_view call);
// For what gives values that C++ goes on with. Throws kUnsupported in a compiled step.
void refuse_in_compiled_step(std::string_view call);

Tensor recorded_all_reduce(const Tensor& value, ReduceOp op, Reduction reduction);
// What each of `ranks` ranks has for `value`, along its axis 0.
Tensor recorded_all_gather(const Tensor& value, int ranks);
sardonyx::Shape gathered_shape(std::span<const int64_t> of_rank, int ranks);
std::span<const std::byte> bytes_of(const sardonyx::Tensor& tensor);
std::span<std::byte> bytes_of(sardonyx::Tensor& tensor);
// What each tensor is on rank `root`.
std::vector<Tensor> recorded_broadcast(const std::vector<Tensor>& values, int root);

// For rows of collective calls.

constexpr DTypeSet kReducedFloats{DType::kFloat, DType::kDouble, DType::kFloat16, DType::kBFloat16};

// A row in this domain, of which no two calls are one. `T` in the signature is one of `types`.
CustomOp collective_op(std::string name, std::string signature, DTypeSet types = kReducedFloats);
CustomAttribute required_ints(const char* name);
CustomAttribute required_int(const char* name);
CustomAttribute required_types();  // "types": those of the outputs
void infer_given_types(InferContext& context);
template <typename T, typename Call>
T required_attribute(const Call& call, std::string_view name) {
  return *custom_attribute<T>(call, name);
}
// A call of such a row; without gradients, as when it is made at once.
std::vector<Tensor> recorded_call(size_t outputs, std::string_view name,
                                  const std::vector<Tensor>& inputs, const AttrMap& attrs);

}  // namespace sardonyx::eager::distributed
