// A kernel that moves elements by strided blocks.
#pragma once

#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/kernel.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::cpu {

// Null where elements of the type can be moved as whole bytes.
inline const char* why_unsupported_elements(DType dtype) {
  const bool is_whole = dtype != DType::kString && bits_of(dtype) >= 8;
  return is_whole ? nullptr : "only whole bytes are moved here";
}

// One copy from input `input` to output `output`, both as indices.
struct Move {
  size_t input, output;
  BlockCopy copy;
};

// The moves one after the other, each shared out among threads; they must not overlap.
class MovementKernel : public Kernel {
 public:
  MovementKernel(std::vector<Move> moves, int threads);
  void run(const KernelArgs& args) const override;

 private:
  void run_share(const KernelArgs& args, int64_t share, int64_t shares,
                 const CancelFlag& sign) const;

  std::vector<Move> moves_;
  int threads_;
};

// Copies the bytes of input 0; a no-op if output 0 is the same memory.
class CopyKernel : public Kernel {
 public:
  explicit CopyKernel(size_t bytes) : bytes_(bytes) {}
  void run(const KernelArgs& args) const override;
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  size_t bytes_;
};

}  // namespace sardonyx::cpu
