"""Several machines on one: databases, their front and the board's servers, in namespaces.

Three databases (PostgreSQL under Patroni, with etcd), HAProxy in front of them, and boards on
their own machines: everything real, and joined by a network that can be cut. Faults happen one by
one, by seed, while robots call. Then everything they saw is compared with the books. Run with
`python -m verify.machines`; docs/reliability.md describes it.
"""
