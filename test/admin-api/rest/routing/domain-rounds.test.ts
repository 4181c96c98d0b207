/** Sending domains are checked without a request: new ones within minutes, known ones daily; administrators get a mail about losses. */
import test from '#test'
import type { ExecutionContext } from 'ava'
import { ResolveError } from '#core/outbound/resolver.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { traces } from '#core/trace/trace.ts'
import { auditEntries } from '#core/writes/audit.ts'
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

/** Recipient and subject of each mail of the service except alerts, in order. */
async function mailed({ database }: Fixture): Promise<readonly string[]> {
  const { rows } = await database.list(traces, { organizationId: systemOrganizationId }, { limit: 20, ascending: true })
  const notices = rows.filter(({ record: { subject } }) => !/^(?:Error|Warning|Resolved) in /.test(subject))
  return notices.map(({ record: { recipients, subject } }) => `${recipients[0]?.address ?? ''}: ${subject}`)
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

test('known domain: checked daily; administrators get one notice about a lost record', async (t) => {
  const fixture = await withOwner(t)
  await fixture.addMember('dev@shop.example', 'developer')
  const { id, records } = await verified(fixture)
  const before = (await read(fixture, id)).checked_at
  await pass(fixture, day + minute)
  const later = (await read(fixture, id)).checked_at
  t.not(later, before)
  t.deepEqual(await mailed(fixture), ['owner@shop.example: shop.example is verified'])

  fixture.records.txt.delete(records.find(({ purpose }) => purpose === 'dkim')?.name ?? '')
  await pass(fixture, day + minute)
  await pass(fixture, 6 * minute)
  t.is((await read(fixture, id)).status, 'failed')
  const both = ['owner@shop.example: shop.example is verified', 'owner@shop.example: shop.example is no longer verified']
  t.deepEqual(await mailed(fixture), both)
  await pass(fixture, day)
  t.deepEqual(await mailed(fixture), both, 'the same loss is reported once')
  const entries = await fixture.database.all(auditEntries, { organizationId: fixture.organizationId })
  t.true(entries.some(({ record }) => record.act === 'sending_domain.verified' && record.details['name'] === 'shop.example'))
})

test('a record that is missing once, and name servers without an answer, change nothing', async (t) => {
  const fixture = await withOwner(t)
  const { id, records } = await verified(fixture)
  const mails = await mailed(fixture)
  const key = records.find(({ purpose }) => purpose === 'dkim')
  fixture.records.txt.delete(key?.name ?? '')
  await pass(fixture, day + minute)
  fixture.records.txt.set(key?.name ?? '', [key?.expected ?? ''])
  await pass(fixture, 10 * minute)
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
