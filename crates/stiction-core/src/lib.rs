//! The vocabulary of stiction: units, plans, records, histograms, caveats, ids.
//!
//! Pure data. Nothing here opens a file, reads a clock, makes a system call or
//! knows what a terminal is; every other crate may depend on this one and this
//! one depends on none of them.
//!
//! The flow that these types carry:
//!
//! ```text
//! Job, Plan  --execute-->  Session > Trial > Phase > Measurement, Recording
//! ```

mod accounting;
mod annotation;
mod bisect;
mod block_trace;
mod bound;
mod calls;
mod caveat;
mod cell;
mod conditions;
mod content;
mod course;
mod depths;
mod digest;
mod environment;
mod estimate;
mod export;
mod figures;
mod file_order;
mod filesystem_counters;
mod foresight;
mod heat;
mod histogram;
mod id;
mod job;
mod layout;
mod measurement;
mod metric;
mod omitted;
mod pace;
mod pattern;
mod phase;
mod placement;
mod plan;
mod preparation;
mod profile;
mod program;
mod record;
mod recording;
mod reserve;
mod resumption;
mod seed;
mod session;
mod setting;
mod size;
mod skip;
mod stalls;
mod steady;
mod summary;
mod target;
mod trace;
mod witness;
mod witness_level;

pub use accounting::{Delay, Pressure, PressureSeen, ProcessActivity, ProcessIo, TaskDelays};
pub use annotation::{Annotation, AnnotationKind};
pub use bisect::{
    BISECT_FORMAT_VERSION, BisectEvent, BisectQuestion, BlockValues, Link, Seek, SoughtMetric,
    Untestable, Version,
};
pub use block_trace::{
    BlockTrace, DepthCourse, KindTrace, RequestCount, RequestKind, SizeCount, TraceSource,
};
pub use bound::{Bound, LatencyFigure, LatencyLimit, LimitError, RateOutcome};
pub use calls::{CallFlags, RingOptions};
pub use caveat::{Caveat, CaveatCode, Subject};
pub use cell::{Cell, Level};
pub use conditions::{Conditions, FileState};
pub use content::DataShape;
pub use course::{Batches, Counted, DepthSearch, Floor, ThinkTime, Tolerance};
pub use depths::Depths;
pub use digest::Digest;
pub use environment::{
    Cpu, Environment, IoLimit, Kernel, Limits, Memory, MissingFact, Tool, Virtualisation,
};
pub use estimate::Estimate;
pub use export::{
    EXPORT_SCHEMA, EXPORT_SCHEMA_VERSION, ExportError, export_session, read_exported_session,
};
pub use figures::{
    AllActive, all_active_within, figures_of_operations, is_of_operations, latencies_of_operations,
    moves_bytes, operations_and_bytes,
};
pub use file_order::{FileChoice, FileOrder};
pub use filesystem_counters::{
    Between, BtrfsCounters, Ext4Counters, FilesystemCounters, JournalTraffic, XfsCounters,
};
pub use foresight::{ForeseenPart, ForeseenTrial, Foresight, Known};
pub use heat::{Heat, Temperature};
pub use histogram::{Histogram, HistogramError};
pub use id::{IdError, SessionId};
pub use job::{
    BackendKind, Create, Data, Job, MapAdvice, Region, StartOrder, SyncEvery, SyncKind, Timing,
    WriteSync, WritebackEvery,
};
pub use layout::{Extent, FileMap, Layout};
pub use measurement::Measurement;
pub use metric::{Better, Metric, MetricClass, Unit, metrics};
pub use pace::{Arrivals, LoopKind, Pace, Rate, RatesByWay};
pub use pattern::{
    Access, Action, JumpPercent, PPM_WHOLE, SizeMix, SizeShare, Sizes, Skew, SkewShape, Stride,
    Zone,
};
pub use phase::{Phase, PhaseKind, PhaseOutcome, WorkerSummary};
pub use placement::{CpuPolicy, IoPriority, MemoryPolicy, Placement};
pub use plan::{Plan, PlannedTrial};
pub use preparation::{
    CacheState, Canary, LOOK_NS, Precondition, Preparation, PreparationEstimate, Spoiler,
    SpoilerKind, SpoilerPolicy, doubts_of_spoilers,
};
pub use profile::{FoldedStack, Profile};
pub use program::{
    CacheBefore, OptionWithoutEffect, Program, ProgramDefault, ProgramEnds, ProgramPart,
    ProgramPlace, ProgramTarget,
};
pub use record::{RECORD_FORMAT_VERSION, Record, SessionHeader};
pub use recording::{Direction, Interval, Recording};
pub use reserve::Reserve;
pub use resumption::{Invocation, Resumption};
pub use seed::Seed;
pub use session::{
    Provenance, Session, SessionBuilder, SessionEnd, SessionError, SessionOutcome, Trial,
    TrialOutcome,
};
pub use setting::{Applied, Moved, Setting};
pub use size::{
    SizeError, format_bytes, format_count, format_duration_ns, parse_duration_ns, parse_size_bytes,
};
pub use skip::{SkipCode, SkipReason};
pub use stalls::WritebackStall;
pub use steady::{
    Line, Steadiness, SteadyFigure, SteadyLimit, SteadyRule, SteadySense, SteadyStop,
};
pub use summary::{Summary, TrialCounts};
pub use target::{Filesystem, Layer, LayerKind, TargetStack};
pub use trace::{ProgramTrace, TraceCall, TraceStep};
pub use witness::{
    CpuTime, DeviceTraffic, MovedBeside, PageEvents, PageTraffic, QueueTraffic, Residency,
    SystemCpu, Witnesses,
};
pub use witness_level::{WitnessCost, WitnessLevel};
