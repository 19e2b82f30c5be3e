//! Turns a plan into a session: admission, order, environment, journal, cleaning up.
