"""The five things that are done with every resource: what each takes follows from the field table.

A row of the route table names one of them as `of=`, and its handler gets what was read as one parameter: `page` of a
list, `view` of what is shown, `values` of what is created, `changes` of a patch.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ironic.api import input, json_patch, listing
from ironic.api.request import Request
from ironic.core.model.fields import Field, Resource
from ironic.core.values import ValueType


@dataclass(frozen=True, slots=True)
class List:
    """A page of a list, as `page`; ``detailed`` is the older spelling as a path.

    ``without`` names filters that the handler refuses here, because the path says already what the list is of.
    """

    resource: type[Resource]
    detailed: bool = False
    without: frozenset[str] = frozenset()
    reads_query: ClassVar[bool] = True
    ok: ClassVar[int] = 200

    def read(self, request: Request) -> dict[str, object]:
        """Read paging, sorting, choice of fields and filters."""
        return {"page": listing.read(request, self.resource, detailed=self.detailed)}


@dataclass(frozen=True, slots=True)
class One:
    """The document of one thing, as `view`: how it is shown with the fields asked for."""

    resource: type[Resource]
    reads_query: ClassVar[bool] = True
    ok: ClassVar[int] = 200

    def read(self, request: Request) -> dict[str, object]:
        """Read the choice of fields."""
        return {"view": listing.one(request, self.resource)}


@dataclass(frozen=True, slots=True)
class Create:
    """What a new thing is to be, as `values`: only what was given, checked.

    ``first`` is given the body and the version, and refuses what has to be refused before fields are looked at.
    ``exact`` has types that judge fields of new things more strictly than the field table does.
    """

    resource: type[Resource]
    first: Callable[[dict[str, Any], int], object] | None = None
    exact: Mapping[str, ValueType] = field(default_factory=dict)
    reads_query: ClassVar[bool] = False
    ok: ClassVar[int] = 201

    def read(self, request: Request) -> dict[str, object]:
        """Read the body."""
        given = input.require_object(request.json())
        if self.first is not None:
            self.first(given, request.minor)
        for name, kind in self.exact.items():
            if given.get(name) is not None:
                input.checked(name, kind.at(request.minor), given[name])
        return {"values": input.create(self.resource, given, request.minor)}


@dataclass(frozen=True, slots=True)
class Patch:
    """The operations of a patch, as `changes`."""

    resource: type[Resource]
    # Fields that may be named besides those that change.
    also: Mapping[str, Field] = field(default_factory=dict)
    # Which paths there can be.
    syntax: re.Pattern[str] = json_patch.PATH
    reads_query: ClassVar[bool] = False
    ok: ClassVar[int] = 200

    def known(self) -> Mapping[str, Field]:
        """Return the fields that may be named, of any version."""
        written = self.resource.table.written["patch"]
        return {**written, **self.also} if self.also else written

    def read(self, request: Request) -> dict[str, object]:
        """Read the body."""
        known = self.known()
        if self.resource.hides_newer:
            known = {name: one for name, one in known.items() if one.since <= request.minor}
        most = request.settings.max_patch_operations
        return {"changes": json_patch.read(request.json(), known, request.minor, most, self.syntax)}


@dataclass(frozen=True, slots=True)
class Delete:
    """Nothing but the name in the path."""

    resource: type[Resource]
    reads_query: ClassVar[bool] = False
    ok: ClassVar[int] = 204

    def read(self, request: Request) -> dict[str, object]:
        """Read nothing."""
        return {}
