// Counters for Prometheus.
#pragma once

#include <string>

#include "executor/serving/repository.h"

namespace sardonyx::serve {

// In Prometheus's text format. `with_triton_names`: also those that dashboards made for Triton ask
// for.
std::string metrics_text(const serving::ModelRepository& repository, bool with_triton_names);

}  // namespace sardonyx::serve
