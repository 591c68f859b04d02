//! The calls that count, by what an instruction makes.

use classfile::{Insert, Op, StaticMethod};

use super::counting_methods::{
    ANY_MADE, BARE, CONSTANT, INSTANCE, MULTI, PRIMITIVES, PRODUCT, UNINITIALIZED, VM_BEGIN, VM_END, array_method,
};
use super::site_counters::{At, SiteCounters};
use crate::counts::constants::{ConstantIndex, Constants};
use crate::counts::counters::CounterKind;
use crate::counts::ids::CounterIndex;

/// The last parameter of `BigInteger.multiplyToLen`, the only caller of `implMultiplyToLen`: room for the product, if any.
const PRODUCT_OF_CALLER: u8 = 4;

/// The class that stands for all arrays of a backtrace: the outermost is one.
const BACKTRACE: &[u8] = b"[Ljava/lang/Object;";

/// Inserts them at the sites of one class.
pub(super) struct Insertions<'r, F> {
    pub(super) sites: SiteCounters<'r>,
    /// `None` if string constants cannot be counted.
    pub(super) constants: Option<&'static Constants>,
    /// Whether the class of a descriptor is wanted; `None` if all are.
    pub(super) filter: Option<F>,
}

impl<F: Fn(&[u8]) -> bool> Insertions<'_, F> {
    /// Whether objects are wanted whose class's descriptor has these parts.
    pub(super) fn includes(&self, descriptor: &[&[u8]]) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(&descriptor.concat()))
    }

    /// Whether string constants are counted.
    pub(super) fn counts_strings(&self) -> bool {
        self.constants.is_some() && self.includes(&[b"Ljava/lang/String;"])
    }

    pub(super) fn instance(&mut self, at: At<'_>, name: &[u8], insert: &mut Insert<'_>) {
        if !self.includes(&[b"L", name, b";"]) {
            return;
        }
        if let Some(counter) = self.sites.add(at, &[CounterKind::Instances(self.sites.name(name))]) {
            let ops = [counter, Op::InvokeStatic(&INSTANCE)];
            // C2 turns whole chains of appending into two allocations, unless something is in between (OptimizeStringConcat).
            if matches!(name, b"java/lang/StringBuilder" | b"java/lang/StringBuffer") {
                insert.after(&ops);
            } else {
                insert.before(&ops);
            }
        }
    }

    pub(super) fn array(&mut self, at: At<'_>, descriptor: &[u8], insert: &mut Insert<'_>) {
        if let Some(counter) = self.array_counters(at, descriptor) {
            insert.before(&[Op::Dup, counter, Op::InvokeStatic(array_method(descriptor))]);
        }
    }

    /// An array without references whose static type may be `Object`.
    pub(super) fn primitives(&mut self, at: At<'_>, descriptor: &[u8], insert: &mut Insert<'_>) {
        if let Some(counter) = self.array_counters(at, descriptor) {
            insert.after(&[Op::Dup, counter, Op::InvokeStatic(&PRIMITIVES)]);
        }
    }

    /// An instance whose class is the call's last argument.
    pub(super) fn bare_instance(&mut self, at: At<'_>, insert: &mut Insert<'_>) {
        if let Some(site) = self.sites.add(at, &[CounterKind::BareSite]) {
            insert.before(&[Op::Dup, site, Op::InvokeStatic(&BARE)]);
        }
    }

    /// An array of primitives whose elements' class and length are the call's last arguments: it has counters for each class.
    pub(super) fn uninitialized(&mut self, at: At<'_>, insert: &mut Insert<'_>) {
        let classes: [&[u8]; 8] = [b"[B", b"[Z", b"[C", b"[S", b"[I", b"[F", b"[J", b"[D"];
        let kinds = classes.map(|class| [CounterKind::Arrays(self.sites.name(class)), CounterKind::Bytes]);
        if classes.iter().any(|class| self.includes(&[class]))
            && let Some(counter) = self.sites.add(at, kinds.as_flattened())
        {
            insert.before(&[Op::Dup2, counter, Op::InvokeStatic(&UNINITIALIZED)]);
        }
    }

    /// An array for a product, unless the caller gave one that is large enough.
    pub(super) fn product(&mut self, at: At<'_>, insert: &mut Insert<'_>) {
        if let Some(counter) = self.array_counters(at, b"[I") {
            insert.after(&[Op::Dup, Op::Aload(PRODUCT_OF_CALLER), counter, Op::InvokeStatic(&PRODUCT)]);
        }
    }

    fn array_counters(&mut self, at: At<'_>, descriptor: &[u8]) -> Option<Op<'static>> {
        if !self.includes(&[descriptor]) {
            return None;
        }
        self.sites.add(at, &[CounterKind::Arrays(self.sites.name(descriptor)), CounterKind::Bytes])
    }

    pub(super) fn multi_array(&mut self, at: At<'_>, descriptor: &[u8], dimensions: u8, insert: &mut Insert<'_>) {
        if dimensions == 1 {
            return self.array(at, descriptor, insert);
        }
        let levels = (0..usize::from(dimensions)).filter_map(|level| descriptor.get(level..));
        // All levels or none: the filters apply to each of them when the counters are reported.
        let mut kinds = Vec::new();
        let mut included = false;
        for level in levels {
            included |= self.includes(&[level]);
            kinds.extend([CounterKind::Arrays(self.sites.name(level)), CounterKind::Bytes]);
        }
        if included && let Some(counter) = self.sites.add(at, &kinds) {
            insert.after(&[Op::Dup, counter, Op::InvokeStatic(&MULTI)]);
        }
    }

    /// The VM's record of the stack, of which Java code sees no object.
    pub(super) fn backtrace(&mut self, at: At<'_>, insert: &mut Insert<'_>) {
        if !self.includes(&[BACKTRACE]) {
            return;
        }
        if let Some(counter) =
            self.sites.add(at, &[CounterKind::Backtraces(self.sites.name(BACKTRACE)), CounterKind::Bytes])
        {
            insert.before(&[Op::InvokeStatic(&VM_BEGIN)]);
            insert.after(&[counter, Op::InvokeStatic(&VM_END)]);
        }
    }

    /// A string constant.
    pub(super) fn string(&self, text: &[u8], insert: &mut Insert<'_>) {
        if let Some(ConstantIndex(number)) = self.constants.and_then(|constants| constants.number(text)) {
            insert.before(&[Op::PushInt(number as i32), Op::InvokeStatic(&CONSTANT)]);
        }
    }

    /// An object whose class is known when it is made.
    pub(super) fn dynamic(
        &mut self,
        at: At<'_>,
        kind: CounterKind,
        method: &'static StaticMethod,
        insert: &mut Insert<'_>,
    ) {
        if let Some(site) = self.sites.add(at, &[kind]) {
            insert.after(&[Op::Dup, site, Op::InvokeStatic(method)]);
        }
    }
}

/// The same at a site that has a number of its own.
pub(super) fn fixed_site(site: CounterIndex, insert: &mut Insert<'_>) {
    insert.after(&[Op::Dup, Op::PushInt(site.0 as i32), Op::InvokeStatic(&ANY_MADE)]);
}
