"""What an HTTP client takes from the environment: proxies and certificates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lift.errors import LiftError

VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSLKEYLOGFILE",
)


@contextmanager
def from_environment(error: type[LiftError], invalid: type[Exception]) -> Iterator[None]:
    """Make a client in this block: what the environment has wrong is one clear error.

    The variables that are set are named, and not shown: a proxy's address may hold a password.

    Args:
        error: what is raised.
        invalid: what the client raises for a malformed address.
    """
    try:
        yield
    except OSError as bad:
        raise _named(error, f"certificates cannot be read: {bad.strerror or bad}") from bad
    except ImportError as bad:
        raise _named(error, "a SOCKS proxy needs the package socksio") from bad
    except (invalid, ValueError) as bad:
        raise _named(error, "a proxy's address is malformed, or of a kind that is unknown") from bad


def _named(error: type[LiftError], what: str) -> LiftError:
    names = (name for known in VARIABLES for name in (known, known.lower()))
    found = [name for name in names if os.environ.get(name)]
    return error(what, where=", ".join(found) or "environment", fix="correct or unset them")
