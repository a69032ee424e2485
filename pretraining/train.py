"""Train the network; resumes where the last call ended.

    PYTHONPATH=../src python train.py --out run --steps 30000

Writes ``log.jsonl`` (one line a report) and ``checkpoint.pt`` (weights, optimiser, step) to
``--out``. The rate falls once, at the end: to go on after that, resume from a checkpoint saved
before the fall (``before_decay.pt``) with more ``--steps``.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path

import torch
from batches import Batch, BatchConfig, Shape, make_pool, validation_batches
from optimizers import Optimizer, learning_rate
from torch import Tensor
from torch.nn import functional

from robustpu.pretrained.encoding import table_inputs
from robustpu.pretrained.network import (
    POSITIVE,
    PRIOR_BINS,
    PRIOR_HIGH,
    PRIOR_LOW,
    QUERY,
    UNLABELED,
    NetworkConfig,
    PUNetwork,
)
from robustpu.pretrained.weights import read_about, read_weights

VALIDATION: tuple[Shape, ...] = (
    (48, 128, 64, 5),
    (48, 256, 64, 12),
    (32, 512, 128, 6),
    (32, 512, 128, 20),
    (16, 1024, 128, 10),
    (16, 1024, 128, 40),
    (24, 256, 64, 30),
    (32, 1536, 128, 4),
    (12, 512, 128, 100),
    (12, 320, 128, 180),
)


@dataclass(frozen=True)
class TrainConfig:
    """One training run.

    Parameters
    ----------
    steps, warmup, decay_share
        Schedule: all steps, steps of the rise, share of the fall.
    peak
        Highest learning rate.
    seed
        Of weights and tables.
    easy_share, small_share
        Share of the steps, at the start, with nearly noiseless tables, and with small ones.
    save_every, report_every, validate_every
        In steps.
    """

    steps: int = 30_000
    warmup: int = 300
    decay_share: float = 0.35
    peak: float = 1.5e-3
    seed: int = 0
    easy_share: float = 0.1
    small_share: float = 0.2
    save_every: int = 1500
    report_every: int = 200
    validate_every: int = 2000


def losses(logits: Tensor, prior_logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropy of queries, of unlabelled rows, and of the prior's bin.

    Where the prior is given to the network, tables weigh by the inverse entropy of it, so that
    rare positives count; where it is not, that would bias the prior the network learns.
    """
    entropy = functional.binary_cross_entropy(batch.prior, batch.prior, reduction="none")
    weight = torch.where(batch.is_known, (0.45 / entropy).clamp(0.6, 4), 1.0)[:, None]
    each = functional.binary_cross_entropy_with_logits(
        logits, batch.truth.float(), reduction="none"
    )
    each = each * weight
    is_query = (batch.roles == QUERY).float()
    is_unlabeled = (batch.roles == UNLABELED).float()
    log_odds = torch.logit(batch.prior.clamp(0.001, 0.999))
    place = (log_odds - PRIOR_LOW) / (PRIOR_HIGH - PRIOR_LOW) * (PRIOR_BINS - 1)
    bins = place.round().long().clamp(0, PRIOR_BINS - 1)
    return (
        (each * is_query).sum() / is_query.sum(),
        (each * is_unlabeled).sum() / is_unlabeled.sum(),
        functional.cross_entropy(prior_logits, bins),
    )


def auc(scores: Tensor, truth: Tensor) -> Tensor:
    """Area under the ROC curve of each table ``(B, M)``; NaN where a class is absent."""
    rank = scores.argsort(1).argsort(1).float() + 1
    positive = truth.float().sum(1)
    negative = truth.shape[1] - positive
    return ((rank * truth).sum(1) - positive * (positive + 1) / 2) / (positive * negative)


