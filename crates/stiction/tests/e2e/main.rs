//! The binary from outside: what it prints, how it ends, and that it leaves nothing
//! behind.

mod bonnie;
mod columns;
mod contest;
mod counters;
mod curve;
mod devices;
mod exits;
mod ext3_tools;
mod filesystems;
mod fio;
mod fio_output;
mod fio_run;
mod json;
mod keeping;
mod lab;
mod layout;
mod limits;
mod manual;
mod places;
mod rights;
mod running;
mod signals;
mod space;
mod store;
mod streams;
