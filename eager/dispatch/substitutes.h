// Tensors that stand in for others while a function runs: what functional_call() is made of.
#pragma once

#include <unordered_map>

#include "eager/tensor_impl.h"

namespace sardonyx::eager::detail {

// Until the scope ends, ops of this thread, reads of values and assign() take the given tensors for
// those that are keys. Scopes nest; the innermost that has a tensor counts. What is given is taken
// as it is, if it is itself a key, too.
class Substitutes {
 public:
  using Map = std::unordered_map<const TensorImpl*, Tensor>;
  explicit Substitutes(Map given);
  ~Substitutes();
  Substitutes(const Substitutes&) = delete;
  Substitutes& operator=(const Substitutes&) = delete;

  // Whether this thread has a scope with tensors.
  static bool any();
  // x itself where nothing stands in for it.
  static const Tensor& of(const Tensor& x);

  // None until the scope ends: for calls whose tensors have been replaced.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    const Substitutes* paused_;
  };

 private:
  Map given_;
  const Substitutes* outer_;
};

}  // namespace sardonyx::eager::detail
