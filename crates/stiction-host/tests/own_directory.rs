//! The directory of our own: made, marked, removed, and nothing else touched.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use stiction_core::SessionId;
use stiction_host::{
    Change, Liveness, OwnDirectory, PendingCommand, UndoJournal, Undone, UserCommands, leftovers,
    pending, restore, restore_with,
};
use tempfile::TempDir;

struct Place {
    top: TempDir,
    undo: UndoJournal,
}

impl Place {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let session = SessionId::new("2002-11-30T10:59:12Z".parse().unwrap(), 7);
        let undo = UndoJournal::open(&top.path().join("state"), &session).unwrap();
        fs::create_dir(top.path().join("user")).unwrap();
        Self { top, undo }
    }

    fn user(&self) -> PathBuf {
        self.top.path().join("user")
    }

    fn state(&self) -> PathBuf {
        self.top.path().join("state")
    }

    fn names_in_user(&self) -> Vec<String> {
        names(&self.user())
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn it_is_made_marked_and_removed_with_all_that_is_in_it() {
    let place = Place::new();
    fs::write(place.user().join("precious"), "text").unwrap();
    let own = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    let path = own.path().to_owned();
    assert_eq!(path.parent(), Some(place.user().as_path()));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with(".stiction-20021130-105912-"), "{name}");
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(place.undo.open_changes().len(), 1);

    fs::create_dir_all(path.join("a/b/c")).unwrap();
    fs::write(path.join("a/b/c/file"), "text").unwrap();
    fs::write(path.join(OsStr::from_bytes(b"not \xff UTF-8\n")), "text").unwrap();
    symlink(place.user(), path.join("link to a folder")).unwrap();
    symlink(place.user().join("precious"), path.join("a/link to a file")).unwrap();
    own.close().unwrap();
    assert_eq!(place.names_in_user(), ["precious"]);
    assert_eq!(fs::read(place.user().join("precious")).unwrap(), b"text");
    assert!(place.undo.open_changes().is_empty());
}

#[test]
fn dropping_it_removes_it_too() {
    let place = Place::new();
    let own = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    fs::write(own.path().join("file"), "text").unwrap();
    drop(own);
    assert!(place.names_in_user().is_empty());
    assert!(place.undo.open_changes().is_empty());
}

#[test]
fn no_two_have_the_same_name() {
    let place = Place::new();
    let one = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    let other = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    assert_ne!(one.path(), other.path());
    one.close().unwrap();
    assert!(other.path().exists());
}

#[test]
fn names_with_spaces_and_without_utf_8_are_names_like_any_other() {
    let place = Place::new();
    let parent = place.user().join(OsStr::from_bytes(b"my disk \xff\xfe"));
    fs::create_dir(&parent).unwrap();
    let own = OwnDirectory::create(&parent, &place.undo).unwrap();
    fs::write(own.path().join("file"), "text").unwrap();
    // What the journal says reads back as the same bytes.
    let journals = pending(&place.state()).unwrap();
    assert_eq!(journals.pending[0].changes[0].path(), own.path());
    assert_eq!(leftovers(&parent).unwrap().found[0].path, own.path());
    own.close().unwrap();
    assert!(names(&parent).is_empty());
}

#[test]
fn it_is_found_again_when_its_parent_has_been_moved() {
    let place = Place::new();
    let parent = place.user().join("before");
    fs::create_dir(&parent).unwrap();
    let own = OwnDirectory::create(&parent, &place.undo).unwrap();
    let moved = place.user().join("after");
    fs::rename(&parent, &moved).unwrap();
    own.close().unwrap();
    assert!(names(&moved).is_empty());
}

#[test]
fn what_stands_in_its_place_is_left_alone() {
    let place = Place::new();
    for marked in [false, true] {
        let own = OwnDirectory::create(&place.user(), &place.undo).unwrap();
        let path = own.path().to_owned();
        fs::rename(&path, place.user().join("moved away")).unwrap();
        let other = OwnDirectory::create(&place.user(), &place.undo).unwrap();
        if marked {
            fs::rename(other.path(), &path).unwrap();
        } else {
            fs::create_dir(&path).unwrap();
        }
        fs::write(path.join("precious"), "text").unwrap();
        let error = own.close().unwrap_err().to_string();
        assert!(error.contains("is left alone"), "{error}");
        assert_eq!(fs::read(path.join("precious")).unwrap(), b"text");
        // It stays in the journal, so that it is not forgotten.
        let open = place.undo.open_changes();
        assert!(open.iter().any(|change| change.path() == path), "{open:?}");
        fs::remove_dir_all(path).unwrap();
        fs::remove_dir_all(place.user().join("moved away")).unwrap();
    }
}

