"""Actions on racks."""

from ironic_inspector import utils
from ironic_inspector.plugins import base


class PlaceAction(base.RuleActionPlugin):
    """Write down where a machine stands, and forget it again."""

    REQUIRED_PARAMS = {"rack"}
    OPTIONAL_PARAMS = {"label"}
    FORMATTED_PARAMS = ["rack"]

    def apply(self, node_info, params, **kwargs):
        if params["rack"] == "none":
            raise utils.Error("there is no such rack", node_info=node_info)
        node_info.patch([{"op": "add", "path": "/extra/rack", "value": params["rack"]}])
        node_info.update_properties(label=params.get("label"))
        node_info.update_capabilities(rack=params["rack"])
        node_info.add_trait("CUSTOM_RACKED")
        node_info.replace_field("/extra/moves", lambda moves: moves + 1, default=0)

    def cleanup(self, node_info, params, **kwargs):
        if node_info.get_by_path("/extra/rack") == params["rack"]:
            node_info.patch([{"op": "remove", "path": "/extra/rack"}])
        node_info.remove_trait("CUSTOM_RACKED")


class NoteAction(base.RuleActionPlugin):
    """Try to write what no rule may write."""

    REQUIRED_PARAMS = {"path"}

    def apply(self, node_info, params, **kwargs):
        node_info.patch([{"op": "replace", "path": params["path"], "value": "noted"}])
