"""Changes for BMCs: a difference of a known kind, and one that the code has to ask for."""

from typing import Final

from change_cost.edits import Change, Line, NewFile

_TABLE: Final = "ironic/drivers/modules/redfish/wire/differences.py"
_HELD_BY: Final = (
    "ironic/tests/unit/drivers/modules/redfish/wire/test_differences.py",
    "ironic/tests/functional/drivers/test_redfish_quirks.py",
)
# Behind the rows that the code asks for.
_PLACE: Final = '    # Orders.\n    Difference(\n        "one boot only"'

_ROW: Final = """    Difference(
        "state named in other words", "Contoso", "answer 409 with `is in power state On` to a request for that state",
        "reads the state and goes on", "contoso-tools #1", Behaviour.REFUSES_SAME_STATE, statuses=(409,),
        text="is in power state (?P<state>on|off)",
    ),
"""
_TEST: Final = '''"""The difference is met."""

import pytest

from ironic.core.flows import states
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, hostile_bmc
from ironic.tests.unit.drivers.machine import work_on


@pytest.mark.difference("state named in other words")
def test_it():
    with hostile_bmc() as bmc:

        def misbehave(handler):
            is_reset = handler.path.endswith("ComputerSystem.Reset")
            if is_reset:
                bmc.documents[SYSTEM]["PowerState"] = "On"
                handler.answer(409, {"error": {"message": "The system is in power state On."}})
            return is_reset

        bmc.misbehave = misbehave
        RedfishPower().set_power_state(work_on(driver_info=bmc.driver_info()), states.POWER_ON)
        assert sum(method == "POST" for method, _ in bmc.requests) == 1
'''
_SHOWS: Final = "ironic/tests/functional/drivers/test_state_in_other_words.py"

_OF_A_KNOWN_KIND: Final = Change(
    "a quirk of a BMC", 1, [Line(_TABLE, _PLACE, _ROW, before=True), NewFile(_SHOWS, _TEST)], [_SHOWS, *_HELD_BY]
)

_LIGHTS: Final = "ironic/drivers/modules/redfish/orders/bmc_indicators.py"
_ROW_OF_LIGHTS: Final = """    Difference(
        "lights that do not blink", "Contoso", "have lights that are on or off", "switches them on instead",
        "contoso-tools #2", Behaviour.BLINKS_NO_LIGHT, vendor="contoso",
    ),
"""
_ORDER: Final = '    what = f"setting indicator {name} of {component}"\n'
_ASKS: Final = """    if state == indicators.BLINKING and behaves(task.node, Behaviour.BLINKS_NO_LIGHT):
        state = indicators.ON
"""
_IMPORTS: Final = """from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.quirks import behaves
"""
_TEST_OF_LIGHTS: Final = '''"""The difference is met."""

import pytest

from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, hostile_bmc
from ironic.tests.unit.drivers.machine import work_on


@pytest.mark.difference("lights that do not blink")
@pytest.mark.parametrize("vendor, light", [("Contoso Ltd", "Lit"), ("Dell Inc.", "Blinking")])
def test_it(vendor, light):
    with hostile_bmc(UUID="u", IndicatorLED="Off") as bmc:
        task = work_on(driver_info=bmc.driver_info(), properties={"vendor": vendor})
        RedfishManagement().set_indicator_state(task, "system", "u", "blinking")
        assert bmc.documents[SYSTEM]["IndicatorLED"] == light
'''
_SHOWS_LIGHTS: Final = "ironic/tests/functional/drivers/test_lights_that_do_not_blink.py"

_OF_A_NEW_KIND: Final = Change(
    "a quirk that an order asks for",
    2,
    [
        Line(_TABLE, "    NAMES_BOOT_CARDS_IN_BIOS = auto()\n", "    BLINKS_NO_LIGHT = auto()\n"),
        Line(_TABLE, _PLACE, _ROW_OF_LIGHTS, before=True),
        Line(_LIGHTS, _ORDER, _ASKS, before=True),
        Line(_LIGHTS, "from ironic.drivers.contract.task import Node, Task\n", _IMPORTS, before=True),
        NewFile(_SHOWS_LIGHTS, _TEST_OF_LIGHTS),
    ],
    [_SHOWS_LIGHTS, *_HELD_BY],
)

QUIRKS: Final = (_OF_A_KNOWN_KIND, _OF_A_NEW_KIND)
