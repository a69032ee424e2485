"""The share of positives that the pretrained network predicts; nothing is trained."""

import torch

from robustpu.modules.rows import some_of_each
from robustpu.pretrained import EncodedTable, load_network
from robustpu.priors.crossfit import Sample

# A mean of probabilities needs neither long contexts nor many.
MEMBERS, CONTEXT = 2, 1_024


def pretrained(sample: Sample) -> float:
    """Mean probability that the network gives to unlabelled rows of its contexts, without a prior.

    Several times too high where positives are rare and classes overlap: see docs/pretrained.md.

    Parameters
    ----------
    sample
        Positives and unlabelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> x = torch.cat([torch.randn(140, 2) + 3, torch.randn(160, 2) - 3])
    >>> abs(pretrained(Sample(x, np.arange(300) < 60, "mlp", seed=0)) - 1 / 3) < 0.1
    True
    """
    most = MEMBERS * CONTEXT
    rows = some_of_each(sample.is_positive, (most, most), sample.seed)
    x = sample.x[torch.from_numpy(rows)].cpu().numpy().reshape(len(rows), -1)
    network = load_network(device=sample.x.device)
    labels, seed = sample.is_positive[rows], sample.seed
    table = EncodedTable(network, x, labels, n_members=MEMBERS, seed=seed, max_context=CONTEXT)
    return table.estimate_prior()
