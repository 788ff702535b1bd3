//! Operations: names, and which targets have them.

use crate::gen_names::Op;
use crate::gen_table::ROWS;
use crate::table::NO_OP;
use crate::target::Target;

impl Op {
    /// Its name, as LLVM's pseudo instruction without encoding and generation suffixes: `V_ADD_F32`.
    pub fn name(self) -> &'static str {
        let rest = &Op::NAMES[Op::NAMES_AT[self as usize] as usize..];
        rest.split_once('\n').map_or(rest, |(n, _)| n)
    }

    /// Every operation of a target, in order. Reads the whole table: meant for lists and tests.
    pub fn all_of(target: Target) -> impl Iterator<Item = Op> {
        let mut has = vec![false; Op::COUNT];
        for row in ROWS.iter().filter(|r| r.is_for(target)) {
            has[row.op as usize] = true;
            if row.op_y != NO_OP {
                has[usize::from(row.op_y)] = true;
            }
        }
        Op::ALL.into_iter().filter(move |op| has[*op as usize])
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_variants_names() {
        for op in Op::ALL {
            assert_eq!(op.name(), format!("{op:?}"));
        }
    }

    #[test]
    fn targets_have_their_own_operations() {
        let has = |t, op| Op::all_of(t).any(|o| o == op);
        assert!(has(Target::Gfx942, Op::V_MFMA_F64_4X4X4F64) && !has(Target::Gfx1100, Op::V_MFMA_F64_4X4X4F64));
        assert!(has(Target::Gfx1201, Op::S_WAIT_LOADCNT) && !has(Target::Gfx942, Op::S_WAIT_LOADCNT));
        assert!(Op::all_of(Target::Gfx1250).count() > 900);
    }

    #[test]
    fn no_row_has_more_fields_than_an_instruction_holds() {
        for row in &ROWS {
            let mut fields: Vec<u8> = row.spans().iter().map(|s| s[0]).collect();
            fields.dedup();
            let n = fields.len();
            fields.sort_unstable();
            fields.dedup();
            assert_eq!(n, fields.len(), "{}: spans of one field stand together", row.name());
            assert!(n <= crate::inst::FIELDS, "{}", row.name());
        }
    }
}
