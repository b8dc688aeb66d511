"""Catalogues of texts and icons."""
