//! The methods that are entry points of requests: those that the user named, and those of common servers and frameworks. And those by
//! which these hand a request over to other threads: departures.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use agent_options::RequestOptions;
use classfile::{ClassFile, MethodView, access};
use rustc_hash::FxHashMap;
use trace::modified_utf8::decode;
use trace::names::class_name_of_internal;

use super::statistics::Statistics;
use agent_base::mutex::Mutex;

/// So many methods are entry points.
const MOST: usize = 256;

/// An entry point that users need not name.
struct Known {
    /// Internal.
    class: &'static str,
    method: &'static str,
    /// How its descriptor begins.
    descriptor: &'static str,
    kind: &'static str,
}

const fn known(kind: &'static str, class: &'static str, method: &'static str, descriptor: &'static str) -> Known {
    Known { class, method, descriptor, kind }
}

/// Within one request the outermost counts: a server's own entry point comes before that of the servlet.
const KNOWN: [Known; 22] = [
    known("tomcat", "org/apache/catalina/connector/CoyoteAdapter", "service", "(Lorg/apache/coyote/Request;"),
    known("jetty", "org/eclipse/jetty/server/Server", "handle", "("),
    known("undertow", "io/undertow/server/Connectors", "executeRootHandler", "("),
    known("servlet", "javax/servlet/http/HttpServlet", "service", "(Ljavax/servlet/ServletRequest;"),
    known("servlet", "jakarta/servlet/http/HttpServlet", "service", "(Ljakarta/servlet/ServletRequest;"),
    known("spring", "org/springframework/web/servlet/DispatcherServlet", "doDispatch", "("),
    known("webflux", "org/springframework/web/reactive/DispatcherHandler", "handle", "("),
    known("reactor-netty", "reactor/netty/channel/ChannelOperationsHandler", "channelRead", "("),
    known("netty", "io/netty/channel/SimpleChannelInboundHandler", "channelRead", "("),
    known("vertx", "io/vertx/core/http/impl/Http1xServerConnection", "handleMessage", "("),
    known("jdk-http", "com/sun/net/httpserver/Filter$Chain", "doFilter", "("),
    known("grpc", "io/grpc/stub/ServerCalls$UnaryServerCallHandler$UnaryServerCallListener", "onHalfClose", "("),
    known("grpc", "io/grpc/stub/ServerCalls$StreamingServerCallHandler$StreamingServerCallListener", "onMessage", "("),
    known("jax-rs", "org/glassfish/jersey/server/ServerRuntime", "process", "("),
    known("jax-rs", "org/jboss/resteasy/core/SynchronousDispatcher", "invoke", "("),
    known("jms", "org/springframework/jms/listener/AbstractMessageListenerContainer", "executeListener", "("),
    known(
        "kafka",
        "org/springframework/kafka/listener/KafkaMessageListenerContainer$ListenerConsumer",
        "invokeListener",
        "(",
    ),
    known("kafka-streams", "org/apache/kafka/streams/processor/internals/StreamTask", "process", "("),
    known("rabbitmq", "com/rabbitmq/client/impl/ConsumerDispatcher$5", "run", "()V"),
    known("akka", "akka/actor/ActorCell", "receiveMessage", "("),
    known("spark", "org/apache/spark/executor/Executor$TaskRunner", "run", "()V"),
    known("flink", "org/apache/flink/streaming/runtime/io/AbstractStreamTaskNetworkInput", "processElement", "("),
];

/// Classes whose `startAsync` hands the request over: it may go on on other threads, and after the call of the entry point has ended.
const DEPARTURES: [&str; 7] = [
    "org/apache/catalina/connector/Request",
    "org/eclipse/jetty/server/Request",
    "org/eclipse/jetty/ee8/nested/Request",
    "org/eclipse/jetty/ee9/nested/Request",
    "org/eclipse/jetty/ee10/servlet/ServletApiRequest",
    "org/eclipse/jetty/ee11/servlet/ServletApiRequest",
    "io/undertow/servlet/spec/HttpServletRequestImpl",
];
const DEPARTS: &[u8] = b"startAsync";

