//! Removal and export of an account include all data of the user and no data of another user.

use std::{collections::BTreeSet, fs};

use app::services::accounts::{Account, AccountName, CheckedName};
use engine::script::says;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Person, TestApp, World, command, mp3};

/// A text that only one user has.
fn canary(name: &str) -> String {
    format!("{name}-keeps-this")
}

/// Gives a user the same recording as the other user, with a different text in the file.
async fn fill(app: &TestApp, account: &Account, folder: &std::path::Path) {
    let (user, words) = (app.person(&account.id.to_string()), canary(&account.name));
    let song = [("TIT2", "Paper Lanterns"), ("TPE1", "Ivy Marlow"), ("TSRC", "QZXYZ1900004"), ("TALB", words.as_str())];
    let own = format!("Title,Artist,Album\nMemo {words},{words},{words}\n");
    for (name, bytes) in [(format!("{words}.mp3"), mp3(&song, &words, 1)), (format!("{words}.csv"), own.into_bytes())] {
        let (status, report) = user.upload(&name, bytes).await;
        assert_eq!((status, &report["added"]), (201, &json!(1)), "{report}");
    }
    app.model.play([says(&words)]);
    user.say(&words).await;
    user.add_task(&words).await;
    let chosen = json!({"title": words, "tracks": [{"isrc": "QZXYZ1900004", "reasoning": words}]});
    let (status, saved) = user.answer(Method::POST, "/api/tools/suggestPlaylist", Some(chosen)).await;
    assert_eq!(status, 200, "{saved}");
    let folder = folder.join(&words);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("file.mp3"), mp3(&[("TIT2", words.as_str()), ("TPE1", "A")], &words, 2)).unwrap();
    let source = app
        .app
        .folders()
        .add(&app::Operator::of_this_machine(), &account.owner(), &folder.display().to_string())
        .await
        .unwrap();
    app.app.folders().sync(&account.owner(), source.id).await.unwrap();
    app.app.folders().compare_sounds().await.unwrap();
    app.app.catch_up().await.unwrap();
}

async fn export(user: &Person<'_>) -> Value {
    let mut export = user.get("/api/export").await;
    export["exportedAt"] = Value::Null;
    export
}

/// Scores depend on the word frequencies of the whole installation, so only ids are compared.
fn ids(found: &Value) -> Vec<Value> {
    found["tracks"].as_array().unwrap().iter().map(|track| track["trackId"].clone()).collect()
}

async fn account(app: &TestApp, name: &str) -> Account {
    app.app
        .accounts()
        .add(&CheckedName::of(AccountName::new(name)).unwrap(), "no password matches this hash")
        .await
        .unwrap()
}

#[tokio::test]
async fn removing_an_account_deletes_all_its_data_and_no_data_of_another() {
    let (app, folder) = (TestApp::shared([], &[]).await, tempfile::tempdir().unwrap());
    let (ann, bob) = (account(&app, "Ann").await, account(&app, "Bob").await);
    fill(&app, &ann, folder.path()).await;
    fill(&app, &bob, folder.path()).await;
    let person = |account: &Account| app.person(&account.id.to_string());
    let (anns, bobs) = (export(&person(&ann)).await, export(&person(&bob)).await);
    let parts = ["conversations", "tasks", "library", "playlists", "ownFacts", "openEntries", "imports", "sources"];
    for (whole, own, other) in [(&anns, "Ann", "Bob"), (&bobs, "Bob", "Ann")] {
        for part in parts {
            assert!(whole[part].to_string().contains(&canary(own)), "{part} of {own}: {}", whole[part]);
        }
        assert!(!whole.to_string().contains(&canary(other)), "{other} in the export of {own}");
    }
    let search = format!("/api/search?q={}", canary("Bob"));
    // How rare a word is depends on the tracks of all users, so that two tracks with nearly equal scores may change places.
    let found_by_bob =
        async || ids(&person(&bob).get(&search).await).iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    let found = found_by_bob().await;
    assert_eq!(found.len(), 3, "{found:?}");

    app.app.accounts().remove(&ann).await.unwrap();
    app.app.catch_up().await.unwrap();
    let left = app.world.dump().await;
    assert!(left.iter().any(|(_, row)| row.contains(&canary("Bob"))), "the dump contains Bob's data");
    for (table, row) in &left {
        assert!(!row.contains(&canary("Ann")), "{table} still contains Ann's text: {row}");
        // A deleted document keeps a row without text until every index has processed the deletion.
        assert!(table == "documents" || !row.contains(&ann.id.to_string()), "{table} still contains Ann's id: {row}");
    }
    assert_eq!(export(&person(&bob)).await, bobs, "nothing of Bob's has changed");
    assert_eq!(found_by_bob().await, found, "Bob's search results are unchanged");
    let gone = person(&ann).get(&format!("/api/search?q={}", canary("Ann"))).await;
    assert_eq!(gone["totalFound"], 0, "{gone}");
}

