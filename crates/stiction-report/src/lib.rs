//! Judgements to text. Pure: sessions and what the analysis found in them go in,
//! strings come out.
//!
//! Every report but the classic tiobench tables fits 80 columns, is ASCII, and
//! ends with the answer.

mod bisect;
pub mod bonnie;
mod calibration;
mod cell;
mod command;
mod comparison;
pub mod contest;
mod coverage;
mod curve;
mod doubts;
mod environment;
mod explain;
pub mod ext3_tools;
mod figure;
mod fio;
pub mod fio_output;
mod fio_run;
mod flame_graph;
mod history;
mod import;
pub mod ioping;
pub mod json;
mod judged;
pub mod layout;
mod list;
mod metadata;
mod outcome;
mod page;
mod plan;
mod quick;
mod runs;
mod selftest;
mod show;
mod stack;
mod steady;
pub mod sync_methods;
mod text;
pub mod tiobench;

pub use bisect::{Subjects, bisect, bisect_bracket};
pub use calibration::calibration;
pub use command::command;
pub use comparison::{
    JunitRules, MAIL_WIDTH, MailFault, Shown, comparison, csv, junit, mail, mail_faults, markdown,
    osdl,
};
pub use coverage::coverage;
pub use curve::curve;
pub use explain::{ExplainShown, explain};
pub use fio::{fio_errors, fio_lint};
pub use fio_run::{fio_run, is_fio_run};
pub use flame_graph::{flame_graph, folded};
pub use history::{
    Confirmation, Detail, HistoryList, history, history_confirmation, history_markdown,
    history_of_one,
};
pub use import::{ImportedFile, ImportedSession, UnreadLine, import};
pub use judged::Judged;
pub use list::{Listed, list};
pub use metadata::metadata;
pub use outcome::going_on;
pub use page::Style;
pub use plan::plan;
pub use quick::quick;
pub use selftest::selftest;
pub use show::show;
pub use stack::stack_line;
pub use text::WIDTH;
