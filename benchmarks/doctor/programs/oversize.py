"""One tensor of a wrong shape."""

import torch

_, total = torch.cuda.mem_get_info()
weights = torch.empty(1 << 28, device="cuda")
scores = torch.empty(4 * total, dtype=torch.uint8, device="cuda")
