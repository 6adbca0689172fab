"""Settings and credentials, read once: flags, environment, `.env`, pyproject.toml, defaults."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from lift.credentials import Variable, address, headers, key
from lift.errors import SettingError, visible
from lift.files import closed, read_text
from lift.github import pages
from lift.paths import exists, expanded, is_folder
from lift.pyproject import PYPROJECT, read_table
from lift.schema import Noun

ENVIRONMENT = "environment"
DOTENV = ".env"
DEFAULT = "default"
FLAG = "flag"

ANTHROPIC_URL = "https://api.anthropic.com"
LANGFUSE_URL = "https://cloud.langfuse.com"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

BackendName = Literal["auto", "messages", "demo"]


def _plain(text: str) -> str:
    if visible(text) != text:
        raise ValueError("it has control characters")
    try:
        text.encode()
    except UnicodeEncodeError as bad:
        raise ValueError("it is not UTF-8") from bad
    return text


Line = Annotated[str, AfterValidator(_plain)]
"""A text that can be printed and kept."""

ModelId = Annotated[Line, StringConstraints(pattern=r"^[^\s,]{1,200}$")]
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Settings(Noun):
    """What a command works with. Each field is a flag, `LIFT_<NAME>`, or a key of [tool.lift]."""

    skill: Annotated[Line, Field(description="skill to test: its name, or a path")] = ""
    datasets_dir: Annotated[Line, Field(description="folder of the dataset modules")] = "datasets"
    skills_dir: Annotated[Line, Field(description="folder that skill names are looked up in")] = (
        "skills"
    )
    journal: Annotated[Line, Field(description="the journal's SQLite file")] = ".lift/journal.db"
    backend: Annotated[
        BackendName,
        Field(description="what answers: messages, demo, or auto (messages if there is a key)"),
    ] = "auto"
    model: Annotated[ModelId, Field(description="model that answers the trials")] = (
        "claude-sonnet-5-5"
    )
    effort: Annotated[Line, Field(description="effort passed to the model; empty: its default")] = (
        ""
    )
    max_tokens: Annotated[
        int, Field(ge=1, le=1_000_000, description="longest answer in tokens, thinking included")
    ] = 8192
    judge_model: Annotated[ModelId, Field(description="model that judges")] = "claude-haiku-5-5"
    judge_votes: Annotated[
        int, Field(ge=1, le=9, description="votes of the judge on each trial")
    ] = 1
    max_cost_usd: Annotated[
        Dollars, Field(gt=0, description="cost ceiling of an experiment in US dollars; above 0")
    ] = 2.00
    confirm_above_usd: Annotated[
        Dollars, Field(description="ask before a run whose expected cost is above this")
    ] = 1.00
    concurrency: Annotated[int, Field(ge=1, le=512, description="calls in flight at most")] = 16
    deadline_s: Annotated[
        float,
        Field(
            gt=0, le=86_400, description="seconds after which a trial without an answer is errored"
        ),
    ] = 600.0
    cache_max_age: Annotated[
        float,
        Field(ge=0, le=36_500, description="days for which an answer is used again"),
    ] = 7.0
    gate_pages_dir: Annotated[
        Line, Field(description="folder of the pages that a recorded change may cite")
    ] = "docs"
    langfuse_limit: Annotated[
        str,
        Field(
            pattern=r"^(auto|none|hobby|core|pro|[1-9][0-9]{0,6})$",
            description="requests to Langfuse a minute: a number, none, hobby, core or pro",
        ),
    ] = "auto"
    thresholds: Annotated[
        str | Mapping[str, Any],
        Field(description="what a result must reach, as rubric<0.8, cost>+50%"),
    ] = ""
    price: Annotated[
        Line,
        Field(description="price of a model that is not in the table, as IN,OUT in $ per MTok"),
    ] = ""


CREDENTIALS = {
    "ANTHROPIC_API_KEY": "key of the Anthropic API",
    "ANTHROPIC_AUTH_TOKEN": "token of the Anthropic API, instead of a key",
    "ANTHROPIC_BASE_URL": "any server that speaks the Anthropic API",
    "ANTHROPIC_CUSTOM_HEADERS": "headers for that server, one `Name: value` a line",
    "LANGFUSE_PUBLIC_KEY": "public key of the Langfuse project that runs are sent to",
    "LANGFUSE_SECRET_KEY": "its secret key",
    "LANGFUSE_BASE_URL": "a Langfuse server; Langfuse Cloud where there is none",
}
"""Variables read from the environment or `.env`, never from pyproject.toml or a flag."""


class Credential(Noun):
    """What calls to the model carry, and where they go."""

    base_url: str
    api_key: SecretStr | None = None
    auth_token: SecretStr | None = None
    headers: Mapping[str, SecretStr] = {}
    """Sent beside them; from where the key is from."""


class Config(Noun):
    """Settings with their origins, and the variables that may hold credentials."""

    root: Path
    """The project's folder: relative paths in settings start here."""
    settings: Settings
    origins: Mapping[str, str]
    """Setting → where its value came from."""
    variables: Mapping[str, Mapping[str, SecretStr]]
    """Credential variable → source → value; the source that wins comes first."""
    pages: Mapping[str, str] = {}
    """Of the pull request and the job that it runs in; see github.pages."""

    def path(self, setting: str) -> Path:
        """The path a setting names, made absolute from the project's folder.

        Raises:
            SettingError: it is too long, behind a closed door, or in the home of nobody.
        """
        named = getattr(self.settings, setting)
        path = expanded(Path(named))
        shut = closed(self.root / path)
        why = "there is no such user" if str(path).startswith("~") else shut and shut.strerror
        if why:
            raise SettingError(
                f"{setting} cannot be {named!r:.80}: {why}",
                where=f"{setting}, from the {self.origins[setting]}",
                fix=Settings.model_fields[setting].description or "",
            )
        return self.root / path


