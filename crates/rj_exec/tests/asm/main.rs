//! Assembly programs run on the engine. Each `.s` file is a listing: the text of an instruction, its place and its
//! dwords (made by LLVM's assembler, checked against our decoder's text when it is loaded). Expected values come from
//! the manuals' rules, worked out in the test, never from the handlers.

mod harness;
mod sync;
