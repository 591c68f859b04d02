//! What can be inserted.

/// A static method of a class (not an interface) to call.
///
/// Its constants are appended to the pool of a class when it is first called there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StaticMethod {
    /// Class in internal form, such as `java/lang/HeapProxy`. ASCII is safe; other characters are
    /// written as UTF-8, which modified UTF-8 equals but for U+0000 and those beyond U+FFFF.
    pub class: &'static str,
    /// Method name.
    pub name: &'static str,
    /// Method descriptor, such as `(Ljava/lang/Object;I)V`.
    pub descriptor: &'static str,
}

/// What a method does before all else: it asks one static method about its first argument, a reference, and if that says true returns
/// what another one makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Takes the argument, returns a boolean.
    pub applies: StaticMethod,
    /// Takes the argument, returns what the guarded method returns, a reference.
    pub result: StaticMethod,
}

/// What is called when a method, no constructor, is entered, and when an exception leaves it. Both take an int and return nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bracket {
    /// When it is entered.
    pub begin: StaticMethod,
    /// When an exception leaves it; in front of returns the instrument inserts what it wants.
    pub unwound: StaticMethod,
    /// What is passed to both.
    pub argument: i32,
}

/// One operation to insert. There are no branches, so inserted code needs no stack-map frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op<'h> {
    /// Duplicates the top slot.
    Dup,
    /// Duplicates the two top slots: a long, a double, or two values.
    Dup2,
    /// Drops the top slot.
    Pop,
    /// Drops the two top slots.
    Pop2,
    /// Swaps the two top slots.
    Swap,
    /// Pushes local variable 0: `this` in an instance method that has not stored over it.
    Aload0,
    /// Pushes the reference in that local variable.
    Aload(u8),
    /// Pushes the int in that local variable.
    Iload(u8),
    /// Pushes the long in that local variable and the next.
    Lload(u8),
    /// Stores the reference on top in that local variable, which the method has and which holds one of the same type.
    Astore(u8),
    /// Replaces the array on top by its length.
    ArrayLength,
    /// Pushes an int by its shortest form; from 17 bits on that is a constant of the pool.
    PushInt(i32),
    /// Calls a static method; takes its arguments, leaves its result.
    InvokeStatic(&'h StaticMethod),
}
