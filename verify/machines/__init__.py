"""Several machines on one: databases, their front and the board's servers, each in a namespace.

Three databases (PostgreSQL under Patroni, with etcd), HAProxy in front of them, and boards on
machines of their own: everything real, and joined by a network that can be cut. Faults come one by
one, by seed, while robots call; afterwards all that they saw is held against the books.
`python -m verify.machines`; docs/reliability.md says what it does.
"""
