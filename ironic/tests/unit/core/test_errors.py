"""Errors: facts make the sentence, the class makes the status."""

import pytest

from ironic.core import errors


@pytest.mark.parametrize(
    "cls, status",
    [
        (errors.IronicError, 500),
        (errors.Invalid, 400),
        (errors.InvalidStateRequested, 400),
        (errors.NodeInMaintenance, 400),
        (errors.NodeIsRetired, 400),
        (errors.UnsupportedDriverExtension, 400),
        (errors.MissingParameterValue, 400),
        (errors.NodeProtected, 403),
        (errors.NodeNotFound, 404),
        (errors.NoValidHost, 404),
        (errors.NotAcceptable, 406),
        (errors.NodeLocked, 409),
        (errors.InvalidState, 409),
        (errors.NodeAssociated, 409),
        (errors.PowerStateFailure, 409),
        (errors.NoFreeConductorWorker, 503),
        (errors.ConcurrentActionLimit, 503),
        (errors.CleanStepFailed, 500),
    ],
)
def test_it_has_the_status_clients_know(cls, status):
    assert cls.status == cls().code == status


def test_it_says_its_facts():
    error = errors.NodeLocked(node="n-1", host="c-1")
    assert error.facts == {"node": "n-1", "host": "c-1"}
    assert "n-1" in str(error)
    assert "c-1" in str(error)


def test_it_takes_a_sentence_instead():
    assert str(errors.HardwareInspectionFailure("no disk")) == "no disk"


def test_it_says_what_it_has_when_a_fact_is_missing():
    assert "Node (unknown) is in use by conductor c-1." in str(errors.NodeLocked(host="c-1"))
    assert str(errors.NodeNotFound(name="n")) == "There is no node (unknown). (name=n)"


def test_it_finds_every_class_by_name():
    known = errors.all_errors()
    assert known["CleanStepFailed"] is errors.CleanStepFailed
    assert all(name == cls.__name__ for name, cls in known.items())


def test_it_can_be_made_without_facts():
    # Those that third parties know by another constructor are in test_plug_in_errors.
    classes = [cls for cls in errors.all_errors().values() if not issubclass(cls, RuntimeError)]
    assert all(str(cls()) for cls in classes)
