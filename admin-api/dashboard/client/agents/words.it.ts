/** Italiano. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  say: (count) =>
    count === 0
      ? 'Nessuna applicazione ha accesso.'
      : count === 1
        ? 'Un’applicazione ha accesso.'
        : `${number(count)} applicazioni hanno accesso.`,
  sayText:
    'Gli agenti e altri programmi chiedono prima a una persona, lavorano in un progetto e non superano mai il ruolo di chi li ha ammessi.',
  failed: 'Le applicazioni non possono essere mostrate.',
  noneText: 'Collega un agente con l’indirizzo di questa pagina. Apre una pagina in cui scegli un progetto e che cosa può fare.',
  application: 'Applicazione',
  unverified: 'nome non verificato',
  allowedBy: 'Ammessa da',
  lastCall: 'Ultima chiamata',
  neverCalled: 'non ancora',
  revoke: 'Revoca',
  revokeNamed: (name) => `Revoca ${name}`,
  revokeTitle: (name) => `Revoca l’accesso di ${name}`,
  revokeEffect: (project) => `Tutti i suoi token per il progetto ${project} finiscono subito. Per tornare deve chiedere di nuovo.`,
  revokeKeys: 'Le chiavi API che ha creato finiscono con essa.',
  revokeStays: 'Gli accessi SMTP e le chiavi pubblicabili che ha creato restano: controllali.',
  revoked: (name, keys) =>
    keys === 0 ? `${name} non ha più accesso.` : `${name} e ${keys === 1 ? 'una chiave' : `${number(keys)} chiavi`} non hanno più accesso.`,
  connect: 'Collega un agente',
  connectText: 'Dai all’agente questo indirizzo come server MCP remoto. Nulla è installato, nessuna chiave è copiata.',
  address: 'Indirizzo MCP',
  client: 'Programma',
  otherClient: 'JSON',
  inFile: (file) => `In ${file}:`,
  inTerminal: 'In un terminale:',
  waiting: 'Agenti che ti aspettano',
  waitingText: (email) =>
    `Un agente lavora in una sandbox e ha chiesto a ${email} di collegarla. Collegala solo se mostra lo stesso codice.`,
  noneWaiting: (email) => `Negli ultimi 30 minuti nessun agente ha chiesto di ${email}.`,
  askedAt: (at) => `chiesto: ${at}`,
  attach: 'Collega',
  attachCode: (code) => `Collega ${code}`,
  haveCode: 'Ho un codice',
  code: 'Codice',
  codeHint: 'Solo un codice che mostra il tuo agente, come KITE-4207.',
}
