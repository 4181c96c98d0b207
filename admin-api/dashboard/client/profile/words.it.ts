/** Italian: the profile. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  say: (email) => `Sei ${email}.`,
  sayText: 'Ogni link con cui entri prova l’indirizzo; non si può cambiare.',
  account: 'Account',
  accountText: 'Il tuo nome, le passkey e i browser in cui sei entrato; puoi chiudere ognuno.',
  accountLink: 'Nome, passkey e sessioni',
  applicationsText: 'Applicazioni e agenti che agiscono per te, e come togliere loro l’accesso.',
  applicationsLink: 'Applicazioni con accesso',
  browser: 'In questo browser',
  browserText: 'Conservato qui e da nessun’altra parte.',
  roles: 'I tuoi ruoli',
  failed: 'La tua organizzazione non si è potuta leggere',
  manage: 'Le tue organizzazioni',
  keys: 'Tasti singoli',
  keysText: 'Andate in un campo e premete il tasto che volete.',
  keysReset: 'Come prima',
  keyNames: {
    '/': 'Cerca in questo elenco',
    j: 'Voce successiva',
    k: 'Voce precedente',
    x: 'Scegli una voce',
    '[': 'Precedente, anche nel pannello',
    ']': 'Successiva, anche nel pannello',
    c: 'Crea',
    e: 'Salva come file',
    u: 'Segna come non letto',
    r: 'Ripeti: verifica, rinvia, riconsegna',
    s: 'Condividi una traccia',
    t: 'Prova una destinazione',
    a: 'Collega una sandbox',
    g: 'Primo tasto verso una schermata',
    '?': 'Mostra tutti i tasti',
    '\\': 'Navigazione stretta o larga',
  },
}
