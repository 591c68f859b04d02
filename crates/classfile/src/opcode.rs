//! Opcodes (JVMS 6.5): those the rewriter and its callers name, the length of each, and sets of them.

#![allow(missing_docs)] // the names are those of JVMS 6.5

pub const NOP: u8 = 0;
pub const ICONST_M1: u8 = 2;
pub const ICONST_0: u8 = 3;
pub const BIPUSH: u8 = 16;
pub const SIPUSH: u8 = 17;
pub const LDC: u8 = 18;
pub const LDC_W: u8 = 19;
pub const LDC2_W: u8 = 20;
pub const ILOAD: u8 = 21;
pub const LLOAD: u8 = 22;
pub const ALOAD: u8 = 25;
pub const ALOAD_0: u8 = 42;
pub const ALOAD_1: u8 = 43;
pub const AALOAD: u8 = 50;
pub const ISTORE: u8 = 54;
pub const ASTORE: u8 = 58;
pub const ISTORE_0: u8 = 59;
pub const ASTORE_3: u8 = 78;
pub const AASTORE: u8 = 83;
pub const POP: u8 = 87;
pub const POP2: u8 = 88;
pub const DUP: u8 = 89;
pub const DUP2: u8 = 92;
pub const SWAP: u8 = 95;
pub const IADD: u8 = 96;
pub const IINC: u8 = 132;
pub const IFEQ: u8 = 153;
pub const IF_ACMPNE: u8 = 166;
pub const GOTO: u8 = 167;
pub const JSR: u8 = 168;
pub const RET: u8 = 169;
pub const TABLESWITCH: u8 = 170;
pub const LOOKUPSWITCH: u8 = 171;
pub const IRETURN: u8 = 172;
pub const LRETURN: u8 = 173;
pub const FRETURN: u8 = 174;
pub const DRETURN: u8 = 175;
pub const ARETURN: u8 = 176;
pub const RETURN: u8 = 177;
pub const GETSTATIC: u8 = 178;
pub const PUTSTATIC: u8 = 179;
pub const GETFIELD: u8 = 180;
pub const PUTFIELD: u8 = 181;
pub const INVOKEVIRTUAL: u8 = 182;
pub const INVOKESPECIAL: u8 = 183;
pub const INVOKESTATIC: u8 = 184;
pub const INVOKEINTERFACE: u8 = 185;
pub const INVOKEDYNAMIC: u8 = 186;
pub const NEW: u8 = 187;
pub const NEWARRAY: u8 = 188;
pub const ANEWARRAY: u8 = 189;
pub const ARRAYLENGTH: u8 = 190;
pub const ATHROW: u8 = 191;
pub const CHECKCAST: u8 = 192;
pub const INSTANCEOF: u8 = 193;
pub const MONITORENTER: u8 = 194;
pub const MONITOREXIT: u8 = 195;
pub const WIDE: u8 = 196;
pub const MULTIANEWARRAY: u8 = 197;
pub const IFNULL: u8 = 198;
pub const IFNONNULL: u8 = 199;
pub const GOTO_W: u8 = 200;
pub const JSR_W: u8 = 201;

/// Lengths by opcode, opcode included; 0 where the length depends on what follows or the opcode is unknown.
pub(crate) const LENGTHS: [u8; 256] = lengths();

const fn lengths() -> [u8; 256] {
    let mut table = [0; 256];
    let mut op = 0;
    while op <= JSR_W as usize {
        table[op] = match op as u8 {
            BIPUSH | LDC | ILOAD..=ALOAD | ISTORE..=ASTORE | RET | NEWARRAY => 2,
            SIPUSH | LDC_W | LDC2_W | IINC => 3,
            IFEQ..=JSR | GETSTATIC..=INVOKESTATIC | NEW | ANEWARRAY => 3,
            CHECKCAST | INSTANCEOF | IFNULL | IFNONNULL => 3,
            MULTIANEWARRAY => 4,
            INVOKEINTERFACE | INVOKEDYNAMIC | GOTO_W | JSR_W => 5,
            TABLESWITCH | LOOKUPSWITCH | WIDE => 0,
            _ => 1,
        };
        op += 1;
    }
    table
}

/// The instructions that hold distances to other instructions.
pub(crate) const MOVING: OpcodeSet = {
    let mut moving = [0; (JSR - IFEQ) as usize + 7];
    let mut at = 0;
    while at < moving.len() - 6 {
        moving[at] = IFEQ + at as u8;
        at += 1;
    }
    let others = [TABLESWITCH, LOOKUPSWITCH, IFNULL, IFNONNULL, GOTO_W, JSR_W];
    while at < moving.len() {
        moving[at] = others[at + others.len() - moving.len()];
        at += 1;
    }
    OpcodeSet::of(&moving)
};

/// True for the 16-bit conditional branches.
pub(crate) fn is_conditional(op: u8) -> bool {
    matches!(op, IFEQ..=IF_ACMPNE | IFNULL | IFNONNULL)
}

