#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vectors of a corpus with Ray Data.   ray_embed.py INPUT OUTPUT --model MODEL [--workers N]

Connects to the cluster that RAY_ADDRESS names, else starts Ray on this machine. README.md tells more.
"""

import logging
from typing import Any, Dict, Iterable, List

import corpus
import numpy as np
import ray
import ray.data
from corpus import driver
from corpus.worker import Record, Work, Worker


class EmbedShards:
    """The actor: Ray Data makes one for each core and gives it a shard at a time."""

    def __init__(self, work: Work) -> None:
        self._worker = Worker(work)

    def __call__(self, batch: Dict[str, Any]) -> Dict[str, Any]:
        records = [self._worker.embed(shard) for shard in batch["shard"]]
        return {key: np.array([record[key] for record in records]) for key in records[0]}


class RayEngine:
    def __init__(self, workers: int) -> None:
        ray.init(logging_level=logging.ERROR, log_to_driver=False)
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        # The code of this folder travels with the work; embert, numpy and pyarrow are installed on all hosts.
        ray.cloudpickle.register_pickle_by_value(corpus)
        ray.data.DataContext.get_current().enable_progress_bars = False
        self.workers = workers

    def embed(self, work: Work, shard_jsons: List[str]) -> Iterable[Record]:
        # A block for each shard: no actor waits for another's. Ray starts a lost actor anew and gives it the shard again.
        shards = ray.data.from_items([{"shard": shard} for shard in shard_jsons], override_num_blocks=len(shard_jsons))
        records = shards.map_batches(
            EmbedShards,
            fn_constructor_kwargs={"work": work},
            batch_size=1,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(size=self.workers),
            num_cpus=1,
        )
        return records.iter_rows()

    def stop(self) -> None:
        ray.shutdown()


if __name__ == "__main__":
    driver.main("Vectors of a corpus with Ray Data", RayEngine)
