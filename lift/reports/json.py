"""Results as JSON: what --json prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from lift.agreement import Judging
from lift.backends.demo import NOTICE
from lift.journal import Experiment, Record
from lift.redact import redacted

if TYPE_CHECKING:
    import pandas as pd

    from lift.against import Against
    from lift.gate import Candidate
    from lift.results import Result
    from lift.suggesting import Suggestion

COMPARISON: Literal["skill-eval-comparison/1"] = "skill-eval-comparison/1"
"""The schema of a comparison; `lift schema` prints it."""


def comparison(
    result: Result,
    asking: Sequence[Candidate] = (),
    *,
    suggestions: Sequence[Suggestion] | None = None,
) -> str:
    """The experiment, its verdicts, categories and paired items; NaN is null.

    The comparison with a second base, where there is one, is in `more`; where two experiments are
    compared, `against` says with which, and which items were left out.

    Args:
        result: what to write.
        asking: what the gate may accept of it, one a model.
        suggestions: what to do about it; None where nobody asked.
    """
    return _text(
        {
            "schema": COMPARISON,
            **_experiment(result.experiment),
            **_compared(result),
            **({"more": [_compared(one) for one in result.more]} if result.more else {}),
            **({"against": _against(result.against)} if result.against else {}),
            **_advice(suggestions),
            **({"candidates": [one.model_dump(mode="json") for one in asking]} if asking else {}),
        }
    )


def _advice(suggestions: Sequence[Suggestion] | None) -> dict[str, Any]:
    if suggestions is None:
        return {}
    return {"suggestions": [one.model_dump(mode="json") for one in suggestions]}


def _compared(result: Result) -> dict[str, Any]:
    compared = result.comparison
    return {
        "base": compared.base,
        "other": compared.other,
        "invalid": compared.invalid or None,
        "claims": [claim.model_dump(mode="json") for claim in result.claims],
        "categories": _rows(compared.categories),
        "judged": _rows(compared.judged),
        "judges": [_judge(one) for one in result.recorded.judges],
        "evaluators": _rows(compared.evaluators),
        "measures": _rows(result.measures),
        "items": _rows(compared.deltas),
        "diagnostics": result.diagnostics.model_dump(mode="json"),
    }


def _judge(one: Judging) -> dict[str, Any]:
    known = one.agreement.model_dump(mode="json") if one.agreement else None
    return {**one._asdict(), "agreement": known}


def _against(found: Against) -> dict[str, Any]:
    return {**found._asdict(), **_experiment(found.experiment)}


def experiments(found: Sequence[Experiment]) -> str:
    """The experiments of a journal."""
    return _text([_experiment(one) for one in found])


def trials(rows: Sequence[dict[str, Any]], experiment: Experiment) -> str:
    """One object a trial."""
    return _text({**_experiment(experiment), "trials": list(rows)})


def records(found: Sequence[Record], experiment: Experiment) -> str:
    """Trials in full."""
    return _text(
        {
            **_experiment(experiment),
            "trials": [
                {
                    **one.trial.model_dump(mode="json"),
                    "status": one.status,
                    "system": one.system,
                    "prompt": one.item["prompt"],
                    "evidence": one.evidence.model_dump(mode="json") if one.evidence else None,
                    "scores": [score.model_dump(mode="json") for score in one.scores],
                    "votes": [vote.model_dump(mode="json") for vote in one.votes],
                }
                for one in found
            ],
        }
    )


def _experiment(one: Experiment) -> dict[str, Any]:
    notice = {"notice": NOTICE} if one.canned else {}
    reused = [answers._asdict() for answers in one.reused]
    return {"experiment": {**one._asdict(), "reused": reused}, **notice}


def _rows(frame: pd.DataFrame) -> Any:
    return json.loads(frame.to_json(orient="records", double_precision=12))


def _text(value: Any) -> str:
    return json.dumps(redacted(value), indent=2, ensure_ascii=False, allow_nan=False)
