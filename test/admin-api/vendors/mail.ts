/** The mail that the clients of all services send. */
import type { Mail } from './clients.ts'

/** Returns the mail with its own addresses. */
export const mailOf = (name: string): Mail => ({
  from: { email: 'shop@example.ch', name: 'Müller, Shop' },
  to: { email: `ada-${name}@example.net`, name: 'Ada Lovelace' },
  cc: `cc-${name}@example.net`,
  bcc: `bcc-${name}@example.net`,
  replyTo: 'help@example.ch',
  subject: 'Grüezi – your order 4711',
  text: 'Thank you, Zoë.\n',
  html: '<p>Thank you, Zoë. <img src="cid:logo.png"></p>',
  file: { name: 'Rechnung ä.pdf', type: 'application/pdf', content: Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7) % 256)) },
  image: { name: 'logo.png', type: 'image/png', content: Buffer.from('89504e470d0a1a0a0102', 'hex'), cid: 'logo.png' },
  tag: 'spring sale',
})
