-- Version 1. Numbers that exceed SQLite's integers are cut to the largest one;
-- the exact ones are in records.json.

CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    started TEXT NOT NULL,
    started_ns INTEGER NOT NULL,
    ended TEXT,
    outcome TEXT,               -- completed, interrupted, failed; NULL: cut off
    message TEXT,
    label TEXT,
    workload TEXT NOT NULL,
    provenance TEXT NOT NULL,   -- measured, imported
    file TEXT,                  -- of an imported session
    layout TEXT,                -- of an imported session
    tool TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    kernel TEXT,
    targets TEXT NOT NULL,      -- JSON list of paths
    filesystems TEXT NOT NULL,  -- JSON list of types
    plan_digest TEXT,
    trials_completed INTEGER NOT NULL,
    trials_interrupted INTEGER NOT NULL,
    trials_skipped INTEGER NOT NULL,
    trials_failed INTEGER NOT NULL,
    journal_bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_start ON sessions (started_ns);
CREATE INDEX sessions_by_label ON sessions (label);

-- The whole session as its export has it.
CREATE TABLE records (
    session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT;

CREATE TABLE trials (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    trial INTEGER NOT NULL,     -- from 0, in the order in which they ran
    cell TEXT NOT NULL,         -- JSON object: a level for each factor
    repetition INTEGER NOT NULL,
    outcome TEXT NOT NULL,      -- completed, interrupted, skipped, failed
    detail TEXT,                -- why it was skipped or failed
    start_ns INTEGER NOT NULL,  -- after the session began
    PRIMARY KEY (session, trial)
) STRICT, WITHOUT ROWID;

CREATE TABLE phases (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    trial INTEGER NOT NULL,
    phase INTEGER NOT NULL,     -- from 0, in the order in which they ran
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,      -- completed, ended_early, skipped, failed
    detail TEXT,                -- why it was skipped or failed
    start_ns INTEGER NOT NULL,  -- after the session began
    elapsed_ns INTEGER NOT NULL,
    PRIMARY KEY (session, trial, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurements (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    trial INTEGER NOT NULL,
    phase INTEGER NOT NULL,
    place INTEGER NOT NULL,     -- from 0, in the order in which reports show them
    metric TEXT NOT NULL,
    unit TEXT NOT NULL,
    better TEXT NOT NULL,       -- more, less, neither
    value REAL NOT NULL,        -- in that unit
    n INTEGER NOT NULL,
    printed TEXT,
    corrected TEXT,
    PRIMARY KEY (session, trial, phase, place)
) STRICT, WITHOUT ROWID;

-- Of the whole session where trial is NULL, of a whole trial where phase is NULL.
CREATE TABLE caveats (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    trial INTEGER,
    phase INTEGER,
    code TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX caveats_by_session ON caveats (session);

-- Every measured number with what it takes to read it.
CREATE VIEW figures AS
SELECT sessions.id, sessions.started, sessions.label, sessions.workload,
       sessions.kernel, sessions.filesystems, trials.cell, trials.repetition,
       phases.name AS phase, metric, value, unit, better, n, printed
FROM measurements
JOIN phases USING (session, trial, phase)
JOIN trials USING (session, trial)
JOIN sessions ON sessions.key = session
WHERE phases.kind = 'measure';
