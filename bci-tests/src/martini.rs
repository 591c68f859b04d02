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

/// Uses what cargo has built for the tests of the package `martini`: the command at this path, and the agent beside it.
pub fn use_command(command: &str) {
    let command = PathBuf::from(command);
    let martini = Martini { agent: command.with_file_name("libmartini.so"), command };
    BUILT.set(martini).expect("nobody has asked for it before");
}

/// Builds both, once for each test binary, in the profile and target folder of the tests.
///
/// For tests of other packages than `martini` cargo builds the agent only as a dependency, under a name with a hash; asking cargo again
/// is the one way that cannot pick up a stale file. It takes a moment when nothing has changed.
pub fn built() -> &'static Martini {
    BUILT.get_or_init(|| {
        let folder = profile_folder();
        let target = folder.parent().expect("a profile's folder lies in the target folder");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") => "dev",
            Some(name) => name,
            None => panic!("{} is no profile's folder", folder.display()),
        };
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = Command::new(cargo)
            .args(["build", "--quiet", "--package", "martini", "--profile", profile, "--target-dir"])
            .arg(target)
            .current_dir(workspace())
            .output()
            .expect("cargo starts");
        assert!(build.status.success(), "cargo build failed:\n{}", String::from_utf8_lossy(&build.stderr));
        let martini = Martini { agent: folder.join("libmartini.so"), command: folder.join("martini") };
        for file in [&martini.agent, &martini.command] {
            assert!(file.is_file(), "cargo did not build {}", file.display());
        }
        martini
    })
}

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("bci-tests lies in the workspace")
}

/// The folder of the profile that the running test was built with, such as `target/debug`.
pub fn profile_folder() -> PathBuf {
    let test = env::current_exe().expect("the test has a path");
    test.ancestors().nth(2).expect("tests lie in <profile>/deps").to_owned()
}
