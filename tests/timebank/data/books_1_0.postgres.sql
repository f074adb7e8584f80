SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.count_a_hand() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    net BIGINT := NEW.won - NEW.lost;
    is_won INT := CAST(net > 0 AS INT);
    is_even INT := CAST(net = 0 AS INT);
    is_lost INT := CAST(net < 0 AS INT);
    has_natural INT := CAST(strpos(' ' || NEW.outcome || ' ', ' natural ') > 0 AS INT);
    has_charlie INT := CAST(strpos(' ' || NEW.outcome || ' ', ' charlie ') > 0 AS INT);
    hands_before BIGINT;
    streak_before BIGINT;
BEGIN
    SELECT coalesce(sum(hands), 0),
        coalesce(max(CASE WHEN game = NEW.game AND unit = NEW.unit THEN streak END), 0)
        INTO hands_before, streak_before FROM results_ever WHERE caller_id = NEW.caller_id;
    INSERT INTO awards (caller_id, award, at, round_id)
    SELECT NEW.caller_id, each.award, NEW.settled, NEW.id FROM (VALUES
        ('hand', hands_before = 0), ('natural', has_natural > 0), ('charlie', has_charlie > 0),
        ('split', NEW.outcome = 'win win'), ('won ' || NEW.game, net > 0),
        ('half', NEW.unit = 'second' AND net >= 1800), ('fourfold', net >= 4 * NEW.bet),
        ('streak', net > 0 AND streak_before >= 4), ('comeback', net > 0 AND streak_before <= -5),
        ('hundred', hands_before = 99), ('thousand', hands_before = 999)
    ) AS each (award, is_earned) WHERE each.is_earned ON CONFLICT DO NOTHING;
    IF NEW.lead IS NOT NULL THEN
        INSERT INTO awards (caller_id, award, at, round_id)
        SELECT caller_id, 'company', settled, id FROM rounds
        WHERE (id = NEW.lead OR lead = NEW.lead) AND settled IS NOT NULL AND outcome <> 'void'
            AND (SELECT count(*) FROM rounds WHERE (id = NEW.lead OR lead = NEW.lead)
                AND settled IS NOT NULL AND outcome <> 'void') >= 4
        ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO results AS kept (day, caller_id, game, unit, hands, lost, won, hands_won,
        hands_even, naturals, charlies, best)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won, is_won,
        is_even, has_natural, has_charlie, greatest(net, 0))
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET
        hands = kept.hands + 1, lost = kept.lost + excluded.lost, won = kept.won + excluded.won,
        hands_won = kept.hands_won + is_won, hands_even = kept.hands_even + is_even,
        naturals = kept.naturals + has_natural, charlies = kept.charlies + has_charlie,
        best = greatest(kept.best, excluded.best);
    INSERT INTO results_ever AS kept (caller_id, game, unit, hands, lost, won, hands_won,
        hands_even, naturals, charlies, best, streak, longest_won, longest_lost)
    VALUES (NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won, is_won,
        is_even, has_natural, has_charlie, greatest(net, 0), is_won - is_lost, is_won, is_lost)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET
        hands = kept.hands + 1, lost = kept.lost + excluded.lost, won = kept.won + excluded.won,
        hands_won = kept.hands_won + is_won, hands_even = kept.hands_even + is_even,
        naturals = kept.naturals + has_natural, charlies = kept.charlies + has_charlie,
        best = greatest(kept.best, excluded.best),
        streak = CASE WHEN net > 0 THEN greatest(kept.streak, 0) + 1
            WHEN net < 0 THEN least(kept.streak, 0) - 1 ELSE kept.streak END,
        longest_won = greatest(kept.longest_won, greatest(kept.streak, 0) + is_won),
        longest_lost = greatest(kept.longest_lost, is_lost - least(kept.streak, 0));
    RETURN NULL;
END
$$;
CREATE FUNCTION public.keep_to_one_unit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM added WHERE (SELECT unit FROM accounts WHERE id = added.source)
            <> (SELECT unit FROM accounts WHERE id = added.target)
    )
    THEN
        RAISE EXCEPTION 'units never mix in one transfer'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.move_balances() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    moved RECORD;
BEGIN
    FOR moved IN
        WITH changes AS (
            SELECT id, 1 AS side, source AS account, -amount AS change FROM added
            UNION ALL SELECT id, 2, target, amount FROM added
        ), running AS (
            SELECT account, change, sum(change) OVER (PARTITION BY account ORDER BY id, side)
                AS so_far FROM changes
        )
        SELECT account, CAST(sum(change) AS BIGINT) AS change,
            CAST(min(so_far) AS BIGINT) AS lowest, CAST(max(so_far) AS BIGINT) AS highest
        FROM running GROUP BY account ORDER BY account
    LOOP
        IF moved.lowest < least(moved.change, 0) THEN
            UPDATE accounts SET balance = balance + moved.lowest
                WHERE id = moved.account AND balance + moved.lowest < 0;
            IF FOUND THEN
                UPDATE accounts SET balance = balance - moved.lowest WHERE id = moved.account;
            END IF;
        END IF;
        IF moved.highest > greatest(moved.change, 0) THEN
            UPDATE accounts SET balance = balance + moved.highest
                WHERE id = moved.account AND balance <= 0 AND balance + moved.highest > 0;
            IF FOUND THEN
                UPDATE accounts SET balance = balance - moved.highest WHERE id = moved.account;
            END IF;
        END IF;
        IF moved.change <> 0 THEN
            UPDATE accounts SET balance = balance + moved.change WHERE id = moved.account;
        END IF;
    END LOOP;
    UPDATE numbers SET last = (SELECT max(id) FROM added)
        WHERE name = 'transfers' AND last < (SELECT max(id) FROM added);
    RETURN NULL;
