"""The mutants, by the rooms of the program.

Each is one plain mistake in a line that holds minutes, hands or trust: a second, a day or a minute
too many, a step left out, another account, a check that always says yes. `verify.simulate.faults`
has others, which take whole parts of the program out; none of them is here again.
"""

from __future__ import annotations

from verify.mutants.mutant import Mutant

_LEDGER = (
    Mutant(
        "The digest of a transfer does not cover the hand that it belongs to.",
        "timebank/ledger/chain.py",
        "{source} {target} {call} {hand}",
        "{source} {target} {call} -",
    ),
    Mutant(
        "An entry may turn seconds into cents, as far as `transfer` looks.",
        "timebank/ledger/transfers.py",
        "if amount <= 0 or source.unit != target.unit:",
        "if amount <= 0:",
    ),
    Mutant(
        "The rows of an entry are told with numbers that are one too low.",
        "timebank/ledger/transfers.py",
        "TransferRow(first + place,",
        "TransferRow(first + place - 1,",
    ),
    Mutant(
        "A day begins again when the clock goes back to it.",
        "timebank/ledger/entry.py",
        "if today <= self.day:",
        "if today == self.day:",
    ),
    Mutant(
        "Seconds that wait in the bank for a whole minute never go out through THEBANK.EXT.",
        "timebank/ledger/entry.py",
        'waiting = self.balance["bank"] % MINUTE',
        "waiting = 0",
    ),
    Mutant(
        "What goes out through THEBANK.EXT is rounded up to whole minutes.",
        "timebank/ledger/entry.py",
        "whole = seconds // MINUTE * MINUTE",
        "whole = -(-seconds // MINUTE) * MINUTE",
    ),
    Mutant(
        "Held time is said to meet another day although the event ends on the same one.",
        "timebank/ledger/entry.py",
        "schedule.day_of(self.closing.end) > self._date()",
        "schedule.day_of(self.closing.end) >= self._date()",
    ),
    Mutant(
        "What was earned and is held leaves the time on line when the day changes.",
        "timebank/ledger/entry.py",
        "self.put_away(self.held, kept_held,",
        "self.put_away(self.online, kept_held,",
    ),
    Mutant(
        "What an earlier day left on the table counts as the day's own stake once more.",
        "timebank/ledger/entry.py",
        "own = stake - self.standing",
        "own = stake",
    ),
    Mutant(
        "What a frozen caller earned is of the grant on the next day.",
        "timebank/ledger/entry.py",
        "self._carried += kept",
        "self._carried += 0",
    ),
    Mutant(
        "What an event cuts off winnings goes into a frozen account.",
        "timebank/ledger/entry.py",
        "won = 0 if self._puts_nothing_away else min(surplus, winnings)",
        "won = min(surplus, winnings)",
    ),
    Mutant(
        "A deposit takes from what was earned.",
        "timebank/ledger/entry.py",
        "        row.kind != reasons.Deposited.KIND,\n",
        "",
    ),
    Mutant(
        "A loan that was paid back on its day is banked when the day ends.",
        "timebank/ledger/entry.py",
        "or_(row.kind != reasons.Repaid.KIND, row.id > first_loan.scalar_subquery()),",
        "row.kind != reasons.Repaid.KIND,",
    ),
    Mutant(
        "An entry that came back is banked a second time when the day ends.",
        "timebank/ledger/entry.py",
        "or_(row.kind != reasons.Entered.KIND, row.id.in_(given_back)),",
        "row.kind != reasons.Entered.KIND,",
    ),
    Mutant(
        "What is lost of an earlier day's stake still counts as being on the table.",
        "timebank/ledger/entry.py",
        'left = min(self.standing - gone, self.balance["stake"])',
        "left = self.standing - gone",
    ),
    Mutant(
        "A host's event does not end the time of its caller when ours comes later.",
        "timebank/ledger/entry.py",
        "if closing is None or until < closing.start:",
        "if closing is None:",
    ),
    Mutant(
        "The gain of a guest who is behind counts as winnings that may be saved.",
        "timebank/ledger/entry.py",
        "winnings = min(winnings, self.ahead())",
        "winnings = winnings or self.ahead()",
    ),
    Mutant(
        "Books that have lost their last transaction are taken for whole.",
        "timebank/ledger/sqlite/high_water.py",
        "if missing <= 0:",
        "if missing <= 1:",
    ),
    Mutant(
        "A damaged record of how far the books have come is believed.",
        "timebank/ledger/sqlite/high_water.py",
        "return number if record == _record(number) else 0",
        "return number",
    ),
    Mutant(
        "A generation may begin with the last number that was given before it.",
        "timebank/ledger/generations.py",
        "if any(firsts[table] <= last[table]",
        "if any(firsts[table] < last[table]",
    ),
    Mutant(
        "What a failed COMMIT has left is told as kept before it is on the disk.",
        "timebank/ledger/sqlite/doubt.py",
        "if self._is_revived and not sqlite.carried_over(connection):",
        "if self._is_revived and connection.closed:",
    ),
    Mutant(
        "Books whose mark nobody knows are taken for those that were served last.",
        "timebank/ledger/sqlite/live_mark.py",
        "if mark not in note.marks:",
        "if not note.marks:",
    ),
    Mutant(
        "What a guest used beyond the host's time is not taken off their own.",
        "timebank/ledger/visit.py",
        "beyond = max(0, charged - max(self.clock, self.brought + self.standing))",
        "beyond = 0",
    ),
    Mutant(
        "A guest's loan is paid at the exit only out of what was won.",
        "timebank/ledger/visit.py",
        "loan_paid = min(loan, out)",
        "loan_paid = min(loan, gain)",
    ),
)

