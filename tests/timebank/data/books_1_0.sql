PRAGMA application_id = 1112159316;
PRAGMA user_version = 13;
BEGIN TRANSACTION;
CREATE TABLE accounts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	kind TEXT NOT NULL,
	caller_id INTEGER,
	game TEXT,
	unit TEXT NOT NULL,
	balance INTEGER NOT NULL,
	CONSTRAINT known_unit CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
	CONSTRAINT never_negative CHECK (kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed', 'forfeit', 'bankroll', 'casino', 'prizes') OR balance >= 0),
	CONSTRAINT never_positive CHECK (kind <> 'loan' OR balance <= 0),
	CONSTRAINT one_account_a_kind UNIQUE (caller_id, unit, kind),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "accounts" VALUES(1,'allotment',NULL,NULL,'second',-3600);
INSERT INTO "accounts" VALUES(2,'elapsed',NULL,NULL,'second',0);
INSERT INTO "accounts" VALUES(3,'forfeit',NULL,NULL,'second',0);
INSERT INTO "accounts" VALUES(4,'external',NULL,NULL,'second',0);
INSERT INTO "accounts" VALUES(5,'adjustment',NULL,NULL,'second',0);
INSERT INTO "accounts" VALUES(6,'online',1,NULL,'second',3300);
INSERT INTO "accounts" VALUES(7,'held',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(8,'bank',1,NULL,'second',300);
INSERT INTO "accounts" VALUES(9,'stake',1,NULL,'second',600);
INSERT INTO "accounts" VALUES(10,'loan',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(11,'house',NULL,'black-jack-for-time','second',-600);
INSERT INTO "accounts" VALUES(12,'online',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(13,'held',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(14,'bank',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(15,'stake',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(16,'loan',2,NULL,'second',0);
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
INSERT INTO "actions" VALUES(1,0,'{"action":"bet","stake":600}',0,1,1780315200);
INSERT INTO "actions" VALUES(1,1,'{"action":"stay"}',4,1,1780315200);
INSERT INTO "actions" VALUES(2,0,'{"action":"bet","stake":300}',0,1,1780315200);
INSERT INTO "actions" VALUES(2,1,'{"action":"stay"}',4,1,1780315200);
INSERT INTO "actions" VALUES(3,0,'{"action":"bet","stake":600}',0,1,1780315200);
CREATE TABLE awards (
	caller_id INTEGER NOT NULL,
	award TEXT NOT NULL,
	at INTEGER NOT NULL,
	round_id INTEGER,
	told INTEGER,
	PRIMARY KEY (caller_id, award),
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	FOREIGN KEY(round_id) REFERENCES rounds (id)
)
 WITHOUT ROWID

;
INSERT INTO "awards" VALUES(1,'deposit',1780315200,NULL,NULL);
INSERT INTO "awards" VALUES(1,'hand',1780315200,1,NULL);
INSERT INTO "awards" VALUES(1,'won black-jack-for-time',1780315200,1,NULL);
CREATE TABLE callers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	fold TEXT NOT NULL,
	skeleton TEXT DEFAULT '' NOT NULL,
	password_hash TEXT NOT NULL,
	locked INTEGER NOT NULL CHECK (locked IN (0, 1)),
	created INTEGER NOT NULL,
	last_call INTEGER,
	deleted INTEGER,
	day TEXT,
	held_until INTEGER,
	held_behind TEXT,
	preferences TEXT NOT NULL,
	frozen INTEGER DEFAULT 0 NOT NULL CHECK (frozen IN (0, 1)),
	board TEXT,
	board_key TEXT CHECK ((board IS NULL) = (board_key IS NULL)),
	powers INTEGER DEFAULT 0 NOT NULL CHECK (powers = 0 OR (powers = 1 AND deleted IS NULL AND board IS NULL)),
	recovery_digest TEXT,
	untold_round INTEGER,
	muted INTEGER
);
INSERT INTO "callers" VALUES(1,'Ann','ann','17.0.0/1 ann','hash',0,1780315200,1780315200,NULL,'2026-06-01',NULL,NULL,'{}',0,NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO "callers" VALUES(2,'Bob','bob','17.0.0/1 bob','hash',0,1780315200,NULL,NULL,NULL,NULL,NULL,'{}',0,NULL,NULL,0,NULL,NULL,NULL);
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
	boot TEXT,
	awake FLOAT,
	seen INTEGER,
	away INTEGER DEFAULT 0 NOT NULL CHECK (away IN (0, 1)),
	CONSTRAINT told CHECK (ticked = charged + waived AND charged >= 0 AND waived >= 0),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "calls" VALUES(1,1,1,'p','192.0.2.1',1780315200,NULL,NULL,0,0,0,1780315200,0,NULL,NULL,NULL,NULL,1);
CREATE TABLE chains (
	anchor TEXT NOT NULL,
	caller_id INTEGER,
	game TEXT NOT NULL,
	at_table INTEGER DEFAULT 1 NOT NULL CHECK (at_table > 0),
	root BLOB NOT NULL,
	length INTEGER NOT NULL CHECK (length > 0),
	used INTEGER NOT NULL CHECK (used >= 0),
	day TEXT NOT NULL,
	opened INTEGER NOT NULL,
	closed INTEGER,
	PRIMARY KEY (anchor),
	CONSTRAINT no_more_links CHECK (used <= length),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
)
 WITHOUT ROWID

;
CREATE TABLE clocks (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	boot TEXT NOT NULL,
	zero FLOAT NOT NULL,
	since FLOAT NOT NULL,
	certain INTEGER NOT NULL CHECK (certain IN (0, 1)),
	sure FLOAT NOT NULL,
	leap FLOAT,
	agreed FLOAT,
	noted FLOAT,
	"after" INTEGER,
	UNIQUE (boot)
);
CREATE TABLE days (
	caller_id INTEGER NOT NULL,
	day TEXT NOT NULL,
	"after" INTEGER NOT NULL,
	grant_id INTEGER,
	standing INTEGER DEFAULT 0 NOT NULL CHECK (standing >= 0),
	carried INTEGER DEFAULT 0 NOT NULL CHECK (carried >= 0),
	owed INTEGER CHECK (owed >= 0),
	grace INTEGER DEFAULT 0 NOT NULL CHECK (grace >= 0),
	PRIMARY KEY (caller_id, day),
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	UNIQUE (grant_id),
	FOREIGN KEY(grant_id) REFERENCES transfers (id)
)
 WITHOUT ROWID

;
INSERT INTO "days" VALUES(1,'2026-06-01',0,1,0,0,0,0);
CREATE TABLE deal_tries (
	seal TEXT NOT NULL,
	caller_id INTEGER NOT NULL,
	begun INTEGER NOT NULL,
	acts TEXT DEFAULT '' NOT NULL,
	finished INTEGER,
	score INTEGER,
	cost INTEGER,
	PRIMARY KEY (seal, caller_id),
	CONSTRAINT finished_with_a_score CHECK ((finished IS NULL) = (score IS NULL)),
	CONSTRAINT weighed_when_finished CHECK (cost IS NULL OR finished IS NOT NULL),
	FOREIGN KEY(seal) REFERENCES deals (seal),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
)
 WITHOUT ROWID

;
CREATE TABLE deals (
	seal TEXT NOT NULL,
	day TEXT NOT NULL,
	seed BLOB NOT NULL,
	rules TEXT NOT NULL,
	opened INTEGER NOT NULL,
	closed INTEGER,
	daily INTEGER DEFAULT 1 NOT NULL CHECK (daily IN (0, 1)),
	PRIMARY KEY (seal)
)
 WITHOUT ROWID

;
CREATE TABLE early_events (
	starts INTEGER NOT NULL,
	ends INTEGER NOT NULL,
	name TEXT NOT NULL,
	instead_of INTEGER,
	PRIMARY KEY (starts),
	CONSTRAINT it_lasts CHECK (ends > starts)
)
 WITHOUT ROWID

;
CREATE TABLE generations (
	number INTEGER NOT NULL CHECK (number > 1),
	at INTEGER NOT NULL,
	copied INTEGER,
	"after" INTEGER NOT NULL,
	first INTEGER NOT NULL,
	numbers TEXT NOT NULL,
	shoes INTEGER NOT NULL,
	hands INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	"by" TEXT NOT NULL,
	why TEXT NOT NULL,
	digest TEXT NOT NULL CHECK (length(digest) = 64),
	PRIMARY KEY (number),
	CONSTRAINT past_any_before CHECK (first > after)
);
CREATE TABLE given_back (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER NOT NULL,
	transfer_id INTEGER,
	minutes INTEGER NOT NULL CHECK (minutes <> 0),
	day TEXT NOT NULL,
	way TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('waiting', 'writing', 'written', 'kept', 'doubtful')),
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
CREATE TABLE identity (
	id INTEGER NOT NULL CHECK (id = 1),
	mark TEXT NOT NULL,
	copied INTEGER,
	commits INTEGER DEFAULT 0 NOT NULL,
	PRIMARY KEY (id)
);
INSERT INTO "identity" VALUES(1,'',NULL,11);
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
CREATE TABLE leases (
	name TEXT NOT NULL,
	server INTEGER,
	fence INTEGER NOT NULL CHECK (fence >= 0),
	until INTEGER NOT NULL,
	PRIMARY KEY (name)
)
 WITHOUT ROWID

;
CREATE TABLE mended_days (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER NOT NULL,
	day TEXT NOT NULL,
	grant_id INTEGER,
	mended INTEGER NOT NULL,
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	UNIQUE (grant_id),
	FOREIGN KEY(grant_id) REFERENCES transfers (id)
);
CREATE TABLE messages (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	sender_id INTEGER NOT NULL,
	caller_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	text TEXT NOT NULL,
	shown INTEGER,
	FOREIGN KEY(sender_id) REFERENCES callers (id),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
CREATE TABLE notices (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	text TEXT NOT NULL,
	shown INTEGER,
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
CREATE TABLE one_liners (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER NOT NULL,
	call_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	text TEXT NOT NULL,
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	UNIQUE (call_id),
	FOREIGN KEY(call_id) REFERENCES calls (id)
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
CREATE TABLE own_limits (
	caller_id INTEGER NOT NULL,
	most_lost INTEGER CHECK (most_lost > 0),
	later_lost INTEGER CHECK (later_lost >= 0),
	later_from INTEGER,
	paused_until INTEGER,
	hourly INTEGER DEFAULT 0 NOT NULL CHECK (hourly IN (0, 1)),
	hourly_until INTEGER,
	told INTEGER,
	PRIMARY KEY (caller_id),
	CONSTRAINT later_at_some_time CHECK ((later_lost IS NULL) = (later_from IS NULL)),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
)
 WITHOUT ROWID

;
CREATE TABLE page_tries (
	number TEXT NOT NULL,
	at INTEGER NOT NULL,
	address TEXT NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (number)
)
 WITHOUT ROWID

;
CREATE TABLE results (
	day TEXT NOT NULL,
	caller_id INTEGER NOT NULL,
	game TEXT NOT NULL,
	unit TEXT NOT NULL,
	hands INTEGER NOT NULL,
	lost INTEGER NOT NULL,
	won INTEGER NOT NULL,
	hands_won INTEGER NOT NULL,
	hands_even INTEGER NOT NULL,
	naturals INTEGER NOT NULL,
	charlies INTEGER NOT NULL,
	best INTEGER NOT NULL,
	PRIMARY KEY (day, caller_id, game, unit),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
)
 WITHOUT ROWID

;
INSERT INTO "results" VALUES('2026-06-01',1,'black-jack-for-time','second',2,300,900,1,0,0,0,900);
CREATE TABLE results_ever (
	caller_id INTEGER NOT NULL,
	game TEXT NOT NULL,
	unit TEXT NOT NULL,
	hands INTEGER NOT NULL,
	lost INTEGER NOT NULL,
	won INTEGER NOT NULL,
	hands_won INTEGER NOT NULL,
	hands_even INTEGER NOT NULL,
	naturals INTEGER NOT NULL,
	charlies INTEGER NOT NULL,
	best INTEGER NOT NULL,
	streak INTEGER NOT NULL,
	longest_won INTEGER NOT NULL,
	longest_lost INTEGER NOT NULL,
	PRIMARY KEY (caller_id, game, unit),
	FOREIGN KEY(caller_id) REFERENCES callers (id)
)
 WITHOUT ROWID

;
INSERT INTO "results_ever" VALUES(1,'black-jack-for-time','second',2,300,900,1,0,0,0,900,-1,1,1);
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
	unit TEXT DEFAULT 'second' NOT NULL CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
	seat INTEGER DEFAULT 1 NOT NULL CHECK (seat > 0),
	lead INTEGER,
	CONSTRAINT settled_with_an_outcome CHECK ((settled IS NULL) = (outcome IS NULL)),
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	FOREIGN KEY(call_id) REFERENCES calls (id),
	FOREIGN KEY(shoe_id) REFERENCES shoes (id),
	FOREIGN KEY(lead) REFERENCES rounds (id)
);
INSERT INTO "rounds" VALUES(1,1,'black-jack-for-time','2026-06-01',1,NULL,0,600,60,'{"decks":1}',1780315200,0,600,900,1780315200,'win','{"net":900}','second',1,NULL);
INSERT INTO "rounds" VALUES(2,1,'black-jack-for-time','2026-06-01',1,NULL,0,300,60,'{"decks":1}',1780315200,300,0,0,1780315200,'lose','{"net":-300}','second',1,NULL);
INSERT INTO "rounds" VALUES(3,1,'black-jack-for-time','2026-06-01',1,NULL,0,600,60,'{"decks":1}',1780315200,0,0,0,NULL,NULL,NULL,'second',1,NULL);
CREATE TABLE servers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	process TEXT NOT NULL,
	link TEXT DEFAULT '' NOT NULL,
	certificate TEXT DEFAULT '' NOT NULL,
	settings TEXT NOT NULL,
	version TEXT NOT NULL,
	started INTEGER NOT NULL,
	renewed INTEGER NOT NULL,
	draining INTEGER DEFAULT 0 NOT NULL CHECK (draining IN (0, 1))
);
CREATE TABLE shoes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	caller_id INTEGER,
	game TEXT NOT NULL,
	decks INTEGER NOT NULL CHECK (decks > 0),
	seed BLOB NOT NULL,
	seal TEXT NOT NULL,
	cut TEXT,
	opened INTEGER NOT NULL,
	closed INTEGER,
	at_table INTEGER DEFAULT 1 NOT NULL CHECK (at_table > 0),
	anchor TEXT,
	link INTEGER,
	beacon TEXT,
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
CREATE TABLE sysop_log (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	at INTEGER NOT NULL,
	"by" TEXT NOT NULL,
	caller_id INTEGER,
	what TEXT NOT NULL,
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
CREATE TABLE tournament_entries (
	seal TEXT NOT NULL,
	caller_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	day TEXT NOT NULL,
	for_prize INTEGER NOT NULL CHECK (for_prize IN (0, 1)),
	paid INTEGER NOT NULL CHECK (paid >= 0),
	paid_id INTEGER,
	back_id INTEGER,
	place INTEGER CHECK (place > 0),
	passed INTEGER DEFAULT 0 NOT NULL CHECK (passed IN (0, 1)),
	prize INTEGER DEFAULT 0 NOT NULL CHECK (prize >= 0),
	prize_id INTEGER,
	PRIMARY KEY (seal, caller_id),
	CONSTRAINT paid_by_a_transfer CHECK ((paid = 0) = (paid_id IS NULL)),
	CONSTRAINT won_by_a_transfer CHECK ((prize = 0) = (prize_id IS NULL)),
	CONSTRAINT paid_for_a_prize CHECK (paid = 0 OR for_prize = 1),
	CONSTRAINT won_by_one_who_can CHECK (prize = 0 OR (for_prize = 1 AND passed = 0)),
	CONSTRAINT given_back_once CHECK (back_id IS NULL OR (paid > 0 AND prize = 0)),
	FOREIGN KEY(seal) REFERENCES tournaments (seal),
	FOREIGN KEY(caller_id) REFERENCES callers (id),
	UNIQUE (paid_id),
	FOREIGN KEY(paid_id) REFERENCES transfers (id),
	UNIQUE (back_id),
	FOREIGN KEY(back_id) REFERENCES transfers (id),
	UNIQUE (prize_id),
	FOREIGN KEY(prize_id) REFERENCES transfers (id)
)
 WITHOUT ROWID

;
CREATE TABLE tournaments (
	seal TEXT NOT NULL,
	game TEXT NOT NULL,
	hands INTEGER NOT NULL CHECK (hands > 0),
	starts INTEGER NOT NULL,
	ends INTEGER NOT NULL,
	entry INTEGER NOT NULL CHECK (entry >= 0),
	prizes TEXT NOT NULL,
	put_in INTEGER NOT NULL CHECK (put_in >= 0),
	put_in_id INTEGER,
	taken_back_id INTEGER,
	running INTEGER CHECK (running = 1),
	outcome TEXT CHECK (outcome IN ('settled', 'empty', 'called off', 'restored')),
	PRIMARY KEY (seal),
	CONSTRAINT it_is_open_for_a_while CHECK (ends > starts),
	CONSTRAINT ended_somehow CHECK ((running IS NULL) = (outcome IS NOT NULL)),
	CONSTRAINT put_in_by_a_transfer CHECK ((put_in = 0) = (put_in_id IS NULL)),
	CONSTRAINT taken_back_of_that CHECK (taken_back_id IS NULL OR put_in_id IS NOT NULL),
	FOREIGN KEY(seal) REFERENCES deals (seal),
	UNIQUE (put_in_id),
	FOREIGN KEY(put_in_id) REFERENCES transfers (id),
	UNIQUE (taken_back_id),
	FOREIGN KEY(taken_back_id) REFERENCES transfers (id),
	UNIQUE (running)
)
 WITHOUT ROWID

;
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
	facts TEXT NOT NULL,
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
INSERT INTO "transfers" VALUES(1,1,1,1780315200,'grant',3600,1,6,'{"code":"granted","day":"2026-06-01"}',1,NULL,'0c5af49828f612f411b5189a8b690bcc9a405a2230f7faed56252a3cd2a6a4be');
INSERT INTO "transfers" VALUES(2,1,1,1780315200,'stake',600,6,9,'{"code":"bet","game":"black-jack-for-time"}',1,1,'2c6691075e7ebe69eb7c0082412f0541a9f14faf08bf6e92a68d267ad7e68a77');
INSERT INTO "transfers" VALUES(3,1,2,1780315200,'returned',600,9,6,'{"code":"returned","game":"black-jack-for-time","outcome":"win"}',1,1,'aed87d944e40eaba225a22fea67ee67321f58d38f036a7ca3e123106acd1c648');
INSERT INTO "transfers" VALUES(4,2,2,1780315200,'won',900,11,6,'{"code":"won","game":"black-jack-for-time","outcome":"win"}',1,1,'20fe2b236e1a52c436fc90fb95d893a79235612865c237e01dbbaccd422a8db7');
INSERT INTO "transfers" VALUES(5,1,1,1780315200,'stake',300,6,9,'{"code":"bet","game":"black-jack-for-time"}',1,2,'7708eac6a174cbec59ab4a63bb80440ec0b85e4b45eedd705ea8030b5a7280eb');
INSERT INTO "transfers" VALUES(6,1,1,1780315200,'lost',300,9,11,'{"code":"lost","game":"black-jack-for-time","outcome":"lose"}',1,2,'de594f34dba722ea5fae07d1c3461919ad3ae31e5ae5e4210a073cfd29c999d9');
INSERT INTO "transfers" VALUES(7,1,1,1780315200,'deposit',300,6,8,'{"code":"deposited","at_log_off":false}',1,NULL,'1ee88d41d3b984ea4450a00325d3a943c145e1b9dbd4477be45aeec0a03ffc35');
INSERT INTO "transfers" VALUES(8,1,1,1780315200,'stake',600,6,9,'{"code":"bet","game":"black-jack-for-time"}',1,3,'2359626a225d02f04c23f3ee9ab1e782c2b8aacc1c4173346eaafacc0189fc9b');
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
	loan INTEGER CHECK (loan >= 0),
	loan_paid INTEGER CHECK (loan_paid >= 0),
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
CREATE INDEX callers_by_skeleton ON callers (skeleton) WHERE deleted IS NULL;
CREATE UNIQUE INDEX one_living_caller_a_key ON callers (board, board_key) WHERE deleted IS NULL AND board IS NOT NULL;
CREATE UNIQUE INDEX one_living_caller_a_name ON callers (fold) WHERE deleted IS NULL;
CREATE INDEX deals_closed ON deals (closed) WHERE closed IS NOT NULL;
CREATE UNIQUE INDEX one_open_deal_a_day ON deals (day) WHERE closed IS NULL AND daily = 1;
CREATE INDEX imports_kept ON imports (kept);
CREATE INDEX imports_to_do ON imports (path) WHERE state <> 'closed';
CREATE INDEX page_tries_for ON page_tries (name);
CREATE INDEX page_tries_from ON page_tries (address);
CREATE INDEX banks_by_balance ON accounts (balance) WHERE kind = 'bank' AND unit = 'second';
CREATE UNIQUE INDEX one_account_of_prizes ON accounts (kind) WHERE kind = 'prizes';
CREATE UNIQUE INDEX one_house_a_game ON accounts (game, unit) WHERE kind = 'house';
CREATE UNIQUE INDEX one_mint_a_unit ON accounts (unit) WHERE kind = 'mint';
CREATE INDEX calls_of_a_caller ON calls (caller_id, id);
CREATE UNIQUE INDEX one_open_call_a_caller ON calls (caller_id) WHERE closed IS NULL;
CREATE UNIQUE INDEX one_open_call_a_node ON calls (node) WHERE closed IS NULL AND away = 0;
CREATE UNIQUE INDEX one_open_chain_a_game ON chains (caller_id, game) WHERE closed IS NULL;
CREATE UNIQUE INDEX one_open_chain_a_table ON chains (game, at_table) WHERE closed IS NULL AND caller_id IS NULL;
CREATE INDEX messages_by_a_caller ON messages (sender_id, at);
CREATE INDEX messages_of_a_caller ON messages (caller_id, id);
CREATE INDEX messages_to_show ON messages (caller_id) WHERE shown IS NULL;
CREATE INDEX notices_of_a_caller ON notices (caller_id, id);
CREATE INDEX notices_to_show ON notices (caller_id) WHERE shown IS NULL;
CREATE UNIQUE INDEX one_open_shoe_a_game ON shoes (caller_id, game) WHERE closed IS NULL;
CREATE UNIQUE INDEX one_open_shoe_a_table ON shoes (game, at_table) WHERE closed IS NULL AND caller_id IS NULL;
CREATE UNIQUE INDEX one_shoe_a_link ON shoes (anchor, link) WHERE anchor IS NOT NULL;
CREATE UNIQUE INDEX one_round_a_seat ON rounds (lead, seat) WHERE lead IS NOT NULL;
CREATE UNIQUE INDEX one_round_in_play ON rounds (caller_id) WHERE settled IS NULL;
CREATE INDEX rounds_of_a_shoe ON rounds (shoe_id);
CREATE INDEX turns_of_a_day ON rounds (caller_id, day, unit, game);
CREATE INDEX visits_of_a_caller ON visits (caller_id);
CREATE INDEX visits_of_a_day ON visits (caller_id, day);
CREATE INDEX awards_by_time ON awards (at);
CREATE INDEX awards_to_tell ON awards (caller_id) WHERE told IS NULL;
CREATE INDEX transfers_from ON transfers (source);
CREATE INDEX transfers_of_a_round ON transfers (round_id) WHERE round_id IS NOT NULL;
CREATE INDEX transfers_to ON transfers (target);
CREATE INDEX given_back_of_a_caller ON given_back (caller_id, state);
CREATE INDEX import_lines_to_tell ON import_lines (import_id) WHERE told = 0;
CREATE INDEX outbox_to_do ON outbox (number) WHERE state <> 'appended';
CREATE INDEX tournaments_settled ON tournaments (ends) WHERE outcome = 'settled';
CREATE INDEX entries_of_a_caller ON tournament_entries (caller_id, day);
CREATE TRIGGER generations_are_never_changed BEFORE UPDATE ON generations BEGIN
            SELECT RAISE(ABORT, 'generations are only ever added, never changed');
        END;
CREATE TRIGGER generations_are_never_deleted BEFORE DELETE ON generations BEGIN
            SELECT RAISE(ABORT, 'generations are only ever added, never deleted');
        END;
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
CREATE TRIGGER rounds_settled_at_once_count AFTER INSERT ON rounds
        WHEN NEW.settled IS NOT NULL AND NEW.outcome <> 'void'
        BEGIN
    INSERT INTO awards (caller_id, award, at, round_id)
    SELECT NEW.caller_id, award, NEW.settled, NEW.id FROM (
        SELECT 'natural' AS award WHERE instr(' ' || NEW.outcome || ' ', ' natural ') > 0
        UNION ALL SELECT 'charlie' WHERE instr(' ' || NEW.outcome || ' ', ' charlie ') > 0
        UNION ALL SELECT 'split' WHERE NEW.outcome = 'win win'
        UNION ALL SELECT 'half' WHERE NEW.unit = 'second' AND NEW.won - NEW.lost >= 1800
        UNION ALL SELECT 'fourfold' WHERE NEW.won - NEW.lost >= 4 * NEW.bet
        UNION ALL SELECT 'won ' || NEW.game WHERE NEW.won > NEW.lost AND NOT EXISTS (
            SELECT 1 FROM results_ever
            WHERE caller_id = NEW.caller_id AND game = NEW.game AND hands_won > 0)
        UNION ALL SELECT CASE WHEN streak > 0 THEN 'streak' ELSE 'comeback' END
            FROM results_ever WHERE NEW.won > NEW.lost AND caller_id = NEW.caller_id
                AND game = NEW.game AND unit = NEW.unit AND (streak >= 4 OR streak <= -5)
        UNION ALL SELECT CASE WHEN so_far >= 999 THEN 'thousand' WHEN so_far > 0 THEN 'hundred'
            ELSE 'hand' END FROM (SELECT coalesce(sum(hands), 0) AS so_far
            FROM results_ever WHERE caller_id = NEW.caller_id) WHERE so_far IN (0, 99, 999)
    ) WHERE true ON CONFLICT DO NOTHING;
    INSERT INTO awards (caller_id, award, at, round_id)
    SELECT caller_id, 'company', settled, id FROM rounds
    WHERE NEW.lead IS NOT NULL AND (id = NEW.lead OR lead = NEW.lead)
        AND settled IS NOT NULL AND outcome <> 'void'
        AND (SELECT count(*) FROM rounds WHERE (id = NEW.lead OR lead = NEW.lead)
            AND settled IS NOT NULL AND outcome <> 'void') >= 4
    ON CONFLICT DO NOTHING;
    INSERT INTO results (day, caller_id, game, unit, hands, lost, won, hands_won, hands_even, naturals, charlies, best)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit,
    1, NEW.lost, NEW.won, NEW.won > NEW.lost, NEW.won = NEW.lost,
        instr(' ' || NEW.outcome || ' ', ' natural ') > 0,
        instr(' ' || NEW.outcome || ' ', ' charlie ') > 0, max(NEW.won - NEW.lost, 0))
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won,
        hands_won = hands_won + excluded.hands_won, hands_even = hands_even + excluded.hands_even,
        naturals = naturals + excluded.naturals, charlies = charlies + excluded.charlies,
        best = max(best, excluded.best);
    INSERT INTO results_ever (caller_id, game, unit, hands, lost, won, hands_won, hands_even, naturals, charlies, best, streak, longest_won, longest_lost)
    VALUES (NEW.caller_id, NEW.game, NEW.unit,
    1, NEW.lost, NEW.won, NEW.won > NEW.lost, NEW.won = NEW.lost,
        instr(' ' || NEW.outcome || ' ', ' natural ') > 0,
        instr(' ' || NEW.outcome || ' ', ' charlie ') > 0, max(NEW.won - NEW.lost, 0),
        (NEW.won > NEW.lost) - (NEW.won < NEW.lost), NEW.won > NEW.lost, NEW.won < NEW.lost)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won,
        hands_won = hands_won + excluded.hands_won, hands_even = hands_even + excluded.hands_even,
        naturals = naturals + excluded.naturals, charlies = charlies + excluded.charlies,
        best = max(best, excluded.best),
        streak = CASE excluded.streak WHEN 1 THEN max(streak, 0) + 1
            WHEN -1 THEN min(streak, 0) - 1 ELSE streak END,
        longest_won = max(longest_won, max(streak, 0) + excluded.longest_won),
        longest_lost = max(longest_lost, excluded.longest_lost - min(streak, 0));
        END;
CREATE TRIGGER rounds_that_are_settled_count AFTER UPDATE OF settled ON rounds
        WHEN OLD.settled IS NULL AND NEW.settled IS NOT NULL AND NEW.outcome <> 'void'
        BEGIN
    INSERT INTO awards (caller_id, award, at, round_id)
    SELECT NEW.caller_id, award, NEW.settled, NEW.id FROM (
        SELECT 'natural' AS award WHERE instr(' ' || NEW.outcome || ' ', ' natural ') > 0
        UNION ALL SELECT 'charlie' WHERE instr(' ' || NEW.outcome || ' ', ' charlie ') > 0
        UNION ALL SELECT 'split' WHERE NEW.outcome = 'win win'
        UNION ALL SELECT 'half' WHERE NEW.unit = 'second' AND NEW.won - NEW.lost >= 1800
        UNION ALL SELECT 'fourfold' WHERE NEW.won - NEW.lost >= 4 * NEW.bet
        UNION ALL SELECT 'won ' || NEW.game WHERE NEW.won > NEW.lost AND NOT EXISTS (
            SELECT 1 FROM results_ever
            WHERE caller_id = NEW.caller_id AND game = NEW.game AND hands_won > 0)
        UNION ALL SELECT CASE WHEN streak > 0 THEN 'streak' ELSE 'comeback' END
            FROM results_ever WHERE NEW.won > NEW.lost AND caller_id = NEW.caller_id
                AND game = NEW.game AND unit = NEW.unit AND (streak >= 4 OR streak <= -5)
        UNION ALL SELECT CASE WHEN so_far >= 999 THEN 'thousand' WHEN so_far > 0 THEN 'hundred'
            ELSE 'hand' END FROM (SELECT coalesce(sum(hands), 0) AS so_far
            FROM results_ever WHERE caller_id = NEW.caller_id) WHERE so_far IN (0, 99, 999)
    ) WHERE true ON CONFLICT DO NOTHING;
    INSERT INTO awards (caller_id, award, at, round_id)
    SELECT caller_id, 'company', settled, id FROM rounds
    WHERE NEW.lead IS NOT NULL AND (id = NEW.lead OR lead = NEW.lead)
        AND settled IS NOT NULL AND outcome <> 'void'
        AND (SELECT count(*) FROM rounds WHERE (id = NEW.lead OR lead = NEW.lead)
            AND settled IS NOT NULL AND outcome <> 'void') >= 4
    ON CONFLICT DO NOTHING;
    INSERT INTO results (day, caller_id, game, unit, hands, lost, won, hands_won, hands_even, naturals, charlies, best)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit,
    1, NEW.lost, NEW.won, NEW.won > NEW.lost, NEW.won = NEW.lost,
        instr(' ' || NEW.outcome || ' ', ' natural ') > 0,
        instr(' ' || NEW.outcome || ' ', ' charlie ') > 0, max(NEW.won - NEW.lost, 0))
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won,
        hands_won = hands_won + excluded.hands_won, hands_even = hands_even + excluded.hands_even,
        naturals = naturals + excluded.naturals, charlies = charlies + excluded.charlies,
        best = max(best, excluded.best);
    INSERT INTO results_ever (caller_id, game, unit, hands, lost, won, hands_won, hands_even, naturals, charlies, best, streak, longest_won, longest_lost)
    VALUES (NEW.caller_id, NEW.game, NEW.unit,
    1, NEW.lost, NEW.won, NEW.won > NEW.lost, NEW.won = NEW.lost,
        instr(' ' || NEW.outcome || ' ', ' natural ') > 0,
        instr(' ' || NEW.outcome || ' ', ' charlie ') > 0, max(NEW.won - NEW.lost, 0),
        (NEW.won > NEW.lost) - (NEW.won < NEW.lost), NEW.won > NEW.lost, NEW.won < NEW.lost)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won,
        hands_won = hands_won + excluded.hands_won, hands_even = hands_even + excluded.hands_even,
        naturals = naturals + excluded.naturals, charlies = charlies + excluded.charlies,
        best = max(best, excluded.best),
        streak = CASE excluded.streak WHEN 1 THEN max(streak, 0) + 1
            WHEN -1 THEN min(streak, 0) - 1 ELSE streak END,
        longest_won = max(longest_won, max(streak, 0) + excluded.longest_won),
        longest_lost = max(longest_lost, excluded.longest_lost - min(streak, 0));
        END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('accounts',16);
INSERT INTO "sqlite_sequence" VALUES('callers',2);
INSERT INTO "sqlite_sequence" VALUES('calls',1);
INSERT INTO "sqlite_sequence" VALUES('transfers',8);
INSERT INTO "sqlite_sequence" VALUES('rounds',3);
COMMIT;
