#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Concepts have the names of the field (runtime/GLOSSARY.md), in code, comments and READMEs.   check_words.py ROOT

NAMES are looked for in identifiers and file names, PROSE in comments and texts. A rule says what is written instead; `where`
limits it to files in which the word has no other meaning, `allowed` are other meanings of the same word. Strings are not
read: messages, options and JSON keys are interfaces.
"""

import functools
import pathlib
import re
import sys
from typing import Iterator, List, NamedTuple, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cpp_tokens import SUFFIXES, tokens  # noqa: E402

FOLDERS = ("kernels", "runtime", "converter", "targets", "tests", "toolchains")
TEXTS = {".md", ".py", ".sh", ".cmake", ".txt"}
# Texts for models, and lists of old names.
NOT_READ = re.compile(
    r"/data/|^tests/lint/check_words\.py$|^runtime/include/embert/RENAMED\.md$|\.tsv$|^targets/demo/(tiny-intent/.*\.txt|sentences\.txt)"
)


class Rule(NamedTuple):
    word: str  # regular expression
    instead: str
    where: str = ""  # regular expression of paths
    allowed: str = ""  # regular expression of what is fine in spite of `word`


# Names are compared in snake_case with a "_" at both ends: HeadKeys is _head_keys_.
NAMES: List[Rule] = [
    Rule(
        r"_(head_keys|keys_plan|plan_keys|self_keys|source_keys|keys_of|keys_hpp)_|^_keys_at_$|(?<!_kv)_cache_plan_",
        "kv: KvView, KvCachePlan, self_kv, ...",
        where=r"^(runtime|kernels|tests/(runtime|kernels|golden))/",
    ),
    Rule(
        r"_(hidden|sum|input|embedding|value|cross|score|output|acc|static|fine|least|norm|head|pooled|logits?|query|key|layer|"
        r"activated|context|weight|test|v)_steps?_",
        "scale",
        allowed=r"_store_key_step_",
    ),
    Rule(r"_row_steps?_", "row_scale", where=r"^(converter|tests/converter)/"),
    Rule(r"_units?_", "scale", where=r"^converter/(calibrate|model|quantize)/"),
    Rule(r"_domains?_", "ChannelQuant, channel_quant"),
    Rule(r"_moments_", "hessian"),
    Rule(r"_fold(s|ed|ing)?_", "smooth, smoothed, smoothing", where=r"^(converter|tests/converter)/"),
    Rule(r"_wide_columns?_", "outlier_splitting, split channels"),
    Rule(
        r"_(narrow_rows?|split_rows_test|hidden_rows|narrow_row_\w+)_",
        "the conversion: convert_s8_s16, rescale_channels, ...",
        where=r"^(kernels|tests/kernels|tests/bench)/",
    ),
    Rule(r"_distances_", "relative_positions"),
    Rule(
        r"_numbers_",
        "config, or record for a struct of the blob",
        where=r"^(runtime/(engine|model|generation|format)|converter/(export|quantize)|tests/support|tests/runtime/(engine|model))/",
    ),
    Rule(r"_(norm|stack|layer|model|head)_numbers_", "config, or record for a struct of the blob"),
    Rule(
        r"_(word_block|for_words|rank_words|check_words|word_logits|masked_words|vocabulary_words)_",
        "tokens of a vocabulary",
        where=r"^(runtime|converter|targets|tests/(runtime|converter|targets|golden|bench|support))/",
    ),
    Rule(r"_head_dense_", "dense16"),
    Rule(r"_laws?_", "reference"),
    Rule(r"_places_|_(source|token|cached|pending)_place_", "offsets in a text, slots of a cache, positions in a sequence"),
    Rule(r"_clusters?_", "isa"),
    Rule(r"^_embert_(encode|encoding|pool)_$", "embert_last_hidden_state, embert_tokens, embert_pooler_output"),
    Rule(r"_ffn[12]_", "ffn_up, ffn_down"),
    Rule(r"_(attention|output)_norm_", "the block that reads it: input_norm, cross_norm, ffn_norm, final_norm"),
]

CONVERSION = r"^(converter|kernels|runtime/(engine|model|format|generation)|tests/(converter|kernels|support))/"
PROSE: List[Rule] = [
    Rule(r"\blaws?\b", "reference arithmetic"),
    Rule(r"\bclusters?\b", "ISA extension", where=r"^(?!targets/python/|tests/targets/python/)"),  # there: of Ray and Spark
    Rule(r"\bwide columns?\b", "outlier channels, outlier channel splitting"),
    Rule(r"\bfold(s|ed|ing)?\b", "smooth, smoothing", where=CONVERSION, allowed=r"case.fold\w*"),
    Rule(r"\bmoments\b", "Hessian", allowed=r"at many moments"),
    Rule(
        r"\bdomains?\b",
        "channel quantisation",
        allowed=r"(sentences|texts?|model calibrated) (of|on) one domain|in domain and length|one domain costs|the domain is small",
    ),
    Rule(
        r"\b(table|vectors?|products?) (of|with|for) (the |all )?distances\b|\bdistance (ratios?|vectors?|table)\b",
        "relative positions",
    ),
    Rule(
        r"\b(dynamic|static|input|output|plain|finer|coarser|coarsest|common|own) steps?\b|\bsteps? of (its|the|their|a) "
        r"(sum|scale|tensor|grid|logits?|states|last|embedding|residual|weights|queries|hidden)|'s steps?\b|\bscale of (their|its) steps?\b"
        r"|\bone step (for|a) (all|row|token|tensor|head|layer|channel)|\bstep of its own\b",
        "scale",
        allowed=r"(processor|panel|decoder)'s steps?|a step's|each step's|the steps of its",
    ),
    Rule(
        r"\breal value of (a|one) unit\b|\b(score|sum|accumulator|residual|table|multiplier)s?'s? unit\b|\bunits of (the|its|their) "
        r"(scale|sum|step|score|residual|accumulator)",
        "scale",
    ),
    Rule(
        r"\bwords? of (a|the|its) vocabulary\b|\bvocabulary of [\d,]+ words\b|\bmasked words?\b|\blogits of (the )?words?\b|"
        r"\blanguage model of [\d,]+ words\b|\bthe words of the mask\b|\bbest words?\b|\bnext word\b|\bword by word\b|\b\d+ words at a time\b",
        "tokens",
    ),
    Rule(
        r"\bplaces? of (bytes|a cache|the cache)\b|\bplaces? in the (cache|arena)\b|\bhead's place\b",
        "offsets in a text, slots or blocks of a cache",
    ),
    Rule(
        r"\b(stack|layer|model|norm|blob)'s numbers\b|\bthe numbers of (a|all|the) (stacks?|layers?|models?)\b",
        "config, record",
    ),
    Rule(r"\b(narrowing|joining|splitting) (of )?rows\b|\bhidden rows\b", "the conversion: 16-bit rows to 8 bits, ..."),
]


# Nearly every name and line has none of the words.
ANY_PROSE = re.compile("|".join(rule.word for rule in PROSE), re.IGNORECASE)


@functools.lru_cache(None)
def rules_of(name: str) -> List[Rule]:
    """The rules that a name breaks where they hold."""
    snake = "_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_") + "_"
    return [rule for rule in NAMES if re.search(rule.word, snake) and not (rule.allowed and re.search(rule.allowed, snake))]


def name_problem(name: str, path: str) -> str:
    for rule in rules_of(name):
        if re.search(rule.where, path):
            return f'the name "{name}": in the field\'s words: {rule.instead}'
    return ""


def prose_problem(line: str, path: str) -> str:
    if not ANY_PROSE.search(line):
        return ""
    for rule in PROSE:
        if re.search(rule.where, path):
            rest = re.sub(rule.allowed, "", line, flags=re.IGNORECASE) if rule.allowed else line
            match = re.search(rule.word, rest, re.IGNORECASE)
            if match:
                return f'"{match.group()}": in the field\'s words: {rule.instead}'
    return ""


def text_problems(lines: List[str], path: str, first: int = 1) -> Iterator[Tuple[int, str]]:
    """A phrase may begin on one line and end on the next."""
    for i, line in enumerate(lines):
        following = lines[i + 1].strip(" \t/*#|") if i + 1 < len(lines) else ""
        problem = prose_problem(line, path)
        if not problem and following:
            tail = " ".join(line.split()[-4:])
            head = " ".join(following.split()[:4])
            if not prose_problem(head, path):
                problem = prose_problem(tail + " " + head, path)
        for name in re.findall(r"[A-Za-z]\w*[_A-Z]\w*", line):
            problem = problem or name_problem(name, path)
        if problem:
            yield first + i, problem


def file_problems(text: str, path: str) -> Iterator[Tuple[int, str]]:
    if not re.search(r"\.(c|cpp|h|hpp|inc)$", path):
        yield from text_problems(text.split("\n"), path)
        return
    comments: List[str] = []
    first = last = 0
    for token in tokens(text):
        if token.kind == "name":
            problem = name_problem(token.text, path)
            if problem:
                yield token.line, problem
        elif token.kind == "comment":
            if comments and token.line > last + 1:
                yield from text_problems(comments, path, first)
                comments = []
            first = first if comments else token.line
            # Two comments on one line do not happen.
            comments += token.text.split("\n")
            last = first + len(comments) - 1
    yield from text_problems(comments, path, first)


def self_test() -> List[str]:
    caught = [
        ("runtime/engine/a.hpp", text)
        for text in (
            "struct HeadKeys {};",
            "CachePlan plan;",
            "int sum_step;",
            "add_distances();",
            "int numbers;",
            "embert_encoding e;",
            "// The law of all.",
            "// the fastest cluster",
            "// a dynamic\n// step",
            "// the next word",
            "int ffn1_;",
            "int kClusters;",
            "/* input_norm, attention_norm */",
        )
    ]
    caught += [
        ("converter/quantize/a.cpp", "float unit;"),
        ("converter/README.md", "values are folded"),
        ("runtime/README.md", "`keys_plan` lies there"),
        ("kernels/README.md", "Scalar is the law."),
    ]
    passed = [
        ("runtime/engine/a.hpp", text)
        for text in (
            "KvCachePlan plan;",
            "// one decoding step",
            "int step_inputs;",
            "// keys and values",
            "int word_ids;",
            "// a lawn, a gateway",
            'f("the law");',
            "embert_encode_source();",
            "// the distance below the maximum",
            "struct Folder {};",
        )
    ]
    passed += [("tests/README.md", "a folder of texts"), ("targets/README.md", "in every place")]
    return [f"self-test: not found in {path}: {text}" for path, text in caught if not list(file_problems(text, path))] + [
        f"self-test: refused in {path}: {text}" for path, text in passed if list(file_problems(text, path))
    ]


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    found = self_test()
    paths = [root / "README.md", root / "CMakeLists.txt"]
    for folder in FOLDERS:
        paths += sorted((root / folder).rglob("*"))
    count = 0
    for path in paths:
        name = path.relative_to(root).as_posix()
        if not path.is_file() or path.suffix not in SUFFIXES | TEXTS or NOT_READ.search(name):
            continue
        count += 1
        problem = name_problem(path.name.replace(".", "_").replace("-", "_"), name)
        if problem:
            found.append(f"{name}:1: {problem}")
        found += [f"{name}:{line}: {problem}" for line, problem in file_problems(path.read_text(encoding="utf-8"), name)]
    for line in found:
        print(line)
    print(f"{count} files, {len(found)} problems")
    return 1 if found or count < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
