"""What a BMC repeats of a password in an error is hidden, and the error is still understood."""

import json

import pytest

from ironic.drivers.modules.bmc.error_texts import without_passwords


def refusal(text: str) -> dict[str, object]:
    return {"error": {"code": "Base.1.0.GeneralError", "message": text, "@Message.ExtendedInfo": [{"Message": text}]}}


@pytest.mark.parametrize("spelled", [r"pa\/ss", r"pa\u002Fss", r"pa/ss", r"pa\u002fss"])
def test_every_spelling_of_json_is_known(spelled: str) -> None:
    content = b'{"error": {"message": "no user with %s", "code": "x"}}' % spelled.encode()
    assert "pa/ss" not in json.loads(without_passwords(content, "pa/ss"))["error"]["message"]


@pytest.mark.parametrize("password", ["error", "message", "code", "Message"])
def test_a_password_that_is_a_word_of_redfish_leaves_the_form_of_the_error(password: str) -> None:
    content = json.dumps(refusal(f"the {password} is wrong")).encode()
    assert json.loads(without_passwords(content, password)) == refusal("the *** is wrong")


def test_the_identity_of_a_message_stays() -> None:
    content = json.dumps({"MessageId": "Base.1.8.1.Success", "Message": "Success"}).encode()
    assert json.loads(without_passwords(content, "Success")) == {"MessageId": "Base.1.8.1.Success", "Message": "***"}


@pytest.mark.parametrize("value", ["hunter2", "x.hunter2", {"hunter2": 1}])
def test_elsewhere_nothing_of_it_stays(value: object) -> None:
    content = json.dumps({"MessageId": value, "Oem": [value]}).encode()
    assert b"hunter2" not in without_passwords(content, "hunter2")


def test_a_quoted_request_and_what_is_no_json_are_searched_too() -> None:
    quoted = json.dumps({"message": json.dumps({"Password": 'a"b'})}).encode()
    assert b"a" not in json.loads(without_passwords(quoted, 'a"b'))["message"].partition(":")[2].encode()
    assert without_passwords(b"<p>hunter2</p>", "hunter2") == b"<p>***</p>"
    assert without_passwords(b"\xff{", "", "x") == b"\xff{"


@pytest.mark.parametrize("depth", [400, 900, 5000])
def test_a_deep_document_is_searched_as_bytes(depth: int) -> None:
    assert b"hunter2" not in without_passwords(b"[" * depth + b'"hunter2"' + b"]" * depth, "hunter2")
