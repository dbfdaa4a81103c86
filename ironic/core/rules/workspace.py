"""The working copies that the rules of one evaluation read and change.

They are built from the facts, which are not changed, with secrets masked for the rules that must not see them. A rule
sees the changes of earlier ones. The result is a patch for the node, for each port and for the plug-in data.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from ironic.core import node_rules
from ironic.core.projects import project_writes
from ironic.core.rules import documents
from ironic.core.rules.calls import Call
from ironic.core.rules.documents import CLEAR, MASKED, Document, Writer
from ironic.core.rules.interpolation import Lookup, Scope
from ironic.core.rules.limits import STEPS, Budget, RuleFault, quoted
from ironic.core.rules.paths import Patch, Path, copy, keys_of
from ironic.core.secrets.masking import masked
from ironic.core.secrets.secret_updates import DRIVER, IMAGE_DOCUMENTS
from ironic.core.values import network_data

Masking = Literal["always", "never", "sensitive"]

_VIEWS: Final[Mapping[str, tuple[bool, ...]]] = {
    "always": (MASKED, CLEAR),
    "never": (CLEAR,),
    "sensitive": (MASKED, CLEAR),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """The known data of a machine; in the early phase there is no node, and so no ports."""

    inventory: Mapping[str, Any]
    plugin_data: Mapping[str, Any]
    node: Mapping[str, Any] | None = None
    ports: Sequence[Mapping[str, Any]] = ()
    port_groups: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of rules as patches; those of ports by UUID."""

    node: Patch = field(default_factory=list)
    ports: dict[str, Patch] = field(default_factory=dict)
    plugin_data: Patch = field(default_factory=list)
    # The keys of driver_info that rules have written in their own words.
    literal: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.node or self.ports or self.plugin_data)


@dataclass(frozen=True, slots=True)
class LogLine:
    """A log line of a rule."""

    rule: str
    level: str
    text: str | None  # None: the rule is sensitive


class ActingRule(Protocol):
    """The part of the evaluated rule that is used here."""

    @property
    def uuid(self) -> str: ...
    @property
    def description(self) -> str | None: ...
    @property
    def phase(self) -> str: ...
    @property
    def sensitive(self) -> bool: ...


