//! Sessions in and out of SQLite, rebuilt from journals at any time.
