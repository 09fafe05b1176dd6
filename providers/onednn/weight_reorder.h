// Weights brought into the layouts of oneDNN's primitives by loops of our own: its reorders take
// one element at a time for many of these.
#pragma once

#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// Writes all of `to`, padding included, from the elements that are at `values` as `from` says; they
// may be anywhere, at odd addresses too. Runs on up to `threads` threads. Returns false and writes
// nothing for layouts or element types that are not supported.
bool pack_weights(const void* values, const Desc& from, const Desc& to, void* out, int threads);

}  // namespace sardonyx::onednn
