"""The operator's policy files: checked as a whole at the start, and read again when one of them changes.

oslo.policy takes a rule that it can't parse for "denied", ignores a file that is missing, and while it reads changed
files, other threads meet half of the rules. Here every fault in a file stops the start. Later it is logged, and the
rules read before stay in force; only a complete set of checked rules replaces them, at once. A rule that has no effect
is a warning.
"""

import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from oslo_config import cfg

from ironic.api import policies
from ironic.conf import config_files
from ironic.core.texts.operator_files import content_of

LOG = logging.getLogger(__name__)

# Prefix of a rule for a single step; the step's name, `interface.step`, follows.
STEP_RULE_PREFIX: Final = "baremetal:step:execute:"

_DENIED: Final = "!"
_WORD: Final = re.compile(r"[^\s()]+")
_REFERENCE: Final = "rule:"
# Of the rule that stands for those that a check refers to and no file has, unless an option names another one.
_FOR_MISSING: Final = "default"

# Where oslo.policy looked as well until its release 3.
_FORMER_NAME: Final = "policy.json"

# Path, and time, size and inode of each file; None stands for one that does not exist.
State = tuple[tuple[str, tuple[int, int, int] | None], ...]


class BadPolicyFile(ValueError):
    """A policy file is missing or has a rule that can't be used; the text lists all faults."""


class SiteRules:
    """The rules of this service together with those of the operator's files."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Read and check the files; raises BadPolicyFile."""
        from oslo_policy import policy

        policy.Enforcer(conf)  # registers its options
        self._conf, self._lock = conf, threading.Lock()
        # Each name, and whether the operator's configuration has it: it is a default otherwise.
        self._names = [
            (str(name), config_files.is_set(conf, "oslo_policy", option))
            for option in ("policy_file", "policy_dirs")
            for name in _listed(conf.oslo_policy[option])
        ]
        # What has no effect in the rules in force, a line each.
        self.remarks: list[str] = []
        self._state = self._look()
        if missing := [path for path, found in self._state if found is None]:
            raise BadPolicyFile(f"There is no {' and no '.join(missing)}, which [oslo_policy] names.")
        self._enforcer = self._load(self._state)

    @property
    def paths(self) -> list[str]:
        """The files that are read, in their order."""
        return [path for path, _ in self._state]

    def older_names(self) -> dict[str, list[str]]:
        """Return the rules of files that also count as others, which they once were, with the names of these."""
        written = self._enforcer.file_rules
        found: dict[str, list[str]] = {}
        for name, (old, _) in policies.PREDECESSORS.items():
            if old != name and old in written and name not in written:
                found.setdefault(old, []).append(name)
        return found

    @property
    def enforcer(self) -> Any:
        """The enforcer of oslo.policy with the present rules; it does not look at the files itself."""
        if self._look() != self._state:
            with self._lock:
                # A request that began after the change waits here until the rules are read.
                if (state := self._look()) != self._state:
                    self._replace(state)
        return self._enforcer

    def _replace(self, state: State) -> None:
        try:
            if missing := [path for path, found in state if found is None]:
                raise BadPolicyFile(f"There is no {' and no '.join(missing)} any more.")
            self._enforcer = self._load(state)
        except (BadPolicyFile, OSError) as error:
            LOG.error("%s The access rules read before stay in force; correct the files.", error)
        else:
            LOG.info("The access rules were read again from %s", ", ".join(path for path, _ in state) or "no file")
        finally:
            self._state = state

    def _look(self) -> State:
        """Return what shows a change of a file: oslo.policy's own test misses an older file put in place."""
        return tuple((path, _stat(path)) for path in self._files())

    def _files(self) -> Iterator[str]:
        """Yield the files in the order in which they are read, and missing ones that the configuration names."""
        for name, is_configured in self._names:
            found = name if os.path.isabs(name) else self._conf.find_file(name)
            if found is not None and os.path.exists(found):
                yield from _files_of(found)
            elif is_configured:
                yield name

    def _load(self, state: State) -> Any:
        from oslo_policy import policy

        faults: list[str] = []
        read = {path: _rules_of(Path(path)) for path, _ in state}
        for path, rules in read.items():
            faults += (f"{path}: {fault}" for fault in _faults(rules))
        if faults:
            raise BadPolicyFile(f"Access rules can't be used: {'; '.join(faults)}.")
        remarks = [*self._passed_over(state), *_without_effect(read, self._conf.oslo_policy.enforce_new_defaults)]
        enforcer = policies.enforcer(self._conf)
        try:
            enforcer.check_rules(raise_on_violation=True)
        except policy.InvalidDefinitionError as error:
            raise BadPolicyFile(
                f"Access rules refer to a rule that does not exist, or to themselves: {error}"
            ) from None
        # From now on it must not read the files while requests use it.
        enforcer.use_conf = False
        self.remarks = remarks
        for remark in remarks:
            LOG.warning("%s.", remark)
        return enforcer

    def _passed_over(self, state: State) -> Iterator[str]:
        """Yield a line for a file under the former default name, which is not read and may have held rights back."""
        is_named = any(is_configured for _, is_configured in self._names)
        found = None if state or is_named else self._conf.find_file(_FORMER_NAME)
        if found is not None:
            yield (
                f"{found} is not read, so the default rules hold: name it in [oslo_policy]policy_file, or convert it "
                "by oslopolicy-convert-json-to-yaml"
            )


