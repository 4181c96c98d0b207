/** English: messages that wait for their time. */
import { number } from '../parts/time.ts'
export const en = {
  scheduledFailed: 'The scheduled sends could not be read',
  noScheduled: 'Nothing is scheduled',
  noScheduledText: 'A message that is sent with send_at waits here until its time, also over a restart.',
  scheduledSay: (n: number, at: string) =>
    n === 1 ? `One message waits. It leaves on ${at}.` : `${number(n)} messages wait. The next one leaves on ${at}.`,
  scheduledText: 'None leaves early; a cancel that is confirmed wins.',
  when: 'Leaves',
  recipient: 'To',
  subject: 'Subject',
  waiting: 'waiting',
  canceled: 'canceled',
  canceledAt: (at: string) => `canceled ${at}`,
  cancelSend: 'Cancel',
  cancelQuestion: 'Cancel this send?',
  cancelEffect: (to: string, at: string) => `The message to ${to} does not leave at ${at}, nor later.`,
  keepIt: 'Keep it',
  cancelNow: 'Cancel the send',
  canceledNow: 'The send is canceled.',
  sendNow: 'Send now',
  sendNowQuestion: 'Send this message now?',
  sendNowEffect: (to: string, at: string) => `The message to ${to} leaves now instead of at ${at}. That cannot be taken back.`,
  sentNow: 'The message leaves now.',
  canceledMany: (n: number) => (n === 1 ? '1 send is canceled.' : `${number(n)} sends are canceled.`),
  cancelManyQuestion: (n: number) => (n === 1 ? 'Cancel 1 send?' : `Cancel ${number(n)} sends?`),
  cancelManyEffect: 'None of them leaves at its time, nor later.',
} as const
