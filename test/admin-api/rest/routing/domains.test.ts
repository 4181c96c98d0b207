import { createPublicKey } from 'node:crypto'
import test from '#test'
import { ResolveError } from '#core/outbound/resolver.ts'
import { addDestination, errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column, columns } from '../../../support/column.ts'

interface WireRecord {
  readonly purpose: string
  readonly name: string
  readonly expected: string
  readonly required: boolean
  readonly found: readonly string[] | null
  readonly verdict: string | null
  readonly hint: string
}

interface WireDomain {
  readonly id: string
  readonly domain: string
  readonly status: string
  readonly checked_at: string | null
  readonly dkim_keys: readonly { readonly selector: string; readonly algorithm: string; readonly state: string }[]
  readonly records: readonly WireRecord[]
}

const create = async ({ rest }: Fixture, body: object): Promise<WireDomain> =>
  (await rest.must('POST', '/v1/domains', body)) as unknown as WireDomain
const verify = async ({ rest }: Fixture, id: string): Promise<WireDomain> =>
  (await rest.must('POST', `/v1/domains/${id}/verify`)) as unknown as WireDomain
const rotate = async ({ rest }: Fixture, id: string): Promise<WireDomain> =>
  (await rest.must('POST', `/v1/domains/${id}/rotate-dkim`)) as unknown as WireDomain

const verdictsOf = ({ records }: WireDomain) => records.map(({ purpose, verdict }) => [purpose, verdict])
const statesOf = ({ dkim_keys }: WireDomain) => dkim_keys.map(({ state }) => state)
const publishKeys = ({ records: dns }: Fixture, { records }: WireDomain): void => {
  for (const { purpose, name, expected } of records) if (purpose === 'dkim') dns.txt.set(name, [expected])
}

test('createDomain returns the records to publish, with new keys', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, { domain: 'Müller.ch.', ed25519: true })
  t.regex(made.id, /^dom_/)
  t.like(made, { domain: 'xn--mller-kva.ch', status: 'pending', checked_at: null })
  t.deepEqual(columns(made.dkim_keys, 'algorithm', 'state'), [
    ['rsa', 'pending'],
    ['ed25519', 'pending'],
  ])
  t.deepEqual(columns(made.records, 'purpose', 'name', 'required', 'verdict', 'found'), [
    ['dkim', `${made.dkim_keys[0]?.selector}._domainkey.xn--mller-kva.ch`, true, null, null],
    ['dkim', `${made.dkim_keys[1]?.selector}._domainkey.xn--mller-kva.ch`, false, null, null],
    ['spf', 'xn--mller-kva.ch', false, null, null],
    ['dmarc', '_dmarc.xn--mller-kva.ch', false, null, null],
    ['bounce_mx', 'in.example.ch', false, null, null],
    ['bounce_spf', 'in.example.ch', false, null, null],
  ])
  t.deepEqual(column(made.records.slice(2), 'expected'), [
    'v=spf1 ip4:192.0.2.7 ~all',
    'v=DMARC1; p=none',
    '10 post.example.ch',
    'v=spf1 ip4:192.0.2.7 ~all',
  ])
  const [, rsa = ''] = /^v=DKIM1; k=rsa; p=(\S+)$/.exec(made.records[0]?.expected ?? '') ?? []
  t.is(createPublicKey({ key: Buffer.from(rsa, 'base64'), format: 'der', type: 'spki' }).asymmetricKeyDetails?.modulusLength, 2048)
  const [, ed25519 = ''] = /^v=DKIM1; k=ed25519; p=(\S+)$/.exec(made.records[1]?.expected ?? '') ?? []
  t.is(Buffer.from(ed25519, 'base64').length, 32)
  t.deepEqual(await fixture.rest.must('GET', `/v1/domains/${made.id}`), made as never)
  t.deepEqual((await fixture.rest.must('GET', '/v1/domains'))['data'], [made] as never)
  t.deepEqual((await fixture.rest.must('GET', `/v1/domains/${made.id}/records`))['data'], made.records as never)
})

