//! Refuses patterns that mean nothing or exceed a limit.

use stiction_core::{Access, Action, Job, PPM_WHOLE, SizeMix, Skew, SkewShape, Zone};

use crate::task::BLOCK_BYTES_MAX;

/// Most zones of a skew, and most sizes of a split.
const PARTS_MAX: usize = 4096;
const ZIPF_EXPONENT_PPM_MAX: u32 = 10 * PPM_WHOLE;

/// What is wrong with the pattern of `job`, and what would do.
pub(crate) fn problem(job: &Job) -> Option<String> {
    contradiction(job)
        .map(str::to_owned)
        .or_else(|| job.skew.as_ref().and_then(skew_problem).map(str::to_owned))
        .or_else(|| sizes(job))
}

fn contradiction(job: &Job) -> Option<&'static str> {
    let percent = match job.action {
        Action::Mixed { reads_percent } => reads_percent,
        Action::Read | Action::Write | Action::Trim | Action::TrimWrite => 0,
    };
    let follows = job.action == Action::TrimWrite || job.read_back_every.is_some();
    let jumps = job.jump_percent;
    let rules = [
        (
            percent > 100,
            "more than 100 of a hundred operations are to be reads",
        ),
        (
            job.skew.is_some() && job.access != Access::RandomIndependent,
            "only independent random offsets can be skewed: ask for those, or leave the skew",
        ),
        (
            job.run_operations == 0,
            "0 operations are to follow each jump: 1 or more are possible",
        ),
        (
            job.run_operations > 1 && job.access == Access::Sequential,
            "sequential offsets do not jump: ask for random ones, or leave the runs",
        ),
        (
            job.run_in_place && job.run_operations == 1,
            "a run that stays where it began has 2 operations or more",
        ),
        (
            jumps.is_some() && (job.access == Access::Sequential || job.run_operations > 1),
            "only random offsets without runs can go on in order: ask for those, or leave the share of jumps",
        ),
        (
            jumps.is_some_and(|percent| percent.read.max(percent.write).max(percent.trim) > 100),
            "more than 100 of a hundred operations are to jump",
        ),
        (
            job.passes == 0 || job.passes > 1 && !job.once,
            "a job that ends when it went through its regions does so 1 time or more, others never",
        ),
        (
            follows && job.pace.is_some_and(|pace| pace.by_way.is_some()),
            "what follows from other operations has no pace of its own: give all one pace",
        ),
        (
            job.stride.is_some() && job.access != Access::Sequential,
            "only sequential offsets can leave places out: ask for those, or leave the stride",
        ),
        (
            job.stride
                .is_some_and(|stride| stride.run_bytes == 0 || stride.skip_bytes == 0),
            "a stride moves 1 byte or more and leaves out 1 byte or more",
        ),
        (
            job.hop_bytes.is_some()
                && (job.access != Access::Sequential
                    || job.action != Action::Read
                    || job.stride.is_some()
                    || job.cut_bytes.is_some()),
            "only plain sequential reads hop: ask for those, or leave the hop",
        ),
        (
            job.cut_bytes.is_some() && (job.access != Access::Sequential || job.stride.is_some()),
            "only plain sequential operations are cut: ask for those, or leave the cuts",
        ),
        (
            job.hop_bytes == Some(0) || job.cut_bytes == Some(0),
            "a hop, and what lies between two cuts, is 1 byte or more",
        ),
        (
            job.bytes_per_worker == Some(0),
            "each worker is to move 0 bytes: 1 or more are possible",
        ),
    ];
    rules
        .into_iter()
        .find_map(|(broken, reason)| broken.then_some(reason))
}

/// What is wrong with `skew`.
pub(crate) fn skew_problem(skew: &Skew) -> Option<&'static str> {
    let (is_possible, reason) = match &skew.shape {
        SkewShape::Zipf { exponent_ppm } => (
            (1..=ZIPF_EXPONENT_PPM_MAX).contains(exponent_ppm),
            "the exponent of a zipf skew is above 0 and at most 10",
        ),
        SkewShape::SelfSimilar { hot_ppm } => (
            (1..PPM_WHOLE / 2).contains(hot_ppm),
            "the hot share of a self-similar skew is above 0 and below a half",
        ),
        SkewShape::Normal { deviation_ppm } => (
            (1..=PPM_WHOLE).contains(deviation_ppm),
            "the deviation of a normal skew is above 0 and at most the region",
        ),
        SkewShape::Zoned(zones) => (
            are_whole(zones),
            "the shares of 1 to 4096 zones add up to 1,000,000, \
             of the operations and of the region",
        ),
    };
    (!is_possible).then_some(reason)
}

fn are_whole(zones: &[Zone]) -> bool {
    let sum =
        |share: fn(&Zone) -> u32| zones.iter().map(|zone| u64::from(share(zone))).sum::<u64>();
    (1..=PARTS_MAX).contains(&zones.len())
        && sum(|zone| zone.operations_ppm) == u64::from(PPM_WHOLE)
        && sum(|zone| zone.region_ppm) == u64::from(PPM_WHOLE)
}

fn sizes(job: &Job) -> Option<String> {
    let sizes = job.sizes.as_ref()?;
    [&sizes.read, &sizes.write, &sizes.trim]
        .into_iter()
        .find_map(mix)
}

fn mix(mix: &SizeMix) -> Option<String> {
    let shape = match mix {
        SizeMix::One(_) => None,
        SizeMix::Range {
            min_bytes,
            max_bytes,
            step_bytes,
        } => (max_bytes < min_bytes || *step_bytes == 0)
            .then_some("a range of sizes rises by steps of 1 byte or more"),
        SizeMix::Split(shares) => {
            let is_possible = (1..=PARTS_MAX).contains(&shares.len())
                && shares.iter().all(|share| share.weight > 0);
            (!is_possible).then_some("a split has 1 to 4096 sizes, each with a weight of 1 or more")
        }
    };
    let known = 1..=BLOCK_BYTES_MAX;
    shape.map(str::to_owned).or_else(|| {
        let (least, greatest) = (mix.min_bytes(), mix.max_bytes());
        (!known.contains(&least) || !known.contains(&greatest)).then(|| {
            format!(
                "its sizes are {least} to {greatest} bytes; 1 to {BLOCK_BYTES_MAX} are possible"
            )
        })
    })
}
