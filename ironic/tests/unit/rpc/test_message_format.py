import pytest

from ironic.core import errors
from ironic.rpc import message_format


def crossed(error):
    return message_format.error_of(message_format.json_copy(message_format.error_message(error))["error"])


# What only plug-ins raise is there wherever another test has imported it, with constructors of other arguments too.
OURS = {name for name, cls in errors.all_errors().items() if cls.__module__ != "ironic.core.plug_ins.plug_in_errors"}


@pytest.mark.parametrize("name", sorted(OURS))
def test_an_error_comes_back_as_what_it_was(name):
    cls = errors.all_errors()[name]
    sent = cls("what happened", node="n1", faults=["a", {"b": 1}])
    received = crossed(sent)
    assert type(received) is cls
    assert (str(received), received.facts, received.status) == (str(sent), sent.facts, sent.status)


def test_text_made_from_facts_crosses_too():
    assert str(crossed(errors.NodeLocked(node="n1", host="h1"))) == str(errors.NodeLocked(node="n1", host="h1"))


def test_an_unknown_error_becomes_its_nearest_known_family():
    wire = {"classes": ["FromTheFuture", "Conflict", "IronicError"], "message": "later", "facts": {"when": "soon"}}
    received = message_format.error_of(wire)
    assert (type(received), str(received), received.facts) == (errors.Conflict, "later", {"when": "soon"})


def test_an_error_of_no_known_family_is_a_plain_one():
    received = message_format.error_of({"classes": ["Alien"], "message": "zap", "facts": {}})
    assert (type(received), received.status, str(received)) == (errors.IronicError, 500, "zap")


def test_a_status_that_only_the_sender_knows_arrives():
    wire = {"classes": ["KnownToTheConductorOnly", "IronicError"], "status": 502, "message": "no", "facts": {}}
    received = message_format.error_of(wire)
    assert (type(received), received.status, received.code) == (errors.IronicError, 502, 502)
    assert errors.IronicError.status == 500


def test_an_error_with_a_constructor_of_its_own_is_rebuilt():
    class PickyError(errors.Conflict):
        def __init__(self, one, two):
            super().__init__(f"{one}-{two}", one=one)

    received = crossed(PickyError("a", "b"))
    assert (type(received), str(received), received.facts) == (PickyError, "a-b", {"one": "a"})


@pytest.mark.parametrize(
    "fact, arrives",
    [
        (OSError(5, "gone"), "[Errno 5] gone"),
        ({"k": {1, 2}}, {"k": "{1, 2}"}),
        (2**70, str(2**70)),
        ("half a \ud800 letter", "half a ? letter"),
        ({3: "x"}, {"3": "x"}),
    ],
)
def test_facts_that_are_no_json_travel_as_text(fact, arrives):
    assert crossed(errors.IronicError("x", what=fact)).facts == {"what": arrives}


def test_a_message_with_a_broken_letter_gets_through():
    assert str(crossed(errors.IronicError("BMC said \udcff"))) == "BMC said ?"


def test_a_fact_named_message_does_no_harm():
    assert str(message_format.error_of({"classes": ["Invalid"], "message": "m", "facts": {"message": "other"}})) == "m"


def test_opened_gives_the_result():
    assert message_format.result_of(message_format.result_message([1, 2])) == [1, 2]


def test_opened_raises_the_error():
    with pytest.raises(errors.NodeNotFound) as raised:
        message_format.result_of(message_format.error_message(errors.NodeNotFound(node="n1")))
    assert raised.value.facts == {"node": "n1"}


def test_a_copy_shares_nothing():
    sent = {"list": [1, {"deep": "x"}]}
    received = message_format.json_copy(sent)
    received["list"][1]["deep"] = "changed"
    assert sent == {"list": [1, {"deep": "x"}]}


def test_what_is_no_json_is_refused():
    with pytest.raises(TypeError):
        message_format.json_copy({"when": object()})
