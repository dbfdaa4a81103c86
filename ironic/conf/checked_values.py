"""Check the value of every option before any is used, and say where the wrong ones are written.

oslo.config converts a value when it is used, so a mistyped one would fail some work hours later; and it ends the
process for an option of the command line that is mistyped in a file, at a reload as well. So the files are read into an
object of their own first. It has private attributes of oslo.config for what that shows in no other way.
"""

import argparse
import glob
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from oslo_config import cfg, iniparser, types
from oslo_config.sources import _NoValue
from oslo_config.sources._environment import EnvironmentConfigurationSource
from oslo_log import versionutils

from ironic.conf import library_options
from ironic.conf.library_options import Name
from ironic.core.texts.operator_files import content_of

LOG = logging.getLogger(__name__)

# Names of variables that set an option.
VARIABLE: Final = re.compile(r"OS_([A-Z0-9]+(?:_[A-Z0-9]+)*)__([A-Z0-9_]+)")

# What refers to another option, in a default or a value.
REFERENCE: Final = re.compile(r"\$\{?([a-z_]\w*)")

# Bytes of a file of options.
_LARGEST_FILE: Final = 16 << 20

# Wrong values that one message has at most.
_MOST_LISTED: Final = 10

# What stands before the reason in an error of oslo.config.
_BEFORE_REASON: Final = " is not valid: "

_DIRECTORY: Final = "name it by --config-dir, or, if it lies in such a directory, give it a name that ends otherwise"
_PIPE: Final = (
    "a pipe, such as the shell makes for <(...), can be read once only, and the files are read again at each reload; "
    "write the options to a file that only this user can read"
)
# The library takes it for None, which no program expects of an option that has a default.
_NO_NUMBER: Final = "it is empty, and has to be a number; without the option it has its default"
_REFERS_TO_NONE: Final = "it refers by a dollar sign to an option that does not exist; write $$ for the sign itself"


class Invocation(NamedTuple):
    """How a program was called, and where its files are if the command line does not name them."""

    arguments: Sequence[str]
    project: str
    version: str | None
    files: Sequence[str] | None
    directories: Sequence[str] | None


class Environment(EnvironmentConfigurationSource):
    """Takes options from variables of the environment as from a file: by older names too, and such as may be repeated.

    The library knows the newest name only, and takes the letters of a text for the items of a repeatable option.
    """

    def __init__(self) -> None:
        super().__init__()
        self._noted: set[str] = set()

    def get(self, group_name: str | None, option_name: str, opt: cfg.Opt) -> tuple[object, cfg.LocationInfo | None]:
        """Return the value and its variable; the library's mark for none where no variable sets the option."""
        name = variable_of(group_name or "DEFAULT", opt)
        if name is None:
            return _NoValue, None
        newest = variable(group_name or "DEFAULT", opt.dest)
        if name != newest and name not in self._noted:
            self._noted.add(name)
            LOG.warning("%s in the environment is an older name of %s", name, newest)
        text = os.environ[name]
        return [text] if opt.multi else text, cfg.LocationInfo(cfg.Locations.environment, name)


class _Reader(cfg.ConfigOpts):
    """Reads files without an effect on others; wrong values are found when they are looked up."""

    def __init__(self) -> None:
        super().__init__()
        self._env_driver = Environment()

    def _validate_cli_options(self, namespace: object) -> None:
        """Leave the options of the command line to the check of all; the library would end the process."""


class _Lines(iniparser.BaseParser):
    """Finds the last line of each option in a file."""

    def __init__(self, path: str) -> None:
        self.found: dict[Name, int] = {}
        self._group = ""
        with open(path, encoding="utf-8") as file:
            self.parse(file)

    def new_section(self, section: str) -> None:
        self._group = section

    def assignment(self, key: str, value: list[str]) -> None:
        # It is complete when the next line has been read, unless the file ends with it.
        self.found[folded(self._group), key] = self._begin

    def _split_key_value(self, line: str) -> tuple[str, list[str]]:
        key, value = super()._split_key_value(line)
        self._begin = self.lineno
        return key, value


def variable(group: str, option: str) -> str:
    """Return the variable of the environment from which oslo.config takes an option."""
    return f"OS_{group.upper()}__{option.upper()}"


def variable_of(group: str, option: cfg.Opt) -> str | None:
    """Return the variable that sets an option, by its name or an older one; None if there is none."""
    names = (variable(holder, name) for holder, name in library_options.spellings(group, option))
    return next((name for name in names if name in os.environ), None)


