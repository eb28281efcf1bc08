//! German, French and Spanish words about errands, offices and devices with their English meaning. They decide what a
//! message is about; nothing is searched by them.

use std::borrow::Cow;

use crate::{
    gloss,
    stop::{TextLanguage, content_words, text_language},
    words::fold,
};

/// A message in English: itself, or its known words. `None` if it is in another language and most of its content words
/// are unknown.
pub fn english(message: &str) -> Option<Cow<'_, str>> {
    let content = content_words(message);
    let said = content.iter().map(|content| fold(&message[content.word.start..content.word.end]));
    let meanings: Vec<&str> = said.filter_map(|word| gloss::meaning(&word).or_else(|| meaning(&word))).collect();
    if text_language(message) == TextLanguage::English && 2 * meanings.len() <= content.len() {
        return Some(message.into());
    }
    (2 * meanings.len() >= content.len() && !meanings.is_empty()).then(|| meanings.join(" ").into())
}

/// The ends of German compounds count too: "Handyvertrag" is a contract.
fn meaning(word: &str) -> Option<&'static str> {
    let is = |form: &str| form == word || form.len() >= SHORTEST_END && word.ends_with(form);
    TABLE.iter().find(|(_, forms)| forms.split_whitespace().any(is)).map(|(meaning, _)| *meaning)
}

const SHORTEST_END: usize = 6;