_WAGERS = (
    Mutant(
        "A stake may take the last coin out of the pot.",
        "timebank/wagers/stakes.py",
        "if usable - amount < coin:",
        "if usable - amount < 0:",
    ),
    Mutant(
        "A bankroll's bank is not asked for what already stands on the table.",
        "timebank/wagers/stakes.py",
        "if self.standing + amount > casino:",
        "if amount > casino:",
    ),
    Mutant(
        "What is won goes onto the table and not into the purse.",
        "timebank/wagers/stakes.py",
        "self._posting.move(bank, self.purse, won, Won(*of))",
        "self._posting.move(bank, self.table, won, Won(*of))",
    ),
    Mutant(
        "A win does not raise what a caller may still lose by their own limit.",
        "timebank/wagers/stakes.py",
        "self._posting.has_lost(lost - won)",
        "self._posting.has_lost(lost)",
    ),
    Mutant(
        "A settlement in mid-hand may take everything off the table.",
        "timebank/wagers/rounds.py",
        "if settlement.final else settled < standing",
        "if settlement.final else settled <= standing",
    ),
    Mutant(
        "Cards of a shoe may be dealt a second time.",
        "timebank/wagers/wagers.py",
        "wager.start < gone",
        "wager.start < 0",
    ),
    Mutant(
        "The action that ends a hand is not journaled.",
        "timebank/wagers/wagers.py",
        "        rounds.write_action(posting.desk, posting.call_id, move)\n",
        "        if settlement is None:\n"
        "            rounds.write_action(posting.desk, posting.call_id, move)\n",
    ),
    Mutant(
        "A table takes an action that passes over one.",
        "timebank/wagers/wagers.py",
        "if move.sequence != last + 1:",
        "if move.sequence <= last:",
    ),
    Mutant(
        "One more turn a day may be played than the sysop allows.",
        "timebank/wagers/wagers.py",
        "turns >= wager.turns_limit",
        "turns > wager.turns_limit",
    ),
    Mutant(
        "A hand that nobody returned to is stood a day too early.",
        "timebank/wagers/journal.py",
        "OVERDUE_AFTER = timedelta(days=1)",
        "OVERDUE_AFTER = timedelta(days=0)",
    ),
    Mutant(
        "A bank that has won keeps what it has above its full size.",
        "timebank/wagers/play_money.py",
        "posting.move(casino, source, -missing, reason)",
        "posting.move(casino, source, 0, reason)",
    ),
    Mutant(
        "A bankroll lost after midnight, in a hand of the day before, comes back at once.",
        "timebank/wagers/play_money.py",
        "lost_on = max(schedule.day_of(instant(at)).isoformat(), day)",
        "lost_on = day",
    ),
)

_CALLS = (
    Mutant(
        "A lease dies a second too early.",
        "timebank/calls/calls.py",
        "return _age(desk, lease) <= LEASE_SECONDS",
        "return _age(desk, lease) < LEASE_SECONDS",
    ),
    Mutant(
        "The age of a lease from before a new start of the machine is counted from the new one.",
        "timebank/calls/calls.py",
        "        if lease.boot == here.boot:",
        "        if True:",
    ),
    Mutant(
        "A call that is taken over is charged only to its last renewal.",
        "timebank/calls/calls.py",
        "since = min(max(0, int(_age(desk, lease))), LEASE_SECONDS)",
        "since = 0",
    ),
    Mutant(
        "A visit that is found dead ends on the day on which it is found.",
        "timebank/calls/calls.py",
        "parting = _leave(posting, instant(lease.renewed))",
        "parting = _leave(posting, desk.now)",
    ),
    Mutant(
        "A caller who is locked out may open a call.",
        "timebank/calls/calls.py",
        "    if caller.locked:\n",
        "    if caller.locked and take_over:\n",
    ),
    Mutant(
        "Time servers need to agree only twice in a row, however soon.",
        "timebank/calls/clock.py",
        "if uptime - known.agreed < AGREED:",
        "if uptime < known.agreed:",
    ),
    Mutant(
        "The clock of a machine that was off for long is not doubted.",
        "timebank/calls/clock.py",
        "belief, certain=False, sure=last",
        "belief, certain=True, sure=last",
    ),
    Mutant(
        "A guest brings all the time that the host shows, whatever share was agreed.",
        "timebank/calls/arrival.py",
        "most = visit.clock * brought.share // 100",
        "most = visit.clock",
    ),
    Mutant(
        "What of the host's minutes stands on the table is brought a second time.",
        "timebank/calls/arrival.py",
        "amount = max(0, most - visit.debt - visit.standing)",
        "amount = max(0, most - visit.debt)",
    ),
    Mutant(
        "The allowance of a day is given again with each call of it.",
        "timebank/calls/arrival.py",
        "brought.allowance - used_on(desk, caller_id, visit.day)",
        "brought.allowance",
    ),
)

