/** German: moving in from another service. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const addresses = (n: number): string => (n === 1 ? '1 Adresse' : `${number(n)} Adressen`)
const templates = (n: number): string => (n === 1 ? '1 Vorlage' : `${number(n)} Vorlagen`)

export const de: Wider<typeof en> = {
  what: 'Was importiert wird',
  whats: { addresses: 'Adressen', templates: 'Vorlagen' },
  say: {
    addresses: 'Die Sperrlisten eines anderen Dienstes übernehmen.',
    templates: 'Die Vorlagen eines anderen Dienstes übernehmen.',
  },
  sayText: {
    addresses:
      'Bounces, Beschwerden und blockierte Adressen werden zu Sperren, Abmeldungen zu Opt-outs, wo der Dienst sie nach Liste führte. Eine Datei wird gezählt, bevor etwas gespeichert wird, und sie noch einmal zu importieren fügt nichts doppelt hinzu.',
    templates:
      'Variablen, Vorgaben, Bedingungen und Schleifen werden übersetzt, und Programme rufen die Vorlagen weiter unter demselben Namen auf. Eine Vorlage mit etwas, das kein Gegenstück hat, wird abgelehnt, mit Angabe der Stelle.',
  },
  needsRole: {
    addresses: 'Sperren gelten für die ganze Organisation: Inhaber und Administratoren importieren sie.',
    templates: 'Eine Rolle, die Vorlagen ändert, importiert sie.',
  },
  file: 'Datei',
  files: 'Dateien',
  listHint: 'CSV oder JSON, wie der Dienst sie exportiert, bis 256 MiB und zwei Millionen Zeilen.',
  templateHint:
    'JSON, wie die API des Dienstes es liefert, eine Vorlage oder viele; oder je Vorlage eine Datei mit HTML oder Text. Zusammen bis 16 MiB.',
  service: 'Dienst',
  recognized: 'An der Datei erkannt',
  kind: 'Was in der Datei steht',
  bySelf: 'Wie die Datei sagt',
  kinds: {
    bounces: 'Bounces',
    blocks: 'Blockierungen',
    complaints: 'Beschwerden',
    unsubscribes: 'Abmeldungen',
    invalid: 'Ungültige Adressen',
    manual: 'Von Hand blockierte Adressen',
    allowed: 'Erlaubte Adressen',
  },
  list: 'Liste der Abmeldungen',
  listNameHint: 'Leer: was der Dienst sagt; * steht für alle Listen.',
  preview: 'Import-Vorschau',
  takeAddresses: (n) => `${addresses(n)} importieren`,
  takeTemplates: (n) => `${templates(n)} importieren`,
  stop: 'Anhalten',
  result: 'Ergebnis',
  wouldTake: (n) => `${addresses(n)} ${n === 1 ? 'würde' : 'würden'} hinzugefügt.`,
  taken: (n) => `${addresses(n)} hinzugefügt.`,
  goesOn: (row) => (row === 0 ? 'Die Datei wird gelesen.' : `Bisher ${number(row)} Zeilen.`),
  brokeOff: (row) => (row === 0 ? 'Der Import brach ab.' : `Bis Zeile ${number(row)} importiert.`),
  countBrokeOff: 'Die Datei wurde nicht bis zum Ende gezählt.',
  restIsLeft: 'Der Rest der Datei wurde nicht gelesen. Was gespeichert ist, bleibt, und ein neuer Import fügt nichts doppelt hinzu.',
  continueFrom: (row) => `Ab Zeile ${number(row)} weitermachen`,
  fileOf: (service) => `Eine Datei von ${service}.`,
  nothingYet: 'Noch ist nichts gespeichert.',
  new: 'Neu',
  added: 'Hinzugefügt',
  alreadyThere: 'Schon da',
  skipped: 'Übergangen',
  refused: 'Abgelehnt',
  seeAddresses: 'Die importierten Adressen ansehen',
  notTaken: (n) => (n === 1 ? 'Eine Zeile wird nicht importiert' : `${number(n)} Zeilen werden nicht importiert`),
  results: { skipped: 'übergangen', refused: 'abgelehnt' },
  lineOf: (line) => `Zeile ${line} der Datei`,
  firstOnly: (n) => `Gezeigt sind die ersten ${number(n)}; postern import suppressions DATEI schreibt alle.`,
  subject: 'Betreff',
  subjectHint: 'Von Vorlagen, die als HTML oder Text kommen.',
  replaces: 'Vorlagen, die mit anderem Inhalt hier sind, bekommen eine neue Version',
  tooLarge: 'Diese Dateien sind zusammen grösser als 16 MiB; in Teilen importieren.',
  notJson: (name) => `${name} ist kein JSON.`,
  wouldTakeTemplates: (n) => `${templates(n)} ${n === 1 ? 'würde' : 'würden'} importiert.`,
  takenTemplates: (n) => `${templates(n)} importiert.`,
  created: 'Angelegt',
  updated: 'Neue Versionen',
  unchanged: 'Unverändert',
  outcomes: { created: 'angelegt', updated: 'neue Version', unchanged: 'unverändert', refused: 'abgelehnt' },
}
