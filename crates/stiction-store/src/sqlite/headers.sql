-- Version 2: what it takes to read figures over many sessions without their records.

-- The header of each session, without the list of planned trials, which can be long.
CREATE TABLE headers (
    session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT;
INSERT INTO headers
SELECT session,
       CASE WHEN json_type(json, '$.header.plan') = 'object'
            THEN json_set(json_extract(json, '$.header'), '$.plan.trials', json('[]'))
            ELSE json_extract(json, '$.header')
       END
FROM records;

-- What stood under the places when the trial began, as JSON, where it was not what the
-- header has. No session from before this version says so.
ALTER TABLE trials ADD COLUMN targets TEXT;
