//! Text of other tools, in and out of stiction's types. Pure.