def validate(network: PUNetwork, batches: list[Batch]) -> dict[str, list[float]]:
    """Mean loss, error, AUC and error of the prior over queries; wide tables apart.

    Gradients stay on, since the compiled blocks would be compiled again without.
    """
    found = defaultdict(list)
    for batch, known in product(batches, (True, False)):
        n_positive = (batch.roles == POSITIVE).sum(1)
        is_known = torch.full_like(batch.is_known, known)
        table = table_inputs(batch.prior, is_known, n_positive, batch.n - n_positive)
        logits, _ = network(
            batch.cells, batch.scores, batch.roles, table, batch.identities, batch.n
        )
        name = ("known" if known else "unknown") + ("_wide" if batch.cells.shape[2] > 64 else "")
        found[name].append(measure(logits.detach(), batch))
    return {
        name: [round(value, 4) for value in torch.stack(each).mean(0).tolist()]
        for name, each in sorted(found.items())
    }


def measure(logits: Tensor, batch: Batch) -> Tensor:
    """Loss, error and AUC of the queries, and how far the share among unlabelled rows is off."""
    queries, truth = logits[:, batch.n :], batch.truth[:, batch.n :]
    loss = functional.binary_cross_entropy_with_logits(queries, truth.float())
    error = ((queries > 0) != truth).float().mean()
    is_unlabeled = batch.roles == UNLABELED
    share = (logits.sigmoid() * is_unlabeled).sum(1) / is_unlabeled.sum(1)
    off = (share - batch.prior).abs().mean()
    return torch.stack([loss, error, auc(queries, truth).nanmean(), off])


