// What a program that runs models includes: sardonyx::Session, Datum and Tensor.
#pragma once

#include "executor/session.h"
