/** German: moving in from another service. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const addresses = (n: number): string => (n === 1 ? '1 Adresse' : `${number(n)} Adressen`)
const templates = (n: number): string => (n === 1 ? '1 Vorlage' : `${number(n)} Vorlagen`)

export const de: Wider<typeof en> = {
  what: 'Was mitkommt',
  whats: { addresses: 'Adressen', templates: 'Vorlagen' },
  say: {
    addresses: 'Die Adressen mitnehmen, an die ein anderer Dienst keine Mail sendet.',
    templates: 'Die Vorlagen eines anderen Dienstes mitnehmen.',
  },
  sayText: {
    addresses:
      'Bounces, Beschwerden und blockierte Adressen werden zu Sperren, Abmeldungen zu Opt-outs, wo der Dienst sie nach Liste führte. Eine Datei wird zuerst gezählt, und sie noch einmal zu nehmen fügt nichts doppelt hinzu.',
    templates:
      'Variablen, Vorgaben, Bedingungen und Schleifen werden übersetzt, und Programme nennen die Vorlagen weiter beim selben Namen. Eine Vorlage mit etwas, das kein Gegenstück hat, wird abgelehnt, mit der Stelle.',
  },
  needsRole: {
    addresses: 'Sperren gelten für die ganze Organisation: Inhaber und Administratoren übernehmen sie.',
    templates: 'Eine Rolle, die Vorlagen ändert, übernimmt sie.',
  },
  file: 'Datei',
  files: 'Dateien',
  listHint: 'CSV oder JSON, wie der Dienst es gibt, bis 256 MiB und zwei Millionen Zeilen.',
  templateHint:
    'JSON, wie der Dienst es beantwortet, eine Vorlage oder viele; oder je Datei HTML oder Text einer Vorlage. Zusammen bis 16 MiB.',
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
  list: 'Liste, von der Abmeldungen sind',
  listNameHint: 'Leer: was der Dienst sagt. * ist jede Liste.',
  countFirst: 'Zählen, was übernommen würde',
  lookFirst: 'Sehen, was übernommen würde',
  takeAddresses: (n) => `${addresses(n)} übernehmen`,
  takeTemplates: (n) => `${templates(n)} übernehmen`,
  stop: 'Anhalten',
  result: 'Ergebnis',
  wouldTake: (n) => `${addresses(n)} ${n === 1 ? 'würde' : 'würden'} hinzugefügt.`,
  taken: (n) => `${addresses(n)} hinzugefügt.`,
  goesOn: (row) => (row === 0 ? 'Die Datei wird gelesen.' : `Bisher bis Zeile ${number(row)}.`),
  brokeOff: (row) => `Nach Zeile ${number(row)} brach es ab. Was davor kam, ist gespeichert.`,
  continueFrom: (row) => `Ab Zeile ${number(row)} weitermachen`,
  fileOf: (service) => `Eine Datei von ${service}.`,
  nothingYet: 'Noch ist nichts gespeichert.',
  new: 'Neu',
  added: 'Hinzugefügt',
  alreadyThere: 'Schon da',
  skipped: 'Übergangen',
  refused: 'Abgelehnt',
  seeAddresses: 'Die übernommenen Adressen ansehen',
  notTaken: (n) => (n === 1 ? 'Eine Zeile wird nicht übernommen' : `${number(n)} Zeilen werden nicht übernommen`),
  results: { skipped: 'übergangen', refused: 'abgelehnt' },
  lineOf: (line) => `Zeile ${line} der Datei`,
  firstOnly: (n) => `Gezeigt sind die ersten ${number(n)}; postern import suppressions DATEI schreibt alle.`,
  subject: 'Betreff',
  subjectHint: 'Von Vorlagen, die als HTML oder Text kommen.',
  replaces: 'Eine Vorlage, die mit anderem Inhalt hier ist, bekommt eine neue Version',
  tooLarge: 'Diese Dateien sind zusammen grösser als 16 MiB; in Teilen übernehmen.',
  notJson: (name) => `${name} ist kein JSON.`,
  wouldTakeTemplates: (n) => `${templates(n)} ${n === 1 ? 'würde' : 'würden'} übernommen.`,
  takenTemplates: (n) => `${templates(n)} übernommen.`,
  created: 'Angelegt',
  updated: 'Neue Versionen',
  unchanged: 'Unverändert',
  outcomes: { created: 'angelegt', updated: 'neue Version', unchanged: 'unverändert', refused: 'abgelehnt' },
}