def project_root(folder: Path) -> Path:
    """The project a folder belongs to.

    The nearest folder, upwards, with `.lift` or a pyproject.toml that has [tool.lift]; else the
    root of the git repository; else the folder itself. The search stops at the repository.

    Args:
        folder: where the command runs.
    """
    for parent in (folder, *folder.parents):
        if is_folder(parent / ".lift") or read_table(parent) is not None:
            return parent
        if exists(parent / ".git"):
            return parent
    return folder


def read(folder: Path, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Config:
    """The settings of a command.

    Args:
        folder: where the command runs.
        environ: the environment.
        flags: setting → value from the command line; None where the flag was not given.

    Raises:
        SettingError: a value is not allowed, or [tool.lift] has an unknown or a secret key.
    """
    root = project_root(folder)
    dotenv = {k: v for k, v in _dotenv(root / DOTENV).items() if v}
    layers = (
        (PYPROJECT, _from_pyproject(root)),
        (DOTENV, _from_variables(dotenv)),
        (ENVIRONMENT, _from_variables(environ)),
        (FLAG, {name: value for name, value in flags.items() if value is not None}),
    )
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, DEFAULT)
    for origin, layer in layers:
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    return Config(
        root=root,
        settings=_validated(values, origins),
        origins=origins,
        variables=_credentials(environ, dotenv),
        pages=pages(environ),
    )


def check_models(models: Sequence[str]) -> None:
    """Check ids of models that no setting names.

    Raises:
        SettingError: one is none.
    """
    for model in models:
        try:
            TypeAdapter(ModelId).validate_python(model)
        except ValidationError as bad:
            raise SettingError(
                f"{model!r:.200} is no model: {_lower(bad.errors()[0]['msg'])}",
                where="--model",
                fix="give an id without blanks and commas; up to 200 characters",
            ) from bad


def _lower(message: str) -> str:
    return message.lower().removeprefix("value error, ")


def variable(setting: str) -> str:
    """The environment variable of a setting."""
    return f"LIFT_{setting.upper()}"


def credential(config: Config) -> Credential | None:
    """The model credential and its address; None where there is neither key nor loopback server.

    Raises:
        SettingError: the key and the base URL come from different sources, so that one of
            them could redirect the other; or one of them is malformed.
    """
    url = _variable(config, "ANTHROPIC_BASE_URL")
    base_url = address(url) if url else ANTHROPIC_URL
    for name, field in (("ANTHROPIC_API_KEY", "api_key"), ("ANTHROPIC_AUTH_TOKEN", "auth_token")):
        if found := _variable(config, name):
            _check_source(found, url)
            carried = {field: key(found), "headers": _headers(config, found.source)}
            return Credential.model_validate({"base_url": base_url, **carried})
    if url and is_loopback(base_url):
        return Credential(base_url=base_url, headers=_headers(config, url.source))
    return None


