//! A small assembler: classes that no compiler makes.

use classfile::opcode as op;

/// Constants of the class being made. None is shared, but names used for attributes.
pub(crate) struct Pool {
    bytes: Vec<u8>,
    pub(crate) count: u16,
}

impl Pool {
    fn add(&mut self, tag: u8, parts: &[&[u8]]) -> u16 {
        self.bytes.push(tag);
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.count += 1;
        self.count - 1
    }

    pub(crate) fn utf8(&mut self, text: &str) -> u16 {
        self.add(1, &[&(text.len() as u16).to_be_bytes(), text.as_bytes()])
    }

    pub(crate) fn int(&mut self, value: i32) -> u16 {
        self.add(3, &[&value.to_be_bytes()])
    }

    pub(crate) fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.add(7, &[&name.to_be_bytes()])
    }

    pub(crate) fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        let class = self.class(class);
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.add(12, &[&name.to_be_bytes(), &descriptor.to_be_bytes()]);
        self.add(10, &[&class.to_be_bytes(), &name_and_type.to_be_bytes()])
    }
}

/// A place in the code, bound now or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// A verification type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Object(u16),
    Uninitialized(Label),
    UninitializedThis,
}

struct Fixup {
    at: usize,
    from: usize,
    to: Label,
    wide: bool,
}

/// The code of one method.
#[derive(Default)]
pub(crate) struct Asm {
    pub(crate) code: Vec<u8>,
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    /// Locals at the start, for the distance-saving kinds of frames.
    pub(crate) initial: Vec<Type>,
    labels: Vec<usize>,
    fixups: Vec<Fixup>,
    frames: Vec<(Label, Vec<Type>, Vec<Type>)>,
    handlers: Vec<(Label, Label, Label, u16)>,
    attributes: Vec<(u16, Vec<u8>)>,
}

impl Asm {
    pub(crate) fn new(max_stack: u16, max_locals: u16) -> Self {
        Asm { max_stack, max_locals, ..Asm::default() }
    }