#[test]
fn a_link_in_its_place_is_not_followed() {
    let place = Place::new();
    let own = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    let path = own.path().to_owned();
    let moved = place.user().join("moved away");
    fs::rename(&path, &moved).unwrap();
    symlink(&moved, &path).unwrap();
    assert!(own.close().is_err());
    assert!(moved.exists());
}

#[test]
fn it_is_gone_already_is_no_error() {
    let place = Place::new();
    let own = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    fs::remove_dir_all(own.path()).unwrap();
    own.close().unwrap();
    assert!(place.undo.open_changes().is_empty());
}

#[test]
fn a_parent_that_will_not_do_is_named_with_what_to_do() {
    let place = Place::new();
    let file = place.user().join("file");
    fs::write(&file, "text").unwrap();
    let message = |parent: &Path| {
        let error = OwnDirectory::create(parent, &place.undo).unwrap_err();
        error.to_string()
    };
    let missing = message(&place.user().join("missing"));
    assert!(
        missing.contains("user/missing: No such file") && missing.contains("check the path"),
        "{missing}"
    );
    let file = message(&file);
    assert!(
        file.contains("Not a directory") && file.contains("give a directory"),
        "{file}"
    );
    assert!(place.undo.open_changes().is_empty());
}

#[test]
fn a_living_owner_s_directory_is_found_and_not_removed() {
    let place = Place::new();
    let own = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    fs::create_dir(place.user().join(".stiction-not-marked")).unwrap();
    fs::write(place.user().join(".stiction-file"), "text").unwrap();
    let mut found = leftovers(&place.user()).unwrap().found;
    assert_eq!(found.len(), 1);
    let leftover = found.remove(0);
    assert_eq!(leftover.path, own.path());
    assert_eq!(leftover.liveness, Liveness::Alive);
    assert_eq!(leftover.owner.pid, std::process::id());
    let error = leftover.remove().unwrap_err().to_string();
    assert!(error.contains("20021130-105912"), "{error}");
    let restoration = restore(&place.state()).unwrap();
    assert!(restoration.changes.is_empty() && restoration.problems.is_empty());
    assert!(own.path().exists());
}

#[test]
fn the_journal_tells_of_the_change_before_it_is_made() {
    let place = Place::new();
    let text = || fs::read_to_string(place.undo.path()).unwrap();
    let lines = || text().lines().count();
    assert_eq!(lines(), 1, "the owner");
    let own = OwnDirectory::create(&place.user(), &place.undo).unwrap();
    assert_eq!(lines(), 2);
    let journals = pending(&place.state()).unwrap();
    let [journal] = &journals.pending[..] else {
        panic!("{journals:?}");
    };
    assert_eq!(journal.liveness, Liveness::Alive);
    let [Change::OwnDirectory { path, nonce }] = &journal.changes[..] else {
        panic!("{:?}", journal.changes);
    };
    assert_eq!(path, own.path());
    let marker = fs::read_to_string(own.path().join(".stiction-directory")).unwrap();
    assert!(nonce.len() >= 20 && marker.contains(nonce.as_str()));
    assert_eq!(place.undo.path().metadata().unwrap().mode() & 0o777, 0o600);
    own.close().unwrap();
    assert_eq!(lines(), 3);
    assert!(
        pending(&place.state()).unwrap().pending[0]
            .changes
            .is_empty()
    );
}

#[test]
fn a_journal_with_nothing_left_to_undo_goes_away() {
    let place = Place::new();
    let state = place.state();
    drop(OwnDirectory::create(&place.user(), &place.undo).unwrap());
    assert_eq!(names(&state).len(), 1);
    let Place { top, undo } = place;
    drop(undo);
    assert!(names(&state).is_empty());
    drop(top);
}