/// Interfaces whose implementations have one.
const LISTENERS: [Known; 2] = [
    known("jms", "javax/jms/MessageListener", "onMessage", "(Ljavax/jms/Message;)"),
    known("jms", "jakarta/jms/MessageListener", "onMessage", "(Ljakarta/jms/Message;)"),
];

/// Classes of these packages implement none of the interfaces above.
const WITHOUT_LISTENERS: [&[u8]; 3] = [b"java/", b"jdk/", b"sun/"];

/// The number of an entry point, which rewritten code passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EntryNumber(pub(super) i32);

impl EntryNumber {
    /// No entry point: the request that is under way was handed over.
    pub(super) const DEPARTURE: EntryNumber = EntryNumber(-1);
}

/// An entry point.
pub(super) struct EntryPoint {
    /// Its class and name as the language has them.
    pub(super) method: String,
    /// Of what, where the user did not name it.
    pub(super) kind: Option<&'static str>,
    pub(super) statistics: Statistics,
}

/// All of a recording.
pub(super) struct EntryPoints {
    options: &'static RequestOptions,
    points: Box<[OnceLock<EntryPoint>]>,
    /// By class and name; those beyond `MOST` have none.
    numbers: Mutex<FxHashMap<String, Option<EntryNumber>>>,
    /// Those that were not taken.
    refused: AtomicU64,
    /// As many as patterns: whether a method matched.
    matched: Box<[AtomicBool]>,
}

