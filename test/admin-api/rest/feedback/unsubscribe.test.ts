/** One-click unsubscribe (RFC 8058): the link of a message, its page, and the POST that unsubscribes. */
import test from '#test'
import { axeFaults, browserOf, overflows } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { addDestination, baseUrl, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { columns } from '../../../support/column.ts'

const testInBrowser = testWith('chromium')
const browser = browserOf(testInBrowser)

const plain = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'News', text: 'New things.', list_unsubscribe: true }

/** Sends a message that is captured; returns the path of its unsubscribe link for the recipient. */
async function linkOf(fixture: Fixture, changes: object = {}): Promise<string> {
  const { rest } = fixture
  await rest.must('POST', '/v1/messages', { ...plain, ...changes })
  const [inbox] = (await rest.must('GET', '/v1/inboxes'))['data'] as { id: string }[]
  const path = `/v1/inboxes/${inbox?.id ?? ''}/messages`
  const [message] = (await rest.must('GET', path))['data'] as { id: string }[]
  const raw = (await rest.call('GET', `${path}/${message?.id ?? ''}/raw`)).bytes.toString('utf8').replaceAll(/\r\n[ \t]+/g, ' ')
  const [, url = ''] = /^List-Unsubscribe: ?<([^>]+)>\r$/m.exec(raw) ?? []
  if (!/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m.test(raw)) throw new Error(raw)
  if (!url.startsWith(`${baseUrl}/unsubscribe/`)) throw new Error(url)
  return url.slice(baseUrl.length)
}

const press = (fixture: Fixture, path: string, body: string, type = 'application/x-www-form-urlencoded'): Promise<Response> =>
  fetch(`http://${fixture.address}${path}`, { method: 'POST', headers: { 'content-type': type }, body })

const listed = async ({ rest }: Fixture, query = '') =>
  (await rest.must('GET', `/v1/unsubscribes?${query}`))['data'] as Record<string, unknown>[]

test('one click opts the recipient out of the list, without a key or a suppression', async (t) => {
  const fixture = await startFixture(t)
  const path = await linkOf(fixture)
  for (let i = 0; i < 2; i++) {
    const answer = await press(fixture, path, 'List-Unsubscribe=One-Click')
    t.is(answer.status, 200)
    t.regex(await answer.text(), /You’re unsubscribed from shop@example\.ch\./)
  }
  const entries = await listed(fixture)
  t.is(entries.length, 1)
  t.like(entries[0], { email: 'ada@example.ch', list: 'shop@example.ch' })
  t.deepEqual((await fixture.rest.must('GET', '/v1/suppressions'))['data'], [])
})

test('the POST also works as a multipart form, with any boundary', async (t) => {
  const fixture = await startFixture(t)
  const path = await linkOf(fixture)
  const body = '--=_x.Y/1\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--=_x.Y/1--\r\n'
  t.is((await press(fixture, path, body, 'multipart/form-data; boundary="=_x.Y/1"')).status, 200)
  t.is((await listed(fixture)).length, 1)
})

test('a GET of the link shows a page and changes nothing, since scanners follow links', async (t) => {
  const fixture = await startFixture(t)
  const answer = await fetch(`http://${fixture.address}${await linkOf(fixture)}`)
  t.is(answer.status, 200)
  t.regex(answer.headers.get('content-type') ?? '', /^text\/html/)
  t.regex(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const html = await answer.text()
  t.regex(html, /<b>ada@example\.ch<\/b> will no longer get mail of the mailing list from <b>shop@example\.ch<\/b>/)
  t.regex(html, /mail such as receipts and password resets/)
  t.regex(html, /<form method="post" action="\/unsubscribe\/[^"]+">\s*<button name="List-Unsubscribe" value="One-Click">/)
  t.deepEqual(await listed(fixture), [])
})

test('Undo subscribes the recipient again; only a POST does, and only for this list', async (t) => {
  const fixture = await startFixture(t)
  const path = await linkOf(fixture)
  const other = await linkOf(fixture, { list_unsubscribe: { list: 'News' } })
  for (const link of [path, other]) await press(fixture, link, 'List-Unsubscribe=One-Click')
  const undo = /action="([^"]+)\/undo"/.exec(await (await fetch(`http://${fixture.address}${path}`)).text())?.[1] ?? ''
  t.is(undo, path)
  t.is((await fetch(`http://${fixture.address}${path}/undo`)).status, 405)
  t.is((await listed(fixture)).length, 2)
  for (let i = 0; i < 2; i++) {
    const answer = await press(fixture, `${path}/undo`, '')
    t.is(answer.status, 200)
    t.regex(await answer.text(), /<b>ada@example\.ch<\/b> gets mail of the mailing list from <b>shop@example\.ch<\/b> again/)
  }
  t.deepEqual(columns(await listed(fixture), 'list'), [['News']])
  t.regex(await (await fetch(`http://${fixture.address}${path}`)).text(), /Unsubscribe\?/)
  t.is((await press(fixture, `${path.slice(0, -2)}/undo`, '')).status, 404)
})

