// Bytes counted against the current MemoryBudget for as long as somebody has them.
#pragma once

#include <cstddef>
#include <memory>

#include "ir/core/run_control.h"

namespace sardonyx {

class BudgetShare {
 public:
  // Throws kResourceExhausted beyond the limit. Counts nothing where the thread has no budget.
  explicit BudgetShare(size_t bytes) : bytes_(bytes) {
    if (const RunControl* control = current_control()) budget_ = control->budget;
    if (budget_) budget_->take(bytes_);
  }
  ~BudgetShare() {
    if (budget_) budget_->give_back(bytes_);
  }
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  // Where memory that is counted here comes from; null: the operating system.
  MemorySource* source() const { return budget_ ? budget_->source() : nullptr; }

 private:
  size_t bytes_;
  std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace sardonyx
