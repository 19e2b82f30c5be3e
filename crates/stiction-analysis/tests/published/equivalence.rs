//! Equivalence: the examples of the R package TOSTER.

use stiction_analysis::estimate::equivalence;
use stiction_analysis::estimate::student::{Moments, Student};

use crate::assert_digits;

/// D. Lakens, "Equivalence tests: a practical primer for t tests, correlations, and
/// meta-analyses", Social Psychological and Personality Science 8 (2017), and the help
/// page of `TOSTtwo`: a replication of Eskine's study of organic food and moral judgement,
/// margin d = 0.43, which is 0.384 on the scale. t = -2.69,
/// p = 0.004.
#[test]
fn organic_food_does_not_harden_judgement() {
    let control = Moments {
        mean: 5.25,
        deviation: 0.95,
        n: 95,
    };
    let organic = Moments {
        mean: 5.22,
        deviation: 0.83,
        n: 89,
    };
    // Cohen's d in units of the root mean square of the two deviations.
    let unit = f64::midpoint(control.deviation.powi(2), organic.deviation.powi(2)).sqrt();
    let margin = 0.43 * unit;
    assert_digits(margin, 0.384, 3);
    let student = Student::unpaired(organic, control).unwrap();
    assert_digits(
        (student.estimate - margin) / student.standard_error,
        -2.69,
        2,
    );
    assert_digits(equivalence::p_student(&student, margin), 0.004, 3);
    // And the usual test finds nothing, as that primer reports.
    assert!(student.p_two_sided() > 0.05);
}
