"""Optimisers and schedules of learning rates, by torch.optim's formulas, names and arguments."""
from .._sardonyx.eager._optim import *  # noqa: F401,F403
