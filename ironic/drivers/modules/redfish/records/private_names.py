"""Which properties of a BMC's documents have what must not leave the site, by their names."""

import re
from typing import Final

from ironic.core.secrets import masking
from ironic.drivers.modules.redfish.records.json_leaves import Leaf
from ironic.drivers.modules.redfish.records.stand_ins import Kind

# Of a BIOS attribute, or one of a vendor, as "Users.2.UserName" or "IPv4.1#DNSRacName".
_LAST_PART: Final = re.compile(r"[^.#/:]+(?=[^A-Za-z0-9]*$)")
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")
_RULES: Final = tuple(
    (kind, re.compile(rf"(?:{words})$"))
    for kind, words in (
        (Kind.MAIL, r"e?mail(?:address(?:es)?)?"),
        (
            Kind.SECRET,
            r"licen[sc]e(?:key|id|string|code)?|entitlementid|(?:ssh|public|signing|encryption|activation|product)keys?"
            r"|cert(?:ificate)?(?:string|text)?|csr(?:string)?|thumbprint|fingerprint|signature|serversentevent",
        ),
        (
            Kind.NUMBER,
            r"serial(?:number|no|num|nr)?s?|sernum|uuids?|guids?|assettags?|asset(?:number|id)|servicetags?|svctag|nodeid"
            r"|(?:mac|wwn|wwpn|wwnn)(?:address(?:es)?)?|permanentaddress|wwid|durablename|servicecode|sku"
            r"|eui64|imei|engineid|ppin|ppid|^sn",
        ),
        (Kind.INITIATOR, r"initiatorname|targetname|iqn|nqn"),
        (
            Kind.HOST,
            r"hostname|fqdns?|dnsname|dns[a-z]{0,16}racname|systemname|domainname|computername|(?:ntp|name)servers?"
            r"|searchdomains?|bmcname|rackname|servername|commonname|(?:kerberos|^)realm|^domains?|^destination|serviceaddresses|log(?:server|host)s?"
            r"|(?:syslog|smtp|mail|ldap|trap|snmp|tftp|nfs|cifs|ftp|radius|tacacs|kdc|proxy)[a-z]{0,12}"
            r"(?:servers?|hosts?|destinations?|address(?:es)?)",
        ),
        (
            Kind.USER,
            r"users?(?:names?)?|loginname|account(?:name|id)|remotegroup|adminname|servicename|owner|ownername|(?:created|modified|requested|initiated)by|contact"
            r"|contact(?:name|person)|(?:bind|user)dn|primarycontact",
        ),
        (
            Kind.PLACE,
            r"roomname|aislename|datacenter(?:name)?|building|street|(?<![ao])city|housenumber|postalcode|postaladdress|sitename"
            r"|syslocation|phone(?:number)?|latitude|longitude|organization(?:alunit)?|companyname|company|customer"
            r"|(?:admin|server|service)otherinfo|custompostmessage|(?:user|node)label|userdefinedname|(?:^|wireless)ssid"
            r"|^subject|issuer|issued(?:to|by)|distinguishednames?",
        ),
    )
)
# A text here is a host only if it looks like the full name of one.
_MAY_BE_HOST: Final = re.compile(r"(?:address(?:es)?|servers?|host|domains?|peer|destination|gateway|proxy)\d*$")
_FULL_NAME: Final = re.compile(
    r"(?=[^:/]*[A-Za-z])[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,16}(?::\d{1,5})?(?:/.*)?", re.ASCII | re.DOTALL
)
# A text here is a file elsewhere if it has a path; the former are files in any case.
_FILE: Final = re.compile(r"imagename$")
_MAY_BE_FILE: Final = re.compile(r"(?:image|share|file)(?:ur[il]|path|name|location)?$")
# All texts below these are of people and places.
PLACES: Final = frozenset({"PostalAddress", "Placement", "Contacts", "GPSCoords", "ContactInfo"})
# Properties whose name says nothing: what has them says what they are.
_OF_OTHERS: Final = frozenset({"value", "currentvalue", "defaultvalue", "text", "data", "string", ""})
_NAMED_BY: Final = ("AttributeName", "Name", "Key", "DisplayName", "Id")
# They say how a document is made or where it is, or are compared as they are.
_KEPT: Final = re.compile(r"@odata\.|@Redfish\.|@Message\.|.*@(?:odata|Redfish|Message)\.|\$|ETag$|MessageId$")
_VERSIONS: Final = re.compile(r"version|revision|firmware|build|release|package|registry", re.IGNORECASE)
_PLACES_OF_VERSIONS: Final = re.compile(r"(?:address|server|host|ip|ur[il]|gateway)s?\d*$", re.IGNORECASE)
# Values that say that there is none, or how it is used.
_SAYS_NOTHING: Final = frozenset(
    {"", "n/a", "na", "none", "null", "unknown", "not specified", "not available", "unspecified", "default string"}
    | {"to be filled by o.e.m.", "system serial number", "chassis serial number", "base board serial number"}
    | {"default", "empty", "not set", "notset", "not present", "no asset tag", "asset tag", "unset", "invalid"}
    | {"enabled", "disabled", "yes", "no", "on", "off", "true", "false", "auto", "0123456789", "123456789"}
    | {"localhost", "localhost.localdomain", "dhcp", "static", "embedded", "installed", "absent", "present", "ok"}
)


def is_kept(name: str) -> bool:
    """Return whether values of a property are parts of Redfish itself."""
    return _KEPT.match(name) is not None


def is_version(name: str) -> bool:
    """Return whether a property has versions, which look like addresses."""
    return _VERSIONS.search(name) is not None and not has_address(name)


def has_address(name: str) -> bool:
    """Return whether a property has addresses, whatever else its name says."""
    return _PLACES_OF_VERSIONS.search(name) is not None


def says_something(value: str) -> bool:
    """Return whether a value of a private property says anything of this machine: "N/A" and 00000000 do not."""
    bare = value.strip().lower()
    return bare not in _SAYS_NOTHING and len(set(re.sub(r"[\s:.\-_{}]", "", bare))) > 1


def kind_of(leaf: Leaf, value: str) -> Kind | None:
    """Return what a leaf with this value has, None for what may be shown; patterns may find private parts even so."""
    name = leaf.name
    if is_kept(name) or value.startswith(("/redfish/", "/dev/")) or "://" in value:
        return None
    if leaf.is_marked or name in PLACES or (name == "Info" and leaf.above == "Location"):
        return Kind.PLACE
    found = _by_name(name, value)
    if found is None and _words(name) in _OF_OTHERS:
        others = (leaf.beside.get(each, "") for each in _NAMED_BY)
        found = next((kind for other in (*others, leaf.above) if (kind := _by_name(other, value))), None)
    return found


def _words(name: str) -> str:
    last = _LAST_PART.search(name)
    return _NO_WORD.sub("", (last[0] if last else name).lower())


def _by_name(name: str, value: str) -> Kind | None:
    words = _words(name)
    if not words:
        return None
    for kind, pattern in _RULES:
        if pattern.search(words):
            return kind
    if masking.is_secret(name):
        return Kind.SECRET
    if _FILE.search(words) or (_MAY_BE_FILE.search(words) and re.search(r"[/\\]", value)):
        return Kind.URL
    if _MAY_BE_HOST.search(words) and _FULL_NAME.fullmatch(value.strip()) and not re.fullmatch(r"[\d.]+", value):
        return Kind.HOST
    return None
