//! Sessions in and out of SQLite, an index of the journals.
//!
//! The journals are the truth. A [`Store`] holds what they hold in a form that
//! can be searched, and may be thrown away: an [`Archive`] keeps the two together,
//! notices when they differ, and makes the store anew from the journals.
//!
//! A directory of state:
//!
//! ```text
//! DIR/journals/ID.jsonl   one a session: the truth
//! DIR/store.sqlite3       made from them
//! DIR/annotations.json    what people know about changes in series
//! ```

mod archive;
mod document;
mod error;
mod filter;
mod sqlite;
mod store;

pub use archive::{Archive, CatchUp, Unreadable};
pub use document::Document;
pub use error::StoreError;
pub use filter::Filter;
pub use sqlite::SqliteStore;
pub use store::{Resolution, Store};
