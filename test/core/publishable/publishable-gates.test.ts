/** The checks of a page's send and the format of origins, as tables. */
import test from '#test'
import { parseMailbox, type Mailbox } from '#core/addresses.ts'
import { checkPublishableGates, type PublishableSend } from '#core/publishable/publishable-gates.ts'
import { webOrigin } from '#core/visitors/web-origin.ts'
import { Refusal } from '#core/refusals.ts'

const key = {
  allowedOrigins: ['https://shop.example.ch', 'http://localhost:3000'],
  allowedTo: ['ada@example.ch', '@team.example.ch'],
  lockedFrom: 'Shop <form@example.ch>',
}

const mailbox = (text: string): Mailbox => {
  const parsed = parseMailbox(text)
  if (!parsed) throw new Error(`${text} is no mailbox`)
  return parsed
}

const good: PublishableSend = {
  origin: 'https://shop.example.ch',
  recipients: [mailbox('ada@example.ch')],
  from: undefined,
  attachments: 0,
}
const to = (...texts: string[]): Partial<PublishableSend> => ({ recipients: texts.map(mailbox) })
const from = (text: string): Partial<PublishableSend> => ({ from: mailbox(text) })

const table: readonly (readonly [string, Partial<PublishableSend>, string])[] = [
  ['an allowed page', {}, 'passes'],
  ['another allowed page', { origin: 'http://localhost:3000' }, 'passes'],
  ['no origin', { origin: undefined }, 'origin_not_allowed'],
  ['another port', { origin: 'http://localhost:3001' }, 'origin_not_allowed'],
  ['another scheme', { origin: 'http://shop.example.ch' }, 'origin_not_allowed'],
  ['a subdomain', { origin: 'https://a.shop.example.ch' }, 'origin_not_allowed'],
  ['a longer host name', { origin: 'https://shop.example.ch.evil.example' }, 'origin_not_allowed'],
  ['an origin with a slash', { origin: 'https://shop.example.ch/' }, 'origin_not_allowed'],
  ['the origin null', { origin: 'null' }, 'origin_not_allowed'],
  ['two origins', { origin: 'https://shop.example.ch, https://evil.example' }, 'origin_not_allowed'],
  ['another case of letters', to('ADA@EXAMPLE.CH'), 'passes'],
  ['an address of an allowed domain', to('x+y@Team.example.ch'), 'passes'],
  ['both', to('ada@example.ch', 'x@team.example.ch'), 'passes'],
  ['two recipients, one not allowed', to('ada@example.ch', 'eve@example.ch'), 'recipient_not_allowed'],
  ['a recipient at a subdomain', to('x@sub.team.example.ch'), 'recipient_not_allowed'],
  ['a recipient at a longer domain', to('x@team.example.ch.evil.example'), 'recipient_not_allowed'],
  ['a plus address of an allowed address', to('ada+x@example.ch'), 'recipient_not_allowed'],
  ['the sender in another case of letters', from('FORM@Example.ch'), 'passes'],
  ['the sender with its name', from('shop <form@example.ch>'), 'passes'],
  ['the sender with another name', from('Bank <form@example.ch>'), 'from_locked'],
  ['another sender', from('x@example.ch'), 'from_locked'],
  ['an attachment', { attachments: 1 }, 'attachments_not_allowed'],
  ['all checks fail', { origin: 'https://x.ch', ...to('x@x.ch'), ...from('x@x.ch'), attachments: 1 }, 'origin_not_allowed'],
  ['all checks but the origin fail', { ...to('x@x.ch'), ...from('x@x.ch'), attachments: 1 }, 'recipient_not_allowed'],
  ['sender and attachments fail', { ...from('x@x.ch'), attachments: 1 }, 'from_locked'],
]

for (const [what, changes, outcome] of table)
  test(`${what}: ${outcome}`, (t) => {
    const told = (): string => {
      try {
        checkPublishableGates(key, { ...good, ...changes })
        return 'passes'
      } catch (error) {
        return error instanceof Refusal ? error.code : String(error)
      }
    }
    t.is(told(), outcome)
  })

test('origins: https, or http on localhost', (t) => {
  const kept: Record<string, string | undefined> = {
    'https://shop.example.ch': 'https://shop.example.ch',
    'HTTPS://Shop.example.ch/': 'https://shop.example.ch',
    'https://shop.example.ch:8443': 'https://shop.example.ch:8443',
    'http://localhost': 'http://localhost',
    'http://localhost:5173': 'http://localhost:5173',
    'http://localhost.evil.example': undefined,
    'http://127.0.0.1:3000': undefined,
    'http://shop.example.ch': undefined,
    'https://shop.example.ch:443': 'https://shop.example.ch',
    'https://Bücher.example': 'https://xn--bcher-kva.example',
    'https://[2001:db8::1]:8443/': 'https://[2001:db8::1]:8443',
    'https:shop.example.ch': undefined,
    'https://shop.example.ch\\@evil.example': undefined,
    ' https://shop.example.ch': undefined,
    'https://*.example.ch': undefined,
    'https://user@shop.example.ch': undefined,
    'https://shop.example.ch/path': undefined,
    'https://shop.example.ch?x': undefined,
    'javascript://shop.example.ch': undefined,
    null: undefined,
    '*': undefined,
    '': undefined,
  }
  for (const [text, origin] of Object.entries(kept)) t.is(webOrigin(text), origin, text)
})