/// The conditional branch that jumps exactly when `op` does not.
pub(crate) fn inverted(op: u8) -> u8 {
    match op {
        IFNULL => IFNONNULL,
        IFNONNULL => IFNULL,
        // The pairs ifeq/ifne, iflt/ifge, ifgt/ifle, if_icmp.., if_acmp.. begin at an odd number.
        _ => ((op - 1) ^ 1) + 1,
    }
}

/// True where the next instruction in the code is not what runs next.
#[inline]
pub(crate) fn never_continues(code: &[u8], pc: usize) -> bool {
    match code.get(pc) {
        Some(&WIDE) => code.get(pc + 1) == Some(&RET),
        Some(&op) => matches!(op, GOTO | RET..=RETURN | ATHROW | GOTO_W),
        None => false,
    }
}

/// A set of opcodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpcodeSet {
    bits: [u64; 4],
    /// The members again if there are few of them, the last one repeated: what vector instructions look for.
    few: Option<[u8; FEW]>,
}

const FEW: usize = 8;

impl OpcodeSet {
    /// Every opcode.
    pub const ALL: OpcodeSet = OpcodeSet { bits: [u64::MAX; 4], few: None };

    /// The set of these opcodes.
    pub const fn of(opcodes: &[u8]) -> Self {
        OpcodeSet { bits: [0; 4], few: None }.and(opcodes)
    }

    /// This set and these opcodes.
    pub const fn and(mut self, opcodes: &[u8]) -> Self {
        let mut i = 0;
        while i < opcodes.len() {
            self.bits[(opcodes[i] >> 6) as usize] |= 1 << (opcodes[i] & 63);
            i += 1;
        }
        let mut few = [0; FEW];
        let mut members = 0;
        let mut opcode = 0;
        while opcode <= u8::MAX as usize {
            if self.contains(opcode as u8) {
                let mut rest = members;
                while rest < FEW {
                    few[rest] = opcode as u8;
                    rest += 1;
                }
                members += 1;
            }
            opcode += 1;
        }
        self.few = if members > 0 && members <= FEW { Some(few) } else { None };
        self
    }

    /// Whether the set holds `opcode`.
    #[inline]
    pub const fn contains(&self, opcode: u8) -> bool {
        self.bits[(opcode >> 6) as usize] >> (opcode & 63) & 1 != 0
    }

    /// Calls `visit` with each member, with some perhaps more than once.
    pub(crate) fn for_each(&self, visit: impl FnMut(u8)) {
        match self.few {
            Some(few) => few.into_iter().for_each(visit),
            None => (0..=u8::MAX).filter(|&opcode| self.contains(opcode)).for_each(visit),
        }
    }

    /// Whether any byte of `code` is in the set: if not, no instruction is, and the code need not be walked.
    pub(crate) fn occurs_in(&self, code: &[u8]) -> bool {
        let Some(few) = self.few else {
            return code.iter().any(|&byte| self.contains(byte));
        };
        let (blocks, rest) = code.as_chunks::<32>();
        // Without an early exit inside a block the compiler compares all its bytes at once.
        let found = |block: &[u8; 32]| {
            let hit = |hits, &byte: &u8| few.iter().fold(hits, |hits, &one| hits | (byte == one));
            block.iter().fold(false, hit)
        };
        blocks.iter().any(found) || rest.iter().any(|&byte| self.contains(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_found_wherever_their_members_stand() {
        const SET: OpcodeSet = OpcodeSet::of(&[NEW, RETURN, NOP]);
        assert!((0..=255).all(|op| SET.contains(op) == [NEW, RETURN, NOP].contains(&op)));
        assert_eq!(OpcodeSet::of(&[NOP, RETURN]).and(&[NEW, NOP]), SET);
        assert_eq!(SET.and(&[]), SET);
        assert!(!OpcodeSet::of(&[]).occurs_in(&[0; 100]));
        let many: Vec<u8> = (100..120).collect();
        for at in 0..100 {
            let mut code = [1; 100];
            assert!(!SET.occurs_in(&code));
            code[at] = RETURN;
            assert!(SET.occurs_in(&code), "{at}");
            assert!(!OpcodeSet::of(&many).occurs_in(&code));
            code[at] = 110;
            assert!(OpcodeSet::of(&many).occurs_in(&code), "{at}");
        }
    }

    #[test]
    fn moving_instructions_are_branches_and_switches() {
        let moving: Vec<u8> = (0..=255).filter(|&op| MOVING.contains(op)).collect();
        let mut expected: Vec<u8> = (153..=168).collect();
        expected.extend([170, 171, 198, 199, 200, 201]);
        assert_eq!(moving, expected);
    }

    #[test]
    fn inversion_pairs_are_those_of_the_specification() {
        // ifeq ifne, iflt ifge, ifgt ifle, if_icmpeq ne, lt ge, gt le, if_acmpeq ne.
        for first in (IFEQ..=IF_ACMPNE).step_by(2) {
            assert_eq!(inverted(first), first + 1);
            assert_eq!(inverted(first + 1), first);
        }
        assert_eq!(inverted(IFNULL), IFNONNULL);
        assert_eq!(inverted(IFNONNULL), IFNULL);
    }
}