test('createDomain refuses an invalid domain and a duplicate', async (t) => {
  const fixture = await startFixture(t)
  for (const domain of ['localhost', 'a@b.ch', 'http://b.ch', 'b..ch', '10.0.0.1', `${'a.'.repeat(115)}ch`])
    t.is(
      errorOf(await fixture.rest.call('POST', '/v1/domains', { domain })).message,
      'domain: must be a domain such as example.ch, without a user and without http://',
      domain,
    )
  const { id } = await create(fixture, { domain: 'b.ch' })
  const [one, two] = await Promise.all([1, 2].map(() => fixture.rest.call('POST', '/v1/domains', { domain: 'c.ch' })))
  t.is((one?.status ?? 0) + (two?.status ?? 0), 201 + 409)
  t.deepEqual(refusal(await fixture.rest.call('POST', '/v1/domains', { domain: 'B.ch' })), [
    409,
    'conflict',
    `b.ch is already a sending domain: ${id}.`,
  ])
  const other = await fixture.addOrganization()
  t.is((await other.rest.call('POST', '/v1/domains', { domain: 'b.ch' })).status, 201)
})

test('verifyDomain reports every record; the DKIM key alone makes the domain verified', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, { domain: 'b.ch' })
  const first = await verify(fixture, made.id)
  t.is(first.status, 'pending')
  t.is(first.checked_at, new Date(fixture.clock.now()).toISOString())
  t.deepEqual(verdictsOf(first), [
    ['dkim', 'missing'],
    ['spf', 'missing'],
    ['dmarc', 'missing'],
    ['bounce_mx', 'missing'],
    ['bounce_spf', 'missing'],
  ])
  const name = made.records[0]?.name ?? ''
  fixture.records.txt.set(name, ['v=DKIM1; k=rsa; p=AAAA'])
  const wrong = await verify(fixture, made.id)
  t.is(wrong.status, 'failed')
  t.like(wrong.records[0], { found: ['v=DKIM1; k=rsa; p=AAAA'], verdict: 'mismatch', hint: 'The record contains another key; replace it.' })
  publishKeys(fixture, made)
  fixture.records.txt.set('b.ch', ['google-site-verification=x', 'v=spf1 mx ~all', 'v=spf1 -all'])
  fixture.records.txt.set('_dmarc.b.ch', ['v=DMARC1; p=reject'])
  fixture.records.mx.set('in.example.ch', [{ priority: 10, exchange: 'post.example.ch' }])
  const verified = await verify(fixture, made.id)
  t.is(verified.status, 'verified')
  t.deepEqual(statesOf(verified), ['active'])
  t.deepEqual(verdictsOf(verified), [
    ['dkim', 'ok'],
    ['spf', 'mismatch'],
    ['dmarc', 'ok'],
    ['bounce_mx', 'ok'],
    ['bounce_spf', 'missing'],
  ])
  t.deepEqual(verified.records[1]?.found, ['v=spf1 mx ~all', 'v=spf1 -all'])
  t.deepEqual(await fixture.rest.must('GET', `/v1/domains/${made.id}`), verified as never)
})

test('verifyDomain: a failed lookup changes nothing, and a missing key stops signing', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, { domain: 'b.ch' })
  publishKeys(fixture, made)
  t.is((await verify(fixture, made.id)).status, 'verified')
  const name = made.records[0]?.name ?? ''
  fixture.records.txt.set(name, new ResolveError('timeout', 'late'))
  const unsure = await verify(fixture, made.id)
  t.is(unsure.status, 'verified')
  t.deepEqual([unsure.records[0]?.verdict, ...statesOf(unsure)], ['error', 'active'])
  fixture.records.txt.delete(name)
  const gone = await verify(fixture, made.id)
  t.is(gone.status, 'failed')
  t.deepEqual(statesOf(gone), ['pending'])
  publishKeys(fixture, made)
  t.is((await verify(fixture, made.id)).status, 'verified')
})

test('rotateDomainDkim: the old key signs until the new record exists; stays a week', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, { domain: 'b.ch' })
  publishKeys(fixture, made)
  await verify(fixture, made.id)
  const rotated = await rotate(fixture, made.id)
  t.deepEqual([rotated.status, ...statesOf(rotated)], ['verified', 'pending', 'active'])
  const next = rotated.dkim_keys[0]?.selector
  t.not(next, made.dkim_keys[0]?.selector)
  t.deepEqual(refusal(await fixture.rest.call('POST', `/v1/domains/${made.id}/rotate-dkim`)), [
    409,
    'conflict',
    `The key with the selector ${next} is not published yet; publish its record and verify the domain first.`,
  ])
  t.deepEqual(statesOf(await verify(fixture, made.id)), ['pending', 'active'])
  publishKeys(fixture, rotated)
  const switched = await verify(fixture, made.id)
  t.deepEqual([switched.status, ...statesOf(switched)], ['verified', 'active', 'retired'])
  t.regex(switched.records[1]?.hint ?? '', /Published|keep it published until/)
  fixture.clock.advance(7 * 24 * 3600 * 1000)
  t.deepEqual(statesOf(await verify(fixture, made.id)), ['active'])
})

