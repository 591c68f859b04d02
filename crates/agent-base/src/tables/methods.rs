//! The methods that allocation sites and stacks refer to.

use std::sync::OnceLock;

use classfile::opcode;
use jvmti::jni_sys::jmethodID;
use jvmti::sys::jvmtiLineNumberEntry;
use jvmti::{Env, Jni};
use rustc_hash::FxHashMap;
use trace::ids::MethodId;

use super::classes::Classes;
use super::redefined::Redefined;
use super::table::Table;
use crate::ids::{ClassIndex, CodeLocation, IdSource, MethodIndex};
use crate::mutex::Mutex;

/// What is known of a method.
#[derive(Debug)]
pub struct MethodRecord {
    /// Its id in the trace.
    pub id: MethodId,
    /// The class that declares it.
    pub class: ClassIndex,
    /// Source name, `<init>` for constructors.
    pub name: String,
    /// Its descriptor, such as `(I)V`.
    pub signature: String,
    /// First bytecode index and line of each range, by bytecode index; empty if unknown. Set when the method is first seen on a
    /// stack.
    lines: OnceLock<Vec<(i64, u32)>>,
    /// First and last line, used until `lines` is set.
    range: Option<(u32, u32)>,
    /// For constructors: where they call another constructor for the same object.
    delegation: Option<i64>,
}

impl MethodRecord {
    /// Whether both are the same method to a reader.
    fn is_version_of(&self, other: &MethodRecord) -> bool {
        self.class == other.class && self.name == other.name && self.signature == other.signature
    }

    /// The source line of a bytecode index; 0 if unknown.
    pub fn line(&self, location: i64) -> u32 {
        let Some(lines) = self.lines.get() else { return 0 };
        let after = lines.partition_point(|&(start, _)| start <= location);
        after.checked_sub(1).map_or(0, |at| lines[at].1)
    }

    /// First and last source line.
    pub fn line_range(&self) -> Option<(u32, u32)> {
        let Some(lines) = self.lines.get() else { return self.range };
        let lines = lines.iter().map(|&(_, line)| line);
        Some((lines.clone().min()?, lines.max()?))
    }

    /// Whether a frame of this method at this bytecode index is a constructor at its `this(...)` or `super(...)`, so that the
    /// frame above it constructs the same object.
    pub fn delegates_at(&self, location: i64) -> bool {
        self.delegation == Some(location)
    }
}

/// All methods seen so far.
pub struct Methods {
    env: Env,
    ids: &'static IdSource,
    table: Table<MethodRecord>,
    known: Mutex<KnownMethods>,
    /// Classes whose methods may have other code by now.
    pub redefined: Redefined,
}

#[derive(Default)]
struct KnownMethods {
    by_id: FxHashMap<usize, MethodIndex>,
    by_class: FxHashMap<u32, Vec<MethodIndex>>,
}

impl Methods {
    /// An empty table.
    pub fn new(env: Env, ids: &'static IdSource) -> Methods {
        Methods { env, ids, table: Table::empty(), known: Mutex::default(), redefined: Redefined::default() }
    }

    /// The VM may have given other code to any class: ids are looked up again.
    pub fn forget_versions(&self) {
        self.known.lock().by_id.clear();
        self.redefined.begin_epoch();
    }

    /// The method of that number.
    pub fn get(&self, index: MethodIndex) -> Option<&MethodRecord> {
        self.table.get(index.0)
    }

    /// Whether two places are the same to a reader: the methods may be versions of one, of which the VM shows now this and now that one
    /// after it was redefined.
    pub fn are_alike(&self, one: CodeLocation, other: CodeLocation) -> bool {
        let methods = || self.get(one.method).zip(self.get(other.method));
        one == other || one.line == other.line && methods().is_some_and(|(one, other)| one.is_version_of(other))
    }

    /// The number of a method, which is registered if it is new.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `method` is a valid method id.
    pub unsafe fn resolve(&self, jni: Jni, method: jmethodID, classes: &Classes) -> jvmti::Result<MethodIndex> {
        let env = self.env;
        let known = self.known.lock().by_id.get(&(method as usize)).copied();
        // SAFETY: by the caller's promise.
        if let Some(index) = known.filter(|&index| unsafe { self.is_still(index, method) }) {
            return Ok(index);
        }
        // SAFETY: by the caller's promise; the class is a local reference, deleted below.
        let (names, class, lines) = unsafe {
            (env.get_method_name(method)?, env.get_method_declaring_class(method)?, env.get_line_number_table(method))
        };
        // SAFETY: a live local reference.
        let declaring = unsafe { classes.resolve(jni, class) };
        // SAFETY: as above; it is not used after this.
        unsafe { jni.delete_local_ref(class) };
        let class = declaring?;
        let name = trace::modified_utf8::decode(&names.name);
        let signature = trace::modified_utf8::decode(&names.signature);
        let lines = lines.map(|table| sorted(&table)).unwrap_or_default();
        // SAFETY: by the caller's promise.
        let code = || unsafe { env.get_bytecodes(method) }.ok();
        let delegation = if name == "<init>" { code().and_then(|code| delegation(&code)) } else { None };
        let mut known = self.known.lock();
        // Each version of a method that was redefined has its own record and lines. Another thread may have registered it meanwhile.
        let is_it = |record: &MethodRecord| {
            record.lines.set(lines.clone()).is_ok()
                || record.lines.get() == Some(&lines) && record.delegation == delegation
        };
        let version = self.versions(&known, class, &name, &signature).find(|(_, record)| is_it(record));
        let version = version.map(|(index, _)| index);
        let index = version.unwrap_or_else(|| {
            let lines = OnceLock::from(lines);
            let id = MethodId(self.ids.next());
            self.add(&mut known, MethodRecord { id, class, name, signature, lines, range: None, delegation })
        });
        known.by_id.insert(method as usize, index);
        Ok(index)
    }

