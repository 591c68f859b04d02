//! A start script whose JVM cannot reach what `martini run` can: it gives up its rights, changes its folder or its file system. The JVM
//! starts always; it is profiled where it can write a trace.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::process::{self, Finished};
use bci_tests::read::{self, Judged};
use bci_tests::suite::Suite;
use bci_tests::{java, martini};

/// The user of a JVM that is not ours.
const OTHER: u32 = 65_534;
const GIVE_UP: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";

pub(crate) fn tests(suite: &mut Suite) {
    let can = |script: &str| Command::new("sh").args(["-c", script]).output().is_ok_and(|ended| ended.status.success());
    if !can(&format!("{GIVE_UP} true")) {
        return suite.skip("other_users".to_owned(), "no right to become another user");
    }
    suite.each_jdk(one_that_may_write_a_trace);
    suite.each_jdk(one_that_may_not);
    suite.any_jdk(a_strict_umask_and_no_home);
    suite.any_jdk(an_agent_by_a_relative_path);
    suite.any_jdk(a_folder_that_the_jvm_cannot_name);
    suite.any_jdk(a_program_that_cannot_load_the_agent);
    if can("unshare --mount mount -t tmpfs none /tmp") {
        suite.any_jdk(one_with_a_tmp_of_its_own);
    }
}

/// A folder that everybody may look into, with the program, and an agent that only its owner can read.
struct Scene {
    folder: tempfile::TempDir,
    java: PathBuf,
}

