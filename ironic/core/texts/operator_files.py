"""Files that operators name, and documents of YAML or JSON in them: bounded in size and in the time that they take.

A file that is written for them has its name when it is complete.
"""

import json
import os
import stat
from pathlib import Path
from typing import Final

import yaml

_LARGEST_TEXT: Final = 1 << 20
_LARGEST_JSON: Final = 16 << 20
# Reading YAML takes about a second for each 100 KiB.
_LARGEST_YAML: Final = 1 << 20
# Characters of a number: those of base 60, as 1:30:00, take a time that grows by the square.
_LONGEST_NUMBER: Final = 100
# With all aliases written out: a few lines of them stand for more than a memory holds.
_MOST_VALUES: Final = 200_000


class _Loader(yaml.SafeLoader):
    """Reads plain values, and numbers of a bounded length."""

    def short_number(self, node: yaml.ScalarNode) -> object:
        """Return a number; raise ConstructorError for a long one."""
        if len(node.value) > _LONGEST_NUMBER:
            reason = f"a number has more than {_LONGEST_NUMBER} characters"
            raise yaml.constructor.ConstructorError(None, None, reason, node.start_mark)
        is_whole = node.tag.endswith(":int")
        return self.construct_yaml_int(node) if is_whole else self.construct_yaml_float(node)


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.short_number)


def document_in(path: Path) -> object:
    """Return the document in a file; raise OSError or ValueError with the reason."""
    content = content_of(path, _LARGEST_JSON)
    try:
        return json.loads(content)
    except ValueError:
        if len(content) > _LARGEST_YAML:
            raise ValueError(f"it is no JSON and has more than {_LARGEST_YAML} bytes") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    try:
        return _document_of(_Loader(content))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"it is neither JSON nor YAML: {error}") from None


def content_of(path: Path, largest: int = _LARGEST_TEXT) -> bytes:
    """Return the content of a regular file of so many bytes at most; raise OSError or ValueError with the reason."""
    # A pipe without a writer would not be opened otherwise.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no regular file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it has more than {largest} bytes")
    return content


def give_name(part: str | Path, path: str | Path, *, replace: bool) -> None:
    """Give a file that is complete its name; raise FileExistsError without ``replace`` where there is one by now."""
    if replace:
        os.replace(part, path)
    else:
        # Unlike renaming, it fails where there is a file.
        os.link(part, path, follow_symlinks=False)
        os.unlink(part)
    directory = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _document_of(loader: _Loader) -> object:
    try:
        if (node := loader.get_single_node()) is None:
            return None
        # Before the document is made: each merge (<<: *name) copies the keys of what it names.
        if _values_in(node, {}) > _MOST_VALUES:
            raise ValueError(f"its aliases (*name) stand for more than {_MOST_VALUES} values, write fewer of them")
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _values_in(node: yaml.Node, counts: dict[int, int]) -> int:
    """Return how many values there are with aliases written out; ``counts`` has those of lists and objects by identity.

    Raise ValueError for an alias that stands within what it stands for.
    """
    if not isinstance(node, yaml.CollectionNode):
        return 1
    if (known := counts.get(id(node))) is not None:
        if not known:
            raise ValueError("it has an alias (*name) within what the alias stands for")
        return known
    counts[id(node)] = 0
    within = [value for _, value in node.value] if isinstance(node, yaml.MappingNode) else node.value
    counts[id(node)] = 1 + sum(_values_in(one, counts) for one in within)
    return counts[id(node)]