test('the page uses the language of the recipient; mail clients get English', async (t) => {
  const fixture = await startFixture(t)
  const path = await linkOf(fixture, { list_unsubscribe: { list: 'News' } })
  const read = async (language: string) => {
    const answer = await fetch(`http://${fixture.address}${path}`, { headers: { 'accept-language': language } })
    return `${String(answer.headers.get('content-language'))} ${await answer.text()}`
  }
  t.regex(
    await read('de-CH'),
    /^de [^]*ada@example\.ch<\/b> erhält dann keine E-Mails der Liste <b>News<\/b> von <b>shop@example\.ch<\/b> mehr/,
  )
  t.regex(await read('fr-CH, en'), /^fr [^]*<button name="List-Unsubscribe" value="One-Click">Se désabonner</)
  t.regex(await read('it'), /^it [^]*della lista <b>News<\/b>/)
  t.regex(await (await press(fixture, path, 'List-Unsubscribe=One-Click')).text(), /You’re unsubscribed from News\./)
  t.regex(await read('de'), /Sie sind von News abgemeldet/)
})

test('a shortened or invented link is not found, and other form bodies are refused', async (t) => {
  const fixture = await startFixture(t)
  const path = await linkOf(fixture)
  const flipped = path.slice(0, -1) + (path.endsWith('0') ? '1' : '0')
  for (const wrong of [path.slice(0, -2), flipped, '/unsubscribe/00'])
    t.is((await press(fixture, wrong, 'List-Unsubscribe=One-Click')).status, 404, wrong)
  t.is((await press(fixture, path, 'hello=1')).status, 400)
  t.is((await press(fixture, path, '{}', 'application/json')).status, 415)
  t.deepEqual(await listed(fixture), [])
})