impl Scene {
    fn new(jdk: &Jdk) -> Scene {
        let folder = tempfile::Builder::new().prefix("martini-test-").tempdir().expect("a temporary folder");
        let scene = Scene { folder, java: jdk.home.join("bin/java") };
        for name in ["classes/endings", "a b,c", "traces"] {
            fs::create_dir_all(scene.path(name)).expect("a folder of ours");
        }
        for class in ["Main", "Main$Cell"] {
            let name = format!("endings/{class}.class");
            let compiled = std::env::split_paths(java::class_path()).map(|path| path.join(&name));
            let compiled = compiled.into_iter().find(|path| path.is_file()).expect("it is compiled");
            fs::copy(compiled, scene.path("classes").join(&name)).expect("a file of ours");
        }
        fs::copy(&martini::built().agent, scene.agent()).expect("a file of ours");
        let open = Command::new("chmod").args(["-R", "a+rX"]).arg(scene.folder.path()).status();
        assert!(open.expect("chmod starts").success());
        fs::set_permissions(scene.path("a b,c"), Permissions::from_mode(0o700)).expect("a folder of ours");
        fs::set_permissions(scene.path("traces"), Permissions::from_mode(0o1777)).expect("a folder of ours");
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn agent(&self) -> PathBuf {
        self.path("a b,c/libmartini.so")
    }

    /// Runs a script, in which `$JAVA` starts the program that ends with status 7.
    fn run(&self, traces: &str, script: &str, change: impl FnOnce(&mut Command)) -> Finished {
        let mut command = Command::new(&martini::built().command);
        command.args(["run", "--file"]).arg(self.path(traces).join("t-%p.trcxml")).args(["sh", "-c", script]);
        let classes = self.path("classes");
        command.env("JAVA", format!("{} -cp {} endings.Main exit", self.java.display(), classes.display()));
        command.env("MARTINI_AGENT", self.agent()).current_dir(self.folder.path());
        change(&mut command);
        let ran = process::run(&mut command);
        remove_copy(&ran.err());
        ran
    }

    /// The only trace of a program that ran as ever.
    #[track_caller]
    fn trace(&self, ran: &Finished) -> PathBuf {
        runs_as_ever(ran);
        let traces = fs::read_dir(self.path("traces")).expect("a folder of ours");
        let traces: Vec<PathBuf> = traces.map(|entry| entry.expect("it is there").path()).collect();
        let [trace] = &traces[..] else { panic!("{traces:?}: {}", ran.err()) };
        let counted = read::trace(trace, Counted::default(), Judged::Valid);
        let cells = counted.sites.iter().filter(|(site, _)| site.class == "endings.Main$Cell");
        assert_eq!(cells.map(|(_, sum)| sum.instances).sum::<u64>(), 1000);
        trace.clone()
    }
}

/// The copy that was made for JVMs of all users lies where all tests and users have theirs; the JVM says where.
fn remove_copy(err: &str) {
    let place = err.split("-agentpath:").nth(1).and_then(|rest| rest.split('=').next());
    let place = place.map(Path::new).filter(|path| path.components().any(|part| part.as_os_str() == "martini-0"));
    if let Some(folder) = place.and_then(Path::parent) {
        let _ = fs::remove_dir_all(folder);
    }
}

#[track_caller]
fn runs_as_ever(ran: &Finished) {
    assert_eq!((ran.status.code(), ran.out().as_str()), (Some(7), "1000 cells ä\n"), "{}", ran.err());
}

fn one_that_may_write_a_trace(jdk: &Jdk) {
    let scene = Scene::new(jdk);
    let ran = scene.run("traces", &format!("exec {GIVE_UP} $JAVA"), |_| {});
    let trace = scene.trace(&ran);
    assert_eq!(trace.metadata().expect("it is there").uid(), OTHER);
    assert!(ran.err().contains("endings.Main.main(Main.java:"), "{}", ran.err());
}

fn one_that_may_not(jdk: &Jdk) {
    let scene = Scene::new(jdk);
    let ran = scene.run(".", &format!("{GIVE_UP} $JAVA"), |_| {});
    runs_as_ever(&ran);
    let err = ran.err();
    let lines: Vec<&str> = err.lines().filter(|line| line.contains("this JVM is not profiled: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains("ermission denied"), "{err}");
    assert!(err.contains("no trace was written to"), "{err}");
}

fn a_strict_umask_and_no_home(jdk: &Jdk) {
    let scene = Scene::new(jdk);
    let script = format!("umask 077; cd /; {GIVE_UP} env -i \"JAVA_TOOL_OPTIONS=$JAVA_TOOL_OPTIONS\" $JAVA");
    let (martini, file) = (&martini::built().command, scene.path("traces/t-%p.trcxml"));
    let words = format!("umask 077; exec '{}' run --file '{}' sh -c '{script}'", martini.display(), file.display());
    let mut command = Command::new("sh");
    let java = format!("{} -cp {} endings.Main exit", scene.java.display(), scene.path("classes").display());
    command.args(["-c", &words]).env("MARTINI_AGENT", scene.agent()).env("JAVA", java);
    command.env_remove("HOME").env_remove("XDG_CACHE_HOME").env("TMPDIR", scene.path("a b,c"));
    let ran = process::run(&mut command);
    remove_copy(&ran.err());
    scene.trace(&ran);
}

fn an_agent_by_a_relative_path(jdk: &Jdk) {
    let scene = Scene::new(jdk);
    let ran = scene.run("traces", &format!("cd / && {GIVE_UP} $JAVA"), |command| {
        command.env("MARTINI_AGENT", "a b,c/libmartini.so");
    });
    scene.trace(&ran);
}

/// The JVM would take what is behind the first `=` for options.
fn a_folder_that_the_jvm_cannot_name(jdk: &Jdk) {
    let scene = Scene::new(jdk);
    let folder = scene.path("a=b");
    fs::create_dir(&folder).expect("a folder of ours");
    let agent = folder.join("libmartini.so");
    fs::rename(scene.agent(), &agent).expect("a file of ours");
    let ran = scene.run("traces", "$JAVA", |command| {
        command.env("MARTINI_AGENT", agent);
    });
    scene.trace(&ran);
}

/// As in a sandbox. The agent does not lie in /tmp where it need not.
fn one_with_a_tmp_of_its_own(jdk: &Jdk) {
    let scene = Scene::new(jdk);
    let kept = scene.folder.path().display();
    let script = format!(
        "unshare --mount sh -c 'mount --bind {kept} /mnt && mount -t tmpfs none /tmp && mkdir -p {kept} && \
         mount --bind /mnt {kept} && {GIVE_UP} $JAVA'"
    );
    scene.trace(&scene.run("traces", &script, |_| {}));
}

/// Of a JVM that the agent is not made for, nothing is known before it starts.
fn a_program_that_cannot_load_the_agent(jdk: &Jdk) {
    let scene = Scene::new(jdk);
    let ran =
        scene.run("traces", "unset JAVA_TOOL_OPTIONS; ${JAVA%% *} -agentpath:/nowhere/libmartini.so -version", |_| {});
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.err().contains("martini: if a JVM says \"Could not find agent library\""), "{}", ran.err());
}
