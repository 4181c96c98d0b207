/** The doctor stores what its checks find, with real checks on a real store. */
import test from '#test'
import { apiKeys } from '#core/access/keys/api-key.ts'
import { keyUses } from '#core/access/keys/key-uses.ts'
import { ofService, type Check, type Examined, type Found, type Look } from '#core/doctor/check.ts'
import { credentialCheck } from '#core/doctor/credential-check.ts'
import { deliveryChecks } from '#core/doctor/delivery-checks.ts'
import { Doctor, type DoctorOptions } from '#core/doctor/doctor.ts'
import { domainCheck } from '#core/doctor/domain-check.ts'
import { sendingDomains } from '#core/domains/sending-domain.ts'
import { findings, observed } from '#core/findings/finding.ts'
import { ResolveError, type RecordResolver } from '#core/outbound/resolver.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'
import { webhookFixture } from '../webhooks/webhook-fixture.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

class Place {
  readonly fixture: CoreFixture
  readonly doctor: Doctor
  readonly errors: unknown[] = []

  constructor(fixture: CoreFixture, checks: readonly Check[], more: Partial<DoctorOptions> = {}) {
    this.fixture = fixture
    const { database, clock } = fixture
    this.doctor = new Doctor({
      ...{ database, clock, settle: fixture.part('settle'), checks },
      onError: (error) => this.errors.push(error),
      ...more,
    })
  }

  /** Kinds and subjects of the report, with the organization. */
  async reported(): Promise<readonly string[]> {
    const { findings: found } = await this.doctor.examine()
    return found.map(({ id, subject, organizationName }) => `${organizationName ?? 'service'}: ${id} ${subject}`.trim())
  }

  async states(owner = organizationId): Promise<readonly string[]> {
    const all = await this.fixture.database.all(findings, { organizationId: owner })
    return all.map(({ record: { kind, state } }) => `${kind} ${state}`).toSorted()
  }
}

/** A check whose result a test sets. */
function scripted(name: string, place: Check['place'] = 'one') {
  const looks: Look[] = []
  const script = { result: { found: [] } as Examined | Error, looks }
  const check: Check = {
    ...{ name, place, everyMs: 5 * minute },
    async look(look) {
      looks.push(look)
      if (script.result instanceof Error) throw script.result
      return script.result
    },
  }
  return Object.assign(script, { check })
}

const pending = (domain: string): Found => ({ ...observed('domain.pending', domain, { domain }), organizationId })
const secret: Found = { ...observed('payment.overdue', ''), organizationId }

test('doctor: the report has findings for the operator, of the service and of organizations', async (t) => {
  const [domains, service] = [scripted('domains'), scripted('process', 'every')]
  const here = new Place(await coreFixture(t), [domains.check, service.check])
  domains.result = { found: [pending('a.example'), secret] }
  service.result = ofService([observed('backup.none', '')], 'dmn_1')
  const name = (await here.fixture.policies.of(organizationId)).organization.name
  t.deepEqual(await here.reported(), ['service: backup.none dmn_1', `${name}: domain.pending a.example`])
  t.deepEqual(await here.states(), ['domain.pending open', 'payment.overdue open'])
  t.deepEqual(Object.fromEntries(here.doctor.counts().byKind), { 'backup.none': 1, 'domain.pending': 1 })
  domains.result = { found: [] }
  t.deepEqual(await here.reported(), ['service: backup.none dmn_1'])
  t.true(domains.looks[1]?.openAt.has(organizationId))
  t.deepEqual(here.doctor.serviceErrors, [])
  service.result = ofService([observed('certificate.name', '', { host: 'mx.example' })])
  await here.doctor.examine()
  t.deepEqual(
    here.doctor.serviceErrors.map(({ id, summary }) => `${id}: ${summary}`),
    ['certificate.name: The certificate of the SMTP listeners is not valid for mx.example.'],
  )
})

test('doctor: a failed, partial or aborted look ends no finding that it did not examine', async (t) => {
  const one = scripted('domains')
  const here = new Place(await coreFixture(t), [one.check])
  one.result = { found: [pending('a.example'), pending('b.example')] }
  await here.doctor.examine()
  one.result = new Error('broken')
  await here.doctor.examine()
  t.is(here.errors.length, 1)
  t.deepEqual(await here.states(), ['domain.pending open', 'domain.pending open'])
  one.result = { found: [], coversFinding: (_, { subject }) => subject === 'a.example' }
  t.is((await here.reported()).length, 1)
  t.deepEqual(await here.states(), ['domain.pending open', 'domain.pending over'])
  one.check.look = async () => {
    void here.doctor.stop()
    return { found: [] }
  }
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['domain.pending open', 'domain.pending over'])
})

