//! Tests by turning differences round: Fisher, Student, exactRankTests.

use stiction_analysis::estimate::{sign_flip, student};

use crate::{MAIZE, SLEEP, assert_digits, sleep_gain};

/// R. A. Fisher, "The design of experiments" (1935), section 21: of 32768 sums 835 are
/// greater than that of Darwin's plants, 28 equal it: 863, or 2.634 %, on one side.
#[test]
fn darwins_maize_by_fishers_count() {
    let p = sign_flip::p_two_sided(&MAIZE).unwrap();
    assert_eq!(p, 2.0 * 863.0 / 32768.0);
    assert_digits(p / 2.0, 0.02634, 5);
}

/// The same data by Student's t: Fisher has a mean of 20.93 eighths and t = 2.148 with 14
/// degrees of freedom.
#[test]
fn darwins_maize_by_student() {
    let student = student::Student::paired(&MAIZE).unwrap();
    assert_digits(student.estimate, 20.93, 2);
    assert_digits(student.t(), 2.148, 3);
    assert_eq!(student.freedom, 14.0);
}

/// R's help page of `t.test`, `t.test(extra ~ group, data = sleep, paired = TRUE)`:
/// t = -4.0621, df = 9, p-value = 0.002833, interval -2.4598858 to -0.7001142.
#[test]
fn sleep_by_students_t_in_pairs() {
    let turned: Vec<f64> = sleep_gain().iter().map(|gain| -gain).collect();
    let student = student::Student::paired(&turned).unwrap();
    assert_digits(student.t(), -4.0621, 4);
    assert_digits(student.p_two_sided(), 0.002833, 6);
    let (lowest, highest) = student.interval(0.95);
    assert_digits(lowest, -2.459_885_8, 7);
    assert_digits(highest, -0.700_114_2, 7);
}

/// R's help page of `t.test`, `t.test(extra ~ group, data = sleep)` without pairs:
/// t = -1.8608, df = 17.776, p-value = 0.07939, interval -3.3654832 to 0.2054832.
#[test]
fn sleep_by_welchs_t() {
    let [first, second] = SLEEP.map(|side| student::Moments::of(&side).unwrap());
    let student = student::Student::unpaired(second, first).unwrap();
    assert_digits(student.t(), -1.8608, 4);
    assert_digits(student.freedom, 17.776, 3);
    assert_digits(student.p_two_sided(), 0.07939, 5);
    let (lowest, highest) = student.interval(0.95);
    assert_digits(lowest, -3.365_483_2, 7);
    assert_digits(highest, 0.205_483_2, 7);
}
