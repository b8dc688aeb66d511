"""What common programs do: tables of names, the same for bash, PowerShell and cmd. Pure data.

A program in no table runs something nobody knows: EXECUTE. PowerShell aliases stand here under their short names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bridge.policy.classes import names
from bridge.texts import tr

Reason = Callable[[], str]

READERS = names(
    """

    ls dir pwd echo printf cat head tail wc grep egrep fgrep rg ag fd stat file du df tree diff cmp comm
    sort uniq cut tr which type whereis basename dirname realpath readlink md5sum sha1sum sha256sum
    sha512sum cksum b2sum jq yq nl tac rev seq sleep true false test [ [[ : cd pushd popd ps uptime free
    date uname whoami id groups locale nproc lscpu lsblk lsof column fold expand paste join od xxd hexdump
    strings nm objdump cloc tokei bat eza exa less more man help get-childitem gci get-content gc
    select-string sls measure-object measure test-path get-location gl get-item gi write-output write-host
    get-command gcm get-help get-date get-process gps resolve-path rvpa split-path join-path format-table ft
    format-list fl select-object select where-object where sort-object compare-object get-filehash
    set-location sl chdir findstr ver vol fc tasklist systeminfo wait exit return break continue local
    declare export readonly unset set shift read let sha256 shasum md5 sw_vers hostname tty clear tput
    getconf arch
    """
)
"""Only look, or change nothing but the shell itself."""

EDITORS = names(
    """

    mkdir touch cp ln tee install patch copy xcopy robocopy md mklink new-item ni set-content sc add-content
    ac out-file copy-item cpi rename-item rni ren rename mv move move-item mi unzip tar gzip gunzip zip 7z
    bzip2 xz zstd split csplit prettier black isort gofmt rustfmt clang-format dos2unix
    """
)
"""Make or change files."""

NETWORK = names(
    """

    curl wget http https httpie xh ssh scp sftp rsync ftp tftp nc ncat netcat telnet ping ping6 dig nslookup
    host traceroute tracert whois aria2c invoke-webrequest iwr invoke-restmethod irm start-bitstransfer
    bitsadmin certutil test-netconnection resolve-dnsname websocat socat nmap
    """
)
"""Talk to other computers."""

DOWNLOADERS = names(
    """

    curl wget http https httpie fetch aria2c invoke-webrequest iwr invoke-restmethod irm scp ftp nc ncat
    netcat openssl base64 base32 xxd gunzip gzip zcat bzcat xzcat uudecode gpg
    """
)
"""What they put out can't be judged beforehand: piped into a shell it is destructive."""

SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "script"])
POWERSHELLS = frozenset(("powershell", "pwsh"))
RUNNERS = frozenset(("eval", "source", "."))
INTERPRETERS = names(
    """

    python python2 python3 py node nodejs deno bun perl ruby php lua rscript osascript tclsh
    """
)

DESTRUCTIVE: Mapping[str, Reason] = {
    **dict.fromkeys(("shred", "wipe", "srm", "scrub"), lambda: tr("erases for good")),
    **dict.fromkeys(
        names(
            """
    mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk gdisk sgdisk parted partprobe hdparm blkdiscard cryptsetup
    lvremove vgremove pvremove lvreduce mdadm diskpart format format-volume clear-disk initialize-disk
    remove-partition new-partition resize-partition bcdedit bootrec vssadmin wbadmin cipher fsutil diskutil
    newfs newfs_msdos zpool badblocks dd
    """
        ),
        lambda: tr("works on whole disks"),
    ),
    **dict.fromkeys(
        ["shutdown", "reboot", "halt", "poweroff", "telinit", "stop-computer", "restart-computer"],
        lambda: tr("turns the computer off"),
    ),
    **dict.fromkeys(
        ("sudo", "su", "doas", "runas", "pkexec", "gsudo", "sudoedit"), lambda: tr("runs as administrator")
    ),
    **dict.fromkeys(
        names(
            """
    useradd userdel usermod groupadd groupdel adduser deluser passwd chpasswd visudo vipw chage dscl net
    new-localuser remove-localuser set-localuser dsenableroot
    """
        ),
        lambda: tr("changes users of the computer"),
    ),
    **dict.fromkeys(
        names(
            """
    iptables ip6tables nft ufw firewall-cmd pfctl netsh set-netfirewallprofile new-netfirewallrule
    remove-netfirewallrule ifconfig route
    """
        ),
        lambda: tr("changes the network or firewall"),
    ),
    **dict.fromkeys(
        names(
            """
    modprobe insmod rmmod sysctl kexec grub-install update-grub efibootmgr mount umount swapoff chroot
    setenforce spctl csrutil nvram tccutil launchctl reg regedit regsvr32 takeown icacls cacls sc.exe
    schtasks at batch crontab register-scheduledtask new-service remove-service stop-service set-service
    set-executionpolicy set-mppreference add-mppreference set-itemproperty remove-itemproperty
    new-itemproperty disable-windowsoptionalfeature uninstall-package
    wmic invoke-wmimethod invoke-cimmethod msiexec rundll32 mshta systemd-run loginctl setx
    """
        ),
        lambda: tr("changes the system"),
    ),
    **dict.fromkeys(("clear-recyclebin", "clear-content", "clc"), lambda: tr("deletes contents")),
    **dict.fromkeys(("dropdb", "dropuser"), lambda: tr("deletes databases")),
    **dict.fromkeys(("rimraf", "del-cli", "nix-collect-garbage"), lambda: tr("deletes folders with all in them")),
    "killall5": lambda: tr("ends all programs"),
    **dict.fromkeys(
        (
            "security",
            "pass",
            "gopass",
            "op",
            "bw",
            "keyctl",
            "secret-tool",
            "keyring",
            "cmdkey",
            "vaultcmd",
            "mimikatz",
        ),
        lambda: tr("reads or changes stored passwords"),
    ),
    **dict.fromkeys(("xmrig", "msfconsole", "msfvenom"), lambda: tr("attack tool")),
}
"""Destructive whatever the arguments are."""

CLOUDS = names(
    """

    aws gcloud gsutil az doctl heroku fly flyctl vercel netlify railway wrangler firebase supabase kubectl
    oc helm terraform tofu pulumi cdk serverless sls ansible ansible-playbook nomad consul vault eksctl kops
    linode-cli hcloud scw ibmcloud oci
    """
)
"""Tools that command other people's computers: words like "delete" in their arguments count."""

CLOUD_DANGERS = names(
    """

    delete destroy rm rb terminate remove drain purge uninstall apply rollback deprovision teardown down
    drop reset force-delete delete-stack taint evict cordon prune replace patch scale undo
    """
)

PACKAGE_TOOLS = names(
    """

    npm yarn pnpm bun pip pip3 uv poetry pipenv conda mamba cargo gem bundle composer go dotnet nuget brew
    apt apt-get dnf yum pacman zypper apk snap flatpak choco winget scoop twine hex mix mvn gradle npx pnpx
    bunx uvx pipx install-module install-package
    """
)
PUBLISHERS = frozenset(["publish", "unpublish", "upload", "push", "deprecate", "yank", "owner"])
SYSTEM_PACKAGES = frozenset(
    ["apt", "apt-get", "dnf", "yum", "pacman", "zypper", "apk", "snap", "flatpak", "choco", "winget", "brew"]
)

WRAPPERS: Mapping[str, int] = {
    "nohup": 0,
    "time": 0,
    "command": 0,
    "builtin": 0,
    "exec": 0,
    "setsid": 0,
    "unshare": 0,
    "nsenter": 0,
    "firejail": 0,
    "bwrap": 0,
    "setpriv": 0,
    "taskset": 1,
    "chrt": 1,
    "prlimit": 0,
    "rlwrap": 0,
    "torsocks": 0,
    "systemd-inhibit": 0,
    "nice": 0,
    "ionice": 0,
    "stdbuf": 0,
    "unbuffer": 0,
    "caffeinate": 0,
    "timeout": 1,
    "gtimeout": 1,
    "watch": 0,
    "env": 0,
    "xargs": 0,
    "parallel": 0,
    "busybox": 0,
    "toybox": 0,
    "call": 0,
    "coproc": 0,
    "start": 0,
    "start-process": 0,
    "saps": 0,
    "invoke-command": 0,
    "icm": 0,
    "wsl": 0,
    "flock": 1,
    "strace": 0,
    "ltrace": 0,
    "faketime": 1,
    "xvfb-run": 0,
    "dbus-run-session": 0,
    "proxychains": 0,
    "sudo": 0,
    "doas": 0,
    "chroot": 1,
    "foreach-object": 0,
    "%": 0,
    "noglob": 0,
    "nocorrect": 0,
    "-": 0,
    "repeat": 1,
    "chronic": 0,
    "ifne": 0,
    "not": 0,
    "if": 0,
    "else": 0,
    "do": 0,
    "then": 0,
}
"""They run what follows, after so many arguments of their own."""
