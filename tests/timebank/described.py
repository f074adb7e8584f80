"""The definitions in a server's database, for comparison with another's."""

from __future__ import annotations

from tests.timebank.cluster import Cluster

QUESTIONS = (
    "SELECT table_name, column_name, data_type, collation_name, column_default, is_nullable,"
    " is_identity FROM information_schema.columns WHERE table_schema = 'public'",
    "SELECT CAST(conrelid AS regclass), conname, pg_get_constraintdef(oid)"
    " FROM pg_constraint WHERE connamespace = CAST('public' AS regnamespace)",
    "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT proname, regexp_replace(prosrc, '\\s+', ' ', 'g') FROM pg_proc"
    " WHERE pronamespace = CAST('public' AS regnamespace)",
)


def described(cluster: Cluster, name: str) -> list[set[tuple[object, ...]]]:
    """Return all columns, rules, indexes, triggers and functions of a database, without spaces."""
    with cluster.connect(name) as shell:
        return [set(shell.execute(question).fetchall()) for question in QUESTIONS]