_WINDOW = (
    Mutant(
        "Nothing needs to stay on the clock after a deposit.",
        "timebank/window/allowance.py",
        "yield Bound(online - keep, said, NotEnough)",
        "yield Bound(online, said, NotEnough)",
    ),
    Mutant(
        "What was sent to others today may be borrowed again.",
        "timebank/window/allowance.py",
        "self._today.get(kind, 0) for kind in kinds)",
        "self._today.get(kind, 0) for kind in kinds[:1])",
    ),
    Mutant(
        "A new caller is known a day too late.",
        "timebank/window/allowance.py",
        "if self.settings.schedule.day_of(self.posting.desk.now) < known:",
        "if self.settings.schedule.day_of(self.posting.desk.now) <= known:",
    ),
    Mutant(
        "The last part of a minute of a loan cannot be paid back.",
        "timebank/window/allowance.py",
        "whole = (owed + MINUTE - 1) // MINUTE * MINUTE",
        "whole = owed // MINUTE * MINUTE",
    ),
    Mutant(
        "A frozen account takes in what others send.",
        "timebank/window/allowance.py",
        "if other.frozen or self.settings.is_barred(other.name):",
        "if self.settings.is_barred(other.name):",
    ),
    Mutant(
        "The sysop cannot fill an account to the brim.",
        "timebank/window/sysop.py",
        "if account.balance + seconds > most:",
        "if account.balance + seconds >= most:",
    ),
    Mutant(
        "The sysop's withdrawal is a deposit.",
        "timebank/window/sysop.py",
        "return _post(desk, account, -seconds, reasons.SysopWithdrew(",
        "return _post(desk, account, seconds, reasons.SysopWithdrew(",
    ),
    Mutant(
        "The window closes a minute too late.",
        "timebank/settings/hours.py",
        "any(start <= minute < end for start, end in self.spans)",
        "any(start <= minute <= end for start, end in self.spans)",
    ),
)

_GUESTS = (
    Mutant(
        "A loss of just one minute is not shown to the host.",
        "timebank/guests/claims.py",
        "if lost >= MINUTE:",
        "if lost > MINUTE:",
    ),
    Mutant(
        "A gain that never arrived, says the sysop, is put down as kept, and nobody has it.",
        "timebank/guests/claims.py",
        "    if row.minutes < 0:\n",
        "    if row.minutes:\n",
    ),
    Mutant(
        "Seconds in a frozen account leave it together with a gain.",
        "timebank/guests/departure.py",
        'waiting = 0 if posting.is_frozen else posting.balance["bank"] % MINUTE',
        'waiting = posting.balance["bank"] % MINUTE',
    ),
    Mutant(
        "What a guest puts back fills the account past what it may hold.",
        "timebank/guests/departure.py",
        'beyond = min(amount, max(0, posting.balance["bank"] + amount - most))',
        "beyond = 0",
    ),
    Mutant(
        "What a guest leaves with is taken from the time on line alone.",
        "timebank/guests/departure.py",
        "return [(posting.online, first), (posting.held, amount - first)]",
        "return [(posting.online, first), (posting.online, amount - first)]",
    ),
)

_THEBANK = (
    Mutant(
        "A record that takes minutes out puts them in.",
        "timebank/thebank/format.py",
        "    return int(field)\n",
        "    return abs(int(field))\n",
    ),
    Mutant(
        "A semicolon in a name makes two fields of it.",
        "timebank/thebank/format.py",
        'for character in text.replace(";", ","):',
        "for character in text:",
    ),
    Mutant(
        "A file that another one of its length or more has replaced is read on from the middle.",
        "timebank/thebank/format.py",
        "st_size >= self.offset and digest(file, self.offset) == self.recent",
        "st_size >= self.offset",
    ),
    Mutant(
        "A record is written behind a line that has no end.",
        "timebank/thebank/outbox.py",
        "line = LINE_END + line",
        "line = line + b''",
    ),
    Mutant(
        "A record that was cut off in the middle is written once more, and not completed.",
        "timebank/thebank/outbox.py",
        "mark.line[len(content) :]",
        "mark.line",
    ),
    Mutant(
        "An import fills an account past what it may hold.",
        "timebank/thebank/bookings.py",
        "if balance + seconds > most:",
        "if seconds > most:",
    ),
    Mutant(
        "An import may go into an account of a caller who may not use the bank.",
        "timebank/thebank/bookings.py",
        "if desk.settings.is_barred(caller.name):",
        "if desk.settings.is_barred(name) and caller.frozen:",
    ),
)

_CALLERS = (
    Mutant(
        "What a hand lost before it ended is missing from what its caller lost that day.",
        "timebank/wagers/rounds.py",
        "lost=hand.lost + settlement.lost,",
        "lost=settlement.lost,",
    ),
    Mutant(
        "A hand that comes out even ends a row of hands that were lost.",
        "timebank/callers/hand_counts.py",
        "if net == 0:",
        "if net == 0 and self.streak > 0:",
    ),
    Mutant(
        "Any recovery code lets a caller in who has none.",
        "timebank/callers/recovery.py",
        'hmac.compare_digest(kept or "", digest)',
        "hmac.compare_digest(kept or digest, digest)",
    ),
    Mutant(
        "A password is stored although another one was chosen meanwhile.",
        "timebank/callers/recovery.py",
        "if secrets_of(desk, caller_id) != before:",
        "if secrets_of(desk, caller_id).digest != before.digest:",
    ),
    Mutant(
        "Keys of an earlier version are not renewed before names are compared.",
        "timebank/names/look_alikes.py",
        "    renew(run)\n",
        "",
    ),
    Mutant(
        "Bill and BI11 are two names.",
        "timebank/names/names.py",
        ".translate(_FILED).translate(_ALIKE)",
        ".translate(_FILED)",
    ),
)

