//! `mirage kernel`.

use crate::cli::KernelArgs;
use crate::context::Context;
use mirage_core::Error;

pub(crate) fn main(_: &Context, _: KernelArgs) -> Result<u8, Error> {
    unimplemented!()
}
