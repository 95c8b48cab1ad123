"""Proofs in the real client and from a real installation; a package so that its helpers have names of their own."""
