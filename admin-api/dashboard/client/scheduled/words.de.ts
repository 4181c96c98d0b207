/** German: messages that wait for their time. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  scheduledFailed: 'Die geplanten Sendungen konnten nicht gelesen werden',
  noScheduled: 'Nichts ist geplant',
  noScheduledText: 'Eine Nachricht mit send_at wartet hier bis zu ihrer Zeit, auch über einen Neustart hinweg.',
  scheduledSay: (n, at) =>
    n === 1 ? `Eine Nachricht wartet. Sie geht am ${at} hinaus.` : `${number(n)} Nachrichten warten. Die nächste geht am ${at} hinaus.`,
  scheduledText: 'Keine geht zu früh hinaus; ein bestätigter Abbruch gewinnt.',
  when: 'Geht hinaus',
  recipient: 'An',
  subject: 'Betreff',
  waiting: 'wartend',
  canceled: 'abgebrochen',
  canceledAt: (at) => `abgebrochen ${at}`,
  cancelSend: 'Abbrechen',
  cancelQuestion: 'Diese Sendung abbrechen?',
  cancelEffect: (to, at) => `Die Nachricht an ${to} geht weder am ${at} noch später hinaus.`,
  keepIt: 'Behalten',
  cancelNow: 'Sendung abbrechen',
  canceledNow: 'Die Sendung ist abgebrochen.',
  sendNow: 'Jetzt senden',
  sendNowQuestion: 'Diese Nachricht jetzt senden?',
  sendNowEffect: (to: string, at: string) => `Die Nachricht an ${to} geht jetzt weg statt am ${at}. Das lässt sich nicht zurücknehmen.`,
  sentNow: 'Die Nachricht geht jetzt weg.',
  canceledMany: (n: number) => (n === 1 ? '1 Sendung ist abgebrochen.' : `${number(n)} Sendungen sind abgebrochen.`),
  cancelManyQuestion: (n: number) => (n === 1 ? '1 Sendung abbrechen?' : `${number(n)} Sendungen abbrechen?`),
  cancelManyEffect: 'Keine davon geht zu ihrer Zeit weg, auch später nicht.',
  reschedule: 'Verschieben',
  rescheduleTitle: 'Andere Zeit für diese Sendung',
  rescheduleText: (subject: string) => `Die Nachricht «${subject}» geht stattdessen zu dieser Zeit weg.`,
  newTime: 'Geht hinaus um, in deiner Zeit',
  newTimeHint: 'Höchstens 3 Tage voraus',
  rescheduled: (at: string) => `Die Nachricht geht am ${at} hinaus.`,
}
