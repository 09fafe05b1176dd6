// All of nn: modules, layers, initialisers, losses and metrics.
#pragma once

#include "eager/nn/activation.h"
#include "eager/nn/attention.h"
#include "eager/nn/container.h"
#include "eager/nn/convolution.h"
#include "eager/nn/init.h"
#include "eager/nn/linear.h"
#include "eager/nn/losses.h"
#include "eager/nn/metrics.h"
#include "eager/nn/module.h"
#include "eager/nn/normalization.h"
#include "eager/nn/pooling.h"
#include "eager/nn/recurrent.h"
#include "eager/nn/transformer.h"
