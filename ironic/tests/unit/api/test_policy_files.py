"""An operator's policy files: what stops the start, and what happens when they change while the service runs."""

import logging
import os
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg
from oslo_policy import opts

from ironic.api import policies
from ironic.api.policy import KeystonePolicy
from ironic.api.policy_files import BadPolicyFile, SiteRules
from ironic.conf import OPTIONS
from ironic.core.context import RequestContext

RULE = "baremetal:node:delete"
MEMBER = RequestContext(project_id="owners", roles=("reader", "member"))
OPEN, CLOSED = f'"{RULE}": "role:member"', f'"{RULE}": "role:admin"'


def configured(directory: Path, text: str = "policy_file = policy.yaml") -> Any:
    """Return the options of a service whose configuration file has these lines in [oslo_policy]."""
    (directory / "ironic.conf").write_text(f"[oslo_policy]\n{text}\n")
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS["DEFAULT"])
    # Other tests set a default of their own, which holds for the process.
    opts.set_defaults(conf, policy_file="policy.yaml")
    conf([], default_config_files=[str(directory / "ironic.conf")], default_config_dirs=[])
    return conf


def policy(conf: Any) -> KeystonePolicy:
    return KeystonePolicy(SiteRules(conf))


def put(path: Path, text: str) -> None:
    """Replace a file as careful editors do, so that no reader meets a half of it."""
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def allowed(rules: KeystonePolicy, name: str = RULE) -> bool:
    return rules.rights(MEMBER).allows(name, {"node.owner": "owners"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    put(tmp_path / "policy.yaml", OPEN)
    return tmp_path / "policy.yaml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'"{RULE}": "role:member or (("', f"rule {RULE} can't be parsed: 'role:member or (('"),
        (f'"{RULE}": "role:member or member"', f"rule {RULE} can't be parsed"),
        (f'"{RULE}": "rolemember"', f"rule {RULE} can't be parsed"),
        (f'"{RULE}": "not"', f"rule {RULE} can't be parsed"),
        (f'"{RULE}": 3', f"rule '{RULE}' is not a text"),
        ("3: role:member", "rule 3 is not a text"),
        (f'"{RULE}": [', "is neither YAML nor JSON"),
        (f"- {RULE}", "has to map names of rules to their checks"),
        (f'"{RULE}": "rule:missing"', "refer to a rule that does not exist, or to themselves"),
        ('"a": "rule:b"\n"b": "rule:a"', "refer to a rule that does not exist, or to themselves"),
    ],
)
def test_a_rule_that_can_not_be_used_stops_the_start(tmp_path: Path, text: str, expected: str) -> None:
    put(tmp_path / "policy.yaml", text)
    with pytest.raises(BadPolicyFile) as refusal:
        policy(configured(tmp_path))
    assert expected in str(refusal.value)


def test_all_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    put(tmp_path / "policy.yaml", '"a": "x"\n"b": "role:y"\n"c": "role:y and z"')
    put(tmp_path / "policy.d" / "more.yaml", '"d": "w"')
    with pytest.raises(BadPolicyFile) as refusal:
        policy(configured(tmp_path))
    found = str(refusal.value)
    assert all(f"policy.yaml: rule {name} can't be parsed" in found for name in "ac") and "rule b" not in found
    assert "more.yaml: rule d can't be parsed" in found


@pytest.mark.parametrize(
    "text",
    [f'"{RULE}": ""', f'"{RULE}": "@"', f'"{RULE}": "not !"', f'"{RULE}": "(! or (role:member))"', f'{{"{RULE}": ""}}'],
)
def test_checks_that_allow_or_deny_everything_are_understood(tmp_path: Path, text: str) -> None:
    put(tmp_path / "policy.yaml", text)
    assert allowed(policy(configured(tmp_path)))


@pytest.mark.parametrize("line", ["policy_file = gone.yaml", "policy_dirs = gone.d", "policy_dirs = /nowhere/gone.d"])
def test_a_file_that_the_configuration_names_has_to_exist(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadPolicyFile, match=r"There is no .*gone"):
        policy(configured(tmp_path, line))


def test_without_any_file_the_defaults_hold(tmp_path: Path) -> None:
    assert not allowed(policy(configured(tmp_path, "")))


def test_an_unreadable_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").mkdir()
    (tmp_path / "policy.yaml" / "inner").symlink_to(tmp_path / "nothing")
    assert not allowed(policy(configured(tmp_path)))
    (tmp_path / "policy.yaml" / "inner.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadPolicyFile, match="inner.yaml"):
        policy(configured(tmp_path, "policy_dirs = policy.yaml"))


def test_a_pipe_in_the_place_of_a_file_stops_the_start_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "policy.yaml")
    with pytest.raises(BadPolicyFile, match=r"policy\.yaml can't be read: it is no regular file"):
        policy(configured(tmp_path))


def test_a_change_counts_from_the_next_request_on(file: Path) -> None:
    rules = policy(configured(file.parent))
    assert allowed(rules)
    put(file, CLOSED)
    assert not allowed(rules)
    put(file, OPEN)
    # An older file that is put in place, such as a backup.
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert allowed(rules)


def test_files_of_a_directory_are_read_in_order_after_the_file(file: Path) -> None:
    extra = file.parent / "policy.d"
    extra.mkdir()
    rules = policy(configured(file.parent, "policy_file = policy.yaml\npolicy_dirs = policy.d"))
    assert allowed(rules)
    put(extra / "1.yaml", CLOSED)
    assert not allowed(rules)
    put(extra / "2.yaml", OPEN)
    assert allowed(rules)
    (extra / "2.yaml").unlink()
    assert not allowed(rules)
    put(extra / ".hidden.yaml", "[")
    put(extra / "1.yaml", OPEN)
    assert allowed(rules)


@pytest.mark.parametrize("damage", ["[", f'"{RULE}": "role:member or (("', f'"{RULE}": "rule:missing"', None])
def test_after_a_bad_change_the_rules_read_before_stay(
    file: Path, damage: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    put(file, '"show_password": "role:member"\n' + OPEN)
    rules = policy(configured(file.parent))
    if damage is None:
        file.unlink()
    else:
        put(file, damage)
    with caplog.at_level(logging.ERROR, logger="ironic.api.policy_files"):
        assert [allowed(rules), allowed(rules), allowed(rules, "show_password")] == [True] * 3
    assert sum("stay in force" in line for line in caplog.messages) == 1
    put(file, CLOSED)
    assert not allowed(rules)
    assert not allowed(rules, "show_password")


def test_a_request_meets_all_of_the_old_rules_or_all_of_the_new_ones(file: Path) -> None:
    first, second = ('"x": "role:member"\n"y": "!"\n', '"x": "!"\n"y": "role:member"\n')
    put(file, first)
    rules, seen, stop = policy(configured(file.parent)), set(), threading.Event()

    def ask() -> None:
        while not stop.is_set():
            present = rules._rules.enforcer
            seen.add(tuple(bool(present.enforce(name, {}, {"roles": ["member"]})) for name in "xy"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(20):
        put(file, (second, first)[turn % 2])
        rules.rights(MEMBER).allows(RULE, {})
    stop.set()
    for thread in threads:
        thread.join()
    assert seen and seen <= {(True, False), (False, True)}


def test_no_request_that_begins_after_a_change_is_answered_by_the_old_rules_while_another_reads_the_new(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, reading, may_end = policy(configured(file.parent)), threading.Event(), threading.Event()
    load = SiteRules._load

    def slowly(site: SiteRules, state: Any) -> Any:
        reading.set()
        assert may_end.wait(60)
        return load(site, state)

    monkeypatch.setattr(SiteRules, "_load", slowly)
    put(file, CLOSED)
    answers: list[bool] = []
    first, second = (threading.Thread(target=lambda: answers.append(allowed(rules))) for _ in range(2))
    first.start()
    assert reading.wait(60)
    second.start()
    second.join(0.2)
    assert answers == []
    may_end.set()
    for thread in (first, second):
        thread.join(60)
    assert answers == [False, False]


def test_a_name_that_no_request_asks_for_is_logged(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(
        file,
        '"baremetal:nod:delete": "!"\n"baremetal:node:list": "@"\n"mine": "@"\n'
        '"baremetal:step:execute:a.b": "rule:ours"\n"ours": "rule:theirs"\n"theirs": "@"\n'
        '"default": "!"\n"is_admin": "role:x"',
    )
    with caplog.at_level(logging.WARNING, logger="ironic.api.policy_files"):
        rules = policy(configured(file.parent))
    idle, former = caplog.messages
    assert "rules that nothing asks for: baremetal:nod:delete, mine." in idle
    assert "rules that only former defaults refer to, without effect: is_admin." in former
    assert rules.rights(MEMBER).guarded_steps == {"a.b"}


def test_helpers_of_former_defaults_count_where_these_do(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(file, '"is_admin": "role:x"')
    SiteRules(configured(file.parent, "enforce_new_defaults = false"))
    assert not caplog.messages


def test_a_file_that_older_libraries_read_is_not_passed_over_in_silence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "policy.json", f"{{{CLOSED}}}")
    SiteRules(configured(tmp_path, ""))
    (line,) = caplog.messages
    assert f"{tmp_path / 'policy.json'} is not read" in line
    caplog.clear()
    assert not allowed(policy(configured(tmp_path, "policy_file = policy.json")))
    put(tmp_path / "policy.yaml", OPEN)
    assert allowed(policy(configured(tmp_path)))
    assert not caplog.messages


@pytest.mark.parametrize("old", sorted({old for name, (old, _) in policies.PREDECESSORS.items() if old != name}))
def test_every_old_name_is_understood(tmp_path: Path, old: str) -> None:
    put(tmp_path / "policy.yaml", f'"{old}": "role:member"')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = policy(configured(tmp_path))
    renamed = [name for name, (before, _) in policies.PREDECESSORS.items() if before == old]
    for name in renamed:
        assert str(rules._rules.enforcer.rules[name]) == "role:member", name
