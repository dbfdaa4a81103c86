"""Read the command line and the configuration files, and report unknown options.

A file written for another release must start this one, so unknown options do not prevent the start; they are logged
once, because a misspelt option would otherwise go unnoticed. An option is known when it is registered, under its name
or an older one, or when a library that we use owns it: some libraries register their options on first use, and are
imported only for a name that is not known otherwise. oslo.config has no public view of what it has parsed and
registered, so this module reads its private attributes.
"""

import logging
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from oslo_config import cfg

from ironic.conf import checked_values, database, json_rpc, library_options, logging_setup, without_effect
from ironic.conf.checked_values import Invocation
from ironic.conf.library_options import Name
from ironic.conf.release import release
from ironic.core.secrets.masking import is_secret

LOG = logging.getLogger(__name__)


def options_in_files(conf: cfg.ConfigOpts) -> Iterator[Name]:
    """Yield (group, option) for every option set in the files, file by file; groups as the library compares them."""
    for sections in conf._namespace._parsed if conf._namespace else ():
        for group, options in sections.items():
            yield from ((checked_values.folded(group), option) for option in options)


def is_set(conf: cfg.ConfigOpts, group: str, option: str) -> bool:
    """Return whether the operator sets an option, which need not be registered: in a file, or in the environment.

    A registered one also counts when its older name is used, not when code has set it: oslo.config goes on to name that
    place after the value was taken back.
    """
    try:
        place = conf.get_location(option, None if group == "DEFAULT" else group)
    except (cfg.NoSuchOptError, cfg.NoSuchGroupError):
        return (group, option) in options_in_files(conf) or checked_values.variable(group, option) in os.environ
    # Without a place its value was not looked up in any source.
    return place is not None and place.location not in _NOT_SET


_NOT_SET = (cfg.Locations.opt_default, cfg.Locations.set_default, cfg.Locations.set_override)


PROJECT = "ironic"

# Where a file is looked for unless one is named, as by oslo.config.
_PLACES = ("~/.ironic", "~", "/etc/ironic", "/etc")
# What oslo.config says of a value: option, file, reason.
_BAD_VALUE = re.compile(
    r"Value for option (\S+) from LocationInfo\(location=<.*?>, detail='(.*?)'\) is not valid: (.*)", re.DOTALL
)

# A URL that contains a password.
_HOLDS_LOGIN = "transport_url"


def prepare(argv: Sequence[str], *, default_config_files: Sequence[str] | None = None) -> None:
    """Read the command line (without the program name) and the files, set up logging, log unknown options.

    Files named on the command line or by the caller win over those of the environment (IRONIC_CONFIG_FILE and
    IRONIC_CONFIG_DIR), and those over the default locations such as /etc/ironic/ironic.conf. `--version` prints the
    version and exits.
    """
    conf = cfg.CONF
    _read(conf, argv, default_config_files, libraries=True)
    logging_setup.set_up(conf)
    if not _has_source(conf):
        _report_no_source()
    _report_older_names(conf)
    _report_without_effect(conf, unknown_options(conf))
    _report_readable(conf)


def prepare_command(argv: Sequence[str], *, without: Collection[str] = ()) -> None:
    """Do the same for a program of one command, which is beside the services and leaves nothing that hinders them.

    It logs to standard error, and leaves it to the services to log unknown options. Raises ValueError for root, if the
    database is a file of another user. The commands ``without`` use neither the configuration nor the database.
    """
    conf = cfg.CONF
    _read(conf, argv, None, libraries=False)
    for place in ("log_file", "log_dir", "log_config_append"):
        conf.set_override(place, None)
    logging_setup.set_up(conf)
    if without and conf.command.name in without:
        return
    if not _has_source(conf):
        _report_no_source()
    _report_readable(conf)
    database.check_user(conf)


def read(argv: Sequence[str], *, default_config_files: Sequence[str] | None = None) -> None:
    """Read the command line (without the program name) and the files, and nothing else: nothing is set up or logged."""
    _read(cfg.CONF, argv, default_config_files, libraries=False)


def _read(
    conf: cfg.ConfigOpts, argv: Sequence[str], default_config_files: Sequence[str] | None, *, libraries: bool
) -> None:
    named = list(default_config_files) if default_config_files is not None else _named_by("IRONIC_CONFIG_FILE")
    directories = _named_by("IRONIC_CONFIG_DIR")
    called = Invocation(argv, PROJECT, release(), named, directories)
    checked_values.require(conf, called, libraries=libraries)
    conf(
        list(argv),
        project=PROJECT,
        version=release(),
        default_config_files=named,
        default_config_dirs=directories,
    )
    json_rpc.name_conductor(conf)


def _has_source(conf: cfg.ConfigOpts) -> bool:
    return bool(conf.config_file or conf.config_dir or any(map(checked_values.VARIABLE.fullmatch, os.environ)))


