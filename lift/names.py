"""Names of what is asked: things are found by them, here and in Langfuse, so none is masked."""

from __future__ import annotations

from lift.errors import UsageError
from lift.plan import Plan
from lift.redact import found


def check_names(plan: Plan) -> None:
    """Check that no name holds what may not leave.

    Raises:
        UsageError: one does.
    """
    items = [item for dataset in plan.datasets for item in dataset.items]
    names = {
        "the skill": [plan.skill.name, *([plan.old.name] if plan.old else [])],
        "the experiment": [plan.experiment],
        "a model": [condition.model for condition in plan.conditions],
        "a dataset": [dataset.name for dataset in plan.datasets],
        "an item": [item.id for item in items],
        "a category": [item.category for item in items],
    }
    for whose, some in names.items():
        for name in dict.fromkeys(some):
            for secret in found(name):
                raise UsageError(
                    f"the name of {whose} holds what looks like a secret ({secret.kind})",
                    where=name,
                    fix="rename it: names are sent and reported as they are",
                )
