// What a program that runs models includes: sardonyx::Session, Datum and Tensor.
#pragma once

#if __has_include("sardonyx/layers/executor/session.h")
#include "sardonyx/layers/executor/session.h"
#else
#include "executor/session.h"
#endif
