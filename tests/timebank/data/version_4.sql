-- Written by the last program of schema 4.
PRAGMA foreign_keys = OFF;
PRAGMA application_id = 1112163924;
PRAGMA user_version = 4;
BEGIN TRANSACTION;
CREATE TABLE accounts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	kind TEXT NOT NULL, 
	caller_id INTEGER, 
	game TEXT, 
	unit TEXT NOT NULL, 
	balance INTEGER NOT NULL, 
	CONSTRAINT known_unit CHECK (unit IN ('second', 'usd-cent', 'frf-cent')), 
	CONSTRAINT never_negative CHECK (kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed', 'forfeit', 'bankroll', 'casino') OR balance >= 0), 
	CONSTRAINT never_positive CHECK (kind <> 'loan' OR balance <= 0), 
	CONSTRAINT one_account_a_kind UNIQUE (caller_id, unit, kind), 
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "accounts" VALUES(1,'allotment',NULL,NULL,'second',-32400);
INSERT INTO "accounts" VALUES(2,'elapsed',NULL,NULL,'second',166);
INSERT INTO "accounts" VALUES(3,'forfeit',NULL,NULL,'second',16611);
INSERT INTO "accounts" VALUES(4,'external',NULL,NULL,'second',3504);
INSERT INTO "accounts" VALUES(5,'adjustment',NULL,NULL,'second',-1140);
INSERT INTO "accounts" VALUES(6,'online',1,NULL,'second',3000);
INSERT INTO "accounts" VALUES(7,'held',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(8,'bank',1,NULL,'second',14700);
INSERT INTO "accounts" VALUES(9,'stake',1,NULL,'second',600);
INSERT INTO "accounts" VALUES(10,'loan',1,NULL,'second',0);
INSERT INTO "accounts" VALUES(11,'online',2,NULL,'second',3599);
INSERT INTO "accounts" VALUES(12,'held',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(13,'bank',2,NULL,'second',3360);
INSERT INTO "accounts" VALUES(14,'stake',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(15,'loan',2,NULL,'second',0);
INSERT INTO "accounts" VALUES(16,'house',NULL,'black-jack-for-time','second',-14730);
INSERT INTO "accounts" VALUES(17,'bankroll',1,NULL,'usd-cent',9995050);
INSERT INTO "accounts" VALUES(18,'stake',1,NULL,'usd-cent',0);
INSERT INTO "accounts" VALUES(19,'casino',1,NULL,'usd-cent',100004950);
INSERT INTO "accounts" VALUES(20,'mint',NULL,NULL,'usd-cent',-110000000);
INSERT INTO "accounts" VALUES(21,'tab',1,NULL,'usd-cent',-200);
INSERT INTO "accounts" VALUES(22,'house',NULL,'unix-bj','usd-cent',200);
INSERT INTO "accounts" VALUES(23,'online',3,NULL,'second',0);
INSERT INTO "accounts" VALUES(24,'held',3,NULL,'second',0);
INSERT INTO "accounts" VALUES(25,'bank',3,NULL,'second',2730);
INSERT INTO "accounts" VALUES(26,'stake',3,NULL,'second',0);
INSERT INTO "accounts" VALUES(27,'loan',3,NULL,'second',0);
INSERT INTO "accounts" VALUES(28,'online',4,NULL,'second',0);
INSERT INTO "accounts" VALUES(29,'held',4,NULL,'second',0);
INSERT INTO "accounts" VALUES(30,'bank',4,NULL,'second',0);
INSERT INTO "accounts" VALUES(31,'stake',4,NULL,'second',0);
INSERT INTO "accounts" VALUES(32,'loan',4,NULL,'second',0);
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
INSERT INTO "actions" VALUES(4,0,'{"action":"bet","stake":600}',0,1,1780315260);
INSERT INTO "actions" VALUES(4,1,'{"action":"stay"}',4,1,1780315260);
INSERT INTO "actions" VALUES(4,2,'{"action":"stay"}',4,1,1780315260);
INSERT INTO "actions" VALUES(4,3,'{"action":"stay"}',4,1,1780315260);
INSERT INTO "actions" VALUES(5,0,'{"action":"bet","stake":5000}',0,1,1780315260);
INSERT INTO "actions" VALUES(6,0,'{"action":"bet","stake":10000}',0,1,1780315260);
INSERT INTO "actions" VALUES(7,0,'{"action":"bet","stake":200}',0,1,1780315260);
INSERT INTO "actions" VALUES(8,0,'{"action":"bet","stake":600}',0,2,1780367400);
INSERT INTO "actions" VALUES(8,1,'{"action":"stay"}',4,2,1780367400);
INSERT INTO "actions" VALUES(9,0,'{"action":"bet","stake":600}',0,4,1780441200);
INSERT INTO "actions" VALUES(9,1,'{"action":"stay"}',4,4,1780441200);
INSERT INTO "actions" VALUES(10,0,'{"action":"bet","stake":600}',0,5,1780527600);
INSERT INTO "actions" VALUES(10,1,'{"action":"stay"}',4,6,1780614000);
INSERT INTO "actions" VALUES(11,0,'{"action":"bet","stake":600}',0,7,1780614000);
INSERT INTO "actions" VALUES(11,1,'{"action":"stay"}',4,7,1780614000);
INSERT INTO "actions" VALUES(12,0,'{"action":"bet","stake":600}',0,8,1780614000);
INSERT INTO "actions" VALUES(12,1,'{"action":"stay"}',4,8,1780614000);
INSERT INTO "actions" VALUES(13,0,'{"action":"bet","stake":600}',0,9,1780614000);
INSERT INTO "actions" VALUES(13,1,'{"action":"stay"}',4,9,1780614000);
INSERT INTO "actions" VALUES(14,0,'{"action":"bet","stake":300}',0,11,1780614030);
INSERT INTO "actions" VALUES(14,1,'{"action":"stay"}',4,11,1780614030);
INSERT INTO "actions" VALUES(15,0,'{"action":"bet","stake":600}',0,12,1780614030);
INSERT INTO "actions" VALUES(15,1,'{"action":"stay"}',4,12,1780614030);
INSERT INTO "actions" VALUES(16,0,'{"action":"bet","stake":600}',0,14,1780626630);
INSERT INTO "actions" VALUES(16,1,'{"action":"stay"}',4,14,1780626630);
INSERT INTO "actions" VALUES(17,0,'{"action":"bet","stake":600}',0,15,1780626630);
INSERT INTO "actions" VALUES(17,1,'{"action":"stay"}',4,15,1780626630);
INSERT INTO "actions" VALUES(18,0,'{"action":"bet","stake":600}',0,16,1780633830);
INSERT INTO "actions" VALUES(19,0,'{"action":"bet","stake":600}',0,17,1780633830);
INSERT INTO "actions" VALUES(19,1,'{"action":"stay"}',4,17,1780633830);
INSERT INTO "actions" VALUES(119,0,'{"action":"bet","stake":600}',0,118,1780720230);
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
	untold_round INTEGER
);
INSERT INTO "callers" VALUES(1,'Ann','ann','17.0.0/1 ann','hash',0,1780315200,1780720230,NULL,'2026-06-06',1780372800,'Mail hour at 03:00','{"auto_deposit": true}',0,NULL,NULL,0,NULL,NULL);
INSERT INTO "callers" VALUES(2,'Bob','bob','17.0.0/1 bob','hash',0,1780315200,1780720230,NULL,'2026-06-06',1780632000,'Mail hour at 03:00','{}',0,NULL,NULL,0,NULL,NULL);
INSERT INTO "callers" VALUES(3,'Eve@Night: Owl','eve@nlght: owl','17.0.0/1 eve@nlght: ovvl','',0,1780614000,1780614030,NULL,'2026-06-04',NULL,NULL,'{}',0,'Night: Owl','7',0,NULL,NULL);
INSERT INTO "callers" VALUES(4,'Carl','carl','17.0.0/1 carl','',0,1780626630,1780633830,1780633830,'2026-06-05',NULL,NULL,'{}',0,NULL,NULL,0,NULL,NULL);
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
	CONSTRAINT told CHECK (ticked = charged + waived AND charged >= 0 AND waived >= 0), 
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "calls" VALUES(1,1,1,'p','192.0.2.1',1780315200,1780315320,'hung up',120,120,0,1780315200,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(2,1,1,'p','192.0.2.1',1780367400,1780367400,'hung up',1,1,0,1780367400,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(3,1,1,'p','192.0.2.1',1780372800,1780372800,'hung up',1,1,0,1780372800,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(4,2,1,'p','192.0.2.1',1780441200,1780441200,'hung up',1,1,0,1780441200,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(5,1,1,'p','192.0.2.1',1780527600,1780527600,'hung up',1,1,0,1780527600,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(6,1,1,'p','192.0.2.1',1780614000,1780614000,'hung up',1,1,0,1780614000,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(7,3,1,'p','192.0.2.1',1780614000,1780614000,'hung up',1,1,0,1780614000,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(8,3,1,'p','192.0.2.1',1780614000,1780614000,'hung up',1,1,0,1780614000,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(9,3,1,'p','192.0.2.1',1780614000,1780614000,'hung up',1,1,0,1780614000,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(10,3,1,'p','192.0.2.1',1780614000,1780614030,'hung up',30,30,0,1780614000,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(11,3,1,'p','192.0.2.1',1780614030,1780614030,'hung up',1,1,0,1780614030,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(12,3,1,'p','192.0.2.1',1780614030,1780614030,'hung up',1,1,0,1780614030,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(13,3,1,'p','192.0.2.1',1780614030,1780614030,'hung up',1,1,0,1780614030,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(14,2,1,'p','192.0.2.1',1780626630,1780626630,'hung up',1,1,0,1780626630,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(15,2,1,'p','192.0.2.1',1780626630,1780626630,'hung up',1,1,0,1780626630,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(16,4,1,'p','192.0.2.1',1780633830,1780633830,'hung up',1,1,0,1780633830,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(17,2,1,'p','192.0.2.1',1780633830,1780633830,'hung up',1,1,0,1780633830,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(18,2,1,'p','192.0.2.1',1780720230,1780720230,'hung up',1,1,0,1780720230,0,NULL,NULL,NULL);
INSERT INTO "calls" VALUES(118,1,1,'p','192.0.2.1',1780720230,NULL,NULL,0,0,0,1780720230,0,NULL,NULL,NULL);
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
	PRIMARY KEY (caller_id, day), 
	FOREIGN KEY(caller_id) REFERENCES callers (id), 
	UNIQUE (grant_id), 
	FOREIGN KEY(grant_id) REFERENCES transfers (id)
)
 WITHOUT ROWID

;
INSERT INTO "days" VALUES(1,'2026-06-01',0,1,0,0,0);
INSERT INTO "days" VALUES(1,'2026-06-02',31,32,0,0,360);
INSERT INTO "days" VALUES(1,'2026-06-03',56,57,0,0,0);
INSERT INTO "days" VALUES(1,'2026-06-04',61,62,0,600,0);
INSERT INTO "days" VALUES(1,'2026-06-06',244,245,0,0,0);
INSERT INTO "days" VALUES(2,'2026-06-02',43,44,0,0,0);
INSERT INTO "days" VALUES(2,'2026-06-05',115,116,0,0,0);
INSERT INTO "days" VALUES(2,'2026-06-06',142,143,0,0,0);
INSERT INTO "days" VALUES(3,'2026-06-04',66,NULL,0,0,0);
INSERT INTO "days" VALUES(4,'2026-06-05',128,129,0,0,0);
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
INSERT INTO "generations" VALUES(2,1780720230,NULL,144,244,'{"accounts":132,"callers":104,"calls":118,"given_back":102,"imports":101,"notices":110,"rounds":119,"shoes":100,"sysop_log":106,"transfers":244,"visits":107}',0,0,0,'the command line','restored from a copy','ccf7e78b3c47ea5fe2771572ad11015aff86f7cab84d596c15a46499a9f20c84');
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
INSERT INTO "given_back" VALUES(1,3,73,15,'2026-06-04','moduser','kept',1780614000,NULL,1780614000,80,'the visit after it could give nothing back');
INSERT INTO "given_back" VALUES(2,3,108,15,'2026-06-04','moduser','kept',1780614030,NULL,1780614030,113,'the visit after it could give nothing back');
CREATE TABLE identity (
	id INTEGER NOT NULL CHECK (id = 1), 
	mark TEXT NOT NULL, 
	copied INTEGER, 
	commits INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "identity" VALUES(1,'',NULL,111);
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
INSERT INTO "import_lines" VALUES(1,0,1,134,NULL,NULL,1);
INSERT INTO "import_lines" VALUES(1,44,2,135,NULL,NULL,1);
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
INSERT INTO "imports" VALUES(1,'/tmp/tmp0qt0wwyy/IN.EXT','/tmp/tmp0qt0wwyy/IN.EXT.137cc2c5888c17ee.taken','/tmp/tmp0qt0wwyy/IN.EXT.1.BAK','kept',74,2,'384bd3fe216793e3066041f4b9deeec911a4d7dfd7bf8a431fd6008393234569',1780633830);
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
CREATE TABLE notices (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	caller_id INTEGER NOT NULL, 
	at INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	shown INTEGER, 
	FOREIGN KEY(caller_id) REFERENCES callers (id)
);
INSERT INTO "notices" VALUES(1,2,1780315260,'Ann has sent you 15 minutes: "thanks: for "the" hint"',NULL);
INSERT INTO "notices" VALUES(2,1,1780367400,'Your hand of 2026-06-01 at UNIX bj is over: you lost $2 (bust).',NULL);
INSERT INTO "notices" VALUES(3,1,1780527600,'In your bank account: 20 minutes added by Tester: for the test.',NULL);
INSERT INTO "notices" VALUES(4,1,1780527600,'In your bank account: 1 minute taken out by Sysop: took: it.',NULL);
INSERT INTO "notices" VALUES(5,2,1780527600,'In your bank account: 5 minutes deposited by Sysop: gift.',NULL);
INSERT INTO "notices" VALUES(6,2,1780527600,'In your bank account: 5 minutes withdrawn by Sysop: back.',NULL);
INSERT INTO "notices" VALUES(7,1,1780527600,'10 minutes moved from Ann to Bob by Sysop: a bet.',NULL);
INSERT INTO "notices" VALUES(8,2,1780527600,'10 minutes moved from Ann to Bob by Sysop: a bet.',NULL);
INSERT INTO "notices" VALUES(9,1,1780633830,'1 minute came in from A (door), line 2 of.',NULL);
INSERT INTO "notices" VALUES(10,1,1780633830,'Door took 1 minute out of your account.',NULL);
INSERT INTO "notices" VALUES(110,1,1780720230,'Your hand of 2026-06-03 at Black Jack For Time is over: you came out even (push).',NULL);
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
INSERT INTO "outbox" VALUES(127,'Bob',59,'Black Jack For Time',1780626630,'waiting',NULL,NULL);
CREATE TABLE results (
	day TEXT NOT NULL, 
	caller_id INTEGER NOT NULL, 
	game TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	hands INTEGER NOT NULL, 
	lost INTEGER NOT NULL, 
	won INTEGER NOT NULL, 
	PRIMARY KEY (day, caller_id, game, unit), 
	FOREIGN KEY(caller_id) REFERENCES callers (id)
)
 WITHOUT ROWID

;
INSERT INTO "results" VALUES('2026-06-01',1,'baccarat','usd-cent',2,5000,50);
INSERT INTO "results" VALUES('2026-06-01',1,'black-jack-for-time','second',4,900,900);
INSERT INTO "results" VALUES('2026-06-01',1,'unix-bj','usd-cent',1,200,0);
INSERT INTO "results" VALUES('2026-06-02',1,'black-jack-for-time','second',1,0,3000);
INSERT INTO "results" VALUES('2026-06-02',2,'black-jack-for-time','second',1,0,600);
INSERT INTO "results" VALUES('2026-06-03',1,'black-jack-for-time','second',1,0,0);
INSERT INTO "results" VALUES('2026-06-04',3,'black-jack-for-time','second',5,600,3330);
INSERT INTO "results" VALUES('2026-06-05',2,'black-jack-for-time','second',3,0,8400);
CREATE TABLE results_ever (
	caller_id INTEGER NOT NULL, 
	game TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	hands INTEGER NOT NULL, 
	lost INTEGER NOT NULL, 
	won INTEGER NOT NULL, 
	PRIMARY KEY (caller_id, game, unit), 
	FOREIGN KEY(caller_id) REFERENCES callers (id)
)
 WITHOUT ROWID

;
INSERT INTO "results_ever" VALUES(1,'baccarat','usd-cent',2,5000,50);
INSERT INTO "results_ever" VALUES(1,'black-jack-for-time','second',6,900,3900);
INSERT INTO "results_ever" VALUES(1,'unix-bj','usd-cent',1,200,0);
INSERT INTO "results_ever" VALUES(2,'black-jack-for-time','second',4,0,9000);
INSERT INTO "results_ever" VALUES(3,'black-jack-for-time','second',5,600,3330);
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
INSERT INTO "rounds" VALUES(3,1,'black-jack-for-time','2026-06-01',1,NULL,0,600,60,'{"decks":1}',1780315200,0,600,0,1780315200,'push','{"net":0}','second',1,NULL);
INSERT INTO "rounds" VALUES(4,1,'black-jack-for-time','2026-06-01',1,NULL,0,600,60,'{"decks":1}',1780315260,600,300,0,1780315260,'five-card','{}','second',1,NULL);
INSERT INTO "rounds" VALUES(5,1,'baccarat','2026-06-01',1,NULL,0,5000,100,'{"decks":1}',1780315260,5000,0,0,1780315260,'banker','{}','usd-cent',1,NULL);
INSERT INTO "rounds" VALUES(6,1,'baccarat','2026-06-01',1,NULL,0,10000,100,'{"decks":1}',1780315260,0,10000,50,1780315260,'player','{}','usd-cent',1,NULL);
INSERT INTO "rounds" VALUES(7,1,'unix-bj','2026-06-01',1,NULL,0,200,100,'{"decks":1}',1780315260,200,0,0,1780315260,'bust','{}','usd-cent',1,NULL);
INSERT INTO "rounds" VALUES(8,1,'black-jack-for-time','2026-06-02',2,NULL,0,600,60,'{"decks":1}',1780367400,0,600,3000,1780367400,'win','{"net":3000}','second',1,NULL);
INSERT INTO "rounds" VALUES(9,2,'black-jack-for-time','2026-06-02',4,NULL,0,600,60,'{"decks":1}',1780441200,0,600,600,1780441200,'win','{"net":600}','second',1,NULL);
INSERT INTO "rounds" VALUES(10,1,'black-jack-for-time','2026-06-03',5,NULL,0,600,60,'{"decks":1}',1780527600,0,600,0,1780614000,'push','{"net":0}','second',1,NULL);
INSERT INTO "rounds" VALUES(11,3,'black-jack-for-time','2026-06-04',7,NULL,0,600,60,'{"decks":1}',1780614000,0,600,930,1780614000,'win','{"net":930}','second',1,NULL);
INSERT INTO "rounds" VALUES(12,3,'black-jack-for-time','2026-06-04',8,NULL,0,600,60,'{"decks":1}',1780614000,600,0,0,1780614000,'lose','{"net":-600}','second',1,NULL);
INSERT INTO "rounds" VALUES(13,3,'black-jack-for-time','2026-06-04',9,NULL,0,600,60,'{"decks":1}',1780614000,0,600,1200,1780614000,'win','{"net":1200}','second',1,NULL);
INSERT INTO "rounds" VALUES(14,3,'black-jack-for-time','2026-06-04',11,NULL,0,300,60,'{"decks":1}',1780614030,0,300,300,1780614030,'win','{"net":300}','second',1,NULL);
INSERT INTO "rounds" VALUES(15,3,'black-jack-for-time','2026-06-04',12,NULL,0,600,60,'{"decks":1}',1780614030,0,600,900,1780614030,'win','{"net":900}','second',1,NULL);
INSERT INTO "rounds" VALUES(16,2,'black-jack-for-time','2026-06-05',14,NULL,0,600,60,'{"decks":1}',1780626630,0,600,3600,1780626630,'win','{"net":3600}','second',1,NULL);
INSERT INTO "rounds" VALUES(17,2,'black-jack-for-time','2026-06-05',15,NULL,0,600,60,'{"decks":1}',1780626630,0,600,3600,1780626630,'win','{"net":3600}','second',1,NULL);
INSERT INTO "rounds" VALUES(18,4,'black-jack-for-time','2026-06-05',16,NULL,0,600,60,'{"decks":1}',1780633830,0,0,0,1780633830,'void',NULL,'second',1,NULL);
INSERT INTO "rounds" VALUES(19,2,'black-jack-for-time','2026-06-05',17,NULL,0,600,60,'{"decks":1}',1780633830,0,600,1200,1780633830,'win','{"net":1200}','second',1,NULL);
INSERT INTO "rounds" VALUES(119,1,'black-jack-for-time','2026-06-06',118,NULL,0,600,60,'{"decks":1}',1780720230,0,0,0,NULL,NULL,NULL,'second',1,NULL);
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
INSERT INTO "sysop_log" VALUES(1,1780527600,'Tester',1,'20 minutes added, Ann: for the test');
INSERT INTO "sysop_log" VALUES(2,1780527600,'Sysop',1,'1 minute taken out, Ann: took: it');
INSERT INTO "sysop_log" VALUES(3,1780527600,'Sysop',2,'5 minutes deposited, Bob: gift');
INSERT INTO "sysop_log" VALUES(4,1780527600,'Sysop',2,'5 minutes withdrawn, Bob: back');
INSERT INTO "sysop_log" VALUES(5,1780527600,'Sysop',1,'10 minutes moved from Ann to Bob by Sysop: a bet');
INSERT INTO "sysop_log" VALUES(6,1780527600,'Sysop',2,'10 minutes moved from Ann to Bob by Sysop: a bet');
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
INSERT INTO "transfers" VALUES(2,1,1,1780315200,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',1,1,'0c467144a4a712069eb9e6410c4e1bd12065dc2471245a289cb404d4b4dc99ef');
INSERT INTO "transfers" VALUES(3,1,2,1780315200,'returned',600,9,6,'Stake returned at Black Jack For Time (win)',1,1,'17c89bb3d500c3044fc36c40dc66e4e44df784a1fc568d4fa6713b447f2f10aa');
INSERT INTO "transfers" VALUES(4,2,2,1780315200,'won',900,16,6,'Won at Black Jack For Time (win)',1,1,'555faa8152ec943b3e187794b599a042c2a7da2e7a2cc302f6ad9b926956eade');
INSERT INTO "transfers" VALUES(5,1,1,1780315200,'stake',300,6,9,'Bet 5 minutes at Black Jack For Time',1,2,'d2204d9a26a545137e2563180c34c329756f3b32c1a2b759efc84767b04a5584');
INSERT INTO "transfers" VALUES(6,1,1,1780315200,'lost',300,9,16,'Lost at Black Jack For Time (lose)',1,2,'4ba4c3b8a9589f3f1a5359b4d1f13a361ee5d75b4b9c3fa9a3d1d87b11ca9492');
INSERT INTO "transfers" VALUES(7,1,2,1780315200,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',1,3,'4fdc7b917c69720c3ac669ad7081eaec453042efad67fad26af9a1b6eea9d750');
INSERT INTO "transfers" VALUES(8,2,2,1780315200,'returned',600,9,6,'Stake returned at Black Jack For Time (push)',1,3,'306ff16087c8683f8816bf15d9e21328e645a3c297d3524092f757ddf85e31a0');
INSERT INTO "transfers" VALUES(9,1,2,1780315260,'elapsed',60,6,2,'Time used on node 1',1,NULL,'d591e2d5337caf4e839d758ebd88370c47d087e98992e55cc43b17a061eef434');
INSERT INTO "transfers" VALUES(10,2,2,1780315260,'deposit',1800,6,8,'30 minutes deposited',1,NULL,'17bbf4d5da7927b815c6ff37b47a74bc902a0a2a3a0ccddbf1ff97236972ae20');
INSERT INTO "transfers" VALUES(11,1,1,1780315260,'transfer',900,8,13,'15 minutes sent by Ann to Bob: "thanks: for "the" hint"',1,NULL,'e17f83bedf8a89786318e8cd4d0716fe8db16f6f3a3504c8ffeaca9b59193079');
INSERT INTO "transfers" VALUES(12,1,1,1780315260,'withdraw',300,8,6,'5 minutes withdrawn',1,NULL,'1e7a94e7d4d5d049a7ca238bb5887b95bf8e5564126c0e3536d724ad9e5ef449');
INSERT INTO "transfers" VALUES(13,1,1,1780315260,'loan',600,10,6,'10 minutes borrowed',1,NULL,'3b427a52f55065291244cbaac4f07693456aaece2a13df1e763afc46f2176183');
INSERT INTO "transfers" VALUES(14,1,1,1780315260,'repay',240,6,10,'4 minutes of a loan repaid',1,NULL,'f0e447d32cca4c37d1c5c22f588ac2b42c566049e87fb28823a4ca44172198e5');
INSERT INTO "transfers" VALUES(15,1,1,1780315260,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',1,4,'09ce7f9760d98410edcbd852786c3db3b6e4f20991f7b81a5a846ca2d3989bdd');
INSERT INTO "transfers" VALUES(16,1,1,1780315260,'insurance',300,6,9,'Insurance for 5 minutes at Black Jack For Time',1,4,'520aceb0f314a7be06cf3f1b1bbde429ffcc3258656c264da1b8c824c07ab656');
INSERT INTO "transfers" VALUES(17,1,1,1780315260,'lost',300,9,16,'Lost at Black Jack For Time (lose)',1,4,'806d8d45531b9c79ba1083ef0d416336d11b638595498b21edd57cc605128785');
INSERT INTO "transfers" VALUES(18,1,2,1780315260,'lost',300,9,16,'Lost at Black Jack For Time (five card)',1,4,'dfa3cfd108e9809cd9e6e186afcace737858ba2b8339ec8f58d1783ca7e4bda6');
INSERT INTO "transfers" VALUES(19,2,2,1780315260,'returned',300,9,6,'Stake returned at Black Jack For Time (five card)',1,4,'464a78985f728e24b5f65ab4ad9a7fe71195ddac9f0e6c9255a94da8ef95c994');
INSERT INTO "transfers" VALUES(20,1,2,1780315260,'bankroll',10000000,20,17,'Bankroll of $100,000 for a new player',1,NULL,'d3bf4d5270ef4290c541391ec43ec844347a0bfe3dbe24744af81f78bd57284f');
INSERT INTO "transfers" VALUES(21,2,2,1780315260,'casino',100000000,20,19,'The bank is $1,000,000 again',1,NULL,'bf56211811ab4b0b1d0b59d6fd74483b668e85e717e195e7d9420af4067bc78e');
INSERT INTO "transfers" VALUES(22,1,2,1780315260,'stake',5000,17,18,'Bet $50 at Baccarat',1,5,'b9d30b1f60ce261c6212b07c5423dce4e259b5004cf3564b30d6adf4c7f2a03d');
INSERT INTO "transfers" VALUES(23,2,2,1780315260,'lost',5000,18,19,'Lost at Baccarat (banker)',1,5,'58c43d93c0d347b8cb3aa858d90f2cfe259a8ef221805371b015f38c014dad16');
INSERT INTO "transfers" VALUES(24,1,3,1780315260,'stake',10000,17,18,'Bet $100 at Baccarat',1,6,'77e53573eebefa17c304320c89ff6567ee6fe61c1a21ea4762d34a1d13597359');
INSERT INTO "transfers" VALUES(25,2,3,1780315260,'returned',10000,18,17,'Stake returned at Baccarat (player)',1,6,'e8d901784d4e410d3cc7b40165f49b90d80d85e7b490603d4f8e5da03323e6a7');
INSERT INTO "transfers" VALUES(26,3,3,1780315260,'won',50,19,17,'Won at Baccarat (player)',1,6,'c58f754647a09e9de775d01c786a64145310c860816eb79e725187d1e82a7efb');
INSERT INTO "transfers" VALUES(27,1,2,1780315260,'stake',200,21,18,'Bet $2 at UNIX bj',1,7,'ef8b0acd1c4bd8d3a6515ab0f7de71987f102135d64676a03b2f64c1a8c70b4b');
INSERT INTO "transfers" VALUES(28,2,2,1780315260,'lost',200,18,22,'Lost at UNIX bj (bust)',1,7,'619a727c0a62845f8c4e0d431cbd319c3308d32e4731a0e6c47f31b04d857b16');
INSERT INTO "transfers" VALUES(29,1,2,1780315320,'elapsed',60,6,2,'Time used on node 1',1,NULL,'4d81dda8e5c3821d4cb352ee361bf0cc1c04eb3fff29d90f693c4629f189bd8a');
INSERT INTO "transfers" VALUES(30,2,2,1780315320,'deposit',1800,6,8,'30 minutes deposited at log-off',1,NULL,'fab298b1f61fe4716c3baa1b4d9f0500b4c5e4be587265314d388215a64f6189');
INSERT INTO "transfers" VALUES(31,1,4,1780367400,'forfeit',540,6,3,'What was left of the minutes for 2026-06-01',2,NULL,'e17a426f3b480152494a075c81e9ab46b416e917b04dcd8493d53964428e2f3b');
INSERT INTO "transfers" VALUES(32,2,4,1780367400,'grant',3600,1,6,'60 minutes for 2026-06-02',2,NULL,'93dceadc35bbe8006386f7938aa6477e6c3e0dd2506ee323378d0b51599ee160');
INSERT INTO "transfers" VALUES(33,3,4,1780367400,'loan share',360,6,10,'6 minutes of the minutes for 2026-06-02 paid back on the loan',2,NULL,'fb7c5c2adfaeaeeb173c21dcf1c4e44ad3305021987384cf39020c6fe3c64db4');
INSERT INTO "transfers" VALUES(34,4,4,1780367400,'held',1440,6,7,'24 minutes more after Mail hour at 03:00',2,NULL,'9984acd6cb3cc0d934607de1d91b3cee31074636760fd7f715ee66bd61fa0dfc');
INSERT INTO "transfers" VALUES(35,1,1,1780367400,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',2,8,'704560613b0d38f0e0431c5d2dd865c4e6e6bccde7a7b27e9e0047dd4512828d');
INSERT INTO "transfers" VALUES(36,1,3,1780367400,'returned',600,9,6,'Stake returned at Black Jack For Time (win)',2,8,'95e64bca9dad042a250fea9a720cc45e5fe3d0a16986dd4d4aa1235a56184914');
INSERT INTO "transfers" VALUES(37,2,3,1780367400,'won',3000,16,6,'Won at Black Jack For Time (win)',2,8,'198e2e5c1f22a7a0082ba0b0d64b58a1d1d0dd40fc89610a4861c75c5d855857');
INSERT INTO "transfers" VALUES(38,3,3,1780367400,'clamp',3000,6,8,'50 minutes won past Mail hour at 03:00: put in the bank',2,8,'a004f65e84c41dbf78e1b5195fbec3b506adbd0073e418373723a18dfb02b460');
INSERT INTO "transfers" VALUES(39,1,2,1780367400,'elapsed',1,6,2,'Time used on node 1',2,NULL,'d6ea3a87d7f1c44053bd2f99c3fb33f057596d50abc6571d3590e25ab3039cc3');
INSERT INTO "transfers" VALUES(40,2,2,1780367400,'deposit',1440,6,8,'24 minutes deposited at log-off',2,NULL,'520335985c66d7b61ec05b6ade0321b637efe50f67ef6059751ed8476528bab2');
INSERT INTO "transfers" VALUES(41,1,1,1780372800,'release',1440,7,6,'24 minutes back after Mail hour at 03:00',3,NULL,'4bf9cc73b389e3d152016f16d96771405c0ea3ca69d79abba82e19222df662c3');
INSERT INTO "transfers" VALUES(42,1,2,1780372800,'elapsed',1,6,2,'Time used on node 1',3,NULL,'ecb094222f075bf11a70110cff6d080e6ed240e72d976dc85b670d33876ce62b');
INSERT INTO "transfers" VALUES(43,2,2,1780372800,'deposit',1440,6,8,'24 minutes deposited at log-off',3,NULL,'366f11274754df02d0d14303c69ec8c299d76ec94827ac96b754816a31949e6b');
INSERT INTO "transfers" VALUES(44,1,2,1780441200,'grant',3600,1,11,'60 minutes for 2026-06-02',4,NULL,'37677789221262196f7440a3ddbf10e11dcae546df0105edc3eac36a78e344b2');
INSERT INTO "transfers" VALUES(45,2,2,1780441200,'held',1800,11,12,'30 minutes more after Late: hour at 9 at 23:30, on another day',4,NULL,'069ed5426699ad1bfe6752b8f1fe25015a0b6345a8b9688176fede25aea0e575');
INSERT INTO "transfers" VALUES(46,1,1,1780441200,'stake',600,11,14,'Bet 10 minutes at Black Jack For Time',4,9,'e23fa1e28b829058c00ff5df06dbb0a6828cea7b020af3e0720caa51d1bae3fe');
INSERT INTO "transfers" VALUES(47,1,3,1780441200,'returned',600,14,11,'Stake returned at Black Jack For Time (win)',4,9,'3afe9b9be72f6de4dade925c4ac8c99556c24f464d6c75635dd37c0e48e6ce24');
INSERT INTO "transfers" VALUES(48,2,3,1780441200,'won',600,16,11,'Won at Black Jack For Time (win)',4,9,'b94e06d08ab1b5e6c0181972db6d688365734fe21503fa56cb59557e0f2011b9');
INSERT INTO "transfers" VALUES(49,3,3,1780441200,'clamp',600,11,13,'10 minutes won past Late: hour at 9 at 23:30: put in the bank',4,9,'2529b914f966529d7fd9af77486e401cc11c6b3db119a4ab6b5eec15194acd27');
INSERT INTO "transfers" VALUES(50,1,1,1780441200,'elapsed',1,11,2,'Time used on node 1',4,NULL,'6bc39ebfdab5f1b4660243d9ca2d7f3de818e3ebd94aba966810001fe02521c3');
INSERT INTO "transfers" VALUES(51,1,1,1780527600,'adjust',1200,5,8,'20 minutes added by Tester: for the test',NULL,NULL,'acf48672bab3ba29fc4e4ca72d692900cc2202e505f4dfe5f73a51db2aa16072');
INSERT INTO "transfers" VALUES(52,1,1,1780527600,'adjust',60,8,5,'1 minute taken out by Sysop: took: it',NULL,NULL,'c492de5555bf58eb2f04ff52c70dbbce937c5173c6c61e4e13f05e04aa5a2452');
INSERT INTO "transfers" VALUES(53,1,1,1780527600,'adjust',300,5,13,'5 minutes deposited by Sysop: gift',NULL,NULL,'54f4936ffb4f89ddfaae8c636597e11fcaa1a59b3967590de1e972d748333abb');
INSERT INTO "transfers" VALUES(54,1,1,1780527600,'adjust',300,13,5,'5 minutes withdrawn by Sysop: back',NULL,NULL,'99f64221b2ee3862971d09a5663f1bae0cf8d4bec13f2b2254ac8bd93b0013f1');
INSERT INTO "transfers" VALUES(55,1,1,1780527600,'transfer',600,8,13,'10 minutes moved from Ann to Bob by Sysop: a bet',NULL,NULL,'c918fbc847c35b2318c3fa414dd0f29281368b4a0164a820adfa154ffd6047e9');
INSERT INTO "transfers" VALUES(56,1,2,1780527600,'forfeit',358,6,3,'What was left of the minutes for 2026-06-02',5,NULL,'0d04b47dbc739c30e00dbe04def34fba0ba34830f37df1da77e2cba768ccc8d6');
INSERT INTO "transfers" VALUES(57,2,2,1780527600,'grant',3600,1,6,'60 minutes for 2026-06-03',5,NULL,'e233e1db8846c5f66770fe1db0b36d020ddfec4f5562036308c57a3392867828');
INSERT INTO "transfers" VALUES(58,1,1,1780527600,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',5,10,'d95788fec9343b9c6798ad43d113452f91775c7643b8aa1a9c94b623f21ccbb7');
INSERT INTO "transfers" VALUES(59,1,2,1780527600,'elapsed',1,6,2,'Time used on node 1',5,NULL,'3571b37901303375676b9bd2d507b5968e0305c0002439b1ac6bf0dfdd9cf2da');
INSERT INTO "transfers" VALUES(60,2,2,1780527600,'deposit',2640,6,8,'44 minutes deposited at log-off',5,NULL,'9dcce59efb12c4877497cc5f577fd85b17d4ebaa2bcdc02a843bab43308404ae');
INSERT INTO "transfers" VALUES(61,1,2,1780614000,'forfeit',359,6,3,'What was left of the minutes for 2026-06-03',6,NULL,'100bd82ece19e960a9659fc750e8e5dd63e27c474c04901077fd931fcc4615fe');
INSERT INTO "transfers" VALUES(62,2,2,1780614000,'grant',3600,1,6,'60 minutes for 2026-06-04',6,NULL,'6d12ce8c5efe64fb34ba1d29fa654abc9e31179297e5e44a87ae92f8a155db17');
INSERT INTO "transfers" VALUES(63,1,2,1780614000,'returned',600,9,6,'Stake returned at Black Jack For Time (push)',6,10,'2189f98825c96725faa038edeb31dcd2ad76c0850d1872d510bf53293546031e');
INSERT INTO "transfers" VALUES(64,2,2,1780614000,'forfeit',600,6,3,'A stake that was left of the minutes of an earlier day',6,10,'2beab6d8431b0a0531ee0a9de4685b508564725b871a1cbdcda72ccf11630e96');
INSERT INTO "transfers" VALUES(65,1,2,1780614000,'elapsed',1,6,2,'Time used on node 1',6,NULL,'b00cd1b1b9e425848ecaf84fda0bd6a98b1938ee43f719a83aa0574387affed2');
INSERT INTO "transfers" VALUES(66,2,2,1780614000,'deposit',3240,6,8,'54 minutes deposited at log-off',6,NULL,'b94af61626559f66c7372f1de92abe13631b239ba3af2676ac7abf12437c68ba');
INSERT INTO "transfers" VALUES(67,1,1,1780614000,'brought',3600,4,23,'60 minutes brought from Night: Owl',7,NULL,'bae4de13d1fa085a5bdc00837dc3b0a9ad89ffa9102e53cb67fef71e2a1f06b4');
INSERT INTO "transfers" VALUES(68,1,1,1780614000,'stake',600,23,26,'Bet 10 minutes at Black Jack For Time',7,11,'5cf5dad5b72fc21a975594b49fbe50d4bbc7f2460528feef2afc3f357c57dd33');
INSERT INTO "transfers" VALUES(69,1,2,1780614000,'returned',600,26,23,'Stake returned at Black Jack For Time (win)',7,11,'beb7b79c177d0c9ec7e908f5faac72038a3ef4b6fcc8b8e05fae74c64e1017cf');
INSERT INTO "transfers" VALUES(70,2,2,1780614000,'won',930,16,23,'Won at Black Jack For Time (win)',7,11,'fc19a5a7055089aa09a37147f945de9ccd5e9107665457db5137a8c7c399f203');
INSERT INTO "transfers" VALUES(71,1,4,1780614000,'elapsed',1,23,2,'Time used on node 1',7,NULL,'87ceca4e6088309e4fe2bd753ca613e7c1e5d82f12ab6e4e9a41160cd48fc97c');
INSERT INTO "transfers" VALUES(72,2,4,1780614000,'gain',930,23,25,'15 minutes 30 seconds gained on the visit from Night: Owl',7,NULL,'a012bf7ebe7ab4f8f8ddc0cfeef217fadd6f3363f9a03c35c5ff790ee586937e');
INSERT INTO "transfers" VALUES(73,3,4,1780614000,'given back',900,25,4,'15 minutes given back to Night: Owl',7,NULL,'73b83075e7894a7aab23810e7e57cd8574afc622817d804b60e4f4d4c305a490');
INSERT INTO "transfers" VALUES(74,4,4,1780614000,'taken home',3599,23,4,'59 minutes 59 seconds taken home to Night: Owl',7,NULL,'7c2077a5db0afa3f1599ff935ac02d965dc10759589027589513734e4ed9d5d5');
INSERT INTO "transfers" VALUES(75,1,1,1780614000,'brought',3600,4,23,'60 minutes brought from Night: Owl',8,NULL,'1cfc8c9c7cf1a29bae66d9b2e0d20c6d2af9c8ec95d1b47cbe56762100a99234');
INSERT INTO "transfers" VALUES(76,1,1,1780614000,'stake',600,23,26,'Bet 10 minutes at Black Jack For Time',8,12,'88eefce58bfe1a40660992a08eb5df3f6791a0fa88ae115210518bbde9a93c3d');
INSERT INTO "transfers" VALUES(77,1,1,1780614000,'lost',600,26,16,'Lost at Black Jack For Time (lose)',8,12,'bd9b6c5b6e589b5b68c4c7adee32d21d4bb056a8e52ac6739c744bca26cdabe0');
INSERT INTO "transfers" VALUES(78,1,3,1780614000,'elapsed',1,23,2,'Time used on node 1',8,NULL,'fa5458d28bf6d62563bcea9810a7f1aeb68b61e557a14efb10a8f6c2795b073a');
INSERT INTO "transfers" VALUES(79,2,3,1780614000,'taken home',2999,23,4,'49 minutes 59 seconds taken home to Night: Owl',8,NULL,'473f268391d8d559dc8c97da0d2341cadcd0249f8eb1bd2e63ab0e4be526c0b9');
INSERT INTO "transfers" VALUES(80,3,3,1780614000,'kept',900,4,25,'15 minutes that could not be given back to Night: Owl: put in the bank',8,NULL,'61485638c9e5bbd3057638eac8a0e9535a91a5dba02a7d371a7b0d166ddbbba2');
INSERT INTO "transfers" VALUES(81,1,1,1780614000,'brought',3000,4,23,'50 minutes brought from Night: Owl',9,NULL,'528d1c73f4b0bac7220f8e22ef11dd081e903081b3e13e66fc6ffe5fcd83debb');
INSERT INTO "transfers" VALUES(82,1,1,1780614000,'loan',600,27,23,'10 minutes borrowed',9,NULL,'e36ce12b19fa5c6e210b71b62aaad81503a83f69e8d40fb7b28732ef4bb18d14');
INSERT INTO "transfers" VALUES(83,1,1,1780614000,'stake',600,23,26,'Bet 10 minutes at Black Jack For Time',9,13,'7d5a0ce1b68612fe96561a98c879a3a7dced6aac3c11ff56274db97ba5b392fc');
INSERT INTO "transfers" VALUES(84,1,3,1780614000,'returned',600,26,23,'Stake returned at Black Jack For Time (win)',9,13,'7e8fc07ce72ade5006b1528114aa7226ab3fc448ea2748a38dfdeada3d041991');
INSERT INTO "transfers" VALUES(85,2,3,1780614000,'won',1200,16,23,'Won at Black Jack For Time (win)',9,13,'f873575f60e06c3001dc37721f537dc99dbcf65460100ffc4c0a8c159b8cc333');
INSERT INTO "transfers" VALUES(86,3,3,1780614000,'loan share',600,23,27,'10 minutes of the winnings paid back on the loan',9,13,'93b90d1b5a3de6e2a91dd790fa8b8bb6d0f89b6121f60bfa74af73179edd4856');
INSERT INTO "transfers" VALUES(87,1,3,1780614000,'elapsed',1,23,2,'Time used on node 1',9,NULL,'428d465860aaed48e162bb80e182ec5848b326f314c540388f370e3a3ba1083f');
INSERT INTO "transfers" VALUES(88,2,3,1780614000,'gain',600,23,25,'10 minutes gained on the visit from Night: Owl: put in the bank',9,NULL,'99699a2a3dbd10f7b9a24cc85ea868e57d2945f4a2af0e934cd86991d29349e3');
INSERT INTO "transfers" VALUES(89,3,3,1780614000,'taken home',3599,23,4,'59 minutes 59 seconds taken home to Night: Owl',9,NULL,'7d2f6d2a0c890e7b5de95995dc06ad337ba2ecce8263b108f4573f63891c80cd');
INSERT INTO "transfers" VALUES(90,1,1,1780614000,'brought',3600,4,23,'60 minutes brought from Night: Owl',10,NULL,'1de385ad11d67c31acc0a84ce33de2cb6550ea79ea755bffcea7e65ebe841f15');
INSERT INTO "transfers" VALUES(91,1,1,1780614000,'withdraw',300,25,23,'5 minutes withdrawn',10,NULL,'faed2059aeec82617dd8cce96e179073876e5cd2d5f5145d0c281bb8c066685f');
INSERT INTO "transfers" VALUES(92,1,3,1780614030,'elapsed',30,23,2,'Time used on node 1',10,NULL,'9a7723dfc968e3ff84e90e45e4982f3aba69663f24fbe2457ce53bdfd489dfd4');
INSERT INTO "transfers" VALUES(93,2,3,1780614030,'put back',300,23,25,'5 minutes of your own put back in the bank',10,NULL,'477274d6f4b971a8039c6708e3ea9dce0ea145454ff23bace7c49344a60dfa0a');
INSERT INTO "transfers" VALUES(94,3,3,1780614030,'taken home',3570,23,4,'59 minutes 30 seconds taken home to Night: Owl',10,NULL,'ffdd254eb199535fa89f8c7d96f221a8b956ba04b26e0477beba215ace469c64');
INSERT INTO "transfers" VALUES(95,1,1,1780614030,'brought',1800,4,23,'30 minutes brought from Night: Owl',11,NULL,'8ed600012c9ca6fe7a366d9fd335155c88f45b9700c3d8fd33f16d88a119426a');
INSERT INTO "transfers" VALUES(96,1,1,1780614030,'stake',300,23,26,'Bet 5 minutes at Black Jack For Time',11,14,'44c3f1dcf5099fe175aaf138fdba4aec23ae6812eca57a210b213fddfe5dd4fa');
INSERT INTO "transfers" VALUES(97,1,3,1780614030,'returned',300,26,23,'Stake returned at Black Jack For Time (win)',11,14,'21bc9098795c7cc2d4ee2a6485a3b37c053bb6813a988ec21f21db05c59da8cf');
INSERT INTO "transfers" VALUES(98,2,3,1780614030,'won',300,16,23,'Won at Black Jack For Time (win)',11,14,'a6cb4ecbe0ac810722b2ac9cf65cecdf1f127cc66420c8e2ec4b95159578f9ed');
INSERT INTO "transfers" VALUES(99,3,3,1780614030,'clamp',300,23,25,'5 minutes won past the end of your call at Night: Owl at 23:30: put in the bank',11,14,'c8f20d431f9d86d9f7481b598f7b1c12e52f4de96133a81e19d5da6034a12729');
INSERT INTO "transfers" VALUES(100,1,2,1780614030,'elapsed',1,23,2,'Time used on node 1',11,NULL,'78231c58d52464d87796a356524822742e332624b7eb1a458abc01e7099ca2b5');
INSERT INTO "transfers" VALUES(101,2,2,1780614030,'taken home',1799,23,4,'29 minutes 59 seconds taken home to Night: Owl',11,NULL,'ffd28e84682c5ed6532ab3ac5f6ae3111de38e51ca0270daae879a2089a7b5d6');
INSERT INTO "transfers" VALUES(102,1,1,1780614030,'brought',3600,4,23,'60 minutes brought from Night: Owl',12,NULL,'afb6ef424a5b33b46199f41f487433b6b37493a0a69c30a73822675d16023968');
INSERT INTO "transfers" VALUES(103,1,1,1780614030,'stake',600,23,26,'Bet 10 minutes at Black Jack For Time',12,15,'7f5a4fd201f04699d28e9eef7425940a9ec7dbc8613f2e5905dc1439234a81e6');
INSERT INTO "transfers" VALUES(104,1,2,1780614030,'returned',600,26,23,'Stake returned at Black Jack For Time (win)',12,15,'b545424729166c3e838eeb419adad810b2bf63aa8d5f47f9bb4b06e42841bec6');
INSERT INTO "transfers" VALUES(105,2,2,1780614030,'won',900,16,23,'Won at Black Jack For Time (win)',12,15,'f5fd2f3cf41896e331ecb363e41b33e61500924973b99e5d454d7d7e7fd59eca');
INSERT INTO "transfers" VALUES(106,1,4,1780614030,'elapsed',1,23,2,'Time used on node 1',12,NULL,'5d9da22b2d11e83d73e65affc05e185a6bcf01c19acde872f005964b02e3dd9a');
INSERT INTO "transfers" VALUES(107,2,4,1780614030,'gain',900,23,25,'15 minutes gained on the visit from Night: Owl',12,NULL,'cd450fb713bf9c848f730593f8afeeedc3eeff2e42b30d609eaa4c059fb8baf7');
INSERT INTO "transfers" VALUES(108,3,4,1780614030,'given back',900,25,4,'15 minutes given back to Night: Owl',12,NULL,'1247a076cd45680fc873b0eec972ff6ba180c6e922b630cee466dc2e998facd3');
INSERT INTO "transfers" VALUES(109,4,4,1780614030,'taken home',3599,23,4,'59 minutes 59 seconds taken home to Night: Owl',12,NULL,'ce801a3deca8c633e128040af9ad8fb5afdfe742ee4850c3f399052c1a347ad7');
INSERT INTO "transfers" VALUES(110,1,1,1780614030,'brought',3600,4,23,'60 minutes brought from Night: Owl',13,NULL,'53f64ef76bf72091e3c6f5c08076988cf269c2d99f553df3988e2b524fc97cad');
INSERT INTO "transfers" VALUES(111,1,3,1780614030,'elapsed',1,23,2,'Time used on node 1',13,NULL,'70f1218e55dd8f12eda67b28c40ca324a83cd0cb7d720b04fdbf0e75caad56f8');
INSERT INTO "transfers" VALUES(112,2,3,1780614030,'taken home',3599,23,4,'59 minutes 59 seconds taken home to Night: Owl',13,NULL,'8b64c09cea94ec6103967223c72999bebdd0a71140f489601c451b7af7b639f5');
INSERT INTO "transfers" VALUES(113,3,3,1780614030,'kept',900,4,25,'15 minutes that could not be given back to Night: Owl: put in the bank',13,NULL,'bafb5a52a31f712651fa7c49567e3930dbd79acfdd0d360ea1fe41cd91a0c783');
INSERT INTO "transfers" VALUES(114,1,4,1780626630,'forfeit',1799,11,3,'What was left of the minutes for 2026-06-02',14,NULL,'a02f6c984ed2aa4be84cada843264c06dba7279713439af8166d4d6d6890e027');
INSERT INTO "transfers" VALUES(115,2,4,1780626630,'forfeit',1800,12,3,'What was left of the minutes for 2026-06-02',14,NULL,'a59be20befe46ce8215d51b9a6d9c68528687b7d0e9b5c6fb74fba43821ac9dc');
INSERT INTO "transfers" VALUES(116,3,4,1780626630,'grant',3600,1,11,'60 minutes for 2026-06-05',14,NULL,'225aa74f576fca670efcaa152e49b2b695c2e0674acb1fbdf571240c0e9470e5');
INSERT INTO "transfers" VALUES(117,4,4,1780626630,'held',1830,11,12,'30 minutes 30 seconds more after Mail hour at 03:00',14,NULL,'e389d1edcc4d955fd2da034f1b8e08d74f9c26a3f92957282e30eae2cbe23eb3');
INSERT INTO "transfers" VALUES(118,1,1,1780626630,'stake',600,11,14,'Bet 10 minutes at Black Jack For Time',14,16,'4e36ad917429d639a39493635549b55c720c35286d787e2d05e079c807a368be');
INSERT INTO "transfers" VALUES(119,1,3,1780626630,'returned',600,14,11,'Stake returned at Black Jack For Time (win)',14,16,'6c8f55941dccc7eaceddd90dfe52fe1f65762e02e5ff45fbfd4dddcfeb28df1c');
INSERT INTO "transfers" VALUES(120,2,3,1780626630,'won',3600,16,11,'Won at Black Jack For Time (win)',14,16,'bd6c738980cfd6d4c8f8a1623d5f09ede81cc6c8cb612244ef76b5dab5118b15');
INSERT INTO "transfers" VALUES(121,3,3,1780626630,'clamp',3600,11,3,'60 minutes won past Mail hour at 03:00: forfeited, this board keeps no time bank',14,16,'9d9d5c634296751b682f083e3bda723c0d785951f9696177f1091e92f49e2d1c');
INSERT INTO "transfers" VALUES(122,1,1,1780626630,'elapsed',1,11,2,'Time used on node 1',14,NULL,'7df07a6c9a84b458f0a15986d8f3b4599a0e78fa680c44f55d16f19b8616bb4a');
INSERT INTO "transfers" VALUES(123,1,1,1780626630,'stake',600,11,14,'Bet 10 minutes at Black Jack For Time',15,17,'374e45f6b8088c82251acc7175fae7143dc8322aa4e6da830c73a916ac33744d');
INSERT INTO "transfers" VALUES(124,1,4,1780626630,'returned',600,14,11,'Stake returned at Black Jack For Time (win)',15,17,'2ac5b89ddc28b717753bcfc892b295f83c6297f06dcf60d8eac37a8fe1a9156f');
INSERT INTO "transfers" VALUES(125,2,4,1780626630,'won',3600,16,11,'Won at Black Jack For Time (win)',15,17,'77312bb56778bc5e0909af5d14dda6ea4af8d351aa0429419efb88e8fc66960e');
INSERT INTO "transfers" VALUES(126,3,4,1780626630,'clamp',3599,11,13,'59 minutes 59 seconds won past Mail hour at 03:00: put in the bank',15,17,'123cfc7bc342a695c17acc9a0d0c3314c240d6b29db8425d1317740f25598dd2');
INSERT INTO "transfers" VALUES(127,4,4,1780626630,'external',3540,13,4,'59 minutes passed on through THEBANK.EXT',15,17,'3b7a71813a0ae040b7260d863a6688081c300c746849b31b7db990a4edea45a8');
INSERT INTO "transfers" VALUES(128,1,1,1780626630,'elapsed',1,11,2,'Time used on node 1',15,NULL,'8971df348130f1bfee17ef1dbdff610698baf1075bd876bbaa70d9ba39cf63fe');
INSERT INTO "transfers" VALUES(129,1,1,1780633830,'grant',3600,1,28,'60 minutes for 2026-06-05',16,NULL,'11748359880d57527d1c7a7eacaac8fc95c35ae3600f8aecc5b06ff436d1286d');
INSERT INTO "transfers" VALUES(130,1,1,1780633830,'stake',600,28,31,'Bet 10 minutes at Black Jack For Time',16,18,'875c6bfa4d260f8d23cecc0b86183166c7e7fa1be6bbaa1796b5b4fe7d4b05f1');
INSERT INTO "transfers" VALUES(131,1,1,1780633830,'elapsed',1,28,2,'Time used on node 1',16,NULL,'79e699919916f5938167c8c15af53cccdfe21a7a0453c81933faacd9e18bc35a');
INSERT INTO "transfers" VALUES(132,1,2,1780633830,'deletion',600,31,3,'Carl was deleted: hand void',NULL,18,'7b22201fcc65ae8e1058297c212c946c13b0bba7540c091609a1acf2cdedb262');
INSERT INTO "transfers" VALUES(133,2,2,1780633830,'deletion',2999,28,3,'Carl was deleted',NULL,NULL,'c8a3c83a17ebb99efddfc1aec1084d69e4b86ad8c831db6595a0267409b88ffa');
INSERT INTO "transfers" VALUES(134,1,1,1780633830,'import',60,4,8,'1 minute from A (door), line 2 of (IN.EXT, line 1 of import 1)',NULL,NULL,'fc6beb1cec060020977363d2640df982de398035f20f2cf7e8f7bff0e98aa759');
INSERT INTO "transfers" VALUES(135,1,1,1780633830,'import',60,8,4,'1 minute taken by Door (IN.EXT, line 2 of import 1)',NULL,NULL,'ce65442be7f80f311d6b2a08c3eb4f6528fd2d8393c4b6973339f86e3dc454d6');
INSERT INTO "transfers" VALUES(136,1,1,1780633830,'release',1830,12,11,'30 minutes 30 seconds back after Mail hour at 03:00',17,NULL,'761b28c9e02bb5feaa2b638b7dbd4222077f670a656e14e24dbc5eec3660db31');
INSERT INTO "transfers" VALUES(137,1,1,1780633830,'stake',600,11,14,'Bet 10 minutes at Black Jack For Time',17,19,'a1cd62e7d0790e4e38f9afa7b36d0f22224f1e2b8fb0c870fb78178415ef58c7');
INSERT INTO "transfers" VALUES(138,1,2,1780633830,'returned',600,14,11,'Stake returned at Black Jack For Time (win)',17,19,'79ef4933d559f6845b7393a47643de89da5b6eeb5b9f92e88c179c281493c354');
INSERT INTO "transfers" VALUES(139,2,2,1780633830,'won',1200,16,11,'Won at Black Jack For Time (win)',17,19,'e4bbed7f64e0b4bdf516981b04bc360b4f6ee4153d003026256d695cea18233f');
INSERT INTO "transfers" VALUES(140,1,1,1780633830,'elapsed',1,11,2,'Time used on node 1',17,NULL,'95756865b7e45f1e099c67b328720df5f6c1a7df86ebfc6270846d9be73a834e');
INSERT INTO "transfers" VALUES(141,1,3,1780720230,'forfeit',3597,11,3,'What was left of the minutes for 2026-06-05',18,NULL,'78d47fb3baa8c7621f3c391e1fe0395561f533af322c64eb01be56d995896de5');
INSERT INTO "transfers" VALUES(142,2,3,1780720230,'carry',1201,11,13,'Earned on 2026-06-05: put in the bank',18,NULL,'1ab6209c1beec09861f2bc1c9e3309cf68116324df47c94a25b6cb75ad6a6d42');
INSERT INTO "transfers" VALUES(143,3,3,1780720230,'grant',3600,1,11,'60 minutes for 2026-06-06',18,NULL,'7e6c7f915db60b2058f83fbb24b4602482c84d5ff16104f5ec45a8e8e6282d27');
INSERT INTO "transfers" VALUES(144,1,1,1780720230,'elapsed',1,11,2,'Time used on node 1',18,NULL,'c9dbd588d2fa24abf41fe5348c3f894e132a60e5d38bfb407564b2769203ae8f');
INSERT INTO "transfers" VALUES(244,1,2,1780720230,'forfeit',359,6,3,'What was left of the minutes for 2026-06-04',118,NULL,'c7116202b918911611501b68cca4efca6e5204e59a88bb96790b0316dc3151d3');
INSERT INTO "transfers" VALUES(245,2,2,1780720230,'grant',3600,1,6,'60 minutes for 2026-06-06',118,NULL,'6737d4493a8cd557a56250f4d6e6d11d0bded0932e0d5b349deff37eea74adfa');
INSERT INTO "transfers" VALUES(246,1,1,1780720230,'stake',600,6,9,'Bet 10 minutes at Black Jack For Time',118,119,'935d681d590364abcc5c7fdfaa489dfff78f23d3867bcc3b3fc7dd4348c44466');
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
INSERT INTO "visits" VALUES(1,3,7,'2026-06-04',3600,3600,NULL,'moduser',0,0,0,0,0,3600,0,1780614000,1,930,0,0,0,0,0,0,930,0,3599,0,0,0);
INSERT INTO "visits" VALUES(2,3,8,'2026-06-04',3600,3600,NULL,NULL,1,0,0,0,0,3600,0,1780614000,1,-600,0,0,600,0,0,0,0,0,2999,0,0,0);
INSERT INTO "visits" VALUES(3,3,9,'2026-06-04',3600,3600,NULL,NULL,0,600,0,0,0,3000,0,1780614000,1,1200,600,600,0,0,0,0,600,0,3599,0,0,0);
INSERT INTO "visits" VALUES(4,3,10,'2026-06-04',3600,3600,NULL,NULL,0,0,0,0,0,3600,300,1780614030,30,0,0,0,0,0,0,0,0,300,3570,0,0,0);
INSERT INTO "visits" VALUES(5,3,11,'2026-06-04',3600,3600,1780615830,NULL,0,0,0,0,0,1800,-300,1780614030,1,300,0,0,0,0,0,0,0,0,1799,0,0,0);
INSERT INTO "visits" VALUES(6,3,12,'2026-06-04',3600,3600,NULL,'moduser',0,0,0,0,0,3600,0,1780614030,1,900,0,0,0,0,0,0,900,0,3599,0,0,0);
INSERT INTO "visits" VALUES(7,3,13,'2026-06-04',3600,3600,NULL,NULL,0,0,0,0,0,3600,0,1780614030,1,0,0,0,0,0,0,0,0,0,3599,0,0,0);
CREATE INDEX callers_by_skeleton ON callers (skeleton) WHERE deleted IS NULL;
CREATE UNIQUE INDEX one_living_caller_a_key ON callers (board, board_key) WHERE deleted IS NULL AND board IS NOT NULL;
CREATE UNIQUE INDEX one_living_caller_a_name ON callers (fold) WHERE deleted IS NULL;
CREATE INDEX imports_kept ON imports (kept);
CREATE INDEX imports_to_do ON imports (path) WHERE state <> 'closed';
CREATE INDEX banks_by_balance ON accounts (balance) WHERE kind = 'bank' AND unit = 'second';
CREATE UNIQUE INDEX one_house_a_game ON accounts (game, unit) WHERE kind = 'house';
CREATE UNIQUE INDEX one_mint_a_unit ON accounts (unit) WHERE kind = 'mint';
CREATE UNIQUE INDEX one_open_call_a_caller ON calls (caller_id) WHERE closed IS NULL;
CREATE INDEX notices_to_show ON notices (caller_id) WHERE shown IS NULL;
CREATE UNIQUE INDEX one_open_shoe_a_game ON shoes (caller_id, game) WHERE closed IS NULL;
CREATE UNIQUE INDEX one_open_shoe_a_table ON shoes (game) WHERE closed IS NULL AND caller_id IS NULL;
CREATE UNIQUE INDEX one_round_a_seat ON rounds (lead, seat) WHERE lead IS NOT NULL;
CREATE UNIQUE INDEX one_round_in_play ON rounds (caller_id) WHERE settled IS NULL;
CREATE INDEX rounds_of_a_shoe ON rounds (shoe_id);
CREATE INDEX turns_of_a_day ON rounds (caller_id, day, unit, game);
CREATE INDEX visits_of_a_caller ON visits (caller_id);
CREATE INDEX visits_of_a_day ON visits (caller_id, day);
CREATE INDEX transfers_from ON transfers (source);
CREATE INDEX transfers_of_a_round ON transfers (round_id) WHERE round_id IS NOT NULL;
CREATE INDEX transfers_to ON transfers (target);
CREATE INDEX given_back_of_a_caller ON given_back (caller_id, state);
CREATE INDEX import_lines_to_tell ON import_lines (import_id) WHERE told = 0;
CREATE INDEX outbox_to_do ON outbox (number) WHERE state <> 'appended';
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
    INSERT INTO results (day, caller_id, game, unit, hands, lost, won)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won;
    INSERT INTO results_ever (caller_id, game, unit, hands, lost, won)
    VALUES (NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won;
        END;
CREATE TRIGGER rounds_that_are_settled_count AFTER UPDATE OF settled ON rounds
        WHEN OLD.settled IS NULL AND NEW.settled IS NOT NULL AND NEW.outcome <> 'void'
        BEGIN 
    INSERT INTO results (day, caller_id, game, unit, hands, lost, won)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won;
    INSERT INTO results_ever (caller_id, game, unit, hands, lost, won)
    VALUES (NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won;
        END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('accounts',131);
INSERT INTO "sqlite_sequence" VALUES('callers',103);
INSERT INTO "sqlite_sequence" VALUES('calls',118);
INSERT INTO "sqlite_sequence" VALUES('transfers',246);
INSERT INTO "sqlite_sequence" VALUES('rounds',119);
INSERT INTO "sqlite_sequence" VALUES('notices',110);
INSERT INTO "sqlite_sequence" VALUES('sysop_log',105);
INSERT INTO "sqlite_sequence" VALUES('visits',106);
INSERT INTO "sqlite_sequence" VALUES('given_back',101);
INSERT INTO "sqlite_sequence" VALUES('imports',100);
INSERT INTO "sqlite_sequence" VALUES('shoes',99);
COMMIT;
