-- A database of version 1 with a bit of everything: two callers, hands won, lost, stood off and in
-- play, a day that ended, and a record for THEBANK.EXT. Written by the program of that version.
PRAGMA foreign_keys = OFF;
PRAGMA application_id = 1112163924;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE accounts (
	id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	caller_id INTEGER,
	game TEXT,
	unit TEXT NOT NULL,
	balance INTEGER NOT NULL,
	PRIMARY KEY (id),
	CONSTRAINT known_unit CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
	CONSTRAINT never_negative CHECK (kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed', 'forfeit') OR balance >= 0),
	CONSTRAINT never_positive CHECK (kind <> 'loan' OR balance <= 0),
	CONSTRAINT one_account_a_kind UNIQUE (caller_id, unit, kind),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "accounts" VALUES(1,'allotment',NULL,NULL,'second',-10800);
INSERT INTO "accounts" VALUES(2,'elapsed',NULL,NULL,'second',30);
INSERT INTO "accounts" VALUES(3,'forfeit',NULL,NULL,'second',3570);
INSERT INTO "accounts" VALUES(4,'external',NULL,NULL,'second',600);
INSERT INTO "accounts" VALUES(5,'adjustment',NULL,NULL,'second',0);
INSERT INTO "accounts" VALUES(6,'online',1,NULL,'second',3600);
INSERT INTO "accounts" VALUES(7,'held',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(8,'bank',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(9,'stake',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(10,'loan',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(11,'online',2,NULL,'second',3480);
INSERT INTO "accounts" VALUES(12,'held',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(13,'bank',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(14,'stake',2,NULL,'second',120);
INSERT INTO "accounts" VALUES(15,'loan',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(16,'house',NULL,'black-jack-for-time','second',-600);
CREATE TABLE actions (
	round_id INTEGER NOT NULL,
	sequence INTEGER NOT NULL CHECK (sequence >= 0),
	action TEXT NOT NULL,
	cards_used INTEGER NOT NULL,
	call_id INTEGER,
	at INTEGER NOT NULL,
	PRIMARY KEY (round_id, sequence),
	FOREIGN KEY(round_id) REFERENCES rounds (id),
	FOREIGN KEY(call_id) REFERENCES calls (id)
)
 WITHOUT ROWID

;
INSERT INTO "actions" VALUES(1,0,'{"action":"bet","stake":600}',0,1,1780315230);
INSERT INTO "actions" VALUES(1,1,'{"action":"stay"}',4,1,1780315230);
INSERT INTO "actions" VALUES(2,0,'{"action":"bet","stake":300}',0,1,1780315230);
INSERT INTO "actions" VALUES(2,1,'{"action":"stay"}',4,1,1780315230);
INSERT INTO "actions" VALUES(3,0,'{"action":"bet","stake":600}',0,1,1780315230);
INSERT INTO "actions" VALUES(4,0,'{"action":"bet","stake":120}',0,2,1780315230);
CREATE TABLE callers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	fold TEXT NOT NULL,
	password_hash TEXT NOT NULL,
	locked INTEGER NOT NULL CHECK (locked IN (0, 1)),
	created INTEGER NOT NULL,
	last_call INTEGER,
	deleted INTEGER,
	day TEXT,
	held_until INTEGER,
	held_behind TEXT,
	preferences TEXT NOT NULL
);
INSERT INTO "callers" VALUES(1,'Ann','ann','hash',0,1780315200,1780401630,NULL,'2026-06-02',NULL,NULL,'{}');
INSERT INTO "callers" VALUES(2,'Bob','bob','hash',0,1780315200,1780315230,NULL,'2026-06-01',NULL,NULL,'{}');
CREATE TABLE calls (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER NOT NULL,
	node INTEGER NOT NULL,
	process TEXT NOT NULL,
	address TEXT NOT NULL,
	opened INTEGER NOT NULL,
	closed INTEGER,
	reason TEXT,
	ticked INTEGER NOT NULL,
	charged INTEGER NOT NULL,
	waived INTEGER NOT NULL,
	renewed INTEGER NOT NULL,
	ticked_at_renewal INTEGER NOT NULL,
	note TEXT,
	CONSTRAINT told CHECK (ticked = charged + waived AND charged >= 0 AND waived >= 0),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "calls" VALUES(1,1,1,'p','192.0.2.1',1780315200,1780315230,'hung up',30,30,0,1780315200,0,NULL);
INSERT INTO "calls" VALUES(2,2,2,'p','192.0.2.1',1780315230,NULL,NULL,0,0,0,1780315230,0,NULL);
INSERT INTO "calls" VALUES(3,1,1,'p','192.0.2.1',1780401630,NULL,NULL,0,0,0,1780401630,0,NULL);
CREATE TABLE days (
	caller_id INTEGER NOT NULL,
	day TEXT NOT NULL,
	"after" INTEGER NOT NULL,
	grant_id INTEGER,
	PRIMARY KEY (caller_id, day),
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	UNIQUE (grant_id),
	FOREIGN KEY(grant_id) REFERENCES transfers (id)
)
 WITHOUT ROWID

;
INSERT INTO "days" VALUES(1,'2026-06-01',0,1);
INSERT INTO "days" VALUES(1,'2026-06-02',14,15);
INSERT INTO "days" VALUES(2,'2026-06-01',9,10);
CREATE TABLE notices (
	id INTEGER NOT NULL,
	caller_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	text TEXT NOT NULL,
	shown INTEGER,
	PRIMARY KEY (id),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
CREATE TABLE outbox (
	number INTEGER NOT NULL,
	name TEXT NOT NULL,
	minutes INTEGER NOT NULL CHECK (minutes > 0),
	source TEXT NOT NULL,
	at INTEGER NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('waiting', 'appending', 'appended', 'doubtful')),
	mark TEXT,
	appended INTEGER,
	PRIMARY KEY (number),
	FOREIGN KEY(number) REFERENCES transfers (id)
);
INSERT INTO "outbox" VALUES(14,'Ann',10,'Day change',1780401630,'waiting',NULL,NULL);
CREATE TABLE rounds (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER NOT NULL,
	game TEXT NOT NULL,
	day TEXT NOT NULL,
	call_id INTEGER NOT NULL,
	shoe_id INTEGER,
	start_position INTEGER NOT NULL,
	bet INTEGER NOT NULL CHECK (bet > 0),
	coin INTEGER NOT NULL,
	rules TEXT NOT NULL,
	dealt INTEGER NOT NULL,
	lost INTEGER NOT NULL,
	returned INTEGER NOT NULL,
	won INTEGER NOT NULL,
	settled INTEGER,
	outcome TEXT,
	result TEXT,
	CONSTRAINT settled_with_an_outcome CHECK ((settled IS NULL) = (outcome IS NULL)),
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	FOREIGN KEY(call_id) REFERENCES calls (id),
	FOREIGN KEY(shoe_id) REFERENCES shoes (id)
);
INSERT INTO "rounds" VALUES(1,1,'black-jack-for-time','2026-06-01',1,NULL,0,600,60,'{"decks":1}',1780315230,0,600,900,1780315230,'win','{"net":900}');
INSERT INTO "rounds" VALUES(2,1,'black-jack-for-time','2026-06-01',1,NULL,0,300,60,'{"decks":1}',1780315230,300,0,0,1780315230,'lose','{"net":-300}');
INSERT INTO "rounds" VALUES(3,1,'black-jack-for-time','2026-06-01',1,1,0,600,60,'{"decks":1}',1780315230,0,600,0,1780315230,'push','{"net":0}');
INSERT INTO "rounds" VALUES(4,2,'black-jack-for-time','2026-06-01',2,NULL,0,120,60,'{"decks":1}',1780315230,0,0,0,NULL,NULL,NULL);
CREATE TABLE shoes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER NOT NULL,
	game TEXT NOT NULL,
	decks INTEGER NOT NULL CHECK (decks > 0),
	seed BLOB NOT NULL,
	seal TEXT NOT NULL,
	cut TEXT,
	opened INTEGER NOT NULL,
	closed INTEGER,
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "shoes" VALUES(1,1,'black-jack-for-time',1,X'7373737373737373737373737373737373737373737373737373737373737373','seal','',1780315230,NULL);
CREATE TABLE transfers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	place INTEGER NOT NULL,
	size INTEGER NOT NULL,
	entry INTEGER GENERATED ALWAYS AS (id - place + 1) VIRTUAL,
	at INTEGER NOT NULL,
	kind TEXT NOT NULL,
	amount INTEGER NOT NULL CHECK (amount > 0),
	source INTEGER NOT NULL,
	target INTEGER NOT NULL,
	why TEXT NOT NULL,
	call_id INTEGER,
	round_id INTEGER,
	CONSTRAINT two_accounts CHECK (source <> target),
	CONSTRAINT place_in_entry CHECK (place BETWEEN 1 AND size),
	FOREIGN KEY(source) REFERENCES accounts (id),
	FOREIGN KEY(target) REFERENCES accounts (id),
	FOREIGN KEY(call_id) REFERENCES calls (id),
	FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "transfers" VALUES(1,1,1,1780315200,'grant',3600,1,6,'60 minutes for 2026-06-01',1,NULL);
INSERT INTO "transfers" VALUES(2,1,2,1780315230,'elapsed',30,6,2,'Time used on node 1',1,NULL);
INSERT INTO "transfers" VALUES(3,2,2,1780315230,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',1,1);
INSERT INTO "transfers" VALUES(4,1,2,1780315230,'returned',600,9,6,'Stake returned at Black Jack For Time (win)',1,1);
INSERT INTO "transfers" VALUES(5,2,2,1780315230,'won',900,16,6,'Won at Black Jack For Time (win)',1,1);
INSERT INTO "transfers" VALUES(6,1,1,1780315230,'stake',300,6,9,'Bet 5 minutes at Black Jack For Time',1,2);
INSERT INTO "transfers" VALUES(7,1,1,1780315230,'lost',300,9,16,'Lost at Black Jack For Time (lose)',1,2);
INSERT INTO "transfers" VALUES(8,1,2,1780315230,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',1,3);
INSERT INTO "transfers" VALUES(9,2,2,1780315230,'returned',600,9,6,'Stake returned at Black Jack For Time (push)',1,3);
INSERT INTO "transfers" VALUES(10,1,1,1780315230,'grant',3600,1,11,'60 minutes for 2026-06-01',2,NULL);
INSERT INTO "transfers" VALUES(11,1,1,1780315230,'stake',120,11,14,'Bet 2 minutes at Black Jack For Time',2,4);
INSERT INTO "transfers" VALUES(12,1,4,1780401630,'forfeit',3570,6,3,'What was left of the minutes for 2026-06-01',3,NULL);
INSERT INTO "transfers" VALUES(13,2,4,1780401630,'carry',600,6,8,'Earned on 2026-06-01: put in the bank',3,NULL);
INSERT INTO "transfers" VALUES(14,3,4,1780401630,'external',600,8,4,'10 minutes passed on through THEBANK.EXT',3,NULL);
INSERT INTO "transfers" VALUES(15,4,4,1780401630,'grant',3600,1,6,'60 minutes for 2026-06-02',3,NULL);
CREATE UNIQUE INDEX one_living_caller_a_name ON callers (fold) WHERE deleted IS NULL;
CREATE UNIQUE INDEX one_house_a_game ON accounts (game, unit) WHERE kind = 'house';
CREATE UNIQUE INDEX one_open_call_a_caller ON calls (caller_id) WHERE closed IS NULL;
CREATE UNIQUE INDEX one_open_shoe_a_game ON shoes (caller_id, game) WHERE closed IS NULL;
CREATE INDEX notices_to_show ON notices (caller_id) WHERE shown IS NULL;
CREATE INDEX rounds_of_a_shoe ON rounds (shoe_id);
CREATE UNIQUE INDEX one_round_in_play ON rounds (caller_id) WHERE settled IS NULL;
CREATE INDEX turns_of_a_day ON rounds (caller_id, day, game);
CREATE INDEX transfers_from ON transfers (source);
CREATE INDEX transfers_of_a_round ON transfers (round_id) WHERE round_id IS NOT NULL;
CREATE INDEX transfers_to ON transfers (target);
CREATE INDEX outbox_to_do ON outbox (number) WHERE state <> 'appended';
CREATE TRIGGER transfers_move_balances AFTER INSERT ON transfers BEGIN
            UPDATE accounts SET balance = balance - NEW.amount WHERE id = NEW.source;
            UPDATE accounts SET balance = balance + NEW.amount WHERE id = NEW.target;
        END;
CREATE TRIGGER transfers_keep_to_one_unit BEFORE INSERT ON transfers
        WHEN (SELECT unit FROM accounts WHERE id = NEW.source)
             <> (SELECT unit FROM accounts WHERE id = NEW.target)
        BEGIN
            SELECT RAISE(ABORT, 'units never mix in one transfer');
        END;
CREATE TRIGGER transfers_are_never_changed BEFORE UPDATE ON transfers BEGIN
            SELECT RAISE(ABORT, 'transfers are only ever added, never changed');
        END;
CREATE TRIGGER transfers_are_never_deleted BEFORE DELETE ON transfers BEGIN
            SELECT RAISE(ABORT, 'transfers are only ever added, never deleted');
        END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('callers',2);
INSERT INTO "sqlite_sequence" VALUES('calls',3);
INSERT INTO "sqlite_sequence" VALUES('transfers',15);
INSERT INTO "sqlite_sequence" VALUES('rounds',4);
INSERT INTO "sqlite_sequence" VALUES('shoes',1);
COMMIT;