_AUDIT = (
    Mutant(
        "The audit does not mind a balance below what its rows add up to.",
        "timebank/audit/accounts.py",
        "if account.kept != account.recomputed:",
        "if account.kept > account.recomputed:",
    ),
    Mutant(
        "The audit takes the first row that does not fit the chain for one that does.",
        "timebank/audit/chain.py",
        "if follows and row.made(self._link) != row.digest:",
        "if follows and self._bad and row.made(self._link) != row.digest:",
    ),
    Mutant(
        "The audit does not mind an entry whose last rows are gone.",
        "timebank/audit/accounts.py",
        "        if self.seen < self.size:\n",
        "        if self.seen > self.size:\n",
    ),
    Mutant(
        "The audit passes over another caller's transfers in a hand.",
        "timebank/audit/rounds.py",
        "if hand.strangers or hand.others:",
        "if hand.others:",
    ),
    Mutant(
        "The audit does not mind what is left on the table of a settled hand.",
        "timebank/audit/rounds.py",
        "if hand.settled and standing:",
        "if hand.settled and standing < 0:",
    ),
    Mutant(
        "The audit believes a visit that says less than its transfers.",
        "timebank/audit/guests.py",
        "if says != moves:",
        "if says > moves:",
    ),
    Mutant(
        "A checkpoint that was changed is believed.",
        "timebank/audit/checkpoints.py",
        "if digest_of(text) != digest:",
        "if not digest:",
    ),
    Mutant(
        "A checkpoint does not know of a hand that is open.",
        "timebank/audit/checkpoints.py",
        "select(func.coalesce(opened, highest(number) + 1))",
        "select(highest(number) + 1)",
    ),
    Mutant(
        "A checkpoint is left of balances that its rows do not add up to.",
        "timebank/audit/accounts.py",
        "if self._held != self._mark.balances:",
        "if not self._held:",
    ),
    Mutant(
        "After a checkpoint the audit begins with the balances that the books have now.",
        "timebank/audit/accounts.py",
        "account.recomputed = then.balance",
        "account.recomputed = account.kept",
    ),
    Mutant(
        "After a checkpoint the audit does not mind an account that became another one.",
        "timebank/audit/accounts.py",
        "if now != then:",
        "if now.id != then.id:",
    ),
    Mutant(
        "After a checkpoint the audit does not mind an account put in before it.",
        "timebank/audit/accounts.py",
        "and number <= checkpoint.last_account:",
        "and number <= 0 < number:",
    ),
    Mutant(
        "Time charged to a call that was over at a checkpoint is passed over.",
        "timebank/audit/accounts.py",
        "for (number,) in list(chosen(_CHARGED_LATE, desk, since)):",
        "for (number,) in list(chosen(_CHARGED_LATE, desk, since))[:0]:",
    ),
    Mutant(
        "Transfers of a hand that was over at a checkpoint are passed over.",
        "timebank/audit/rounds.py",
        "for (number,) in list(chosen(_NAMED_LATE, desk, since)):",
        "for (number,) in list(chosen(_NAMED_LATE, desk, since))[:0]:",
    ),
    Mutant(
        "Books with another last digest are taken for those of a checkpoint.",
        "timebank/audit/chain.py",
        "elif digest != checkpoint.digest:",
        "elif row is None:",
    ),
    Mutant(
        "A later generation that was changed is no reason against a checkpoint.",
        "timebank/audit/chain.py",
        "if known[: len(checkpoint.generations)] != checkpoint.generations:",
        "if len(known) < len(checkpoint.generations):",
    ),
    Mutant(
        "The nightly check begins with the oldest checkpoint that is kept.",
        "timebank/keeping/kept_checkpoints.py",
        "newest = max(readable,",
        "newest = min(readable,",
    ),
    Mutant(
        "What an audit of everything found is not told the next night.",
        "timebank/cli/common.py",
        "return Wrong([*findings, *earlier], len(earlier), last.more)",
        "return Wrong(findings)",
    ),
)

_KEEPING = (
    Mutant(
        "A backup does not say that it is one.",
        "timebank/keeping/backup.py",
        "restoring.marked_as_copy(connection, now)",
        "connection.commit()",
    ),
    Mutant(
        "A backup that is not in order takes the place of the books.",
        "timebank/keeping/backup.py",
        "if audited.findings:",
        "if audited.findings and not audited.transfers:",
    ),
    Mutant(
        "A restore that is killed half-way leaves old books that nobody knows.",
        "timebank/keeping/backup.py",
        "marks=[*old_marks, *note.marks]",
        "marks=[*note.marks]",
    ),
    Mutant(
        "A restore goes on while somebody is on a call.",
        "timebank/keeping/backup.py",
        "if on_call := _on_call(lock, path, now):",
        "if (on_call := _on_call(lock, path, now)) and len(on_call) > 1:",
    ),
    Mutant(
        "The nightly work is done although the clock is in doubt.",
        "timebank/keeping/maintain.py",
        "if IN_DOUBT in held_up:",
        "if IN_DOUBT in held_up[1:]:",
    ),
    Mutant(
        "The account of a caller who is gone is closed with what they earned.",
        "timebank/keeping/maintain.py",
        "_earned(desk, each) > 0)",
        "_earned(desk, each) > each.left)",
    ),
)

