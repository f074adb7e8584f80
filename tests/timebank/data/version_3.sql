-- The database of version_2.sql, moved forward by the program of version 3.
PRAGMA foreign_keys = OFF;
PRAGMA application_id = 1112163924;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE "accounts" (
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    caller_id INTEGER,
    game TEXT,
    unit TEXT NOT NULL,
    balance INTEGER NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT known_unit CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
    CONSTRAINT never_negative CHECK (
        kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed', 'forfeit', 'bankroll', 'casino')
        OR balance >= 0),
    CONSTRAINT never_positive CHECK (kind <> 'loan' OR balance <= 0),
    CONSTRAINT one_account_a_kind UNIQUE (caller_id, unit, kind),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "accounts" VALUES(1,'allotment',NULL,NULL,'second',-7200);
INSERT INTO "accounts" VALUES(2,'elapsed',NULL,NULL,'second',90);
INSERT INTO "accounts" VALUES(3,'forfeit',NULL,NULL,'second',0);
INSERT INTO "accounts" VALUES(4,'external',NULL,NULL,'second',0);
INSERT INTO "accounts" VALUES(5,'adjustment',NULL,NULL,'second',-120);
INSERT INTO "accounts" VALUES(6,'online',1,NULL,'second',3360);
INSERT INTO "accounts" VALUES(7,'held',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(8,'bank',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(9,'stake',1,NULL,'second',600);
INSERT INTO "accounts" VALUES(10,'loan',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(11,'online',2,NULL,'second',3600);
INSERT INTO "accounts" VALUES(12,'held',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(13,'bank',2,NULL,'second',120);
INSERT INTO "accounts" VALUES(14,'stake',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(15,'loan',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(16,'house',NULL,'black-jack-for-time','second',-450);
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
INSERT INTO "actions" VALUES(1,0,'{"action":"bet","stake":600}',4,1,1780315230);
INSERT INTO "actions" VALUES(1,1,'{"action":"stay"}',4,1,1780315230);
INSERT INTO "actions" VALUES(2,0,'{"action":"bet","stake":300}',4,1,1780315230);
INSERT INTO "actions" VALUES(2,1,'{"action":"stay"}',4,1,1780315230);
INSERT INTO "actions" VALUES(2,2,'{"action":"stay"}',4,1,1780315230);
INSERT INTO "actions" VALUES(2,3,'{"action":"stay"}',4,1,1780315230);
INSERT INTO "actions" VALUES(3,0,'{"action":"bet","stake":1200}',0,2,1780315230);
INSERT INTO "actions" VALUES(4,0,'{"action":"bet","stake":600}',4,1,1780315250);
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
	preferences TEXT NOT NULL, 
	frozen INTEGER DEFAULT 0 NOT NULL CHECK (frozen IN (0, 1))
, board TEXT, board_key TEXT CHECK ((board IS NULL) = (board_key IS NULL)));
INSERT INTO "callers" VALUES(1,'Ann','ann','hash',0,1780315200,1780315200,NULL,'2026-06-01',NULL,NULL,'{}',0,NULL,NULL);
INSERT INTO "callers" VALUES(2,'Bob','bob','hash',0,1780315200,1780315230,NULL,'2026-06-01',NULL,NULL,'{}',1,NULL,NULL);
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
INSERT INTO "calls" VALUES(1,1,1,'p','192.0.2.1',1780315200,NULL,NULL,90,90,0,1780315200,0,NULL);
INSERT INTO "calls" VALUES(2,2,2,'p','192.0.2.1',1780315230,1780315230,'hung up',0,0,0,1780315230,0,NULL);
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
INSERT INTO "days" VALUES(2,'2026-06-01',9,10);
CREATE TABLE given_back (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    transfer_id INTEGER,
    minutes INTEGER NOT NULL CHECK (minutes <> 0),
    day TEXT NOT NULL,
    way TEXT NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('waiting', 'writing', 'written', 'kept', 'doubtful')),
    at INTEGER NOT NULL,
    claim TEXT,
    changed INTEGER NOT NULL,
    kept_id INTEGER,
    why TEXT,
    CONSTRAINT gains_were_moved CHECK ((transfer_id IS NULL) = (minutes < 0)),
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    UNIQUE (transfer_id),
    FOREIGN KEY(transfer_id) REFERENCES transfers (id),
    UNIQUE (kept_id),
    FOREIGN KEY(kept_id) REFERENCES transfers (id)
);
CREATE TABLE import_lines (
	import_id INTEGER NOT NULL, 
	start INTEGER NOT NULL CHECK (start >= 0), 
	line INTEGER NOT NULL CHECK (line > 0), 
	transfer_id INTEGER, 
	reason TEXT, 
	text TEXT, 
	told INTEGER NOT NULL CHECK (told IN (0, 1)), 
	PRIMARY KEY (import_id, start), 
	CONSTRAINT applied_or_refused CHECK ((transfer_id IS NULL) <> (reason IS NULL)), 
	FOREIGN KEY(import_id) REFERENCES imports (id), 
	UNIQUE (transfer_id), 
	FOREIGN KEY(transfer_id) REFERENCES transfers (id)
)
 WITHOUT ROWID

;
CREATE TABLE imports (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	path TEXT NOT NULL, 
	taken TEXT NOT NULL, 
	kept TEXT, 
	state TEXT NOT NULL CHECK (state IN ('reading', 'taking', 'taken', 'keeping', 'kept', 'closed')), 
	bytes INTEGER NOT NULL CHECK (bytes >= 0), 
	lines INTEGER NOT NULL CHECK (lines >= 0), 
	recent TEXT NOT NULL, 
	changed INTEGER NOT NULL
);
CREATE TABLE notices (
	id INTEGER NOT NULL, 
	caller_id INTEGER NOT NULL, 
	at INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	shown INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "notices" VALUES(1,2,1780315250,'In your bank account: 2 minutes added by Syd: a lost evening.',NULL);
INSERT INTO "notices" VALUES(2,2,1780315250,'Syd froze your time bank: a doubtful record.',NULL);
INSERT INTO "notices" VALUES(3,1,1780315250,'Hello.',NULL);
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
CREATE TABLE "rounds" (
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
    unit TEXT DEFAULT 'second' NOT NULL CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
    seat INTEGER DEFAULT 1 NOT NULL CHECK (seat > 0),
    lead INTEGER,
    CONSTRAINT settled_with_an_outcome CHECK ((settled IS NULL) = (outcome IS NULL)),
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    FOREIGN KEY(call_id) REFERENCES calls (id),
    FOREIGN KEY(shoe_id) REFERENCES shoes (id),
    FOREIGN KEY(lead) REFERENCES rounds (id)
);
INSERT INTO "rounds" VALUES(1,1,'black-jack-for-time','2026-06-01',1,1,0,600,60,'{"decks":1}',1780315230,0,600,900,1780315230,'win','{"net":900}','second',1,NULL);
INSERT INTO "rounds" VALUES(2,1,'black-jack-for-time','2026-06-01',1,1,4,300,60,'{"decks":1}',1780315230,450,0,0,1780315230,'lose','{"net":-300}','second',1,NULL);
INSERT INTO "rounds" VALUES(3,2,'black-jack-for-time','2026-06-01',2,NULL,0,1200,60,'{"decks":1}',1780315230,0,1200,0,1780315230,'push','{"net":0}','second',1,NULL);
INSERT INTO "rounds" VALUES(4,1,'black-jack-for-time','2026-06-01',1,2,0,600,60,'{"decks":1}',1780315250,0,0,0,NULL,NULL,NULL,'second',1,NULL);
CREATE TABLE "shoes" (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER,
    game TEXT NOT NULL,
    decks INTEGER NOT NULL CHECK (decks > 0),
    seed BLOB NOT NULL,
    seal TEXT NOT NULL,
    cut TEXT,
    opened INTEGER NOT NULL,
    closed INTEGER,
    FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "shoes" VALUES(1,1,'black-jack-for-time',1,X'0101010101010101010101010101010101010101010101010101010101010101','72cd6e8422c407fb6d098690f1130b7ded7ec2f7f5e1d30bd9d521f015363793','deep',1780315200,1780315230);
INSERT INTO "shoes" VALUES(2,1,'black-jack-for-time',1,X'0202020202020202020202020202020202020202020202020202020202020202','75877bb41d393b5fb8455ce60ecd8dda001d06316496b14dfa7f895656eeca4a','',1780315230,NULL);
CREATE TABLE sysop_log (
	id INTEGER NOT NULL, 
	at INTEGER NOT NULL, 
	"by" TEXT NOT NULL, 
	caller_id INTEGER, 
	what TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "sysop_log" VALUES(1,1780315250,'Syd',2,'2 minutes added, Bob: a lost evening');
INSERT INTO "sysop_log" VALUES(2,1780315250,'Syd',2,'Bob''s account was frozen: a doubtful record');
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
	digest TEXT NOT NULL CHECK (length(digest) = 64), 
	CONSTRAINT two_accounts CHECK (source <> target), 
	CONSTRAINT place_in_entry CHECK (place BETWEEN 1 AND size), 
	FOREIGN KEY(source) REFERENCES accounts (id), 
	FOREIGN KEY(target) REFERENCES accounts (id), 
	FOREIGN KEY(call_id) REFERENCES calls (id), 
	FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "transfers" VALUES(1,1,1,1780315200,'grant',3600,1,6,'60 minutes for 2026-06-01',1,NULL,'76e376256ed891b5cbd4e52836822745efd9d8f641f69a644eed29058cbf0e94');
INSERT INTO "transfers" VALUES(2,1,2,1780315230,'elapsed',30,6,2,'Time used on node 1',1,NULL,'ab5e95b1316d8fe77f71a457fbecd7d214a03299a0c5825d03bf901c86d3a65f');
INSERT INTO "transfers" VALUES(3,2,2,1780315230,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',1,1,'e81525842f4051543ff49bacf8a4f5bc24626f4e7b8932c9d19585cc47c6d95b');
INSERT INTO "transfers" VALUES(4,1,2,1780315230,'returned',600,9,6,'Stake returned at Black Jack For Time (win)',1,1,'db2d2225a46fb745a5f469ec31524ab6eefd2673f593b88d2cb6e24153f3207b');
INSERT INTO "transfers" VALUES(5,2,2,1780315230,'won',900,16,6,'Won at Black Jack For Time (win)',1,1,'48a7923df8d603fea00a80782fdce025cdbe87b009257dad1ca512f1a00919a9');
INSERT INTO "transfers" VALUES(6,1,1,1780315230,'stake',300,6,9,'Bet 5 minutes at Black Jack For Time',1,2,'be680565d5f1c9636340f745050e83e5bd748a72fe85ddb74b3e4b9a36643032');
INSERT INTO "transfers" VALUES(7,1,1,1780315230,'insurance',150,6,9,'Insurance for 2 minutes 30 seconds at Black Jack For Time',1,2,'7ac1d10df394a169d299438a40e8deacbd9ff6d0e15afa8c460c2a5813282ff1');
INSERT INTO "transfers" VALUES(8,1,1,1780315230,'lost',150,9,16,'Lost at Black Jack For Time (lose)',1,2,'9cb1f7527f4011448e5959eb7a1fc3f5f796a780c258aca1dd5dea47fb7ea3ff');
INSERT INTO "transfers" VALUES(9,1,1,1780315230,'lost',300,9,16,'Lost at Black Jack For Time (lose)',1,2,'801d3fb2725152df505e62d98c0089431cbb6094570d2ab98ced26c3f5c8cd2b');
INSERT INTO "transfers" VALUES(10,1,1,1780315230,'grant',3600,1,11,'60 minutes for 2026-06-01',2,NULL,'f0f8d0ad2aa3188451d905a03bdc652d487e105f6fbd3e2ca8f22d6ac77305d3');
INSERT INTO "transfers" VALUES(11,1,2,1780315230,'stake',1200,11,14,'Bet 20 minutes at Black Jack For Time',2,3,'aa118f33cf29658586c01bc43763af5aa7c2a5f96a632120e247e54a053303f2');
INSERT INTO "transfers" VALUES(12,2,2,1780315230,'returned',1200,14,11,'Stake returned at Black Jack For Time (push)',2,3,'4cc02aa419a4767163e12a3fd0d97c65d0d94dffeebdca06fee136c2e253b56d');
INSERT INTO "transfers" VALUES(13,1,2,1780315250,'elapsed',20,6,2,'Time used on node 1',1,NULL,'ea918063fd811fd10122bc1879d33322d5cd6e4952589fe6500a63d5a5055aaf');
INSERT INTO "transfers" VALUES(14,2,2,1780315250,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',1,4,'7c382678406f3c0d5374031cae9ec921a81dacef72b0f6e0443db3a992782bfb');
INSERT INTO "transfers" VALUES(15,1,1,1780315250,'adjust',120,5,13,'2 minutes added by Syd: a lost evening',NULL,NULL,'937f9c3f2bc13b4314193a700cb7aaff6e42fe798255d16a6f8d9198e8b357ec');
INSERT INTO "transfers" VALUES(16,1,1,1780315290,'elapsed',40,6,2,'Time used on node 1',1,NULL,'cd062b7c809959e3b9fd05c068b7ecc06ee3210dd0e441f618b401c6631cd09c');
CREATE TABLE visits (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    call_id INTEGER,
    day TEXT NOT NULL,
    shown INTEGER,
    clock INTEGER NOT NULL CHECK (clock >= 0),
    until INTEGER,
    way TEXT,
    shows_losses INTEGER NOT NULL CHECK (shows_losses IN (0, 1)),
    debt INTEGER NOT NULL CHECK (debt >= 0),
    staked INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    standing_own INTEGER NOT NULL,
    brought INTEGER NOT NULL CHECK (brought >= 0),
    own INTEGER NOT NULL,
    closed INTEGER,
    elapsed INTEGER,
    result INTEGER,
    owed INTEGER CHECK (owed >= 0),
    debt_paid INTEGER CHECK (debt_paid >= 0),
    debt_added INTEGER CHECK (debt_added >= 0),
    also_brought INTEGER CHECK (also_brought >= 0),
    gain INTEGER CHECK (gain >= 0),
    put_back INTEGER CHECK (put_back >= 0),
    taken_home INTEGER CHECK (taken_home >= 0),
    left_staked INTEGER,
    left_standing INTEGER,
    left_own INTEGER,
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    UNIQUE (call_id),
    FOREIGN KEY(call_id) REFERENCES calls (id)
);
CREATE UNIQUE INDEX one_living_caller_a_name ON callers (fold) WHERE deleted IS NULL;
CREATE INDEX imports_kept ON imports (kept);
CREATE INDEX imports_to_do ON imports (path) WHERE state <> 'closed';
CREATE UNIQUE INDEX one_open_call_a_caller ON calls (caller_id) WHERE closed IS NULL;
CREATE INDEX notices_to_show ON notices (caller_id) WHERE shown IS NULL;
CREATE INDEX transfers_from ON transfers (source);
CREATE INDEX transfers_to ON transfers (target);
CREATE INDEX transfers_of_a_round ON transfers (round_id) WHERE round_id IS NOT NULL;
CREATE INDEX outbox_to_do ON outbox (number) WHERE state <> 'appended';
CREATE INDEX import_lines_to_tell ON import_lines (import_id) WHERE told = 0;
CREATE UNIQUE INDEX one_living_caller_a_key ON callers (board, board_key) WHERE deleted IS NULL AND board IS NOT NULL;
CREATE INDEX visits_of_a_caller ON visits (caller_id);
CREATE INDEX visits_of_a_day ON visits (caller_id, day);
CREATE INDEX given_back_of_a_caller ON given_back (caller_id, state);
CREATE UNIQUE INDEX one_house_a_game ON accounts (game, unit) WHERE kind = 'house';
CREATE UNIQUE INDEX one_mint_a_unit ON accounts (unit) WHERE kind = 'mint';
CREATE UNIQUE INDEX one_open_shoe_a_game ON shoes (caller_id, game) WHERE closed IS NULL;
CREATE UNIQUE INDEX one_open_shoe_a_table ON shoes (game) WHERE closed IS NULL AND caller_id IS NULL;
CREATE UNIQUE INDEX one_round_in_play ON rounds (caller_id) WHERE settled IS NULL;
CREATE INDEX turns_of_a_day ON rounds (caller_id, day, unit, game);
CREATE INDEX rounds_of_a_shoe ON rounds (shoe_id);
CREATE UNIQUE INDEX one_round_a_seat ON rounds (lead, seat) WHERE lead IS NOT NULL;
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
INSERT INTO "sqlite_sequence" VALUES('calls',2);
INSERT INTO "sqlite_sequence" VALUES('transfers',16);
INSERT INTO "sqlite_sequence" VALUES('shoes',2);
INSERT INTO "sqlite_sequence" VALUES('rounds',4);
COMMIT;
