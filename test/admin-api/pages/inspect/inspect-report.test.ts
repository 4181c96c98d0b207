/** The report page in Chromium, with and without scripts, on phone and desktop, checked by axe-core. */
import type { ExecutionContext } from 'ava'
import { inspectReportKey, inspectTests, newInspectToken, type InspectTest } from '#core/inspect/inspect-test.ts'
import { inspectMail } from '#ingest/inspect/score.ts'
import { Change, encode } from '#store/change.ts'
import { letter, newsletter, type Changes } from '../../../ingest/inspect/golden.ts'
import { axeFaults, browserOf, overflows } from '../../../support/web/browser.ts'
import { startFixture, type Fixture } from '../../rest/fixture/rest-fixture.ts'
import { testWith } from '../../../support/peers/peers.ts'

const test = testWith('chromium')

const browser = browserOf(test)

const faulty: Changes = {
  ...{ header: { Subject: 'Re: <script>alert(1)</script> NEWS FOR YOU', 'Message-ID': null, 'List-Unsubscribe': null }, sign: () => '' },
  zone: { '_dmarc.example.com TXT': [['v=DMARC1; p=none']], '25.113.0.203.in-addr.arpa PTR': undefined },
  session: { mailFrom: `x@${'very-long-label.'.repeat(8)}other.test`, tls: null },
}

async function storeTest({ database, organizationId, clock }: Fixture, changes: Partial<InspectTest>, report?: unknown): Promise<string> {
  const made: InspectTest = {
    ...{
      id: database.newId('ins', clock.now()),
      projectId: 'prj_1',
      token: newInspectToken(),
      domain: 'in.example.ch',
      shareToken: newInspectToken(),
    },
    ...{ createdAt: clock.now(), expiresAt: clock.now() + 1000, mail: null, laterMails: 0, result: null, problem: null },
    ...changes,
  }
  const change = new Change().insert(inspectTests, organizationId, made)
  if (report !== undefined) change.set(inspectReportKey(organizationId, made.id), encode(report))
  mustHold((await database.commit(change)).ok)
  return `/share/inspect/${made.shareToken}`
}

function mustHold(ok: boolean): void {
  if (!ok) throw new Error('the test could not be stored')
}

/** Scores a mail and returns its page. */
async function reportOf(fixture: Fixture, input: Awaited<ReturnType<typeof letter>>, laterMails = 0): Promise<string> {
  const report = await inspectMail(input)
  const content = { id: fixture.database.newId('inm', 1), size: 1, sha256: '', rows: 1 }
  const { score, grade } = report
  return storeTest(fixture, { mail: { session: input.session, content }, result: { score, grade }, laterMails }, report)
}

