"""Records of BMCs: a walk that reads all of one, what must not leave the site replaced, for tests that play it."""
