"""Files for the machine of a board: for systemd, fail2ban, logrotate, a container and Prometheus.

They are written into a folder next to the settings, with the paths of this board and of this
installation. The steps printed afterwards say where they go. Nothing outside the board's folder is
changed.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from door.errors import SetupRefused
from door.setup.answers import PRIVATE_PORTS
from door.setup.new_board import backups
from door.setup.templates import fitted, plain, shipped
from door.setup.writing import put

if TYPE_CHECKING:
    from door.config.config import Config

FOLDER = "system"
KINDS = ("systemd", "fail2ban", "logrotate", "container", "prometheus")
SERVICE, EVERY_JOB = "systemd/bjft.service", "systemd/bjft-.service.d/jobs.conf"
JOBS = ("maintain", "backup", "audit", "full-audit")
USUAL_USER = "bjft"
USUAL_HEALTH = "127.0.0.1:9523"  # the port for Prometheus, unless the settings name another
ROOT = "root"
MAILED = """\
# As root, and outside what jobs.conf allows: programs that send mail need rights of their own.
ExecStopPost=+/bin/sh -c 'journalctl --sync; {{ echo "To: {address}"; \
    echo "Subject: Black Jack For Time: an audit ($$SERVICE_RESULT)"; echo; \
    journalctl --quiet --output=cat _SYSTEMD_INVOCATION_ID=$$INVOCATION_ID; }} | \
    /usr/sbin/sendmail -t'
"""
_MODE = 0o644
_HOMES = ("/home", "/root", "/run/user")
_TEMPORARY = ("/tmp", "/var/tmp")
_ADDRESS = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,200}")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,31}")


@dataclass(frozen=True)
class WantedFiles:
    """The files to write, by their KINDS, and the system user that they are for.

    The digests of audits go to the journal, and also to `mail` unless that is "".
    """

    kinds: Sequence[str]
    user: str
    mail: str = ""


def usual_user() -> str:
    """Return the system user of the board: the current user, or a new one instead of root."""
    current = pwd.getpwuid(os.geteuid()).pw_name
    return USUAL_USER if current == ROOT else current


def user(text: str) -> str:
    if _USER.fullmatch(text) is None:
        raise SetupRefused(f"{text!r} is not the name of a user of the system.")
    return text


def mail(text: str) -> str:
    if text and _ADDRESS.fullmatch(text) is None:
        raise SetupRefused(f"{text!r} is not a mail address that can be written into a unit.")
    return text


def program(name: str) -> Path:
    """Return the path of an installed command, next to the running Python."""
    return Path(sys.executable).absolute().with_name(name)


def typed(name: str) -> str:
    """Return what to type for an installed command: its name, or its path if the shell would find
    another command or none."""
    on_path = shutil.which(name)
    here = program(name)
    return name if on_path and os.path.realpath(on_path) == os.path.realpath(here) else str(here)


def write(config: Config, wanted: WantedFiles) -> list[str]:
    """Write the wanted files, and return a sentence about each.

    Raises `OSError`, or `SetupRefused` before anything is written.
    """
    made: dict[str, str] = {}
    for kind in wanted.kinds:
        made |= _MAKERS[kind](config, wanted)
    paths = {folder_of(config) / name: text for name, text in made.items()}
    return [put(path, text, _MODE).sentence(path) for path, text in paths.items()]


def folder_of(config: Config) -> Path:
    return config.path.absolute().parent / FOLDER


def _systemd(config: Config, wanted: WantedFiles) -> dict[str, str]:
    made = {name: _unit(name, config, wanted) for name in (SERVICE, EVERY_JOB)}
    if any(each.port for each in config.listeners):
        made["systemd/bjft.socket"] = _socket(config)
    for job in JOBS:
        name, timer = f"systemd/bjft-{job}.service", f"systemd/bjft-{job}.timer"
        made[name] = _unit(name, config, wanted)
        if "audit" in job and wanted.mail:
            made[name] += MAILED.format(address=wanted.mail)
        zone = config.bank.zone.key
        made[timer] = re.sub(r"(?m)^(OnCalendar=.*)$", rf"\1 {zone}", shipped(timer))
    return made


def _unit(name: str, config: Config, wanted: WantedFiles) -> str:
    home, copies = plain(config.path.absolute().parent), backups(config)
    writes = [config.board.data.absolute(), config.board.texts.absolute(), copies]
    writes += [
        each.parent for each in (config.bank.thebank_ext, *config.bank.imports) if each is not None
    ]
    instead = {
        "/opt/bjft/bin/door": plain(program("door")),
        "/opt/bjft/bin/timebank": plain(program("timebank")),
        "/etc/bjft/sysop.toml": plain(config.path.absolute()),
        "/var/lib/bjft/backups": plain(copies),
        "User=bjft\nGroup=bjft": f"User={wanted.user}\nGroup={_group(wanted.user)}",
        "one folder that it may write: /var/lib/bjft.": "folders that it may write.",
        "StateDirectory=bjft\nStateDirectoryMode=0700\n": "",
        "WorkingDirectory=/var/lib/bjft": f"WorkingDirectory={home}",
        "ReadOnlyPaths=/etc/bjft": "ReadWritePaths="
        + " ".join(dict.fromkeys(f"-{plain(each)}" for each in writes)),
    }
    used = [home, str(program("door")), *map(str, writes)]
    if _is_below(used, _HOMES):
        instead["ProtectHome=yes"] = "ProtectHome=read-only"
    if _is_below(used, _TEMPORARY):
        instead["PrivateTmp=yes"] = "PrivateTmp=no"
    if name == SERVICE and any(0 < each.port < PRIVATE_PORTS for each in config.listeners):
        right = "CAP_NET_BIND_SERVICE"
        instead |= {
            "CapabilityBoundingSet=\n": f"CapabilityBoundingSet={right}\n",
            "AmbientCapabilities=\n": f"AmbientCapabilities={right}\n",
            "PrivateUsers=yes": "PrivateUsers=no",
        }
    return fitted(name, instead)


def _socket(config: Config) -> str:
    ports = [each for each in config.listeners if each.port]
    places = [f"[{each.host}]" if ":" in each.host else each.host for each in ports]
    streams = [
        f"ListenStream={place}:{each.port}" for place, each in zip(places, ports, strict=True)
    ]
    return fitted("systemd/bjft.socket", {"ListenStream=0.0.0.0:2323": "\n".join(streams)})


def _is_below(paths: Sequence[str], folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for path in paths for folder in folders)


def _group(name: str) -> str:
    """Return the name of a user's first group; a user who does not exist yet gets one of theirs."""
    import grp  # noqa: PLC0415 - only units need it

    try:
        return grp.getgrgid(pwd.getpwnam(name).pw_gid).gr_name
    except KeyError:
        return name


