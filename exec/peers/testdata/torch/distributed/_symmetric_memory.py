import torch


def empty(n, dtype, device):
    return torch.empty(n, dtype)


def rendezvous(t, group):
    pass
