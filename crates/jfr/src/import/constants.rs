//! From the constants of a chunk to classes, stacks and threads of the whole recording; each constant is read once.

use rustc_hash::FxHashMap;
use trace::names;

use super::pools::{
    Class, ClassAt, Frame, FunctionAt, Method, MethodAt, Pools, Seen, StackAt, Thread, ThreadAt, ThreadNames,
};
use crate::read::{Chunk, Constant, Damage, Object, Value};

/// The class that `martini export` gives to frames that are none of Java.
const NOT_JAVA: &str = "(not Java)";
/// What it calls the kernel.
const KERNEL: &str = "(kernel)";

/// What a frame is.
#[derive(Clone, Copy)]
enum Code {
    Java(MethodAt),
    Native(FunctionAt),
    Kernel,
}

/// The constants of a chunk that were read.
pub(super) struct Constants<'c> {
    chunk: &'c Chunk,
    classes: FxHashMap<Constant, ClassAt>,
    methods: FxHashMap<Constant, Option<(MethodAt, FunctionAt)>>,
    stacks: FxHashMap<Constant, Seen>,
    threads: FxHashMap<Constant, Option<ThreadAt>>,
    texts: FxHashMap<Constant, Box<str>>,
    /// How many more bytes of texts may be copied: those of real recordings are a few for each byte.
    left: usize,
}

impl<'c> Constants<'c> {
    pub(super) fn new(chunk: &'c Chunk) -> Self {
        Constants {
            chunk,
            classes: FxHashMap::default(),
            methods: FxHashMap::default(),
            stacks: FxHashMap::default(),
            threads: FxHashMap::default(),
            texts: FxHashMap::default(),
            left: chunk.size().saturating_mul(64).saturating_add(1 << 24),
        }
    }

    /// A text in a field, empty if there is none.
    pub(super) fn text(&mut self, object: Object, field: &str) -> Result<Box<str>, Damage> {
        let value = self.chunk.get(object, field)?;
        let constant = if let Value::Constant(constant) = value { Some(constant) } else { None };
        let known = constant.and_then(|constant| self.texts.get(&constant)).cloned();
        let text = match known {
            Some(known) => known,
            None => self.chunk.text(value)?.unwrap_or_default().into(),
        };
        self.left = self.left.checked_sub(text.len()).ok_or(Damage::TooLarge)?;
        if let Some(constant) = constant {
            self.texts.entry(constant).or_insert_with(|| text.clone());
        }
        Ok(text)
    }

    /// The class in a field.
    pub(super) fn class(&mut self, object: Object, field: &str, pools: &mut Pools) -> Result<Option<ClassAt>, Damage> {
        let Some((constant, class)) = self.constant(object, field)? else { return Ok(None) };
        if let Some(&known) = self.classes.get(&constant) {
            return Ok(Some(known));
        }
        let name = self.text(class, "name")?;
        let module = self.module(class)?;
        let at = ClassAt(pools.classes.of(Class::of_jvm(&name, &module)));
        self.classes.insert(constant, at);
        Ok(Some(at))
    }

    /// The thread in a field.
    pub(super) fn thread(
        &mut self,
        object: Object,
        field: &str,
        pools: &mut Pools,
    ) -> Result<Option<ThreadAt>, Damage> {
        let Some((constant, thread)) = self.constant(object, field)? else { return Ok(None) };
        if let Some(&known) = self.threads.get(&constant) {
            return Ok(known);
        }
        let number =
            |field: &str| Ok(if let Value::Number(number) = self.chunk.get(thread, field)? { number } else { 0 });
        let (java_id, os_id, is_virtual) = (number("javaThreadId")?, number("osThreadId")?, number("virtual")? != 0);
        let mut name = self.text(thread, "javaName")?;
        if name.is_empty() {
            name = self.text(thread, "osName")?;
        }
        let (mut group, mut parent): (Box<str>, Box<str>) = Default::default();
        if is_virtual {
            group = "VirtualThreads".into();
        } else if let Some((_, of)) = self.constant(thread, "group")? {
            group = self.text(of, "name")?;
            if let Some((_, of)) = self.constant(of, "parent")? {
                parent = self.text(of, "name")?;
            }
        }
        // Of virtual threads the carrier may change.
        let os_id = if java_id != 0 { 0 } else { os_id };
        let at = pools.threads.of(Thread { java_id, os_id, key: constant.key });
        if at as usize == pools.thread_names.len() {
            pools.thread_names.push(ThreadNames { name, group, parent });
        }
        self.threads.insert(constant, Some(ThreadAt(at)));
        Ok(Some(ThreadAt(at)))
    }

