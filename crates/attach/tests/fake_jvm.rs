//! Attaching to a JVM that is played by a thread of the test: its folder in `/proc` and its root are folders of the test, its process
//! is the test's own.

mod fake;

use std::fs;
use std::os::unix::fs::symlink;

use attach::{AttachError, Process, Request};
use fake::{Fake, INNER_PID, Says};

#[test]
fn the_listener_is_started_once_and_answers() {
    let fake = Fake::new(Says::Bytes("0\njava.version=17\n"));
    let target = fake.target().unwrap();
    for _ in 0..2 {
        let answer = target.execute("properties", &[]).unwrap();
        assert_eq!((answer.status, answer.text.as_str()), (0, "java.version=17\n"));
    }
    assert_eq!(fake.requests(), ["1\0properties\0\0\0\0", "1\0properties\0\0\0\0"]);
    assert_eq!(fake.starts(), 1);
    assert!(!fake.tmp().join(format!(".attach_pid{INNER_PID}")).exists());
}

#[test]
fn a_socket_that_nobody_listens_at_is_replaced() {
    let fake = Fake::new(Says::Bytes("0\n"));
    drop(std::os::unix::net::UnixListener::bind(fake.socket()).unwrap());
    assert_eq!(fake.target().unwrap().execute("jcmd", &["VM.version"]).unwrap().status, 0);
    assert_eq!(fake.starts(), 1);
}

#[test]
fn a_file_or_a_link_in_the_sockets_place_is_not_used() {
    for put in [(|fake: &Fake| fs::write(fake.socket(), "").unwrap()) as fn(&Fake), |fake| {
        symlink("/dev/log", fake.socket()).unwrap()
    }] {
        let fake = Fake::new(Says::Bytes("0\n"));
        put(&fake);
        let error = fake.target().unwrap().execute("properties", &[]).unwrap_err();
        assert!(matches!(error, AttachError::ForeignSocket { .. }), "{error}");
        assert_eq!(fake.starts(), 0);
    }
}

#[test]
fn a_link_in_a_container_does_not_lead_out_of_it() {
    let fake = Fake::new(Says::Bytes("0\n"));
    fs::rename(fake.tmp(), fake.root().join("scratch")).unwrap();
    symlink("/scratch", fake.tmp()).unwrap();
    assert_eq!(fake.target().unwrap().execute("properties", &[]).unwrap().status, 0);
}

#[test]
fn no_signal_is_sent_to_what_does_not_catch_it() {
    let fake = Fake::new(Says::Bytes("0\n"));
    fake.status(|status| status.replace("SigCgt:\t0000000000000004", "SigCgt:\t0000000000000000"));
    let error = fake.target().unwrap().execute("properties", &[]).unwrap_err();
    assert!(matches!(error, AttachError::Deaf(_)), "{error}");
    assert_eq!(fake.starts(), 0);
}

#[test]
fn jvms_that_cannot_answer_are_left_alone() {
    let fake = Fake::new(Says::Bytes("0\n"));
    let target = fake.target().unwrap();
    fake.status(|status| status.replace("State:\tS", "State:\tT"));
    assert!(matches!(target.execute("properties", &[]), Err(AttachError::Stopped(_))));
    fake.status(|status| status.replace("State:\tT", "State:\tZ"));
    assert!(!target.process().is_alive());
    assert!(matches!(fake.target(), Err(AttachError::NoProcess(_))));
    assert_eq!(fake.starts(), 0);
}

#[test]
fn an_option_that_forbids_attaching_is_seen_wherever_it_stands() {
    let disabled = |file: &str, words: &str| {
        let fake = Fake::new(Says::Bytes("0\n"));
        fs::write(fake.folder().join(file), words).unwrap();
        matches!(fake.target().unwrap().execute("properties", &[]), Err(AttachError::Disabled(_)))
    };
    assert!(disabled("cmdline", "java\0-XX:+DisableAttachMechanism\0Main\0"));
    assert!(disabled("environ", "A=b\0JAVA_TOOL_OPTIONS=-Xint -XX:+DisableAttachMechanism\0"));
    assert!(!disabled("cmdline", "java\0-XX:+DisableAttachMechanism\0-XX:-DisableAttachMechanism\0Main\0"));
    assert!(!disabled("environ", "A=-XX:+DisableAttachMechanism\0"));
}

