/** German: captured mail. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  release: 'Freigeben…',
  releaseTitle: 'Diese Nachricht freigeben',
  releaseText: 'Sie verlässt den Dienst, wie sie ist, und die Empfänger bekommen sie. Das lässt sich nicht zurücknehmen.',
  releaseTo: 'Ziel',
  recipients: 'Empfänger',
  andMore: (n: number) => `und ${number(n)} weitere`,
  releaseNow: (n: number) => (n === 1 ? 'An 1 Empfänger senden' : `An ${number(n)} Empfänger senden`),
  wouldSkip: (n: number) => `${number(n)} gesperrt und übersprungen:`,
  wouldRefuse: 'Sie würde abgelehnt:',
  noLive: 'Kein Ziel ist live',
  noLiveText: 'Schalte zuerst ein Ziel live; nur über solche verlässt Post den Dienst.',
  destinationsFailed: 'Die Ziele konnten nicht gelesen werden',
  releasedNow: 'Die Nachricht ist freigegeben.',
  releasedAt: (at: string) => `Freigegeben ${at}.`,
  itsTrace: 'Ihr Trace',
  unread: 'ungelesen',
  markUnread: 'Als ungelesen markieren',
  aboutInbox: 'Über diesen Posteingang',
  notifies: 'Benachrichtigt',
  notifiesNone: 'keine Adresse',
  lastNotified: 'Zuletzt benachrichtigt',
  never: 'nie',
  waitFor: 'Auf die nächste Nachricht warten',
  clear: 'Posteingang leeren',
  clearText:
    'Abgefangene Nachrichten gehen mit ihren Traces, es gibt also nichts zu leeren. Mit retention_days des Posteingangs bleiben sie kürzer.',
  keptFor: 'Aufbewahrt',
  asPlan: 'so lange, wie der Plan Traces behält',
  days: (n: number) => (n === 1 ? '1 Tag' : `${number(n)} Tage`),
  editInbox: 'Postfach ändern',
  inboxSaved: 'Das Postfach ist gespeichert.',
  keptDays: 'Tage, nach denen Post es verlässt',
  keptDaysHint: 'Leer behält sie so lange wie der Plan',
  endInbox: 'Postfach löschen',
  endInboxEffect: 'Das Postfach geht; seine Nachrichten bleiben im Auffangpostfach.',
  messagesIn: 'Nachrichten',
  latest: 'Letzte:',
}
