#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random texts through embert's tokenizer and the `tokenizers` wheel: ids and offsets must be the same.

    pip install tokenizers==0.19.1        (in a virtual environment)
    ninja -C build/release tokenizer_oracle
    python tests/bench/tokenizer/tokenizer_oracle.py build/release/tests/bench/tokenizer_oracle FOLDER_WITH_TOKENIZER_JSON 60000 --seed 1

The texts are chosen to be hard: runs of combining marks, characters that NFC composes or takes apart, jamo, vowel signs,
added tokens with white space around, apostrophes, long runs of one character.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import unicodedata

from tokenizers import Tokenizer

SCALARS = [cp for cp in range(1, 0x2FA20) if not 0xD800 <= cp < 0xE000]
MARKS = [chr(cp) for cp in SCALARS if unicodedata.combining(chr(cp))]
COMPOSED = [chr(cp) for cp in SCALARS if unicodedata.decomposition(chr(cp))[:1] not in ("", "<")]
JAMO = [chr(cp) for r in ((0x1100, 0x1113), (0x1161, 0x1176), (0x11A7, 0x11C3)) for cp in range(*r)] + ["\uac00", "\uac01"]
VOWELS = list(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u0dca\u102e\u1b35"
    "\u09c7\u0b47\u0bc6\u0cc6\u0d46\u0dd9\u1025\U00011099\U000110ba\U00011131\U00011127"
)
ASCII = [chr(cp) for cp in range(0x20, 0x7F)] + [" "] * 30 + ["'"] * 8
PARTS = ["<s>", "</s>", "<mask>", " <mask>", "[MASK]", " [MASK]", "[CLS]", "  ", "   ", "        ", "'s", "'re", "'ll",
         "\n", "\t", "\u3000", "\u00a0", "\u2581"]  # fmt: skip
POOLS = [MARKS] * 3 + [COMPOSED] * 2 + [JAMO, VOWELS] + [ASCII] * 3 + [PARTS]


def random_text(rng: random.Random) -> str:
    out = [rng.choice(pool) for pool in rng.choices(POOLS, k=rng.randint(1, 12)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.2:
        out.append(chr(rng.choice(SCALARS)))
    if rng.random() < 0.02:
        out += [rng.choice(MARKS) for _ in range(200)]
    if rng.random() < 0.02:
        out += [rng.choice("ab'1 \u4e2d")] * rng.randint(1, 1500)
    return "".join(out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("texts", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    rng = random.Random(options.seed)
    texts = [random_text(rng) for _ in range(options.texts)]
    answer = (
        subprocess.run(
            [options.program, str(options.folder)],
            input="".join(t + "\0" for t in texts).encode(),
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .split("\n")
    )
    different = 0
    for text, line in zip(texts, answer):
        encoding = tokenizer.encode(text, add_special_tokens=False)
        expected = [x for i, (a, b) in zip(encoding.ids, encoding.offsets) for x in (i, a, b)]
        actual = [int(x) for x in line.split()]
        if actual != expected:
            different += 1
            if different <= 3:
                print(ascii(text), expected, actual, sep="\n")
    print(f"{options.folder.name}: {len(texts)} texts, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