impl EntryPoints {
    pub(super) fn new(options: &'static RequestOptions) -> EntryPoints {
        EntryPoints {
            options,
            points: (0..MOST).map(|_| OnceLock::new()).collect(),
            numbers: Mutex::default(),
            refused: AtomicU64::new(0),
            matched: options.methods.iter().map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// The one with that number.
    pub(super) fn get(&self, EntryNumber(number): EntryNumber) -> Option<&EntryPoint> {
        self.points.get(usize::try_from(number).ok()?)?.get()
    }

    /// Those that there are by now.
    pub(super) fn iter(&self) -> impl Iterator<Item = (EntryNumber, &EntryPoint)> {
        (0..).map(EntryNumber).zip(self.points.iter().map_while(OnceLock::get))
    }

    /// Whether a class of that internal name may have one; of its interfaces nothing is known.
    pub(super) fn may_have(&self, class: &[u8]) -> bool {
        self.may_listen(class) || self.is_of_that_name(class)
    }

    /// Whether a class has one, or a departure, if it is the one of that internal name.
    pub(super) fn is_of_that_name(&self, class: &[u8]) -> bool {
        self.options.known && KNOWN.iter().any(|known| known.class.as_bytes() == class)
            || has_departure(class)
            || self.is_named(class)
    }

    /// Whether a class of that internal name may implement one of the interfaces.
    fn may_listen(&self, class: &[u8]) -> bool {
        self.options.known && !WITHOUT_LISTENERS.iter().any(|package| class.starts_with(package))
    }

    fn is_named(&self, class: &[u8]) -> bool {
        if self.options.methods.is_empty() {
            return false;
        }
        let class = class_name_of_internal(&decode(class));
        self.options.methods.iter().any(|methods| methods.matches_class(&class))
    }

    /// The internal names of interfaces whose implementations have one.
    pub(super) fn interfaces() -> [&'static [u8]; LISTENERS.len()] {
        LISTENERS.each_ref().map(|known| known.class.as_bytes())
    }

    /// What of a class that is to be rewritten may match.
    pub(super) fn of_class(&self, class: &ClassFile<'_>) -> Option<ClassEntries> {
        let name = class.name();
        let mut known = Vec::new();
        if self.options.known {
            known.extend(KNOWN.iter().filter(|known| known.class.as_bytes() == name));
            let implements = |known: &&Known| class.interfaces().any(|interface| interface == known.class.as_bytes());
            known.extend(LISTENERS.iter().filter(implements));
        }
        let class = class_name_of_internal(&decode(name));
        let named: Vec<usize> =
            (0..).zip(&self.options.methods).filter(|(_, m)| m.matches_class(&class)).map(|(i, _)| i).collect();
        let departs = has_departure(name);
        (departs || !known.is_empty() || !named.is_empty()).then_some(ClassEntries { class, known, named, departs })
    }

    /// The entry point that a method of the class is, if it is one and there is room.
    pub(super) fn of_method(&self, class: &ClassEntries, method: &MethodView<'_>) -> Option<EntryNumber> {
        if method.name().starts_with(b"<") || method.access_flags() & access::SYNTHETIC != 0 {
            return None;
        }
        let name = decode(method.name());
        let mut is_named = false;
        for &index in class.named.iter().filter(|&&index| self.options.methods[index].matches_method(&name)) {
            is_named = true;
            self.matched[index].store(true, Ordering::Relaxed);
        }
        let known = class.known.iter().find(|known| {
            known.method.as_bytes() == method.name() && method.descriptor().starts_with(known.descriptor.as_bytes())
        });
        let kind = if is_named { None } else { Some(known?.kind) };
        self.number(format!("{}.{name}", class.class), kind)
    }

    fn number(&self, method: String, kind: Option<&'static str>) -> Option<EntryNumber> {
        let mut numbers = self.numbers.lock();
        if let Some(&number) = numbers.get(&method) {
            return number;
        }
        let taken = numbers.len();
        let number = self.points.get(taken).map(|place| {
            let point = EntryPoint { method: method.clone(), kind, statistics: Statistics::default() };
            // The lock is held, and numbers are given once.
            let _ = place.set(point);
            EntryNumber(taken as i32)
        });
        if number.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        numbers.insert(method, number);
        number
    }

    /// What the user should know about the methods that were named: sentences.
    pub(super) fn complaints(&self) -> Vec<String> {
        let refused = self.refused.load(Ordering::Relaxed);
        let too_many = (refused > 0).then(|| {
            format!("{} methods match request=; only the first {MOST} were recorded: name fewer", MOST as u64 + refused)
        });
        let patterns = self.options.methods.iter().zip(&self.matched);
        let unmatched = patterns.filter(|(_, matched)| !matched.load(Ordering::Relaxed)).map(|(methods, _)| {
            format!("request={methods} matches no method of a class that was loaded; check its name")
        });
        let is_called = |point: &EntryPoint| point.statistics.begun() > 0;
        let uncalled = self.iter().filter(|(_, point)| point.kind.is_none() && !is_called(point));
        let uncalled: Vec<_> = uncalled.map(|(_, point)| &*point.method).collect();
        let uncalled = match uncalled[..] {
            // A pattern may match more than the program calls.
            _ if self.iter().any(|(_, point)| is_called(point)) => None,
            [] => None,
            [one] => Some(format!("{one} was never called, so the trace has no request")),
            [first, ..] => Some(format!("none of the {} entry points was ever called: {first}, ...", uncalled.len())),
        };
        too_many.into_iter().chain(unmatched).chain(uncalled).collect()
    }
}

/// Whether a class of that internal name has a method that hands requests over.
fn has_departure(class: &[u8]) -> bool {
    DEPARTURES.iter().any(|departure| departure.as_bytes() == class)
}

/// What of a class may be entry points, and departures.
pub(super) struct ClassEntries {
    /// As the language names it.
    class: String,
    known: Vec<&'static Known>,
    /// Which patterns match the class.
    named: Vec<usize>,
    departs: bool,
}

impl ClassEntries {
    /// Whether a method of the class hands the request over when it returns.
    pub(super) fn departs(&self, method: &MethodView<'_>) -> bool {
        self.departs && method.name() == DEPARTS
    }
}
