//! Waves that wait for one another across work-groups.

use crate::harness::Run;
use rj_isa::Target;

#[test]
fn a_barrier_of_the_gpu_holds_until_every_group_has_come() {
    for target in [Target::Gfx90a, Target::Gfx942] {
        for threads in [1, 3] {
            let run = Run { groups: 8, threads, ..Run::new(target, include_str!("gws_barrier.s")) };
            let data = run.go();
            assert_eq!(data[1], 0, "a group saw another that had not reached the barrier");
            assert_eq!(data[2], 8, "every group came to its end");
        }
    }
}

#[test]
fn a_semaphore_of_the_gpu_lets_as_many_pass_as_it_was_given() {
    for target in [Target::Gfx90a, Target::Gfx942] {
        for threads in [1, 3] {
            let run = Run { groups: 8, threads, ..Run::new(target, include_str!("gws_sema.s")) };
            let data = run.go();
            assert_eq!(data[1..4], [7, 2, 5], "two after two V, three more after BR, the rest after RELEASE_ALL");
        }
    }
}
