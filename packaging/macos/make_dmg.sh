#!/usr/bin/env bash
# Signs (when SIGN_IDENTITY is set), packs into a .dmg, notarises (when NOTARY_PROFILE is set). Not run by us.
set -euo pipefail
app=$1 dmg=$2
here=$(cd "$(dirname "$0")" && pwd)
if [ -n "${SIGN_IDENTITY:-}" ]; then
    codesign --force --deep --options runtime --timestamp --entitlements "$here/entitlements.plist" --sign "$SIGN_IDENTITY" "$app"
    codesign --verify --strict "$app"
fi
hdiutil create -volname agent-hub -srcfolder "$app" -ov -format UDZO "$dmg"
if [ -n "${NOTARY_PROFILE:-}" ]; then
    xcrun notarytool submit "$dmg" --keychain-profile "$NOTARY_PROFILE" --wait
    xcrun stapler staple "$dmg"
fi
