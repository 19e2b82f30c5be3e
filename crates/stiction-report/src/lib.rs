//! Judgements to text. Pure.
