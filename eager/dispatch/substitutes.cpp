#include "eager/dispatch/substitutes.h"

#include <utility>

namespace sardonyx::eager::detail {
namespace {

thread_local const Substitutes* t_substitutes = nullptr;

}  // namespace

Substitutes::Substitutes(Map given) : given_(std::move(given)), outer_(t_substitutes) {
  t_substitutes = this;
}
Substitutes::~Substitutes() {
  t_substitutes = outer_;
}

bool Substitutes::any() {
  return t_substitutes != nullptr;
}

const Tensor& Substitutes::of(const Tensor& x) {
  for (const Substitutes* scope = t_substitutes; scope && x.defined(); scope = scope->outer_) {
    const auto at = scope->given_.find(x.impl().get());
    if (at != scope->given_.end()) return at->second;
  }
  return x;
}

Substitutes::Pause::Pause() : paused_(std::exchange(t_substitutes, nullptr)) {}
Substitutes::Pause::~Pause() {
  t_substitutes = paused_;
}

}  // namespace sardonyx::eager::detail
