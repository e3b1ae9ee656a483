from collections import OrderedDict
from functools import lru_cache

import torch
from torch import nn


# @page