_REPORTS = (
    Mutant(
        "What the house made has the wrong sign.",
        "timebank/reports/summary.py",
        "return self.lost - self.won",
        "return self.won - self.lost",
    ),
    Mutant(
        "A week of the summary begins on Sunday.",
        "timebank/reports/summary.py",
        "timedelta(days=day.weekday())",
        "timedelta(days=day.isoweekday() % 7)",
    ),
    Mutant(
        "A cell that begins with @ is a formula.",
        "timebank/reports/exports.py",
        r"[=+\-@\uff1d",
        r"[=+\-\uff1d",
    ),
    Mutant(
        "A statement takes in the first second after its end.",
        "timebank/reports/statements.py",
        "(until is None or at < until)",
        "(until is None or at <= until)",
    ),
    Mutant(
        "The cents of an amount of play money are not written.",
        "timebank/words.py",
        "whole, cents = divmod(abs(amount), 100)",
        "whole, cents = abs(amount) // 100, 0",
    ),
    Mutant(
        "Beancount is asked for the balances before the last day is over.",
        "timebank/reports/beancount.py",
        "end = _day(last, schedule) + A_DAY",
        "end = _day(last, schedule)",
    ),
)

_SETTINGS = (
    Mutant(
        "A time that daylight saving skips is an hour off.",
        "timebank/settings/schedule.py",
        "if early <= late:",
        "if early != late:",
    ),
    Mutant(
        "Two events that touch are two closed periods.",
        "timebank/settings/schedule.py",
        "if next_start <= end and",
        "if next_start < end and",
    ),
    Mutant(
        "An event of days that began long ago is passed over.",
        "timebank/settings/schedule.py",
        "back = longest + 2 * DAY",
        "back = DAY",
    ),
    Mutant(
        "More than all of a caller's winnings may be set to pay back a loan.",
        "timebank/settings/settings.py",
        ".loan_share, 0, 100)",
        ".loan_share, 0, 101)",
    ),
)

_GAMES = (
    Mutant(
        "Draws for a shuffle favour the low numbers.",
        "door/games/engine/shuffle.py",
        "limit = _SPAN - _SPAN % bound",
        "limit = _SPAN",
    ),
    Mutant(
        "No card of a shuffle may stay where it was.",
        "door/games/engine/shuffle.py",
        "other = below(last + 1)",
        "other = below(last)",
    ),
    Mutant(
        "An ace in a hand of eleven counts one.",
        "door/games/engine/cards.py",
        "if ace and total <= 11:",
        "if ace and total < 11:",
    ),
    Mutant(
        "What was won earlier in a hand is won once more at its end.",
        "door/games/engine/journaled.py",
        "now.won - was.won",
        "now.won + was.won",
    ),
    Mutant(
        "Insurance costs the odd half of a unit, where whole units are asked.",
        "door/games/blackjack/hands.py",
        "return bet // (2 * rules.insurance_unit) * rules.insurance_unit",
        "return bet // 2",
    ),
    Mutant(
        "A dealer's Charlie does not beat 21.",
        "door/games/blackjack/hands.py",
        "        (rules.is_charlie(dealer), ",
        "        (rules.is_charlie(dealer) and total != 21, ",
    ),
    Mutant(
        "The dealer does not look under an ace.",
        "door/games/blackjack/course.py",
        "(up.is_ace and self.rules.peek_under_ace)",
        "(up.is_ace and not self.rules)",
    ),
    Mutant(
        "A blackjack at Vegas pays even money.",
        "door/games/blackjack/rules.py",
        'natural_paid="after dealer",\n    natural_pays=Fraction(5, 2)',
        'natural_paid="after dealer",\n    natural_pays=Fraction(2)',
    ),
    Mutant(
        "The UNIX bj lets a nine be doubled.",
        "door/games/blackjack/round.py",
        "return hand.count.total in (10, 11)",
        "return hand.count.total in (9, 10, 11)",
    ),
    Mutant(
        "What is typed at Vegas is rounded to the nearest second.",
        "door/games/vegas/round.py",
        'return int(Fraction(typed.replace(",", ".")) * coin)',
        'return round(Fraction(typed.replace(",", ".")) * coin)',
    ),
    Mutant(
        "The bank at baccarat draws with four against an ace.",
        "door/games/baccarat/rules.py",
        "4: frozenset({2, 3, 4, 5, 6, 7})",
        "4: frozenset({1, 2, 3, 4, 5, 6, 7})",
    ),
    Mutant(
        "A baccarat shoe with just eight cards left is dealt from once more.",
        "door/games/baccarat/rules.py",
        "- dealt <= RESHUFFLE_AT",
        "- dealt < RESHUFFLE_AT",
    ),
    Mutant(
        "A stand-off at baccarat is lost.",
        "door/games/baccarat/round.py",
        "elif mine < banks:",
        "elif mine <= banks:",
    ),
    Mutant(
        "A spread of three pays even money at Red Dog.",
        "door/games/red_dog/rules.py",
        "{1: 5, 2: 4, 3: 2}",
        "{1: 5, 2: 4}",
    ),
    Mutant(
        "A third card like the lower one wins at Red Dog.",
        "door/games/red_dog/round.py",
        "min(first, second) < third",
        "min(first, second) <= third",
    ),
    Mutant(
        "The raise at Red Dog costs nothing, and to stay costs a bet.",
        "door/games/red_dog/round.py",
        ".RAISE else 0",
        ".STAY else 0",
    ),
    Mutant(
        "A hand's journal goes on with the number of its last action.",
        "door/games/engine/journaled.py",
        "sequence=self.sequence + 1",
        "sequence=self.sequence",
    ),
    Mutant(
        "The audit passes by a hand that the books say was paid more than its cards give.",
        "door/games/hands.py",
        "        if booked != replayed:",
        "        if booked < replayed:",
    ),
    Mutant(
        "The audit passes by a seed that does not fit its seal.",
        "door/games/hands.py",
        "not shuffle.fits(stored.shoe.seed, stored.shoe.seal)",
        "len(stored.shoe.seed) != shuffle.SEED_BYTES",
    ),
    Mutant(
        "The audit passes by a shoe that is left open after its last hand.",
        "door/games/hands.py",
        "if not hand.shoe.done and hand.is_shoe_done:",
        "if hand.shoe.done and not hand.is_shoe_done:",
    ),
    Mutant(
        "Rounds that are read together lose the actions of the seats behind the first.",
        "timebank/wagers/journal.py",
        "rest, played.get(lead, ())",
        "rest, played.get(number, ())",
    ),
    Mutant(
        "Rounds that are read together lose the seats behind the first.",
        "timebank/wagers/journal.py",
        '_seats(among(_ROUNDS.c.id, "leads")), _seats(among(_ROUNDS.c.lead, "leads"))',
        '_seats(among(_ROUNDS.c.id, "leads")), _seats(among(_ROUNDS.c.id, "leads"))',
    ),
    Mutant(
        "An audit passes by a try whose cost is too high.",
        "door/games/tries.py",
        "(cost := costs.cost_of(again)) != kept.cost",
        "(cost := costs.cost_of(again)) > kept.cost",
    ),
    Mutant(
        "A nightly audit leaves out the deal that was over last, and was weighed after that.",
        "timebank/wagers/deals.py",
        ", deals.c.seal == last_over))",
        "))",
    ),
)

