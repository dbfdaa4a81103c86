"""A door for third-party plug-ins: metrics below a prefix."""

from ironic.integrations.plug_in_metrics import get_metrics_logger

__all__ = ["get_metrics_logger"]
