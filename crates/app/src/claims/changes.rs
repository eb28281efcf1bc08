//! Detects whether a text claims that something was changed. English, German, Spanish and French.

const DONE: [&str; 16] = [
    "added",
    "created",
    "deleted",
    "removed",
    "completed",
    "marked",
    "updated",
    "renamed",
    "changed",
    "saved",
    "ticked",
    "checked",
    "crossed",
    "scheduled",
    "cleared",
    "finished",
];
/// Participles of the other languages. In German they are at the end: "ich habe … hinzugefügt".
const DONE_ELSEWHERE: [&str; 30] = [
    "hinzugefügt",
    "gelöscht",
    "entfernt",
    "abgehakt",
    "umbenannt",
    "geändert",
    "gespeichert",
    "angelegt",
    "erstellt",
    "eingetragen",
    "aktualisiert",
    "notiert",
    "añadido",
    "agregado",
    "eliminado",
    "borrado",
    "completado",
    "marcado",
    "actualizado",
    "guardado",
    "creado",
    "ajouté",
    "supprimé",
    "terminé",
    "marqué",
    "modifié",
    "enregistré",
    "créé",
    "renommé",
    "effacé",
];
/// Subjects of a claim, and words that may be between subject and verb.
const SUBJECTS: [&str; 12] =
    ["i", "i've", "ive", "i’ve", "we've", "ich", "he", "hemos", "j'ai", "j’ai", "nous", "habe"];
/// Words that show that a sentence is not a claim.
const NOT_CLAIMED: [&str; 40] = [
    "not",
    "no",
    "nothing",
    "never",
    "cannot",
    "can't",
    "couldn't",
    "wasn't",
    "haven't",
    "didn't",
    "unable",
    "failed",
    "if",
    "would",
    "should",
    "could",
    "shall",
    "want",
    "once",
    "when",
    "after",
    "before",
    "you",
    "you've",
    "nicht",
    "kein",
    "keine",
    "nichts",
    "wenn",
    "soll",
    "möchtest",
    "konnte",
    "pas",
    "rien",
    "aucune",
    "si",
    "nada",
    "puedo",
    "quieres",
    "ninguna",
];
/// Complete sentences that are claims: "Done."
const WHOLE: [&str; 16] = [
    "done",
    "all done",
    "it's done",
    "that's done",
    "ok done",
    "okay done",
    "sure done",
    "task added",
    "task completed",
    "task deleted",
    "erledigt",
    "gelöscht",
    "hinzugefügt",
    "hecho",
    "listo",
    "fait",
];

/// The sentence that claims a change. `does_music`: only playlists and the library can change. `has_read`: a tool has
/// listed items, so "has been completed" may repeat its output.
pub(super) fn claimed(text: &str, does_music: bool, has_read: bool) -> Option<String> {
    let sentences = text.split(['\n', '!', ';']).flat_map(|line| line.split(". ")).map(str::trim);
    let mut sentences =
        sentences.filter(|sentence| !sentence.is_empty() && !sentence.trim_end_matches(['"', ')']).ends_with('?'));
    sentences
        .find(|sentence| is_claim(sentence, does_music, has_read))
        .map(|sentence| text::cut(sentence, 80).to_owned())
}

fn is_claim(sentence: &str, does_music: bool, has_read: bool) -> bool {
    // "For you" is only polite; any other "you" makes it a sentence about the user.
    let lower = without_quotes(&sentence.to_lowercase()).replace("for you", "");
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'))
        .filter(|word| !word.is_empty())
        .collect();
    if does_music
        && !words.iter().any(|word| {
            matches!(*word, "playlist" | "playlists" | "library" | "bibliothek" | "wiedergabeliste" | "biblioteca")
        })
    {
        return false;
    }
    let whole = words.join(" ");
    if WHOLE.contains(&whole.as_str()) {
        return true;
    }
    if words.iter().any(|word| NOT_CLAIMED.contains(word)) {
        return false;
    }
    is_active(&words) || (!has_read && is_passive(&words)) || (!has_read && begins_with_it(&words))
}

/// "I have just added …", "Ich habe … hinzugefügt".
fn is_active(words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|word| SUBJECTS.contains(word)) else { return false };
    let after = &words[at + 1..];
    let is_near = |word: &&str| DONE.contains(word);
    after.iter().take(4).any(is_near) || after.iter().any(|word| DONE_ELSEWHERE.contains(word))
}

/// "… has been added", "… wurde gelöscht", "… is now marked as done".
fn is_passive(words: &[&str]) -> bool {
    words.windows(2).any(|pair| {
        let is_done = DONE.contains(&pair[1]) || pair[1] == "successfully" || DONE_ELSEWHERE.contains(&pair[1]);
        is_done && matches!(pair[0], "been" | "now" | "successfully" | "wurde" | "été" | "sido")
    }) || (words.contains(&"wurde") && words.iter().any(|word| DONE_ELSEWHERE.contains(word)))
}

/// "Added task: water plants", "Okay, deleted.".
fn begins_with_it(words: &[&str]) -> bool {
    let is_filler = |word: &&&str| {
        matches!(**word, "ok" | "okay" | "sure" | "alright" | "great" | "successfully" | "and" | "done" | "got" | "it")
    };
    let first = words.iter().find(|word| !is_filler(word));
    first.is_some_and(|word| DONE.contains(word)) && !words.contains(&"tasks")
}

/// Removes quoted titles: "buy a cake I added cream to" claims nothing.
fn without_quotes(text: &str) -> String {
    let mut outside = String::with_capacity(text.len());
    let mut is_inside = false;
    for letter in text.chars() {
        match letter {
            '"' | '“' | '”' | '„' | '«' | '»' => is_inside = !is_inside,
            _ if is_inside => {}
            _ => outside.push(letter),
        }
    }
    if is_inside { text.to_owned() } else { outside }
}
