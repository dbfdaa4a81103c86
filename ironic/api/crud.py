"""The five operations of every resource: list, show, create, patch, delete.

A row of the route table names one of them as `of=`. Each is a form of input: it reads the request and hands the handler
one parameter: `page` for a list, `view` for one document, `values` for a new row, `changes` for a patch.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ironic.api import arguments, json_patch, listing, named_nodes
from ironic.api.request import Request
from ironic.core.model.fields import Field, Resource
from ironic.core.values.value_types import ValueType


@dataclass(frozen=True, slots=True)
class List:
    """List a resource: the handler gets `page`; ``detailed`` is the older spelling as a path, `/detail`.

    ``without`` names filters that the handler refuses because the path already narrows the list.
    """

    resource: type[Resource]
    detailed: bool = False
    without: frozenset[str] = frozenset()
    reads_query: ClassVar[bool] = True
    ok: ClassVar[int] = 200

    def read(self, request: Request) -> dict[str, object]:
        """Read paging, sorting, the choice of fields, and filters from the query."""
        return {"page": listing.read(request, self.resource, detailed=self.detailed)}


@dataclass(frozen=True, slots=True)
class One:
    """Show one document: the handler gets `view`, the projection to the fields that the query chooses."""

    resource: type[Resource]
    reads_query: ClassVar[bool] = True
    ok: ClassVar[int] = 200

    def read(self, request: Request) -> dict[str, object]:
        """Read the choice of fields from the query."""
        return {"view": listing.one(request, self.resource)}


@dataclass(frozen=True, slots=True)
class Create:
    """Create a row: the handler gets `values`, the checked values that the body gives.

    ``precheck`` gets the body and the minor version, and raises what has to be refused before fields are checked.
    ``exact`` has types for fields of a new row that are stricter than those of the model.
    """

    resource: type[Resource]
    precheck: Callable[[dict[str, Any], int], object] | None = None
    exact: Mapping[str, ValueType] = field(default_factory=dict)
    reads_query: ClassVar[bool] = False
    ok: ClassVar[int] = 201

    def read(self, request: Request) -> dict[str, object]:
        """Read and check the body."""
        given = arguments.require_object(request.json())
        if self.precheck is not None:
            self.precheck(given, request.minor)
        for name, value in given.items():
            named_nodes.refuse_names(request, name, value)
        values = arguments.checked_create(self.resource, given, request.minor, request.settings.largest_field)
        for name, kind in self.exact.items():
            # The field's own type has checked the version and may have read a word as true or false.
            if values.get(name) is not None:
                arguments.checked(name, kind.at(request.minor), given[name])
        return {"values": values}


@dataclass(frozen=True, slots=True)
class Patch:
    """Patch a row: the handler gets `changes`, the operations of the JSON patch."""

    resource: type[Resource]
    # Fields that a patch may name although they never change.
    also: Mapping[str, Field] = field(default_factory=dict)
    # The syntax of paths before 1.98.
    syntax: re.Pattern[str] = json_patch.PATH
    reads_query: ClassVar[bool] = False
    ok: ClassVar[int] = 200

    def known(self) -> Mapping[str, Field]:
        """Return the fields of all versions that a patch may name."""
        written = self.resource.table.written["patch"]
        return {**written, **self.also} if self.also else written

    def read(self, request: Request) -> dict[str, object]:
        """Read the operations from the body."""
        known = self.known()
        if self.resource.hides_newer:
            known = {name: one for name, one in known.items() if one.since <= request.minor}
        most = request.settings.max_patch_operations
        syntax = json_patch.ANY_PATH if request.minor >= json_patch.ANY_PATH_SINCE else self.syntax
        changes = json_patch.read(
            request.json(), known, request.minor, most, syntax, removes_newer=self.resource.removes_newer
        )
        for one in changes:
            if one.is_whole:
                named_nodes.refuse_names(request, one.root, one.value)
        return {"changes": changes}


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a row, which only the path names."""

    resource: type[Resource]
    reads_query: ClassVar[bool] = False
    ok: ClassVar[int] = 204

    def read(self, request: Request) -> dict[str, object]:
        """Return no parameters."""
        return {}
