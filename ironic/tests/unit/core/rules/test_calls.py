"""Calls of other services: noted and not made, led by the rule alone, and shown without what is secret in them."""

import copy
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import Call, Facts, check_rule
from ironic.core.rules.limits import CALLING, STEPS
from ironic.core.secrets.masking import REPLACEMENT
from ironic.tests.unit.core.rules.lab import NODE, RULE, act, facts, rule, run, why
from ironic.tests.unit.core.rules.test_masking import KEYS, PLACES, canary, planted

BASE = "https://cmdb.example.com:8443"


def called(outcome: Any) -> list[Call]:
    assert outcome.failure is None, outcome.failure
    return [one.call for one in outcome.calls]


def refusal(**args: Any) -> str:
    with pytest.raises(InvalidParameterValue) as caught:
        check_rule(rule([{"op": "api-call", "args": {"url": BASE, **args}}]))
    return str(caught.value)


def test_a_call_is_noted_with_the_action_that_wants_it() -> None:
    wanted = {"url": f"{BASE}/seen/{{node.name}}?cpus={{inventory[cpu][count]}}", "headers": {"X-Node": "{node.uuid}"}}
    outcome = run(rule([{"op": "log", "args": ["x"]}, {"op": "api-call", "args": wanted}]))
    (call,) = called(outcome)
    assert call == Call(f"{BASE}/seen/rack-1?cpus=8", {"X-Node": NODE["uuid"]}, {}, 5, 3, 0.3)
    (planned,) = outcome.calls
    assert (planned.rule, planned.phase, planned.index, planned.sensitive) == (RULE, "main", 1, False)
    assert not outcome.changes


def test_arguments_come_by_position_and_in_loops() -> None:
    args = [f"{BASE}/{{item}}", {"A": "b"}, {"https": "http://proxy:3128"}, 2.5, 0, 0]
    calls = called(act("api-call", args, loop=["a", "b"]))
    assert calls == [Call(f"{BASE}/{x}", {"A": "b"}, {"https": "http://proxy:3128"}, 2.5, 0, 0) for x in "ab"]


def test_it_needs_no_node() -> None:
    early = rule([{"op": "api-call", "args": [f"{BASE}/{{inventory[bmc_address]}}"]}], phase="early")
    (call,) = called(run(early, known=Facts(inventory={"bmc_address": "192.0.2.7"}, plugin_data={})))
    assert call.url == f"{BASE}/192.0.2.7"


def test_of_a_rule_that_fails_no_call_is_left() -> None:
    outcome = run(rule([{"op": "api-call", "args": [BASE]}, {"op": "fail", "args": ["no"]}]))
    assert outcome.failure is not None
    assert outcome.calls == []