def in_environment() -> Iterator[tuple[Name, str]]:
    """Yield (group, option) and text for each variable that sets an option; it need not be one that is known."""
    for name, text in os.environ.items():
        if (found := VARIABLE.fullmatch(name)) is not None:
            group = found[1] if found[1] == "DEFAULT" else found[1].lower()
            yield (group, found[2].lower()), text


def texts_set(conf: cfg.ConfigOpts) -> Iterator[tuple[Name, str]]:
    """Yield (group, option) and text for every option set in the files or the environment, once per text."""
    yield from in_environment()
    for sections in conf._namespace._parsed if conf._namespace else ():
        for group, options in sections.items():
            for option, texts in options.items():
                yield from (((group, option), text) for text in texts)


def require(conf: cfg.ConfigOpts, called: Invocation, *, libraries: bool = True) -> None:
    """Read the command line and the files, and raise ValueError if the value of an option can't be used.

    The message has every such option with its group, file, line and reason. Errors of the files themselves are those of
    oslo.config. ``conf`` has the options; it stays as it is. Options that libraries register on first use are looked up
    with ``libraries`` only, as these are imported for that.
    """
    for path in _files_to_read(called):
        _check_file(path)
    reader = _Reader()
    own = {id(option) for option in vars(conf).get("_config_opts", ())}
    groups: dict[str, cfg.OptGroup] = {}
    for info, group in conf._all_opt_infos():
        option = info["opt"]
        if id(option) in own:
            continue
        place = groups.setdefault(group.name, cfg.OptGroup(group.name)) if group else None
        (reader.register_cli_opt if info["cli"] else reader.register_opt)(option, group=place)
        if info.get("default") is not None:
            reader.set_default(option.dest, info["default"], group=place)
    with _without_notes():
        reader(
            list(called.arguments),
            project=called.project,
            version=called.version,
            default_config_files=None if called.files is None else list(called.files),
            default_config_dirs=None if called.directories is None else list(called.directories),
        )
        if libraries:
            _add_credentials(reader)
            for name, option in _of_libraries(reader):
                with suppress(cfg.DuplicateOptError):
                    reader.register_opt(option, group=None if name == "DEFAULT" else name)
        faults = list(_faults(reader))
    if faults:
        more = f"; and {len(faults) - _MOST_LISTED} more" if len(faults) > _MOST_LISTED else ""
        raise ValueError("; ".join(faults[:_MOST_LISTED]) + more)


def _add_credentials(reader: cfg.ConfigOpts) -> None:
    """Have the options of credentials checked, more strictly than by those that a service registers on first use."""
    for group, option in list(library_options.credentials(reader, texts_set(reader))):
        try:
            reader.register_opt(option, group=group)
        except cfg.DuplicateOptError:
            reader._get_opt_info(option.dest, group)["opt"] = option


