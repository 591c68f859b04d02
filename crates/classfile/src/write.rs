//! Writes a class out again from its parsed parts.

use crate::attribute::Attributes;
use crate::class::{ClassFile, Member, Members};
use crate::pool::Constant;
use crate::rewrite::{Insertions, PcMap, write_code};

impl ClassFile<'_> {
    /// The class file, put together anew from what was understood of it: each constant, member and attribute,
    /// and each method's code through the same relocation that [`rewrite`](crate::rewrite()) uses.
    ///
    /// Equals the input. Its use is to prove just that, over many classes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes().len());
        out.extend_from_slice(&0xCAFE_BABE_u32.to_be_bytes());
        put(&mut out, self.minor_version());
        put(&mut out, self.major_version());
        put(&mut out, self.pool().count());
        for index in 1..self.pool().count() {
            if let Some(constant) = self.pool().get(index) {
                write_constant(constant, &mut out);
            }
        }
        // Access flags, this, super and interfaces are indexes into the pool and stay as they are.
        let interfaces = 8 + 2 * self.interface_count();
        let head = self.pool().end();
        out.extend_from_slice(&self.bytes()[head..head + interfaces]);
        self.write_members(self.fields(), &mut out);
        self.write_members(self.methods(), &mut out);
        write_attributes(self.attributes(), None, &mut out);
        out
    }

    fn write_members(&self, members: Members<'_, '_>, out: &mut Vec<u8>) {
        put(out, members.left());
        for member in members {
            let start = member.start;
            out.extend_from_slice(&self.bytes()[start..start + 6]);
            write_attributes(member.attributes(), Some(&member), out);
        }
    }
}

fn put(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn write_attributes(attributes: Attributes<'_, '_>, member: Option<&Member<'_, '_>>, out: &mut Vec<u8>) {
    put(out, attributes.left());
    for attribute in attributes {
        put(out, attribute.name_index);
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let moved = member.filter(|_| attribute.name == b"Code").and_then(|member| {
            let code = member.class().parse_code(&attribute).ok()?;
            let mut insertions = Insertions::new(0, Vec::new());
            let mut pcs = PcMap::default();
            pcs.begin_whole(code.bytes()).ok()?;
            pcs.settle(&code, &insertions).ok()?;
            write_code(member, &code, &mut insertions, &pcs, out).ok()
        });
        if moved.is_none() {
            out.truncate(length_at + 4);
            out.extend_from_slice(attribute.data);
        }
        let length = (out.len() - length_at - 4) as u32;
        out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
    }
}

fn write_constant(constant: Constant<'_>, out: &mut Vec<u8>) {
    use crate::pool as tag;
    let (tag, parts): (u8, [u16; 2]) = match constant {
        Constant::Utf8(text) => {
            out.push(tag::UTF8);
            // The length was read as a u16.
            put(out, text.len() as u16);
            out.extend_from_slice(text);
            return;
        }
        Constant::Integer(value) => return write_number(tag::INTEGER, &value.to_be_bytes(), out),
        Constant::Float(bits) => return write_number(tag::FLOAT, &bits.to_be_bytes(), out),
        Constant::Long(value) => return write_number(tag::LONG, &value.to_be_bytes(), out),
        Constant::Double(bits) => return write_number(tag::DOUBLE, &bits.to_be_bytes(), out),
        Constant::MethodHandle { kind, reference } => {
            out.extend_from_slice(&[tag::METHOD_HANDLE, kind]);
            return put(out, reference);
        }
        Constant::Class { name } => return write_number(tag::CLASS, &name.to_be_bytes(), out),
        Constant::String { utf8 } => return write_number(tag::STRING, &utf8.to_be_bytes(), out),
        Constant::MethodType { descriptor } => {
            return write_number(tag::METHOD_TYPE, &descriptor.to_be_bytes(), out);
        }
        Constant::Module { name } => return write_number(tag::MODULE, &name.to_be_bytes(), out),
        Constant::Package { name } => return write_number(tag::PACKAGE, &name.to_be_bytes(), out),
        Constant::Field { class, name_and_type } => (tag::FIELD, [class, name_and_type]),
        Constant::Method { class, name_and_type } => (tag::METHOD, [class, name_and_type]),
        Constant::InterfaceMethod { class, name_and_type } => (tag::INTERFACE_METHOD, [class, name_and_type]),
        Constant::NameAndType { name, descriptor } => (tag::NAME_AND_TYPE, [name, descriptor]),
        Constant::Dynamic { bootstrap, name_and_type } => (tag::DYNAMIC, [bootstrap, name_and_type]),
        Constant::InvokeDynamic { bootstrap, name_and_type } => (tag::INVOKE_DYNAMIC, [bootstrap, name_and_type]),
    };
    out.push(tag);
    put(out, parts[0]);
    put(out, parts[1]);
}

fn write_number(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(bytes);
}