#[tokio::test]
async fn only_operators_can_add_folders_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let app = TestApp::shared([], &[("SEGUE_OPERATORS", "root, other")]).await;
    let body = Some(json!({"kind": "folder", "path": folder.path()}));
    let path = "/api/library/sources";
    let (status, refused) = app.person("ann").answer(Method::POST, path, body.clone()).await;
    assert_eq!(status, 403, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("SEGUE_OPERATORS"), "{refused}");
    let (status, made) = app.person("root").answer(Method::POST, path, body).await;
    assert_eq!((status, &made["kind"]), (201, &json!("folder")), "{made}");
    assert_eq!(app.person("ann").get(path).await["sources"], json!([]), "a source is visible only to its owner");
}

#[tokio::test]
async fn a_command_acts_only_for_the_account_that_it_names() {
    let (world, folder) = (World::new().await, tempfile::tempdir().unwrap());
    let settings = [("SEGUE_AUTH", "accounts".to_owned())];
    let run = async |args: &[&str]| command(&world, &settings, args).await;
    let (code, _, error) = run(&["export"]).await;
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("segue user add"), "{error}");
    let (ann, bob) = {
        let app = TestApp::start(world.clone(), [], &[("SEGUE_AUTH", "accounts")]).await;
        let ann = account(&app, "Ann").await;
        app.app.stop().await;
        (ann, "Bob")
    };
    let (code, out, error) = run(&["export"]).await;
    assert_eq!(code, 0, "with one account no name is needed: {error}");
    assert!(out.contains(&ann.id.to_string()), "{out}");
    let app = TestApp::start(world.clone(), [], &[("SEGUE_AUTH", "accounts")]).await;
    account(&app, bob).await;
    app.app.stop().await;

    let file = folder.path().join("memo.csv");
    fs::write(&file, "Title,Artist\nMemo,The Local Band\n").unwrap();
    let file = file.display().to_string();
    let audio = folder.path().join("audio");
    fs::create_dir(&audio).unwrap();
    let audio = audio.display().to_string();
    let commands: [&[&str]; 4] = [&["import", &file], &["library", "add", &audio], &["sample"], &["export"]];
    for command in commands {
        for (user, said) in [(&[][..], "--user"), (&["--user", "carl"][..], "no account 'carl'")] {
            let (code, out, error) = run(&[command, user].concat()).await;
            assert_eq!((code, out.as_str()), (1, ""), "{command:?} {user:?}: {error}");
            assert!(error.contains(said), "{command:?} {user:?}: {error}");
        }
        let (code, _, error) = run(&[command, &["--user", "ann"]].concat()).await;
        assert_eq!(code, 0, "{command:?}: {error}");
    }
    let exported = async |user: &str| run(&["export", "--user", user]).await.1;
    let id = ann.id.to_string();
    assert!(exported(&id).await.contains("The Local Band"), "--user accepts the id of an account");
    assert!(!exported(bob).await.contains("The Local Band"));
}
