//! What programs do with the fds of a device.

mod common;
use common::Session;

#[test]
fn fds_are_duplicated_closed_reused_and_closed_in_bulk_as_on_hardware() {
    assert_eq!(Session::new().check("fds.c", &[]), "done\n");
}