/// A journal as a process of an earlier boot would have left it.
fn dead_journal(place: &Place, changes: &str) -> PathBuf {
    let text = fs::read_to_string(place.undo.path()).unwrap();
    let owner = text.lines().next().unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let owner = owner.replace(boot.trim(), "00000000-0000-0000-0000-000000000000");
    let path = place.state().join("dead.undo");
    fs::write(&path, format!("{owner}\n{changes}")).unwrap();
    path
}

#[test]
fn a_torn_last_line_is_a_change_that_was_not_made() {
    let place = Place::new();
    let folder = place.user().join("folder");
    fs::create_dir(&folder).unwrap();
    let line = format!(
        r#"{{"begin":[1,{{"change":"own_directory","path":"{}","nonce":"n"}}]}}"#,
        folder.display()
    );
    let journal = dead_journal(&place, &line);
    let restoration = restore(&place.state()).unwrap();
    assert!(restoration.changes.is_empty(), "{restoration:?}");
    assert!(!journal.exists(), "nothing is left to undo");

    // With its end the line counts, and the folder, which is empty, goes.
    dead_journal(&place, &format!("{line}\n"));
    let restoration = restore(&place.state()).unwrap();
    assert_eq!(restoration.changes.len(), 1);
    assert!(!folder.exists());
}

#[test]
fn a_journal_that_is_none_does_not_stop_the_others() {
    let place = Place::new();
    let gone = place.user().join("gone");
    let line = format!(
        r#"{{"begin":[1,{{"change":"own_directory","path":"{}","nonce":"n"}}]}}"#,
        gone.display()
    );
    dead_journal(&place, &format!("{line}\n"));
    let nonsense = place.state().join("a.undo");
    fs::write(&nonsense, "nonsense\n").unwrap();
    // Neither of these comes to an end.
    std::os::unix::fs::symlink("/dev/zero", place.state().join("b.undo")).unwrap();
    let pipe = place.state().join("c.undo");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    let restoration = restore(&place.state()).unwrap();
    assert_eq!(restoration.changes.len(), 1);
    assert!(restoration.changes[0].result.is_ok());
    let problem = restoration.problems[0].to_string();
    assert!(problem.contains("a.undo line 1"), "{problem}");
    assert_eq!(restoration.problems.len(), 3);
    assert!(nonsense.exists());
}

/// A marker and a journal can only lead to the directory that carries the secret.
#[test]
fn a_folder_with_files_and_no_marker_is_never_emptied() {
    let place = Place::new();
    let folder = place.user().join("folder");
    fs::create_dir(&folder).unwrap();
    File::create(folder.join("precious")).unwrap();
    let line = format!(
        r#"{{"begin":[1,{{"change":"own_directory","path":"{}","nonce":"n"}}]}}"#,
        folder.display()
    );
    let journal = dead_journal(&place, &format!("{line}\n"));
    let restoration = restore(&place.state()).unwrap();
    let error = restoration.changes[0]
        .result
        .as_ref()
        .unwrap_err()
        .to_string();
    assert!(error.contains("no marker"), "{error}");
    assert!(folder.join("precious").exists() && journal.exists());
}

/// Killed between making the marker and having written it: nothing else can be in the
/// directory by then.
#[test]
fn a_marker_that_was_cut_off_is_removed_when_it_is_alone() {
    for (text, more, is_removed) in [
        ("", false, true),
        ("{\n  \"note\": \"This direc", false, true),
        ("", true, false),
        ("not ours", false, false),
        ("{}", false, false),
    ] {
        let place = Place::new();
        let folder = place.user().join("folder");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".stiction-directory"), text).unwrap();
        if more {
            fs::write(folder.join("precious"), "").unwrap();
        }
        let line = format!(
            r#"{{"begin":[1,{{"change":"own_directory","path":"{}","nonce":"n"}}]}}"#,
            folder.display()
        );
        dead_journal(&place, &format!("{line}\n"));
        let restoration = restore(&place.state()).unwrap();
        assert_eq!(restoration.changes[0].result.is_ok(), is_removed, "{text}");
        assert_eq!(folder.exists(), !is_removed, "{text}");
        let marker = folder.join(".stiction-directory");
        assert_eq!(marker.exists(), !is_removed, "{text}");
    }
}

