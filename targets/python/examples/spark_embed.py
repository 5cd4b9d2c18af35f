#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vectors of a corpus with Spark.   spark_embed.py INPUT OUTPUT --model MODEL [--workers N]

On a cluster: spark-submit --master URL spark_embed.py INPUT OUTPUT --model MODEL. README.md tells more.
"""

import os
import sys
from typing import Any, Callable, Iterable, List

import corpus
import numpy as np
from corpus import driver
from corpus.worker import Record, Work, Worker
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.ml.functions import predict_batch_udf
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

# Tries for a shard whose worker was lost; without it Spark gives local workers one.
TRIES = 4
RECORD = StructType().add("shard", "string").add("texts", "long").add("seconds", "double").add("error", "string")


def make_embed_shards(work: Work) -> Callable[[], Callable[[Any], List[Record]]]:
    """The factory that Spark calls once in each Python worker; what it returns is called with an array of shards."""

    def make() -> Callable[[Any], List[Record]]:
        worker = Worker(work)

        def embed(shards: "np.ndarray[Any, Any]") -> List[Record]:
            return [worker.embed(shard) for shard in shards]

        return embed

    return make


class SparkEngine:
    def __init__(self, workers: int) -> None:
        # Spark uses this master where spark-submit has not started the script.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault(
            "PYSPARK_SUBMIT_ARGS", f"--master local[{workers},{TRIES}] --conf spark.ui.enabled=false pyspark-shell"
        )
        self._spark = SparkSession.builder.appName("embert").getOrCreate()
        self._context = self._spark.sparkContext
        self.workers: int = self._context.defaultParallelism
        # The code of this folder travels with the work; embert, numpy, pandas and pyarrow are installed on all hosts.
        register_pickle_by_value(corpus)

    def embed(self, work: Work, shard_jsons: List[str]) -> Iterable[Record]:
        # A partition for each shard: a lost worker costs one shard, which Spark gives to another.
        rows = self._context.parallelize([(shard,) for shard in shard_jsons], len(shard_jsons))
        embed_shards = predict_batch_udf(
            make_embed_shards(work),
            return_type=RECORD,
            batch_size=1,
        )
        records = self._spark.createDataFrame(rows, "shard string").select(embed_shards("shard").alias("record"))
        return [row["record"].asDict() for row in records.collect()]

    def stop(self) -> None:
        self._spark.stop()


if __name__ == "__main__":
    driver.main("Vectors of a corpus with Spark", SparkEngine)
