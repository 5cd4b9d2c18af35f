# SPDX-License-Identifier: Apache-2.0
"""Texts, and for each a question that it answers: what a sentence model has to bring together."""

TEXTS = [
    "how do i transfer money from my savings account",
    "the chef roasted the chicken with garlic and butter",
    "the weather tomorrow is cloudy with some rain",
    "the football team won the match in the last minute",
]
QUERIES = [
    "what is the balance on my bank account",
    "how long should i cook the chicken",
    "is it going to rain tomorrow",
    "which team won the football game",
]