/// After a reboot the mounts, the loop devices and the settings are gone by themselves; the
/// files are not.
#[test]
fn what_another_boot_has_undone_is_told_and_files_are_removed() {
    let place = Place::new();
    let folder = place.user().join("folder");
    fs::create_dir(&folder).unwrap();
    let mounted = folder.join("mounted");
    let folder_text = folder.display();
    let changes = [
        format!(r#"{{"change":"own_directory","path":"{folder_text}","nonce":"n"}}"#),
        format!(
            r#"{{"change":"loop_device","device":"/dev/loop-of-another-boot","backing_file":"{folder_text}/device"}}"#
        ),
        // Were it of this boot, this file would be written to.
        r#"{"change":"kernel_files","folder":"/sys/block/none/queue","before":[{"name":"scheduler","value":"none"}]}"#.to_owned(),
        format!(
            r#"{{"change":"mount","source":"/dev/loop-of-another-boot","mount_point":"{}"}}"#,
            mounted.display()
        ),
        r#"{"change":"control_group","path":"/sys/fs/cgroup/none/of-another-boot"}"#.to_owned(),
    ];
    let lines = (1..)
        .zip(&changes)
        .map(|(n, change)| format!("{{\"begin\":[{n},{change}]}}\n"));
    let journal = dead_journal(&place, &lines.collect::<String>());
    let restoration = restore(&place.state()).unwrap();
    let results = restoration.changes.iter().map(|one| {
        assert!(!one.owner.is_of_this_boot());
        *one.result.as_ref().unwrap()
    });
    let gone = Undone::WasGone;
    let results: Vec<Undone> = results.collect();
    assert_eq!(results, [gone, gone, gone, gone, Undone::Removed]);
    assert!(!folder.exists());
    assert!(!journal.exists());
}

/// A command of the user's stays in the journal until somebody says that it is to be
/// carried out; all else is undone meanwhile.
#[test]
fn a_command_of_the_users_is_carried_out_on_their_word() {
    let place = Place::new();
    let folder = place.user().join("folder");
    fs::create_dir(&folder).unwrap();
    let flag = place.user().join("flag");
    fs::write(&flag, "").unwrap();
    let lines = format!(
        "{{\"begin\":[1,{{\"change\":\"own_directory\",\"path\":\"{}\",\"nonce\":\"n\"}}]}}\n\
         {{\"begin\":[2,{{\"change\":\"command\",\"words\":[\"rm\",\"flag\"],\"directory\":\"{}\"}}]}}\n",
        folder.display(),
        place.user().display()
    );
    let journal = dead_journal(&place, &lines);
    for expected in [Undone::Removed, Undone::WasGone] {
        let restoration = restore(&place.state()).unwrap();
        let results = restoration
            .changes
            .iter()
            .map(|one| *one.result.as_ref().unwrap());
        assert_eq!(results.collect::<Vec<_>>(), [Undone::Left, expected]);
        assert!(flag.exists() && journal.exists() && !folder.exists());
    }
    let mut asked = Vec::new();
    let restoration = restore_with(&place.state(), &mut |_, change| {
        asked.push(change.clone());
        UserCommands::CarryOut
    });
    assert!(
        restoration
            .unwrap()
            .changes
            .iter()
            .all(|one| one.result.is_ok())
    );
    let directory = place.user();
    let words = vec!["rm".to_owned(), "flag".to_owned()];
    assert_eq!(asked, [Change::Command { words, directory }]);
    assert!(!flag.exists() && !journal.exists());

    // One that fails stays, with what it said.
    let journal = dead_journal(&place, &lines);
    let restoration = restore_with(&place.state(), &mut |_, _| UserCommands::CarryOut).unwrap();
    let error = restoration.changes[0]
        .result
        .as_ref()
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("rm flag failed: ") && error.contains("No such file"),
        "{error}"
    );
    assert!(journal.exists());
}

#[test]
fn a_command_that_was_carried_out_is_not_pending() {
    let place = Place::new();
    let words = vec!["true".to_owned()];
    let noted = PendingCommand::note(words, &place.user(), &place.undo).unwrap();
    assert_eq!(place.undo.open_changes().len(), 1);
    noted.done().unwrap();
    assert!(place.undo.open_changes().is_empty());
}
