// Mixed precision: while a guard is there, each op computes in the type that suits it.
#pragma once

#include <vector>

#include "eager/tensor.h"

namespace sardonyx {
struct OpDef;
}

namespace sardonyx::eager {

// Until its scope ends, on this thread (torch's lists, as facts of the ops' rows):
// - products take float32 inputs as `dtype` (bfloat16 or float16): MatMul, Conv, Einsum, Attention,
//   LSTM and the like (kSmallInMixed);
// - what needs range or digits takes the small types as float32: Softmax, LogSoftmax, losses,
//   normalisations, sums and norms, Exp, Log, Pow and the like (kFloat32InMixed);
// - the others, given floating inputs of several types, take them as the widest of these.
// Parameters keep their types and get gradients of them; float64 stays float64. What backward()
// computes has the types of the forward pass, whether the guard is still there or not. Guards nest.
class Autocast {
 public:
  // Throws kInvalidArgument for another type. Not `enabled`: off within an outer guard.
  explicit Autocast(DType dtype = DType::kBFloat16, bool enabled = true);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  // What this thread casts products to; kUndefined where it does not.
  static DType current();

 private:
  DType previous_;
};

namespace detail {

// Sets what current() gives until the scope ends.
class AutocastMode {
 public:
  explicit AutocastMode(DType dtype);
  ~AutocastMode();
  AutocastMode(const AutocastMode&) = delete;
  AutocastMode& operator=(const AutocastMode&) = delete;

 private:
  DType previous_;
};

// The inputs of a call as the guard wants them. Not to be called while the guard is on.
std::vector<Tensor> autocast_inputs(const OpDef& op, std::span<const Tensor> inputs, DType dtype,
                                    const Loc& loc);

}  // namespace detail
}  // namespace sardonyx::eager