#[test]
fn what_is_no_jvm_is_refused() {
    let fake = Fake::new(Says::Bytes("0\n"));
    fs::write(fake.folder().join("maps"), "00400000-0040b000 r-xp 00000000 08:02 1 /usr/bin/cat\n").unwrap();
    assert!(matches!(fake.target(), Err(AttachError::NotAJvm(_))));
    assert!(matches!(Process::find(attach::Pid(u32::MAX)), Err(AttachError::NoProcess(_))));
}

#[test]
fn answers_that_are_none_have_their_errors() {
    let says = |says: Says| Fake::new(says).target().unwrap().execute("properties", &[]).unwrap_err();
    assert!(matches!(says(Says::Bytes("")), AttachError::Refused(_)));
    assert!(matches!(says(Says::Bytes("what?\n")), AttachError::Strange { .. }));
    let fake = Fake::new(Says::Bytes("0\n"));
    let error = fake.target().unwrap().execute("load", &[&"x".repeat(1025)]).unwrap_err();
    assert!(matches!(error, AttachError::TooLong { length: 1025, limit: 1024 }));
    assert!(fake.requests().is_empty());
}

#[test]
fn an_agent_that_is_not_loaded_says_why() {
    let load = |says| Fake::new(Says::Bytes(says)).target().unwrap().load("/x.so", "").unwrap_err();
    let error = load("0\n/x.so was not loaded.\n/x.so: cannot open shared object file\n");
    assert!(matches!(&error, AttachError::NotLoaded { text, .. } if text.contains("cannot open")), "{error}");
    assert!(matches!(load("-1\nDynamic agent loading is not enabled."), AttachError::NoAgents(_)));
}

#[test]
fn the_agents_answer_is_read_from_its_file_and_the_file_removed() {
    let fake = Fake::new(Says::Agent("ok\nrecording no\nend\n"));
    let answer = fake.target().unwrap().ask("/agent.so", Request::Status, "").unwrap();
    assert_eq!(answer.value("recording"), Some("no"));
    let requests = fake.requests();
    assert!(requests[0].starts_with("1\0load\0/agent.so\0true\0status;/tmp/martini-reply-"), "{requests:?}");
    assert!(requests[0].ends_with(";\0"), "{requests:?}");
    let left = fs::read_dir(fake.tmp()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.collect::<Vec<_>>(), [format!(".java_pid{INNER_PID}")]);
}

#[test]
fn what_the_agent_refuses_is_its_sentence() {
    let fake = Fake::new(Says::Agent("error nothing is recorded\nend\n"));
    let error = fake.target().unwrap().ask("/agent.so", Request::Stop, "").unwrap_err();
    assert!(matches!(&error, AttachError::Agent { sentence, .. } if sentence == "nothing is recorded"), "{error}");
}

#[test]
fn what_the_agent_refuses_at_once_is_its_sentence_too() {
    let ask = |answer| {
        let fake = Fake::new(Says::Discontent(answer));
        fake.target().unwrap().ask("/agent.so", Request::Start, "").unwrap_err()
    };
    let error = ask("error the JVM is about to exit\nend\n");
    assert!(matches!(&error, AttachError::Agent { sentence, .. } if sentence == "the JVM is about to exit"), "{error}");
    let error = ask("");
    assert!(matches!(&error, AttachError::NotLoaded { text, .. } if text.contains("ended with -1")), "{error}");
}

#[test]
fn an_agent_that_serves_another_request_is_asked_again() {
    let fake = Fake::new(Says::Later("busy another request is in progress\nend\n", "ok\ntrace /t\nend\n"));
    let answer = fake.target().unwrap().ask("/agent.so", Request::Stop, "").unwrap();
    assert_eq!(answer.value("trace"), Some("/t"));
    assert_eq!(fake.requests().len(), 2);
}

#[test]
fn an_end_of_the_jvm_ends_the_wait_for_the_agent() {
    let fake = Fake::new(Says::Agent("ok\n"));
    let target = fake.target().unwrap();
    let status = fake.folder().join("status");
    let end = std::thread::spawn(move || {
        while fs::metadata(&status).is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(300));
            fs::remove_file(&status).unwrap();
        }
    });
    assert!(matches!(target.ask("/agent.so", Request::Stop, ""), Err(AttachError::Gone(_))));
    end.join().unwrap();
}