def _fail2ban(config: Config, wanted: WantedFiles) -> dict[str, str]:
    numbers = [each.port for each in config.listeners]
    numbers += [config.pages.port] if config.pages.is_served else []
    ports = ",".join(dict.fromkeys(str(port) for port in numbers if port))
    filter_, jail = "fail2ban/filter.d/bjft.conf", "fail2ban/jail.d/bjft.conf"
    log = plain(config.board.data.absolute() / "refused.log")
    instead = {"/var/lib/bjft/refused.log": log, "2323,2992,2513": ports or "0:65535"}
    return {filter_: shipped(filter_), jail: fitted(jail, instead)}


def _logrotate(config: Config, wanted: WantedFiles) -> dict[str, str]:
    name = "logrotate/bjft"
    data = plain(config.board.data.absolute())
    who = f"su {wanted.user} {_group(wanted.user)}"
    return {name: fitted(name, {"/var/lib/bjft": data, "su bjft bjft": who})}


def _container(config: Config, wanted: WantedFiles) -> dict[str, str]:
    name = "container/Containerfile"
    return {name: shipped(name)}


def _prometheus(config: Config, wanted: WantedFiles) -> dict[str, str]:
    scrape = "prometheus/bjft.scrape.yml"
    others = ("prometheus/bjft.rules.yml", "prometheus/grafana-board.json")
    place = str(config.server.health or USUAL_HEALTH)
    return {
        scrape: fitted(scrape, {USUAL_HEALTH: place}),
        **{name: shipped(name) for name in others},
    }


_MAKERS = {
    "systemd": _systemd,
    "fail2ban": _fail2ban,
    "logrotate": _logrotate,
    "container": _container,
    "prometheus": _prometheus,
}


def next_steps(config: Config, wanted: WantedFiles) -> list[str]:
    """Return what root types to install the files."""
    folder = folder_of(config)
    steps: list[str] = []
    if "systemd" in wanted.kinds:
        steps += _user_steps(config, wanted)
        timers = " ".join(f"bjft-{job}.timer" for job in JOBS)
        steps += [
            f"cp -r {folder}/systemd/* /etc/systemd/system/",
            f"systemctl daemon-reload && systemctl enable --now bjft {timers}",
        ]
    if "fail2ban" in wanted.kinds:
        steps += [f"cp -r {folder}/fail2ban/* /etc/fail2ban/ && systemctl reload fail2ban"]
    if "logrotate" in wanted.kinds:
        steps += [f"cp {folder}/logrotate/bjft /etc/logrotate.d/"]
    if "prometheus" in wanted.kinds:
        if config.server.health is None:
            settings = f"--config {config.path.absolute()}"
            steps.append(f"{typed('door')} config set {settings} server.health {USUAL_HEALTH}")
        steps.append(f"cp {folder}/prometheus/bjft.rules.yml /etc/prometheus/")
    return steps


def _user_steps(config: Config, wanted: WantedFiles) -> list[str]:
    home = config.path.absolute().parent
    steps = []
    own = next((each for each in _HOMES if str(program("door")).startswith(f"{each}/")), None)
    if own is not None and wanted.user != pwd.getpwuid(os.geteuid()).pw_name:
        steps.append(
            f"# {program('door')} is below {own}, where {wanted.user} may not look. Install the"
            " program in /opt/bjft, and run `/opt/bjft/bin/door init`."
        )
    try:
        number: int | None = pwd.getpwnam(wanted.user).pw_uid
    except KeyError:
        number = None
        steps.append(f"useradd --system --home-dir {home} --shell /usr/sbin/nologin {wanted.user}")
    if number != config.path.stat().st_uid:
        steps.append(f"chown -R {wanted.user}: {home}")
    return steps
