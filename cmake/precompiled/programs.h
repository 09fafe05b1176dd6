// As standard.h, for programs of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmake/precompiled/standard.h"
