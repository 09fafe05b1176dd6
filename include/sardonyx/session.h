// What a program that runs models includes: sardonyx::Session, Datum and Tensor, and
// register_custom_op() for operators of its own.
#pragma once

#include "executor/session.h"
#include "ir/custom_op.h"