test('doctor: one daemon runs shared checks; another runs them only on request', async (t) => {
  const [every, one] = [scripted('process', 'every'), scripted('domains', 'one')]
  const here = new Place(await coreFixture(t), [every.check, one.check])
  const looks = () => [every, one].map((script) => script.looks.length)
  await here.doctor.start()
  await here.fixture.pass(minute)
  t.deepEqual(looks(), [1, 0])
  await here.doctor.examine()
  t.deepEqual(looks(), [2, 1])
  here.doctor.hold()
  await here.fixture.pass(5 * minute)
  await here.doctor.release()
  t.deepEqual(looks(), [3, 2])
  await here.doctor.stop()
})

test('doctor: findings are removed 30 days after they ended', async (t) => {
  const one = scripted('domains')
  const here = new Place(await coreFixture(t), [one.check])
  one.result = { found: [pending('a.example')] }
  await here.doctor.examine()
  one.result = { found: [] }
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['domain.pending over'])
  here.fixture.clock.advance(30 * day)
  here.doctor.hold()
  await here.doctor.examine()
  t.deepEqual(await here.states(), [])
})

test('domains: without an answer of the name servers, earlier findings stay', async (t) => {
  const fixture = await coreFixture(t)
  const key = { algorithm: 'rsa', publicKey: 'AAAA', sealedPrivateKey: null, createdAt: 0, retiredAt: null } as const
  const change = new Change()
  for (const [id, domain] of [
    ['dom_1', 'a.example'],
    ['dom_2', 'b.example'],
  ] as const)
    change.insert(sendingDomains, organizationId, {
      ...{ id, domain, status: 'verified', keys: [{ ...key, selector: 's', state: 'active' }] },
      ...{ check: null, createdAt: 0, updatedAt: 0 },
    })
  await fixture.database.commit(change)
  const silent = new Set<string>()
  const published = new Set<string>()
  const resolver: RecordResolver = {
    async resolveTxt(name) {
      if ([...silent].some((domain) => name.endsWith(domain))) throw new ResolveError('timeout', 'late')
      if (name.startsWith('_dmarc') || published.has(name)) return ['v=DMARC1; p=none']
      return name.includes('_domainkey') ? [] : ['v=spf1 ip4:192.0.2.1 -all']
    },
    resolveMx: async () => [{ exchange: 'mx.example', priority: 10 }],
  }
  const publishing = { spfMechanisms: [], bounceDomain: null, mxHost: 'mx.example' }
  const here = new Place(fixture, [domainCheck({ database: fixture.database, resolver, publishing })])
  t.deepEqual(await here.states(), [])
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['domain.dkim open', 'domain.dkim open'])
  silent.add('a.example')
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['domain.dkim open', 'domain.dkim open', 'domain.lookup_failed open'])
  silent.clear()
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['domain.dkim open', 'domain.dkim open', 'domain.lookup_failed over'])
  await fixture.remove(sendingDomains, 'dom_1')
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['domain.dkim open', 'domain.dkim over', 'domain.lookup_failed over'])
})

test('destinations: an older probe ends no finding, and a finding without a probe is probed', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.destination()
  const { clock } = fixture
  const failed = { step: 'connect', ok: false, detail: 'reply', milliseconds: 1, code: 'connect_refused' }
  const good = { step: 'connect', ok: true, detail: '', milliseconds: 1 }
  type Probe = { readonly ok: boolean; readonly steps: readonly (typeof failed | typeof good)[]; readonly at: number }
  const probe = (ok: boolean): Probe => ({ ok, steps: [ok ? good : failed], at: clock.now() })
  let [known, next]: (Probe | undefined)[] = [undefined, probe(false)]
  const probes = {
    seen: () => known,
    lately: async () => (known = next ?? probe(true)),
  }
  const health = { resting: () => [] }
  const here = new Place(fixture, deliveryChecks({ ...fixture.context, probes, health, targets: [] }))
  await here.doctor.start()
  await here.fixture.pass(6 * minute)
  t.deepEqual(await here.states(), [], 'a destination without a probe is left alone')
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['destination.probe_failed open'])
  known = { ...probe(true), at: 0 }
  await here.fixture.pass(6 * minute)
  t.deepEqual(await here.states(), ['destination.probe_failed open'], 'this probe is older than the finding')
  known = undefined // as after a restart
  next = probe(true)
  await here.fixture.pass(6 * minute)
  await here.doctor.stop()
  t.deepEqual(await here.states(), ['destination.probe_failed over'])
})

