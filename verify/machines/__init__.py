"""Several machines on one: databases, their front and the board's servers, each in a namespace.

Three databases (PostgreSQL under Patroni, with etcd), HAProxy in front of them, and processes of
the bank on machines of their own: everything real, and joined by a network that can be cut. Faults
come one by one, by seed, while everything that is asked and answered is written down; afterwards
the books are held against that. `python -m verify.machines`; docs/reliability.md says what it does.
"""
