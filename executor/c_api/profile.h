#pragma once

#include <vector>

#include "executor/session.h"
#include "sardonyx/sardonyx.h"

struct sx_profile {
  std::vector<sardonyx::NodeTiming> steps;
};