END
$$;
CREATE FUNCTION public.refuse_what_is_only_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% are only ever added, never %', TG_TABLE_NAME, TG_ARGV[0]
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.accounts (
    id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    caller_id bigint,
    game text COLLATE pg_catalog."C",
    unit text NOT NULL COLLATE pg_catalog."C",
    balance bigint NOT NULL,
    CONSTRAINT known_unit CHECK ((unit = ANY (ARRAY['second'::text, 'usd-cent'::text, 'frf-cent'::text]))),
    CONSTRAINT never_negative CHECK (((kind <> ALL (ARRAY['online'::text, 'held'::text, 'bank'::text, 'stake'::text, 'elapsed'::text, 'forfeit'::text, 'bankroll'::text, 'casino'::text, 'prizes'::text])) OR (balance >= 0))),
    CONSTRAINT never_positive CHECK (((kind <> 'loan'::text) OR (balance <= 0)))
)
WITH (fillfactor='50');
ALTER TABLE public.accounts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.actions (
    round_id bigint NOT NULL,
    sequence bigint NOT NULL,
    action text NOT NULL COLLATE pg_catalog."C",
    cards_used bigint NOT NULL,
    call_id bigint,
    at bigint NOT NULL,
    CONSTRAINT actions_sequence_check CHECK ((sequence >= 0))
);
CREATE TABLE public.awards (
    caller_id bigint NOT NULL,
    award text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    round_id bigint,
    told bigint
);
CREATE TABLE public.books (
    program bigint NOT NULL,
    version bigint NOT NULL
);
CREATE TABLE public.callers (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    fold text NOT NULL COLLATE pg_catalog."C",
    skeleton text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    password_hash text NOT NULL COLLATE pg_catalog."C",
    locked bigint NOT NULL,
    created bigint NOT NULL,
    last_call bigint,
    deleted bigint,
    day text COLLATE pg_catalog."C",
    held_until bigint,
    held_behind text COLLATE pg_catalog."C",
    preferences text NOT NULL COLLATE pg_catalog."C",
    frozen bigint DEFAULT 0 NOT NULL,
    board text COLLATE pg_catalog."C",
    board_key text COLLATE pg_catalog."C",
    powers bigint DEFAULT 0 NOT NULL,
    recovery_digest text COLLATE pg_catalog."C",
    untold_round bigint,
    muted bigint,
    CONSTRAINT callers_check CHECK (((board IS NULL) = (board_key IS NULL))),
    CONSTRAINT callers_check1 CHECK (((powers = 0) OR ((powers = 1) AND (deleted IS NULL) AND (board IS NULL)))),
    CONSTRAINT callers_frozen_check CHECK ((frozen = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT callers_locked_check CHECK ((locked = ANY (ARRAY[(0)::bigint, (1)::bigint])))
)
WITH (fillfactor='80');
ALTER TABLE public.callers ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.callers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.calls (
    id bigint NOT NULL,
    caller_id bigint NOT NULL,
    node bigint NOT NULL,
    process text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    opened bigint NOT NULL,
    closed bigint,
    reason text COLLATE pg_catalog."C",
    ticked bigint NOT NULL,
    charged bigint NOT NULL,
    waived bigint NOT NULL,
    renewed bigint NOT NULL,
    ticked_at_renewal bigint NOT NULL,
    note text COLLATE pg_catalog."C",
    boot text COLLATE pg_catalog."C",
    awake double precision,
    seen bigint,
    away bigint DEFAULT 0 NOT NULL,
    CONSTRAINT calls_away_check CHECK ((away = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT told CHECK (((ticked = (charged + waived)) AND (charged >= 0) AND (waived >= 0)))
)
WITH (fillfactor='70');
ALTER TABLE public.calls ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.calls_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.chains (
    anchor text NOT NULL COLLATE pg_catalog."C",
    caller_id bigint,
    game text NOT NULL COLLATE pg_catalog."C",
    at_table bigint DEFAULT 1 NOT NULL,
    root bytea NOT NULL,
    length bigint NOT NULL,
    used bigint NOT NULL,
    day text NOT NULL COLLATE pg_catalog."C",
    opened bigint NOT NULL,
    closed bigint,
    CONSTRAINT chains_at_table_check CHECK ((at_table > 0)),
    CONSTRAINT chains_length_check CHECK ((length > 0)),
    CONSTRAINT chains_used_check CHECK ((used >= 0)),
    CONSTRAINT no_more_links CHECK ((used <= length))
);
CREATE TABLE public.clocks (
    number bigint NOT NULL,
    boot text NOT NULL COLLATE pg_catalog."C",
    zero double precision NOT NULL,
    since double precision NOT NULL,
    certain bigint NOT NULL,
    sure double precision NOT NULL,
    leap double precision,
    agreed double precision,
    noted double precision,
    after bigint,
    CONSTRAINT clocks_certain_check CHECK ((certain = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);
ALTER TABLE public.clocks ALTER COLUMN number ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.clocks_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.days (
    caller_id bigint NOT NULL,
    day text NOT NULL COLLATE pg_catalog."C",
    after bigint NOT NULL,
    grant_id bigint,
    standing bigint DEFAULT 0 NOT NULL,
    carried bigint DEFAULT 0 NOT NULL,
    owed bigint,
    grace bigint DEFAULT 0 NOT NULL,
    CONSTRAINT days_carried_check CHECK ((carried >= 0)),
    CONSTRAINT days_grace_check CHECK ((grace >= 0)),
    CONSTRAINT days_owed_check CHECK ((owed >= 0)),
    CONSTRAINT days_standing_check CHECK ((standing >= 0))
);
CREATE TABLE public.deal_tries (
    seal text NOT NULL COLLATE pg_catalog."C",
    caller_id bigint NOT NULL,
    begun bigint NOT NULL,
    acts text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    finished bigint,
    score bigint,
    cost bigint,
    CONSTRAINT finished_with_a_score CHECK (((finished IS NULL) = (score IS NULL))),
    CONSTRAINT weighed_when_finished CHECK (((cost IS NULL) OR (finished IS NOT NULL)))
);
CREATE TABLE public.deals (
    seal text NOT NULL COLLATE pg_catalog."C",
    day text NOT NULL COLLATE pg_catalog."C",
    seed bytea NOT NULL,
    rules text NOT NULL COLLATE pg_catalog."C",
    opened bigint NOT NULL,
    closed bigint,
    daily bigint DEFAULT 1 NOT NULL,
    CONSTRAINT deals_daily_check CHECK ((daily = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);
CREATE TABLE public.early_events (
    starts bigint NOT NULL,
    ends bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    instead_of bigint,
    CONSTRAINT it_lasts CHECK ((ends > starts))
);
CREATE TABLE public.generations (
    number bigint NOT NULL,
    at bigint NOT NULL,
    copied bigint,
    after bigint NOT NULL,
    first bigint NOT NULL,
    numbers text NOT NULL COLLATE pg_catalog."C",
    shoes bigint NOT NULL,
    hands bigint NOT NULL,
    calls bigint NOT NULL,
    by text NOT NULL COLLATE pg_catalog."C",
    why text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT generations_digest_check CHECK ((length(digest) = 64)),
    CONSTRAINT generations_number_check CHECK ((number > 1)),
    CONSTRAINT past_any_before CHECK ((first > after))
);
CREATE TABLE public.given_back (
    number bigint NOT NULL,
    caller_id bigint NOT NULL,
    transfer_id bigint,
    minutes bigint NOT NULL,
    day text NOT NULL COLLATE pg_catalog."C",
    way text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    claim text COLLATE pg_catalog."C",
    changed bigint NOT NULL,
    kept_id bigint,
    why text COLLATE pg_catalog."C",
    CONSTRAINT gains_were_moved CHECK (((transfer_id IS NULL) = (minutes < 0))),
    CONSTRAINT given_back_minutes_check CHECK ((minutes <> 0)),
    CONSTRAINT given_back_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'writing'::text, 'written'::text, 'kept'::text, 'doubtful'::text])))
);
ALTER TABLE public.given_back ALTER COLUMN number ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.given_back_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.identity (
    id bigint NOT NULL,
    mark text NOT NULL COLLATE pg_catalog."C",
    copied bigint,
    commits bigint DEFAULT 0 NOT NULL,
    CONSTRAINT identity_id_check CHECK ((id = 1))
);
CREATE TABLE public.import_lines (
    import_id bigint NOT NULL,
    start bigint NOT NULL,
    line bigint NOT NULL,
    transfer_id bigint,
    reason text COLLATE pg_catalog."C",
    text text COLLATE pg_catalog."C",
    told bigint NOT NULL,
    CONSTRAINT applied_or_refused CHECK (((transfer_id IS NULL) <> (reason IS NULL))),
    CONSTRAINT import_lines_line_check CHECK ((line > 0)),
    CONSTRAINT import_lines_start_check CHECK ((start >= 0)),
    CONSTRAINT import_lines_told_check CHECK ((told = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);
CREATE TABLE public.imports (
    id bigint NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    taken text NOT NULL COLLATE pg_catalog."C",
    kept text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL,
    lines bigint NOT NULL,
    recent text NOT NULL COLLATE pg_catalog."C",
    changed bigint NOT NULL,
    CONSTRAINT imports_bytes_check CHECK ((bytes >= 0)),
    CONSTRAINT imports_lines_check CHECK ((lines >= 0)),
    CONSTRAINT imports_state_check CHECK ((state = ANY (ARRAY['reading'::text, 'taking'::text, 'taken'::text, 'keeping'::text, 'kept'::text, 'closed'::text])))
);
ALTER TABLE public.imports ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.imports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.leases (
    name text NOT NULL COLLATE pg_catalog."C",
    server bigint,
    fence bigint NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT leases_fence_check CHECK ((fence >= 0))
);
CREATE TABLE public.mended_days (
    number bigint NOT NULL,
    caller_id bigint NOT NULL,
    day text NOT NULL COLLATE pg_catalog."C",
    grant_id bigint,
    mended bigint NOT NULL
);
ALTER TABLE public.mended_days ALTER COLUMN number ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mended_days_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.messages (
    id bigint NOT NULL,
    sender_id bigint NOT NULL,
    caller_id bigint NOT NULL,
    at bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    shown bigint
);
ALTER TABLE public.messages ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.messages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.notices (
    id bigint NOT NULL,
    caller_id bigint NOT NULL,
    at bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    shown bigint
);
ALTER TABLE public.notices ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.notices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.numbers (
    name text NOT NULL COLLATE pg_catalog."C",
    last bigint NOT NULL
);
CREATE TABLE public.one_liners (
    id bigint NOT NULL,
    caller_id bigint NOT NULL,
    call_id bigint NOT NULL,
    at bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE public.one_liners ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.one_liners_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.operations (
    key text NOT NULL COLLATE pg_catalog."C",
    last bigint NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.outbox (
    number bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    minutes bigint NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    mark text COLLATE pg_catalog."C",
    appended bigint,
    CONSTRAINT outbox_minutes_check CHECK ((minutes > 0)),
    CONSTRAINT outbox_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'appending'::text, 'appended'::text, 'doubtful'::text])))
);
CREATE TABLE public.own_limits (
    caller_id bigint NOT NULL,
    most_lost bigint,
    later_lost bigint,
    later_from bigint,
    paused_until bigint,
    hourly bigint DEFAULT 0 NOT NULL,
    hourly_until bigint,
    told bigint,
    CONSTRAINT later_at_some_time CHECK (((later_lost IS NULL) = (later_from IS NULL))),
    CONSTRAINT own_limits_hourly_check CHECK ((hourly = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT own_limits_later_lost_check CHECK ((later_lost >= 0)),
    CONSTRAINT own_limits_most_lost_check CHECK ((most_lost > 0))
);
CREATE TABLE public.page_tries (
    number text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    address text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.results (
    day text NOT NULL COLLATE pg_catalog."C",
    caller_id bigint NOT NULL,
    game text NOT NULL COLLATE pg_catalog."C",
    unit text NOT NULL COLLATE pg_catalog."C",
    hands bigint NOT NULL,
    lost bigint NOT NULL,
    won bigint NOT NULL,
    hands_won bigint NOT NULL,
    hands_even bigint NOT NULL,
    naturals bigint NOT NULL,
    charlies bigint NOT NULL,
    best bigint NOT NULL
);
CREATE TABLE public.results_ever (
    caller_id bigint NOT NULL,
    game text NOT NULL COLLATE pg_catalog."C",
    unit text NOT NULL COLLATE pg_catalog."C",
    hands bigint NOT NULL,
    lost bigint NOT NULL,
    won bigint NOT NULL,
    hands_won bigint NOT NULL,
    hands_even bigint NOT NULL,
    naturals bigint NOT NULL,
    charlies bigint NOT NULL,
    best bigint NOT NULL,
    streak bigint NOT NULL,
    longest_won bigint NOT NULL,
    longest_lost bigint NOT NULL
);
CREATE TABLE public.rounds (
    id bigint NOT NULL,
    caller_id bigint NOT NULL,
    game text NOT NULL COLLATE pg_catalog."C",
    day text NOT NULL COLLATE pg_catalog."C",
    call_id bigint NOT NULL,
    shoe_id bigint,
    start_position bigint NOT NULL,
    bet bigint NOT NULL,
    coin bigint NOT NULL,
    rules text NOT NULL COLLATE pg_catalog."C",
    dealt bigint NOT NULL,
    lost bigint NOT NULL,
    returned bigint NOT NULL,
    won bigint NOT NULL,
    settled bigint,
    outcome text COLLATE pg_catalog."C",
    result text COLLATE pg_catalog."C",
    unit text DEFAULT 'second'::text NOT NULL COLLATE pg_catalog."C",
    seat bigint DEFAULT 1 NOT NULL,
    lead bigint,
    CONSTRAINT rounds_bet_check CHECK ((bet > 0)),
    CONSTRAINT rounds_seat_check CHECK ((seat > 0)),
    CONSTRAINT rounds_unit_check CHECK ((unit = ANY (ARRAY['second'::text, 'usd-cent'::text, 'frf-cent'::text]))),
    CONSTRAINT settled_with_an_outcome CHECK (((settled IS NULL) = (outcome IS NULL)))
);
ALTER TABLE public.rounds ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.rounds_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.servers (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    process text NOT NULL COLLATE pg_catalog."C",
    link text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    certificate text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    settings text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    started bigint NOT NULL,
    renewed bigint NOT NULL,
    draining bigint DEFAULT 0 NOT NULL,
    CONSTRAINT servers_draining_check CHECK ((draining = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);
ALTER TABLE public.servers ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.servers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.shoes (
    id bigint NOT NULL,
    caller_id bigint,
    game text NOT NULL COLLATE pg_catalog."C",
    decks bigint NOT NULL,
    seed bytea NOT NULL,
    seal text NOT NULL COLLATE pg_catalog."C",
    cut text COLLATE pg_catalog."C",
    opened bigint NOT NULL,
    closed bigint,
    at_table bigint DEFAULT 1 NOT NULL,
    anchor text COLLATE pg_catalog."C",
    link bigint,
    beacon text COLLATE pg_catalog."C",
    CONSTRAINT shoes_at_table_check CHECK ((at_table > 0)),
    CONSTRAINT shoes_decks_check CHECK ((decks > 0))
);
ALTER TABLE public.shoes ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.shoes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.sysop_log (
    id bigint NOT NULL,
    at bigint NOT NULL,
    by text NOT NULL COLLATE pg_catalog."C",
    caller_id bigint,
    what text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE public.sysop_log ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.sysop_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tournament_entries (
    seal text NOT NULL COLLATE pg_catalog."C",
    caller_id bigint NOT NULL,
    at bigint NOT NULL,
    day text NOT NULL COLLATE pg_catalog."C",
    for_prize bigint NOT NULL,
    paid bigint NOT NULL,
    paid_id bigint,
    back_id bigint,
    place bigint,
    passed bigint DEFAULT 0 NOT NULL,
    prize bigint DEFAULT 0 NOT NULL,
    prize_id bigint,
    CONSTRAINT given_back_once CHECK (((back_id IS NULL) OR ((paid > 0) AND (prize = 0)))),
    CONSTRAINT paid_by_a_transfer CHECK (((paid = 0) = (paid_id IS NULL))),
    CONSTRAINT paid_for_a_prize CHECK (((paid = 0) OR (for_prize = 1))),
    CONSTRAINT tournament_entries_for_prize_check CHECK ((for_prize = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT tournament_entries_paid_check CHECK ((paid >= 0)),
    CONSTRAINT tournament_entries_passed_check CHECK ((passed = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT tournament_entries_place_check CHECK ((place > 0)),
    CONSTRAINT tournament_entries_prize_check CHECK ((prize >= 0)),
    CONSTRAINT won_by_a_transfer CHECK (((prize = 0) = (prize_id IS NULL))),
    CONSTRAINT won_by_one_who_can CHECK (((prize = 0) OR ((for_prize = 1) AND (passed = 0))))
);
CREATE TABLE public.tournaments (
    seal text NOT NULL COLLATE pg_catalog."C",
    game text NOT NULL COLLATE pg_catalog."C",
    hands bigint NOT NULL,
    starts bigint NOT NULL,
    ends bigint NOT NULL,
    entry bigint NOT NULL,
    prizes text NOT NULL COLLATE pg_catalog."C",
    put_in bigint NOT NULL,
    put_in_id bigint,
    taken_back_id bigint,
    running bigint,
    outcome text COLLATE pg_catalog."C",
    CONSTRAINT ended_somehow CHECK (((running IS NULL) = (outcome IS NOT NULL))),
    CONSTRAINT it_is_open_for_a_while CHECK ((ends > starts)),
    CONSTRAINT put_in_by_a_transfer CHECK (((put_in = 0) = (put_in_id IS NULL))),
    CONSTRAINT taken_back_of_that CHECK (((taken_back_id IS NULL) OR (put_in_id IS NOT NULL))),
    CONSTRAINT tournaments_entry_check CHECK ((entry >= 0)),
    CONSTRAINT tournaments_hands_check CHECK ((hands > 0)),
    CONSTRAINT tournaments_outcome_check CHECK ((outcome = ANY (ARRAY['settled'::text, 'empty'::text, 'called off'::text, 'restored'::text]))),
    CONSTRAINT tournaments_put_in_check CHECK ((put_in >= 0)),
    CONSTRAINT tournaments_running_check CHECK ((running = 1))
);
CREATE TABLE public.transfers (
    id bigint NOT NULL,
    place bigint NOT NULL,
    size bigint NOT NULL,
    entry bigint GENERATED ALWAYS AS (((id - place) + 1)) STORED,
    at bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    source bigint NOT NULL,
    target bigint NOT NULL,
    facts text NOT NULL COLLATE pg_catalog."C",
    call_id bigint,
    round_id bigint,
    digest text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT place_in_entry CHECK (((place >= 1) AND (place <= size))),
    CONSTRAINT transfers_amount_check CHECK ((amount > 0)),
    CONSTRAINT transfers_digest_check CHECK ((length(digest) = 64)),
    CONSTRAINT two_accounts CHECK ((source <> target))
);
CREATE TABLE public.visits (
    id bigint NOT NULL,
    caller_id bigint NOT NULL,
    call_id bigint,
    day text NOT NULL COLLATE pg_catalog."C",
    shown bigint,
    clock bigint NOT NULL,
    until bigint,
    way text COLLATE pg_catalog."C",
    shows_losses bigint NOT NULL,
    debt bigint NOT NULL,
    staked bigint NOT NULL,
    standing bigint NOT NULL,
    standing_own bigint NOT NULL,
    brought bigint NOT NULL,
    own bigint NOT NULL,
    closed bigint,
    elapsed bigint,
    result bigint,
    owed bigint,
    debt_paid bigint,
    debt_added bigint,
    also_brought bigint,
    loan bigint,
    loan_paid bigint,
    gain bigint,
    put_back bigint,
    taken_home bigint,
    left_staked bigint,
    left_standing bigint,
    left_own bigint,
    CONSTRAINT visits_also_brought_check CHECK ((also_brought >= 0)),
    CONSTRAINT visits_brought_check CHECK ((brought >= 0)),
    CONSTRAINT visits_clock_check CHECK ((clock >= 0)),
    CONSTRAINT visits_debt_added_check CHECK ((debt_added >= 0)),
    CONSTRAINT visits_debt_check CHECK ((debt >= 0)),
    CONSTRAINT visits_debt_paid_check CHECK ((debt_paid >= 0)),
    CONSTRAINT visits_gain_check CHECK ((gain >= 0)),
    CONSTRAINT visits_loan_check CHECK ((loan >= 0)),
    CONSTRAINT visits_loan_paid_check CHECK ((loan_paid >= 0)),
    CONSTRAINT visits_owed_check CHECK ((owed >= 0)),
    CONSTRAINT visits_put_back_check CHECK ((put_back >= 0)),
    CONSTRAINT visits_shows_losses_check CHECK ((shows_losses = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT visits_taken_home_check CHECK ((taken_home >= 0))
);
ALTER TABLE public.visits ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.visits_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO public.accounts VALUES (2, 'elapsed', NULL, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (3, 'forfeit', NULL, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (4, 'external', NULL, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (5, 'adjustment', NULL, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (7, 'held', 1, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (10, 'loan', 1, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (1, 'allotment', NULL, NULL, 'second', -3600);
INSERT INTO public.accounts VALUES (11, 'house', NULL, 'black-jack-for-time', 'second', -600);
INSERT INTO public.accounts VALUES (8, 'bank', 1, NULL, 'second', 300);
INSERT INTO public.accounts VALUES (6, 'online', 1, NULL, 'second', 3300);
INSERT INTO public.accounts VALUES (9, 'stake', 1, NULL, 'second', 600);
INSERT INTO public.accounts VALUES (12, 'online', 2, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (13, 'held', 2, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (14, 'bank', 2, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (15, 'stake', 2, NULL, 'second', 0);
INSERT INTO public.accounts VALUES (16, 'loan', 2, NULL, 'second', 0);
INSERT INTO public.actions VALUES (1, 0, '{"action":"bet","stake":600}', 0, 1, 1780315200);
INSERT INTO public.actions VALUES (1, 1, '{"action":"stay"}', 4, 1, 1780315200);
INSERT INTO public.actions VALUES (2, 0, '{"action":"bet","stake":300}', 0, 1, 1780315200);
INSERT INTO public.actions VALUES (2, 1, '{"action":"stay"}', 4, 1, 1780315200);
INSERT INTO public.actions VALUES (3, 0, '{"action":"bet","stake":600}', 0, 1, 1780315200);
INSERT INTO public.awards VALUES (1, 'hand', 1780315200, 1, NULL);
INSERT INTO public.awards VALUES (1, 'won black-jack-for-time', 1780315200, 1, NULL);
INSERT INTO public.awards VALUES (1, 'deposit', 1780315200, NULL, NULL);
INSERT INTO public.books VALUES (1112159316, 13);
INSERT INTO public.callers VALUES (1, 'Ann', 'ann', '17.0.0/1 ann', 'hash', 0, 1780315200, 1780315200, NULL, '2026-06-01', NULL, NULL, '{}', 0, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO public.callers VALUES (2, 'Bob', 'bob', '17.0.0/1 bob', 'hash', 0, 1780315200, NULL, NULL, NULL, NULL, NULL, '{}', 0, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO public.calls VALUES (1, 1, 1, 'p', '192.0.2.1', 1780315200, NULL, NULL, 0, 0, 0, 1780315200, 0, NULL, NULL, NULL, 1795809825, 1);
INSERT INTO public.days VALUES (1, '2026-06-01', 0, 1, 0, 0, 0, 0);
INSERT INTO public.numbers VALUES ('transfers', 8);
INSERT INTO public.operations VALUES ('a2fae316207a75c6f1ef91cd7bd4573d', 11, 1795809825);
INSERT INTO public.results VALUES ('2026-06-01', 1, 'black-jack-for-time', 'second', 2, 300, 900, 1, 0, 0, 0, 900);
INSERT INTO public.results_ever VALUES (1, 'black-jack-for-time', 'second', 2, 300, 900, 1, 0, 0, 0, 900, -1, 1, 1);
INSERT INTO public.rounds VALUES (1, 1, 'black-jack-for-time', '2026-06-01', 1, NULL, 0, 600, 60, '{"decks":1}', 1780315200, 0, 600, 900, 1780315200, 'win', '{"net":900}', 'second', 1, NULL);
INSERT INTO public.rounds VALUES (2, 1, 'black-jack-for-time', '2026-06-01', 1, NULL, 0, 300, 60, '{"decks":1}', 1780315200, 300, 0, 0, 1780315200, 'lose', '{"net":-300}', 'second', 1, NULL);
INSERT INTO public.rounds VALUES (3, 1, 'black-jack-for-time', '2026-06-01', 1, NULL, 0, 600, 60, '{"decks":1}', 1780315200, 0, 0, 0, NULL, NULL, NULL, 'second', 1, NULL);
INSERT INTO public.transfers VALUES (1, 1, 1, DEFAULT, 1780315200, 'grant', 3600, 1, 6, '{"code":"granted","day":"2026-06-01"}', 1, NULL, '0c5af49828f612f411b5189a8b690bcc9a405a2230f7faed56252a3cd2a6a4be');
INSERT INTO public.transfers VALUES (2, 1, 1, DEFAULT, 1780315200, 'stake', 600, 6, 9, '{"code":"bet","game":"black-jack-for-time"}', 1, 1, '2c6691075e7ebe69eb7c0082412f0541a9f14faf08bf6e92a68d267ad7e68a77');
INSERT INTO public.transfers VALUES (3, 1, 2, DEFAULT, 1780315200, 'returned', 600, 9, 6, '{"code":"returned","game":"black-jack-for-time","outcome":"win"}', 1, 1, 'aed87d944e40eaba225a22fea67ee67321f58d38f036a7ca3e123106acd1c648');
INSERT INTO public.transfers VALUES (4, 2, 2, DEFAULT, 1780315200, 'won', 900, 11, 6, '{"code":"won","game":"black-jack-for-time","outcome":"win"}', 1, 1, '20fe2b236e1a52c436fc90fb95d893a79235612865c237e01dbbaccd422a8db7');
INSERT INTO public.transfers VALUES (5, 1, 1, DEFAULT, 1780315200, 'stake', 300, 6, 9, '{"code":"bet","game":"black-jack-for-time"}', 1, 2, '7708eac6a174cbec59ab4a63bb80440ec0b85e4b45eedd705ea8030b5a7280eb');
INSERT INTO public.transfers VALUES (6, 1, 1, DEFAULT, 1780315200, 'lost', 300, 9, 11, '{"code":"lost","game":"black-jack-for-time","outcome":"lose"}', 1, 2, 'de594f34dba722ea5fae07d1c3461919ad3ae31e5ae5e4210a073cfd29c999d9');
INSERT INTO public.transfers VALUES (7, 1, 1, DEFAULT, 1780315200, 'deposit', 300, 6, 8, '{"code":"deposited","at_log_off":false}', 1, NULL, '1ee88d41d3b984ea4450a00325d3a943c145e1b9dbd4477be45aeec0a03ffc35');
INSERT INTO public.transfers VALUES (8, 1, 1, DEFAULT, 1780315200, 'stake', 600, 6, 9, '{"code":"bet","game":"black-jack-for-time"}', 1, 3, '2359626a225d02f04c23f3ee9ab1e782c2b8aacc1c4173346eaafacc0189fc9b');
SELECT pg_catalog.setval('public.accounts_id_seq', 16, true);
SELECT pg_catalog.setval('public.callers_id_seq', 2, true);
SELECT pg_catalog.setval('public.calls_id_seq', 1, true);
SELECT pg_catalog.setval('public.clocks_number_seq', 1, false);
SELECT pg_catalog.setval('public.given_back_number_seq', 1, false);
SELECT pg_catalog.setval('public.imports_id_seq', 1, false);
SELECT pg_catalog.setval('public.mended_days_number_seq', 1, false);
SELECT pg_catalog.setval('public.messages_id_seq', 1, false);
SELECT pg_catalog.setval('public.notices_id_seq', 1, false);
SELECT pg_catalog.setval('public.one_liners_id_seq', 1, false);
SELECT pg_catalog.setval('public.rounds_id_seq', 3, true);
SELECT pg_catalog.setval('public.servers_id_seq', 1, false);
SELECT pg_catalog.setval('public.shoes_id_seq', 1, false);
SELECT pg_catalog.setval('public.sysop_log_id_seq', 1, false);
SELECT pg_catalog.setval('public.visits_id_seq', 1, false);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_pkey PRIMARY KEY (round_id, sequence);
ALTER TABLE ONLY public.awards
    ADD CONSTRAINT awards_pkey PRIMARY KEY (caller_id, award);
ALTER TABLE ONLY public.callers
    ADD CONSTRAINT callers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.calls
    ADD CONSTRAINT calls_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.chains
    ADD CONSTRAINT chains_pkey PRIMARY KEY (anchor);
ALTER TABLE ONLY public.clocks
    ADD CONSTRAINT clocks_boot_key UNIQUE (boot);
ALTER TABLE ONLY public.clocks
    ADD CONSTRAINT clocks_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.days
    ADD CONSTRAINT days_grant_id_key UNIQUE (grant_id);
ALTER TABLE ONLY public.days
    ADD CONSTRAINT days_pkey PRIMARY KEY (caller_id, day);
ALTER TABLE ONLY public.deal_tries
    ADD CONSTRAINT deal_tries_pkey PRIMARY KEY (seal, caller_id);
ALTER TABLE ONLY public.deals
    ADD CONSTRAINT deals_pkey PRIMARY KEY (seal);
ALTER TABLE ONLY public.early_events
    ADD CONSTRAINT early_events_pkey PRIMARY KEY (starts);
ALTER TABLE ONLY public.generations
    ADD CONSTRAINT generations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.given_back
    ADD CONSTRAINT given_back_kept_id_key UNIQUE (kept_id);
ALTER TABLE ONLY public.given_back
    ADD CONSTRAINT given_back_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.given_back
    ADD CONSTRAINT given_back_transfer_id_key UNIQUE (transfer_id);
ALTER TABLE ONLY public.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.import_lines
    ADD CONSTRAINT import_lines_pkey PRIMARY KEY (import_id, start);
ALTER TABLE ONLY public.import_lines
    ADD CONSTRAINT import_lines_transfer_id_key UNIQUE (transfer_id);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.mended_days
    ADD CONSTRAINT mended_days_grant_id_key UNIQUE (grant_id);
ALTER TABLE ONLY public.mended_days
    ADD CONSTRAINT mended_days_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.numbers
    ADD CONSTRAINT numbers_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT one_account_a_kind UNIQUE (caller_id, unit, kind);
ALTER TABLE ONLY public.one_liners
    ADD CONSTRAINT one_liners_call_id_key UNIQUE (call_id);
ALTER TABLE ONLY public.one_liners
    ADD CONSTRAINT one_liners_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.own_limits
    ADD CONSTRAINT own_limits_pkey PRIMARY KEY (caller_id);
ALTER TABLE ONLY public.page_tries
    ADD CONSTRAINT page_tries_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.results_ever
    ADD CONSTRAINT results_ever_pkey PRIMARY KEY (caller_id, game, unit);
ALTER TABLE ONLY public.results
    ADD CONSTRAINT results_pkey PRIMARY KEY (day, caller_id, game, unit);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.servers
    ADD CONSTRAINT servers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.shoes
    ADD CONSTRAINT shoes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sysop_log
    ADD CONSTRAINT sysop_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_back_id_key UNIQUE (back_id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_paid_id_key UNIQUE (paid_id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_pkey PRIMARY KEY (seal, caller_id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_prize_id_key UNIQUE (prize_id);
ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_pkey PRIMARY KEY (seal);
ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_put_in_id_key UNIQUE (put_in_id);
ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_running_key UNIQUE (running);
ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_taken_back_id_key UNIQUE (taken_back_id);
ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.visits
    ADD CONSTRAINT visits_call_id_key UNIQUE (call_id);
ALTER TABLE ONLY public.visits
    ADD CONSTRAINT visits_pkey PRIMARY KEY (id);
CREATE INDEX awards_by_time ON public.awards USING btree (at);
CREATE INDEX awards_to_tell ON public.awards USING btree (caller_id) WHERE (told IS NULL);
CREATE INDEX banks ON public.accounts USING btree (id) WHERE ((kind = 'bank'::text) AND (unit = 'second'::text));
CREATE INDEX callers_by_skeleton ON public.callers USING btree (skeleton) WHERE (deleted IS NULL);
CREATE INDEX calls_of_a_caller ON public.calls USING btree (caller_id, id);
CREATE INDEX deals_closed ON public.deals USING btree (closed) WHERE (closed IS NOT NULL);
CREATE INDEX entries_of_a_caller ON public.tournament_entries USING btree (caller_id, day);
CREATE INDEX given_back_of_a_caller ON public.given_back USING btree (caller_id, state);
CREATE INDEX import_lines_to_tell ON public.import_lines USING btree (import_id) WHERE (told = 0);
CREATE INDEX imports_kept ON public.imports USING btree (kept);
CREATE INDEX imports_to_do ON public.imports USING btree (path) WHERE (state <> 'closed'::text);
CREATE INDEX messages_by_a_caller ON public.messages USING btree (sender_id, at);
CREATE INDEX messages_of_a_caller ON public.messages USING btree (caller_id, id);
CREATE INDEX messages_to_show ON public.messages USING btree (caller_id) WHERE (shown IS NULL);
CREATE INDEX notices_of_a_caller ON public.notices USING btree (caller_id, id);
CREATE INDEX notices_to_show ON public.notices USING btree (caller_id) WHERE (shown IS NULL);
CREATE UNIQUE INDEX one_account_of_prizes ON public.accounts USING btree (kind) WHERE (kind = 'prizes'::text);
CREATE UNIQUE INDEX one_house_a_game ON public.accounts USING btree (game, unit) WHERE (kind = 'house'::text);
CREATE UNIQUE INDEX one_living_caller_a_key ON public.callers USING btree (board, board_key) WHERE ((deleted IS NULL) AND (board IS NOT NULL));
CREATE UNIQUE INDEX one_living_caller_a_name ON public.callers USING btree (fold) WHERE (deleted IS NULL);
CREATE UNIQUE INDEX one_mint_a_unit ON public.accounts USING btree (unit) WHERE (kind = 'mint'::text);
CREATE UNIQUE INDEX one_open_call_a_caller ON public.calls USING btree (caller_id) WHERE (closed IS NULL);
CREATE UNIQUE INDEX one_open_call_a_node ON public.calls USING btree (node) WHERE ((closed IS NULL) AND (away = 0));
CREATE UNIQUE INDEX one_open_chain_a_game ON public.chains USING btree (caller_id, game) WHERE (closed IS NULL);
CREATE UNIQUE INDEX one_open_chain_a_table ON public.chains USING btree (game, at_table) WHERE ((closed IS NULL) AND (caller_id IS NULL));
CREATE UNIQUE INDEX one_open_deal_a_day ON public.deals USING btree (day) WHERE ((closed IS NULL) AND (daily = 1));
CREATE UNIQUE INDEX one_open_shoe_a_game ON public.shoes USING btree (caller_id, game) WHERE (closed IS NULL);
CREATE UNIQUE INDEX one_open_shoe_a_table ON public.shoes USING btree (game, at_table) WHERE ((closed IS NULL) AND (caller_id IS NULL));
CREATE UNIQUE INDEX one_round_a_seat ON public.rounds USING btree (lead, seat) WHERE (lead IS NOT NULL);
CREATE UNIQUE INDEX one_round_in_play ON public.rounds USING btree (caller_id) WHERE (settled IS NULL);
CREATE UNIQUE INDEX one_shoe_a_link ON public.shoes USING btree (anchor, link) WHERE (anchor IS NOT NULL);
CREATE INDEX outbox_to_do ON public.outbox USING btree (number) WHERE (state <> 'appended'::text);
CREATE INDEX page_tries_for ON public.page_tries USING btree (name);
CREATE INDEX page_tries_from ON public.page_tries USING btree (address);
CREATE INDEX rounds_of_a_shoe ON public.rounds USING btree (shoe_id);
CREATE INDEX tournaments_settled ON public.tournaments USING btree (ends) WHERE (outcome = 'settled'::text);
CREATE INDEX transfers_from ON public.transfers USING btree (source);
CREATE INDEX transfers_of_a_round ON public.transfers USING btree (round_id) WHERE (round_id IS NOT NULL);
CREATE INDEX transfers_to ON public.transfers USING btree (target);
CREATE INDEX turns_of_a_day ON public.rounds USING btree (caller_id, day, unit, game);
CREATE INDEX visits_of_a_caller ON public.visits USING btree (caller_id);
CREATE INDEX visits_of_a_day ON public.visits USING btree (caller_id, day);
CREATE TRIGGER generations_are_never_changed BEFORE UPDATE ON public.generations FOR EACH ROW EXECUTE FUNCTION public.refuse_what_is_only_added('changed');
CREATE TRIGGER generations_are_never_deleted BEFORE DELETE ON public.generations FOR EACH ROW EXECUTE FUNCTION public.refuse_what_is_only_added('deleted');
CREATE TRIGGER generations_are_never_emptied BEFORE TRUNCATE ON public.generations FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_what_is_only_added('emptied');
CREATE TRIGGER rounds_settled_at_once_count AFTER INSERT ON public.rounds FOR EACH ROW WHEN (((new.settled IS NOT NULL) AND (new.outcome <> 'void'::text))) EXECUTE FUNCTION public.count_a_hand();
CREATE TRIGGER rounds_that_are_settled_count AFTER UPDATE OF settled ON public.rounds FOR EACH ROW WHEN (((old.settled IS NULL) AND (new.settled IS NOT NULL) AND (new.outcome <> 'void'::text))) EXECUTE FUNCTION public.count_a_hand();
CREATE TRIGGER transfers_are_never_changed BEFORE UPDATE ON public.transfers FOR EACH ROW EXECUTE FUNCTION public.refuse_what_is_only_added('changed');
CREATE TRIGGER transfers_are_never_deleted BEFORE DELETE ON public.transfers FOR EACH ROW EXECUTE FUNCTION public.refuse_what_is_only_added('deleted');
CREATE TRIGGER transfers_are_never_emptied BEFORE TRUNCATE ON public.transfers FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_what_is_only_added('emptied');
CREATE TRIGGER transfers_keep_to_one_unit AFTER INSERT ON public.transfers REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.keep_to_one_unit();
CREATE TRIGGER transfers_move_balances AFTER INSERT ON public.transfers REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.move_balances();
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_call_id_fkey FOREIGN KEY (call_id) REFERENCES public.calls(id);
ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);
ALTER TABLE ONLY public.awards
    ADD CONSTRAINT awards_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.awards
    ADD CONSTRAINT awards_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);
ALTER TABLE ONLY public.calls
    ADD CONSTRAINT calls_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.chains
    ADD CONSTRAINT chains_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.days
    ADD CONSTRAINT days_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.days
    ADD CONSTRAINT days_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.deal_tries
    ADD CONSTRAINT deal_tries_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.deal_tries
    ADD CONSTRAINT deal_tries_seal_fkey FOREIGN KEY (seal) REFERENCES public.deals(seal);
ALTER TABLE ONLY public.given_back
    ADD CONSTRAINT given_back_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.given_back
    ADD CONSTRAINT given_back_kept_id_fkey FOREIGN KEY (kept_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.given_back
    ADD CONSTRAINT given_back_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.import_lines
    ADD CONSTRAINT import_lines_import_id_fkey FOREIGN KEY (import_id) REFERENCES public.imports(id);
ALTER TABLE ONLY public.import_lines
    ADD CONSTRAINT import_lines_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.mended_days
    ADD CONSTRAINT mended_days_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.mended_days
    ADD CONSTRAINT mended_days_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.one_liners
    ADD CONSTRAINT one_liners_call_id_fkey FOREIGN KEY (call_id) REFERENCES public.calls(id);
ALTER TABLE ONLY public.one_liners
    ADD CONSTRAINT one_liners_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_number_fkey FOREIGN KEY (number) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.own_limits
    ADD CONSTRAINT own_limits_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.results
    ADD CONSTRAINT results_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.results_ever
    ADD CONSTRAINT results_ever_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_call_id_fkey FOREIGN KEY (call_id) REFERENCES public.calls(id);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_lead_fkey FOREIGN KEY (lead) REFERENCES public.rounds(id);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_shoe_id_fkey FOREIGN KEY (shoe_id) REFERENCES public.shoes(id);
ALTER TABLE ONLY public.shoes
    ADD CONSTRAINT shoes_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.sysop_log
    ADD CONSTRAINT sysop_log_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_back_id_fkey FOREIGN KEY (back_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_paid_id_fkey FOREIGN KEY (paid_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_prize_id_fkey FOREIGN KEY (prize_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.tournament_entries
    ADD CONSTRAINT tournament_entries_seal_fkey FOREIGN KEY (seal) REFERENCES public.tournaments(seal);
ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_put_in_id_fkey FOREIGN KEY (put_in_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_seal_fkey FOREIGN KEY (seal) REFERENCES public.deals(seal);
ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_taken_back_id_fkey FOREIGN KEY (taken_back_id) REFERENCES public.transfers(id);
ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_call_id_fkey FOREIGN KEY (call_id) REFERENCES public.calls(id);
ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);
ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_source_fkey FOREIGN KEY (source) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_target_fkey FOREIGN KEY (target) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.visits
    ADD CONSTRAINT visits_call_id_fkey FOREIGN KEY (call_id) REFERENCES public.calls(id);
ALTER TABLE ONLY public.visits
    ADD CONSTRAINT visits_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(id);
