/** Italian: webhook endpoints. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  edit: 'Modifica endpoint',
  pause: 'Sospendi',
  resume: 'Riprendi',
  pausedNow: 'L’endpoint è sospeso; i suoi eventi attendono.',
  resumedNow: 'L’endpoint riceve di nuovo eventi.',
  saved: 'L’endpoint è salvato.',
  remove: 'Elimina endpoint',
  removeEffect: 'Gli eventi in attesa non vengono più consegnati; il suo registro va con lui.',
  success: 'Riusciti, ultime 24 h',
  failures: 'Tentativi falliti, ultime 24 h',
  parked: 'Parcheggiati, ultime 24 h',
  verify: 'Come un destinatario controlla la firma',
  format: 'Formato',
  formatUnsigned: 'Questo servizio non firma nulla: metti un accesso nell’indirizzo, https://user:password@…',
  formatKey: 'Firma con una coppia di chiavi; la pagina dell’endpoint mostra la chiave pubblica.',
  formatSns: 'Firma con un certificato che si trova qui; i destinatari che accettano solo host di AWS lo rifiutano.',
  formatSecret: 'Firma con il segreto.',
  formatLacks: 'Non ha eventi per auto_suppressed.',
  verificationKey: 'Chiave di verifica',
  carries: 'Porta',
  ofAttempts: (n: number) => (n === 1 ? 'su 1 tentativo' : `su ${number(n)} tentativi`),
  lastDay: '24 h',
  unpark: 'Riprendi la consegna',
  unparked: 'La consegna non è più parcheggiata: il suo calendario ricomincia.',
  parkedShort: 'Parcheggiati',
  lastCode: 'Ultimo codice',
  noneFits: 'Nessuna consegna corrisponde ai filtri',
  noneFitsYet: 'Nessuna tra le più recenti; quelle vecchie non sono ancora state esaminate.',
  noneFitsText: 'Senza, l’elenco mostra ogni consegna.',
  redeliveredAll: (n: number) => (n === 1 ? '1 evento viene riconsegnato.' : `${number(n)} eventi vengono riconsegnati.`),
}