test('webhook.parked: a delivery that was given up, an error for a day and a warning for seven', async (t) => {
  const setup = await webhookFixture(t, { isIdle: true })
  const { fixture } = setup
  const { id: endpointId } = await setup.endpoint('https://shop.example/hook')
  const at = fixture.clock.now()
  await fixture.put(webhookDeliveries, {
    ...{ id: 'whd_1', deliveryId: '6f9619ff-8b86-4011-b42d-00cf4fc964ff', eventId: 'evt_1', eventType: 'bounced', endpointId, projectId },
    ...{ traceId: null, body: '{}', status: 'parked', attemptCount: 7, begun: { at, attempts: 0 }, lastStatusCode: 500, lastError: null },
    ...{ nextAttemptAt: null, createdAt: at, updatedAt: at },
  })
  const probes = { seen: () => undefined, lately: () => Promise.reject(new Error('there is no destination')) }
  const here = new Place(fixture, deliveryChecks({ ...fixture.context, probes, health: { resting: () => [] }, targets: [] }))
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['webhook.parked open'])
  const severity = async () => (await fixture.database.all(findings, { organizationId }))[0]?.record.severity
  t.is(await severity(), 'error')
  fixture.clock.advance(day + 1)
  await here.doctor.examine()
  t.is(await severity(), 'warning', 'no alert')
  fixture.clock.advance(6 * day)
  await here.doctor.examine()
  t.deepEqual(await here.states(), ['webhook.parked over'])
})

test('an idle service with 100 organizations writes nothing in 10 minutes', async (t) => {
  const fixture = await coreFixture(t)
  const { database } = fixture
  const change = new Change()
  const one = (await fixture.policies.of(organizationId)).organization
  for (let i = 0; i < 100; i++) {
    const id = `org_idle${String(i).padStart(3, '0')}`
    change.insert(organizations, id, { ...one, id, name: id })
    change.insert(sendingDomains, id, {
      ...{ id: `dom_${i}`, domain: `d${i}.example`, status: 'pending', keys: [], check: null, createdAt: 0, updatedAt: 0 },
    })
  }
  await database.commit(change)
  const doctor = fixture.part('doctor')
  await doctor.start()
  doctor.hold()
  const before = await doctor.examine()
  t.is(before.findings.filter(({ organizationName }) => organizationName !== undefined).length, 100)
  const commits = database.commits
  await fixture.pass(10 * minute)
  await doctor.release()
  t.is(database.commits, commits)
  t.true(Number((await doctor.report()).checkedAt) > Number(before.checkedAt))
  await doctor.stop()
})

test('credential.expiring: keys and logins in use that end within seven days, without mail or another event', async (t) => {
  const fixture = await coreFixture(t)
  const { clock } = fixture
  const key = { name: 'Webshop', preview: '', scopes: ['api:send' as const], projectId: null, revokedAt: null }
  const life = { createdAt: clock.now() - 60 * day, expiresAt: clock.now() + 10 * day }
  await fixture.put(apiKeys, { id: 'key_2', sha256: 'a', ...key, ...life })
  await fixture.put(apiKeys, { id: 'key_3', sha256: 'b', ...key, ...life })
  await fixture.put(apiKeys, { id: 'key_4', sha256: 'c', ...key, ...life, createdAt: clock.now() })
  await fixture.credential('secret', life)
  for (const id of ['key_2', 'key_4', 'crd_1']) await fixture.put(keyUses, { id, projectId: null, usedAt: clock.now() })
  const here = new Place(fixture, [credentialCheck(fixture.context)])
  here.doctor.hold()
  await here.doctor.start()
  const open = async () => {
    const all = await fixture.database.all(findings, { organizationId })
    return all.flatMap(({ record: { kind, subject, state, params } }) => (state === 'open' ? [`${kind} ${subject} ${params['days']}`] : []))
  }
  await fixture.pass(3 * day - hour)
  t.deepEqual(await open(), [], 'more than seven days are left')
  const before = fixture.database.commits
  await fixture.pass(2 * hour)
  t.deepEqual((await open()).toSorted(), ['credential.expiring crd_1 7', 'credential.expiring key_2 7'])
  t.is(fixture.database.commits, before + 1)
  await fixture.pass(5 * day)
  t.deepEqual(await open(), [], 'unused for more than a week')
  await here.doctor.stop()
})