def _headers(config: Config, source: str) -> dict[str, SecretStr]:
    """Those from where the key is from: what was set for one server is not sent to another."""
    found = _variable(config, "ANTHROPIC_CUSTOM_HEADERS", source)
    return headers(found) if found else {}


class LangfuseKeys(Noun):
    """The keys of a Langfuse project, and where they go."""

    public_key: str
    secret_key: SecretStr
    base_url: str


def langfuse_keys(config: Config) -> LangfuseKeys | None:
    """The Langfuse project that runs are sent to; None where no key is set.

    Raises:
        SettingError: one of the two keys is missing, keys and base URL come from different
            sources, or one of them is malformed.
    """
    public = _variable(config, "LANGFUSE_PUBLIC_KEY")
    secret = _variable(config, "LANGFUSE_SECRET_KEY")
    url = _variable(config, "LANGFUSE_BASE_URL")
    if public is None and secret is None:
        return None
    if public is None or secret is None:
        missing = "LANGFUSE_SECRET_KEY" if secret is None else "LANGFUSE_PUBLIC_KEY"
        raise SettingError(
            f"{missing} is not set, the other key is", where="credentials", fix="set both or none"
        )
    _check_source(public, secret)
    _check_source(secret, url)
    return LangfuseKeys(
        public_key=key(public).get_secret_value(),
        secret_key=key(secret),
        base_url=address(url) if url else LANGFUSE_URL,
    )


def _check_source(one: Variable, other: Variable | None) -> None:
    if other and one.source != other.source:
        raise SettingError(
            f"{one.name} comes from the {one.source} but {other.name} from the {other.source}",
            where="credentials",
            fix=f"set both in the same place, or drop {other.name}",
        )


def is_loopback(url: str) -> bool:
    """Whether an address stays on this machine."""
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:
        return False


def _variable(config: Config, name: str, source: str | None = None) -> Variable | None:
    """A credential variable: from a source, or from the one that wins."""
    for known, value in config.variables.get(name, {}).items():
        if source in (None, known):
            return Variable(name, value, known)
    return None


def _from_pyproject(root: Path) -> dict[str, Any]:
    table = read_table(root) or {}
    where = f"[tool.lift] in {root / PYPROJECT}"
    for name in table:
        if name.upper() in CREDENTIALS:
            raise SettingError(
                f"{name} may not be set in pyproject.toml", where=where, fix=f"move it to {DOTENV}"
            )
        if name not in Settings.model_fields:
            known = ", ".join(Settings.model_fields)
            raise SettingError(f"unknown setting {name!r:.80}", where=where, fix=f"known: {known}")
    return table


def _dotenv(path: Path) -> dict[str, str | None]:
    if is_folder(path):  # some keep a virtual environment there
        return {}
    try:
        return dotenv_values(stream=io.StringIO(read_text(path)), interpolate=False)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as bad:
        raise SettingError(
            f".env cannot be read: {bad.strerror}", where=str(path), fix="make it a UTF-8 file"
        ) from bad


def _from_variables(variables: Mapping[str, str | None]) -> dict[str, Any]:
    named = {name: variables.get(variable(name)) for name in Settings.model_fields}
    return {name: value for name, value in named.items() if value}


def _credentials(
    environ: Mapping[str, str], dotenv: Mapping[str, str | None]
) -> dict[str, dict[str, SecretStr]]:
    found: dict[str, dict[str, SecretStr]] = {}
    for source, variables in ((ENVIRONMENT, environ), (DOTENV, dotenv)):
        for name in CREDENTIALS:
            if value := (variables.get(name) or "").strip():
                found.setdefault(name, {})[source] = SecretStr(value)
    return found


def _validated(values: dict[str, Any], origins: Mapping[str, str]) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as bad:
        first = bad.errors()[0]
        name = str(first["loc"][0])
        raise SettingError(
            f"{name} cannot be {first['input']!r:.200}: {_lower(first['msg'])}",
            where=f"{name}, from the {origins[name]}",
            fix=Settings.model_fields[name].description or "",
        ) from bad