class Workspace:
    """The working copies."""

    def __init__(self, facts: Facts, masking: Masking, steps: int = STEPS) -> None:
        self.budget = Budget(steps)
        self.writer = Writer()
        self.rule: ActingRule
        self.log: list[tuple[str, str]] = []
        self.calls: list[Call] = []
        self._views = _VIEWS[masking]
        self._masking = masking
        self._documents: list[Document] = []
        self._stored: Mapping[str, Mapping[str, Any]] = {
            name: (facts.node or {}).get(name) or {} for name in IMAGE_DOCUMENTS
        }
        self._node = None
        if facts.node is not None:
            self._node = self._document("node", facts.node, documents.NODE, documents.LITERAL)
        self._ports = {str(port["uuid"]): self._document("port", port, documents.PORT) for port in facts.ports}
        self.plugin_data = self._document("plug-in data", facts.plugin_data, None)
        shared = {"inventory": dict(facts.inventory), "port_groups": [dict(one) for one in facts.port_groups]}
        # What expressions of the current rule looked for and did not find, and what is there instead.
        self.missing: dict[Lookup, str] = {}
        self._read_only = {view: shared if view is CLEAR else masked(shared) for view in self._views}
        self._scopes = {view: self._scope(view) for view in self._views}
        self._acting = self._views[0]

    @property
    def node(self) -> Document:
        """The node."""
        if self._node is None:
            raise RuleFault("there is no node in this phase")
        return self._node

    @property
    def scope(self) -> Scope:
        """The values that expressions of the current rule can refer to."""
        return self._scopes[self._acting]

    @property
    def has_node(self) -> bool:
        """Whether the node of the machine is known."""
        return self._node is not None

    @property
    def ports(self) -> list[Document]:
        """The ports."""
        return list(self._ports.values())

    @property
    def is_masked(self) -> bool:
        """Whether secrets are masked for the current rule."""
        return self._acting is MASKED

    def begin_rule(self, rule: ActingRule) -> None:
        """Set the current rule, and with it the view of the documents."""
        self.rule = rule
        self.missing.clear()
        sees_all = self._masking == "never" or (self._masking == "sensitive" and rule.sensitive)
        self._acting = CLEAR if sees_all else MASKED
        for document in self._documents:
            document.acting = self._acting

    def port(self, ident: str) -> Document:
        """Return a port by its UUID or MAC address."""
        if found := self._ports.get(ident.lower()):
            return found
        for document in self._ports.values():
            if str(document.data.get("address")).lower() == ident.lower():
                return document
        raise RuleFault(f"the node has no port {quoted(ident)}")

    def is_reported(self, name: str, keys: Path) -> bool:
        """Return whether the value of an expression may come from what a machine reported."""
        if name == "node" and self._node is not None:
            return keys[:1] != ("uuid",) and self._node.provenance.is_reported(keys)
        return name != "plugin_data" or self.plugin_data.provenance.is_reported(keys)

    def marks(self) -> list[int]:
        """Return the length of each patch, to find later what was added."""
        return [len(document.patch) for document in self._documents]

    def check_node(self, since: Sequence[int]) -> None:
        """Check the node after the changes since the marks were taken; raises RuleFault if it is inconsistent."""
        if self._node is None or not (patch := self.changes(since).node):
            return
        data, touched = self._node.data, {keys_of(operation)[0] for operation in patch}
        wrong = network_data.fault(data.get("network_data")) if "network_data" in touched else None
        if wrong := wrong or node_rules.contradiction(data, touched):
            raise RuleFault(wrong)
        if not self._node.reported.isdisjoint(IMAGE_DOCUMENTS):
            now = {name: self._node.views[CLEAR].get(name) or {} for name in IMAGE_DOCUMENTS}
            own = {name: {key: now[name][key] for key in _literal_keys(self._node, name)} for name in IMAGE_DOCUMENTS}
            if wrong := project_writes.fault_of_report(self._stored, now, own):
                raise RuleFault(wrong)

    def changes(self, since: Sequence[int] = ()) -> Changes:
        """Return all changes, or those since the marks were taken."""
        from_ = dict(zip(map(id, self._documents), since, strict=False))
        ports = {uuid: _since(document, from_) for uuid, document in self._ports.items()}
        return Changes(
            node=[] if self._node is None else _since(self._node, from_),
            ports={uuid: patch for uuid, patch in ports.items() if patch},
            plugin_data=_since(self.plugin_data, from_),
            literal=frozenset() if self._node is None else _literal_keys(self._node, DRIVER),
        )

    def _document(self, owner: str, data: Mapping[str, Any], fields: Any, literal: Collection[Path] = ()) -> Document:
        views = {view: copy(dict(data)) if view is CLEAR else masked(data) for view in self._views}
        document = Document(owner, views, fields, self.budget, self.writer, literal)
        self._documents.append(document)
        return document

    def _scope(self, view: bool) -> Scope:
        scope = {"plugin_data": self.plugin_data.views[view], **self._read_only[view]}
        if self._node is not None:
            scope["node"] = self._node.views[view]
            scope["ports"] = [document.views[view] for document in self._ports.values()]
        return Scope(scope, self.is_reported, missing=self.missing)


def _literal_keys(node: Document, name: str) -> frozenset[str]:
    """Return the keys in an object of the node that rules have written literally."""
    document = node.views[CLEAR].get(name) or {}
    return frozenset(key for key in document if not node.provenance.is_reported((name, key)))


def _since(document: Document, marks: Mapping[int, int]) -> Patch:
    return document.patch[marks.get(id(document), 0) :]