def unused(conf: cfg.ConfigOpts) -> list[str]:
    """Return a line for each option that names access rules while the service does not use any."""
    if conf.auth_strategy == "keystone":
        return []
    return [
        f"[oslo_policy]{option}: with [DEFAULT]auth_strategy = {conf.auth_strategy} every caller may do everything, "
        "whatever the rules say; set it to keystone"
        for option in ("policy_file", "policy_dirs")
        if config_files.is_set(conf, "oslo_policy", option)
    ]


def _listed(value: str | list[str] | None) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


def _files_of(path: str) -> list[str]:
    """Return the files of a directory that oslo.policy reads, none hidden or in a subdirectory; or else the path."""
    try:
        names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    except OSError:
        # A file; or a directory that can't be read, which is a fault as soon as it is read as a file.
        return [path]
    return [one for one in (os.path.join(path, name) for name in names) if os.path.isfile(one)]


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _without_effect(read: Mapping[str, Mapping[Any, Any]], enforce_new_defaults: bool) -> Iterator[str]:
    """Yield a line for each file with rules that no request asks for and that no rule which counts refers to."""
    asked_by_code = policies.NAMES - policies.HELPERS.keys() if enforce_new_defaults else policies.NAMES
    checks = {name: check for rules in read.values() for name, check in rules.items()}
    asked = {name for name in checks if name in asked_by_code or name.startswith((STEP_RULE_PREFIX, _FOR_MISSING))}
    to_do = list(asked)
    while to_do:
        words = _WORD.findall(checks[to_do.pop()])
        found = {word.removeprefix(_REFERENCE) for word in words if word.startswith(_REFERENCE)} & checks.keys() - asked
        asked |= found
        to_do += found
    for path, rules in read.items():
        idle = sorted(rules.keys() - asked)
        if names := [name for name in idle if name not in policies.HELPERS]:
            yield f"{path} has rules that nothing asks for: {', '.join(names)}. Correct their names, or remove them"
        if helpers := [name for name in idle if name in policies.HELPERS]:
            yield (
                f"{path} has rules that only former defaults refer to, without effect: {', '.join(helpers)}. Write the "
                "rules of the requests themselves, or set [oslo_policy]enforce_new_defaults = false"
            )


def _rules_of(path: Path) -> Mapping[object, object]:
    """Return the rules of a file, unchecked; raises BadPolicyFile."""
    from oslo_policy import policy

    try:
        content = content_of(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadPolicyFile(f"The policy file {path} can't be read: {reason}.") from None
    try:
        rules: object = policy.parse_file_contents(content)
    except (ValueError, RecursionError) as error:
        raise BadPolicyFile(f"The policy file {path} is neither YAML nor JSON: {error}.") from None
    if not isinstance(rules, Mapping):
        raise BadPolicyFile(f"The policy file {path} has to map names of rules to their checks.")
    return rules


def _faults(rules: Mapping[object, object]) -> Iterator[str]:
    """Yield what is wrong with rules of a file: oslo.policy denies the part of a check that it does not understand."""
    from oslo_policy import policy

    for name, check in rules.items():
        if not isinstance(name, str) or not isinstance(check, str):
            yield f"rule {name!r} is not a text"
        elif _denials(str(policy.Rules.from_dict({name: check})[name])) > _denials(check):
            yield f"rule {name} can't be parsed: {check!r}"


def _denials(text: str) -> int:
    return _WORD.findall(text).count(_DENIED)
