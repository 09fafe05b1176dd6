// Of a configuration, what is wrong whatever the model is, and what is of no use here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/serving/model_config.pb.h"

namespace sardonyx::serving {

// Throws ServingError kInvalidArgument for settings that contradict each other or themselves, and
// kUnsupported for those that this server can't obey, each with its field and the remedy. Values
// that are read one by one are checked where they are (model_config.cpp).
void check_message(const inference::ModelConfig& message, std::string_view model);

// Settings that change no answer here, as lines for the log.
std::vector<std::string> settings_without_effect(const inference::ModelConfig& message);

}  // namespace sardonyx::serving
