//! What compiled code of HotSpot looks like on x86-64 where it makes and leaves its frame. Runs in signal handlers.

/// Where the return address of code lies that was stopped somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameState {
    /// The frame has its full size, and the caller's frame pointer is saved in it.
    Complete,
    /// The frame has its full size, and the caller's frame pointer is still in its register.
    PointerInRegister,
    /// The return address is on top of the stack, and the caller's frame pointer in its register.
    ReturnOnTop,
    /// The return address lies below the caller's frame pointer, which is on top of the stack.
    PointerOnTop,
}

/// So many bytes in front of a return address show whether it stands behind a call, and of what.
pub(super) const BEFORE: usize = 13;
/// So many bytes from the program counter on are looked at.
pub(super) const WINDOW: usize = 40;

/// What the instruction in front of a return address calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// It is no call.
    None,
    /// That address.
    Of(usize),
    /// What a register or a word in memory names.
    Unknown,
}

/// The call in front of a return address: `before` are the bytes there.
pub(super) fn call_before(before: &[u8; BEFORE], return_address: usize) -> Call {
    // With a register the second opcode byte is `ff /2`: bits 3 to 5 are 2.
    let is_call = |modrm: u8| modrm & 0x38 == 0x10;
    let [x, y, n0, n1, n2, n3, a, b, c, d, e, f, g] = *before;
    match [x, y, e, f, g] {
        // mov r10, number; call r10
        [0x49, 0xba, 0x41, 0xff, 0xd2] => return Call::Of(u64::from_le_bytes([n0, n1, n2, n3, a, b, c, d]) as usize),
        // mov rax, number; call rax
        [_, 0x48, _, 0xff, 0xd0] if n0 == 0xb8 => {
            return Call::Of(u64::from_le_bytes([n1, n2, n3, a, b, c, d, e]) as usize);
        }
        _ => {}
    }
    if c == 0xe8 {
        let distance = i32::from_le_bytes([d, e, f, g]);
        return Call::Of(return_address.wrapping_add_signed(distance as isize));
    }
    let is_unknown = f == 0xff && is_call(g) && matches!(g >> 6, 0 | 3)
        || e == 0xff && is_call(f) && (f >> 6 == 1 || f & 0xc7 == 0x04)
        || d == 0xff && e == 0x54
        || b == 0xff && is_call(c) && (c >> 6 == 2 || c & 0xc7 == 0x05)
        || a == 0xff && b == 0x94;
    if is_unknown { Call::Unknown } else { Call::None }
}

/// The state of compiled code at an address before which its frame is not complete: `before` are the bytes in front of it, `after`
/// those up to where the frame is complete.
pub(super) fn in_prologue(before: &[u8], after: &[u8]) -> FrameState {
    const MOVE_POINTER: [[u8; 3]; 2] = [[0x48, 0x8b, 0xec], [0x48, 0x89, 0xe5]];
    let is_sub = |code: &[u8]| matches!(code, [0x48, 0x81 | 0x83, 0xec, ..]);
    let is_move = |code: &[u8]| MOVE_POINTER.iter().any(|wanted| code.starts_with(wanted));
    let is_push =
        |code: &[u8]| code.first() == Some(&0x55) && (code.len() == 1 || is_sub(&code[1..]) || is_move(&code[1..]));
    let was_pushed = before.last() == Some(&0x55)
        || before.len() > 3
            && MOVE_POINTER.iter().any(|wanted| before.ends_with(wanted))
            && before[before.len() - 4] == 0x55;
    match after {
        code if is_sub(code) || is_move(code) => {
            if was_pushed {
                FrameState::PointerOnTop
            } else {
                FrameState::ReturnOnTop
            }
        }
        // mov [rsp + ...], rbp
        [0x48, 0x89, 0x6c | 0xac, 0x24, ..] => FrameState::PointerInRegister,
        // The frame begins further on.
        code if (0..code.len()).any(|at| is_push(&code[at..]) || is_sub(&code[at..])) => FrameState::ReturnOnTop,
        _ if was_pushed => FrameState::PointerOnTop,
        _ => FrameState::Complete,
    }
}

