/** Deutsch. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  say: (projects, partitions, sends) =>
    `${projects === 1 ? 'Ein Projekt' : `${number(projects)} Projekte`}${partitions === 0 ? '' : ` mit ${partitions === 1 ? 'einer Partition' : `${number(partitions)} Partitionen`}`}; heute ${sends} Sendungen.`,
  sayText:
    'Ein Projekt hat eigene Destinationen, Schlüssel, Traces und abgefangene Nachrichten. Eine Partition ist ein Projekt für einen deiner Kunden, unter einem Projekt.',
  failed: 'Die Projekte können nicht gezeigt werden.',
  none: 'Hier wird kein Projekt gezeigt',
  newPartition: 'Neue Partition',
  partition: 'Partition',
  partitionOf: 'Partition von',
  theDefault: 'Standard',
  policy: 'Ohne Weg',
  policies: { capture: 'auffangen', reject: 'ablehnen', relay_default: 'Standardversand' },
  policyHint: 'Was mit einer Sendung geschieht, zu der keine Regel und keine Destination passt.',
  sendsToday: 'Sendungen heute',
  capturesThisMonth: 'Abgefangen in diesem Monat',
  budget: 'Sendungen pro Tag, höchstens',
  budgetHint: 'Leer für kein eigenes Budget; der Plan der Organisation begrenzt weiterhin.',
  captureCap: 'Abgefangene pro Monat, höchstens',
  captureCapHint: 'Leer für das, was der Plan enthält.',
  environmentHint: 'Mail, zu der keine Regel passt, geht an die erste Live-Destination dieser Umgebung. Leer für keine.',
  nameHint: 'Etwa Newsletter oder Shop.',
  edit: 'Bearbeiten',
  editOf: (name) => `${name} bearbeiten`,
  made: (name) => `${name} ist angelegt.`,
  saved: (name) => `${name} ist geändert.`,
  created: 'Angelegt',
  inside: 'In diesem Projekt',
  partitions: 'Partitionen',
  noPartitions: 'Keine Partition. Jede hätte eigene Destinationen, Schlüssel, Traces und ein eigenes Budget.',
  move: 'In ein anderes Projekt verschieben',
  moveTitle: 'In ein anderes Projekt verschieben',
  moveSay: (count) =>
    count === 0
      ? 'Wähle, was verschoben wird'
      : count === 1
        ? 'Ein Eintrag wird verschoben'
        : `${number(count)} Einträge werden verschoben`,
  moveText:
    'Das Verschieben wirkt sofort, und kein Geheimnis und keine Adresse ändert sich. Traces und abgefangene Nachrichten bleiben, wo sie sind.',
  moveTo: 'In das Projekt',
  moveNow: (count) => (count === 0 ? 'Verschieben' : `${number(count)} verschieben`),
  moveNothing: 'In diesem Projekt lässt sich nichts verschieben.',
  moveAlone: 'Es gibt kein anderes Projekt.',
  notForOrganization: 'gehört der ganzen Organisation',
  namedElsewhere: 'bleibt, solange eine Regel, ein Ausfallweg oder ein SMTP-Zugang sie nennt',
  chooseAll: 'Alle dieser Art wählen',
  moved: 'verschoben',
  movedCount: (count, name) => `${number(count)} nach ${name} verschoben.`,
  stayed: 'geblieben',
  kinds: {
    destination: 'Destinationen',
    smtp_credential: 'SMTP-Zugänge',
    virtual_inbox: 'Postfächer',
    email_template: 'Vorlagen',
    webhook_endpoint: 'Webhooks',
    inbound_route: 'Eingangswege',
    form: 'Formulare',
    site: 'Websites',
  },
  deleteProject: 'Das Projekt löschen',
  defaultStays: 'Das Standardprojekt einer Organisation kann nicht gelöscht werden.',
  deleteEffect:
    'Seine Destinationen, Regeln, Vorlagen, Schlüssel, Zugänge, Postfächer, abgefangenen Nachrichten und Traces werden sofort und endgültig gelöscht.',
  deletePartitions: (count) => (count === 1 ? 'Eine Partition wird mitgelöscht.' : `${number(count)} Partitionen werden mitgelöscht.`),
  deleteShared: 'Destinationen der ganzen Organisation gehen an das Standardprojekt. Gesperrte Adressen bleiben gesperrt.',
  discardQueued: 'Auch Mails verwerfen, die noch auf den Versand warten',
  deleted: (name) => `${name} ist gelöscht.`,
}
