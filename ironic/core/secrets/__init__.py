"""What is secret, and what is shown in its place: the one judge for everything that shows data.

REST answers, notifications, rules and their explanations, logs and node history ask here. `names` judges names, `texts`
finds secrets inside of texts (logins and signatures in URLs, private keys, settings, headers), and `documents` walks
through plain data with both. Whoever shows data calls `masked` (any depth) or `masked_text`.
"""

from ironic.core.secrets.documents import masked, masked_instance_info
from ironic.core.secrets.names import REPLACEMENT, is_secret, is_secret_parameter
from ironic.core.secrets.texts import masked_text

__all__ = [
    "REPLACEMENT",
    "is_secret",
    "is_secret_parameter",
    "masked",
    "masked_instance_info",
    "masked_text",
]
