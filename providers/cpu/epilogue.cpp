#include "providers/cpu/epilogue.h"

namespace sardonyx::cpu {

std::optional<Epilogue> make_epilogue(const ops::FusedActivation& activation) {
  if (const auto bounds = ops::clip_bounds(activation))
    return Epilogue{bounds->low, bounds->high, {}};
  Epilogue epilogue;
  epilogue.function = row_activation(activation);
  if (!epilogue.function) return std::nullopt;
  return epilogue;
}

}  // namespace sardonyx::cpu
