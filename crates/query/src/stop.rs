//! Function words by language, and language detection for short texts.

use std::{collections::HashMap, sync::LazyLock};

use crate::words::{Word, words};
use text::fold;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLanguage {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
}

use TextLanguage::{English, French, German, Italian, Portuguese, Spanish};

/// Lower case without accents.
const FUNCTION_WORDS: [(TextLanguage, &str); 6] = [
    (
        English,
        "a an and are as at be been being but by can could did do does doing don for from get gets getting go goes going got had has have having he her hers him \
         his how i if in into is it its just let ll m me mine my of off on or our ours out over own re s say says she should so some such t than that the their theirs them \
         then there these they this those to too up us ve very was we were what when where which while who whom why will with won would yes you your yours about like \
         something anything someone somebody everything thing things really please want wants need give find show me some any rather more most one ones im also through between near without within across",
    ),
    (
        German,
        "aber als am an auch auf aus bei bin bis das dass dem den der des die dies diese dieser doch du durch ein eine einem einen einer eines er es etwas fur gegen habe hat haben hatte ich ihr \
         im in ist ja kann man mein meine mich mir mit nach noch nur ob oder ohne sein seine sich sie sind so uber um und uns unter vom von vor war was wenn wer wie will wir wird wo zu zum zur \
         mochte bitte gib zeig finde mal welche welches unser unsere unserer meiner einer nach zwischen \
         bist dich dir euch hier ins meines meinem meinen deine deinen sehr viel viele wann warum wieviel \
         ihre ihrem ihren ihrer ihm ihn ihnen seinem seinen seiner seines dein deiner deinem deines unserem unseren unseres euer eure jede jeder jeden jedes \
         jedem alle allen aller dieses diesem diesen jener welcher welchem wurde wurden werden waren warst hast hatten sollen soll sollte konnen konnte kannst \
         muss mussen musste darf durfen wollen wollte willst mochten geht gehe gibt geben machen mache gemacht selber selbst dann denn weil damit \
         beim ubers irgendwas irgendwie mehr weniger brauche brauchen braucht sagen sagt sagte dabei davon dafur dort",
    ),
    (
        French,
        "a ai au aux avec c ce cela ces cet cette chez d dans de des du elle en es est et eu il ils j je l la le les leur lui m ma mais me mes moi mon n ne nos notre nous on ont ou par pas pour \
         qu quand que quelque quelques quelqu qui s sa sans se ses si son sont sur t ta te tes toi ton tu un une vos votre vous y chose veux trouve donne sous apres avant bien tot jours combien comment pourquoi quel quelle quels quelles tout toute tous toutes cette fait \
         etre etait etaient suis sommes serait avoir avait avaient avez avons faire faut fais peut peux peuvent pouvait veut voulait dois doit leurs \
         celui celle ceux celles aussi alors donc tres trop moins peu comme chaque entre vers contre depuis pendant jusqu jusque quoi meme memes autre \
         autres ici envie besoin truc",
    ),
    (
        Spanish,
        "a al algo alguna alguno como con cual cuando de del desde donde e el ella ellas ellos en entre era es esa ese eso esta estas este esto estoy fue ha han hasta hay la las le les lo los mas me mi \
         mis muy ni no nos o para pero por porque que quien quiero se si sin sobre son soy su sus te tiene tu tus un una unas uno unos y ya yo dame busca bajo despues antes nuestra nuestro alguien temprano cuanto cuanta cuantos cuantas cuales toda todo todos todas hace contigo conmigo \
         ser estar estan estaba estaban eres somos fueron voy vamos tener tengo tienen tenia hacer hago hizo puede puedo pueden podia debe debo quiere \
         queria necesito necesita cada otro otra otros otras mismo misma tanto tambien asi aunque mientras aquel aquella aquellos esos esas estos mucho mucha \
         muchos muchas poco pocos hacia segun durante cosa cosas aqui alli dice decir dijo ponme",
    ),
    (
        Italian,
        "a ai al alla alle anche che chi ci come con cosi cosa da dal dalla de dei del della delle di dove e ed era gli ha hai ho i il in io la le lei li lo lui ma me mi mia mio ne nel nella noi non o ogni per \
         perche piu quando questa questo se si sei sono su sua suo ti tra tu un una uno vi voi",
    ),
    (
        Portuguese,
        "a ao aos as com como da das de dela dele do dos e ela ele em entre era essa esse esta este eu foi ha isso isto ja la lhe mais mas me mesmo meu minha muito na nao nas nem no nos num numa o os ou para \
         pela pelo por quando que quem se sem ser seu sua so tem um uma voce",
    ),
];

/// General words for music. They occur in every description, so they do not distinguish tracks.
const GENERIC: &str = "song songs music track tracks tune tunes piece pieces sound sounds audio album albums playlist listen listening hear play \
    lied lieder musik stuck stucke titel chanson chansons musique morceau morceaux cancion canciones musica tema temas canzone canzoni musicas";

/// Common words with many meanings. They have a lower weight.
const WEAK: &str = "good new old big little small great long short time times day days way best better first last next back make makes made making take takes \
    feel feels feeling know think look come comes coming thing kind bit lot lots much many every again still even always never now today tomorrow yesterday week \
    people person man woman work works working right left end start keep put use help call called nice well wants after before around not no";

/// English words that are function words of another language: "no regrets" is not Spanish. They are content words of an
/// English text.
const ENGLISH_TOO: &str = "am bin chose com come comment con des die dies era fun ha hat lo ma mal man no par per pour sin son ton tot tout war ya yo";

