/** Sending domains are checked without a request: new ones within minutes, known ones daily; a loss and its end cause one mail each. */
import test from '#test'
import type { ExecutionContext } from 'ava'
import { domainChangePrefix, domainChangeWork } from '#core/domains/domain-change.ts'
import { ResolveError } from '#core/outbound/resolver.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { findings } from '#core/findings/finding.ts'
import { traces } from '#core/trace/trace.ts'
import { auditEntries } from '#core/writes/audit.ts'
import { Change, encode } from '#store/change.ts'
import { within, type Element } from '#store/tuple.ts'
import { startFixture, systemDestinationId, type Fixture } from '../fixture/rest-fixture.ts'

const minute = 60_000
const day = 24 * 60 * minute

interface WireDomain {
  readonly id: string
  readonly status: string
  readonly checked_at: string | null
  readonly records: readonly {
    readonly purpose: string
    readonly name: string
    readonly expected: string
    readonly verdict: string | null
  }[]
}

const create = async ({ rest }: Fixture): Promise<WireDomain> =>
  (await rest.must('POST', '/v1/domains', { domain: 'shop.example' })) as unknown as WireDomain
const read = async ({ rest }: Fixture, id: string): Promise<WireDomain> =>
  (await rest.must('GET', `/v1/domains/${id}`)) as unknown as WireDomain
const keyOf = ({ records }: WireDomain) => records.find(({ purpose }) => purpose === 'dkim') ?? { name: '', expected: '' }

/** Advances the clock and runs all due work. */
async function pass({ clock, daemon }: Fixture, ms: number): Promise<void> {
  clock.advance(ms)
  await daemon.settled()
}

async function verified(fixture: Fixture): Promise<WireDomain> {
  const made = await create(fixture)
  fixture.records.txt.set(keyOf(made).name, [keyOf(made).expected])
  await pass(fixture, 10 * minute)
  const seen = await read(fixture, made.id)
  if (seen.status !== 'verified') throw new Error(`the domain is ${seen.status}`)
  return seen
}

/** Recipient and subject of each mail of the service, in order. */
async function mailed({ database }: Fixture): Promise<readonly string[]> {
  const { rows } = await database.list(traces, { organizationId: systemOrganizationId }, { limit: 50, ascending: true })
  return rows.map(({ record: { recipients, subject } }) => `${recipients[0]?.address ?? ''}: ${subject}`)
}

/** Severity, kind, subject and summary of the findings about domains. */
async function found({ rest }: Fixture, state: 'open' | 'over' = 'open'): Promise<readonly string[]> {
  const rows = await Array.fromAsync(rest.rows(`/v1/findings?group=domains&state=${state}`))
  return rows.map(({ kind, subject, severity, summary }) => `${[severity, kind, subject].join(' ')}: ${String(summary)}`).toSorted()
}

/** Publishes records that are recommended, so that only the key causes findings. */
function publishOthers({ records: dns }: Fixture): void {
  dns.txt.set('shop.example', ['v=spf1 ip4:192.0.2.7 ~all']).set('_dmarc.shop.example', ['v=DMARC1; p=none'])
  dns.txt.set('in.example.ch', ['v=spf1 ip4:192.0.2.7 ~all'])
  dns.mx.set('in.example.ch', [{ priority: 10, exchange: 'post.example.ch' }])
}

/** Starts with an unreachable destination for mail of the service, and an owner who gets that mail. */
async function withOwner(t: ExecutionContext): Promise<Fixture> {
  const fixture = await startFixture(t, { hasMail: true })
  fixture.transport.closed.add(systemDestinationId)
  await fixture.addMember('owner@shop.example', 'owner')
  return fixture
}

