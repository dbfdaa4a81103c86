"""The way to a BMC, whatever protocol it speaks: one gateway for all requests, and one guard for each login."""
