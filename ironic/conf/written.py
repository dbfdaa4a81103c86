"""What stands in the parsed configuration files, whether anybody knows it or not.

Reads what oslo.config has parsed; there is no public view of that.
"""

from collections.abc import Iterator

from oslo_config import cfg

Name = tuple[str, str]


def names(conf: cfg.ConfigOpts) -> Iterator[Name]:
    """Yield (group, option) for everything that the files set, file by file."""
    for sections in conf._namespace._parsed if conf._namespace else ():
        for group, options in sections.items():
            yield from ((group, option) for option in options)


def holds(conf: cfg.ConfigOpts, group: str, option: str) -> bool:
    """Tell whether the files set an option; good for those of libraries that are not imported."""
    return (group, option) in names(conf)


def values(conf: cfg.ConfigOpts) -> Iterator[tuple[Name, str]]:
    """Yield every option that the files set, with each text that stands there for it."""
    for sections in conf._namespace._parsed if conf._namespace else ():
        for group, options in sections.items():
            for option, texts in options.items():
                yield from (((group, option), text) for text in texts)