_CALL = (
    Mutant(
        "An older purse takes the place of a newer one.",
        "door/call/purse.py",
        "is_newer = number > self._adopted",
        "is_newer = number != self._adopted",
    ),
    Mutant(
        "The uncharged time after the last second reaches into an event.",
        "timebank/calls/grace.py",
        "room = min(room, posting.limit)",
        "room = max(room, posting.limit)",
    ),
    Mutant(
        "A caller's last second is cut off when it begins.",
        "door/call/purse.py",
        "if self.on_for() >= self._paid_until - ROUNDING:",
        "if self.on_for() >= self._paid_until - 1:",
    ),
    Mutant(
        "A guest may stay a second longer than the host allows.",
        "door/call/purse.py",
        "self.on_for() >= self.limit - ROUNDING",
        "self.on_for() >= self.limit + 1",
    ),
    Mutant(
        "What ticked before a guest's call was open is free.",
        "door/call/guest_caller.py",
        "waited=seconds_begun(now - guest.arrived)",
        "waited=0",
    ),
    Mutant(
        "A second is charged when the one before it ends, begun or not.",
        "door/clock.py",
        "return max(0, math.ceil(elapsed - ROUNDING))",
        "return max(0, math.floor(elapsed + ROUNDING) + 1)",
    ),
)

_DROPFILES = (
    Mutant(
        "The seconds of CHAIN.TXT are read as minutes.",
        "door/dropfiles/chain_txt.py",
        "lines.time(16, 1, fractions=True)",
        "lines.time(16, 60, fractions=True)",
    ),
    Mutant(
        "The minutes of DOOR.SYS are read a line too far down.",
        "door/dropfiles/door_sys.py",
        "minutes_line = GRAPHICS - 1 + shift",
        "minutes_line = GRAPHICS + shift",
    ),
    Mutant(
        "DOOR32.SYS of WWIV counts minutes.",
        "door/dropfiles/door32_sys.py",
        "return _WWIV.search(software) is not None",
        "return _WWIV.fullmatch(software) is not None",
    ),
    Mutant(
        "Time left that the host gives as an instant is rounded up.",
        "door/dropfiles/dropfile.py",
        "max(0, (deadline - now) // SECOND)",
        "max(0, -((now - deadline) // SECOND))",
    ),
    Mutant(
        "A host's event that began half a minute ago is tomorrow's.",
        "door/dropfiles/dropfile.py",
        "return 0 if ahead > DAY_MINUTES * 60 - 60 else ahead",
        "return 0 if ahead > DAY_MINUTES * 60 - 6 else ahead",
    ),
    Mutant(
        "Minutes are added to the wrong line of MODUSER.DAT.",
        "door/dropfiles/giving.py",
        "MODUSER_LINE = 9",
        "MODUSER_LINE = 8",
    ),
    Mutant(
        "Time is given to whoever is on the node by now.",
        "door/dropfiles/giving.py",
        "if file.identity != way.caller:",
        "if file.identity.board != way.caller.board:",
    ),
)