test('a failed read of the domains delays their checks by a minute', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture)
  await fixture.daemon.settled()
  let isFailing = true
  fixture.daemon.kv.onLook = ([key]) => {
    if (isFailing && key && Buffer.from(key).includes('sending_domain')) throw new Error('the disk did not answer')
  }
  await pass(fixture, 2 * minute)
  isFailing = false
  const failures = fixture.failures.splice(0) as { readonly msg: string }[]
  t.deepEqual(failures.map(({ msg }) => msg).toSorted(), [
    'unexpected error in a look at an organization',
    'unexpected error in the check of a sending domain',
  ])
  await pass(fixture, minute)
  t.not((await read(fixture, made.id)).checked_at, null)
})

test('a new domain is checked within minutes, and again until its records are published', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture)
  t.is(made.checked_at, null)
  await pass(fixture, 5 * minute)
  const first = await read(fixture, made.id)
  t.not(first.checked_at, null)
  t.is(first.status, 'pending')
  fixture.records.txt.set(keyOf(made).name, [keyOf(made).expected])
  await pass(fixture, 10 * minute)
  t.is((await read(fixture, made.id)).status, 'verified')
  const { data } = await fixture.rest.must('GET', '/v1/audit')
  t.true(
    (data as { act: string; actor: { kind: string } }[]).some(
      ({ act, actor }) => act === 'sending_domain.verified' && actor.kind === 'service',
    ),
  )
})

test('known domain: checked daily; a lost record is one alert to administrators, and one at its end', async (t) => {
  const fixture = await withOwner(t)
  publishOthers(fixture)
  await fixture.addMember('dev@shop.example', 'developer')
  const made = await verified(fixture)
  const { name, expected } = keyOf(made)
  const before = (await read(fixture, made.id)).checked_at
  await pass(fixture, day + minute)
  const later = (await read(fixture, made.id)).checked_at
  t.not(later, before)
  const mails = ['owner@shop.example: shop.example is verified']
  t.deepEqual(await mailed(fixture), mails)

  fixture.records.txt.delete(name)
  await fixture.daemon.pass(70 * minute)
  mails.push('owner@shop.example: Error in Default: shop.example lost its DKIM record')
  t.deepEqual(await mailed(fixture), mails)
  await pass(fixture, 22 * 60 * minute)
  await fixture.daemon.pass(3 * 60 * minute)
  t.is((await read(fixture, made.id)).status, 'failed', 'two checks did not find the record')
  t.deepEqual(await found(fixture), [
    `error domain.dkim shop.example: The DKIM record of shop.example at ${name} is missing. Mail from shop.example is not signed.`,
  ])
  mails.push('owner@shop.example: Error in Default: shop.example lost its DKIM record')
  t.deepEqual(await mailed(fixture), mails, 'an error that persists is repeated after a day')
  const entries = await fixture.database.all(auditEntries, { organizationId: fixture.organizationId })
  const losses = entries.filter(({ record: { act, details } }) => act === 'sending_domain.verified' && String(details['lost']) === name)
  t.deepEqual(
    losses.map(({ record: { details } }) => details['name']),
    ['shop.example'],
  )

  fixture.records.txt.set(name, [expected])
  await fixture.daemon.pass(72 * minute)
  t.is((await read(fixture, made.id)).status, 'verified', 'the automatic check looks for a lost key every hour')
  mails.push('owner@shop.example: Resolved in Default: shop.example lost its DKIM record')
  t.deepEqual(await mailed(fixture), mails)
  t.deepEqual(await found(fixture), [])
})

