"""How stored values are shown where that is less than all of it, or other than as they are stored."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.core import secrets, states

_REDACTED: Final = {"redacted_contents": secrets.REPLACEMENT}


def without_secrets(info: dict[str, object]) -> dict[str, object]:
    """Hide what looks like a password, token or key."""
    shown: dict[str, Any] = secrets.masked(info)
    return shown


def without_instance_secrets(info: Mapping[str, object]) -> dict[str, object]:
    """Hide also what may carry a secret in itself: the config drive, the URL of the image."""
    return secrets.masked_instance_info(info)


def without_arguments(step: object) -> Any:
    """Hide what a step is given; that it runs is seen."""
    return {**step, "args": _REDACTED} if isinstance(step, dict) and step.get("args") else step


def without_arguments_in(*keys: str) -> Callable[[Any], Any]:
    """Return what hides the arguments of the steps under these keys of driver_internal_info."""

    def left(info: Any) -> object:
        kept = {key: info[key] for key in keys if isinstance(info, dict) and isinstance(info.get(key), list)}
        return (
            {**info, **{key: [without_arguments(step) for step in steps] for key, steps in kept.items()}}
            if kept
            else info
        )

    return left


def text_without_secrets(_minor: int) -> Callable[[Any], Any]:
    """Return how a text is shown that was made of what machines and drivers say."""
    return lambda text: secrets.masked_text(text) if text else text


def state_of_version(minor: int) -> Callable[[Any], Any] | None:
    """Return how a provision state reads in a version: two states came later than callers who know others."""
    if minor < 2:
        names: dict[str, str | None] = {states.AVAILABLE: None, states.INSPECTWAIT: states.INSPECTING}
    elif minor < 39:
        names = {states.INSPECTWAIT: states.INSPECTING}
    else:
        return None
    return lambda state: names.get(state, state)