_DEFENCE = (
    Mutant(
        "An address has one line more than it may.",
        "door/defence/counts.py",
        "if self._lines[who] >= rules.calls_per_address:",
        "if self._lines[who] > rules.calls_per_address:",
    ),
    Mutant(
        "One more wrong password is checked at once.",
        "door/defence/counts.py",
        "(HALVES if clean else 1) - 1) * self._cost",
        "(HALVES if clean else 1)) * self._cost",
    ),
    Mutant(
        "A wrong password in the second half costs no more than in the first.",
        "door/defence/counts.py",
        "return self._cost * (2 if owed",
        "return self._cost * (1 if owed",
    ),
    Mutant(
        "A subscriber of IPv6 is another one with each address.",
        "door/defence/counts.py",
        "_SUBSCRIBER_BITS = 64 ",
        "_SUBSCRIBER_BITS = 0 ",
    ),
    Mutant(
        "Whoever waits longest is checked first, however often they were wrong.",
        "door/defence/tries.py",
        "order = (failures, first.number)",
        "order = (first.number, failures)",
    ),
)

_LINES = (
    Mutant(
        "A byte 255 that was typed is lost.",
        "door/lines/telnet/framing.py",
        "self._plain.append(IAC)",
        "self._plain.clear()",
    ),
    Mutant(
        "A telnet subnegotiation may be as long as it likes.",
        "door/lines/telnet/framing.py",
        "if len(self._body) > self._limit:",
        "if len(data) > self._limit:",
    ),
    Mutant(
        "A PROXY header may name any port.",
        "door/lines/port/proxy_header.py",
        "if not _PORT.fullmatch(port) or int(port) > 65535:",
        "if not _PORT.fullmatch(port):",
    ),
    Mutant(
        "A caller behind a front end is let in by the front end's own address.",
        "door/lines/port/connection.py",
        "behind = self._visit.enter(passed.address)",
        "behind = self._visit.enter(self._address)",
    ),
    Mutant(
        "A board that has a secret is believed with any.",
        "door/lines/rlogin/trust.py",
        "return fits or not board.secret",
        "return fits or bool(header.first)",
    ),
    Mutant(
        "Of two boards that an rlogin caller may come from the first is taken.",
        "door/lines/rlogin/trust.py",
        "if len(known) > 1:",
        "if len(known) > 2:",
    ),
)

_ANSI = (
    Mutant(
        "A character of two cells is taken for one of one.",
        "ansi/width.py",
        "return max(wcwidth(character), 0) if",
        "return min(max(wcwidth(character), 0), 1) if",
    ),
    Mutant(
        "A byte 255 goes out to terminals.",
        "ansi/charset.py",
        '+ "\\ufffe"  # byte 255',
        '+ "\\xa0"  # byte 255',
    ),
    Mutant(
        "The canvas does not go back to a column on the left of the cursor.",
        "ansi/canvas.py",
        "if row != self._at_row or start != self._at_column:",
        "if row != self._at_row or start > self._at_column:",
    ),
    Mutant(
        "The canvas forgets in which style the terminal writes.",
        "ansi/canvas.py",
        "            self._pen = pen\n",
        "",
    ),
)

_TOGETHER = (
    Mutant(
        "What waits on a connection is run after the statement that comes next.",
        "timebank/ledger/postgres/connection.py",
        """                for each in waiting:
                    each.cursor.execute(each.statement, each.parameters)
                yield
""",
        """                yield
                for each in waiting:
                    each.cursor.execute(each.statement, each.parameters)
""",
    ),
    Mutant(
        "What the server has passed over behind an error is taken for prepared.",
        "timebank/ledger/postgres/connection.py",
        "            self._prepared.clear()\n",
        "",
    ),
    Mutant(
        "A transaction that has failed is committed, of which the server keeps nothing.",
        "timebank/ledger/postgres/connection.py",
        "if writes and self.info",
        "if not writes and self.info",
    ),
    Mutant(
        "What waits and is undone with its savepoint is sent all the same.",
        "timebank/ledger/postgres/connection.py",
        "            self._waiting.pop()\n",
        "            return\n",
    ),
    Mutant(
        "What waits when a transaction is rolled back is sent with the next one.",
        "timebank/ledger/postgres/connection.py",
        "        self._waiting.clear()\n",
        "",
    ),
    Mutant(
        "A transaction leaves no mark by which its COMMIT can be looked up.",
        "timebank/ledger/postgres/dialect.py",
        "DO UPDATE SET last = excluded.last,",
        "DO UPDATE SET last = operations.last,",
    ),
    Mutant(
        "A writer that has stopped is ended although it may take its time.",
        "timebank/ledger/postgres/dialect.py",
        "application_name <> '{STAYS}'",
        "application_name <> ''",
    ),
    Mutant(
        "A request that is refused alone leaves what it has written.",
        "timebank/ledger/database.py",
        "transaction.rollback()",
        "transaction.commit()",
    ),
    Mutant(
        "A cut that no shoe has taken is dealt from.",
        "timebank/wagers/rounds.py",
        "if not cut.rowcount:",
        "if cut.rowcount > 1:",
    ),
)

