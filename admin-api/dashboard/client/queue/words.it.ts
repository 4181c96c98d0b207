/** Italiano. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const messages = (n: number): string => (n === 1 ? '1 messaggio' : `${number(n)} messaggi`)

export const it: Wider<typeof en> = {
  failed: 'Impossibile leggere la coda',
  nothing: 'Nulla attende',
  nothingText:
    'I messaggi restano qui finché una destinazione li prende: fino al loro turno, al prossimo tentativo dopo un rinvio, o alla loro ora.',
  say: (n, held, isMore) =>
    `${isMore ? 'Almeno ' : ''}${messages(n)} in coda${held > 0 ? `, di cui ${held === 1 ? '1 trattenuto' : `${number(held)} trattenuti`}` : ''}.`,
  sayText:
    'Ciò che è trattenuto resta finché è rilasciato. I messaggi che saranno catturati, o che attendono un’approvazione, non sono qui.',
  all: 'Tutti',
  heldOnly: 'Trattenuti',
  notHeld: 'Non trattenuti',
  acts: 'Interventi',
  filter: 'Filtra',
  organization: 'Organizzazione',
  inQueueOf: (organization) => `Nella coda di ${organization}.`,
  project: 'Progetto',
  destination: 'Destinazione',
  every: 'tutte',
  toDomain: 'Dominio del destinatario',
  from: 'Mittente',
  fromHint: 'un indirizzo o @dominio',
  age: 'Attende da',
  ages: { '': 'qualsiasi', '15m': 'oltre 15 minuti', '1h': 'oltre un’ora', '6h': 'oltre 6 ore', '24h': 'oltre un giorno' },
  attempts: 'Tentativi, almeno',
  lanes: 'Per destinazione e progetto',
  held: 'Trattenuti',
  state: 'Stato',
  states: {
    due: 'attende il suo turno',
    attempting: 'tentativo in corso',
    retry: 'attende un nuovo tentativo',
    scheduled: 'programmato',
    held: 'trattenuto',
  },
  message: 'Messaggio',
  next: 'Prossimo tentativo',
  lastReply: 'Ultima risposta',
  heldBy: (by, reason) => (reason === '' ? `trattenuto da ${by}` : `trattenuto da ${by}: ${reason}`),
  verbs: { hold: 'Trattieni', release: 'Rilascia', expedite: 'Prova ora', drop: 'Scarta' },
  questions: {
    hold: (n) => `Trattenere ${messages(n)}?`,
    release: (n) => `Rilasciare ${messages(n)}?`,
    expedite: (n) => `Provare ora ${messages(n)}?`,
    drop: (n) => `Scartare ${messages(n)}?`,
  },
  effects: {
    hold: 'Nessun altro tentativo comincia finché sono rilasciati, anche dopo un riavvio. La posta accettata più tardi non è compresa.',
    release: 'Sono di nuovo dovuti, subito o alla loro ora, nei limiti della loro destinazione.',
    expedite:
      'I nuovi tentativi in attesa sono dovuti ora. Limiti di frequenza e destinazioni a riposo restano; gli invii programmati pure.',
    drop: 'I destinatari che non hanno il messaggio non lo ricevono. Nessun tentativo e nessun reinvio lo riporta.',
  },
  reason: 'Motivo',
  reasonHint: 'Sta nella traccia di ogni messaggio e nel registro.',
  countFailed: 'I messaggi non possono essere contati.',
  noneMatches: 'Nessun messaggio corrisponde.',
  isMore:
    'Ce ne sono più di quanti si contino alla volta; l’intervento finisce dove finiva il conteggio, e può essere ripetuto per il resto.',
  begun: {
    hold: 'Vengono trattenuti.',
    release: 'Vengono rilasciati.',
    expedite: 'Vengono provati.',
    drop: 'Vengono scartati.',
  },
  undone: 'Ciò che trattiene viene rilasciato.',
  actsFailed: 'Impossibile leggere gli interventi',
  noActs: 'Nessuno è ancora intervenuto sulla coda',
  noActsText: 'Chi trattiene, rilascia, prova ora o scarta messaggi è elencato qui, con l’avanzamento dell’intervento.',
  actsSay: (running) =>
    running === 0
      ? 'Nessun intervento è in corso.'
      : running === 1
        ? 'Un intervento è in corso.'
        : `${number(running)} interventi sono in corso.`,
  actsText: 'Al massimo tre alla volta. Un intervento fermato lascia ciò che ha fatto.',
  when: 'Iniziato',
  act: 'Intervento',
  which: 'Messaggi',
  everything: 'tutta la coda',
  parts: {
    to: 'a',
    from: 'da',
    via: 'tramite',
    before: 'accettati prima del',
    after: 'accettati dal',
    attempts: 'tentativi almeno',
    project: 'di',
    heldBy: 'trattenuti da',
  },
  chosen: (n) => (n === 1 ? `${messages(n)} scelto` : `${messages(n)} scelti`),
  statuses: { preview: 'anteprima', running: 'in corso', stopped: 'fermato', finished: 'finito' },
  done: 'Fatti',
  inFlight: 'Alla fine del loro tentativo',
  skipped: 'Saltati',
  skippedText: 'non si applica a loro',
  by: 'Da',
  title: 'Intervento sulla coda',
  stop: 'Ferma',
  stopped: 'L’intervento è fermato.',
  stoppedBecause: 'Fermato.',
  releaseThese: 'Rilascia ciò che trattiene',
  moreRemain: 'Ne restano: l’intervento è finito dove finiva il suo conteggio.',
  runningSay: (n) => `${messages(n)} finora.`,
  finishedSay: {
    hold: (n) => (n === 1 ? `${messages(n)} trattenuto.` : `${messages(n)} trattenuti.`),
    release: (n) => (n === 1 ? `${messages(n)} rilasciato.` : `${messages(n)} rilasciati.`),
    expedite: (n) => (n === 1 ? `${messages(n)} reso dovuto.` : `${messages(n)} resi dovuti.`),
    drop: (n) => (n === 1 ? `${messages(n)} scartato.` : `${messages(n)} scartati.`),
  },
  stoppedSay: (n) => `Fermato dopo ${messages(n)}.`,
  sayAct: 'La traccia di ogni messaggio ha chi l’ha fatto, quando e perché.',
  inAudit: 'Nel registro',
  heldNow: 'Ciò che trattiene ora',
  standing: 'Sospensioni permanenti',
  moreHolds: 'Altre sospensioni permanenti',
  theOperator: 'il gestore del servizio',
  allMail: 'tutti i messaggi, anche quelli in arrivo',
  holdComing: 'Trattieni anche ciò che arriva',
  holdQuestion: 'Trattenere questi messaggi e quelli in arrivo?',
  holdEffect:
    'Nessun tentativo comincia per ciò che attende e per ciò che sarà accettato, anche dopo un riavvio, finché la sospensione è tolta. Vale per ciò che lasciano i filtri destinazione, dominio del destinatario e mittente.',
  holdSet: 'La sospensione è attiva.',
  liftQuestion: 'Togliere questa sospensione?',
  liftEffect: 'Non trattiene più posta nuova, e ciò che trattiene è di nuovo dovuto.',
  waitNow: (n, isMore) => `${isMore ? 'Almeno ' : ''}${messages(n)} ora in coda.`,
}
