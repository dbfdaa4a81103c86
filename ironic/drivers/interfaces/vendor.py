"""What a vendor offers beyond the API: see `ironic.drivers.passthru` for the decorators."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

from ironic.drivers import passthru
from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.passthru import Route, Terms
from ironic.drivers.task import Task


class VendorInterface(BaseInterface):
    """Vendor methods of nodes and of the driver itself."""

    interface_type: ClassVar[str] = "vendor"

    _node_routes: ClassVar[tuple[Route, ...]] = ()
    _driver_routes: ClassVar[tuple[Route, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._node_routes = passthru.collect(cls, "node")
        cls._driver_routes = passthru.collect(cls, "driver")

    @cached_property
    def vendor_routes(self) -> dict[str, Terms]:
        """The vendor methods of a node by name, with their terms and ``func``."""
        return {route.name: route.bound_to(self) for route in self._node_routes}

    @cached_property
    def driver_routes(self) -> dict[str, Terms]:
        """The vendor methods that need no node."""
        return {route.name: route.bound_to(self) for route in self._driver_routes}

    @abstractmethod
    def validate(self, task: Task, method: str | None = None, **kwargs: Any) -> None:
        """Check the node and, when ``method`` is given, the arguments of that vendor method.

        Raises UnsupportedDriverExtension, InvalidParameterValue or MissingParameterValue.
        """

    def driver_validate(self, method: str, **kwargs: Any) -> None:
        """Check the arguments of a vendor method that needs no node; everything is fine here."""
