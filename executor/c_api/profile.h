#pragma once

#include <vector>

#include "executor/run_report.h"
#include "sardonyx/sardonyx.h"

struct sx_profile {
  std::vector<sardonyx::NodeTiming> steps;
};
