/** Italian: who left which mailing list. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  failed: 'Impossibile leggere le disiscrizioni',
  none: 'Nessuna disiscrizione',
  noneText:
    'Un invio con list_unsubscribe porta un link per disiscriversi con un clic. Chi lo segue appare qui e non riceve più la posta di quella lista, ma tutto il resto.',
  chapter: 'Blocchi e disiscrizioni',
  list: 'Lista',
  everyList: 'tutte le liste',
  listHint: 'Lista, o indirizzo del mittente',
  noneYet: 'Nessuna tra le ultime; le più vecchie non sono ancora esaminate.',
  message: 'Messaggio',
  undo: 'Iscrivi di nuovo',
  undoNamed: (email: string) => `Iscrivi di nuovo: ${email}`,
  undoEffect: (list: string) => `La posta della lista ${list} va di nuovo all’indirizzo.`,
  undoOnlyIfAsked: 'Solo se lo chiede il proprietario dell’indirizzo.',
  undoNoWayBack: 'Solo un clic sul link di un altro messaggio disiscrive di nuovo l’indirizzo.',
  undone: (email: string) => `${email} riceve di nuovo la posta della lista.`,
}
