//! The doors.
fn main() {}