/// Forms are lower case without accents.
const TABLE: &[(&str, &str)] = &[
    ("weather forecast", "wetter wettervorhersage vorhersage meteo clima pronostico"),
    ("tomorrow", "demain"),
    ("today", "heute aujourd hui hoy"),
    ("appointment", "termin termine rendez vous cita turno"),
    ("dentist", "zahnarzt zahnarztin dentiste dentista"),
    ("doctor", "arzt arztin hausarzt medecin medico doctora"),
    ("pharmacy", "apotheke pharmacie farmacia"),
    ("hospital", "krankenhaus hopital"),
    (
        "prescription medicine tablets",
        "medikament medikamente tabletten medicament medicaments medicamento pastillas ordonnance",
    ),
    ("fever symptoms", "fieber symptome fievre symptomes fiebre sintomas"),
    (
        "tax return",
        "steuer steuern steuererklarung finanzamt impot impots impuesto impuestos hacienda declaration declaracion",
    ),
    ("invoice bill", "rechnung rechnungen facture factures factura facturas quittung recibo"),
    ("account", "konto kontos compte cuenta"),
    ("bank", "banque banco sparkasse"),
    ("transfer withdraw money", "uberweisen abheben virement retirer sacar transferir transferencia"),
    ("credit card loan", "kredit kreditkarte darlehen pret emprunt prestamo tarjeta hipoteca hypothek"),
    ("insurance", "versicherung krankenversicherung assurance mutuelle seguro"),
    ("contract", "vertrag vertrage contrat contrato"),
    ("cancel", "kundigen absagen stornieren kundigung annuler resilier cancelar anular"),
    ("renew", "verlangern erneuern renouveler renovar"),
    ("apply for a form", "antrag beantragen formular formulaire demande formulario solicitud solicitar tramite"),
    ("passport identity card", "reisepass ausweis personalausweis passeport pasaporte dni carnet"),
    ("driving licence", "fuhrerschein"),
    ("town hall office", "rathaus amt behorde burgeramt mairie prefecture ayuntamiento oficina"),
    ("opening hours", "offnungszeiten geoffnet horaires horaire ouverture ouvert horario horarios abierto"),
    ("timetable", "fahrplan fahrplane abfahrt"),
    ("ticket", "fahrkarte fahrschein eintrittskarte ticket billet billets billete billetes entrada entradas boleto"),
    ("flight airport", "flug fluge flughafen vol vols aeroport avion vuelo vuelos aeropuerto"),
    ("station bus", "bahnhof haltestelle autobus gare arret estacion parada autobuses"),
    ("parking", "parken parkplatz parkhaus stationner garer stationnement aparcar aparcamiento estacionar"),
    ("petrol station", "tankstelle benzin tanken gasolinera gasolina"),
    ("car repair", "werkstatt reifen garagiste pneu pneus taller neumatico neumaticos bremsen freins frenos"),
    ("hotel reservation", "hotel zimmer reservierung reserver reservation reservar reserva habitacion"),
    ("restaurant nearby", "restaurant lokal restaurante"),
    ("recipe", "rezept rezepte recette recettes receta recetas"),
    ("cook", "kochen backen cuire cocer hornear cuisson"),
    ("eggs flour", "eier mehl oeufs farine huevos harina"),
    ("soup cake", "suppe kuchen soupe tarte gateau sopa pastel tarta"),
    (
        "shopping list supermarket",
        "einkaufen einkauf supermarkt einkaufsliste courses supermarche compras supermercado comprar acheter kaufen",
    ),
    (
        "price cost",
        "preis preise kosten kostet prix coute coutent precio precios cuesta cuestan kostenlos tarif tarifa",
    ),
    (
        "order delivery parcel",
        "bestellung bestellen lieferung paket sendung commande livraison colis pedido envio paquete",
    ),
    ("return refund", "ruckgabe erstattung umtauschen remboursement rembourser devolver devolucion reembolso"),
    ("printer", "drucker imprimante impresora toner"),
    ("computer laptop", "rechner computer laptop ordinateur ordenador portatil computadora"),
    ("phone", "handy telefon telephone movil telefono"),
    ("password login", "passwort kennwort anmelden anmeldung connexion contrasena"),
    ("internet wifi router", "internet wlan router wifi reseau"),
    ("does not work broken", "kaputt funktioniert defekt panne funciona averia roto"),
    ("repair", "reparieren reparatur reparer reparation arreglar reparar reparacion"),
    ("washing machine dishwasher", "waschmaschine spulmaschine geschirrspuler lavadora lavavajillas laver linge"),
    ("heating electricity", "heizung strom stromrechnung chauffage electricite calefaccion electricidad"),
    ("water tap drain", "wasserhahn abfluss robinet grifo desague"),
    ("rent flat", "miete mieten wohnung vermieter loyer louer appartement alquiler alquilar piso"),
    ("buy a house mortgage", "immobilie immobilien immobilier inmobiliaria vivienda"),
    ("moving company", "umzug demenagement mudanza"),
    ("job application", "bewerbung lebenslauf stellenangebote candidature cv emploi curriculum empleo oferta"),
    ("look for", "suchen suche chercher cherche buscar busco"),
    ("meeting calendar", "besprechung sitzung kalender meeting calendrier agenda calendario"),
    ("remind me", "erinnere erinnern rappelle rappeler recuerdame"),
    ("write", "schreiben mail email ecrire courriel escribir correo"),
    ("translate", "ubersetzen ubersetze ubersetzung traduire traduis traduction traducir traduce traduccion"),
    ("convert calculate", "umrechnen berechnen rechnen calculer convertir calcular"),
    (
        "install update download",
        "installieren aktualisieren herunterladen installer telecharger instalar descargar actualizar",
    ),
    ("school homework exam", "hausaufgaben prufung klausur devoirs examen deberes"),
    ("capital population of a country", "hauptstadt einwohner capitale habitants capital habitantes poblacion"),
    (
        "election president minister",
        "wahl wahlen prasident kanzler bundeskanzler president ministre presidente ministro elecciones",
    ),
    ("highway code traffic", "verkehr verkehrsregeln stau trafico atasco"),
    ("time", "uhr uhrzeit heure hora"),
    ("phone number address", "telefonnummer nummer adresse numero direccion"),
    ("vacuum cleaner clean", "staubsauger putzen reinigen aspirateur nettoyer aspiradora limpiar"),
    ("rubbish recycling", "mull mulltonne poubelle dechets basura reciclaje"),
    ("vaccination", "impfung impfen vaccin vacuna"),
    ("law lawyer", "anwalt gesetz avocat loi abogado ley"),
];

#[cfg(test)]
mod tests {
    use super::english;

    #[test]
    fn errands_in_other_languages_are_told_in_english() {
        for (message, meaning) in [
            ("Handyvertrag kündigen", Some("contract cancel")),
            ("pedir cita con el dentista", Some("appointment dentist")),
            ("Lieder über den Regen", Some("rain")),
            ("mirar por la ventana del tren", None),
            ("what is the capital of Peru", Some("what is the capital of Peru")),
        ] {
            assert_eq!(english(message).as_deref(), meaning, "{message}");
        }
    }
}