test('an opt-out stops mail of that list only; the owner can remove it', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const path = await linkOf(fixture, { list_unsubscribe: { list: 'News' } })
  const asked = await (await fetch(`http://${fixture.address}${path}`)).text()
  t.regex(asked, /will no longer get mail of the list <b>News<\/b> from <b>shop@example\.ch<\/b>/)
  t.is((await press(fixture, path, 'List-Unsubscribe=One-Click')).status, 200)
  t.regex(await (await fetch(`http://${fixture.address}${path}`)).text(), /You’re unsubscribed from News/)
  await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: await addDestination(rest, {}, true) })
  const send = async (list_unsubscribe: unknown, to = 'ADA@example.ch') => {
    const { status, trace_id } = await rest.must('POST', '/v1/messages', {
      ...plain,
      to,
      ...(list_unsubscribe === undefined ? {} : { list_unsubscribe }),
    })
    return { status, trace: await rest.must('GET', `/v1/traces/${String(trace_id)}`) }
  }
  const { list_unsubscribe: _, ...reset } = plain
  t.is((await rest.must('POST', '/v1/messages', reset))['status'], undefined, 'a password reset')
  const { status, trace } = await send({ list: 'NEWS' })
  t.is(status, 'suppressed')
  t.like(trace, {
    status: 'suppressed',
    recipients: [{ suppression: { source: 'unsubscribe', reason: 'Unsubscribed from the list NEWS.' } }],
  })
  t.regex(JSON.stringify(trace['timeline']), /1 of 1 recipient unsubscribed from the list NEWS, so the message is not sent to that address/)
  const missing = await rest.must('GET', '/v1/diagnose/missing?recipient=ada@example.ch')
  t.regex(JSON.stringify(missing), /who unsubscribed from the list NEWS/)
  const bounce = await rest.must('GET', `/v1/diagnose/bounce?message_id=${String(trace['trace_id'])}`)
  t.regex(JSON.stringify(bounce), /who unsubscribed from its list/)
  const walk = await rest.must('POST', '/v1/routing/simulate', { trace_id: trace['trace_id'] })
  t.regex(JSON.stringify(walk), /is skipped: unsubscribe: Unsubscribed from the list NEWS\./)
  t.is((await send({ list: ' News ' })).status, 'suppressed', 'blanks around the name are ignored')
  t.is((await send({ list: 'News' }, 'ben@example.ch')).status, undefined)
  t.is((await send({ list: 'Offers' })).status, undefined)
  t.deepEqual(columns(await listed(fixture, 'list=news'), 'email', 'list'), [['ada@example.ch', 'News']])
  t.deepEqual([await listed(fixture, 'list=offers'), await listed(fixture, 'q=ben')], [[], []])
  const [entry] = await listed(fixture, 'q=ADA')
  for (let i = 0; i < 2; i++) t.is((await rest.call('DELETE', `/v1/unsubscribes/${String(entry?.['id'])}`)).status, 204)
  t.is((await send({ list: 'News' })).status, undefined)
})

test('list_unsubscribe needs one recipient and no List-Unsubscribe header field', async (t) => {
  const { rest } = await startFixture(t)
  const refused = async (changes: object): Promise<string> => {
    const { status, body } = await rest.call('POST', '/v1/messages', { ...plain, ...changes })
    t.is(status, 400)
    return (body as { readonly error: { readonly message: string } }).error.message
  }
  t.regex(await refused({ cc: 'ben@example.ch' }), /^list_unsubscribe: requires exactly one recipient/)
  t.regex(await refused({ headers: { 'List-Unsubscribe': '<mailto:a@b.ch>' } }), /^list_unsubscribe: sets the List-Unsubscribe fields/)
  t.regex(await refused({ list_unsubscribe: { list: 'a@b.ch' } }), /^list_unsubscribe\.list: must be a name such as news/)
  for (const list of ['', ' ']) t.regex(await refused({ list_unsubscribe: { list } }), /^list_unsubscribe\.list: must not be empty/)
  t.regex(await refused({ list_unsubscribe: 'news' }), /^list_unsubscribe: /)
})

testInBrowser('the unsubscribe pages work in a browser without errors or accessibility defects', async (t) => {
  const fixture = await startFixture(t)
  const path = await linkOf(fixture)
  const page = await browser().newPage()
  await page.goto(`http://${fixture.address}${path}`)
  t.deepEqual([...(await axeFaults(page)), ...(await overflows(page))], [])
  await Promise.all([page.waitForEvent('load'), page.click('text=Unsubscribe >> nth=-1')])
  const checked = async (heading: RegExp): Promise<void> => {
    t.regex(await page.innerText('h1'), heading)
    t.deepEqual([...(await axeFaults(page)), ...(await overflows(page))], [])
  }
  await checked(/You’re unsubscribed from shop@example\.ch/)
  await Promise.all([page.waitForEvent('load'), page.click('text=Undo')])
  await checked(/You’re subscribed again/)
  await Promise.all([page.waitForEvent('load'), page.click('main a')])
  await Promise.all([page.waitForEvent('load'), page.click('main button')])
  await checked(/You’re unsubscribed/)
  await page.goto(`http://${fixture.address}/unsubscribe/00`)
  t.regex(await page.innerText('main'), /not valid/)
  t.deepEqual(await axeFaults(page), [])
  t.is((await listed(fixture)).length, 1)
})