test('a verified domain without a key has the error domain.dkim until a key signs again', async (t) => {
  const fixture = await startFixture(t)
  publishOthers(fixture)
  const made = await verified(fixture)
  const verify = (): Promise<unknown> => fixture.rest.must('POST', `/v1/domains/${made.id}/verify`)
  const look = (): Promise<unknown> => fixture.daemon.doctor.examine()
  const finding = (name: string, state: string): string =>
    `error domain.dkim shop.example: The DKIM record of shop.example at ${name} ${state}. Mail from shop.example is not signed.`
  const { name, expected } = keyOf(made)
  fixture.records.txt.delete(name)
  await verify()
  await look()
  t.deepEqual(await found(fixture), [finding(name, 'is missing')], 'also if no check ran while the key was in use')
  await verify()
  t.deepEqual(await found(fixture), [finding(name, 'is missing')])

  fixture.records.txt.set(name, [expected.slice(0, -9)])
  await pass(fixture, 62 * minute)
  await look()
  t.deepEqual(await found(fixture), [finding(name, 'is wrong')])
  const { rows } = await fixture.database.list(findings, { organizationId: fixture.organizationId }, { limit: 10 })
  t.is(rows.filter(({ record }) => record.kind === 'domain.dkim').length, 1)

  const rotated = (await fixture.rest.must('POST', `/v1/domains/${made.id}/rotate-dkim`)) as unknown as WireDomain
  await look()
  t.deepEqual(await found(fixture, 'over'), [], 'new keys are no repair until they are published')
  fixture.records.txt.set(keyOf(rotated).name, [keyOf(rotated).expected])
  await look()
  t.is((await found(fixture)).length, 1, 'the domain check does not change the domain')
  await verify()
  t.deepEqual(await found(fixture), [])
  t.is((await read(fixture, made.id)).status, 'verified')
})

test('rows of an earlier version: a loss is deleted without a mail, a verification is mailed', async (t) => {
  const fixture = await withOwner(t)
  const row = (id: string): readonly Element[] => [...domainChangePrefix, fixture.organizationId, id]
  const lost = [{ purpose: 'dkim', name: 'a._domainkey.shop.example' }]
  const change = new Change()
    .set(row('dom_1'), encode({ domain: 'shop.example', isVerified: false, lost, found: [] }))
    .set(row('dom_2'), encode({ domain: 'shop.example', lost, found: [] }))
    .set(row('dom_3'), encode({ domain: 'post.example', isVerified: true, lost: [], found: [] }))
    .schedule(domainChangeWork, 'dom_3')
  await fixture.database.commit(change)
  await fixture.daemon.settled()
  t.deepEqual(await mailed(fixture), ['owner@shop.example: post.example is verified'])
  t.deepEqual(await Array.fromAsync(fixture.database.kv.range(within(domainChangePrefix))), [])
})

test('a domain that was never verified has only the notice domain.pending', async (t) => {
  const fixture = await startFixture(t)
  publishOthers(fixture)
  const made = await create(fixture)
  fixture.records.txt.set(keyOf(made).name, ['v=DKIM1; k=rsa; p=AAAA'])
  await fixture.rest.must('POST', `/v1/domains/${made.id}/verify`)
  await fixture.daemon.doctor.examine()
  t.is((await read(fixture, made.id)).status, 'failed')
  t.deepEqual(await found(fixture), ['notice domain.pending shop.example: shop.example is not verified, so its mail is not signed.'])
})

test('a record that is missing once, and name servers without an answer, change nothing', async (t) => {
  const fixture = await withOwner(t)
  publishOthers(fixture)
  const { id, records } = await verified(fixture)
  const mails = await mailed(fixture)
  const key = records.find(({ purpose }) => purpose === 'dkim')
  fixture.records.txt.delete(key?.name ?? '')
  await pass(fixture, day + minute)
  fixture.records.txt.set(key?.name ?? '', [key?.expected ?? ''])
  await fixture.daemon.pass(10 * minute)
  t.is((await read(fixture, id)).status, 'verified')

  const seen = await read(fixture, id)
  for (const { name } of records) fixture.records.txt.set(name, new ResolveError('timeout', 'no answer'))
  await pass(fixture, 2 * day)
  const silent = await read(fixture, id)
  t.is(silent.status, 'verified')
  t.deepEqual(
    silent.records.map(({ verdict }) => verdict),
    seen.records.map(({ verdict }) => verdict),
  )
  t.deepEqual(await mailed(fixture), mails)
})
