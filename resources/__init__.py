"""Icons, the phone page and the catalogues of texts."""
