"""The configuration for a program of third parties that asks this service's parts something."""

from collections.abc import Sequence

from ironic.conf import read


def parse_args(argv: Sequence[str], default_config_files: Sequence[str] | None = None) -> None:
    """Fill the global options of oslo.config from the command line and the files; may be called again.

    ``argv`` begins with the name of the program, which is left out; it may be empty. The files are those that it names
    with --config-file, or ``default_config_files``, or those of the variables IRONIC_CONFIG_FILE and IRONIC_CONFIG_DIR,
    or the usual ones such as /etc/ironic/ironic.conf. Nothing is logged, no log file is opened and no connection made.
    Raises ValueError if the value of an option can't be used.
    """
    read(argv[1:], default_config_files=default_config_files)