def _report_no_source() -> None:
    LOG.warning(
        "No configuration file was found (looked for %s), so all options have their defaults. Name one with "
        "--config-file.",
        ", ".join(f"{place}/{PROJECT}.conf" for place in _PLACES),
    )


def sources(conf: cfg.ConfigOpts) -> str:
    """Return from where the options are, in words: the files and directories that were read."""
    # The options that name them are there once the command line was read.
    places = [place for option in ("config_file", "config_dir") if option in conf for place in conf[option] or ()]
    return ", ".join(places) or "no file"


def _report_older_names(conf: cfg.ConfigOpts) -> None:
    """Have the library log older names now: it does so when it looks a value up, which may be never or much later."""
    for info, group in conf._all_opt_infos():
        option = info["opt"]
        if option.deprecated_opts or option.deprecated_for_removal:
            is_set(conf, group.name if group else "DEFAULT", option.dest)


def _report_without_effect(conf: cfg.ConfigOpts, unknown: Mapping[str, list[str]]) -> None:
    """Log what the options without effect mean and what to do, and those apart that may be misspelt."""
    for line in without_effect.lines(unknown):
        LOG.warning("Without effect: %s.", line)
    for name, text in without_effect.REFERRED_TO.items():
        if is_set(conf, "DEFAULT", name) and not any(
            name in checked_values.REFERENCE.findall(value) for _, value in checked_values.texts_set(conf)
        ):
            LOG.warning("Without effect: [DEFAULT]%s: %s.", name, text)
    misspelt = {
        group: left
        for group, names in unknown.items()
        if (left := [name for name in names if without_effect.instead(group, name) is None])
    }
    if misspelt:
        LOG.warning(
            "The configuration contains options that this release does not know; they have no effect. Check their "
            "spelling and remove those that are not needed: %s",
            "; ".join(f"[{group}] {', '.join(names)}" for group, names in misspelt.items()),
        )


def in_words(fault: BaseException) -> str:
    """Return the text of an error; of oslo.config's about a value in a file, with group, option and file."""
    found = _BAD_VALUE.fullmatch(str(fault))
    if found is None:
        return str(fault)
    option, path, reason = found.groups()
    sections: dict[str, dict[str, list[str]]] = {}
    with suppress(OSError, cfg.ParseError):
        cfg.ConfigParser(path, sections).parse()
    holders = [group for group, options in sections.items() if option in options]
    # Several groups may have an option of the name; the reason quotes the value.
    likely = [group for group in holders if any(text in reason for text in sections[group][option])] or holders
    return f"{' or '.join(f'[{group}]{option}' for group in likely) or option} in {path}: {reason}"


def _named_by(variable: str) -> list[str] | None:
    value = os.environ.get(variable)
    return [value] if value else None


def _report_readable(conf: cfg.ConfigOpts) -> None:
    """Log a warning for files with passwords that every user of the host can read."""
    holds_passwords = any(is_secret(name) or name == _HOLDS_LOGIN for _, name in options_in_files(conf))
    for path in conf.config_file if holds_passwords else ():
        if os.path.isfile(path) and os.stat(path).st_mode & stat.S_IROTH:
            LOG.warning("Every user of this host can read %s, which may contain passwords. Run chmod o-r on it.", path)


def unknown_options(conf: cfg.ConfigOpts) -> dict[str, list[str]]:
    """Return the unknown options of files and environment by group, in the order of the files."""
    # Other programs may have variables of such names, so only those of groups that there are count.
    groups = {"DEFAULT", *conf._groups, *without_effect.GROUPS, *without_effect.OPTIONS}
    variables = [name for name, _ in checked_values.in_environment() if name[0] in groups]
    left = list(dict.fromkeys([*options_in_files(conf), *variables]))
    for source in (_registered, _credentials, library_options.known, _of_notification_drivers):
        if left:
            names = set(source(conf))
            left = [name for name in left if name not in names]
    unknown: dict[str, list[str]] = {}
    for group, option in left:
        unknown.setdefault(group, []).append(option)
    return unknown


def _registered(conf: cfg.ConfigOpts) -> Iterator[Name]:
    """Yield every registered option that has an effect, under its name and older names."""
    for info, group in conf._all_opt_infos():
        if group and (group.name, info["opt"].dest) == ("database", database.UNUSED):
            continue
        yield from library_options.spellings(group.name if group else "DEFAULT", info["opt"])


def _credentials(conf: cfg.ConfigOpts) -> Iterator[Name]:
    """Yield the options of the keystoneauth plug-ins that groups have selected."""
    for section, option in library_options.credentials(conf, checked_values.texts_set(conf)):
        yield from library_options.spellings(section, option)


def _of_notification_drivers(conf: cfg.ConfigOpts) -> Iterator[Name]:
    """Yield what the files set beside a notification driver of another package, which alone knows its options."""
    group = "oslo_messaging_notifications"
    drivers = {text for name, text in checked_values.texts_set(conf) if name == (group, "driver")}
    if drivers - library_options.notification_drivers():
        yield from (name for name, _ in checked_values.texts_set(conf) if name[0] == group)
