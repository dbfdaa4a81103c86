"""The keys of driver_info that interfaces of several families read: ramdisks, images, boot devices, the agent."""

from collections.abc import Mapping
from typing import Final

from ironic.core.keys.info_keys import Holds, Property
from ironic.integrations import image_places, web_root

DEPLOY: Final = "deploy"
RESCUE: Final = "rescue"

RAMDISKS: Final[Mapping[str, Property]] = {
    f"{purpose}_{part}{suffix}": Property(holds, f"{about} of the {part} that the machine boots for {work}.{rule}")
    for purpose, work in ((DEPLOY, "inspection, cleaning, deployment and servicing"), (RESCUE, "rescue"))
    for part in ("kernel", "ramdisk")
    for suffix, holds, about, rule in (
        ("", Holds.IMAGE, "URL (http, https, file)", f" Required, unless option [conductor]{purpose}_{part} is set."),
        ("_checksum", Holds.SETTING, "SHA256 or SHA512 checksum", " Optional."),
    )
}
COMMAND_LINE: Final[Mapping[str, Property]] = {
    "kernel_append_params": Property(
        Holds.SETTING,
        "Kernel parameters that replace option [pxe]kernel_append_params; %default% stands for the value of the "
        "option.",
    )
}
FORCE_PERSISTENT: Final = "force_persistent_boot_device"
BOOT_DEVICES: Final[Mapping[str, Property]] = {
    FORCE_PERSISTENT: Property(
        Holds.SETTING,
        "Whether boot devices are set persistently: Always, Never, or Default (the network for one boot, the disk "
        "persistently). true means Always, false means Never.",
    )
}
READY_IMAGES: Final[Mapping[str, Property]] = {
    "deploy_iso": Property(
        Holds.IMAGE,
        "URL of a ready ISO image that the machine boots for the agent's work, instead of one made of deploy_kernel "
        "and deploy_ramdisk. It can't be passed any parameters.",
    ),
    "rescue_iso": Property(Holds.IMAGE, "The same for rescue."),
    "bootloader": Property(
        Holds.IMAGE,
        "URL of the EFI system partition of ISO images. The default is option [conductor]bootloader, "
        "[DEFAULT]esp_image, or else one with GRUB.",
    ),
    web_root.EXTERNAL: Property(
        Holds.PLACE,
        "URL under which this node's BMC reaches [deploy]http_root. The default is option [deploy]external_http_url, "
        "or else the URL for machines.",
    ),
}
ON_REMOVABLE: Final = "config_via_removable"
VIRTUAL_MEDIA: Final[Mapping[str, Property]] = {
    ON_REMOVABLE: Property(
        Holds.SETTING,
        "Whether the parameters of the ramdisk are offered in a second virtual drive as well, a USB stick or floppy: "
        "for ready ISO images. The default is false.",
    ),
    image_places.PROTOCOL: Property(
        Holds.PLACE,
        "Protocol by which the BMC takes images, stated to it with each: HTTP, HTTPS, NFS or CIFS (SMB). For the last "
        "two, images are put on the share of [nfs] or [cifs]. By default none is stated, and a web server has them.",
    ),
}
AGENT: Final[Mapping[str, Property]] = {
    "agent_verify_ca": Property(
        Holds.TRUST_OF_OTHERS,
        "How the certificate of an agent that sent none of its own is verified: true, false, or the path of a CA file. "
        "The default is option [agent]verify_ca.",
    )
}
FAST_TRACK: Final[Mapping[str, Property]] = {
    "fast_track": Property(
        Holds.SETTING,
        "Whether the next operation uses a running ramdisk instead of booting it again. The default is option "
        "[deploy]fast_track.",
    )
}
REBOOT_OUT_OF_BAND: Final = "deploy_forces_oob_reboot"
DEPLOYMENT: Final[Mapping[str, Property]] = {
    REBOOT_OUT_OF_BAND: Property(
        Holds.SETTING, "If true, the BMC switches the machine off at the end of a deployment, instead of the agent."
    )
}
IMAGES: Final[Mapping[str, Property]] = {
    "image_download_source": Property(
        Holds.SETTING,
        "Where the agent downloads the image from: http (the server that image_source names) or local (this service). "
        "The default is option [agent]image_download_source.",
    ),
    "image_http_proxy": Property(Holds.PROXY, "Proxy through which the agent fetches images over HTTP."),
    "image_https_proxy": Property(Holds.PROXY, "Proxy through which the agent fetches images over HTTPS."),
    "image_no_proxy": Property(Holds.PROXY, "Hosts that the agent reaches without a proxy, separated by commas."),
}

SHARED: Final[Mapping[str, Property]] = {
    **RAMDISKS,
    **COMMAND_LINE,
    **BOOT_DEVICES,
    **READY_IMAGES,
    **VIRTUAL_MEDIA,
    **AGENT,
    **FAST_TRACK,
    **DEPLOYMENT,
    **IMAGES,
}