    /// The stack in the field of that name.
    pub(super) fn stack(&mut self, object: Object, pools: &mut Pools) -> Result<Seen, Damage> {
        let Some((constant, stack)) = self.constant(object, "stackTrace")? else { return Ok(Seen::default()) };
        if let Some(&known) = self.stacks.get(&constant) {
            return Ok(known);
        }
        let Value::Objects(frames) = self.chunk.get(stack, "frames")? else { return Ok(Seen::default()) };
        let (mut seen, mut java) = (Seen::default(), Vec::new());
        for frame in frames {
            match self.code(frame, pools)? {
                Some(Code::Java(method)) => {
                    let line = match self.chunk.get(frame, "lineNumber")? {
                        Value::Number(line) => u32::try_from(line).unwrap_or(0),
                        _ => 0,
                    };
                    java.push(Frame { method, line });
                }
                // Of native code a trace has what ran on top.
                Some(Code::Native(function)) if java.is_empty() && seen.function.is_none() => {
                    seen.function = Some(function);
                }
                Some(Code::Kernel) => seen.is_kernel |= java.is_empty() && seen.function.is_none(),
                Some(Code::Native(_)) | None => {}
            }
        }
        seen.stack = (!java.is_empty()).then(|| StackAt(pools.stacks.of(java.into())));
        self.stacks.insert(constant, seen);
        Ok(seen)
    }

    fn code(&mut self, frame: Object, pools: &mut Pools) -> Result<Option<Code>, Damage> {
        let kind = self.text(frame, "type")?;
        let Some((method, function)) = self.method(frame, pools)? else { return Ok(None) };
        let of = pools.methods.get(method.0);
        // Those of async-profiler, and of ours.
        let is_native = matches!(&*kind, "Native" | "C++" | "Kernel")
            && (matches!(&*of.descriptor, "" | "()L;") || &*pools.classes.get(of.class.0).name == NOT_JAVA);
        Ok(Some(match (&*kind, is_native) {
            ("Kernel", true) => Code::Kernel,
            (_, true) if &*of.name == KERNEL => Code::Kernel,
            (_, true) => Code::Native(function),
            _ => Code::Java(method),
        }))
    }

    /// The method of a frame, as one of Java and as a function.
    fn method(&mut self, frame: Object, pools: &mut Pools) -> Result<Option<(MethodAt, FunctionAt)>, Damage> {
        let Some((constant, method)) = self.constant(frame, "method")? else { return Ok(None) };
        if let Some(&known) = self.methods.get(&constant) {
            return Ok(known);
        }
        let class = self.class(method, "type", pools)?;
        let class = class.unwrap_or_else(|| ClassAt(pools.classes.of(Class::named("(unknown class)"))));
        let name = self.text(method, "name")?;
        let descriptor = self.text(method, "descriptor")?;
        let library = match &*pools.classes.get(class.0).name {
            "" | NOT_JAVA | "(unknown class)" => "",
            library => library,
        };
        let function = FunctionAt(pools.functions.of((name.clone(), library.into())));
        let name = names::method_name(&name).into();
        let method = MethodAt(pools.methods.of(Method { class, name, descriptor }));
        self.methods.insert(constant, Some((method, function)));
        Ok(Some((method, function)))
    }

    fn module(&mut self, class: Object) -> Result<Box<str>, Damage> {
        let Some((_, package)) = self.constant(class, "package")? else { return Ok(Box::default()) };
        let Some((_, module)) = self.constant(package, "module")? else { return Ok(Box::default()) };
        self.text(module, "name")
    }

    fn constant(&self, object: Object, field: &str) -> Result<Option<(Constant, Object)>, Damage> {
        let Value::Constant(constant) = self.chunk.get(object, field)? else { return Ok(None) };
        Ok(self.chunk.constant(constant).map(|object| (constant, object)))
    }
}
