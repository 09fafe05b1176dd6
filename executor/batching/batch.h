// Several requests as one: their inputs one after the other along the first dim, and the outputs
// split the same way.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/datum.h"

namespace sardonyx::serving {

// Two requests can be run as one batch where this is the same: types and shapes without the first
// dim, and which inputs are given. Inputs are tensors of rank 1 at least, or omitted.
std::string batch_key(std::span<const Datum> inputs);

// The items of a request: the first dim of its inputs. Throws ServingError kInvalidArgument where
// two inputs differ in it, or one has none; `names` are those of the inputs.
int64_t batch_items(std::span<const Datum> inputs, std::span<const std::string> names);

// The inputs of a dynamic batch of requests that have the same key, in their order.
std::vector<Datum> concatenate_requests(std::span<const std::span<const Datum>> requests);

// What each request gets, given how many items each has. Shares memory with `outputs`. Throws
// ServingError kInternal where an output does not have the items of all.
std::vector<std::vector<Datum>> split_outputs(std::span<const Datum> outputs,
                                              std::span<const int64_t> items,
                                              std::span<const std::string> names);

}  // namespace sardonyx::serving
