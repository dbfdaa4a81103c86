"""Which lists of an inventory are incomplete: by which hooks know that what is missing in them may be in the machine.

What reads a machine, its BMC or a report marks in the plug-in data what could not be read. It is stored with them:
`incomplete` has lists of texts by the name of the list, such as `interfaces`. Who stores something because of all of a
list, or takes something back because a list does not have it, takes a `Whole` one from here.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from ironic.core.readings import Whole
from ironic.core.texts.syntax import plain_text
from ironic.inspection.reported_data import value_at

KEY: Final = "incomplete"
INTERFACES: Final = "interfaces"
DISKS: Final = "disks"
PCI_DEVICES: Final = "pci_devices"
_MOST: Final = 16


def mark(plugin_data: dict[str, object], name: str, missing: Iterable[str]) -> None:
    """Note what of a list could not be read; nothing where ``missing`` is empty.

    A mark of another form, by which all lists are incomplete, stays.
    """
    known = plugin_data.get(KEY) or {}
    if isinstance(known, Mapping) and (texts := [*missing_in(plugin_data, name), *missing][:_MOST]):
        plugin_data[KEY] = {**known, name: texts}


def missing_in(plugin_data: Mapping[str, object], name: str) -> list[str]:
    """Return what of a list could not be read, an empty list for one that is whole.

    A mark of another form, which a rule or a plug-in may have made, stands for something that is missing as well.
    """
    marks = plugin_data.get(KEY)
    texts = marks.get(name) if isinstance(marks, Mapping) else marks
    if texts is None or texts == []:
        return []
    return [plain_text(str(text)) for text in (texts if isinstance(texts, list) else [texts])[:_MOST]]


def whole_list(data: object, plugin_data: Mapping[str, object], name: str) -> Whole[object] | None:
    """Return all of a reported list; None where the report has no such list, or a part of it could not be read."""
    items = value_at(data, name)
    return Whole(items) if isinstance(items, list) and not missing_in(plugin_data, name) else None
