"""Secrets in documents: how they are masked where they are shown, and kept where an update sends the mask back."""
