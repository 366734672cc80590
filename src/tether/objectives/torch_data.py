"""What PyTorch users hold their samples in: pairs of tensors, data sets, loaders."""

from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SequentialSampler, default_collate

Tensors = tuple[torch.Tensor, torch.Tensor]


def tensors_of(dataset: Any) -> Tensors:
    """Return all inputs and all targets, in a fixed order."""
    if isinstance(dataset, DataLoader):
        inputs, targets = _loaded(dataset)
    else:
        inputs, targets = _pair(_collected(dataset))
    if len(inputs) != len(targets):
        raise ValueError(
            f"dataset must have as many targets as inputs, got {len(targets)} and {len(inputs)}."
        )
    if len(inputs) == 0:
        raise ValueError("dataset must hold at least one sample, got none.")
    for name, tensor in (("inputs", inputs), ("targets", targets)):
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"dataset must be finite, got NaN or infinite {name}; impute or drop them.")
    return inputs, targets


def _collected(dataset: Any) -> Any:
    """Return the tensors of a data set, or its samples laid together."""
    parts = getattr(dataset, "tensors", dataset)
    if isinstance(parts, tuple | list) and all(isinstance(part, torch.Tensor) for part in parts):
        return parts
    if isinstance(dataset, IterableDataset):
        samples = list(dataset)
    elif hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__"):
        samples = [dataset[i] for i in range(len(dataset))]
    else:
        raise ValueError(
            "dataset must be a torch Dataset, a DataLoader or a pair (inputs, targets) of tensors, "
            f"got {type(dataset).__name__}."
        )
    if not samples:
        raise ValueError("dataset must hold at least one sample, got none.")
    return _laid_together(samples)


def _laid_together(samples: list[Any]) -> Any:
    try:
        return default_collate(samples)
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"dataset must give samples that can be laid together, got {type(samples[0]).__name__} samples: "
            f"{str(error).splitlines()[0]}."
        ) from error


def _loaded(loader: DataLoader) -> Tensors:
    """Return what a loader gives in one round, in the order of its data set."""
    if not isinstance(loader.dataset, IterableDataset):
        _require_every_sample(loader, len(loader.dataset))
        if loader.batch_sampler is None:  # no batches either
            return _pair(_collected(loader.dataset))
        loader = DataLoader(loader.dataset, batch_size=loader.batch_size, collate_fn=loader.collate_fn)
    batches = [_pair(batch) for batch in loader]
    if not batches:
        raise ValueError("dataset must hold at least one sample, got a DataLoader that gives no batch.")
    inputs, targets = (torch.cat(list(parts)) for parts in zip(*batches, strict=True))
    return inputs, targets


def _require_every_sample(loader: DataLoader, size: int) -> None:
    """Refuse a loader that repeats or leaves out samples."""
    sampler, own_batches = loader.sampler, loader.batch_size is None and loader.batch_sampler is not None
    every = isinstance(sampler, SequentialSampler) or (
        isinstance(sampler, RandomSampler) and not sampler.replacement and sampler.num_samples == size
    )
    if own_batches or not every:
        kind = type(loader.batch_sampler if own_batches else sampler).__name__
        raise ValueError(
            f"dataset must be a DataLoader that gives every sample once, got one with a sampler of its own "
            f"({kind}); pass loader.dataset, or a torch.utils.data.Subset of it."
        )
    if loader.drop_last and loader.batch_size and size % loader.batch_size:
        raise ValueError(
            f"dataset must be a DataLoader that gives every sample once, got drop_last=True, which leaves "
            f"out {size % loader.batch_size} of {size}; use drop_last=False."
        )


def _pair(parts: Any) -> Tensors:
    if not (
        isinstance(parts, tuple | list)
        and len(parts) == 2
        and all(isinstance(part, torch.Tensor) and part.ndim > 0 for part in parts)
    ):
        raise ValueError("dataset must give pairs (inputs, targets) of tensors, got samples of another form.")
    return parts[0], parts[1]