    /// The number of the method of that class, name and signature, which is registered if it is new, with its first and last
    /// line.
    pub fn named(&self, class: ClassIndex, name: &[u8], signature: &[u8], range: Option<(u32, u32)>) -> MethodIndex {
        let (name, signature) = (trace::modified_utf8::decode(name), trace::modified_utf8::decode(signature));
        let mut known = self.known.lock();
        let found = self.versions(&known, class, &name, &signature).next().map(|(index, _)| index);
        found.unwrap_or_else(|| {
            let (id, lines) = (MethodId(self.ids.next()), OnceLock::new());
            self.add(&mut known, MethodRecord { id, class, name, signature, lines, range, delegation: None })
        })
    }

    /// Whether the id is still that of this version.
    ///
    /// # Safety
    /// `method` is a valid method id.
    unsafe fn is_still(&self, index: MethodIndex, method: jmethodID) -> bool {
        let Some(record) = self.get(index).filter(|record| self.redefined.contains(record.class)) else { return true };
        // SAFETY: by the caller's promise.
        let lines = unsafe { self.env.get_line_number_table(method) };
        lines.map_or_else(
            |_| record.lines.get().is_none_or(Vec::is_empty),
            |table| record.lines.get() == Some(&sorted(&table)),
        )
    }

    /// All that is known of a method, by its versions.
    fn versions<'m>(
        &'m self,
        known: &'m KnownMethods,
        class: ClassIndex,
        name: &'m str,
        signature: &'m str,
    ) -> impl Iterator<Item = (MethodIndex, &'m MethodRecord)> {
        let of_class = known.by_class.get(&class.0).into_iter().flatten();
        of_class
            .filter_map(|&index| Some((index, self.get(index)?)))
            .filter(move |(_, record)| record.name == name && record.signature == signature)
    }

    fn add(&self, known: &mut KnownMethods, record: MethodRecord) -> MethodIndex {
        let class = record.class;
        let index = MethodIndex(self.table.push_with(|_| record));
        known.by_class.entry(class.0).or_default().push(index);
        index
    }
}

/// A table of lines by bytecode index.
fn sorted(table: &[jvmtiLineNumberEntry]) -> Vec<(i64, u32)> {
    let mut lines: Vec<_> = table.iter().map(|l| (l.start_location, l.line_number.max(0) as u32)).collect();
    lines.sort_unstable();
    lines
}

/// Where a constructor calls `this(...)` or `super(...)`.
///
/// Before that call no other method of an object can be called by `invokespecial`, so each one constructs what a `new` before
/// it made, and the first without a `new` of its own is the call.
fn delegation(code: &[u8]) -> Option<i64> {
    let mut pending = 0u32;
    for (pc, opcode) in classfile::walk(code) {
        match opcode {
            opcode::NEW => pending += 1,
            opcode::INVOKESPECIAL if pending == 0 => return Some(pc as i64),
            opcode::INVOKESPECIAL => pending -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delegating_call_is_distinguished_from_constructing_its_arguments() {
        // aload_0; new #1; dup; new #2; dup; invokespecial #3; invokespecial #4; invokespecial #5; return
        let code = [42, 187, 0, 1, 89, 187, 0, 2, 89, 183, 0, 3, 183, 0, 4, 183, 0, 5, 177];
        assert_eq!(delegation(&code), Some(15));
        assert_eq!(delegation(&[42, 183, 0, 1, 187, 0, 2, 89, 183, 0, 3, 87, 177]), Some(1));
        assert_eq!(delegation(&[177]), None);
        assert_eq!(delegation(&[187, 0]), None);
    }

    fn method(name: &str, lines: Vec<(i64, u32)>) -> MethodRecord {
        MethodRecord {
            id: MethodId(1),
            class: ClassIndex(0),
            name: name.into(),
            signature: "()V".into(),
            lines: OnceLock::from(lines),
            range: None,
            delegation: None,
        }
    }

    #[test]
    fn versions_have_the_same_name_and_any_lines() {
        assert!(method("m", vec![(0, 10)]).is_version_of(&method("m", vec![(0, 10), (4, 12)])));
        assert!(!method("m", Vec::new()).is_version_of(&method("n", Vec::new())));
    }

    #[test]
    fn lines_are_ranges_of_bytecode() {
        let method = method("m", vec![(0, 10), (4, 12), (9, 11)]);
        assert_eq!([-1, 0, 3, 4, 8, 9, 100].map(|at| method.line(at)), [0, 10, 10, 12, 12, 11, 11]);
        assert_eq!(method.line_range(), Some((10, 12)));
    }
}
