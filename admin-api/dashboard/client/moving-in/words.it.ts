/** Italian: moving in from another service. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const addresses = (n: number): string => (n === 1 ? '1 indirizzo' : `${number(n)} indirizzi`)
const templates = (n: number): string => (n === 1 ? '1 modello' : `${number(n)} modelli`)

export const it: Wider<typeof en> = {
  what: 'Che cosa viene con sé',
  whats: { addresses: 'Indirizzi', templates: 'Modelli' },
  say: {
    addresses: 'Porta con te gli indirizzi a cui un altro servizio non invia posta.',
    templates: 'Porta con te i modelli di un altro servizio.',
  },
  sayText: {
    addresses:
      'Respingimenti, reclami e indirizzi bloccati diventano blocchi, le disiscrizioni diventano opt-out dove il servizio le teneva per lista. Un file è prima contato, e riprenderlo non aggiunge nulla due volte.',
    templates:
      'Variabili, valori predefiniti, condizioni e cicli sono tradotti, e i programmi continuano a chiamare i modelli con lo stesso nome. Un modello con qualcosa che non ha corrispondenza è rifiutato, con il punto.',
  },
  needsRole: {
    addresses: 'I blocchi valgono per tutta l’organizzazione: li riprende un proprietario o un amministratore.',
    templates: 'Li riprende un ruolo che modifica i modelli.',
  },
  file: 'File',
  files: 'File',
  listHint: 'CSV o JSON come lo dà il servizio, fino a 256 MiB e due milioni di righe.',
  templateHint:
    'JSON come lo risponde il servizio, un modello o più; oppure l’HTML o il testo di un modello per file. Fino a 16 MiB insieme.',
  service: 'Servizio',
  recognized: 'Riconosciuto dal file',
  kind: 'Che cosa contiene il file',
  bySelf: 'Come dice il file',
  kinds: {
    bounces: 'Respingimenti',
    blocks: 'Rifiuti',
    complaints: 'Reclami',
    unsubscribes: 'Disiscrizioni',
    invalid: 'Indirizzi non validi',
    manual: 'Indirizzi bloccati a mano',
    allowed: 'Indirizzi permessi',
  },
  list: 'Lista da cui vengono le disiscrizioni',
  listNameHint: 'Vuoto: ciò che dice il servizio. * è ogni lista.',
  countFirst: 'Conta ciò che sarebbe ripreso',
  lookFirst: 'Guarda ciò che sarebbe ripreso',
  takeAddresses: (n) => `Riprendi ${addresses(n)}`,
  takeTemplates: (n) => `Riprendi ${templates(n)}`,
  stop: 'Ferma',
  result: 'Risultato',
  wouldTake: (n) => (n === 1 ? `${addresses(n)} sarebbe aggiunto.` : `${addresses(n)} sarebbero aggiunti.`),
  taken: (n) => (n === 1 ? `${addresses(n)} aggiunto.` : `${addresses(n)} aggiunti.`),
  goesOn: (row) => (row === 0 ? 'Il file viene letto.' : `Finora fino alla riga ${number(row)}.`),
  brokeOff: (row) => `Si è interrotto dopo la riga ${number(row)}. Ciò che precede è salvato.`,
  continueFrom: (row) => `Continua dalla riga ${number(row)}`,
  fileOf: (service) => `Un file di ${service}.`,
  nothingYet: 'Nulla è ancora salvato.',
  new: 'Nuovi',
  added: 'Aggiunti',
  alreadyThere: 'Già presenti',
  skipped: 'Saltati',
  refused: 'Rifiutati',
  seeAddresses: 'Vedi gli indirizzi ripresi',
  notTaken: (n) => (n === 1 ? 'Una riga non è ripresa' : `${number(n)} righe non sono riprese`),
  results: { skipped: 'saltata', refused: 'rifiutata' },
  lineOf: (line) => `riga ${line} del file`,
  firstOnly: (n) => `Sono mostrate le prime ${number(n)}; postern import suppressions FILE le scrive tutte.`,
  subject: 'Oggetto',
  subjectHint: 'Dei modelli che vengono come HTML o testo.',
  replaces: 'Un modello che è qui con altro contenuto riceve una nuova versione',
  tooLarge: 'Questi file superano insieme 16 MiB; riprendili a parti.',
  notJson: (name) => `${name} non è JSON.`,
  wouldTakeTemplates: (n) => (n === 1 ? `${templates(n)} sarebbe ripreso.` : `${templates(n)} sarebbero ripresi.`),
  takenTemplates: (n) => (n === 1 ? `${templates(n)} ripreso.` : `${templates(n)} ripresi.`),
  created: 'Creati',
  updated: 'Nuove versioni',
  unchanged: 'Invariati',
  outcomes: { created: 'creato', updated: 'nuova versione', unchanged: 'invariato', refused: 'rifiutato' },
}