def _files_to_read(called: Invocation) -> list[str]:
    """Return the files of options that the library is about to read."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--config-file", action="append")
    parser.add_argument("--config-dir", action="append")
    try:
        named = parser.parse_known_args(list(called.arguments))[0]
    except argparse.ArgumentError:
        return []  # the library says what is wrong with it
    files, directories = named.config_file or called.files, named.config_dir or called.directories
    if files is None:
        files = cfg.find_config_files(called.project)
    if directories is None:
        directories = cfg.find_config_dirs(called.project)
    below = (path for each in directories for path in sorted(glob.glob(os.path.join(each, "*.conf"))))
    return [os.path.expanduser(path) for path in (*files, *below)]


def _check_file(path: str) -> None:
    """Raise ValueError for a file that the library would wait for, or whose bytes are no text; it names no file."""
    if path == os.devnull:
        return
    try:
        content = content_of(Path(path), _LARGEST_FILE)
    except IsADirectoryError:
        raise ValueError(f"{path} is a directory: {_DIRECTORY}") from None
    except OSError:
        return  # the library says why
    except ValueError as error:
        way_on = f": {_PIPE}" if Path(path).is_fifo() else ""
        raise ValueError(f"{path} can't be read: {error}{way_on}") from None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: its bytes are no text in UTF-8; save the file in that encoding"
        ) from None


def require_again(conf: cfg.ConfigOpts) -> None:
    """Check the files of a process that has read them before, as `require` does; without any there is nothing to do."""
    if conf._args is None:
        return
    require(
        conf,
        Invocation(conf._args, conf.project or "", conf.version, conf.default_config_files, conf.default_config_dirs),
    )


def _faults(reader: cfg.ConfigOpts) -> Iterator[str]:
    for info, group in reader._all_opt_infos():
        option = info["opt"]
        try:
            value = (reader[group.name] if group else reader)[option.dest]
            if value is None and option.default is not None and isinstance(option.type, types.Number):
                yield f"{_place(reader, group.name if group else 'DEFAULT', option)}: {_NO_NUMBER}"
        except ValueError as error:
            reason = "its value can't be used" if option.secret else str(error).partition(_BEFORE_REASON)[2] or error
            yield f"{_place(reader, group.name if group else 'DEFAULT', option)}: {reason}"
        except cfg.Error:
            # The library says of an option without a group that it does not exist, and shows the text of others.
            yield f"{_place(reader, group.name if group else 'DEFAULT', option)}: {_REFERS_TO_NONE}"


def _place(reader: cfg.ConfigOpts, group: str, option: cfg.Opt) -> str:
    """Return the name of an option and what has set it, or what has set the one to which its default refers."""
    shown = f"[{group}]{option.dest}"
    if place := _set_by(reader, group, option):
        return f"{shown} {place}"
    known = {
        (holder.name if holder else "DEFAULT", info["opt"].dest): info["opt"]
        for info, holder in reader._all_opt_infos()
    }
    for name in REFERENCE.findall(str(option.default)):
        for holder in (group, "DEFAULT"):
            referred = known.get((holder, name))
            if referred is not None and (place := _set_by(reader, holder, referred)):
                return f"[{holder}]{name} {place}, to which {shown} refers"
    return shown


def _set_by(reader: cfg.ConfigOpts, group: str, option: cfg.Opt) -> str | None:
    """Return what has set an option, in the order in which the library looks."""
    if (named := variable_of(group, option)) is not None:
        return f"by {named} in the environment"
    spellings = [(folded(holder), name) for holder, name in library_options.spellings(group, option)]
    for path in reversed(_files(reader)):
        with suppress(OSError):
            lines: Mapping[Name, int] = _Lines(path).found
            for name in spellings:
                if name in lines:
                    return f"in {path}, line {lines[name]}"
    return None


def _files(reader: cfg.ConfigOpts) -> list[str]:
    """Return the files that were read, in their order."""
    directories = [path for each in reader.config_dir or () for path in sorted(glob.glob(str(Path(each) / "*.conf")))]
    return [*(reader.config_file or ()), *directories]


def folded(group: str) -> str:
    """Return the name of a group as the library compares it."""
    return group if group == "DEFAULT" else group.lower()


def _of_libraries(reader: cfg.ConfigOpts) -> Iterator[tuple[str, cfg.Opt]]:
    """Yield the options of libraries that the files or the environment set and that no module has registered yet."""
    sections = reader._namespace._parsed if reader._namespace else ()
    given = {(folded(group), name) for each in sections for group, options in each.items() for name in options}
    given |= {name for name, _ in in_environment()}
    given -= {
        (folded(holder), name)
        for info, group in reader._all_opt_infos()
        for holder, name in library_options.spellings(group.name if group else "DEFAULT", info["opt"])
    }
    if given:
        for group, option in library_options.options():
            if given & {(folded(holder), name) for holder, name in library_options.spellings(group, option)}:
                yield group, option


@contextmanager
def taken(conf: cfg.ConfigOpts) -> Iterator[None]:
    """Have the options that allow it take their new values; after an error in the block they have the old ones again.

    Call `require_again` before.
    """
    before = conf._mutable_ns
    try:
        conf.mutate_config_files()
        _forget_looked_up(conf)
        yield
    except BaseException:
        old = before or conf._namespace
        changed = conf._diff_ns(conf._mutable_ns, old) if old else {}
        conf._mutable_ns = before
        _forget_looked_up(conf)
        for follow in conf._mutate_hooks:
            follow(conf, changed)
        raise


def _forget_looked_up(conf: cfg.ConfigOpts) -> None:
    """Have values looked up again: a thread may have looked one up while the files were being read."""
    conf.register_opts([])


@contextmanager
def _without_notes() -> Iterator[None]:
    """Leave it to the use of the files to log older names of options, which the library does once for a process."""
    logs, sent = (logging.getLogger(cfg.__name__), LOG), versionutils._deprecated_messages_sent
    before, sent_before = [log.disabled for log in logs], {text: list(values) for text, values in sent.items()}
    for log in logs:
        log.disabled = True
    try:
        yield
    finally:
        for log, was in zip(logs, before, strict=True):
            log.disabled = was
        sent.clear()
        sent.update(sent_before)