async function check(t: ExecutionContext, fixture: Fixture, path: string): Promise<string[]> {
  const texts: string[] = []
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [1100, 'light'],
  ] as const) {
    const context = await browser().newContext({ viewport: { width, height: 800 }, colorScheme })
    t.teardown(() => context.close())
    const page = await context.newPage()
    // a waiting page reloads every few seconds, which would disturb the check
    await page.route('**/share/**', async (route) => {
      const response = await route.fetch()
      const { refresh: _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    const faults: string[] = []
    page.on('console', (message) => faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.goto(`http://${fixture.address}${path}`)
    await page.$$eval('details', (all) => all.forEach((one) => one.setAttribute('open', '')))
    t.deepEqual(await overflows(page), [], `${path} ${width}`)
    t.deepEqual(await axeFaults(page), [], `${path} ${width}`)
    t.deepEqual(faults, [])
    texts.push(await page.innerText('main'))
  }
  return texts
}

test('report: shows score, first fixes and requirements of receivers', async (t) => {
  const fixture = await startFixture(t)
  const path = await reportOf(fixture, await newsletter(faulty), 2)
  for (const text of await check(t, fixture, path)) {
    t.regex(text, /Many receivers will refuse it/)
    t.regex(text, /Re: <script>alert\(1\)<\/script> NEWS FOR YOU/)
    t.regex(text, /The score is limited to 30[^]*Neither SPF nor DKIM passes[^]*limits the score to 30/)
    t.regex(text, /Fix first[^]*DMARC alignment[^]*\+12 points[^]*What to do:/)
    t.regex(text, /SPF or DKIM passes[^]*Gmail\s+missed \(550 5\.7\.26\)/)
    t.regex(text, /Gmail\s+misses 7 of 9 rules[^]*Yahoo\s+misses 6 of 8 rules/)
    t.regex(text, /Spam complaint rate below 0\.3 %\s+Gmail\s+cannot be checked/)
    t.regex(text, /2 more arrived later/)
    t.regex(text, /All 17 checks/)
  }
})

test('report: a perfect result says so', async (t) => {
  const fixture = await startFixture(t)
  for (const text of await check(t, fixture, await reportOf(fixture, await letter()))) {
    t.regex(text, /Ready for the inbox/)
    t.regex(text, /Nothing to fix/)
    t.regex(text, /Gmail\s+all 8 rules met/)
  }
})

test('report: missing DNS responses do not count as passed', async (t) => {
  const fixture = await startFixture(t)
  const { dns } = await inspected(newsletter)
  const zone = Object.fromEntries(dns.questions.map((question) => [question, 'ETIMEOUT']))
  for (const text of await check(t, fixture, await reportOf(fixture, await newsletter({ zone })))) {
    t.regex(text, /Good, as far as the checks could run[^]*Some DNS lookups failed/)
    t.notRegex(text, /Ready for the inbox|nothing to fix/i)
    t.regex(text, /Gmail\s+7 of 10 rules unknown/)
  }
})

async function inspected(mail: typeof letter): ReturnType<typeof letter> {
  const input = await mail()
  await inspectMail(input)
  return input
}

test('report: pending, running, failed and expired tests show the next step', async (t) => {
  const fixture = await startFixture(t)
  const { session } = await letter()
  const mail = { session, content: { id: fixture.database.newId('inm', 1), size: 1, sha256: '', rows: 1 } }
  const pages: readonly (readonly [Partial<InspectTest>, RegExp])[] = [
    [{}, /Send your usual mail to this address[^]*@in\.example\.ch/],
    [{ mail }, /being checked/],
    [
      { mail: { ...mail, content: { ...mail.content, id: 'inm_2' } }, problem: 'The mail took too long to be checked.' },
      /took too long[^]*Create a new test/,
    ],
    [{ expiresAt: 1 }, /No mail arrived/],
  ]
  const waiting = await fetch(`http://${fixture.address}${await storeTest(fixture, {})}`)
  t.is(waiting.headers.get('refresh'), '5')
  for (const [changes, expected] of pages)
    for (const text of await check(t, fixture, await storeTest(fixture, changes))) t.regex(text, expected)
})

test('report: uses the first language of the browser, or English', async (t) => {
  const fixture = await startFixture(t)
  const read = async (path: string, language: string): Promise<string> => {
    const answer = await fetch(`http://${fixture.address}${path}`, { headers: { 'accept-language': language } })
    return answer.text()
  }
  const report = await reportOf(fixture, await newsletter(faulty), 2)
  const { session } = await letter()
  const mail = { session, content: { id: fixture.database.newId('inm', 2), size: 1, sha256: '', rows: 1 } }
  const slow = await storeTest(fixture, { mail, problem: 'The mail took too long to be checked.' })
  const says = [
    ['de-CH,en;q=0.5', 'de', /Viele Empfänger werden sie ablehnen[^]*Was zu tun ist:[^]*DKIM-Signatur/, /hat zu lange gedauert/],
    ['fr', 'fr', /Beaucoup de serveurs le refuseront[^]*Que faire\u00a0:/, /pris trop de temps/],
    ['it', 'it', /Molti destinatari lo rifiuteranno[^]*Che cosa fare:/, /richiesto troppo tempo/],
  ] as const
  for (const [language, lang, verdict, problem] of says) {
    const [text, failed] = [await read(report, language), await read(slow, language)]
    t.true(text.includes(`<html lang="${lang}">`))
    t.regex(text, verdict)
    t.regex(failed, problem)
    t.false((text + failed).includes('lang="en"'), language)
    t.notRegex(text, /What to do:|Learn more:|Requirements of large/)
    t.true((await read(`/share/inspect/${'a'.repeat(26)}`, language)).includes(`<html lang="${lang}">`))
  }
  t.regex(await read(report, 'pt'), /<html lang="en">[^]*Many receivers will refuse it/)
})

test('report: works without scripts, allows none, and sends no referrer', async (t) => {
  const fixture = await startFixture(t)
  const path = await reportOf(fixture, await newsletter(faulty))
  const answer = await fetch(`http://${fixture.address}${path}`)
  const policy = answer.headers.get('content-security-policy') ?? ''
  t.regex(policy, /default-src 'none'/)
  t.false(/script-src|unsafe/.test(policy))
  t.is(answer.headers.get('cache-control'), 'no-store')
  t.is(answer.headers.get('x-robots-tag'), 'noindex, nofollow')
  const text = await answer.text()
  t.false(/<script|style="|\son[a-z]+=/.test(text))
  const context = await browser().newContext({ javaScriptEnabled: false })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(`http://${fixture.address}${path}`)
  await page.click('text=HELO name')
  t.true(await page.isVisible('#check-helo .evidence'))
  t.is((await fetch(`http://${fixture.address}/share/inspect/${'a'.repeat(26)}`)).status, 404)
})
