"""Which of several servers does the jobs that only one may do.

Books in a file have one server, which does all jobs. With books on a server the leader holds the
lease `jobs` and renews it at each look at the books. The leader releases the lease when it ends, or
when it drains and another server takes calls. The lease of a dead leader expires, and the next
server that looks takes it. The lease and the pause between two looks last at most 15 seconds.
"""

from __future__ import annotations

from timebank.ledger.database import Desk
from timebank.servers import leases, registry

JOBS = "jobs"
LEASE_SECONDS = 9
LOOK_SECONDS = 5.0  # how often a server looks at the books, and at the lease


def attend(desk: Desk, server_id: int, *, draining: bool) -> bool:
    """Take or keep the leader's lease unless another server holds it; return whether we lead.

    A draining server leads only if no other server can.
    """
    holder = leases.holder(desk, JOBS)
    is_ours = holder is not None and holder.server_id == server_id
    if draining and _has_successor(desk, server_id):
        if is_ours:
            leases.release(desk, JOBS, server_id)
        return False
    if holder is not None and not is_ours and holder.live:
        return False
    return leases.take(desk, JOBS, server_id, LEASE_SECONDS) is not None


def _has_successor(desk: Desk, server_id: int) -> bool:
    return any(
        server.id != server_id and not server.draining for server in registry.living_servers(desk)
    )
