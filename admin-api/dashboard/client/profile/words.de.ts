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
  keys: 'Einzelne Tasten',
  keysText: 'Gehen Sie in ein Feld und drücken Sie die Taste, die Sie dort wollen.',
  keysReset: 'Wie sie waren',
  keyNames: {
    '/': 'Diese Liste durchsuchen',
    j: 'Nächster Eintrag',
    k: 'Voriger Eintrag',
    x: 'Eintrag wählen',
    '[': 'Voriger, auch im Seitenfeld',
    ']': 'Nächster, auch im Seitenfeld',
    c: 'Neu anlegen',
    e: 'Als Datei speichern',
    u: 'Als ungelesen markieren',
    r: 'Nochmals: prüfen, senden, zustellen',
    s: 'Einen Trace teilen',
    t: 'Ein Ziel testen',
    a: 'Eine Sandbox übernehmen',
    g: 'Erste Taste zu einem Bildschirm',
    '?': 'Alle Tasten zeigen',
    '\\': 'Schmale oder breite Navigation',
  },
}