/// The state of compiled code whose frame was complete: it may have been left already, which the instructions up to the return show.
pub(super) fn in_body(after: &[u8]) -> FrameState {
    let mut code = after;
    let mut pops = false;
    loop {
        let length = match code {
            [0xc3, ..] | [0xc2, ..] | [0xf3, 0xc3, ..] => {
                return if pops { FrameState::PointerOnTop } else { FrameState::ReturnOnTop };
            }
            [0x5d, ..] if !pops => {
                pops = true;
                1
            }
            // vzeroupper
            [0xc5, 0xf8, 0x77, ..] => 3,
            // cmp rsp, [r15 + ...]
            [0x49, 0x3b, 0x67, ..] => 4,
            [0x49, 0x3b, 0xa7, ..] => 7,
            // ja
            [0x0f, 0x87, ..] => 6,
            [0x77, ..] => 2,
            // mov r10 or r11, [r15 + ...]
            [0x4d, 0x8b, 0x57 | 0x5f, ..] => 4,
            [0x4d, 0x8b, 0x97 | 0x9f, ..] => 7,
            // test [r10], eax; test [r11], eax; test [rip + ...], eax
            [0x41, 0x85, 0x02 | 0x03, ..] => 3,
            [0x85, 0x05, ..] => 6,
            _ => return FrameState::Complete,
        };
        code = code.get(length..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::FrameState::{Complete, PointerInRegister, PointerOnTop, ReturnOnTop};
    use super::*;

    fn call(code: &[u8]) -> Call {
        let mut before = [0x90; BEFORE];
        before[BEFORE - code.len()..].copy_from_slice(code);
        call_before(&before, 0x1_0000)
    }

    #[test]
    fn calls_of_all_kinds_are_known() {
        assert_eq!(call(&[0xe8, 0x10, 0xff, 0xff, 0xff]), Call::Of(0xff10));
        assert_eq!(call(&[0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 0, 0x41, 0xff, 0xd2]), Call::Of(0x0007_0605_0403_0201));
        assert_eq!(call(&[0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 0, 0xff, 0xd0]), Call::Of(0x0007_0605_0403_0201));
        let unknown: [&[u8]; 10] = [
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd2],
            &[0xff, 0x10],
            &[0xff, 0x50, 8],
            &[0xff, 0x14, 0x24],
            &[0xff, 0x54, 0x24, 8],
            &[0xff, 0x90, 1, 2, 0, 0],
            &[0x41, 0xff, 0x93, 1, 2, 0, 0],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
        ];
        for code in unknown {
            assert_eq!(call(code), Call::Unknown, "{code:x?}");
        }
        let others: [&[u8]; 5] = [&[], &[0xff, 0xe0], &[0xe9, 1, 2, 3, 4], &[0xff, 0x60, 8], &[0x48, 0x8b, 0x04, 0x24]];
        for other in others {
            assert_eq!(call(other), Call::None, "{other:x?}");
        }
    }

    /// mov [rsp - 0x14000], eax; push rbp; sub rsp, 0x20; then it is complete.
    const WITH_BANG: [u8; 12] = [0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20];
    /// sub rsp, 0x18; mov [rsp + 0x10], rbp.
    const WITHOUT: [u8; 12] = [0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10];
    /// push rbp; mov rbp, rsp; sub rsp, 0x20
    const NATIVE: [u8; 8] = [0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x20];

    #[test]
    fn each_instruction_of_a_prologue_has_its_state() {
        let states = |code: &[u8], starts: &[usize]| {
            starts.iter().map(|&at| in_prologue(&code[..at], &code[at..])).collect::<Vec<_>>()
        };
        assert_eq!(states(&WITH_BANG, &[0, 7, 8]), [ReturnOnTop, ReturnOnTop, PointerOnTop]);
        assert_eq!(states(&WITHOUT, &[0, 7]), [ReturnOnTop, PointerInRegister]);
        assert_eq!(states(&NATIVE, &[0, 1, 4]), [ReturnOnTop, PointerOnTop, PointerOnTop]);
        // The check of the receiver's class, in front of it.
        let check = [[0x44, 0x8b, 0x56, 0x08].as_slice(), &WITH_BANG].concat();
        assert_eq!(states(&check, &[0]), [ReturnOnTop]);
        // What follows the frame but is in front of its completion: the barrier of a collector.
        let barrier = [[0x41, 0x81, 0x7f, 0x20, 0x01, 0, 0, 0].as_slice(), &[0x0f, 0x85]].concat();
        assert_eq!(in_prologue(&WITH_BANG, &barrier), Complete);
    }

    #[test]
    fn each_instruction_of_an_epilogue_has_its_state() {
        // add rsp, 0x20; pop rbp; cmp rsp, [r15 + 0x460]; ja; ret
        let new = [
            0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 0x60, 0x04, 0, 0, 0x0f, 0x87, 1, 2, 3, 4, 0xc3, 0xf4, 0xf4,
        ];
        let states = |code: &[u8], starts: &[usize]| starts.iter().map(|&at| in_body(&code[at..])).collect::<Vec<_>>();
        assert_eq!(states(&new, &[0, 4, 5, 12, 18]), [Complete, PointerOnTop, ReturnOnTop, ReturnOnTop, ReturnOnTop]);
        // pop rbp; mov r10, [r15 + 0x70]; test [r10], eax; ret
        let old = [0x5d, 0x4d, 0x8b, 0x57, 0x70, 0x41, 0x85, 0x02, 0xc3];
        assert_eq!(states(&old, &[0, 1, 5, 8]), [PointerOnTop, ReturnOnTop, ReturnOnTop, ReturnOnTop]);
        // leave; ret: the frame is there up to the first.
        assert_eq!(states(&[0xc9, 0xc3], &[0, 1]), [Complete, ReturnOnTop]);
        // Anything else, and what is cut off.
        assert_eq!(states(&[0x48, 0x8b, 0x04, 0x24, 0xc3], &[0]), [Complete]);
        assert_eq!(in_body(&[0x5d]), Complete);
    }
}
