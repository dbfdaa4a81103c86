"""The names of states, as they are stored in the database and known to clients and drivers.

Other modules import them from `ironic.core.flows.states`, which describes what they mean.
"""

from typing import Final

ENROLL: Final = "enroll"
VERIFYING: Final = "verifying"
MANAGEABLE: Final = "manageable"
AVAILABLE: Final = "available"
ACTIVE: Final = "active"
DEPLOYING: Final = "deploying"
DEPLOYWAIT: Final = "wait call-back"
DEPLOYFAIL: Final = "deploy failed"
DEPLOYHOLD: Final = "deploy hold"
CLEANING: Final = "cleaning"
CLEANWAIT: Final = "clean wait"
CLEANFAIL: Final = "clean failed"
CLEANHOLD: Final = "clean hold"
DELETING: Final = "deleting"
ERROR: Final = "error"
INSPECTING: Final = "inspecting"
INSPECTWAIT: Final = "inspect wait"
INSPECTFAIL: Final = "inspect failed"
ADOPTING: Final = "adopting"
ADOPTFAIL: Final = "adopt failed"
RESCUE: Final = "rescue"
RESCUING: Final = "rescuing"
RESCUEWAIT: Final = "rescue wait"
RESCUEFAIL: Final = "rescue failed"
UNRESCUING: Final = "unrescuing"
UNRESCUEFAIL: Final = "unrescue failed"
SERVICING: Final = "servicing"
SERVICEWAIT: Final = "service wait"
SERVICEFAIL: Final = "service failed"
SERVICEHOLD: Final = "service hold"

# Words a driver may return that are no provision states.
DELETED: Final = "deleted"
DEPLOYDONE: Final = "deploy complete"

POWER_ON: Final = "power on"
POWER_OFF: Final = "power off"
REBOOT: Final = "rebooting"
SOFT_REBOOT: Final = "soft rebooting"
SOFT_POWER_OFF: Final = "soft power off"
