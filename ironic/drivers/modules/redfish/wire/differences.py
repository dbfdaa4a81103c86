"""What BMCs do differently: one table of all known differences, from which doc/contract/drivers.md has its rows.

A row with a `behaviour` is asked for by the code, by the functions of `quirks`: it is known by the machine or by an
error only. The others show by what a BMC answers, so that every machine is met as they say. The tests of a row have its
name in their marker ``difference``.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Behaviour(Enum):
    """What the code asks for; the rows say how a BMC differs then."""

    FULL_BOOT_REQUEST = auto()
    DURATION_ALWAYS_SENT = auto()
    MODE_AFTER_DEVICE = auto()
    REFUSES_DURING_POST = auto()
    REFUSES_UNLICENSED = auto()
    REFUSES_SAME_STATE = auto()
    BUSY_AT_POWER_ON = auto()
    REFUSES_LOGIN_AS_BAD_REQUEST = auto()
    REFUSES_APPLY_TIME = auto()
    BOOTS_NO_VIRTUAL_MEDIA = auto()
    NAMES_BOOT_CARDS_IN_BIOS = auto()


@dataclass(frozen=True, slots=True)
class Difference:
    """One row: who does what, what the service does then, and where that is known from.

    The texts are Markdown in a table, so that none has a vertical bar. ``vendor``, ``model`` and ``firmware`` are
    patterns, compared in any case and anywhere in the text; a row without any is for all machines. An error of the
    behaviour has one of the ``statuses`` and the pattern ``text`` in it.
    """

    name: str
    machines: str
    does: str
    service: str
    source: str
    behaviour: Behaviour | None = None
    vendor: str = ""
    model: str = ""
    firmware: str = ""
    statuses: tuple[int, ...] = ()
    text: str = ""


_BY_ALL: Final = "the reference, for all machines"
_BY_VENDOR: Final = "the reference, by vendor"
_LIBRARY: Final = "sushy, for all machines"
_MOCK_UPS: Final = "mock-ups in the tests of sushy"
# A row that waits for the record of a machine.
NO_REPORT: Final = "no public report yet"

TABLE: Final = (
    # Those that the code asks for.
    Difference(
        "full boot request", "AMI, American Megatrends International, ASRockRack, `redfish_compatible`",
        "take a boot override only with device, mode and duration", "sends all three", _BY_VENDOR,
        Behaviour.FULL_BOOT_REQUEST, vendor="american megatrends international|ami|asrockrack|redfish_compatible",
    ),
    Difference(
        "duration with the device", "Supermicro", "set a device only with its duration", "sends the duration always",
        _BY_VENDOR, Behaviour.DURATION_ALWAYS_SENT, vendor="^supermicro$",
    ),
    Difference(
        "mode after the device", "Supermicro", "may change the boot mode with the device", "sets the former mode again",
        _BY_VENDOR, Behaviour.MODE_AFTER_DEVICE, vendor="^supermicro$",
    ),
    Difference(
        "refusal during the self-test", "several, HPE among them",
        "refuse a boot device during the self-test (`UnableToModifyDuringSystemPOST`)",
        "repeats the request up to `[redfish]post_boot_retry_attempts` times",
        "the reference, by message; HPE, message registry `iLO` of iLO 5 and 6", Behaviour.REFUSES_DURING_POST,
        statuses=(400,), text="UnableToModifyDuringSystemPOST",
    ),
    Difference(
        "refusal without a licence", "Supermicro", "refuse secure boot without a licence (`OemLicenseNotPassed`)",
        "reports the state as unknown", 'the reference, by message; Supermicro, "Redfish Reference Guide"',
        Behaviour.REFUSES_UNLICENSED, statuses=(400, 401, 403), text="OemLicenseNotPassed",
    ),
    Difference(
        "refusal of the present state", "several",
        "answer 400 or 409 to a request for the state that the machine is in", "reads the state and goes on",
        "the reference, by status and text", Behaviour.REFUSES_SAME_STATE, statuses=(400, 409),
        text="(host is|already) powered (?P<state>on|off)",
    ),
    Difference(
        "busy at power on", "iDRAC 10, others",
        "answer 409 with `ActionParameterValueConflict` to a power-on while they are busy",
        "repeats it up to `[redfish]power_on_conflict_retry_attempts` times; any other 409 is an error",
        "the reference, by status and message; DMTF DSP8011, message `ActionParameterValueConflict` of registry `Base`",
        Behaviour.BUSY_AT_POWER_ON, statuses=(409,), text="ActionParameterValueConflict",
    ),
    Difference(
        "refusal of a login as a bad request", "HPE",
        "answer 400 with `UnauthorizedLoginAttempt` to a wrong password for a session",
        "counts it as a [refused login](#refused-logins)", "HPE, message registry `iLO`",
        Behaviour.REFUSES_LOGIN_AS_BAD_REQUEST, statuses=(400,), text="UnauthorizedLoginAttempt",
    ),
    Difference(
        "time of a change refused", "iDRAC, others",
        "offer times at which volumes can be changed, and refuse an order with one (`SYS029`, the text names "
        "`OperationApplyTime`)", "sends it again without a time", "sushy, by text, for deletions",
        Behaviour.REFUSES_APPLY_TIME, statuses=(400, 500, 503), text="OperationApplyTime",
    ),
    Difference(
        "no boot from virtual media", "Dell, firmware of the BMC from 2 to 5",
        "insert an image by Redfish, and boot from it only by Dell's own means",
        "refuses `redfish-virtual-media` before the machine is touched",
        "the reference, by vendor and firmware (it takes 6 and 7 only)", Behaviour.BOOTS_NO_VIRTUAL_MEDIA,
        vendor=r"\bdell\b", firmware=r"^[2-5]\.",
    ),
    Difference(
        "boot cards in BIOS attributes", "Dell",
        "name the network cards that UEFI boots from in BIOS attributes (`PxeDev1EnDis`, `PxeDev1Interface`)",
        "sets `pxe_enabled` of ports by them at inspection", _BY_VENDOR, Behaviour.NAMES_BOOT_CARDS_IN_BIOS,
        vendor="dell",
    ),
    # Orders.
    Difference(
        "one boot only", "several", "set a boot device for one boot only", "remembers it and sets it before each boot",
        _BY_ALL,
    ),
    Difference(
        "boot device not stored", "Supermicro, AMI", "answer 200 to a change of the boot device and do not store it",
        "looks at what is stored, also in the settings to come, and fails with what the BMC shows", "bmclib #459",
    ),
    Difference(
        "other ways to power on", "several", "offer `ForceOn` or `PushPowerButton` and no `On`",
        "orders what is offered, the button only while the machine is off", NO_REPORT,
    ),
    Difference(
        "tasks forgotten", "several", "forget a task once it has ended",
        "looks at the versions of firmware before and after a task that is gone; any other order has failed", _BY_ALL,
    ),
    Difference(
        "words of their own for tasks", "Dell, others",
        "end a task in a state that is no word of the standard, as `CompletedWithErrors`",
        "takes no such state for success: only the word of the standard, without a critical message, is one",
        "Dell, schema `DellJob`, property `JobState`",
    ),
    Difference(
        "no boot progress", "several", "do not say how far the machine has started (`BootProgress`)",
        "waits for the new settings, for a minute after a reset of them, or for the heartbeat of the agent", _BY_ALL,
    ),
    Difference(
        "ETags refused", "several", "refuse the ETag that they have sent (412)",
        "sends it in its strong form, then none", _LIBRARY,
    ),
    Difference(
        "ETags in documents", "several",
        "want an ETag (428) that only the document has, or that the header has with two pairs of quotes or none",
        "sends the ETag of the document, with one pair of quotes, then `*`",
        "ansible #56150, Redfish-Tacklebox #22, community.general #3268 and #6434",
    ),
    Difference(
        "orders redirected", "several", "answer an order with 307 or 308 to the same path with a slash",
        "sends it there, if that is the same server", "MAAS, Launchpad 2146882",
    ),
    Difference(
        "answers to orders", "several",
        "carry an order out and answer with text, a page, or another document than that of the order",
        "goes by the status and the header `Location`", NO_REPORT,
    ),
    Difference(
        "tasks at another address", "several", "name another host in the place of a task",
        "asks the BMC itself for that path", NO_REPORT,
    ),
    Difference(
        "full drives", "several", "refuse to insert an image into a virtual drive that is not empty",
        "empties it first", _BY_ALL,
    ),
    Difference(
        "drives that refuse", "several, Cisco UCS among them", "list virtual drives that take no image (400, 405)",
        "takes the next one", _BY_ALL,
    ),
    Difference(
        "drives without media types", "several", "list no media of a virtual drive, or name them in words of their own",
        "goes by these words, or by the name of the drive", NO_REPORT,
    ),
    Difference(
        "parameters of images", "several",
        "insert an image only with a login, a protocol or another parameter that the standard lets out",
        "sends what the refusal names, `none` as the login", "sushy, release note insertmedia-credentials-detection",
    ),
    Difference(
        "bodies of ejections", "HPE, others", "eject an image only with an empty object as the body (400, 415)",
        "sends it again with one", "sushy, by status",
    ),
    Difference("DVD for CD", "Cisco UCS", "have a virtual drive for DVDs only", "inserts a CD there", _BY_ALL),
    Difference(
        "CD on USB", "Supermicro", "boot the virtual CD as `UsbCd`", "orders that where it is offered",
        "sushy, by manufacturer",
    ),
    # Logins.
    Difference(
        "no place for a session", "several", "begin no session when all places are taken, or have none",
        "sends the password with each request, with `redfish_auth_type` `auto`", _LIBRARY,
    ),
    Difference(
        "sessions without a place", "several",
        "say in their own way where a session is: relative, with another host, or by its `Id` only",
        "ends the session where that leads", NO_REPORT,
    ),
    Difference(
        "service root for users only", "several", "show the service root after a login only (401)", "logs in before it",
        NO_REPORT,
    ),
    # Answers and their documents.
    Difference(
        "compressed answers only", "several", "refuse to send an answer as it is (406)", "asks for a compressed one",
        _LIBRARY,
    ),
    Difference(
        "compression that is not said", "several", "send a compressed answer without the header for it, or the reverse",
        "goes by how the answer begins", NO_REPORT,
    ),
    Difference(
        "marks of bytes", "several", "send a document with a mark of its bytes, or as UTF-16", "reads it", NO_REPORT,
    ),
    Difference(
        "texts that are no JSON", "several", "send odd escapes, numbers such as `0077`, or bytes behind the document",
        "reads what is left; a document that breaks off is an error", NO_REPORT,
    ),
    Difference(
        "raw control characters", "HPE, iLO 6", "send line ends and other control characters in texts as they are",
        "reads the text with them", "idrac_exporter #192",
    ),
    Difference(
        "bytes that are no UTF-8", "Dell EMC", "send serial numbers of odd bytes", "replaces these bytes",
        "libredfish #108",
    ),
    Difference(
        "refusals of other shapes", "several",
        "refuse without `code` and `message`, with extended information only, or with text or a page",
        "quotes the words, wherever they stand", "sushy, release note insertmedia-credentials-detection",
    ),
    Difference(
        "links with an address", "several",
        "have links with their own address, without the first slash, or with blanks around",
        "follows those that stay on the BMC", NO_REPORT,
    ),
    Difference(
        "paths in two spellings", "HPE, others", "spell a path in another case, or with a slash at its end",
        "takes both for one place", "HPE, mock-up in proliantutils (`/redfish/v1/systems/1/bios/`)",
    ),
    Difference(
        "resources without a name", "several", "leave out the `Id` and `Name` that the standard demands",
        "names the resource by its path", NO_REPORT,
    ),
    Difference(
        "parts that a user may not see", "several", "answer 403 for a part that needs another right or a licence",
        "leaves it out of readings; an order says what the user lacks", NO_REPORT,
    ),
    Difference(
        "null for no members", "BlueField", "send null as the members of a collection",
        "shows none; what needs all of them, as the deletion of volumes, is refused", "nv-redfish #120 and #166",
    ),
    Difference(
        "one member for a list", "several", "send one object as the members of a collection", "shows that member",
        "libredfish #27",
    ),
    Difference(
        "dead members", "several", "answer an error for one member of a collection",
        "shows the others, and says to what acts that the list is incomplete", "nv-redfish #185",
    ),
    Difference(
        "pages of collections", "several", "send a collection in pages, and name the next one `@odata.nextLink`",
        "reads all pages", "DMTF DSP0266, before and after the name of the property was changed",
    ),
    Difference(
        "values of other types", "several",
        "send numbers as texts, empty texts for no value, or `SensorNumber` as a text",
        "reads what is plain; the rest is unknown, and takes no other value away", "gofish #218 and commit 5bf9db7",
    ),
    Difference(
        "words in another case", "several", "spell the words of the schema in another case (`on`)", "reads them",
        NO_REPORT,
    ),
    Difference(
        "drives behind a link", "several", "have a link to a collection in the place of the list of drives",
        "reads the collection", "Launchpad 2154614",
    ),
    Difference(
        "managers by another link", "Huawei, others",
        "do not say by `ManagedBy` who manages a machine, or name a manager that is gone",
        "asks the managers what they manage", "sushy, release note retry-on-missing-managedby",
    ),
    # What a machine has.
    Difference(
        "cards at adapters only", "Cisco UCS, others", "have no or empty `EthernetInterfaces`",
        "reads the network adapters of the machine's chassis, their functions and ports",
        "infra-controller #4534, bmclib commit f6644c2, Cray csm #3330",
    ),
    Difference(
        "boot options without a name", "several", "leave out the `BootOptionReference` of boot options",
        "knows the option by its path", NO_REPORT,
    ),
    Difference(
        "cards of a machine that is off", "HPE", "answer 400 to a question for network adapters", "leaves them out",
        _BY_ALL,
    ),
    Difference(
        "other forms of MAC addresses", "several",
        "spell MAC addresses with dashes, dots or no separators, or of 20 bytes",
        "reads those of six bytes; all zeros is none", NO_REPORT,
    ),
    Difference(
        "one serial number for all cards", "several", "give all network cards one serial number, as `N/A`",
        "calls each card by its id", NO_REPORT,
    ),
    Difference(
        "processors that say nothing", "several", "leave values of processors out, or list and count empty sockets",
        "takes the summary of the system where it can be; a part is never taken for all", _MOCK_UPS,
    ),
    Difference(
        "memory without a sum", "several", "send no sum of the memory, or an odd one",
        "adds the modules up, if all can be read", NO_REPORT,
    ),
    Difference(
        "drives without a state", "HPE", "report the health of a disk and no state", "shows it as enabled", _BY_ALL,
    ),
    Difference(
        "sensors of one name", "several", "give several fans one `MemberId`", "shows each of them", NO_REPORT,
    ),
    Difference(
        "newer sensors only", "several",
        "have `ThermalSubsystem`, `PowerSubsystem` and `Sensors`, and no `Thermal` and `Power`",
        "reads them, with the fields of the older ones", "DMTF DSP2046, where `Thermal` and `Power` are deprecated",
    ),
    Difference(
        "drives as volumes", "several", "show a drive in no volume as a volume of type `RawDevice`",
        "takes such a drive for free", "DMTF DSP2046, property `VolumeType`",
    ),
    Difference(
        "volumes of older schemas", "several", "say the level of a volume by `VolumeType`", "reads it there",
        "DMTF DSP2046, property `VolumeType`",
    ),
    Difference(
        "bounds beyond 64 bits", "Dell", "describe a BIOS attribute with an upper bound of 18446744073709551615",
        "leaves the bound out", "gofish #521, Launchpad 2095486",
    ),
    Difference(
        "registries that lead nowhere", "several", "list registries that are not there, or have no name",
        "looks for that of the BIOS among the others", NO_REPORT,
    ),
    Difference(
        "files of registries", "ZT, others",
        "spell the language of the registry of BIOS attributes (`en-US`) or its version in another way",
        "takes the file of that name and version, English first", _MOCK_UPS,
    ),
)  # fmt: skip
