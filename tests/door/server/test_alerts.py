"""When each alert shipped for Prometheus fires and when none does, by Prometheus itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from door.setup import templates
from tests.door.server.test_metrics import promtool

RULES = templates.shipped("prometheus/bjft.rules.yml")
A_DAY, UP_TO = 1440, 3 * 1440  # minutes, one sample each

BACKUP = "bjft_last_backup_timestamp_seconds"
AUDITS = [
    f'bjft_last_audit_timestamp_seconds{{command="{command} audit"}}'
    for command in ("timebank", "door")
]
EVERY_NIGHT = f"0+0x{A_DAY + 9} {86400}+0x{A_DAY - 1} {2 * 86400}+0x{A_DAY}"
WELL = {
    'up{job="bjft"}': f"1+0x{UP_TO}",
    "bjft_up": f"1+0x{UP_TO}",
    "bjft_books_up": f"1+0x{UP_TO}",
    "bjft_outbox_in_doubt": f"0+0x{UP_TO}",
    'bjft_writer_waiting{server="a"}': f"0+0x{UP_TO}",
    'bjft_loop_lag_seconds_bucket{server="a", le="0.1"}': f"0+60x{UP_TO}",
    'bjft_loop_lag_seconds_bucket{server="a", le="1"}': f"0+60x{UP_TO}",
    'bjft_loop_lag_seconds_bucket{server="a", le="+Inf"}': f"0+60x{UP_TO}",
    'bjft_refusals_total{server="a", fault="caller"}': f"0+1x{UP_TO}",
    'bjft_refusals_total{server="a", fault="board"}': f"0+120x{UP_TO}",
    'bjft_last_audit_findings{command="door audit"}': f"0+0x{UP_TO}",
    **dict.fromkeys((BACKUP, *AUDITS), EVERY_NIGHT),
}
NO_COPY = {"BjftNoBackup"}
NO_AUDIT = {"BjftNoAudit", "BjftNoAuditOfHands"}
NO_SERVER = {"BjftNoServer"}
# The failing metric, None where it is missing; the time of the check, and the firing alerts.
CASES: dict[str, tuple[dict[str, str | None], str, set[str]]] = {
    "all is well": ({}, "10m", set()),
    "all is well on the second day": ({}, "2d", set()),
    "all is well on the third day": ({}, "3d", set()),
    "the server is dead": ({'up{job="bjft"}': "0+0x10", "bjft_up": None}, "3m", NO_SERVER),
    "the server dies": ({"bjft_up": "1+0x5 stale"}, "9m", NO_SERVER),
    "a server is started again": ({'up{job="bjft"}': "0+0x1 1+0x10"}, "3m", set()),
    "one server of two is dead": (
        {'up{job="bjft", instance="b"}': "0+0x10", 'bjft_up{instance="b"}': None},
        *("3m", NO_SERVER),
    ),
    "nothing was ever heard": (dict.fromkeys(WELL), "3m", NO_SERVER),
    "the books are away": ({"bjft_books_up": "0+0x10"}, "3m", {"BjftNoBooks"}),
    "the first night is to come": (dict.fromkeys((BACKUP, *AUDITS)), "23h", set()),
    "nothing was ever made": (dict.fromkeys((BACKUP, *AUDITS)), "25h", NO_COPY | NO_AUDIT),
    "no copy was ever made": ({BACKUP: None}, "25h", NO_COPY),
    "hands were never audited": ({AUDITS[1]: None}, "25h", {"BjftNoAuditOfHands"}),
    "a night was left out": (dict.fromkeys((BACKUP, *AUDITS), f"0+0x{UP_TO}"), "47h", set()),
    "two nights were left out": (
        dict.fromkeys((BACKUP, *AUDITS), f"0+0x{UP_TO}"),
        *("49h", NO_COPY | NO_AUDIT),
    ),
    "minutes in doubt": ({"bjft_outbox_in_doubt": "1+0x30"}, "20m", {"BjftMinutesInDoubt"}),
    "the writer": ({'bjft_writer_waiting{server="a"}': "101+0x9"}, "2m", {"BjftWriterWaits"}),
    "late keys": (
        {'bjft_loop_lag_seconds_bucket{server="a", le="0.1"}': "0+50x30"},
        *("20m", {"BjftKeysWait"}),
    ),
    "strangers": (
        {'bjft_refusals_total{server="a", fault="caller"}': "0+120x30"},
        *("25m", {"BjftManyRefused"}),
    ),
    "findings": (
        {'bjft_last_audit_findings{command="door audit"}': "2+0x9"},
        *("5m", {"BjftBooksWrong"}),
    ),
}


def test_every_alert_is_tried() -> None:
    alerts = set(re.findall(r"alert: (\w+)", RULES))
    assert alerts == set().union(*(firing for _, _, firing in CASES.values()))


@pytest.mark.parametrize("case", CASES)
def test_alerts_fire_when_something_is_wrong_and_never_else(case: str, tmp_path: Path) -> None:
    changed, when, firing = CASES[case]
    series = {name: values for name, values in {**WELL, **changed}.items() if values is not None}
    fired = 'count by (alertname) (ALERTS{alertstate="firing"}) > bool 0'
    test = {
        "rule_files": ["bjft.rules.yml"],
        "evaluation_interval": "1m" if when.endswith("m") else "15m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": values} for name, values in series.items()
                ],
                "promql_expr_test": [
                    {
                        "expr": fired,
                        "eval_time": when,
                        "exp_samples": [
                            {"labels": f'{{alertname="{name}"}}', "value": 1} for name in firing
                        ],
                    }
                ],
            }
        ],
    }
    (tmp_path / "bjft.rules.yml").write_text(RULES, "utf-8")
    (tmp_path / "test.yml").write_text(json.dumps(test), "utf-8")
    assert "SUCCESS" in promtool("test", "rules", str(tmp_path / "test.yml"))
