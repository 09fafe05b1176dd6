// The layers of experts, as the kernels of MoE and QMoE multiply by them.
#pragma once

#include <memory>

#include "ir/kernel.h"
#include "ir/ops/moe/mixture_of_experts.h"

namespace sardonyx::cpu {

// Columns [first, first + columns) of one expert's layer: out[r * out_step + c] for `rows` rows of
// `in`. `first` is a multiple of the layer's columns_per_task().
struct ExpertProduct {
  int64_t expert, first, columns;
  const float* in;
  int64_t in_step, rows;
  float* out;
  int64_t out_step;
};

class ExpertWeights {
 public:
  ExpertWeights(int64_t inputs, int64_t outputs) : inputs_(inputs), outputs_(outputs) {}
  virtual ~ExpertWeights() = default;

  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return outputs_; }
  // Floats from row to row of `in`.
  virtual int64_t row_step() const { return inputs_; }
  // Whether `in` must come from spread(), with so many rows.
  virtual bool spreads(int64_t rows) const {
    (void)rows;
    return false;
  }
  // Writes a row [inputs] as multiply() reads it.
  virtual void spread(const KernelArgs& args, const float* from, float* scratch, float* to) const {
    (void)args, (void)from, (void)scratch, (void)to;
  }
  virtual int64_t columns_per_task() const = 0;
  // Floats of scratch of a thread.
  virtual int64_t scratch_floats() const = 0;
  virtual void multiply(const KernelArgs& args, const ExpertProduct& product,
                        float* scratch) const = 0;

 private:
  int64_t inputs_, outputs_;
};

// Of MoE: packed where they are known ahead.
std::unique_ptr<ExpertWeights> float_expert_weights(const KernelRequest& request,
                                                    const ops::ExpertSizes& sizes, size_t layer);
// Of QMoE.
std::unique_ptr<ExpertWeights> nbits_expert_weights(const KernelRequest& request,
                                                    const ops::ExpertSizes& sizes, size_t layer);

}  // namespace sardonyx::cpu
