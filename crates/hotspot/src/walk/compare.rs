//! What the agent that compares walks with those of the VM needs to know of them (`crates/jvmti/walker`).

use super::code::Kind;
use super::{Frame, MethodNumber, Walker};

/// A frame as the VM has it.
#[derive(Clone, Copy, Debug)]
pub struct VmFrame {
    /// The address of the `Method`; 0: the VM has no id for it, and does not say which it is.
    pub method: usize,
    /// `None`: a native method.
    pub bytecode_index: Option<usize>,
}

/// How a frame compares with that of the VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The same method and line.
    Same,
    /// The same method at another line.
    OtherLine,
    /// Another method.
    OtherMethod,
}

impl Walker {
    /// What code an address lies in.
    pub fn place(&self, pc: usize) -> &'static str {
        match self.code(pc).map(|code| code.kind) {
            None => "outside",
            Some(Kind::Java) => "compiled",
            Some(Kind::Native) => "native",
            Some(Kind::Interpreter) => "interpreter",
            Some(Kind::Entry | Kind::Upcall | Kind::Barrier | Kind::Stub) => "stub",
        }
    }

    /// The name of the piece of code that an address lies in, and how far it is into it.
    pub fn code_name(&self, pc: usize) -> Option<(String, usize)> {
        let code = self.code(pc)?;
        let name = self.loads.word(code.blob + self.layout.blob.name)?;
        let bytes = (0..100).map_while(|at| self.loads.u8(name + at).filter(|&byte| byte != 0));
        Some((String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned(), pc.wrapping_sub(code.begin)))
    }

    /// The number of a method of the VM's, which has a frame.
    pub fn number(&self, vm: VmFrame) -> Option<MethodNumber> {
        let method = self.layout.method.read(self.loads, vm.method)?;
        self.methods.number_of(self.loads, &method).ok().map(|known| known.number)
    }

    /// The word at an address.
    pub fn word(&self, address: usize) -> Option<usize> {
        self.loads.word(address)
    }

    /// Compares a frame with that of the VM; while the thread that has it is stopped, or runs this.
    pub fn compare(&self, frame: Frame, vm: VmFrame) -> Match {
        if vm.method == 0 {
            return Match::Same;
        }
        let Some(method) = self.layout.method.read(self.loads, vm.method) else { return Match::OtherMethod };
        let Some(names) = self.method(frame.method) else { return Match::OtherMethod };
        let text = |symbol: super::method::Symbol, bytes: &[u8]| {
            usize::from(symbol.length) == bytes.len()
                && bytes.iter().enumerate().all(|(at, &byte)| self.loads.u8(symbol.body + at) == Some(byte))
        };
        let is_same = text(method.class_name, names.class)
            && text(method.name, names.name)
            && text(method.signature, names.signature);
        let line = vm.bytecode_index.map_or(0, |index| method.line(self.loads, self.encoding, index));
        match is_same {
            true if line == frame.line => Match::Same,
            true => Match::OtherLine,
            false => Match::OtherMethod,
        }
    }
}
