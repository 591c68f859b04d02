//! The agent and the command, as the tests use them.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where the built files are.
#[derive(Debug)]
pub struct Martini {
    /// The agent, `libmartini.so`.
    pub agent: PathBuf,
    /// The command, `martini`.
    pub command: PathBuf,
}

impl Martini {
    /// The command, and the agent that was built for it. Cargo puts a library beside the command when it was asked for, and into `deps`
    /// when it is only needed: the newer one is meant.
    fn beside(command: PathBuf) -> Self {
        const AGENT: &str = "libmartini.so";
        let folder = command.parent().expect("a command lies in a folder");
        let places = [folder.join("deps").join(AGENT), folder.join(AGENT)].into_iter();
        let built = places.filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)));
        let (_, agent) = built.max_by_key(|(modified, _)| *modified).expect("cargo builds the agent with the command");
        assert!(command.is_file(), "cargo did not build {}", command.display());
        Self { agent, command }
    }

    /// The JVM option that starts the agent with these options.
    pub fn agent_path(&self, options: &str) -> OsString {
        let mut option = OsString::from("-agentpath:");
        option.push(&self.agent);
        option.push("=");
        option.push(options);
        option
    }
}

static BUILT: OnceLock<Martini> = OnceLock::new();

/// Uses what cargo has built for the tests of the package `martini`, whose command has this path.
pub fn use_command(command: &str) {
    BUILT.set(Martini::beside(PathBuf::from(command))).expect("nobody has asked for it before");
}

/// Builds both, once for each test binary, in the profile and target folder of the tests.
///
/// Asking cargo is the one way that cannot pick up a stale file. It is asked for a test of the package, since that is what `cargo test`
/// builds them for: `cargo build` may choose other features of what they depend on, and build them anew. Where nothing has changed it
/// takes a moment.
pub fn built() -> &'static Martini {
    BUILT.get_or_init(|| {
        let folder = profile_folder();
        let target = folder.parent().expect("a profile's folder lies in the target folder");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") => "test",
            Some(name) => name,
            None => panic!("{} is no profile's folder", folder.display()),
        };
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = Command::new(cargo)
            .args(["test", "--quiet", "--no-run", "--package", "martini", "--test", "smoke", "--profile", profile])
            .arg("--target-dir")
            .arg(target)
            .current_dir(workspace())
            .output()
            .expect("cargo starts");
        assert!(build.status.success(), "cargo failed:\n{}", String::from_utf8_lossy(&build.stderr));
        Martini::beside(folder.join("martini"))
    })
}

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("bci-tests lies in the workspace")
}

/// The folder of the profile that the running test or program was built with, such as `target/debug`.
pub fn profile_folder() -> PathBuf {
    let program = env::current_exe().expect("the test has a path");
    let folder = program.parent().expect("a program lies in a folder");
    // Tests lie in <profile>/deps.
    if folder.ends_with("deps") { folder.parent().expect("of a profile").to_owned() } else { folder.to_owned() }
}
