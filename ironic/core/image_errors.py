"""What can go wrong with images.

IronicError
├── ImageUnacceptable
├── ImageConvertFailed
└── InsufficientDiskSpace

Names and statuses are those of doc/contract/errors.md#errors-of-images.
"""

from ironic.core.errors import IronicError


class ImageUnacceptable(IronicError):
    """An image is not what it is called, not allowed or not harmless."""

    text = "The image can't be used: {reason}"


class ImageConvertFailed(IronicError):
    """An image can't be turned into a raw one."""

    text = "The image of format {format} can't be turned into a raw one: {reason}"


class InsufficientDiskSpace(IronicError):
    """There is no room for an image."""

    text = "There is no room for the image: it takes {required} MiB, {path} has {actual} MiB left."