    pub(crate) fn emit(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// An opcode with a `u16` operand.
    pub(crate) fn with_index(&mut self, opcode: u8, index: u16) {
        self.code.push(opcode);
        self.code.extend_from_slice(&index.to_be_bytes());
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    pub(crate) fn bind(&mut self, label: Label) {
        self.labels[label.0] = self.code.len();
    }

    pub(crate) fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    pub(crate) fn pc(&self, label: Label) -> u16 {
        u16::try_from(self.labels[label.0]).expect("a bound label")
    }

    fn offset(&mut self, from: usize, to: Label, wide: bool) {
        self.fixups.push(Fixup { at: self.code.len(), from, to, wide });
        self.code.extend_from_slice(&[0; 4][..if wide { 4 } else { 2 }]);
    }

    pub(crate) fn branch(&mut self, opcode: u8, to: Label) {
        let from = self.code.len();
        self.code.push(opcode);
        self.offset(from, to, matches!(opcode, op::GOTO_W | op::JSR_W));
    }

    fn switch_head(&mut self, opcode: u8, default: Label) -> usize {
        let from = self.code.len();
        self.code.push(opcode);
        self.code.resize(self.code.len().next_multiple_of(4), 0);
        self.offset(from, default, true);
        from
    }

    pub(crate) fn tableswitch(&mut self, default: Label, low: i32, targets: &[Label]) {
        let from = self.switch_head(op::TABLESWITCH, default);
        self.emit(&low.to_be_bytes());
        self.emit(&(low + targets.len() as i32 - 1).to_be_bytes());
        targets.iter().for_each(|&to| self.offset(from, to, true));
    }

    pub(crate) fn lookupswitch(&mut self, default: Label, cases: &[(i32, Label)]) {
        let from = self.switch_head(op::LOOKUPSWITCH, default);
        self.emit(&(cases.len() as u32).to_be_bytes());
        for &(key, to) in cases {
            self.emit(&key.to_be_bytes());
            self.offset(from, to, true);
        }
    }

    /// A stack-map frame at a label.
    pub(crate) fn frame(&mut self, at: Label, locals: &[Type], stack: &[Type]) {
        self.frames.push((at, locals.to_vec(), stack.to_vec()));
    }

    pub(crate) fn handler(&mut self, start: Label, end: Label, handler: Label, catch_type: u16) {
        self.handlers.push((start, end, handler, catch_type));
    }

    /// An attribute of the code, its pcs already in it.
    pub(crate) fn attribute(&mut self, name: u16, data: Vec<u8>) {
        self.attributes.push((name, data));
    }

    fn stack_map(&self) -> Vec<u8> {
        let mut frames = self.frames.clone();
        frames.sort_by_key(|&(at, ..)| self.pc(at));
        frames.dedup_by_key(|(at, ..)| self.pc(*at));
        let mut out = (frames.len() as u16).to_be_bytes().to_vec();
        let (mut next, mut before) = (0, &self.initial);
        for (at, locals, stack) in &frames {
            let distance = self.pc(*at) - next;
            next = self.pc(*at) + 1;
            let long = distance.to_be_bytes();
            let added = locals.strip_prefix(&before[..]).filter(|added| (1..=3).contains(&added.len()));
            let chopped = before.strip_prefix(&locals[..]).filter(|gone| (1..=3).contains(&gone.len()));
            match (&stack[..], added, chopped) {
                ([], ..) if locals == before && distance < 64 => out.push(distance as u8),
                ([], ..) if locals == before => out.extend([251, long[0], long[1]]),
                ([one], ..) if locals == before && distance < 64 => {
                    out.push(64 + distance as u8);
                    self.types(&[*one], &mut out);
                }
                ([one], ..) if locals == before => {
                    out.extend([247, long[0], long[1]]);
                    self.types(&[*one], &mut out);
                }
                ([], Some(added), _) => {
                    out.extend([251 + added.len() as u8, long[0], long[1]]);
                    self.types(added, &mut out);
                }
                ([], _, Some(gone)) => out.extend([251 - gone.len() as u8, long[0], long[1]]),
                _ => {
                    out.extend([255, long[0], long[1]]);
                    for types in [locals, stack] {
                        out.extend((types.len() as u16).to_be_bytes());
                        self.types(types, &mut out);
                    }
                }
            }
            before = locals;
        }
        out
    }

    fn types(&self, types: &[Type], out: &mut Vec<u8>) {
        for one in types {
            match *one {
                Type::Int => out.push(1),
                Type::UninitializedThis => out.push(6),
                Type::Object(class) => {
                    out.push(7);
                    out.extend(class.to_be_bytes());
                }
                Type::Uninitialized(at) => {
                    out.push(8);
                    out.extend(self.pc(at).to_be_bytes());
                }
            }
        }
    }

    /// The content of the Code attribute.
    fn finish(mut self, stack_map_name: u16, short: bool) -> Vec<u8> {
        for fixup in std::mem::take(&mut self.fixups) {
            let distance = i32::from(self.pc(fixup.to)) - fixup.from as i32;
            let bytes = distance.to_be_bytes();
            if fixup.wide {
                self.code[fixup.at..fixup.at + 4].copy_from_slice(&bytes);
            } else {
                i16::try_from(distance).expect("a branch within 16 bits");
                self.code[fixup.at..fixup.at + 2].copy_from_slice(&bytes[2..]);
            }
        }
        let mut out = Vec::new();
        if short {
            out.extend([self.max_stack as u8, self.max_locals as u8]);
            out.extend((self.code.len() as u16).to_be_bytes());
        } else {
            out.extend(self.max_stack.to_be_bytes());
            out.extend(self.max_locals.to_be_bytes());
            out.extend((self.code.len() as u32).to_be_bytes());
        }
        out.extend(&self.code);
        out.extend((self.handlers.len() as u16).to_be_bytes());
        for &(start, end, handler, catch_type) in &self.handlers {
            for field in [self.pc(start), self.pc(end), self.pc(handler), catch_type] {
                out.extend(field.to_be_bytes());
            }
        }
        let mut attributes = std::mem::take(&mut self.attributes);
        if !self.frames.is_empty() {
            attributes.push((stack_map_name, self.stack_map()));
        }
        out.extend((attributes.len() as u16).to_be_bytes());
        for (name, data) in attributes {
            out.extend(name.to_be_bytes());
            out.extend((data.len() as u32).to_be_bytes());
            out.extend(data);
        }
        out
    }
}

/// A class being made; its superclass is `java.lang.Object`.
pub(crate) struct Builder {
    pub(crate) pool: Pool,
    version: (u16, u16),
    this: u16,
    object: u16,
    names: [u16; 2],
    methods: Vec<u8>,
    method_count: u16,
}

impl Builder {
    pub(crate) fn new(name: &str, major: u16, minor: u16) -> Self {
        let mut pool = Pool { bytes: Vec::new(), count: 1 };
        let (this, object) = (pool.class(name), pool.class("java/lang/Object"));
        let names = [pool.utf8("Code"), pool.utf8("StackMapTable")];
        Builder { pool, version: (major, minor), this, object, names, methods: Vec::new(), method_count: 0 }
    }

    /// The Class constant of `java.lang.Object`.
    pub(crate) fn object(&self) -> u16 {
        self.object
    }

    /// A public method; static unless it is a constructor.
    pub(crate) fn method(&mut self, name: &str, descriptor: &str, asm: Asm) {
        let access: u16 = if name == "<init>" { 0x0001 } else { 0x0009 };
        let (name, descriptor) = (self.pool.utf8(name), self.pool.utf8(descriptor));
        let short = self.version.0 == 45 && self.version.1 < 3;
        let code = asm.finish(self.names[1], short);
        for field in [access, name, descriptor, 1, self.names[0]] {
            self.methods.extend(field.to_be_bytes());
        }
        self.methods.extend((code.len() as u32).to_be_bytes());
        self.methods.extend(code);
        self.method_count += 1;
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE];
        out.extend(self.version.1.to_be_bytes());
        out.extend(self.version.0.to_be_bytes());
        out.extend(self.pool.count.to_be_bytes());
        out.extend(self.pool.bytes);
        // public super; no interfaces, no fields
        for field in [0x0021, self.this, self.object, 0, 0, self.method_count] {
            out.extend(field.to_be_bytes());
        }
        out.extend(self.methods);
        out.extend([0, 0]);
        out
    }
}