_SERVERS = (
    Mutant(
        "A server that was stopped writes into rounds that another has stood.",
        "door/games/vegas/tenure.py",
        "leases.hold(desk, lease_of(self.pit), self.fence)",
        "pass",
    ),
    Mutant(
        "What servers of an earlier release have held in a file is waited for.",
        "door/server/presence.py",
        "await board.books.run(registry.forget_servers)",
        "pass",
    ),
    Mutant(
        "Shoes that Vegas dealt from for one alone stay sealed for ever.",
        "door/games/vegas/dealer.py",
        "            journal.close_own_shoes(desk, VEGAS_KIND.name)\n",
        "",
    ),
    Mutant(
        "A server that slept stands the rounds at its own tables.",
        "door/games/vegas/standing.py",
        "if set(leads) <= unreadable or (own is not None and pit == own.pit):",
        "if set(leads) <= unreadable:",
    ),
    Mutant(
        "A pit that another server has had meanwhile is kept as if nothing was.",
        "door/games/vegas/tenure.py",
        "return fence == self.hold.fence",
        "return fence is not None",
    ),
    Mutant(
        "A hand at a table of another server is laid at one of this server.",
        "door/games/vegas/tenure.py",
        "self.hold.pit == pit_of(table)",
        "pit_of(table) >= 1",
    ),
    Mutant(
        "Rounds are stood as soon as their server has ended, before it may be back.",
        "timebank/servers/leases.py",
        "return lease is None or not now < lease.until <= now + LONGEST_SECONDS",
        "return lease is None or not lease.is_live(now)",
    ),
    Mutant(
        "A server that begins takes up the rounds of all others too.",
        "door/games/vegas/room.py",
        "if pit_of(table) == hold.pit:",
        "if pit_of(table) >= hold.pit:",
    ),
    Mutant(
        "A table is dealt from the shoe as it was before another server had it.",
        "door/games/vegas/table.py",
        "            self.state.forget_shoe()\n",
        "",
    ),
    Mutant(
        "A lease is taken although it is another's and has not run out.",
        "timebank/servers/leases.py",
        "if lease.server != server_id and lease.is_live(now):",
        "if lease.server == server_id and not lease.is_live(now):",
    ),
    Mutant(
        "A new holder has the fencing number of the one before.",
        "timebank/servers/leases.py",
        "else lease.fence + 1",
        "else lease.fence + 0",
    ),
    Mutant(
        "Whoever keeps a lease gets another number each time, and loses what was begun.",
        "timebank/servers/leases.py",
        "fence = lease.fence if lease.server == server_id else",
        "fence = lease.fence if lease.server is None else",
    ),
    Mutant(
        "An older number still counts, though another has taken the lease.",
        "timebank/servers/leases.py",
        "or lease.fence != fence:",
        "or lease.fence < fence:",
    ),
    Mutant(
        "Whoever has let a lease go may still write under it.",
        "timebank/servers/leases.py",
        "lease is None or lease.server is None or",
        "lease is None or",
    ),
    Mutant(
        "A lease whose end is far ahead, because the clock was set back, never runs out.",
        "timebank/servers/leases.py",
        "now < self.until <= now + LONGEST_SECONDS",
        "now < self.until",
    ),
    Mutant(
        "A lease is anybody's a second before its end.",
        "timebank/servers/leases.py",
        "self.server is not None and now < self.until",
        "self.server is not None and now + 1 < self.until",
    ),
    Mutant(
        "A server lets go what others hold, too.",
        "timebank/servers/leases.py",
        "_LET_GO(desk.connection, name=name, holder=server_id)",
        "_FREE(desk.connection)",
    ),
    Mutant(
        "A server that leaves keeps what it holds.",
        "timebank/servers/registry.py",
        "    leases.let_all_go(desk, server_id)\n",
        "",
    ),
    Mutant(
        "The row of a server on line is taken away by whoever enters.",
        "timebank/servers/registry.py",
        "if not is_before and _lives(server, now):",
        "if not (is_before or _lives(server, now)) and names:",
    ),
    Mutant(
        "A server that was set aside goes on as if its row were there.",
        "timebank/servers/registry.py",
        "    if own is None:\n        return False\n",
        "    if own is None:\n        return True\n",
    ),
    Mutant(
        "The clock was set back, and a server that says so lives for ever.",
        "timebank/servers/registry.py",
        "return abs(now - server.renewed) <= LIVING_SECONDS",
        "return now - server.renewed <= LIVING_SECONDS",
    ),
)

MUTANTS = (
    *(
        *_LEDGER,
        *_TOGETHER,
        *_SERVERS,
        *_WAGERS,
        *_CALLS,
        *_WINDOW,
        *_GUESTS,
        *_THEBANK,
        *_CALLERS,
        *_AUDIT,
        *_KEEPING,
    ),
    *(*_REPORTS, *_SETTINGS, *_GAMES, *_CALL, *_DROPFILES, *_DEFENCE, *_LINES, *_ANSI),
)
