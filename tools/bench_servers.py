"""The option by which benchmarks of databases use other servers than the tests, whose servers never wait for a disk."""

import argparse

from ironic.tests.databases import SERVERS


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--server",
        action="append",
        default=[],
        metavar="KIND=URL",
        help="A server that waits for its disk, as sites have it: postgresql=postgresql+psycopg2://USER@HOST/.",
    )


def use(chosen: argparse.Namespace) -> None:
    """Use the servers that the command line names."""
    SERVERS.update(text.split("=", 1) for text in chosen.server)
