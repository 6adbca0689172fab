"""How well secrets are found: the corpus, and what becomes of it."""

from __future__ import annotations

from typing import NamedTuple

from lift.redact.corpus import Case, cases, ordinary
from lift.redact.scan import Found, found


class Evaluation(NamedTuple):
    """What became of a corpus."""

    kinds: int
    planted: int
    """Texts with one secret in them; the secret may be there more than once."""
    missed: tuple[Case, ...]
    """Those whose secret is not masked as a whole, or as something else."""
    ordinary: int
    """Texts without a secret."""
    alarms: tuple[str, ...]
    """What was masked and is no secret."""

    @property
    def recall(self) -> float:
        """Share of the secrets that are masked, 0 to 1."""
        return 1 - len(self.missed) / self.planted

    @property
    def precision(self) -> float:
        """Share of what is masked that is a secret, 0 to 1; 1 where nothing is."""
        right = self.planted - len(self.missed)
        return right / (right + len(self.alarms)) if right or self.alarms else 1.0


def evaluated() -> Evaluation:
    """What becomes of the shipped corpus."""
    planted, texts = cases(), ordinary()
    missed, alarms = [], []
    for case in planted:
        spans = found(case.text)
        right = [span for span in spans if _is_right(case, span)]
        if len(right) < case.text.count(case.secret):
            missed.append(case)
        alarms += [case.text[s.start : s.end] for s in spans if s not in right]
    for text in texts:
        alarms += [text[span.start : span.end] for span in found(text)]
    return Evaluation(
        kinds=len({case.kind for case in planted}),
        planted=len(planted),
        missed=tuple(missed),
        ordinary=len(texts),
        alarms=tuple(alarms),
    )


def _is_right(case: Case, span: Found) -> bool:
    return span.kind == case.kind and case.text[span.start : span.end] == case.secret
