/** The words for what is different between two versions. */
import { inLanguages } from '../words/words.ts'

const en = {
  same: 'Nothing changes for visitors.',
  kinds: { added: 'Added', removed: 'Removed', changed: 'Changed', moved: 'Moved' },
  answersStay: 'Answers that were given stay, and stay in exports.',
  moved: (from: number, to: number) => `From place ${String(from)} to place ${String(to)}`,
  place: 'Place',
  parts: {
    name: 'Name',
    locale: 'Language',
    theme: 'Theme',
    thank_you: 'Thank you',
    settings: 'Settings',
    translations: 'Translations',
    logic: 'Logic',
    layout: 'Rows',
  },
}

const de: typeof en = {
  same: 'Für Besucher ändert sich nichts.',
  kinds: { added: 'Neu', removed: 'Entfernt', changed: 'Geändert', moved: 'Verschoben' },
  answersStay: 'Gegebene Antworten bleiben, auch in Exporten.',
  moved: (from, to) => `Von Platz ${String(from)} an Platz ${String(to)}`,
  place: 'Platz',
  parts: {
    name: 'Name',
    locale: 'Sprache',
    theme: 'Aussehen',
    thank_you: 'Dank',
    settings: 'Einstellungen',
    translations: 'Übersetzungen',
    logic: 'Logik',
    layout: 'Zeilen',
  },
}

const fr: typeof en = {
  same: 'Rien ne change pour les visiteurs.',
  kinds: { added: 'Ajouté', removed: 'Retiré', changed: 'Changé', moved: 'Déplacé' },
  answersStay: 'Les réponses données restent, aussi dans les exports.',
  moved: (from, to) => `De la place ${String(from)} à la place ${String(to)}`,
  place: 'Place',
  parts: {
    name: 'Nom',
    locale: 'Langue',
    theme: 'Aspect',
    thank_you: 'Merci',
    settings: 'Réglages',
    translations: 'Traductions',
    logic: 'Logique',
    layout: 'Lignes',
  },
}

const it: typeof en = {
  same: 'Per i visitatori non cambia nulla.',
  kinds: { added: 'Aggiunto', removed: 'Tolto', changed: 'Cambiato', moved: 'Spostato' },
  answersStay: 'Le risposte date restano, anche nelle esportazioni.',
  moved: (from, to) => `Dal posto ${String(from)} al posto ${String(to)}`,
  place: 'Posto',
  parts: {
    name: 'Nome',
    locale: 'Lingua',
    theme: 'Aspetto',
    thank_you: 'Grazie',
    settings: 'Impostazioni',
    translations: 'Traduzioni',
    logic: 'Logica',
    layout: 'Righe',
  },
}

export const words = inLanguages({ en, de, fr, it })
