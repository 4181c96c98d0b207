/** English: who left which mailing list. */
export const en = {
  failed: 'The unsubscribes could not be read',
  none: 'Everybody is still on every list',
  noneText:
    'A send with list_unsubscribe carries a link for one-click unsubscribe. Who follows it appears here and gets no more mail of that list, and all other mail.',
  chapter: 'Suppressions and unsubscribes',
  list: 'List',
  everyList: 'every list',
  listHint: 'List, or address of a sender',
  noneYet: 'None among the latest; older ones are not looked through yet.',
  message: 'Message',
  undo: 'Subscribe again',
  undoNamed: (email: string) => `Subscribe again: ${email}`,
  undoEffect: (list: string) => `Mail of the list ${list} is sent to the address again.`,
  undoOnlyIfAsked: 'Do this only when the owner of the address asks for it.',
  undoNoWayBack: 'Only a click on the link of another message unsubscribes the address again.',
  undone: (email: string) => `${email} gets mail of the list again.`,
} as const
