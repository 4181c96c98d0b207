/** What a door has read out of a message, where a test does not say otherwise. */
import type { ContentFacts } from '#core/submission/submission.ts'

export const factsDefaults: ContentFacts = {
  prefix: '',
  subject: 'hi',
  messageId: 'm@example.com',
  headerFrom: 'shop@example.com',
  headerAddresses: ['shop@example.com', 'anna@example.net'],
  eightBit: false,
  utf8Headers: false,
}
