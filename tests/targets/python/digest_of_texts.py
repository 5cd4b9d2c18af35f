# SPDX-License-Identifier: Apache-2.0
"""Prints the SHA-256 of the vectors and of the label scores of texts.   digest_of_texts.py MODEL.emb TEXTS_FILE [COUNT]

test_portable_wheels.py runs it here and on emulated processors.
"""

import hashlib
import pathlib
import sys

import embert


def main() -> None:
    path, texts_file = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    lines = pathlib.Path(texts_file).read_text(encoding="utf-8").splitlines()[:count]
    texts = [max(line.split("\t"), key=len) for line in lines]
    with embert.SentenceTransformer(path, threads=2) as model:
        print("vectors", hashlib.sha256(model.encode(texts).tobytes()).hexdigest())
    with embert.pipeline("text-classification", path) as classify:
        print("labels", hashlib.sha256(repr(classify(texts)).encode()).hexdigest())


if __name__ == "__main__":
    main()