class Trainer:
    """The loop, its state and its files."""

    def __init__(
        self,
        config: TrainConfig,
        batch_config: BatchConfig,
        network_config: NetworkConfig,
        out: Path,
        device: str,
        compiled: bool,
        validation: tuple[Shape, ...] = VALIDATION,
        start_from: Path | None = None,
    ) -> None:
        self.config, self.batch_config, self.out, self.device = config, batch_config, out, device
        self.decay_steps = int(config.decay_share * config.steps)
        out.mkdir(parents=True, exist_ok=True)
        with torch.random.fork_rng():
            torch.manual_seed(config.seed)
            self.network = PUNetwork(network_config)
        self.network.to(device)
        if device == "cuda":
            self.network.dtype = torch.bfloat16
        if compiled:
            self.network.compile_blocks()
        self.optimizer = Optimizer(self.network)
        self.step, self.n_tables, self.seconds = 0, 0, 0.0
        self.from_version: str | None = None
        self.checkpoint = out / "checkpoint.pt"
        if self.checkpoint.exists():
            self.load()
        elif start_from is not None:
            self.from_version = read_about(start_from)["version"]
            # What that network lacked starts as it would in a new one.
            self.network.load_state_dict(self.network.state_dict() | read_weights(start_from))
        self.validation = list(validation_batches(validation, network_config, device))

    def load(self) -> None:
        """Resume from the checkpoint in the output folder."""
        state = torch.load(self.checkpoint, map_location=self.device, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.optimizer.load(state["optimizer"])
        self.step, self.n_tables, self.seconds = state["step"], state["n_tables"], state["seconds"]
        self.from_version = state["from_version"]
        print("resumed at step", self.step, flush=True)

    def save(self, name: str = "checkpoint.pt") -> None:
        """Write weights, optimiser and position; the old file stays until the new one is whole."""
        state = {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state(),
            "network_config": self.network.describe(),
            "step": self.step,
            "n_tables": self.n_tables,
            "seconds": self.seconds,
            "seed": self.config.seed,
            "from_version": self.from_version,
            "device": device_name(self.device),
        }
        partial = self.out / (name + ".partial")
        torch.save(state, partial)
        partial.replace(self.out / name)

    def log(self, **record: object) -> None:
        """Append one line to the log."""
        line = json.dumps(record)
        print(line, flush=True)
        with (self.out / "log.jsonl").open("a") as file:
            file.write(line + "\n")

    def pool(self, number: int) -> list[Batch]:
        """Return one pool of the stream; early ones are easy and small."""
        config, per_pool = self.config, self.batch_config.n_shapes * self.batch_config.per_shape
        share = number * per_pool / config.steps
        return make_pool(
            config.seed,
            number,
            self.batch_config,
            self.network.config,
            self.device,
            small=share < config.small_share,
            easy=share < config.easy_share,
        )

    def batches(self) -> Iterator[Batch]:
        """Yield the stream from the next step on."""
        per_pool = self.batch_config.n_shapes * self.batch_config.per_shape
        while True:
            pool = self.pool(self.step // per_pool)[self.step % per_pool :]
            while pool:
                yield pool.pop(0)

    def rate(self, step: int) -> float:
        """Learning rate of a step."""
        config = self.config
        return learning_rate(step, config.peak, config.warmup, config.steps, self.decay_steps)

    def train_step(self, batch: Batch) -> Tensor:
        """Train on one batch, and return the three losses."""
        logits, prior_logits = self.network(
            batch.cells, batch.scores, batch.roles, batch.table, batch.identities, batch.n
        )
        query, unlabeled, prior = losses(logits, prior_logits, batch)
        (0.6 * query + 0.4 * unlabeled + 0.03 * prior).backward()
        self.optimizer.step(self.rate(self.step))
        self.step += 1
        self.n_tables += len(batch.roles)
        return torch.stack([query, unlabeled, prior]).detach()

    def run(self, stop_at: int | None = None) -> None:
        """Train to the last step, or to ``stop_at``."""
        config = self.config
        last = min(config.steps, stop_at or config.steps)
        start = time.monotonic() - self.seconds
        batches, found = self.batches(), []
        if self.step == 0:
            self.log(step=0, validation=validate(self.network, self.validation))
        while self.step < last:
            found.append(self.train_step(next(batches)))
            if self.step % config.report_every == 0:
                means = torch.stack(found).mean(0).tolist()
                found.clear()
                self.seconds = time.monotonic() - start
                self._report(means, self.step % config.validate_every == 0)
            if self.step == config.steps - self.decay_steps:
                self.save("before_decay.pt")
            if self.step % config.save_every == 0:
                self.save()
        self.seconds = time.monotonic() - start
        self._report(None, True)
        self.save()

    def _report(self, means: list[float] | None, validates: bool) -> None:
        """Log the position, mean losses since the last report, and a validation."""
        record: dict[str, object] = {
            "step": self.step,
            "seconds": round(self.seconds, 1),
            "tables": self.n_tables,
        }
        if means is not None:
            record["rate"] = round(self.rate(self.step - 1), 7)
            names = ("query", "unlabeled", "prior")
            record |= {name: round(value, 4) for name, value in zip(names, means, strict=True)}
        if validates:
            record["validation"] = validate(self.network, self.validation)
        self.log(**record)


def prepare_torch(device: str) -> None:
    """Set what all of training needs of torch."""
    torch.set_float32_matmul_precision("high")
    torch._dynamo.config.recompile_limit = 64
    if device == "cuda":
        # cuDNN's attention plans anew for every shape.
        torch.backends.cuda.enable_cudnn_sdp(False)


def device_name(device: str) -> str:
    """Name of the GPU, or ``"cpu"``."""
    return torch.cuda.get_device_name() if device == "cuda" else device


def add_fields(parser: argparse.ArgumentParser, config: type) -> None:
    """Add one option a field of a configuration."""
    for field in fields(config):
        name = "--" + field.name.replace("_", "-")
        parser.add_argument(name, type=field.type, default=field.default)


def pick_fields(options: argparse.Namespace, config: type) -> dict[str, object]:
    """Return the options that belong to a configuration."""
    return {field.name: getattr(options, field.name) for field in fields(config)}


def main() -> None:
    """Read options and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--stop-at", type=int)
    parser.add_argument("--start-from", type=Path, help="weights that a new run starts from")
    for config in (TrainConfig, BatchConfig, NetworkConfig):
        add_fields(parser, config)
    options = parser.parse_args()
    prepare_torch(options.device)
    trainer = Trainer(
        TrainConfig(**pick_fields(options, TrainConfig)),
        BatchConfig(**pick_fields(options, BatchConfig)),
        NetworkConfig(**pick_fields(options, NetworkConfig)),
        options.out,
        options.device,
        not options.no_compile,
        start_from=options.start_from,
    )
    print("parameters", trainer.network.n_parameters(), flush=True)
    trainer.run(options.stop_at)


if __name__ == "__main__":
    main()
