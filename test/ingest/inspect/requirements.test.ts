/** The rules of large receivers for one mail: met, missed, unknown, or not applicable. */
import test from '#test'
import type { Provider, ProviderRule } from '#core/inspect/report.ts'
import { inspectMail } from '#ingest/inspect/score.ts'
import { keyRecord, letter, newsletter, rsaKey, signed, type Changes } from './golden.ts'

async function rulesOf(mail: typeof letter, changes: Changes = {}): Promise<ReadonlyMap<string, readonly ProviderRule[]>> {
  const { requirements } = await inspectMail(await mail(changes))
  return new Map(requirements.map(({ id, providers }) => [id, providers]))
}

/** Every rule as `provider need status`. */
const told = (rules: readonly ProviderRule[] = []): string[] => rules.map(({ provider, need, status }) => `${provider} ${need} ${status}`)
const of = (rules: readonly ProviderRule[] = [], name: Provider): ProviderRule | undefined =>
  rules.find(({ provider }) => provider === name)

test('requirements: a correct newsletter meets every verifiable rule', async (t) => {
  const rules = await rulesOf(newsletter)
  t.deepEqual(Object.fromEntries([...rules].map(([id, providers]) => [id, told(providers).join(', ')])), {
    spf_or_dkim: 'gmail must met, yahoo must met',
    spf_and_dkim: 'gmail must met, yahoo must met, outlook must met, icloud must met',
    dkim_key: 'gmail must met, yahoo must met',
    dmarc: 'gmail must met, yahoo must met, outlook must met, icloud must met',
    alignment: 'gmail must met, yahoo must met, outlook must met',
    reverse_dns: 'gmail must met, yahoo must met, outlook advised met, icloud must met',
    tls: 'gmail must met',
    one_click: 'gmail must met, yahoo must met, outlook advised met',
    visible_unsubscribe: 'gmail must met, yahoo must met, outlook advised met, icloud must met',
    format: 'gmail must met, yahoo must met, icloud must met',
    complaints: 'gmail must unknown, yahoo must unknown',
  })
})

test('requirements: unsubscribe rules do not apply to a personal message', async (t) => {
  const rules = await rulesOf(letter)
  for (const id of ['one_click', 'visible_unsubscribe'])
    t.true(
      rules.get(id)?.every(({ status }) => status === 'not_applicable'),
      id,
    )
})

test('requirements: Yahoo accepts a mailto unsubscribe, Gmail does not', async (t) => {
  const rules = await rulesOf(newsletter, { header: { 'List-Unsubscribe': '<mailto:leave@example.com>' } })
  t.deepEqual(told(rules.get('one_click')), ['gmail must missed', 'yahoo must met', 'outlook advised missed'])
})

test('requirements: unauthenticated mail misses rules with their reply codes', async (t) => {
  const rules = await rulesOf(letter, {
    ...{ sign: () => '', session: { tls: null } },
    zone: { 'shop.example.com TXT': undefined, '_dmarc.example.com TXT': undefined, '25.113.0.203.in-addr.arpa PTR': undefined },
  })
  const codes = ['spf_or_dkim', 'spf_and_dkim', 'dmarc', 'reverse_dns', 'tls'].map((id) => of(rules.get(id), 'gmail'))
  t.deepEqual(
    codes.map((rule) => [rule?.status, rule?.refusal]),
    [
      ['missed', '550 5.7.26'],
      ['missed', '550 5.7.27'],
      ['missed', '550 5.7.31'],
      ['missed', '550 5.7.25'],
      ['missed', '421 4.7.29'],
    ],
  )
  t.is(of(rules.get('dmarc'), 'outlook')?.refusal, '550 5.7.515')
  t.true(rules.get('dkim_key')?.every(({ status }) => status === 'not_applicable'))
})

test('requirements: SPF or DKIM is enough for small senders only', async (t) => {
  const rules = await rulesOf(letter, { sign: () => '' })
  t.is(of(rules.get('spf_or_dkim'), 'gmail')?.status, 'met')
  t.deepEqual([of(rules.get('spf_and_dkim'), 'gmail')?.status, of(rules.get('spf_and_dkim'), 'gmail')?.refusal], ['missed', '550 5.7.30'])
  t.is(of(rules.get('alignment'), 'gmail')?.status, 'met')
})

test('requirements: Gmail and iCloud need a DMARC record, Yahoo and Outlook.com a pass', async (t) => {
  const rules = await rulesOf(letter, { sign: () => '', session: { mailFrom: 'x@other.test' } })
  t.deepEqual(told(rules.get('dmarc')), ['gmail must met', 'yahoo must missed', 'outlook must missed', 'icloud must met'])
})

test('requirements: Gmail requires a Message-ID', async (t) => {
  const rules = await rulesOf(letter, { header: { 'Message-ID': null } })
  t.deepEqual(told(rules.get('format')), ['gmail must missed', 'yahoo must met', 'icloud must met'])
})

test('requirements: an invalid signature leaves the key unknown; a short key misses', async (t) => {
  const changed = await rulesOf(letter, { after: (text) => text.replace('blue teapot', 'blue teapots') })
  t.deepEqual(told(changed.get('dkim_key')), ['gmail must unknown', 'yahoo must unknown'])
  const withKey = (bits: number): Changes => ({
    sign: (message) => signed(message, { bits }),
    zone: { 'k1._domainkey.example.com TXT': [[keyRecord(rsaKey(bits).publicKey)]] },
  })
  t.deepEqual(told((await rulesOf(letter, withKey(768))).get('dkim_key')), ['gmail must missed', 'yahoo must missed'])
  t.deepEqual(told((await rulesOf(letter, withKey(1024))).get('dkim_key')), ['gmail must met', 'yahoo must met'])
  const other = await rulesOf(letter, { zone: { 'k1._domainkey.example.com TXT': [[keyRecord(rsaKey(1024).publicKey)]] } })
  t.deepEqual(told(other.get('dkim_key')), ['gmail must met', 'yahoo must met'])
})

test('requirements: Gmail refuses a broken SPF record with a separate code', async (t) => {
  const rules = await rulesOf(letter, { zone: { 'shop.example.com TXT': [['v=spf1 ipfour:1 -all']] } })
  t.is(of(rules.get('spf_and_dkim'), 'gmail')?.refusal, '550 5.7.24')
})

test('requirements: an unanswered DNS query gives unknown', async (t) => {
  const silent = ['shop.example.com TXT', 'k1._domainkey.example.com TXT', '_dmarc.example.com TXT', '25.113.0.203.in-addr.arpa PTR']
  const rules = await rulesOf(letter, { zone: Object.fromEntries(silent.map((name) => [name, 'ETIMEOUT'])) })
  for (const id of ['spf_or_dkim', 'spf_and_dkim', 'dkim_key', 'dmarc', 'alignment', 'reverse_dns'])
    t.true(
      rules.get(id)?.every(({ status }) => status === 'unknown'),
      `${id}: ${told(rules.get(id)).join(', ')}`,
    )
})
