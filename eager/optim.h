// All of optim: optimisers and schedules of learning rates.
#pragma once

#include "eager/optim/adaptive.h"
#include "eager/optim/averaged.h"
#include "eager/optim/cycles.h"
#include "eager/optim/grad_scaler.h"
#include "eager/optim/lbfgs.h"
#include "eager/optim/optimizer.h"
#include "eager/optim/rprop.h"
#include "eager/optim/scheduler.h"
