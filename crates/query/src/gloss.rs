//! A small table of German, French and Spanish words about music and life with their English meaning. A query in these
//! languages is also searched by the English words, and a denied word also excludes its English form. It is used when
//! no multilingual embedder is installed.

use crate::{
    stop::{TextLanguage, text_language},
    words::{fold, words},
};

/// The English words for the known words of a text; `None` if it contains none, or if the text is English.
pub fn english(text: &str) -> Option<String> {
    let said: Vec<String> = words(text).iter().map(|word| fold(&text[word.start..word.end])).collect();
    let meanings: Vec<&str> = said.iter().filter_map(|word| meaning(word)).collect();
    let is_english = text_language(text) == TextLanguage::English && 2 * meanings.len() <= said.len();
    (!meanings.is_empty() && !is_english).then(|| meanings.join(" "))
}

pub(crate) fn meaning(word: &str) -> Option<&'static str> {
    TABLE.iter().find(|(_, forms)| forms.split_whitespace().any(|form| form == word)).map(|(meaning, _)| *meaning)
}

/// Forms are lower case without accents. A word with the same spelling as an unrelated English word is not listed.
const TABLE: &[(&str, &str)] = &[
    ("rain", "regen regens regennacht verregnet pluie pluies lluvia lluvias"),
    ("sea", "meer see meeres mer mers mar mares ozean ocean oceano"),
    ("harbour", "hafen port puerto"),
    ("snow", "schnee neige nieve"),
    ("winter evening", "winterabend"),
    ("winter", "hiver invierno"),
    ("summer", "sommer sommertage sommertag ete verano"),
    ("autumn", "herbst automne otono"),
    ("spring", "fruhling printemps primavera"),
    ("night", "nacht nachts nuit nuits noche noches"),
    ("evening", "abend abends soir soiree tarde"),
    ("morning", "morgen morgens matin manana"),
    ("sunrise dawn", "sonnenaufgang aube lever amanecer alba"),
    ("sun", "sonne soleil sol"),
    ("home", "hause zuhause maison casa heim"),
    ("leaving home", "weggehen quitter irse partir fortgehen"),
    ("homesickness", "heimweh nostalgie anoranza"),
    ("family", "familie famille familia"),
    ("mother", "mutter mere madre mama"),
    ("father", "vater pere padre papa"),
    ("grandmother", "grossmutter oma grand-mere abuela"),
    ("friends friendship", "freund freunde freundschaft ami amis amitie amigo amigos amistad"),
    ("love", "liebe amour amor"),
    ("heartbreak breakup", "trennung rupture ruptura liebeskummer herzschmerz chagrin desamor"),
    ("grief mourning", "trauer toten deuil duelo murio luto mort muerte tod"),
    ("wedding", "hochzeit mariage boda noces"),
    ("childhood", "kindheit kindheitserinnerungen enfance infancia ninez"),
    ("memories memory", "erinnerung erinnerungen souvenir souvenirs recuerdo recuerdos"),
    ("running workout", "laufen joggen rennen courir correr"),
    ("sleep lullaby", "einschlafen schlafen schlaf endormir dormir sommeil sueno"),
    ("insomnia", "schlaflosigkeit insomnie insomnio"),
    ("dance", "tanzen tanz tanzparty danser danse bailar baile"),
    ("party", "feier fete fiesta"),
    ("driving", "autofahrt fahren fahrt conduire conducir manejar route carretera"),
    ("city", "stadt ville ciudad"),
    ("small town countryside", "dorf village pueblo land campagne campo"),
    ("loneliness solitude", "einsamkeit einsam solitude soledad solo"),
    ("hope", "hoffnung espoir esperanza"),
    ("freedom", "freiheit liberte libertad"),
    ("protest", "protestation protesta"),
    ("work", "arbeit travail trabajo travailler arbeiten trabajar"),
    ("money", "geld argent dinero"),
    ("letter letters", "brief briefe lettre lettres carta cartas"),
    ("cosy", "gemutlich gemutlicher gemutliche douillet douillette acogedora acogedor"),
    ("first", "erste erster erstes premier premiere primera primero"),
    ("old", "alte alten alter vieux vieille viejo viejos vieja"),
    ("small", "kleine kleiner petit petite pequeno pequena"),
    ("proud pride", "stolz fier fiere orgulloso orgullosa"),
    ("hard times", "schwer schweren schwere difficile difficiles dificil dificiles"),
    ("sad", "traurig traurige trauriges traurigen triste tristes"),
    ("happy", "frohlich frohliche glucklich joyeux joyeuse feliz alegre"),
    ("calm", "ruhig ruhige ruhiges calme tranquille tranquilo tranquila doux douce suave"),
    ("angry", "wutend wut colere rabia furioso"),
    ("tender", "zartlich tendre tierno tierna"),
    ("piano", "klavier klaviermusik"),
    ("guitar", "gitarre gitarren guitare guitares guitarra guitarras"),
    ("drums", "schlagzeug trommel trommeln batterie tambour bateria tambores"),
    ("accordion", "akkordeon accordeon acordeon"),
    ("violin strings", "geige geigen violon violons violin violines cordes streicher cuerdas"),
    ("trumpet", "trompete trompeten trompette trompeta"),
    ("saxophone", "saxofon saxophon saxophone saxofono"),
    ("flute", "flote flauta"),
    ("choir", "chor choeur coro"),
    ("voice", "stimme voix voz"),
    ("train", "zug tren"),
    ("river", "fluss riviere fleuve rio"),
    ("mountains", "berge berg montagne montagnes montana montanas"),
    ("war", "krieg guerre guerra"),
    ("travel journey", "reise reisen voyage viaje"),
    ("coffee", "kaffee"),
    ("kitchen", "kuche cuisine cocina"),
    ("reading", "lesen lire leer"),
    ("studying focus", "lernen etudier estudiar konzentration concentration"),
    ("Christmas", "weihnachten noel navidad"),
    ("goodbye farewell", "abschied adieu despedida adios"),
    ("longing", "sehnsucht fernweh desir anhelo"),
];

#[cfg(test)]
mod tests {
    use super::english;

    #[test]
    fn queries_in_other_languages_get_english_words_and_english_queries_do_not() {
        for (text, meaning) in [
            ("une chanson triste sur la mer", Some("sad sea")),
            ("Lieder über den Regen", Some("rain")),
            ("canciones sobre la lluvia", Some("rain")),
            ("Heimweh", Some("homesickness")),
            ("songs about the sea", None),
            ("a brief history of the port", None),
            ("rain", None),
        ] {
            assert_eq!(english(text).as_deref(), meaning, "{text}");
        }
    }
}
