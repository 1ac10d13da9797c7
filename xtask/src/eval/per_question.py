"""Prints nDCG@10 and recall@8kc of every question, as the sets' own score.py measures them.

Usage: per_question.py DATA RESULTS; score.py has to be importable.
"""

import json
import os
import sys

import score

data, results = sys.argv[1:3]
answers = {}
with open(results, encoding="utf-8") as rows:
    for row in map(json.loads, rows):
        answers[row["unit"], row["id"]] = row["results"]
lines = score.Lines()
figures = {}
for unit, questions in score.load_units(data).items():
    for question in questions:
        if (unit, question["id"]) in answers:
            corpus = os.path.join(data, unit, "corpus")
            figure = score.score_query(question, answers[unit, question["id"]], corpus, lines)
            pair = [figure["ndcg@10"], figure["recall@Bc"]]
            figures.setdefault(unit.split(os.sep)[0], []).append(pair)
json.dump(figures, sys.stdout)