/// Whether a word shows that a text is English.
pub(crate) fn is_sign_of_english(word: &str) -> bool {
    is_listed(English, word) || ENGLISH_TOO.split_whitespace().any(|known| known == word)
}

/// Whether a word means music in general.
pub fn is_generic(word: &str) -> bool {
    GENERIC.split_whitespace().any(|known| known == word)
}

/// Whether a word is a function word of a language.
pub(crate) fn is_listed(language: TextLanguage, word: &str) -> bool {
    static LISTS: LazyLock<HashMap<&str, Vec<TextLanguage>>> = LazyLock::new(|| {
        let mut languages = HashMap::<&str, Vec<TextLanguage>>::new();
        for (language, list) in FUNCTION_WORDS {
            list.split_whitespace().for_each(|word| languages.entry(word).or_default().push(language));
        }
        languages
    });
    LISTS.get(word).is_some_and(|languages| languages.contains(&language))
}

/// Whether a word is a function word of a language, or of English, which is mixed with every language.
pub(crate) fn is_function_word(language: TextLanguage, word: &str) -> bool {
    is_listed(language, word) || is_listed(English, word)
}

/// The language with the most function words in the text; English if there are none.
pub(crate) fn text_language(text: &str) -> TextLanguage {
    let said = surface(text);
    let count = |is: &dyn Fn(&str) -> bool| said.iter().filter(|word| is(word)).count();
    let mut best = (English, count(&is_sign_of_english));
    for (language, _) in FUNCTION_WORDS.into_iter().skip(1) {
        let n = count(&|word| is_listed(language, word));
        if n > best.1 {
            best = (language, n);
        }
    }
    best.0
}

/// A word of a query that carries meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentWord {
    pub word: Word,
    /// As the text has it, folded but not stemmed.
    pub form: String,
    /// 1, or less for a common word.
    pub weight: f32,
}

/// The content words of a text, without the function words of its language. Empty if the text has only function words
/// ("The The").
pub fn content_words(text: &str) -> Vec<ContentWord> {
    let language = text_language(text);
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    let lists = FUNCTION_WORDS.iter().filter(|(of, _)| *of == language || *of == English).map(|(_, list)| *list);
    let lists: Vec<&str> = lists.chain([GENERIC]).collect();
    let told = |word: Word| {
        let form = fold(&text[word.start..word.end]);
        if lists.iter().any(|list| is_in(list, &form)) || form.chars().count() < 2 && form.is_ascii() {
            return None;
        }
        let weight = if is_in(WEAK, &form) { WEAK_WEIGHT } else { 1.0 };
        Some(ContentWord { word, form, weight })
    };
    words(text).into_iter().filter_map(told).collect()
}

const WEAK_WEIGHT: f32 = 0.4;

pub(crate) fn surface(text: &str) -> Vec<String> {
    words(text).iter().map(|word| fold(&text[word.start..word.end])).collect()
}

/// Words about errands, offices and computers. A message with one of them is rarely about music, even if other words of
/// it occur in a description.
const ERRANDS: &str = "tax taxes invoice invoices printer forecast weather appointment dentist doctor pharmacy password login account insurance mortgage \
    wifi router laptop battery driver download upload install update software python java kubernetes yaml server database api code javascript excel spreadsheet \
    email mail inbox meeting agenda deadline deadlines homework essay visa passport permit renewal ticket tickets flight flights hotel parking toyota car-wash \
    recipe boil bake eggs pizza milk calories groceries vacuum cleaner shop shopping policy claim refund receipt credit stock stocks price prices rates \
    kilometres kilometers miles celsius convert translate election president minister capital symptoms medicine ibuprofen influenza vaccine \
    wetter wettervorhersage steuererklarung rechnung drucker passwort termin zahnarzt arzt versicherung rezept meteo facture imprimante rendez-vous \
    impuestos factura impresora contrasena cita dentista receta clima toner";

/// Verbs at the start of a message that request an action.
const ERRAND_VERBS: &str = "write cancel renew spell open close change compare set schedule remind define split unsubscribe subscribe book order reserve send \
    calculate convert translate download install update upgrade reset fix repair replace delete format print scan sign submit pay transfer \
    buy sell rent hire register enroll charge connect configure turn switch clean wash summarize summarise explain solve debug compile schreib kaufe kauf bestelle \
    buche storniere reserve achete commande compra reserva envia";

/// Whether a message is about an errand.
pub(crate) fn is_errand(text: &str) -> bool {
    let said = surface(text);
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    said.iter().any(|word| is_in(ERRANDS, word)) || said.len() > 1 && is_in(ERRAND_VERBS, &said[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> String {
        content_words(text).iter().map(|word| word.word.term.clone()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn function_words_depend_on_the_language_of_the_text() {
        assert_eq!(text_language("une chanson triste sur la mer"), French);
        assert_eq!(text_language("Lieder zum Einschlafen für die Kinder"), German);
        assert_eq!(text_language("rain"), English);
        assert_eq!(content("une chanson triste sur la mer"), "trist mer");
        assert_eq!(content("Musik zum Einschlafen"), "einschlafen");
        assert_eq!(content("funeral of someone I loved"), "funer love");
        assert_eq!(content("songs about the sea"), "sea");
        // "War" is a German verb and an English theme.
        assert_eq!(content("songs about war"), "war");
        assert_eq!(content("no sin, no regrets"), "no sin no regret");
        assert_eq!(text_language("no quiero llorar"), Spanish);
        assert_eq!(content("The The"), "");
    }
}
