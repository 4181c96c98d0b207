/** French: who left which mailing list. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  failed: 'Les désinscriptions n’ont pas pu être lues',
  none: 'Aucune désinscription',
  noneText:
    'Un envoi avec list_unsubscribe porte un lien de désinscription en un clic. Qui le suit apparaît ici et ne reçoit plus le courrier de cette liste, mais tout le reste.',
  chapter: 'Blocages et désinscriptions',
  list: 'Liste',
  everyList: 'toutes les listes',
  listHint: 'Liste, ou adresse d’expéditeur',
  noneYet: 'Aucune parmi les dernières ; les plus anciennes ne sont pas encore parcourues.',
  message: 'Message',
  undo: 'Réinscrire',
  undoNamed: (email: string) => `Réinscrire : ${email}`,
  undoEffect: (list: string) => `Le courrier de la liste ${list} est de nouveau envoyé à l’adresse.`,
  undoOnlyIfAsked: 'À faire seulement si le propriétaire de l’adresse le demande.',
  undoNoWayBack: 'Seul un clic sur le lien d’un autre message désinscrit de nouveau l’adresse.',
  undone: (email: string) => `${email} reçoit de nouveau le courrier de la liste.`,
}
