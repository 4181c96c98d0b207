/** German: the profile. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  say: (email) => `Du bist ${email}.`,
  sayText: 'Jeder Link, mit dem du dich anmeldest, beweist die Adresse; sie lässt sich nicht ändern.',
  account: 'Konto',
  accountText: 'Dein Name, Passkeys und die Browser, in denen du angemeldet bist; jeden davon kannst du abmelden.',
  accountLink: 'Name, Passkeys und Sitzungen',
  applicationsText: 'Anwendungen und Agenten, die für dich handeln, und wie du ihnen das wieder nimmst.',
  applicationsLink: 'Anwendungen mit Zugang',
  browser: 'In diesem Browser',
  browserText: 'Hier aufbewahrt und nirgends sonst.',
  roles: 'Deine Rollen',
  failed: 'Deine Organisation konnte nicht gelesen werden',
  manage: 'Deine Organisationen',
}
