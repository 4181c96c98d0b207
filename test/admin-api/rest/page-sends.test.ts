/** What a web page may ask for with its key, beyond the gates: hostile fields, and keys that end while a send is under way. */
import test from 'ava'
import { codeOf, firstField, page, siteOf, tracesOf } from './page-site.ts'

test('a page adds no header fields, by which providers take further recipients', async (t) => {
  const { send, rest } = await siteOf(t)
  for (const [name, value] of [
    ['X-SMTPAPI', '{"to":["eve@example.net"]}'],
    ['X-MC-BccAddress', 'eve@example.net'],
    ['X-MSYS-API', '{"cc":[{"email":"eve@example.net"}]}'],
    ['Disposition-Notification-To', 'eve@example.net'],
  ] as const) {
    const answer = await send({ headers: { [name]: value } })
    t.is(codeOf(answer), '400 validation_failed', name)
    t.is(firstField(answer), 'headers', name)
  }
  t.is(codeOf(await send({ headers: {} })), 200)
  t.is((await tracesOf(rest)).length, 1)
})

test('a page cannot have the recipients of its key unsubscribe themselves', async (t) => {
  const { send } = await siteOf(t)
  const answer = await send({ list_unsubscribe: true })
  t.is(codeOf(answer), '400 validation_failed')
  t.is(firstField(answer), 'list_unsubscribe')
  t.is(codeOf(await send({ list_unsubscribe: false })), 200)
})

test('a domain that may be written to is no way through it to another one', async (t) => {
  const { send } = await siteOf(t, { allowed_to: [...page.allowed_to, 'a%b@team.example.ch'] })
  for (const to of ['eve%example.net@team.example.ch', 'example.net!eve@team.example.ch'])
    t.is(codeOf(await send({ to })), '403 recipient_not_allowed', to)
  t.is(codeOf(await send({ to: 'A%B@team.example.ch' })), 200, 'what the key names in full is meant')
})