test('rotateDomainDkim before publication replaces the keys', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, { domain: 'b.ch', ed25519: true })
  const rotated = await rotate(fixture, made.id)
  t.deepEqual(columns(rotated.dkim_keys, 'algorithm', 'state'), [
    ['rsa', 'pending'],
    ['ed25519', 'pending'],
  ])
  t.false(rotated.dkim_keys.some(({ selector }) => made.dkim_keys.some((old) => old.selector === selector)))
})

test("getDomainRecords adds the SPF mechanism of a destination's provider to the verdict", async (t) => {
  const fixture = await startFixture(t)
  const { id } = await create(fixture, { domain: 'b.ch' })
  fixture.records.txt.set('b.ch', ['v=spf1 ip4:192.0.2.7 -all'])
  t.is((await verify(fixture, id)).records[1]?.verdict, 'ok')
  const destination = await addDestination(fixture.rest, { credentials: { host: 'mail.example.ch', port: 587, security: 'starttls' } })
  const stored = await fixture.rest.must('GET', `/v1/domains/${id}/records?destination_id=${destination}`)
  t.like((stored['data'] as WireRecord[])[1], { expected: 'v=spf1 ip4:192.0.2.7 ~all', verdict: 'ok' })
  const known = await addDestination(fixture.rest, { credentials: { host: 'smtp.sendgrid.net', port: 587, security: 'starttls' } })
  const { data } = (await fixture.rest.must('GET', `/v1/domains/${id}/records?destination_id=${known}`)) as unknown as {
    data: WireRecord[]
  }
  t.like(data[1], {
    expected: 'v=spf1 ip4:192.0.2.7 include:sendgrid.net ~all',
    verdict: 'mismatch',
    hint: 'Add include:sendgrid.net: v=spf1 ip4:192.0.2.7 include:sendgrid.net -all',
  })
  t.is((await fixture.rest.call('GET', `/v1/domains/${id}/records?destination_id=dst_none`)).status, 404)
})

test('domains belong to the organization: project keys read and verify but do not change them', async (t) => {
  const fixture = await startFixture(t)
  const { id } = await create(fixture, { domain: 'b.ch' })
  const bound = await fixture.withKey(['api:admin'], await fixture.addProject())
  t.is((await bound.call('GET', `/v1/domains/${id}`)).status, 200)
  t.is((await bound.call('POST', `/v1/domains/${id}/verify`)).status, 200)
  for (const [method, path] of [
    ['POST', `/v1/domains/${id}/rotate-dkim`],
    ['DELETE', `/v1/domains/${id}`],
  ] as const)
    t.is((await bound.call(method, path)).status, 403, path)
  t.is((await bound.call('POST', '/v1/domains', { domain: 'c.ch' })).status, 403)
  const destination = await addDestination(fixture.rest)
  t.is((await bound.call('GET', `/v1/domains/${id}/records?destination_id=${destination}`)).status, 404)
  const other = await fixture.addOrganization()
  for (const [method, path] of [
    ['GET', `/v1/domains/${id}`],
    ['GET', `/v1/domains/${id}/records`],
    ['POST', `/v1/domains/${id}/verify`],
    ['POST', `/v1/domains/${id}/rotate-dkim`],
    ['DELETE', `/v1/domains/${id}`],
  ] as const)
    t.is((await other.rest.call(method, path)).status, 404, path)
  t.deepEqual(objectOf(await other.rest.call('GET', '/v1/domains')), { data: [], next_cursor: null })
  const reader = await fixture.withKey(['api:send'])
  t.is((await reader.call('POST', '/v1/domains', { domain: 'd.ch' })).status, 403)
})

test('deleteDomain deletes the domain, and no answer shows a private key', async (t) => {
  const fixture = await startFixture(t)
  const made = await fixture.rest.call('POST', '/v1/domains', { domain: 'b.ch' })
  t.notRegex(made.bytes.toString('utf8'), /private|sealed/i)
  const path = `/v1/domains/${String(objectOf(made)['id'])}`
  t.is((await fixture.rest.call('DELETE', path)).status, 204)
  t.deepEqual(refusal(await fixture.rest.call('GET', path)), [404, 'not_found', 'No sending domain has this id.'])
  t.is((await fixture.rest.call('DELETE', path)).status, 404)
  t.is((await fixture.rest.call('POST', '/v1/domains', { domain: 'b.ch' })).status, 201)
})