def test_a_phase_has_a_bounded_number_of_calls() -> None:
    outcome = act("api-call", [BASE], loop=list(range(STEPS // CALLING)))
    assert "steps that all of them may take together" in why(outcome)
    assert len(called(act("api-call", [BASE], loop=list(range(STEPS // CALLING - 1))))) == STEPS // CALLING - 1


@pytest.mark.parametrize(
    "url",
    [
        "{plugin_data[url]}",
        "{plugin_data[scheme]}://host/",
        "http://{plugin_data[host]}/",
        "http://{plugin_data[host]}",
        "http://host{plugin_data[rest]}",
        "http://host.{plugin_data[domain]}/x",
        "http://host:{plugin_data[port]}/x",
        "http://host:80{plugin_data[port]}/x",
        "http://{plugin_data[user]}@host/x",
        "http://user:{node.driver_info[password]}@host/x",
        "http://user:1{plugin_data[x]}@host/",
        "ftp://host/{node.name}",
        "ftp://host/",
        "file:///etc/passwd",
        "//host/x",
        "host/x",
        "",
        "http://",
        "http:///x",
        "http://ho st/",
        "http://a..b/",
        f"http://{'a' * 64}/",
        "http://host:0/",
        "http://host:65536/",
        "http://host:/",
        "http://[::1/",
        "http://[1.2.3.4]/",
        "http://a@b@c/",
        "http://host\\@other/",
        "http://host/a b",
        "http://host/a\r\nX: y",
        "http://host/ä",
        "http://host/#x",
        "http://host/#{node.name}",
        "http://host/../x",
        "http://host/a/%2e%2E/x",
        "http://host/a/%2",
        "http://host/%{node.name}",
        "http://host/%2{node.name}",
        f"http://host/{'x' * 8192}",
        5,
        None,
    ],
)
def test_a_url_that_could_lead_anywhere_is_refused_when_posted(url: Any) -> None:
    assert "actions[0] (api-call): argument 'url'" in refusal(url=url)


@pytest.mark.parametrize(
    "url",
    ["http://host", "http://host:80?a=b", "https://u:p%40@host/x/?a=%20&b", "http://[2001:db8::1]:80/", "http://a.b./"],
)
def test_a_literal_url_is_called_as_it_is(url: str) -> None:
    assert called(act("api-call", [url]))[0].url == url


HOSTILE = [
    "@evil.example.com/", "/../../admin", "..", ".", "//evil.example.com", "\\evil", "..\\x", "%2e%2e", "..%2fx",
    "?a=b", "#x", "&admin=1", "a\r\nHost: evil", "\0", "\ud800", "ä", " ", ":80", "%00", {"a": ["/"]}, ["x"], None,
    "x/../../y",
]  # fmt: skip


@pytest.mark.parametrize(
    "template", ["/seen/{plugin_data[x]}/end", "/seen/.{plugin_data[x]}", "?q={plugin_data[x]}&e=1"]
)
@given(value=st.sampled_from(HOSTILE) | st.text(max_size=12))
def test_hostile_values_stay_in_their_place(template: str, value: Any) -> None:
    outcome = act("api-call", [BASE + template], known=facts(plugin_data={"x": value}))
    if outcome.failure is not None:
        assert "the path of a URL must have no segment '.' or '..'" in why(outcome)
        return
    (call,) = called(outcome)
    # What the library makes of it is what is asked for.
    sent = urlsplit(requests.Request("GET", call.url).prepare().url or "")
    assert (sent.scheme, sent.netloc, sent.fragment) == ("https", "cmdb.example.com:8443", "")
    asked, literal = urlsplit(call.url), urlsplit(BASE + template.replace("{plugin_data[x]}", "x"))
    assert sent.path.count("/") == max(1, literal.path.count("/"))
    assert sent.path.startswith(literal.path.partition("x")[0].rstrip("."))
    assert asked.query.count("&") == literal.query.count("&")
    assert call.url.isascii() and call.url.isprintable()


@pytest.mark.parametrize("value", ["..", ".", "../x", "a/../b", "..\\x"])
def test_a_value_that_would_step_up_fails_the_rule(value: str) -> None:
    outcome = act("api-call", [f"{BASE}/a/{{plugin_data[x]}}/b"], known=facts(plugin_data={"x": value}))
    assert "actions[0]: argument 'url': the path of a URL must have no segment '.' or '..'" in why(outcome)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("headers", ["x"]),
        ("headers", "x"),
        ("headers", "{plugin_data[headers]}"),
        ("headers", {"{node.name}": "x"}),
        ("headers", {"A": 5}),
        ("headers", {"A": None}),
        ("headers", {"A": "b\r\nC: d"}),
        ("headers", {"A": "b\n"}),
        ("headers", {"A": " b"}),
        ("headers", {"A": "ä"}),
        ("headers", {"A\r\n": "b"}),
        ("headers", {"A:": "b"}),
        ("headers", {"": "b"}),
        ("headers", {"Host": "elsewhere"}),
        ("headers", {"content-length": "5"}),
        ("headers", {"Transfer-Encoding": "chunked"}),
        ("headers", {f"A{number}": "b" for number in range(33)}),
        ("proxies", "http://proxy"),
        ("proxies", {"https": "http://{plugin_data[proxy]}"}),
        ("proxies", {"https": "http://proxy/{node.name}"}),
        ("proxies", "{plugin_data[proxies]}"),
        ("proxies", {"https": "socks5://proxy"}),
        ("proxies", {"all": "http://proxy"}),
        ("proxies", {"http": None}),
        ("timeout", 0),
        ("timeout", 31),
        ("timeout", "5"),
        ("timeout", True),
        ("timeout", None),
        ("retries", -1),
        ("retries", 6),
        ("retries", 1.5),
        ("backoff_factor", -0.1),
        ("backoff_factor", 5.5),
        ("verify", False),
    ],
)
def test_it_refuses_other_arguments_and_repeats_no_value(name: str, value: Any) -> None:
    text = refusal(**{name: value})
    assert f"argument '{name}'" in text
    assert "elsewhere" not in text


def test_a_header_that_data_would_break_in_two_fails_the_rule() -> None:
    known = facts(plugin_data={"x": "a\r\nHost: evil"})
    assert "argument 'headers'" in why(act("api-call", [BASE, {"A": "{plugin_data[x]}"}], known=known))


def test_what_is_told_holds_no_credentials() -> None:
    url = "https://me:hunter1@host/x?token=hunter2&name=rack"
    args = [url, {"Authorization": "Basic hunter3"}, {"https": "http://p:hunter4@proxy:3128"}]
    (told,) = act("api-call", args).explanation
    assert told["calls"] == [
        {
            "url": f"https://{REPLACEMENT}@host/x?token={REPLACEMENT}&name=rack",
            "headers": {"Authorization": REPLACEMENT},
            "proxies": {"https": f"http://{REPLACEMENT}@proxy:3128"},
            "timeout": 5,
            "retries": 3,
            "backoff_factor": 0.3,
        }
    ]
    assert "hunter" not in json.dumps(told)


SNOOP = [
    [
        f"{BASE}/{{node.driver_info[{key}]}}?a={{inventory[bmc][users][0][{key}]}}&b={{ports[0][extra][{key}]}}",
        {"X-Extra": f"{{node.extra[a][0][b][{key}]}}", "X-Data": f"{{plugin_data[x][0][0][{key}]}}"},
    ]
    for key in KEYS
]


@pytest.mark.demand("S131", "S168")
@pytest.mark.parametrize(
    ("masking", "sensitive", "sees"),
    [("always", True, False), ("sensitive", False, False), ("sensitive", True, True), ("never", False, True)],
)
def test_secrets_that_a_rule_may_not_see_leave_through_no_url(masking: Any, sensitive: bool, sees: bool) -> None:
    snooping = [rule([{"op": "api-call", "args": args}], sensitive=sensitive) for args in SNOOP]
    outcome = run(*snooping, masking=masking, known=planted())
    sent = "".join(str(call) for call in called(outcome))
    assert sum(canary(place, key) in sent for place in PLACES for key in KEYS) == (40 if sees else 0)
    assert ("%2A%2A%2A%2A%2A%2A" in sent) is not sees
    assert "canary" not in json.dumps(outcome.explanation)


def test_of_a_sensitive_rule_no_call_is_told() -> None:
    (told,) = run(rule([{"op": "api-call", "args": [f"{BASE}/hidden"]}], sensitive=True)).explanation
    assert told["applies"] is True
    assert "cmdb" not in json.dumps(told)


def test_facts_are_left_alone() -> None:
    known = facts()
    before = copy.deepcopy(known)
    act("api-call", [f"{BASE}/{{node.name}}"], known=known)
    assert known == before
