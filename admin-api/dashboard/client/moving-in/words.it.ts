/** Italian: moving in from another service. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const addresses = (n: number): string => (n === 1 ? '1 indirizzo' : `${number(n)} indirizzi`)
const templates = (n: number): string => (n === 1 ? '1 modello' : `${number(n)} modelli`)

export const it: Wider<typeof en> = {
  what: 'Che cosa importare',
  whats: { addresses: 'Indirizzi', templates: 'Modelli' },
  say: {
    addresses: 'Riprendi le liste di blocco di un altro servizio.',
    templates: 'Riprendi i modelli di un altro servizio.',
  },
  sayText: {
    addresses:
      'Respingimenti, reclami e indirizzi bloccati diventano blocchi; le disiscrizioni diventano opt-out dove il servizio le teneva per lista. Un file viene contato prima che qualcosa sia salvato, e importarlo di nuovo non aggiunge nulla due volte.',
    templates:
      'Variabili, valori predefiniti, condizioni e cicli sono tradotti, e i programmi continuano a chiamare i modelli con lo stesso nome. Un modello con un elemento senza corrispondenza è rifiutato, con il punto indicato.',
  },
  needsRole: {
    addresses: 'I blocchi valgono per tutta l’organizzazione: li importa un proprietario o un amministratore.',
    templates: 'Li importa un ruolo che modifica i modelli.',
  },
  file: 'File',
  files: 'File',
  listHint: 'CSV o JSON come lo esporta il servizio, fino a 256 MiB e due milioni di righe.',
  templateHint:
    'JSON come lo restituisce l’API del servizio, uno o più modelli; oppure un file HTML o di testo per modello. Fino a 16 MiB insieme.',
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
  list: 'Lista delle disiscrizioni',
  listNameHint: 'Vuoto: ciò che dice il servizio; * indica tutte le liste.',
  preview: 'Anteprima dell’importazione',
  takeAddresses: (n) => `Importa ${addresses(n)}`,
  takeTemplates: (n) => `Importa ${templates(n)}`,
  stop: 'Ferma',
  result: 'Risultato',
  wouldTake: (n) => (n === 1 ? `${addresses(n)} sarebbe aggiunto.` : `${addresses(n)} sarebbero aggiunti.`),
  taken: (n) => (n === 1 ? `${addresses(n)} aggiunto.` : `${addresses(n)} aggiunti.`),
  goesOn: (row) => (row === 0 ? 'Il file viene letto.' : `${number(row)} righe finora.`),
  brokeOff: (row) => (row === 0 ? 'L’importazione si è interrotta.' : `Importato fino alla riga ${number(row)}.`),
  countBrokeOff: 'Il file non è stato contato fino alla fine.',
  restIsLeft: 'Il resto del file non è stato letto. Ciò che è salvato resta, e importarlo di nuovo non aggiunge nulla due volte.',
  continueFrom: (row) => `Continua dalla riga ${number(row)}`,
  fileOf: (service) => `Un file di ${service}.`,
  nothingYet: 'Nulla è ancora salvato.',
  new: 'Aggiunte',
  added: 'Aggiunti',
  alreadyThere: 'Già presenti',
  skipped: 'Saltati',
  refused: 'Rifiutati',
  seeAddresses: 'Vedi gli indirizzi importati',
  notTaken: (n) => (n === 1 ? 'Una riga non è importata' : `${number(n)} righe non sono importate`),
  results: { skipped: 'saltata', refused: 'rifiutata' },
  lineOf: (line) => `riga ${line} del file`,
  firstOnly: (n) => `Sono mostrate le prime ${number(n)}; postern import suppressions FILE le scrive tutte.`,
  subject: 'Oggetto',
  subjectHint: 'Dei modelli che vengono come HTML o testo.',
  replaces: 'I modelli presenti qui con altro contenuto ricevono una nuova versione',
  tooLarge: 'Questi file superano insieme 16 MiB; importali in parti.',
  notJson: (name) => `${name} non è JSON.`,
  wouldTakeTemplates: (n) => (n === 1 ? `${templates(n)} sarebbe importato.` : `${templates(n)} sarebbero importati.`),
  takenTemplates: (n) => (n === 1 ? `${templates(n)} importato.` : `${templates(n)} importati.`),
  created: 'Creati',
  updated: 'Nuove versioni',
  unchanged: 'Invariati',
  outcomes: { created: 'creato', updated: 'nuova versione', unchanged: 'invariato', refused: 'rifiutato' },
}
