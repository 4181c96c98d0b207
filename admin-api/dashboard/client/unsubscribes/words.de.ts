/** German: who left which mailing list. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  failed: 'Die Abmeldungen konnten nicht gelesen werden',
  none: 'Noch hat sich niemand abgemeldet',
  noneText:
    'Eine Sendung mit list_unsubscribe trägt einen Link zum Abmelden mit einem Klick. Wer ihm folgt, erscheint hier und bekommt keine Mails dieser Liste mehr, alle anderen schon.',
  chapter: 'Sperrungen und Abmeldungen',
  list: 'Liste',
  everyList: 'alle Listen',
  listHint: 'Liste oder Absenderadresse',
  noneYet: 'Unter den neuesten keine; ältere sind noch nicht durchsucht.',
  message: 'Nachricht',
  undo: 'Wieder anmelden',
  undoNamed: (email: string) => `Wieder anmelden: ${email}`,
  undoEffect: (list: string) => `Mails der Liste ${list} gehen wieder an die Adresse.`,
  undoOnlyIfAsked: 'Nur tun, wenn der Inhaber der Adresse darum bittet.',
  undoNoWayBack: 'Abgemeldet wird die Adresse wieder nur durch den Link einer anderen Nachricht.',
  undone: (email: string) => `${email} bekommt wieder Mails der Liste.`,
}
